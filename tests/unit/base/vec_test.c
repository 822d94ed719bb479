/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "unit/unit.h"

struct pair {
    int a;
    char b;
};

static void test_push_pop(void **state)
{
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) {
        vec_push(&v, i);
        assert_int_equal(v.n, i + 1);
        assert_true(v.cap >= v.n);
    }
    for (int i = 999; i >= 0; i--)
        assert_int_equal(vec_pop(&v), i);
    vec_release(&v);
    assert_null(v.v);
    vec_release(&v);
}

/* An element of the same vector may be pushed: it is read after the memory moved. */
static void test_push_own(void **state)
{
    VEC(int) v = {0};
    vec_push(&v, 42);
    for (int i = 0; i < 100; i++)
        vec_push(&v, v.v[0]);
    for (size_t i = 0; i < v.n; i++)
        assert_int_equal(v.v[i], 42);
    vec_release(&v);
}

static void test_push_in(void **state)
{
    struct arena a;
    VEC(int) v = {0};
    arena_init(&a);
    for (int i = 0; i < 1000; i++)
        vec_push_in(&a, &v, i);
    assert_int_equal(v.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.v[i], i);
    arena_fini(&a);
}

static void test_structs(void **state)
{
    VEC(struct pair) v = {0};
    vec_push(&v, (struct pair){1, 'x'});
    vec_push(&v, (struct pair){.b = 'y'});
    assert_int_equal(v.v[0].a, 1);
    assert_int_equal(v.v[1].b, 'y');
    vec_clear(&v);
    assert_int_equal(v.n, 0);
    assert_true(v.cap >= 2);
    vec_release(&v);
}

static void test_reserve(void **state)
{
    VEC(char) v = {0};
    vec_reserve(&v, 100);
    assert_true(v.cap >= 100);
    size_t cap = v.cap;
    char *p = v.v;
    vec_reserve(&v, 50);
    assert_int_equal(v.cap, cap);
    while (v.n < cap)
        vec_push(&v, 'c');
    assert_ptr_equal(v.v, p);
    vec_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_pop), cmocka_unit_test(test_push_own),
        cmocka_unit_test(test_push_in),  cmocka_unit_test(test_structs),
        cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
