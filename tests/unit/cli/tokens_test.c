/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, operands and conjuncts of texts that need not parse. */
#include "unit/unit.h"

#include "cli/tokens.h"

static void test_path(void **state)
{
    static const struct {
        const char *text, *span, *domain, *name;
        bool capacity, optional;
    } rows[] = {
        {"device.capacity[\"d.io\"].memory > x", "device.capacity[\"d.io\"].memory",
         "d.io", "memory", true, false},
        {"a && device.attributes['d.io'][\"model\"]",
         "device.attributes['d.io'][\"model\"]", "d.io", "model", false, false},
        {"device.attributes[\"d.io\"].?model.orValue(\"\")",
         "device.attributes[\"d.io\"].?model", "d.io", "model", false, true},
        {"device.capacity[\"memory\"].isGreaterThan(x)", "device.capacity[\"memory\"]",
         "memory", "", true, false},
        {"device.capacity.memory >= 1", "device.capacity.memory", "memory", "", true,
         false},
        {"device.attributes[\"d.io\"].model.contains(\"x\")",
         "device.attributes[\"d.io\"].model", "d.io", "model", false, false},
        {"my.device.capacity[\"x\"]", "", "", "", false, false},
        {"device.driver == \"device.capacity\"", "", "", "", false, false},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct tokens t;
        struct tokens_path p = {0};
        arena_init(&a);
        tokens_read(&t, str_from(rows[i].text), &a);
        bool found = tokens_path(&t, 0, &p, &a);
        ROW(rows[i].text, found == (rows[i].span[0] != '\0'));
        ROW(rows[i].text, str_is(tokens_span(&t, p.first, p.end), rows[i].span));
        ROW(rows[i].text, str_is(p.domain, rows[i].domain));
        ROW(rows[i].text, str_is(p.name, rows[i].name));
        ROW(rows[i].text, p.capacity == rows[i].capacity);
        ROW(rows[i].text, p.optional == rows[i].optional);
        arena_fini(&a);
    }
}

static void test_operands(void **state)
{
    static const struct {
        const char *text, *left, *right;
    } rows[] = {
        {"a > b", "a", "b"},
        {"x && a.b(c, d) > 16Gi || y", "a.b(c, d)", "16Gi"},
        {"f(a > b + 1)", "a", "b + 1"},
        {"(a && b) > c ? d : e", "(a && b)", "c"},
        {"a[\"x && y\"] > b", "a[\"x && y\"]", "b"},
        {"d.?x.orValue(1) > 2", "d.?x.orValue(1)", "2"},
        {"> b", "", "b"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct tokens t;
        uint32_t at = 0, left, right;
        arena_init(&a);
        tokens_read(&t, str_from(rows[i].text), &a);
        while (!tokens_is(&t, at, ">"))
            at++;
        tokens_operands(&t, at, &left, &right);
        ROW(rows[i].text, str_is(tokens_span(&t, left, at), rows[i].left));
        ROW(rows[i].text, str_is(tokens_span(&t, at + 1, right), rows[i].right));
        arena_fini(&a);
    }
}

static void test_conjunct(void **state)
{
    static const struct {
        const char *text;
        const char *parts[3];
    } rows[] = {
        {"a", {"a"}},
        {"a && b(c && d) && e", {"a", "b(c && d)", "e"}},
        {"a || b && c", {"a || b && c"}},
        {"a ? b && c : d", {"a ? b && c : d"}},
        {"a.?b.orValue(c) && d", {"a.?b.orValue(c)", "d"}},
        {"", {NULL}},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct tokens t;
        uint32_t from = 0, end;
        int n = 0;
        arena_init(&a);
        tokens_read(&t, str_from(rows[i].text), &a);
        for (; tokens_conjunct(&t, from, &end); from = end + 1, n++)
            ROW(rows[i].text, n < 3 && rows[i].parts[n] &&
                                  str_is(tokens_span(&t, from, end), rows[i].parts[n]));
        ROW(rows[i].text, n == 3 || !rows[i].parts[n]);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_conjunct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
