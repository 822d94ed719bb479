/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include "unit/unit.h"

static void test_set(void **state)
{
    struct err e = ERR_INIT;
    assert_string_equal(err_text(&e), "no error");
    assert_false(err_set(&e, ERR_INVALID, "line %d", 3));
    assert_int_equal(e.code, ERR_INVALID);
    assert_string_equal(e.msg, "line 3");
    /* The new text may quote the old one. */
    err_set(&e, ERR_IO, "%s again", e.msg);
    assert_int_equal(e.code, ERR_IO);
    assert_string_equal(e.msg, "line 3 again");
    err_release(&e);
    assert_int_equal(e.code, ERR_NONE);
    assert_null(e.msg);
    err_release(&e);
}

static void test_wrap(void **state)
{
    struct err e = ERR_INIT;
    err_set(&e, ERR_NOT_FOUND, "no such device");
    assert_false(err_wrap(&e, "claim %s", "a/b"));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(e.msg, "claim a/b: no such device");
    err_wrap(&e, "(%s)", e.msg);
    assert_string_equal(e.msg, "(claim a/b: no such device): claim a/b: no such device");
    err_release(&e);
    /* What holds a message has a code. */
    err_wrap(&e, "x");
    assert_string_equal(e.msg, "x: no error");
    assert_int_equal(e.code, ERR_INTERNAL);
    err_release(&e);
}

static void test_no_receiver(void **state)
{
    assert_false(err_set(NULL, ERR_INVALID, "%s", "lost"));
    assert_false(err_wrap(NULL, "%s", "lost"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_no_receiver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
