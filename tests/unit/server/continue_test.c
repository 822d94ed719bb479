/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/continue.h"

#include "unit/unit.h"

static void test_round_trip(void **state)
{
    struct arena a = {0};
    struct continue_token t = {42, STR("default/\xc3\xbf\xc3\xbe?")}, back;
    struct str text = continue_print(&t, &a);
    for (size_t i = 0; i < text.n; i++)
        assert_null(strchr("+/=", text.p[i]));
    assert_true(continue_parse(text, &a, &back));
    assert_int_equal(back.revision, 42);
    assert_true(str_eq(back.after, t.after));
    arena_fini(&a);
}

static void test_refused(void **state)
{
    static const char *const BAD[] = {"", "!", "e30", "bm90IGpzb24",
                                      "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct arena a = {0};
        struct continue_token t;
        assert_false(continue_parse(str_from(BAD[i]), &a, &t));
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
