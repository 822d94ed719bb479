/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include <stdlib.h>

static void test_eq_cmp(void **state)
{
    static const struct {
        const char *a, *b;
        int cmp;
    } rows[] = {
        {"", "", 0},       {"a", "", 1},      {"", "a", -1},        {"a", "b", -1},
        {"ab", "a", 1},    {"a", "ab", -1},   {"\xff", "\x01", 1},  {"abc", "abd", -1},
        {"abc", "abc", 0}, {"Z", "a", -1},    {"\x7f", "\x80", -1},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str a = str_from(rows[i].a), b = str_from(rows[i].b);
        ROW(rows[i].a, str_cmp(a, b) == rows[i].cmp);
        ROW(rows[i].a, str_cmp(b, a) == -rows[i].cmp);
        ROW(rows[i].a, str_eq(a, b) == (rows[i].cmp == 0));
    }
    assert_true(str_eq(STR_NONE, STR("")));
    assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
    assert_int_equal(str_from(NULL).n, 0);
    /* A NUL byte is a byte like any other. */
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_int_equal(STR("a\0b").n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eq_cmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
