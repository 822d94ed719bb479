/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/rng.h"
#include "unit/unit.h"

static void test_basics(void **state)
{
    struct strmap m = STRMAP_INIT;
    bool made;
    assert_null(strmap_find(&m, STR("a")));
    assert_false(strmap_remove(&m, STR("a")));
    strmap_each(&m, e) fail();
    struct strmap_entry *e = strmap_put(&m, STR("a"), &made);
    assert_true(made);
    assert_int_equal(e->value.u, 0);
    e->value.i = -5;
    e = strmap_put(&m, STR("a"), &made);
    assert_false(made);
    assert_int_equal(e->value.i, -5);
    assert_ptr_equal(strmap_find(&m, STR("a")), e);
    assert_null(strmap_find(&m, STR("ab")));
    strmap_put(&m, STR("b"), NULL);
    assert_int_equal(m.live, 2);
    strmap_clear(&m);
    assert_int_equal(m.live, 0);
    assert_null(strmap_find(&m, STR("a")));
    strmap_put(&m, STR("a"), &made);
    assert_true(made);
    strmap_release(&m);
    strmap_release(&m);
    strmap_clear(&m);
}

/* The empty key is a key, however it is written. */
static void test_empty_key(void **state)
{
    struct strmap m = STRMAP_INIT;
    bool made;
    strmap_put(&m, STR_NONE, &made)->value.u = 7;
    assert_true(made);
    assert_int_equal(strmap_put(&m, STR(""), &made)->value.u, 7);
    assert_false(made);
    int seen = 0;
    strmap_each(&m, e) seen++;
    assert_int_equal(seen, 1);
    assert_true(strmap_remove(&m, STR_NONE));
    assert_null(strmap_find(&m, STR("")));
    strmap_release(&m);
}

static void test_order(void **state)
{
    static const char *const keys[] = {"z", "a", "m", "b", "y", "c", "x", "d", "w", "e"};
    struct strmap m = STRMAP_INIT;
    for (size_t i = 0; i < UNIT_COUNT(keys); i++)
        strmap_put(&m, str_from(keys[i]), NULL);
    assert_true(strmap_remove(&m, STR("m")));
    assert_false(strmap_remove(&m, STR("m")));
    strmap_put(&m, STR("m"), NULL); /* comes back at the end */
    char order[16] = "";
    strmap_each(&m, e) strncat(order, e->key.p, 1);
    assert_string_equal(order, "zabycxdwem");
    /* Removing while iterating. */
    strmap_each(&m, e)
    {
        if (e->key.p[0] < 'm')
            strmap_remove(&m, e->key);
        else
            e->value.u = 1;
    }
    order[0] = '\0';
    strmap_each(&m, e) strncat(order, e->key.p, 1);
    assert_string_equal(order, "zyxwm");
    strmap_release(&m);
}

/* Random puts and removals against an array that knows the truth. */
static void test_against_array(void **state)
{
    enum { KEYS = 700, STEPS = 60000 };
    static char names[KEYS][12];
    static int64_t truth[KEYS]; /* 0: absent */
    struct strmap m = STRMAP_INIT;
    struct rng r;
    rng_init(&r, 1);
    for (int i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof names[i], "k%d", i);
    uint32_t live = 0;
    for (int step = 1; step <= STEPS; step++) {
        int64_t k = rng_range(&r, 0, KEYS - 1);
        struct str key = str_from(names[k]);
        if (rng_range(&r, 0, 2) == 0) {
            assert_int_equal(strmap_remove(&m, key), truth[k] != 0);
            live -= truth[k] != 0;
            truth[k] = 0;
        } else {
            bool made;
            struct strmap_entry *e = strmap_put(&m, key, &made);
            assert_int_equal(made, truth[k] == 0);
            assert_int_equal(e->value.i, truth[k]);
            live += made;
            e->value.i = truth[k] = step;
        }
        assert_int_equal(m.live, live);
        assert_true(m.cap <= 4 * KEYS); /* holes are reused, not collected */
    }
    for (int k = 0; k < KEYS; k++) {
        struct strmap_entry *e = strmap_find(&m, str_from(names[k]));
        assert_int_equal(e ? e->value.i : 0, truth[k]);
    }
    uint32_t seen = 0;
    strmap_each(&m, e) seen++;
    assert_int_equal(seen, live);
    strmap_release(&m);
}

/* One key put and removed for ever keeps the map small. */
static void test_churn(void **state)
{
    struct strmap m = STRMAP_INIT;
    for (int i = 0; i < 100000; i++) {
        strmap_put(&m, STR("same"), NULL);
        assert_true(strmap_remove(&m, STR("same")));
    }
    assert_true(m.cap <= 8);
    strmap_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basics), cmocka_unit_test(test_empty_key),
        cmocka_unit_test(test_order),  cmocka_unit_test(test_against_array),
        cmocka_unit_test(test_churn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
