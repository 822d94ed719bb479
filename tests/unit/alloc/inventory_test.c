/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/alloc/world.h"

#include "alloc/inner.h"

#define DEVICES(a) "'devices':[{'name':'" a "'}]"
static const char THREE_NODES[] = "{'nodes':[" NODE("n1") "," NODE("n2") "," NODE(
    "n3") "]," CLASSES
          ",'slices':[" SLICE("s1", "n1", DEVICES("d1")) "," SLICE("s2", "n2", DEVICES("d2")) "," SLICE(
              "s3", "n3",
              DEVICES(
                  "d3")) "],'claims':[" CLAIM("a",
                                              ONE) "," CLAIM("b",
                                                             ONE) "," CLAIM("c",
                                                                            ONE) "," CLAIM("d",
                                                                                           ONE) "]}";

static void test_find(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    for (uint32_t i = 0; i < 4; i++) {
        struct alloc_plan *p = alloc_plan_new(w.c.inv, &w.c.claims[i], 1);
        assert_int_equal(alloc_find(p, w.c.nodes, w.c.nnodes, 0, NULL, &w.a, &w.out), i);
        assert_int_equal(w.out.status, i < 3 ? ALLOC_OK : ALLOC_NONE);
        if (i < 3)
            alloc_commit(w.c.inv, w.c.claims[i], &w.out.results[0]);
        alloc_plan_free(p);
    }
    struct alloc_plan *p = alloc_plan_new(w.c.inv, &w.c.claims[3], 1);
    alloc_release(w.c.inv, STR("b"));
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 0, NULL, &w.a, &w.out), 1);
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 2, NULL, &w.a, &w.out), 3);
    alloc_plan_free(p);
    world_fini(&w);
}

static void test_slices_come_and_go(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    const struct view_claim *c = w.c.claims[0];
    assert_str(world_ask(&w, 0, c), "d1");
    alloc_inventory_put_slice(w.c.inv, world_slice(&w, SLICE("s1", "n1", DEVICES("e"))));
    assert_str(world_ask(&w, 0, c), "e");
    /* The object moves to another node. */
    alloc_inventory_put_slice(w.c.inv, world_slice(&w, SLICE("s1", "n2", DEVICES("a"))));
    assert_str(world_ask(&w, 0, c), "none");
    assert_true(alloc_inventory_remove_slice(w.c.inv, STR("s2")));
    assert_false(alloc_inventory_remove_slice(w.c.inv, STR("s2")));
    assert_str(world_ask(&w, 1, c), "a");
    world_fini(&w);
}

static void test_classes(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    struct alloc_plan *p = alloc_plan_new(w.c.inv, w.c.claims, 1);
    alloc_ask(p, w.c.nodes[0], NULL, &w.a, &w.out);
    assert_int_equal(w.out.status, ALLOC_OK);
    assert_true(alloc_inventory_remove_class(w.c.inv, STR("any")));
    alloc_ask(p, w.c.nodes[0], NULL, &w.a, &w.out);
    assert_int_equal(w.out.status, ALLOC_ERROR);
    static const struct view_selector no = {.has_cel = true, .expression = {"false", 5}};
    static const struct view_class any = {
        .meta.name = {"any", 3}, .selectors = &no, .nselectors = 1};
    alloc_inventory_put_class(w.c.inv, &any);
    alloc_ask(p, w.c.nodes[0], NULL, &w.a, &w.out);
    assert_int_equal(w.out.status, ALLOC_NONE);
    alloc_plan_free(p);
    world_fini(&w);
}

static void test_taint_rules(void **state)
{
    struct world w;
    static const struct view_taint_rule nothing = {.meta.name = {"nothing", 7},
                                                   .taint = {.effect = {"NoSchedule",
                                                                        10}}},
                                        one = {.meta.name = {"one", 3},
                                               .has_selector = true,
                                               .device = {"d1", 2},
                                               .taint = {.key = {"bad", 3},
                                                         .effect = {"NoExecute", 9}}};
    world_init(&w, THREE_NODES);
    alloc_inventory_put_taint_rule(w.c.inv, &nothing);
    assert_str(world_ask(&w, 0, w.c.claims[0]), "d1");
    alloc_inventory_put_taint_rule(w.c.inv, &one);
    assert_str(world_ask(&w, 0, w.c.claims[0]), "none");
    assert_str(world_ask(&w, 1, w.c.claims[0]), "d2");
    assert_true(alloc_inventory_remove_taint_rule(w.c.inv, STR("one")));
    assert_false(alloc_inventory_remove_taint_rule(w.c.inv, STR("one")));
    assert_str(world_ask(&w, 0, w.c.claims[0]), "d1");
    world_fini(&w);
}

/* A device with values that none had before it. */
static const char *new_device(struct world *w, int i)
{
    return arena_printf(
               &w->a,
               SLICE("s1", "n1",
                     "'devices':[{'name':'d%d','attributes':{'uuid':{'string':'%d'},"
                     "'version':{'version':'1.0.%d'},'n%d':{'bool':true},'model':{"
                     "'string':'m'}},'capacity':{'memory':{'value':'%dMi'}}}]"),
               i, i, i, i % 50, i)
        .p;
}

/* Whatever comes and goes, what is kept is about what is there. */
static void test_sweep(void **state)
{
    struct world w;
    int sweeps = 0;
    size_t most = 0;
    world_init(&w, THREE_NODES);
    struct view_claim *c = world_claim(
        &w, CLAIM("x", ONE ",'selectors':[{'cel':{'expression':'device.attributes[\\'"
                           "a.example.com\\'].model == \\'m\\''}}]"));
    for (int i = 0; i < 20000; i++) {
        alloc_inventory_put_slice(w.c.inv, world_slice(&w, new_device(&w, i)));
        if (i % 100 == 0)
            assert_str(world_ask(&w, 0, c), arena_printf(&w.a, "d%d", i).p);
        if (!device_names_swollen(&w.c.names))
            continue;
        if (arena_size(&w.c.names.arena) > most)
            most = arena_size(&w.c.names.arena);
        alloc_inventory_sweep(w.c.inv);
        sweeps++;
        assert_in_range(w.c.names.nvalues, 5, 5);
        assert_str(world_ask(&w, 0, c), arena_printf(&w.a, "d%d", i).p);
        assert_str(world_ask(&w, 1, c), "error");
    }
    assert_in_range(sweeps, 10, 30);
    assert_in_range(most, 1, 4 << 20);
    world_fini(&w);
}

static struct view_node *new_node(struct world *w, int i)
{
    struct view_node *n = ARENA_NEW(&w->a, struct view_node);
    *n = *w->c.nodes[0];
    n->meta.name = arena_printf(&w->a, "node-%d", i);
    return n;
}

/* A node with a device comes, gives the device to a claim, takes it back, and goes. */
static void visit(struct world *w, struct alloc_plan *p, int i)
{
    const struct view_node *node = new_node(w, i);
    struct view_slice *s = world_slice(w, SLICE("s", "n", DEVICES("d")));
    s->node_name = s->pool = node->meta.name;
    alloc_inventory_put_slice(w->c.inv, s);
    assert_int_equal(alloc_find(p, &node, 1, 0, NULL, &w->a, &w->out), 0);
    alloc_commit(w->c.inv, w->c.claims[1], &w->out.results[0]);
    assert_int_equal(alloc_find(p, &node, 1, 0, NULL, &w->a, &w->out), 1);
    alloc_release(w->c.inv, w->c.claims[1]->meta.uid);
    assert_true(alloc_inventory_remove_slice(w->c.inv, STR("s")));
    alloc_forget_node(w->c.inv, node->meta.name);
}

static void sweep_if_swollen(struct world *w, int *sweeps)
{
    if (!alloc_inventory_swollen(w->c.inv))
        return;
    alloc_inventory_sweep(w->c.inv);
    assert_in_range(w->c.inv->host_list.n, 1, 3);
    assert_in_range(w->c.inv->hosts.live, 1, 3);
    assert_int_equal(w->c.inv->pool_list.n, 3);
    assert_int_equal(w->c.inv->pools.live, 3);
    ++*sweeps;
}

/* Nodes that are gone are gone; the plan that was there all the time knows no better. */
static void test_nodes_come_and_go(void **state)
{
    struct world w;
    int sweeps = 0;
    world_init(&w, THREE_NODES);
    struct alloc_plan *p = alloc_plan_new(w.c.inv, &w.c.claims[1], 1);
    assert_str(world_ask(&w, 0, w.c.claims[0]), "d1");
    alloc_commit(w.c.inv, w.c.claims[0], &w.out.results[0]);
    for (int i = 0; i < 10000; i++) {
        visit(&w, p, i);
        sweep_if_swollen(&w, &sweeps);
    }
    assert_in_range(sweeps, 10, 20);
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 0, NULL, &w.a, &w.out), 1);
    alloc_plan_free(p);
    world_fini(&w);
}

/* Who holds a device of a pool that is gone still does when it is back. */
static void test_sweep_keeps_holders(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    assert_str(world_ask(&w, 0, w.c.claims[0]), "d1");
    alloc_commit(w.c.inv, w.c.claims[0], &w.out.results[0]);
    assert_true(alloc_inventory_remove_slice(w.c.inv, STR("s1")));
    alloc_forget_node(w.c.inv, STR("n1"));
    alloc_inventory_sweep(w.c.inv);
    assert_int_equal(w.c.inv->host_list.n, 2);
    assert_int_equal(w.c.inv->pool_list.n, 3);
    alloc_inventory_put_slice(w.c.inv, world_slice(&w, SLICE("s1", "n1", DEVICES("d1"))));
    assert_str(world_ask(&w, 0, w.c.claims[1]), "none");
    alloc_release(w.c.inv, w.c.claims[0]->meta.uid);
    assert_str(world_ask(&w, 0, w.c.claims[1]), "d1");
    world_fini(&w);
}

/* A refusal is remembered of the node, not of its place among the nodes. */
static void test_sweep_moves_hosts(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    struct alloc_plan *p = alloc_plan_new(w.c.inv, &w.c.claims[3], 1);
    for (uint32_t i = 0; i < 2; i++) {
        world_ask(&w, i, w.c.claims[i]);
        alloc_commit(w.c.inv, w.c.claims[i], &w.out.results[0]);
    }
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 0, NULL, &w.a, &w.out), 2);
    assert_true(alloc_inventory_remove_slice(w.c.inv, STR("s1")));
    alloc_forget_node(w.c.inv, STR("n1"));
    alloc_inventory_sweep(w.c.inv);
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 0, NULL, &w.a, &w.out), 2);
    alloc_release(w.c.inv, w.c.claims[1]->meta.uid);
    assert_int_equal(alloc_find(p, w.c.nodes, 3, 0, NULL, &w.a, &w.out), 1);
    alloc_plan_free(p);
    world_fini(&w);
}

static struct host *host_at(struct world *w, struct str name)
{
    return strmap_find(&w->c.inv->hosts, name)->value.ptr;
}

/* Nor do two nodes have one place: what one refuses, the other still gives. */
static void test_sweep_renumbers_hosts(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    struct alloc_plan *p = alloc_plan_new(w.c.inv, &w.c.claims[3], 1);
    assert_true(alloc_inventory_remove_slice(w.c.inv, STR("s1")));
    assert_true(alloc_inventory_remove_slice(w.c.inv, STR("s2")));
    alloc_inventory_sweep(w.c.inv);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "s5" : "s4";
        struct view_slice *s = world_slice(&w, SLICE("s", "n", DEVICES("d")));
        s->meta.name = str_from(name);
        s->node_name = s->pool = arena_printf(&w.a, "node-%d", i);
        alloc_inventory_put_slice(w.c.inv, s);
    }
    world_ask(&w, 2, w.c.claims[0]);
    alloc_commit(w.c.inv, w.c.claims[0], &w.out.results[0]);
    const struct view_node *node = new_node(&w, 1);
    alloc_ask(p, node, NULL, &w.a, &w.out);
    node = new_node(&w, 1); /* another view: as many changes as the other node had */
    alloc_ask(p, node, NULL, &w.a, &w.out);
    assert_int_equal(host_at(&w, STR("n3"))->version,
                     host_at(&w, STR("node-1"))->version);
    assert_int_equal(alloc_find(p, &w.c.nodes[2], 1, 0, NULL, &w.a, &w.out), 1);
    assert_int_equal(alloc_find(p, &node, 1, 0, NULL, &w.a, &w.out), 0);
    alloc_plan_free(p);
    world_fini(&w);
}

/* More profiles than are kept. */
static void test_many_profiles(void **state)
{
    struct world w;
    world_init(&w, THREE_NODES);
    for (int i = 0; i < 5000; i++) {
        struct view_claim c = *w.c.claims[0];
        struct view_request r = c.requests[0];
        struct view_alternative alt = r.alternatives[0];
        struct view_selector sel = {.has_cel = true};
        sel.expression = i % 2 ? STR("true") : STR("false");
        struct view_toleration t = {.key = arena_printf(&w.a, "k%d", i)};
        alt.selectors = &sel;
        alt.nselectors = 1;
        alt.tolerations = &t;
        alt.ntolerations = 1;
        r.alternatives = &alt;
        c.requests = &r;
        assert_str(world_ask(&w, 0, &c), i % 2 ? "d1" : "none");
    }
    world_fini(&w);
}

static void test_features(void **state)
{
    struct alloc_features f = {0};
    assert_true(alloc_features_set(&f, STR("AdminAccess"), true));
    assert_true(f.admin_access);
    assert_false(alloc_features_set(&f, STR("Nothing"), true));
    assert_true(alloc_features_default.consumable_capacity);
    assert_false(alloc_features_default.list_type_attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_slices_come_and_go),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_taint_rules),
        cmocka_unit_test(test_many_profiles),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_nodes_come_and_go),
        cmocka_unit_test(test_sweep_keeps_holders),
        cmocka_unit_test(test_sweep_moves_hosts),
        cmocka_unit_test(test_sweep_renumbers_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
