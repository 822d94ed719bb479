/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include "unit/unit.h"

static void test_bits(void **state)
{
    uint64_t w[BITSET_WORDS(200)] = {0};
    static const size_t members[] = {0, 1, 63, 64, 65, 127, 128, 199};
    for (size_t i = 0; i < UNIT_COUNT(members); i++) {
        assert_false(bit_test(w, members[i]));
        bit_set(w, members[i]);
        bit_set(w, members[i]);
        assert_true(bit_test(w, members[i]));
        assert_int_equal(bitset_count(w, 200), i + 1);
    }
    size_t at = 0;
    for (size_t i = 0; i < UNIT_COUNT(members); i++) {
        at = bitset_next(w, 200, at);
        assert_int_equal(at++, members[i]);
    }
    assert_int_equal(bitset_next(w, 200, at), SIZE_MAX);
    bit_clear(w, 64);
    bit_clear(w, 64);
    assert_false(bit_test(w, 64));
    assert_true(bit_test(w, 63) && bit_test(w, 65));
    assert_int_equal(bitset_next(w, 200, 64), 65);
}

/* Sizes on both sides of a word's end, against the plain definition. */
static void test_every_size(void **state)
{
    uint64_t w[BITSET_WORDS(130) + 1];
    for (size_t n = 0; n <= 130; n++) {
        memset(w, 0, sizeof w);
        assert_false(bitset_any(w, n));
        assert_int_equal(bitset_next(w, n, 0), SIZE_MAX);
        bitset_fill(w, n);
        assert_int_equal(bitset_count(w, n), n);
        assert_int_equal(bitset_any(w, n), n > 0);
        for (size_t i = 0; i < sizeof w / sizeof *w * 64; i++)
            assert_int_equal(bit_test(w, i), i < n);
        for (size_t i = 0; i <= n + 70; i++)
            assert_int_equal(bitset_next(w, n, i), i < n ? i : SIZE_MAX);
    }
    bitset_fill(NULL, 0);
    assert_int_equal(bitset_count(NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
