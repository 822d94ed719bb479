/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/bug.h"

#include "unit/unit.h"

#include "unit/base/dies.h"

static void test_sizes(void **state)
{
    /* Size zero is a valid pointer too. */
    void *p[] = {mem_alloc(0), mem_alloc(7), mem_zalloc(0), mem_array(0, 8),
                 mem_array(3, 0)};
    for (size_t i = 0; i < UNIT_COUNT(p); i++) {
        assert_non_null(p[i]);
        free(p[i]);
    }
    char *z = mem_zalloc(100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(z[i], 0);
    free(z);
}

static void test_resize(void **state)
{
    int *v = mem_resize(NULL, 2, sizeof *v);
    v[0] = 1;
    v[1] = 2;
    v = mem_resize(v, 1000, sizeof *v);
    assert_int_equal(v[0], 1);
    assert_int_equal(v[1], 2);
    free(mem_resize(v, 0, sizeof *v));
}

static void test_dup(void **state)
{
    char *s = mem_dup("a\0b", 3);
    assert_memory_equal(s, "a\0b", 4);
    free(s);
    s = mem_dup(NULL, 0);
    assert_string_equal(s, "");
    free(s);
}

static void array_overflow(void)
{
    free(mem_array(SIZE_MAX / 2, 3));
}

static void resize_overflow(void)
{
    free(mem_resize(NULL, SIZE_MAX / 8 + 1, 8));
}

static void some_bug(void)
{
    bug("%s", "on purpose");
}

static void test_overflow(void **state)
{
    assert_true(dies(array_overflow));
    assert_true(dies(resize_overflow));
    assert_true(dies(mem_exhausted));
    assert_true(dies(some_bug));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_dup),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
