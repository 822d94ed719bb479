/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "unit/unit.h"

static void test_ids(void **state)
{
    struct intern t;
    intern_init(&t);
    assert_int_equal(intern_count(&t), 0);
    assert_int_equal(intern_find(&t, STR("a")), 0);
    assert_int_equal(intern_id(&t, STR("a")), 1);
    assert_int_equal(intern_id(&t, STR("b")), 2);
    assert_int_equal(intern_id(&t, STR("a")), 1);
    assert_int_equal(intern_id(&t, STR_NONE), 3);
    assert_int_equal(intern_id(&t, STR("")), 3);
    assert_int_equal(intern_find(&t, STR("b")), 2);
    assert_int_equal(intern_count(&t), 3);
    assert_str(intern_str(&t, 1), "a");
    assert_str(intern_str(&t, 3), "");
    intern_fini(&t);
}

/* The bytes are the table's own: the caller's buffer may change. */
static void test_copies(void **state)
{
    enum { N = 5000 };
    struct intern t;
    char buf[32];
    intern_init(&t);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < N; i++) {
            snprintf(buf, sizeof buf, "name-%u", i);
            assert_int_equal(intern_id(&t, str_from(buf)), i + 1);
        }
    for (unsigned i = 0; i < N; i++) {
        snprintf(buf, sizeof buf, "name-%u", i);
        assert_str(intern_str(&t, i + 1), buf);
    }
    assert_int_equal(intern_count(&t), N);
    intern_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
