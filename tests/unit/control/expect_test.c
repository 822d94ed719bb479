/* SPDX-License-Identifier: Apache-2.0 */
#include "control/expect.h"

#include "unit/unit.h"

static const struct str OWNER = {"ns/a", 4}, OTHER = {"ns/b", 4}, POD = {"uid-1", 5};

static void test_made(void **state)
{
    struct expect x;
    (void)state;
    expect_init(&x);
    assert_true(expect_is_met(&x, OWNER, 0));
    expect_made(&x, OWNER, 2, 0);
    assert_false(expect_is_met(&x, OWNER, 1));
    assert_true(expect_is_met(&x, OTHER, 1));
    expect_saw_made(&x, OWNER);
    assert_false(expect_is_met(&x, OWNER, 1));
    expect_saw_made(&x, OWNER);
    assert_true(expect_is_met(&x, OWNER, 1));
    expect_saw_made(&x, OWNER); /* one that somebody else made */
    expect_made(&x, OWNER, 1, 1);
    assert_false(expect_is_met(&x, OWNER, 1));
    expect_fini(&x);
}

/* Seen twice, as deleted and as gone, one counts once. */
static void test_gone(void **state)
{
    struct expect x;
    (void)state;
    expect_init(&x);
    expect_gone(&x, OWNER, POD, 0);
    expect_gone(&x, OWNER, STR("uid-2"), 0);
    expect_saw_gone(&x, OWNER, POD);
    expect_saw_gone(&x, OWNER, POD);
    assert_false(expect_is_met(&x, OWNER, 1));
    expect_saw_gone(&x, OWNER, STR("uid-2"));
    assert_true(expect_is_met(&x, OWNER, 1));
    expect_fini(&x);
}

static void test_end(void **state)
{
    struct expect x;
    (void)state;
    expect_init(&x);
    expect_made(&x, OWNER, 1, 1000);
    assert_false(expect_is_met(&x, OWNER, 301000));
    assert_true(expect_is_met(&x, OWNER, 301001)); /* five minutes are enough */
    expect_gone(&x, OWNER, POD, 400000);
    expect_forget(&x, OWNER);
    assert_true(expect_is_met(&x, OWNER, 400000));
    expect_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
