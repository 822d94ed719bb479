/* SPDX-License-Identifier: Apache-2.0 */
/* What policies choose, each from a small host. */
#include "unit/alloc/world.h"

static struct str choose(struct world *w, enum alloc_policy policy,
                         const struct view_claim *claim)
{
    struct alloc_options o = {.policy = policy};
    struct strbuf b = STRBUF_INIT;
    alloc_solve(w->c.inv, w->c.nodes[0], &claim, 1, &o, &w->a, &w->out);
    if (w->out.status != ALLOC_OK)
        return str_from(alloc_case_outcome(w->out.status));
    for (uint32_t i = 0; i < w->out.results[0].npicks; i++)
        strbuf_addf(&b, "%s%.*s", i ? " " : "",
                    STR_ARG(w->out.results[0].picks[i].device->name));
    struct str s = arena_str(&w->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static void hold(struct world *w, const char *uid, const char *device)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "{'metadata':{'name':'%s','namespace':'ns','uid':'%s'},'spec':{'devices':{}},"
        "'status':{'allocation':{'devices':{'results':[{'request':'r','driver':"
        "'a.example.com','pool':'n1','device':'%s'}]}}}}",
        uid, uid, device);
    alloc_charge(w->c.inv, world_claim(w, text));
}

static const struct view_claim *want(struct world *w, int count, const char *rest)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "{'metadata':{'name':'w','namespace':'ns','uid':'w'},'spec':{'devices':{"
        "'requests':[{'name':'r','exactly':{'deviceClassName':'any','allocationMode':"
        "'ExactCount','count':%d}}]%s}}}",
        count, rest);
    return world_claim(w, text);
}

#define DEVICE(n, numa)                                                                  \
    "{'name':'" n "','attributes':{'resource.kubernetes.io/numaNode':{'int':" numa       \
    "},'a.example.com/link':{'string':'l" numa "'}}}"
static const char EIGHT[] = "{'nodes':[" NODE("n1") "]," CLASSES ",'slices':[" SLICE(
    "s", "n1",
    "'devices':[" DEVICE("d0", "0") "," DEVICE("d1", "0") "," DEVICE("d2", "0") "," DEVICE(
        "d3",
        "0") "," DEVICE("d4",
                        "1") "," DEVICE("d5",
                                        "1") "," DEVICE("d6",
                                                        "1") "," DEVICE("d7",
                                                                        "1") "]") "],'"
                                                                                  "claims"
                                                                                  "':[]}";

static void test_near(void **state)
{
    static const struct {
        const char *held[8];
        int count;
        const char *first_fit, *best_fit, *spread;
    } ROWS[] = {
        /* the node that is in pieces already is filled */
        {{"d5"}, 1, "d0", "d4", "d0"},
        {{"d1", "d5", "d6"}, 1, "d0", "d4", "d0"},
        /* what fits exactly leaves nothing over */
        {{"d1", "d5", "d6"}, 2, "d0 d2", "d4 d7", "d0 d2"},
        {{"d1", "d5", "d6"}, 3, "d0 d2 d3", "d0 d2 d3", "d0 d2 d4"},
        /* pieces are put together before a whole is broken */
        {{"d0", "d1", "d2"}, 4, "d3 d4 d5 d6", "d4 d5 d6 d7", "d3 d4 d5 d6"},
        {{}, 4, "d0 d1 d2 d3", "d0 d1 d2 d3", "d0 d1 d4 d5"},
        {{},
         8,
         "d0 d1 d2 d3 d4 d5 d6 d7",
         "d0 d1 d2 d3 d4 d5 d6 d7",
         "d0 d1 d2 d3 d4 d5 d6 d7"},
        {{"d0"}, 8, "none", "none", "none"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct world w;
        world_init(&w, EIGHT);
        for (int k = 0; k < 8 && ROWS[i].held[k]; k++)
            hold(&w, ROWS[i].held[k], ROWS[i].held[k]);
        const struct view_claim *c = want(&w, ROWS[i].count, "");
        assert_str(choose(&w, ALLOC_FIRST_FIT, c), ROWS[i].first_fit);
        assert_str(choose(&w, ALLOC_BEST_FIT, c), ROWS[i].best_fit);
        assert_str(choose(&w, ALLOC_SPREAD, c), ROWS[i].spread);
        world_fini(&w);
    }
}

/* A constraint's own attribute groups devices too, and is kept. */
static void test_constraint(void **state)
{
    struct world w;
    world_init(&w, EIGHT);
    hold(&w, "x", "d4");
    hold(&w, "y", "d5");
    const struct view_claim *c =
        want(&w, 2, ",'constraints':[{'matchAttribute':'a.example.com/link'}]");
    assert_str(choose(&w, ALLOC_FIRST_FIT, c), "d0 d1");
    assert_str(choose(&w, ALLOC_BEST_FIT, c), "d6 d7");
    world_fini(&w);
}

#define PIECE(n, set, share)                                                             \
    "{'name':'" n "','consumesCounters':[{'counterSet':'" set                            \
    "','counters':{'parts':{'value':'" share "'}}}]}"
static const char PARTITIONS[] = "{'nodes':[" NODE(
    "n1") "]," CLASSES ",'slices':[{'metadata':{'name':'c'},'spec':{'driver':'a.example."
          "com','nodeName':'n1',"
          "'pool':{'name':'n1','generation':1,'resourceSliceCount':2},'sharedCounters':["
          "{'name':'g0','counters':{'parts':{'value':'4'}}},{'name':'g1','counters':{'"
          "parts':{"
          "'value':'4'}}}]}},{'metadata':{'name':'s'},'spec':{'driver':'a.example.com',"
          "'nodeName':'n1','pool':{'name':'n1','generation':1,'resourceSliceCount':2},"
          "'devices':[" PIECE("g0-a", "g0", "1") "," PIECE("g0-b", "g0", "1") "," PIECE(
              "g1-a", "g1", "1") "," PIECE("g1-b", "g1",
                                           "1") "," PIECE("g1-c", "g1",
                                                          "1") "]}}],'claims':[]}";

/* Of two GPUs the one that is in pieces already is cut further. */
static void test_partitions(void **state)
{
    struct world w;
    world_init(&w, PARTITIONS);
    hold(&w, "x", "g1-a");
    const struct view_claim *c = want(&w, 1, "");
    assert_str(choose(&w, ALLOC_FIRST_FIT, c), "g0-a");
    assert_str(choose(&w, ALLOC_BEST_FIT, c), "g1-b");
    assert_int_equal(w.out.fit.broken, 0);
    assert_int_equal(w.out.fit.size, 2000);
    assert_int_equal(w.out.fit.left, 1500);
    assert_str(choose(&w, ALLOC_SPREAD, c), "g0-a");
    world_fini(&w);
}

static void test_names(void **state)
{
    enum alloc_policy p = ALLOC_FIRST_FIT;
    for (int i = 0; i < ALLOC_POLICIES; i++) {
        assert_true(
            alloc_policy_find(str_from(alloc_policy_name((enum alloc_policy)i)), &p));
        assert_int_equal(p, i);
    }
    assert_false(alloc_policy_find(STR("worst-fit"), &p));
    assert_int_equal(p, ALLOC_SPREAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_constraint),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
