/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ring.h"

#include "store/object.h"
#include "unit/unit.h"

static bool decode(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o)
{
    o->json = arena_str(&o->arena, value);
    return true;
}

static void push(struct ring *r, uint64_t revision, struct str value, uint32_t most,
                 uint64_t bytes)
{
    const struct cache_opts opts = {.decode = decode};
    struct cache_event e = {.kind = CACHE_ADDED, .revision = revision};
    e.object = object_new(&opts, STR("/registry/g/r/n"), value, revision);
    ring_push(r, &e, most, bytes);
}

static void test_bounds(void **state)
{
    struct ring r;
    ring_init(&r, 7);
    assert_int_equal(ring_seek(&r, 100), 0);
    for (uint64_t revision = 10; revision <= 1000; revision += 10) {
        push(&r, revision, STR("x"), 20, UINT64_MAX);
        uint64_t n = revision / 10;
        assert_int_equal(r.n, n < 20 ? n : 20);
        assert_int_equal(r.forgotten, n <= 20 ? 7 : revision - 200);
        assert_int_equal(ring_at(&r, r.n - 1)->revision, revision);
    }
    ring_release(&r);
    assert_int_equal(r.n, 0);
}

static void test_seek(void **state)
{
    struct ring r;
    ring_init(&r, 1);
    for (uint64_t revision = 10; revision <= 300; revision += 10)
        push(&r, revision, STR("x"), 20, UINT64_MAX); /* 110 to 300 are there */
    static const struct {
        uint64_t after;
        uint32_t at;
    } rows[] = {{100, 0}, {109, 0}, {110, 1}, {111, 1}, {299, 19}, {300, 20}, {999, 20}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        assert_int_equal(ring_seek(&r, rows[i].after), rows[i].at);
    ring_forget(&r, 205);
    assert_int_equal(r.n, 10);
    assert_int_equal(r.forgotten, 205);
    ring_forget(&r, 150);
    assert_int_equal(r.forgotten, 205);
    ring_forget(&r, 5000);
    assert_int_equal(r.n, 0);
    assert_int_equal(r.forgotten, 5000);
    assert_int_equal(r.bytes, 0);
    ring_release(&r);
}

/* Large objects leave fewer events, but never none. */
static void test_bytes(void **state)
{
    static char large[10000];
    struct ring r;
    ring_init(&r, 1);
    for (uint64_t revision = 2; revision < 50; revision++) {
        push(&r, revision, (struct str){large, sizeof large}, 100, 64000);
        assert_true(r.bytes <= 64000);
    }
    assert_in_range(r.n, 4, 6);
    push(&r, 50, (struct str){large, sizeof large}, 100, 100);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.forgotten, 49);
    ring_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
