/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "alloc/amount.h"

#define UNIT ((amount)1000000000)
#define EXA (UNIT * 1000000000 * 1000000000)

static void test_from(void **state)
{
    static const struct {
        const char *text;
        bool fits;
        amount want;
    } rows[] = {
        {"0", true, 0},
        {"1", true, UNIT},
        {"-3", true, -3 * UNIT},
        {"500m", true, UNIT / 2},
        {"1n", true, 1},
        {"1500000001n", true, 1500000001},
        {"40Gi", true, 40 * UNIT << 30},
        {"18446744073709551616", true, 16 * UNIT << 60},
        {"1000E", true, 1000 * EXA},
        {"-20E", true, -20 * EXA},
        {"1e40", false, 0},
        {"1e1000", false, 0},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q;
        amount got = 7;
        assert_true(quantity_parse(str_from(rows[i].text), &a, &q, NULL));
        ROW(rows[i].text, amount_from(&q, &got) == rows[i].fits);
        ROW(rows[i].text, !rows[i].fits || got == rows[i].want);
    }
    arena_fini(&a);
}

static void test_add(void **state)
{
    amount sum = AMOUNT_MAX - 1;
    assert_true(amount_add(&sum, 1));
    assert_true(sum == AMOUNT_MAX);
    assert_false(amount_add(&sum, 1));
    assert_true(sum == AMOUNT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
