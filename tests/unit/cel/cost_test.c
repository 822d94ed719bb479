/* SPDX-License-Identifier: Apache-2.0 */
/* Run-time costs to the unit (spec 4.7), and where a budget stops an evaluation. All
 * figures are upstream's. */
#include "run_unit.h"

static const struct cel_env_lib url_lib = {&cel_lib_url, 0, 0};

static const struct run_row rows[] = {
    {"\"abcdefghijk\" == \"abcdefghijkl\" && \"a\" != \"\"", "false", 2},
    {"\"x\" == \"\"", "false", 0},
    {"{\"a\": \"long enough text to count\"}.a.contains(\"text to\")", "true", 5},
    {"\"héééééééééé\" < \"hééééééééééa\"", "true", 2},
    {"\"a\" + \"bbbbbbbbbbbbbbbbbbbb\" == \"c\"", "false", 4},
    {"dyn(\"a\") + dyn(\"bbbbbbbbbbbbbbbbbbbbbbbb\") == dyn(\"c\")", "false", 2},
    {"b\"0123456789abc\" == b\"0123456789abd\"", "false", 2},
    {"[1, 2, 3] == [1, 2, 3]", "true", 1},
    {"{\"a\": [1, 2, 3]}.a[{\"b\": 1}.b]", "2", 4},
    {"{\"a\": [1, 2, 3]}.a[1 + 1]", "3", 4},
    {"[[1, 2], [3]][0][1]", "2", 3},
    {"has({\"a\": {\"b\": 1}}.a.b) ? {\"a\": 1}.a : 5", "1", 3},
    {"cel.bind(m, {\"a\": 1}, true ? m.a : m.b)", "1", 1},
    {"cel.bind(m, {\"a\": 1}, (true ? m : m).a)", "1", 1},
    {"cel.bind(m, {\"a\": {\"x\": 1}}, m[?\"a\"].?x.orValue(2) + m.?b.?x.orValue(3))",
     "4", 5},
    {"cel.bind(x, 2, x in [1, 2, 3])", "true", 1},
    {"cel.bind(x, 2, x in [1, 2, x])", "true", 15},
    {"cel.bind(x, dyn(2), x in [1, 2])", "true", 1},
    {"1 in [cel.bind(x, 1, x)]", "true", 12},
    {"[1, 2, 3].map(x, [x, 1 / 0])", "error: division by zero", 73},
    {"\"abc\".matches(\"a.c\") && \"abc\".matches(cel.bind(p, \"a.c\", p))", "true", 3},
    {"cel.bind(s, \"0123456789012345678901\", s.matches(\"[0-9]+\") && "
     "s.find(\"[0-9]+\") == s)",
     "true", 18},
    {"(1 / 0 == 1 ? \"a\" : \"b\").matches(\"a\")", "error: division by zero", 2},
    {"(1 / 0 == 1 ? \"a\" : \"b\").substring(1, 2)", "error: division by zero", 2},
    {"\"abc\".substring(1 / 0, 2)", "error: division by zero", 1},
    {"\"abc\".substring(1, 1 / 0)", "error: division by zero", 2},
    {"dyn(\"abc\").indexOf(dyn(1))", "error: no such overload: indexOf(string, int)", 0},
    {"\"abc\".indexOf(string(1 / 0))", "error: division by zero", 2},
    {"\"%s\".format([1 / 0])", "error: division by zero", 12},
    {"(1 / 0 == 1 ? \"a\" : \"b\").format([1, \"x\" + \"y\"])", "error: division by zero",
     2},
    {"string(b\"01234567890\") + string(1)", "\"012345678901\"", 2},
    {"bytes(\"01234567890\" + \"a\")", "bytes:303132333435363738393061", 4},
    {"{\"a\": 1 / 0, \"b\": 2}", "error: division by zero", 31},
    {"[1, 2, 3].sum() + [1, 2, 3].map(x, x).sum()", "12", 47},
    {"sets.contains([1, 2, 3], [1, 2])", "true", 7},
    {"[\"b\", \"a\"].sort()", "[\"a\", \"b\"]", 19},
    {"quantity(\"1Gi\").isGreaterThan(quantity(\"1Mi\"))", "true", 3},
    {"quantity(\"1Gi\") == quantity(\"1024Mi\")", "true", 3},
    {"quantity(\"1Gi\") != quantity(\"1024Mi\")", "false", 3},
    {"ip(\"10.0.0.1\") == ip(\"10.0.0.1\")", "true", 3},
    {"cidr(\"10.0.0.0/8\").containsIP(\"10.1.2.3\")", "true", 3},
    {"url(\"https://example.com/a\").getHost()", "\"example.com\"", 4},
    {"type(1) == int && type(\"a\") != string", "false", 2},
    {"timestamp(\"2024-01-01T00:00:00Z\").getFullYear() == 2024", "true", 2},
    {"[3, 1, 2].exists(x, x == 1) && [3, 1, 2].all(x, x > 1)", "false", 29},
    {"[[1, 2], [3, 4]].all(x, x.exists(y, y > 3) || x.size() == 2)", "true", 38},
    {"{\"a\": 1, \"b\": 2}.exists_one(k, k == \"a\")", "true", 8},
    {"[1, 2].transformMap(i, v, [v, 1 / 0])", "error: division by zero", 17},
    {"optional.of(1).optMap(x, x + 1).orValue(0) == 2", "true", 8},
    {"dyn([1, 2]).size() + size(dyn(\"abc\"))", "5", 3},
    {"-(1 + 1) < 0 && !(1 > 2)", "true", 5},
};

/* What an evaluation has cost when a step is too much that costs more than 1. */
static const struct {
    const char *expr;
    uint64_t limit, cost;
} limits[] = {
    {"{\"a\": \"long enough text to count\"}.a.contains(\"text to\")", 2, 5},
    {"\"a\" + \"bbbbbbbbbbbbbbbbbbbb\" == \"c\"", 1, 3},
    {"cel.bind(x, 2, x in [1, 2, x])", 5, 12},
    {"1 in [cel.bind(x, 1, x)]", 1, 11},
    {"cel.bind(s, \"0123456789012345678901\", s.matches(\"[0-9]+\") && "
     "s.find(\"[0-9]+\") == s)",
     1, 7},
    {"cel.bind(s, \"0123456789012345678901\", s.matches(\"[0-9]+\") && "
     "s.find(\"[0-9]+\") == s)",
     9, 14},
    {"\"%s\".format([1 / 0])", 1, 11},
    {"bytes(\"01234567890\" + \"a\")", 2, 4},
    {"{\"a\": 1 / 0, \"b\": 2}", 1, 31},
    {"[1, 2, 3].sum() + [1, 2, 3].map(x, x).sum()", 1, 3},
    {"[1, 2, 3].sum() + [1, 2, 3].map(x, x).sum()", 23, 28},
    {"sets.contains([1, 2, 3], [1, 2])", 1, 7},
    {"[\"b\", \"a\"].sort()", 1, 19},
    {"cidr(\"10.0.0.0/8\").containsIP(\"10.1.2.3\")", 1, 3},
    {"url(\"https://example.com/a\").getHost()", 1, 3},
    {"[1, 2].transformMap(i, v, [v, 1 / 0])", 5, 14},
};

static struct cel_env_lib libs[UNIT_COUNT(unit_libs) + 1];

static struct run_unit unit;

static int open_unit(void **state)
{
    struct cel_env_opts opts = unit_opts();
    opts.flags |= CEL_ENV_FOLD;
    memcpy(libs, unit_libs, sizeof unit_libs);
    libs[UNIT_COUNT(unit_libs)] = url_lib;
    opts.libs = libs;
    opts.nlibs = UNIT_COUNT(libs);
    run_unit_init(&unit, &opts);
    return 0;
}

static int close_unit(void **state)
{
    run_unit_fini(&unit);
    return 0;
}

static void test_costs(void **state)
{
    run_unit_rows(&unit, rows, UNIT_COUNT(rows));
}

static const char *const over = "error: operation cancelled: actual cost limit exceeded";

static void test_limits(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(limits); i++) {
        unit.run.cost_limit = limits[i].limit;
        ROW(limits[i].expr,
            strcmp(run_unit_text(&unit, limits[i].expr, NULL), over) == 0);
        ROW(limits[i].expr, unit.run.cost == limits[i].cost);
    }
    unit.run.cost_limit = 0;
}

/* A budget stops an evaluation exactly if it costs more, with an error that nothing
 * absorbs, and the sum does not go on. */
static void test_every_budget(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        for (uint64_t limit = 1; limit <= rows[i].cost; limit++) {
            unit.run.cost_limit = limit;
            const char *text = run_unit_text(&unit, rows[i].expr, NULL);
            bool stopped = limit < rows[i].cost;
            ROW(rows[i].expr, strcmp(text, stopped ? over : rows[i].text) == 0);
            ROW(rows[i].expr, (unit.run.cost > limit) == stopped);
            ROW(rows[i].expr, unit.run.cost <= rows[i].cost);
        }
    }
    unit.run.cost_limit = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_every_budget),
    };
    return cmocka_run_group_tests(tests, open_unit, close_unit);
}
