/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated nodes as a command line asks for them, and shapes. */
#include "unit/unit.h"

#include "cli/simulated.h"

static void test_shares(void **state)
{
    static const struct {
        const char *shapes;
        uint32_t nodes, want[3];
        const char *first;
    } CASES[] = {
        {"h100x8", SIMULATED_DEFAULT, {1}, "h100x8"},
        {"h100x8", 5, {5}, "h100x8"},
        {"h100x8=3", SIMULATED_DEFAULT, {3}, "h100x8"},
        {"h100x8,cpu", 5, {3, 2}, "h100x8"},
        {"h100x8=1,cpu,l4x4", 6, {1, 3, 2}, "h100x8"},
        {"cpu", 0, {0}, "cpu"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        struct arena a = {0};
        struct simulated s;
        struct err e = ERR_INIT;
        ROW(CASES[i].shapes, simulated_read(CASES[i].shapes, CASES[i].nodes, &a, &s, &e));
        for (uint32_t g = 0; g < s.n; g++)
            ROW(CASES[i].shapes, s.groups[g].n == CASES[i].want[g]);
        assert_string_equal(s.groups[0].prefix, CASES[i].first);
        simulated_release(&s);
        arena_fini(&a);
    }
}

static void test_refuses(void **state)
{
    static const struct {
        const char *shapes;
        uint32_t nodes;
    } CASES[] = {{"nope", 1},          {"h100x8=x", 1},
                 {"h100x8=-1", 1},     {"cpu=1", 2},
                 {"cpu=3,l4x4", 2},    {"cpu=99999", SIMULATED_DEFAULT},
                 {"./nowhere.yaml", 1}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        struct arena a = {0};
        struct simulated s;
        struct err e = ERR_INIT;
        ROW(CASES[i].shapes,
            !simulated_read(CASES[i].shapes, CASES[i].nodes, &a, &s, &e));
        ROW(CASES[i].shapes, e.code != ERR_NONE);
        err_release(&e);
        arena_fini(&a);
    }
}

static const char NODE[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: u}\n---\n";

static void test_shapes(void **state)
{
    static const struct {
        const char *text, *error; /* NULL: it is one */
    } CASES[] = {
        {"kind: ResourceSlice\nmetadata: {name: s}\nspec: {nodeName: n1}\n", NULL},
        {"kind: ResourceSlice\nmetadata: {name: s}\nspec: {nodeName: n2}\n",
         "t: a ResourceSlice with nodeName \"n2\"; the Node is \"n1\""},
        {"kind: Node\nmetadata: {name: n2}\n", "t: two Nodes: a shape is of one"},
        {"kind: Pod\nmetadata: {name: p}\n",
         "t: there is more than a Node and ResourceSlices"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        struct strbuf b = STRBUF_INIT;
        struct err e = ERR_INIT;
        strbuf_addf(&b, "%s%s", NODE, CASES[i].text);
        struct sim_shape *s = sim_shape_read("t", strbuf_str(&b), &e);
        ROW(CASES[i].text, !s == !!CASES[i].error);
        if (CASES[i].error)
            assert_string_equal(err_text(&e), CASES[i].error);
        sim_shape_free(s);
        err_release(&e);
        strbuf_release(&b);
    }
}

/* The node's name is replaced where it is a word, and nowhere else. */
static void test_names(void **state)
{
    static const char SLICE[] =
        "kind: ResourceSlice\nmetadata: {name: n1-gpu}\n"
        "spec: {nodeName: n1, pool: {name: n1}, devices: [{name: gpun1,"
        " attributes: {uuid: {string: GPU-12ab}, at: {string: rack-n1/x}}}]}\n";
    struct arena a = {0};
    struct strbuf b = STRBUF_INIT;
    struct err e = ERR_INIT;
    (void)state;
    strbuf_addf(&b, "%s%s", NODE, SLICE);
    struct sim_shape *s = sim_shape_read("t", strbuf_str(&b), &e);
    assert_non_null(s);
    struct doc slice = sim_shape_slice(s, 0, STR("h-7"), &a),
               other = sim_shape_slice(s, 0, STR("h-8"), &a),
               node = sim_shape_node(s, STR("h-7"), &a);
    const struct doc *device = &doc_path(&slice, "spec.devices")->items[0];
    const struct doc *there = &doc_path(&other, "spec.devices")->items[0];
    assert_true(doc_is_string(doc_path(&slice, "metadata.name"), "h-7-gpu"));
    assert_true(doc_is_string(doc_path(&slice, "spec.pool.name"), "h-7"));
    assert_true(doc_is_string(doc_get(device, "name"), "gpun1"));
    assert_true(doc_is_string(doc_path(device, "attributes.at.string"), "rack-h-7/x"));
    assert_false(doc_equal(doc_path(device, "attributes.uuid"),
                           doc_path(there, "attributes.uuid")));
    assert_true(str_starts(doc_get_text(doc_path(device, "attributes.uuid"), "string"),
                           STR("GPU-")));
    assert_null(doc_path(&node, "metadata.uid"));
    sim_shape_free(s);
    strbuf_release(&b);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
