/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "cel/estimate.h"

static void test_arithmetic(void **state)
{
    assert_true(cel_sat_add(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(cel_sat_add(2, 3) == 5);
    assert_true(cel_sat_mul(UINT64_MAX / 2, 3) == UINT64_MAX);
    assert_true(cel_sat_mul(0, UINT64_MAX) == 0);
    /* As IEEE doubles have it: 30 * 0.1 is a little more than 3. */
    static const struct {
        uint64_t size;
        double factor;
        uint64_t cost;
    } rows[] = {
        {0, 0.1, 0},           {1, 0.1, 1},  {10, 0.1, 1},
        {11, 0.1, 2},          {20, 0.1, 2}, {30, 0.1, 3},
        {7, 0.2, 2},           {63, 0.1, 7}, {UINT64_MAX, 0.1, 1844674407370955264u},
        {4, 0.25, 1},          {5, 0.25, 2}, {UINT64_MAX, 1, UINT64_MAX},
        {2, 1e30, UINT64_MAX},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        uint64_t got = cel_sat_scale(rows[i].size, rows[i].factor);
        if (got != rows[i].cost)
            fail_msg("row %zu: %lu", i, (unsigned long)got);
    }
}

/* The search is by halves, so every name must be where it looks. */
static void test_rows(void **state)
{
    static const struct {
        const char *id, *function;
        bool there;
    } rows[] = {
        {"add_string", "_+_", true},
        {"add_int64", "_+_", false},
        {"equals", "_==_", true},
        {"conditional", "_?_:_", true},
        {"string_find_string", "find", true},
        {"string_find_all_string", "findAll", true},
        {"x", "validate", true},
        {"x", "sort", true},
        {"list_string_sort", "sort", true},
        {"list_int_sortByAssociatedKeys", "@sortByAssociatedKeys", true},
        {"cidr_ip", "ip", true},
        {"size_list", "size", false},
        {"x", "lowerAscii", true},
        {"not_equals", "_!=_", true},
        {"in_list", "@in", true},
        {"in_map", "@in", false},
        {"url", "url", true},
        {"x", "check", true},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const struct cel_overload o = {.id = rows[i].id, .function = rows[i].function};
        ROW(rows[i].id, (cel_estimate_find(&o) != NULL) == rows[i].there);
    }
    const struct cel_overload text = {.id = "list_string_sort", .function = "sort"};
    const struct cel_overload number = {.id = "list_int_sort", .function = "sort"};
    assert_true(cel_estimate_find(&text) != cel_estimate_find(&number));
}

/* A variable of strings by name, ten code points each. */
static bool ten(void *decl, const struct cel_step *steps, unsigned n, uint64_t *max)
{
    *max = 10;
    return n == 1;
}

static void test_expressions(void **state)
{
    static const struct {
        const char *text;
        uint64_t min, max;
    } rows[] = {
        {"1", 0, 0},
        {"m.a", 2, 2},
        {"m.a == m.b", 5, 5},
        {"m.a == ''", 2, 2},
        {"has(m.a)", 1, 1},
        {"m.a == 'x' || m.b == 'y'", 3, 6},
        {"m.a == 'x' ? 1 : 2", 3, 3},
        {"[1, 2, 3].all(x, x > 0)", 20, 26},
        {"[1, 2, 3].filter(x, x > 1)", 30, 66},
        {"[1, 2, 3].map(x, x + 1)", 63, 63},
        {"m.a + m.b", 4, 6},
        {"(m.a + m.b).size() == 20", 6, 8},
        {"m.a.matches('abcd')", 3, 4},
        {"m.all(k, m[k] != k)", 2, UINT64_MAX},
        {"['ab', 'c'][0] == 'abc'", 12, 12},
        {"{'k': 'ab'}['k'] == 'abc'", 32, 32},
    };
    struct arena a;
    arena_init(&a);
    const struct cel_env_lib lib = {.lib = &cel_lib_standard};
    const struct cel_var var = {.name = "m",
                                .type =
                                    cel_type_map(&a, &cel_type_string, &cel_type_string),
                                .size = ten};
    const struct cel_env_opts opts = {.libs = &lib, .nlibs = 1, .vars = &var, .nvars = 1};
    struct cel_env *env = cel_env_new(&opts);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct cel_issues issues = {0};
        struct cel_expr *x = cel_compile(env, str_from(rows[i].text), &a, &issues);
        ROW(rows[i].text, x != NULL);
        struct cel_range cost = cel_estimate(env, x);
        if (cost.min != rows[i].min || cost.max != rows[i].max)
            fail_msg("%s: %lu..%lu", rows[i].text, (unsigned long)cost.min,
                     (unsigned long)cost.max);
    }
    cel_env_free(env);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
