/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/alloc/world.h"

static const char TWO_DEVICES[] =
    "{'nodes':[" NODE(
        "n1") "]," CLASSES
              ",'slices':[" SLICE("s", "n1", "'devices':[{'name':'d0'},{'name':'d1'}]") "],'claims':[" CLAIM(
                  "a", ONE) "," CLAIM("b", ONE) "," CLAIM("c", ONE) "]}";

static void test_commit_and_release(void **state)
{
    struct world w;
    world_init(&w, TWO_DEVICES);
    const struct view_claim *const *c = w.c.claims;
    assert_str(world_ask(&w, 0, c[0]), "d0");
    alloc_commit(w.c.inv, c[0], &w.out.results[0]);
    assert_str(world_ask(&w, 0, c[1]), "d1");
    alloc_commit(w.c.inv, c[1], &w.out.results[0]);
    assert_str(world_ask(&w, 0, c[2]), "none");
    alloc_release(w.c.inv, STR("a"));
    assert_str(world_ask(&w, 0, c[2]), "d0");
    alloc_release(w.c.inv, STR("nobody"));
    world_fini(&w);
}

/* A device that two claims hold is free when both are gone. */
static void test_two_holders(void **state)
{
    struct world w;
    world_init(&w, TWO_DEVICES);
    const struct view_claim *const *c = w.c.claims;
    world_ask(&w, 0, c[0]);
    struct alloc_result r = w.out.results[0];
    alloc_commit(w.c.inv, c[0], &r);
    alloc_commit(w.c.inv, c[1], &r);
    alloc_release(w.c.inv, STR("a"));
    assert_str(world_ask(&w, 0, c[2]), "d1");
    alloc_release(w.c.inv, STR("b"));
    assert_str(world_ask(&w, 0, c[2]), "d0");
    world_fini(&w);
}

#define ALLOCATED(name, device)                                                          \
    "{'metadata':{'name':'" name "','namespace':'ns','uid':'" name                       \
    "'},'spec':{'devices':{}},'status':{'allocation':{'devices':{'results':[{"           \
    "'request':'r','driver':'a.example.com','pool':'n1','device':'" device "'}]}}}}"

static void test_charge_replaces(void **state)
{
    struct world w;
    world_init(&w, TWO_DEVICES);
    const struct view_claim *const *c = w.c.claims;
    alloc_charge(w.c.inv, world_claim(&w, ALLOCATED("a", "d0")));
    assert_str(world_ask(&w, 0, c[1]), "d1");
    alloc_charge(w.c.inv, world_claim(&w, ALLOCATED("a", "d1")));
    assert_str(world_ask(&w, 0, c[1]), "d0");
    alloc_charge(w.c.inv, c[0]); /* allocated no more */
    assert_str(world_ask(&w, 0, c[1]), "d0");
    alloc_charge(w.c.inv, world_claim(&w, ALLOCATED("a", "d0")));
    alloc_charge(w.c.inv, world_claim(&w, ALLOCATED("b", "d1")));
    assert_str(world_ask(&w, 0, c[2]), "none");
    assert_non_null(strstr(w.out.summary.p, "in use by claim ns/"));
    world_fini(&w);
}

#define PARTITIONS(devices)                                                              \
    "{'metadata':{'name':'s'},'spec':{'driver':'a.example.com','nodeName':'n1','pool':{" \
    "'name':'n1','generation':1,'resourceSliceCount':2},'devices':[" devices "]}}"
#define SETS                                                                             \
    "{'metadata':{'name':'t'},'spec':{'driver':'a.example.com','nodeName':'n1','pool':{" \
    "'name':'n1','generation':1,'resourceSliceCount':2},'sharedCounters':[{'name':'gpu'" \
    ",'counters':{'mem':{'value':'40Gi'}}}]}}"
#define PART(name, mem)                                                                  \
    "{'name':'" name "','consumesCounters':[{'counterSet':'gpu','counters':{'mem':{"     \
    "'value':'" mem "'}}}]}"

static const char MIG[] = "{'nodes':[" NODE("n1") "]," CLASSES ",'slices':[" PARTITIONS(
    PART("big", "30Gi") "," PART("small", "20Gi")) "," SETS
                                                   "],'claims':[" CLAIM(
                                                       "a", ONE) "," CLAIM("b", ONE) "]}";

/* U2: what was committed stays charged when the device is published no more; of what is
 * known from the API alone, nothing is. */
static void test_republished(void **state)
{
    struct world w;
    world_init(&w, MIG);
    const struct view_claim *const *c = w.c.claims;
    assert_str(world_ask(&w, 0, c[0]), "big");
    alloc_commit(w.c.inv, c[0], &w.out.results[0]);
    assert_str(world_ask(&w, 0, c[1]), "none");
    alloc_inventory_put_slice(w.c.inv,
                              world_slice(&w, PARTITIONS(PART("small", "20Gi"))));
    assert_str(world_ask(&w, 0, c[1]), "none");
    alloc_release(w.c.inv, STR("a"));
    assert_str(world_ask(&w, 0, c[1]), "small");
    alloc_charge(w.c.inv, world_claim(&w, ALLOCATED("a", "big")));
    assert_str(world_ask(&w, 0, c[1]), "small");
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit_and_release),
        cmocka_unit_test(test_two_holders),
        cmocka_unit_test(test_charge_replaces),
        cmocka_unit_test(test_republished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
