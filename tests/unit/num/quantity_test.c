/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include <inttypes.h>
#include <math.h>

#include "num/quantity.h"

static struct arena arena;

static struct quantity parsed(const char *text)
{
    struct quantity q;
    struct err e = ERR_INIT;
    if (!quantity_parse(str_from(text), &arena, &q, &e))
        fail_msg("%s: %s", text, err_text(&e));
    return q;
}

static bool prints(const struct quantity *q, const char *want)
{
    return str_is(quantity_print(q, &arena), want);
}

static void test_print(void **state)
{
    static const struct {
        const char *text, *print, *exact;
        enum quantity_format format;
        bool small;
    } rows[] = {
        {"0", "0", "0", QUANTITY_DECIMAL_SI, true},
        {"-0", "0", "0", QUANTITY_DECIMAL_SI, true},
        {".", "0", "0", QUANTITY_DECIMAL_SI, true},
        {"k", "0", "0", QUANTITY_DECIMAL_SI, true},
        {"000.000", "0", "0.000", QUANTITY_DECIMAL_SI, true},
        {"1.", "1.", "1", QUANTITY_DECIMAL_SI, true},
        {"+5", "+5", "5", QUANTITY_DECIMAL_SI, true},
        {"1e003", "1e003", "1000", QUANTITY_DECIMAL_EXPONENT, true},
        {"1.5", "1500m", "1.5", QUANTITY_DECIMAL_SI, true},
        {"1000", "1k", "1000", QUANTITY_DECIMAL_SI, true},
        {"100e1", "1e3", "1000", QUANTITY_DECIMAL_EXPONENT, true},
        {"12E", "12E", "12000000000000000000", QUANTITY_DECIMAL_SI, true},
        {"12E2", "1200", "1200", QUANTITY_DECIMAL_EXPONENT, true},
        {"1024Mi", "1Gi", "1073741824", QUANTITY_BINARY_SI, true},
        {"512Ki", "512Ki", "524288", QUANTITY_BINARY_SI, true},
        {"1.5Gi", "1536Mi", "1610612736.000000000", QUANTITY_BINARY_SI, false},
        {"0.5Ki", "512", "512.000000000", QUANTITY_BINARY_SI, false},
        {"1Ei", "1Ei", "1152921504606846976.000000000", QUANTITY_BINARY_SI, false},
        {"9Ei", "9223372036854775807", "9223372036854775807", QUANTITY_BINARY_SI, false},
        {"0.0001Ki", "102400u", "0.102400000", QUANTITY_DECIMAL_SI, false},
        {"-0.1n", "-1n", "-0.000000001", QUANTITY_DECIMAL_SI, false},
        {"1e-900", "1e-9", "0.000000001", QUANTITY_DECIMAL_EXPONENT, false},
        {"1000E", "1000E", "1000000000000000000000", QUANTITY_DECIMAL_SI, true},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = parsed(rows[i].text);
        ROW(rows[i].text, prints(&q, rows[i].print));
        ROW(rows[i].text, str_is(quantity_exact(&q, &arena), rows[i].exact));
        ROW(rows[i].text, q.format == rows[i].format);
        ROW(rows[i].text, !q.big == rows[i].small);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *error;
        enum err_code code;
    } rows[] = {
        {"", "quantities must match the regular expression", ERR_INVALID},
        {" 1", "quantities must match the regular expression", ERR_INVALID},
        {"1..5", "quantities must match the regular expression", ERR_INVALID},
        {"1e3k", "quantities must match the regular expression", ERR_INVALID},
        {"1e", "unable to parse quantity's suffix", ERR_INVALID},
        {"--1", "unable to parse quantity's suffix", ERR_INVALID},
        {"1e9223372036854775808", "unable to parse quantity's suffix", ERR_INVALID},
        {"e-10", "unable to parse numeric part of quantity", ERR_INVALID},
        {"1e1001", "exponent of quantity must be within -1000 and 1000", ERR_LIMIT},
        {"1e-99999999", "exponent of quantity must be within -1000 and 1000", ERR_LIMIT},
        {"1e9223372036854775807", "exponent of quantity must be", ERR_LIMIT},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = {.i = 77};
        struct err e = ERR_INIT;
        ROW(rows[i].text, !quantity_parse(str_from(rows[i].text), &arena, &q, &e));
        ROW(rows[i].text, e.code == rows[i].code);
        ROW(rows[i].text, str_starts(str_from(e.msg), str_from(rows[i].error)));
        ROW(rows[i].text, q.i == 77);
        err_release(&e);
    }
}

static void test_pairs(void **state)
{
    static const struct {
        const char *a, *b, *add, *sub;
        int cmp;
    } rows[] = {
        {"1", "1000m", "2", "0", 0},
        {"1Gi", "1G", "2073741824", "73741824", 1},
        {"0", "1Ki", "1Ki", "-1Ki", -1},
        {"1Ki", "0", "1Ki", "1Ki", 1},
        {"1n", "1E", "1000000000000000000000000001n", "-999999999999999999999999999n",
         -1},
        {"1e1000", "1e-9", NULL, NULL, 1},
        {"-1e1000", "1", NULL, NULL, -1},
        {"9223372036854775807", "9223372036854775807", "18446744073709551614", "0", 0},
        {"1Ei", "1152921504606846976", "2Ei", "0", 0},
        {"7Ei", "1017Ei", "17293822569102704639", "-1152921504606846975", -1},
        {"500E", "500E", "1000E", "0", 0},
        {"0e400", "0.0000000000000000000000", "0", "0", 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity a = parsed(rows[i].a), b = parsed(rows[i].b);
        struct quantity sum = quantity_add(&a, &b, &arena);
        struct quantity rest = quantity_sub(&a, &b, &arena);
        ROW(rows[i].a, quantity_cmp(&a, &b) == rows[i].cmp);
        ROW(rows[i].a, quantity_cmp(&b, &a) == -rows[i].cmp);
        ROW(rows[i].a, (quantity_hash(&a) == quantity_hash(&b)) == !rows[i].cmp);
        ROW(rows[i].a, !rows[i].add || prints(&sum, rows[i].add));
        ROW(rows[i].a, !rows[i].sub || prints(&rest, rows[i].sub));
    }
}

static void test_int64_edges(void **state)
{
    struct quantity min = quantity_from_int64(INT64_MIN, QUANTITY_DECIMAL_SI);
    struct quantity max = quantity_from_int64(INT64_MAX, QUANTITY_DECIMAL_SI);
    struct quantity up = quantity_neg(&min, &arena);
    struct quantity zero = quantity_sub(&min, &min, &arena);
    struct quantity wide = quantity_sub(&max, &min, &arena);
    assert_str(quantity_print(&up, &arena), "9223372036854775808");
    assert_int_equal(quantity_sign(&zero), 0);
    assert_str(quantity_exact(&wide, &arena), "18446744073709551615");
    int64_t v;
    assert_true(quantity_as_int64(&min, &v) && v == INT64_MIN);
    assert_false(quantity_as_int64(&up, &v));
    assert_false(quantity_scaled(&up, 0, &v));
    assert_true(quantity_cmp(&min, &max) < 0);
}

static void test_scaled(void **state)
{
    static const struct {
        const char *text;
        int digits;
        int64_t want;
        bool fits, exact;
    } rows[] = {
        {"1500m", 0, 2, true, false},
        {"-1500m", 0, -2, true, false},
        {"1500m", 3, 1500, true, true},
        {"1n", 0, 1, true, false},
        {"-1Pi", 0, -(1LL << 50), true, true},
        {"1e19", 0, 0, false, false},
        {"1T", 9, 0, false, false},
        {"1.5Gi", 0, 1610612736, true, true},
        {"1e1000", -1000, 1, true, true},
        {"5e20", -30, 1, true, false},
        {"0e1000", 9, 0, true, true},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = parsed(rows[i].text);
        int64_t v = 0;
        ROW(rows[i].text, quantity_scaled(&q, rows[i].digits, &v) == rows[i].fits);
        ROW(rows[i].text, v == rows[i].want);
        ROW(rows[i].text, quantity_scaled_exact(&q, rows[i].digits, &v) == rows[i].exact);
    }
}

static void test_as_int64(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {
        {"40Gi", true, 42949672960}, {"1.5Gi", false, 0},  {"1000m", false, 0},
        {"1Ei", false, 0},           {"12k", true, 12000}, {"10E", false, 0},
        {"0e1000", true, 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = parsed(rows[i].text);
        int64_t v = 0;
        ROW(rows[i].text, quantity_as_int64(&q, &v) == rows[i].ok);
        ROW(rows[i].text, v == rows[i].want);
    }
}

static void test_doubles(void **state)
{
    static const struct {
        const char *text;
        double approx, nearest;
    } rows[] = {
        {"1000n", 1.0000000000000002e-06, 1e-06},
        {"1.5Gi", 1610612736, 1610612736},
        {"-2.25", -2.25, -2.25},
        {"1e400", HUGE_VAL, HUGE_VAL},
        {"-1e400", -HUGE_VAL, -HUGE_VAL},
        {"0e400", 0, 0},
        {"18446744073709551615", 18446744073709552000., 18446744073709552000.},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = parsed(rows[i].text);
        ROW(rows[i].text, quantity_approx_double(&q) == rows[i].approx);
        ROW(rows[i].text, quantity_as_double(&q) == rows[i].nearest);
    }
}

static void test_mul(void **state)
{
    static const struct {
        const char *text;
        int64_t n;
        const char *want;
        bool small;
    } rows[] = {
        {"1Gi", 3, "3Gi", true},     {"500m", 2, "1", true},
        {"9E", 2, "18E", false},     {"1.5Gi", 2, "3Gi", false},
        {"5", 0, "0", true},         {"-3", INT64_MIN, NULL, false},
        {"0", INT64_MIN, "0", true},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct quantity q = parsed(rows[i].text);
        struct quantity r = quantity_mul_int64(&q, rows[i].n, &arena);
        ROW(rows[i].text, !rows[i].want || prints(&r, rows[i].want));
        ROW(rows[i].text, !r.big == rows[i].small);
    }
}

static void test_dup(void **state)
{
    struct arena other;
    arena_init(&other);
    const char *texts[] = {"1.", "1.5Gi", "1000"};
    struct quantity copies[3];
    for (int i = 0; i < 3; i++) {
        struct arena first;
        arena_init(&first);
        struct quantity q;
        assert_true(quantity_parse(str_from(texts[i]), &first, &q, NULL));
        copies[i] = quantity_dup(&q, &other);
        arena_fini(&first);
    }
    assert_true(prints(&copies[0], "1."));
    assert_true(prints(&copies[1], "1536Mi"));
    assert_true(prints(&copies[2], "1k"));
    arena_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_int64_edges),
        cmocka_unit_test(test_scaled),  cmocka_unit_test(test_as_int64),
        cmocka_unit_test(test_doubles), cmocka_unit_test(test_mul),
        cmocka_unit_test(test_dup),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
