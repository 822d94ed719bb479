/* SPDX-License-Identifier: Apache-2.0 */
#include "store/order.h"

#include "base/rng.h"
#include "unit/unit.h"

struct thing {
    struct str key; /* first: order.h */
    char text[16];
    bool in;
};

static void thing_set(struct thing *t, const char *text)
{
    *t = (struct thing){0};
    snprintf(t->text, sizeof t->text, "%s", text);
    t->key = str_from(t->text);
}

static void test_empty(void **state)
{
    struct order o = ORDER_INIT;
    struct order_at at = order_seek(&o, STR("a"));
    assert_null(order_next(&o, &at));
    assert_null(order_find(&o, STR("a")));
    assert_null(order_remove(&o, STR("a")));
    assert_int_equal(
        order_between(&o, order_seek(&o, STR("")), order_seek_past(&o, STR(""))), 0);
    order_release(&o);
}

static void test_replace(void **state)
{
    struct order o = ORDER_INIT;
    struct thing a, b;
    thing_set(&a, "same");
    thing_set(&b, "same");
    assert_null(order_put(&o, &a));
    assert_ptr_equal(order_put(&o, &b), &a);
    assert_int_equal(o.count, 1);
    assert_ptr_equal(order_find(&o, STR("same")), &b);
    assert_ptr_equal(order_remove(&o, STR("same")), &b);
    assert_int_equal(o.n, 0);
    order_release(&o);
}

static void test_seek(void **state)
{
    static const char *const keys[] = {"a/", "a/1", "a/1/x", "a/2", "a0", "b/1"};
    static const struct {
        const char *prefix;
        int from, past;
    } rows[] = {
        {"", 0, 6},     {"a", 0, 5},   {"a/", 0, 4},      {"a/1", 1, 3},
        {"a/1/", 2, 3}, {"a/9", 4, 4}, {"a0", 4, 5},      {"b", 5, 6},
        {"c", 6, 6},    {"0", 0, 0},   {"a/1/x/y", 3, 3},
    };
    struct thing things[UNIT_COUNT(keys)];
    struct order o = ORDER_INIT;
    for (size_t i = UNIT_COUNT(keys); i-- > 0;) {
        thing_set(&things[i], keys[i]);
        order_put(&o, &things[i]);
    }
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct order_at start = order_seek(&o, STR(""));
        struct order_at from = order_seek(&o, str_from(rows[i].prefix));
        struct order_at past = order_seek_past(&o, str_from(rows[i].prefix));
        ROW(rows[i].prefix, order_between(&o, start, from) == (uint64_t)rows[i].from);
        ROW(rows[i].prefix, order_between(&o, start, past) == (uint64_t)rows[i].past);
        struct thing *t = order_next(&o, &from);
        ROW(rows[i].prefix, rows[i].from == 6 ? !t : t == &things[rows[i].from]);
    }
    struct order_at at = order_seek_after(&o, STR("a/1"));
    assert_ptr_equal(order_next(&o, &at), &things[2]);
    order_release(&o);
}

enum { THINGS = 3000 };

static void check_all(const struct order *o, struct thing *things)
{
    struct order_at at = {0, 0};
    uint64_t n = 0;
    for (int i = 0; i < THINGS; i++) {
        if (!things[i].in)
            continue;
        assert_ptr_equal(order_next(o, &at), &things[i]);
        n++;
    }
    assert_null(order_next(o, &at));
    assert_int_equal(o->count, n);
}

/* Puts and removals of every kind against an array that is in order. */
static void test_against_array(void **state)
{
    static struct thing things[THINGS];
    struct order o = ORDER_INIT;
    struct rng r;
    rng_init(&r, 1);
    for (int i = 0; i < THINGS; i++) {
        char text[16];
        snprintf(text, sizeof text, "k/%04d", i);
        thing_set(&things[i], text);
    }
    for (int step = 0; step < 60000; step++) {
        int64_t phase = step / 10000 % 3; /* grows, then churns, then shrinks */
        struct thing *t = &things[rng_range(&r, 0, THINGS - 1)];
        if (rng_range(&r, 0, 9) < (phase == 0 ? 9 : phase == 1 ? 5 : 1)) {
            assert_ptr_equal(order_put(&o, t), t->in ? t : NULL);
            t->in = true;
        } else {
            assert_ptr_equal(order_remove(&o, t->key), t->in ? t : NULL);
            t->in = false;
        }
        if (step % 1000 == 0)
            check_all(&o, things);
    }
    for (int i = 0; i < THINGS; i++)
        assert_ptr_equal(order_find(&o, things[i].key), things[i].in ? &things[i] : NULL);
    check_all(&o, things);
    order_release(&o);
}

/* Keys in order fill their blocks; backwards they do not make one each. */
static void test_blocks(void **state)
{
    static struct thing things[THINGS];
    for (int backwards = 0; backwards < 2; backwards++) {
        struct order o = ORDER_INIT;
        for (int i = 0; i < THINGS; i++) {
            char text[16];
            snprintf(text, sizeof text, "k/%04d", i);
            thing_set(&things[i], text);
            things[i].in = true;
        }
        for (int i = 0; i < THINGS; i++)
            order_put(&o, &things[backwards ? THINGS - 1 - i : i]);
        check_all(&o, things);
        assert_in_range(o.n, 1, backwards ? 24 : 12);
        order_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),  cmocka_unit_test(test_replace),
        cmocka_unit_test(test_seek),   cmocka_unit_test(test_against_array),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
