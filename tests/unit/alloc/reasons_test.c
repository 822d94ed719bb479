/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/alloc/world.h"

#define DEVICES(list) SLICE("s", "n1", "'devices':[" list "]")
#define WORLD(slices, claims)                                                            \
    "{'nodes':[" NODE("n1") "]," CLASSES ",'slices':[" slices "],'claims':[" claims "]"
#define SELECT(text) ONE ",'selectors':[{'cel':{'expression':'" text "'}}]"

static const struct row {
    const char *name, *world;
    enum alloc_rule rule;
    const char *detail, *summary;
} ROWS[] = {
    {"in use",
     WORLD(DEVICES("{'name':'d'}"),
           CLAIM("c", ONE)) ",'allocatedClaims':[{'metadata':{'name':'old','namespace':'"
                            "ns'},'spec':{},'status':{"
                            "'allocation':{'devices':{'results':[{'request':'r','driver':"
                            "'a.example.com',"
                            "'pool':'n1','device':'d'}]}}}}]}",
     ALLOC_RULE_IN_USE, "in use by claim ns/old",
     "claim ns/c, request r: wants 1, 1 match, 0 free: 1 in use (in use by claim "
     "ns/old)"},
    {"selector", WORLD(DEVICES("{'name':'d'}"), CLAIM("c", SELECT("false"))) "}",
     ALLOC_RULE_SELECTOR, "false",
     "claim ns/c, request r: wants 1, 0 match, 0 free: 1 selector (false)"},
    {"taint",
     WORLD(
         DEVICES("{'name':'d','taints':[{'key':'k','value':'v','effect':'NoSchedule'}]}"),
         CLAIM("c", ONE)) "}",
     ALLOC_RULE_TAINT, "k=v:NoSchedule", NULL},
    {"capacity",
     WORLD(DEVICES("{'name':'d','capacity':{'memory':{'value':'24Gi'}}}"),
           CLAIM("c", ONE ",'capacity':{'requests':{'memory':'80Gi'}}")) "}",
     ALLOC_RULE_CAPACITY, "memory: wants 80Gi, has 24Gi", NULL},
    {"count",
     WORLD(DEVICES("{'name':'d'}"),
           CLAIM("c", "'deviceClassName':'any','allocationMode':'ExactCount',"
                      "'count':2")) "}",
     ALLOC_RULES, NULL, "claim ns/c, request r: wants 2, 1 match, 1 free"},
    {"taken", WORLD(DEVICES("{'name':'d'}"), CLAIM("a", ONE) "," CLAIM("b", ONE)) "}",
     ALLOC_RULE_TAKEN, "with the requests before it 2 are wanted of 1",
     "claim ns/b, request r: with the requests before it 2 are wanted of 1"},
    {"incomplete",
     WORLD("{'metadata':{'name':'s'},'spec':{'driver':'a.example.com','nodeName':'n1',"
           "'pool':{'name':'n1','generation':1,'resourceSliceCount':2},'devices':[{"
           "'name':'d'}]}}",
           CLAIM("c", ONE)) "}",
     ALLOC_RULE_POOL_INCOMPLETE, "pool a.example.com/n1: 1 of 2 slices are there", NULL},
    {"invalid", WORLD(DEVICES("{'name':'d'},{'name':'d'}"), CLAIM("c", ONE)) "}",
     ALLOC_RULE_POOL_INVALID, "pool a.example.com/n1: duplicate device name d",
     "invalid resource pools were encountered: pool a.example.com/n1: duplicate device "
     "name d"},
};

static const struct alloc_reason *find(const struct alloc_outcome *o,
                                       enum alloc_rule rule)
{
    for (uint32_t i = 0; i < o->nreasons; i++)
        if (o->reasons[i].rule == rule)
            return &o->reasons[i];
    return NULL;
}

static void test_rows(void **state)
{
    struct alloc_options o = {.explain = true};
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct world w;
        world_init(&w, ROWS[i].world);
        alloc_solve(w.c.inv, w.c.nodes[0], w.c.claims, w.c.nclaims, &o, &w.a, &w.out);
        ROW(ROWS[i].name, w.out.status != ALLOC_OK);
        if (ROWS[i].rule < ALLOC_RULES) {
            const struct alloc_reason *r = find(&w.out, ROWS[i].rule);
            ROW(ROWS[i].name, r != NULL);
            assert_str(r->detail, ROWS[i].detail);
        }
        if (ROWS[i].summary)
            assert_str(w.out.summary, ROWS[i].summary);
        world_fini(&w);
    }
}

static void test_names(void **state)
{
    for (int i = 0; i < ALLOC_RULES; i++)
        assert_true(strlen(alloc_rule_name((enum alloc_rule)i)) > 0);
    assert_string_equal(alloc_rule_name(ALLOC_RULES), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
