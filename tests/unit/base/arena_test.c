/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "unit/unit.h"

#include "unit/base/dies.h"

static void test_sizes(void **state)
{
    static const size_t sizes[] = {
        0, 1, 15, 16, 17, 4064, 4065, 5000, 1 << 20, 3 << 20, (1 << 20) - 32, 1};
    struct arena a;
    arena_init(&a);
    unsigned char *p[UNIT_COUNT(sizes)];
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        p[i] = arena_alloc(&a, sizes[i]);
        assert_non_null(p[i]);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        memset(p[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[i][k], i);
    arena_fini(&a);
    assert_int_equal(arena_size(&a), 0);
}

/* Many small ones, written in full: neighbours must not overlap. */
static void test_many(void **state)
{
    enum { N = 20000 };
    struct arena a = {0}; /* a zeroed arena is a ready one */
    uint64_t **v = ARENA_ARRAY(&a, uint64_t *, N);
    for (size_t i = 0; i < N; i++) {
        size_t n = i % 37 + 1;
        v[i] = arena_alloc(&a, n * sizeof **v);
        for (size_t k = 0; k < n; k++)
            v[i][k] = i;
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i % 37 + 1; k++)
            assert_int_equal(v[i][k], i);
    arena_fini(&a);
}

static void test_zeroed(void **state)
{
    struct arena a;
    arena_init(&a);
    for (int round = 0; round < 2; round++) {
        char *z = ARENA_ARRAY(&a, char, 3000);
        for (int i = 0; i < 3000; i++)
            assert_int_equal(z[i], 0);
        memset(z, 0xff, 3000);
        assert_non_null(ARENA_ARRAY(&a, char, 0));
        assert_int_equal(*ARENA_NEW(&a, int), 0);
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* After a reset the largest chunk serves on, so that a loop of equal rounds stops asking
 * the system. */
static void test_reset(void **state)
{
    struct arena a;
    arena_init(&a);
    arena_reset(&a);
    assert_int_equal(arena_size(&a), 0);
    size_t settled = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1000; i++)
            memset(arena_alloc(&a, 200), round, 200);
        memset(arena_alloc(&a, 300000), round, 300000);
        size_t full = arena_size(&a);
        arena_reset(&a);
        assert_true(arena_size(&a) <= full && arena_size(&a) > 0);
        if (round == 25)
            settled = arena_size(&a);
        if (round > 25)
            assert_int_equal(arena_size(&a), settled);
    }
    arena_fini(&a);
    arena_fini(&a); /* twice is harmless */
}

/* A big allocation gets its own chunk; the current one stays in use. */
static void test_big_keeps_current(void **state)
{
    struct arena a;
    arena_init(&a);
    char *first = arena_alloc(&a, 16);
    memset(arena_alloc(&a, 100000), 1, 100000);
    char *second = arena_alloc(&a, 16);
    assert_in_range(second - first, 16, 16 + ARENA_GAP);
    arena_fini(&a);
}

static void test_strings(void **state)
{
    struct arena a;
    arena_init(&a);
    struct str s = arena_str(&a, STR("a\0b"));
    assert_int_equal(s.n, 3);
    assert_memory_equal(s.p, "a\0b", 4);
    s = arena_str(&a, STR_NONE);
    assert_int_equal(s.n, 0);
    assert_string_equal(s.p, "");
    assert_string_equal(arena_strdup(&a, "text"), "text");
    assert_string_equal(arena_strdup(&a, ""), "");
    arena_fini(&a);
}

/* Texts of every length around the ends of chunks. */
static void test_printf(void **state)
{
    struct arena a;
    arena_init(&a);
    assert_str(arena_printf(&a, "%s", ""), "");
    assert_str(arena_printf(&a, "%d-%s", 42, "x"), "42-x");
    char big[9000];
    memset(big, 'x', sizeof big);
    for (size_t n = 0; n < sizeof big; n += 61) {
        struct str s = arena_printf(&a, "%.*s", (int)n, big);
        assert_int_equal(s.n, n);
        assert_int_equal(s.p[n], 0);
        assert_memory_equal(s.p, big, n);
    }
    /* An argument in the same arena, right before the free space. */
    struct str s = arena_printf(&a, "abc");
    assert_str(arena_printf(&a, "%s%s", s.p, s.p), "abcabc");
    assert_str(s, "abc");
    arena_fini(&a);
}

static struct arena doomed;

static void alloc_overflow(void)
{
    arena_alloc(&doomed, SIZE_MAX - 3);
}

static void alloc_overflow_header(void)
{
    arena_alloc(&doomed, SIZE_MAX - 40);
}

static void array_overflow(void)
{
    arena_array_zalloc(&doomed, SIZE_MAX / 2, 4);
}

static void test_overflow(void **state)
{
    for (int used = 0; used < 2; used++) {
        assert_true(dies(alloc_overflow));
        assert_true(dies(alloc_overflow_header));
        assert_true(dies(array_overflow));
        arena_alloc(&doomed, 1);
    }
    arena_fini(&doomed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_big_keeps_current),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
