/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: paths, logic, comprehensions, optionals; variables with slots; unchecked
 * expressions; interruption. */
#include "run_unit.h"

static const struct run_row rows[] = {
    {"true && false", "false", 0},
    {"false && 1 / 0 == 0", "false", 0},
    {"1 / 0 == 0 && false", "false", 2},
    {"1 / 0 == 0 && true", "error: division by zero", 2},
    {"1 / 0 == 0 || true", "true", 2},
    {"1 / 0 == 0 || 1 % 0 == 0", "error: division by zero", 4},
    {"dyn(1) && true", "error: no such overload", 0},
    {"dyn(1) && false", "false", 0},
    {"true ? 1 : 1 / 0", "1", 0},
    {"1 / 0 == 0 ? 1 : 2", "error: division by zero", 2},
    {"dyn(1) ? 1 : 2", "error: no such overload", 0},
    {"{\"a\": {\"b\": 1}}.a.b", "1", 3},
    {"{\"a\": {\"b\": 1}}[\"a\"][\"b\"]", "1", 3},
    {"{\"a\": 1}.b", "error: no such key: b", 2},
    {"{\"a\": 1}[\"b\"]", "error: no such key: b", 2},
    {"{1: \"x\"}[dyn(1.0)]", "\"x\"", 2},
    {"{1: \"x\"}[dyn(1u)]", "\"x\"", 2},
    {"{dyn(1.0): \"x\"}[dyn(1)]", "error: no such key: 1", 2},
    {"{dyn(1): 1, dyn(1u): 2, dyn(1.0): 3}[1u]", "2", 2},
    {"[1, 2][1]", "2", 2},
    {"[1, 2][2]", "error: index out of bounds: 2", 2},
    {"[1, 2][-1]", "error: index out of bounds: -1", 2},
    {"[1, 2][dyn(1.0)]", "2", 2},
    {"[1, 2][dyn(1.5)]", "error: unsupported index value 1.5 in list", 2},
    {"[1, 2][dyn(\"a\")]", "error: unsupported index type 'string' in list", 2},
    {"has({\"a\": 1}.a)", "true", 1},
    {"has({\"a\": 1}.b)", "false", 1},
    {"has({\"a\": {\"b\": 1}}.a.c)", "false", 2},
    {"has({\"a\": {\"b\": 1}}.x.c)", "error: no such key: x", 1},
    {"has(dyn(1).a)", "false", 1},
    {"dyn(1).a", "error: no such key: a", 2},
    {"{\"a\": 1}.?a", "optional.of(1)", 2},
    {"{\"a\": 1}.?b", "optional.none()", 1},
    {"{\"a\": {\"b\": 1}}.?a.b", "optional.of(1)", 3},
    {"{\"a\": {\"b\": 1}}.?a.?c", "optional.none()", 2},
    {"{\"a\": {\"b\": 1}}.?x.b", "optional.none()", 1},
    {"{\"a\": {\"b\": 1}}.x.?b", "error: no such key: x", 2},
    {"[1, 2][?0]", "optional.of(1)", 2},
    {"[1, 2][?5]", "optional.none()", 1},
    {"optional.of([1, 2])[0]", "optional.of(1)", 3},
    {"optional.of({\"a\": 1}).a", "optional.of(1)", 3},
    {"optional.none().orValue(5)", "5", 1},
    {"optional.of(1).orValue(1 / 0)", "1", 1},
    {"optional.none().or(optional.of(2))", "optional.of(2)", 2},
    {"optional.of(1).value()", "1", 2},
    {"optional.none().value()", "error: optional.none() dereference", 2},
    {"optional.ofNonZeroValue(\"\").hasValue()", "false", 2},
    {"optional.of(1).optMap(x, x + 1)", "optional.of(2)", 7},
    {"optional.none().optMap(x, x + 1)", "optional.none()", 3},
    {"optional.of(1).optFlatMap(x, optional.none())", "optional.none()", 3},
    {"[?optional.of(1), ?optional.none(), 3]", "[1, 3]", 12},
    {"{?\"a\": optional.of(1), ?\"b\": optional.none()}", "{\"a\": 1}", 32},
    {"[1, 2, 3].first()", "optional.of(1)", 1},
    {"[].last()", "optional.none()", 1},
    {"optional.unwrap([optional.of(1), optional.none()])", "[1]", 13},
    {"[1, 2, 3].all(x, x > 0)", "true", 16},
    {"[1, 2, 3].all(x, x > 1)", "false", 8},
    {"[].all(x, x)", "true", 1},
    {"[1, 2, 3].exists(x, x == 2)", "true", 16},
    {"[1, 2, 3].exists(x, x > 5)", "false", 19},
    {"[1, 0, 2].all(x, 1 / x > 0)", "false", 19},
    {"[1, 0, -2].all(x, 1 / x > 0)", "false", 19},
    {"[0, 1].exists(x, 1 / x == 1)", "true", 15},
    {"[0, 2].exists(x, 1 / x == 1)", "error: division by zero", 15},
    {"[1, 2, 1].exists_one(x, x == 1)", "false", 12},
    {"[1, 2, 1].exists_one(x, x == 2)", "true", 10},
    {"[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero", 10},
    {"[1, 2, 3].map(x, x * 2)", "[2, 4, 6]", 43},
    {"[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]", 35},
    {"[1, 2, 3].filter(x, x % 2 == 1)", "[1, 3]", 36},
    {"[1, 0, 2].map(x, 1 / x)", "error: division by zero", 43},
    {"[1, 0, 2].filter(x, 1 / x > 0)", "error: division by zero", 23},
    {"[[1, 2], [3]].map(x, x.map(y, y + 1))", "[[2, 3], [4]]", 71},
    {"[1, 2].map(x, [x, x])", "[[1, 1], [2, 2]]", 49},
    {"[\"a\", \"b\"].map(x, 1)", "[1, 1]", 5},
    {"{\"a\": 1, \"b\": 2}.all(k, k < \"c\")", "true", 11},
    {"{\"a\": 1}.map(k, k)", "[\"a\"]", 14},
    {"dyn(1).all(x, true)", "error: got 'types.Int', expected iterable type", 0},
    {"dyn(\"abc\").map(x, x)", "error: got 'types.String', expected iterable type", 0},
    {"[5, 6].all(i, v, v == i + 5)", "true", 15},
    {"{\"a\": 1}.exists(k, v, v == 1)", "true", 7},
    {"[1, 2].exists_one(i, v, v == 2)", "true", 8},
    {"[4, 5].transformList(i, v, i + v)", "[4, 6]", 31},
    {"[4, 5].transformList(i, v, i > 0, i + v)", "[6]", 20},
    {"[4, 5].transformMap(i, v, v * 2)", "{0: 8, 1: 10}", 11},
    {"{\"a\": 1}.transformMap(k, v, v > 1, v)", "{}", 3},
    {"[4, 5].transformMapEntry(i, v, {v: i})", "{4: 0, 5: 1}", 69},
    {"[4, 4].transformMapEntry(i, v, {v: i})",
     "error: insert failed: key 4 already exists", 69},
    {"dyn(1).all(i, v, true)", "error: unsupported comprehension range type: types.Int",
     0},
    {"cel.bind(x, 1, x + x)", "2", 3},
    {"cel.bind(x, 1 / 0, true)", "true", 0},
    {"cel.bind(x, 1 / 0, x == 1 || true)", "true", 3},
    {"cel.bind(x, [1, 2], x.map(y, y + x[0]))", "[2, 3]", 34},
    {"cel.bind(x, [1].map(y, y), x + x)", "[1, 1]", 17},
    {"cel.bind(a, [], [a + [1], a + [2]]).size()", "2", 15},
    {"[1, 2].map(x, cel.bind(y, x * 2, [1].map(z, z + y)))", "[[3], [5]]", 61},
    {"google.protobuf.Duration{seconds: 1, nanos: 5}", "1.000000005s", 40},
    {"google.protobuf.Int32Value{value: 5000000000}",
     "error: field type conversion error for google.protobuf.Int32Value.value value "
     "type: integer overflow",
     40},
    {"google.protobuf.Struct{fields: {\"a\": b\"abc\"}}", "{\"a\": \"YWJj\"}", 40},
    {"{\"a\": 1, \"a\": 2}", "{\"a\": 2}", 0},
    {"\"abc\".find(\"b.*\")", "\"bc\"", 1},
    {"\"a1b22\".findAll(\"[0-9]+\")", "[\"1\", \"22\"]", 2},
    {"\"a1b22\".findAll(\"[0-9]+\", 1)", "[\"1\"]", 2},
    {"string(dyn([1]) == [1])", "\"true\"", 2},
};

/* ---- A host with an object, a slot variable and plain ones ---- */

enum { LOADS = 8 };

struct host {
    int loads[LOADS]; /* how often each slot was loaded */
    int values;       /* how often the whole was asked for */
    struct cel_value map;
};

/* Slots 0 and 1: .a and .a.b; 2: .?o, which is nothing; 3: .bad, which fails. */
static int host_slot(void *decl, const struct cel_step *steps, unsigned n, unsigned *used)
{
    if (n == 0)
        return -1;
    if (str_is(steps[0].key, "a") && !steps[0].optional) {
        *used = n > 1 && str_is(steps[1].key, "b") && !steps[1].optional ? 2 : 1;
        return (int)*used - 1;
    }
    *used = 1;
    if (str_is(steps[0].key, "o") && steps[0].optional)
        return 2;
    return str_is(steps[0].key, "bad") && !steps[0].optional ? 3 : -1;
}

static struct cel_value host_load(const void *activation, int slot, struct cel_run *run)
{
    struct host *h = (struct host *)activation;
    h->loads[slot]++;
    switch (slot) {
    case 0:
        return *cel_map_find(h->map.map, cel_string(STR("a")));
    case 1:
        return cel_int(1);
    case 2:
        return cel_optional_none();
    default:
        return cel_no_key(run, cel_string(STR("bad")));
    }
}

static struct cel_value host_value(const void *activation, struct cel_run *run)
{
    struct host *h = (struct host *)activation;
    h->values++;
    return h->map;
}

static const struct cel_var_ops host_ops = {host_slot, host_load, host_value};

static struct cel_value get_field(const struct cel_object *o, struct str field,
                                  struct cel_run *run, bool *present)
{
    *present = str_is(field, "set");
    if (*present || str_is(field, "unset"))
        return cel_int(*present ? 7 : 0);
    return cel_errorf(run, "no such field '%.*s'", STR_ARG(field));
}

static const struct cel_object_ops object_ops = {.get = get_field};
static const struct cel_field object_fields[] = {{"set", &cel_type_int},
                                                 {"unset", &cel_type_int}};
static const struct cel_object_type object_type = {"test.Object", object_fields, 2};
static const struct cel_type object_as_type = {
    .kind = CEL_T_OBJECT, .weight = 1, .name = "test.Object", .object = &object_type};

static const struct cel_var vars[] = {
    {"host", &cel_type_dyn, &host_ops, NULL, NULL},
    {"x", &cel_type_dyn, NULL, NULL, NULL},
    {"ns.y", &cel_type_dyn, NULL, NULL, NULL},
    {"object", &object_as_type, NULL, NULL, NULL},
};

static struct run_unit unit;

static int open_unit(void **state)
{
    struct cel_env_opts opts = unit_opts();
    opts.flags |= CEL_ENV_FOLD;
    opts.vars = vars;
    opts.nvars = UNIT_COUNT(vars);
    opts.container = "ns.inner";
    run_unit_init(&unit, &opts);
    return 0;
}

static int close_unit(void **state)
{
    run_unit_fini(&unit);
    return 0;
}

static struct host host;

/* host = {"a": {"b": 1, "c": 2}}, x = 10, ns.y = 20, object = a test.Object. */
static const void *const *bind(struct arena *a)
{
    static struct cel_value x, y, object;
    static struct cel_object o = {&object_as_type, &object_ops, NULL};
    static const void *activations[] = {&host, &x, &y, &object};
    struct cel_run run;
    cel_run_init(&run);
    struct cel_entry *inner = ARENA_ARRAY(&run.arena, struct cel_entry, 2);
    inner[0] = (struct cel_entry){cel_string(STR("b")), cel_int(1)};
    inner[1] = (struct cel_entry){cel_string(STR("c")), cel_int(2)};
    struct cel_entry *outer = ARENA_ARRAY(&run.arena, struct cel_entry, 1);
    outer[0] = (struct cel_entry){cel_string(STR("a")), cel_map_make(&run, inner, 2)};
    host = (struct host){.map = cel_dup(cel_map_make(&run, outer, 1), a)};
    cel_run_fini(&run);
    x = cel_int(10);
    y = cel_int(20);
    object = (struct cel_value){.kind = CEL_OBJECT, .object = &o};
    return activations;
}

static void test_rows(void **state)
{
    run_unit_rows(&unit, rows, UNIT_COUNT(rows));
}

/* The cost is that of the plain steps, however many of them a load covers. */
static void test_slots(void **state)
{
    const struct {
        const char *expr, *text;
        uint64_t cost;
        int slot; /* -1: the whole variable */
    } cases[] = {
        {"host.a.b", "1", 3, 1},
        {"host[\"a\"][\"b\"]", "1", 3, 1},
        {"host.a.c", "2", 3, 0},
        {"host.a.d", "error: no such key: d", 3, 0},
        {"host.?o", "optional.none()", 1, 2},
        {"host.?o.b", "optional.none()", 1, 2},
        {"has(host.o)", "false", 1, 2},
        {"host.bad", "error: no such key: bad", 2, 3},
        {"host.bad.b", "error: no such key: bad", 2, 3},
        {"has(host.bad.b)", "error: no such key: bad", 1, 3},
        {"has(host.a.b)", "true", 2, 0},
        {"host.?a.b", "optional.of(1)", 3, -1},
        {"host.size()", "1", 2, -1},
        {"true ? host.a.b : 0", "1", 2, 1},
        {"[1, 2][host.a.b]", "2", 4, 1},
        {"host[\"a\" + \"\"].b", "1", 4, -1},
    };
    const void *const *activations = bind(&unit.arena);
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct host before = host;
        ROW(cases[i].expr,
            strcmp(run_unit_text(&unit, cases[i].expr, activations), cases[i].text) == 0);
        ROW(cases[i].expr, unit.run.cost == cases[i].cost);
        ROW(cases[i].expr, host.values - before.values == (cases[i].slot < 0));
        for (int k = 0; k < LOADS; k++)
            ROW(cases[i].expr, host.loads[k] - before.loads[k] == (k == cases[i].slot));
    }
}

static void test_program_slots(void **state)
{
    struct cel_program *p =
        run_unit_plan(&unit, "host.a.b == 1 && host.a.b < 2 && has(host.o) && x == 1");
    assert_non_null(p);
    int slots[4];
    bool whole;
    assert_int_equal(cel_program_slots(p, 0, slots, 4, &whole), 2);
    assert_int_equal(slots[0], 1);
    assert_int_equal(slots[1], 2);
    assert_false(whole);
    assert_int_equal(cel_program_slots(p, 1, slots, 4, &whole), 0);
    assert_true(whole);
    assert_int_equal(cel_program_slots(p, 2, slots, 4, &whole), 0);
    assert_false(whole);
    cel_program_free(p);
}

static void check_all(const struct run_row *cases, size_t n)
{
    const void *const *activations = bind(&unit.arena);
    for (size_t i = 0; i < n; i++) {
        const char *text = run_unit_text(&unit, cases[i].expr, activations);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("%s: %s", cases[i].expr, text);
    }
}

static void test_objects(void **state)
{
    static const struct run_row cases[] = {
        {"object.set", "7", 2},
        {"object.unset", "0", 2},
        {"has(object.set)", "true", 1},
        {"has(object.unset)", "false", 1},
        {"object.?unset.hasValue()", "false", 3},
        {"object.?set", "optional.of(7)", 2},
        {"dyn(object).other", "error: no such field 'other'", 3},
        {"object == object", "true", 3},
    };
    check_all(cases, UNIT_COUNT(cases));
}

/* Local names hide variables, a leading dot goes past them, containers are searched. */
static void test_names(void **state)
{
    static const struct run_row cases[] = {
        {"x + y", "30"},
        {"ns.y", "20"},
        {"[1].map(x, x + .x)", "[11]"},
        {"[1].map(y, y + ns.y)", "[21]"},
        {"[1].map(y, [2].map(y, y))", "[[2]]"},
        {"[1, 2].map(x, [x].map(z, z + x))", "[[2], [4]]"},
        {"cel.bind(x, x + 1, x)", "11"},
        {"cel.bind(a, 1, cel.bind(b, a + 1, [a, b].map(a, a + b)))", "[3, 4]"},
    };
    check_all(cases, UNIT_COUNT(cases));
    unit.unchecked = true;
    check_all(cases, UNIT_COUNT(cases));
    unit.unchecked = false;
}

/* Without a checker, functions are found by name and by what their arguments are. */
static void test_unchecked(void **state)
{
    static const struct run_row cases[] = {
        {"1 + 2", "3"},
        {"1 == 1.0", "true"},
        {"int(\"3\") + int(1.5)", "4"},
        {"\"a\".substring(0, 1)", "\"a\""},
        {"substring(\"abc\", 1)", "\"bc\""},
        {"optional.of(1).value()", "1"},
        {"sets.contains([1], [1])", "true"},
        {"int", "int"},
        {"nope", "error: no such attribute(s): nope"},
        {"nope.a.b", "error: no such attribute(s): nope"},
        {"nope || true", "true"},
        {"\"a\".getHours()", "error: no such overload: getHours(string)"},
        {"nope(1)", "error: no such overload: nope"},
        {"nope()", "program instantiation failed: no such overload: nope()"},
        {"Nope{}", "program instantiation failed: unknown type: Nope"},
    };
    unit.unchecked = true;
    check_all(cases, UNIT_COUNT(cases));
    unit.unchecked = false;
}

static void test_map_with_default(void **state)
{
    static const struct cel_map nothing;
    static const struct cel_value empty = {.kind = CEL_MAP, .map = &nothing};
    struct cel_map *m = ARENA_NEW(&unit.arena, struct cel_map);
    m->missing = &empty;
    const struct cel_value v = cel_map_value(m);
    const void *activations[] = {&host, &v, &v, &v};
    assert_string_equal(run_unit_text(&unit, "x.a.b", activations),
                        "error: no such key: b");
    assert_string_equal(run_unit_text(&unit, "x[?'a'].hasValue()", activations), "true");
    assert_string_equal(run_unit_text(&unit, "has(x.a.b)", activations), "false");
    assert_string_equal(run_unit_text(&unit, "'a' in x", activations), "false");
    assert_string_equal(run_unit_text(&unit, "x.size()", activations), "0");
}

/* What a macro collects in place is never seen by another part of the expression. */
static void test_growth(void **state)
{
    static const struct run_row cases[] = {
        {"lists.range(5).map(x, lists.range(x).map(y, x * y))",
         "[[], [0], [0, 2], [0, 3, 6], [0, 4, 8, 12]]", 0},
        {"lists.range(3).map(x, [x] + lists.range(x).filter(y, y < x))",
         "[[0], [1, 0], [2, 0, 1]]", 0},
        {"cel.bind(l, [1, 2].map(x, x), [l.map(x, x), l + [3], l])",
         "[[1, 2], [1, 2, 3], [1, 2]]", 0},
        {"lists.range(20).transformMap(i, v, lists.range(i).transformMap(k, w, "
         "w)).size()",
         "20", 0},
        {"lists.range(1000).map(x, x * 2).sum()", "999000", 0},
        {"lists.range(100).transformMapEntry(i, v, {'k' + string(v): i}).k99", "99", 0},
    };
    check_all(cases, UNIT_COUNT(cases));
}

static bool stop_at_third(void *ctx)
{
    return ++*(int *)ctx == 3;
}

static void test_interrupted(void **state)
{
    int polls = 0;
    unit.run.cancelled = stop_at_third;
    unit.run.cancel_ctx = &polls;
    assert_string_equal(
        run_unit_text(&unit, "lists.range(1000).all(x, x >= 0) || true", NULL),
        "error: operation interrupted");
    assert_true(unit.run.interrupted);
    assert_int_equal(polls, 3);
    polls = 10;
    assert_string_equal(run_unit_text(&unit, "lists.range(1000).map(x, x).size()", NULL),
                        "1000");
    assert_false(unit.run.interrupted);
    assert_int_equal(polls, 20);
    unit.run.cancelled = NULL;
}

/* Nothing of the expression is needed once there is a program. */
static void test_program_stands_alone(void **state)
{
    struct run_unit u;
    struct cel_env_opts opts = unit_opts();
    run_unit_init(&u, &opts);
    char source[] = "['x-abc', 'y'].map(s, s + '-z').filter(s, s.matches('^x')) + ['q']";
    struct cel_program *p = run_unit_plan(&u, source);
    memset(source, '?', sizeof source - 1);
    arena_fini(&u.arena);
    arena_init(&u.arena);
    struct cel_value v = cel_eval(p, NULL, &u.run);
    struct strbuf b = STRBUF_INIT;
    cel_print(v, &b);
    assert_str(strbuf_str(&b), "[\"x-abc-z\", \"q\"]");
    strbuf_release(&b);
    cel_program_free(p);
    run_unit_fini(&u);
}

static void test_strict(void **state)
{
    struct run_unit u;
    struct cel_env_opts opts = unit_opts();
    opts.flags = CEL_ENV_OPTIONAL_SYNTAX | CEL_ENV_STRICT_KEYS | CEL_ENV_STRICT_PRESENCE;
    run_unit_init(&u, &opts);
    assert_string_equal(run_unit_text(&u, "{0: 1, 0u: 2}", NULL),
                        "error: Failed with repeated key");
    assert_string_equal(run_unit_text(&u, "{1.5: 1}", NULL),
                        "error: unsupported key type: double");
    assert_string_equal(run_unit_text(&u, "{'a': dyn(1)}.?a.b", NULL),
                        "error: no such key: b");
    assert_string_equal(run_unit_text(&u, "{'a': {'x': 1}}.?a.?b", NULL),
                        "optional.none()");
    run_unit_fini(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_program_slots),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unchecked),
        cmocka_unit_test(test_map_with_default),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_program_stands_alone),
        cmocka_unit_test(test_strict),
    };
    return cmocka_run_group_tests(tests, open_unit, close_unit);
}
