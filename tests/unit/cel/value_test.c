/* SPDX-License-Identifier: Apache-2.0 */
/* Values without programs: equality, order, maps, sizes, texts, copies, time. */
#include <math.h>

#include "unit/unit.h"

#include "base/rng.h"
#include "cel/cel.h"
#include "cel/cost.h"
#include "cel/time.h"
#include "num/quantity.h"

static struct cel_run run;

static int open_run(void **state)
{
    cel_run_init(&run);
    return 0;
}

static int close_run(void **state)
{
    cel_run_fini(&run);
    return 0;
}

static struct cel_value text(const char *s)
{
    return cel_string(str_from(s));
}

static struct cel_value quantity(const char *s)
{
    struct quantity *q = ARENA_NEW(&run.arena, struct quantity);
    assert_true(quantity_parse(str_from(s), &run.arena, q, NULL));
    return (struct cel_value){.kind = CEL_QUANTITY, .quantity = q};
}

/* ---- Equality and order ---- */

enum { NO, YES, REFUSED };

static void test_equal(void **state)
{
    const struct {
        const char *name;
        struct cel_value a, b;
        int want;
    } rows[] = {
        {"int double", cel_int(1), cel_double(1), YES},
        {"uint int", cel_uint(1), cel_int(1), YES},
        {"int uint beyond", cel_int(-1), cel_uint(UINT64_MAX), NO},
        {"2^53 + 1 as a double", cel_int(9007199254740993), cel_double(0x1p53), YES},
        {"2^63 and the greatest int", cel_double(0x1p63), cel_int(INT64_MAX), YES},
        {"NaN", cel_double(NAN), cel_double(NAN), NO},
        {"NaN int", cel_double(NAN), cel_int(0), NO},
        {"zeros", cel_double(0), cel_double(-0.0), YES},
        {"string int", text("1"), cel_int(1), NO},
        {"string bytes", text("a"), cel_bytes(STR("a")), NO},
        {"null null", cel_null(), cel_null(), YES},
        {"null int", cel_null(), cel_int(0), NO},
        {"instants of two zones", cel_timestamp_in(60, 5, 60), cel_timestamp(60, 5), YES},
        {"instants", cel_timestamp(60, 5), cel_timestamp(60, 6), NO},
        {"types", cel_type_value(&cel_type_list_dyn), cel_type_value(&cel_type_map_dyn),
         NO},
        {"none", cel_optional_none(), cel_optional_none(), YES},
        {"quantities", quantity("1Gi"), quantity("1024Mi"), YES},
        {"quantity int", quantity("1"), cel_int(1), REFUSED},
        {"int quantity", cel_int(1), quantity("1"), NO},
        {"quantity null", quantity("1"), cel_null(), NO},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct cel_value v = cel_equal(&run, rows[i].a, rows[i].b);
        ROW(rows[i].name, (rows[i].want == REFUSED) == (v.kind == CEL_ERROR));
        ROW(rows[i].name, v.kind == CEL_ERROR || v.b == (rows[i].want == YES));
    }
}

/* Upstream takes lists as equal where a comparison of elements fails; an error is right.
 */
static void test_equal_nested_refusal(void **state)
{
    const struct cel_value a[] = {quantity("1"), cel_int(1)};
    const struct cel_value b[] = {cel_int(1), cel_int(1)}, c[] = {cel_int(1), cel_int(2)};
    assert_int_equal(cel_equal(&run, cel_list(a, 2), cel_list(b, 2)).kind, CEL_ERROR);
    struct cel_value differ = cel_equal(&run, cel_list(a, 2), cel_list(c, 2));
    assert_true(differ.kind == CEL_BOOL && !differ.b);
}

static void test_compare(void **state)
{
    const struct {
        struct cel_value a, b;
        int want; /* 9: an error */
    } rows[] = {
        {cel_int(1), cel_double(1.5), -1},
        {cel_double(-1e300), cel_int(INT64_MIN), -1},
        {cel_double(1e300), cel_uint(UINT64_MAX), 1},
        {cel_uint(UINT64_MAX), cel_int(-1), 1},
        {cel_int(-1), cel_uint(0), -1},
        {cel_double(NAN), cel_int(1), 9},
        {text("Z"), text("a"), -1},
        {text("ab"), text("abc"), -1},
        {cel_bytes(STR("\xff")), cel_bytes(STR("a")), 1},
        {cel_bool(false), cel_bool(true), -1},
        {cel_duration(1), cel_duration(2), -1},
        {cel_timestamp(1, 2), cel_timestamp(1, 1), 1},
        {cel_null(), cel_null(), 9},
        {cel_int(1), text("1"), 9},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct cel_value v = cel_compare(&run, rows[i].a, rows[i].b);
        int got = v.kind == CEL_ERROR ? 9 : (int)v.i;
        assert_int_equal(got, rows[i].want);
    }
}

/* ---- Maps ---- */

static void test_map_numbers(void **state)
{
    struct cel_map_builder b = {0};
    cel_map_put(&run, &b, cel_int(1), text("int"));
    cel_map_put(&run, &b, cel_uint(2), text("uint"));
    cel_map_put(&run, &b, cel_double(3), text("double"));
    const struct {
        struct cel_value key;
        const char *want;
    } rows[] = {
        {cel_int(1), "int"},     {cel_uint(1), "int"},
        {cel_double(1), "int"},  {cel_int(2), "uint"},
        {cel_double(2), "uint"}, {cel_double(3), "double"},
        {cel_int(3), NULL},      {cel_uint(3), NULL},
        {cel_int(-1), NULL},     {cel_uint(1ull << 63), NULL},
        {cel_double(1.5), NULL}, {cel_double(NAN), NULL},
        {text("1"), NULL},       {cel_bool(true), NULL},
        {cel_null(), NULL},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        const struct cel_value *v = cel_map_find(&b.map, rows[i].key);
        assert_int_equal(v != NULL, rows[i].want != NULL);
        if (v != NULL)
            assert_str(cel_str(*v), rows[i].want);
    }
}

/* A map of any size finds what was put in, and nothing else; the last value counts. */
static void test_map_many(void **state)
{
    enum { N = 2000 };
    struct cel_map_builder b = {0};
    struct cel_value early = {0};
    for (int i = 0; i < N; i++) {
        struct cel_value key =
            cel_string(arena_printf(&run.arena, "key-%d", i % (N / 2)));
        cel_map_put(&run, &b, key, cel_int(i));
        if (i == 5)
            early = cel_map_done(&run, &b);
    }
    assert_int_equal(b.map.n, N / 2);
    for (int i = 0; i < N / 2; i++) {
        struct cel_value key = cel_string(arena_printf(&run.arena, "key-%d", i));
        assert_int_equal(cel_map_find(&b.map, key)->i, i + N / 2);
        assert_int_equal(b.map.entries[i].value.i, i + N / 2);
        assert_int_equal(cel_map_find(early.map, key) != NULL, i < 6);
    }
    assert_null(cel_map_find(&b.map, text("key-1000")));
    assert_null(cel_map_find(&b.map, cel_int(1)));
}

static void test_list_builder(void **state)
{
    struct cel_list_builder b = {0};
    struct cel_value two = {0};
    for (int i = 0; i < 100; i++) {
        cel_list_push(&run, &b, cel_int(i));
        if (i == 1)
            two = cel_list_done(&b);
    }
    assert_int_equal(cel_list_done(&b).len, 100);
    assert_int_equal(cel_list_done(&b).items[99].i, 99);
    assert_true(two.len == 2 && two.items[0].i == 0 && two.items[1].i == 1);
}

/* ---- Sizes and costs ---- */

static void test_sizes(void **state)
{
    assert_int_equal(cel_size(text("h\xc3\xa9llo")), 5);
    assert_int_equal(cel_size(cel_string_marked(STR("hello"))), 5);
    assert_int_equal(cel_size(cel_bytes(STR("h\xc3\xa9"))), 3);
    assert_int_equal(cel_size(cel_int(5)), -1);
    assert_int_equal(cel_cost_size(cel_int(5)), 1);
    assert_int_equal(cel_cost_size(cel_optional_of(&run, text("abc"))), 3);
    assert_int_equal(cel_cost_size(cel_optional_none()), 1);
    assert_int_equal(cel_cost_size(cel_list(NULL, 0)), 0);
}

/* The short ways cost what counting costs. */
static void test_cost_of_text(void **state)
{
    static const char *const pieces[] = {
        "a", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\x9f\x9a\x80", "\xff", "word-"};
    struct rng r;
    rng_init(&r, 1);
    for (int i = 0; i < 3000; i++) {
        struct strbuf b[2] = {STRBUF_INIT, STRBUF_INIT};
        struct cel_value v[2];
        uint64_t size[2];
        for (int k = 0; k < 2; k++) {
            for (int64_t n = rng_range(&r, 0, 40); n > 0; n--)
                strbuf_adds(&b[k], pieces[rng_range(&r, 0, UNIT_COUNT(pieces) - 1)]);
            v[k] = rng_range(&r, 0, 1) ? cel_string_marked(strbuf_str(&b[k]))
                                       : cel_string(strbuf_str(&b[k]));
            size[k] = cel_cost_size(v[k]);
        }
        uint64_t least = size[0] < size[1] ? size[0] : size[1];
        assert_int_equal(cel_cost_equal(v[0], v[1]), cel_cost_string(least));
        assert_int_equal(cel_cost_tenth(size[0] * 7), cel_cost_string(size[0] * 7));
        strbuf_release(&b[0]);
        strbuf_release(&b[1]);
    }
}

/* ---- Texts ---- */

static void check_print(struct cel_value v, const char *people, const char *go)
{
    struct strbuf b = STRBUF_INIT;
    cel_print(v, &b);
    assert_str(strbuf_str(&b), people);
    strbuf_clear(&b);
    cel_print_go(v, &b);
    assert_str(strbuf_str(&b), go);
    strbuf_release(&b);
}

static void test_print(void **state)
{
    const struct cel_value items[] = {cel_int(1), text("a")};
    struct cel_entry entries[] = {{text("b"), cel_int(2)}, {text("a"), cel_uint(1)}};
    check_print(cel_null(), "null", "0");
    check_print(cel_uint(5), "5u", "5");
    check_print(text("a\"\n<\xe2\x80\xa8\xff"), "\"a\\\"\\n\\u003c\\u2028\\ufffd\"",
                "a\"\n<\xe2\x80\xa8\xff");
    check_print(cel_bytes(STR("a\xff")), "bytes:61ff", "[97 255]");
    check_print(cel_list(items, 2), "[1, \"a\"]", "[1, a]");
    check_print(cel_map_make(&run, entries, 2), "{\"a\": 1u, \"b\": 2}", "{a: 1, b: 2}");
    check_print(cel_optional_of(&run, cel_int(1)), "optional.of(1)", "optional(1)");
    check_print(cel_optional_none(), "optional.none()", "optional.none()");
    check_print(cel_type_value(&cel_type_list_dyn), "list(dyn)", "list(dyn)");
    check_print(cel_duration(5400 * CEL_NANOS), "5400s", "1h30m0s");
    check_print(cel_duration(-1), "-0.000000001s", "-1ns");
    check_print(cel_duration(1500), "0.0000015s", "1.5\xc2\xb5s");
    check_print(cel_timestamp(0, 120000000), "1970-01-01T00:00:00.12Z",
                "1970-01-01 00:00:00.12 +0000 UTC");
    check_print(cel_timestamp_in(0, 0, -90), "1969-12-31T22:30:00-01:30",
                "1969-12-31 22:30:00 -0130 -0130");
    check_print(quantity("1500m"), "1500m", "1500m");
}

static void test_print_double(void **state)
{
    const struct {
        double d;
        const char *general, *decimal;
    } rows[] = {
        {0, "0", "0"},
        {-0.0, "-0", "-0"},
        {1.5, "1.5", "1.5"},
        {100000, "100000", "100000"},
        {1e6, "1e+06", "1000000"},
        {1234567, "1.234567e+06", "1234567"},
        {0.0001, "0.0001", "0.0001"},
        {0.00001, "1e-05", "0.00001"},
        {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
        {5e-324, "5e-324", NULL},
        {1.7976931348623157e308, "1.7976931348623157e+308", NULL},
        {0x1p-44, "5.684341886080802e-14", "0.00000000000005684341886080802"},
        {INFINITY, "+Inf", "+Inf"},
        {NAN, "NaN", "NaN"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf b = STRBUF_INIT;
        cel_print_double(rows[i].d, &b);
        assert_str(strbuf_str(&b), rows[i].general);
        strbuf_clear(&b);
        cel_print_decimal(rows[i].d, &b);
        if (rows[i].decimal != NULL)
            assert_str(strbuf_str(&b), rows[i].decimal);
        strbuf_release(&b);
    }
}

/* ---- Copies ---- */

static void test_dup(void **state)
{
    struct arena a;
    arena_init(&a);
    struct cel_run other;
    cel_run_init(&other);
    struct cel_map_builder b = {0};
    for (int i = 0; i < 40; i++)
        cel_map_put(&other, &b, cel_string(arena_printf(&other.arena, "k%d", i)),
                    cel_int(i));
    struct cel_value items[] = {cel_map_done(&other, &b),
                                cel_optional_of(&other, text("in")),
                                cel_errorf(&other, "e%d", 1)};
    struct cel_value copy = cel_dup(cel_list(items, 3), &a);
    cel_run_fini(&other);
    assert_int_equal(cel_map_find(copy.items[0].map, text("k39"))->i, 39);
    assert_str(cel_str(*copy.items[1].optional), "in");
    assert_str(copy.items[2].error->text, "e1");
    arena_fini(&a);
}

/* ---- Time ---- */

/* Every day of some centuries and the days around them, there and back. */
static void test_calendar(void **state)
{
    struct cel_civil before = cel_civil(CEL_TIME_MIN - 86400, 0);
    for (int64_t day = CEL_TIME_MIN / 86400; day < 1100000; day++) {
        struct cel_civil c = cel_civil(day * 86400 + 86399, 0);
        bool first = c.day == 1;
        assert_true(first ? before.day >= 28 : c.day == before.day + 1);
        assert_true(c.weekday == (before.weekday + 1) % 7);
        assert_true(first && c.month == 1 ? c.yearday == 0 && c.year == before.year + 1
                                          : c.yearday == before.yearday + 1);
        assert_true(c.hour == 23 && c.minute == 59 && c.second == 59);
        before = c;
    }
    assert_int_equal(cel_civil(INT64_MAX, 19800).year, 292277026596);
    assert_int_equal(cel_civil(INT64_MIN, -19800).weekday, 0);
    assert_int_equal(cel_civil(-1, 3600).hour, 0);
}

static void test_time_text(void **state)
{
    static const char *const bad[] = {
        "",
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-1-01T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2024-01-01t00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:60Z",
        "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00z",
        "2024-01-01T00:00:00+25:00",
        "2024-01-01T00:00:00+0100",
        "2024-01-01T00:00:00Z ",
    };
    struct cel_value v;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ROW(bad[i], !cel_time_parse(str_from(bad[i]), &v));
    assert_true(cel_time_parse(STR("2024-02-29T12:30:15.000000007-01:30"), &v));
    assert_int_equal(v.i, 1709215215);
    assert_int_equal(v.len, 7);
    struct strbuf b = STRBUF_INIT;
    cel_print_rfc3339(v, &b);
    assert_str(strbuf_str(&b), "2024-02-29T12:30:15.000000007-01:30");
    strbuf_release(&b);
}

static void test_duration_text(void **state)
{
    static const char *const bad[] = {"",
                                      "1",
                                      "s",
                                      ".s",
                                      "1d",
                                      "1h 1m",
                                      "-",
                                      "1hm",
                                      "9223372036854775808ns",
                                      "2562047h48m",
                                      "1.5"};
    int64_t ns;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        ROW(bad[i], !cel_duration_parse(str_from(bad[i]), &ns));
    const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"1ns", 1},
        {".5s", 500000000},
        {"1.s", CEL_NANOS},
        {"1h1m1s1ms1us1ns", 3661001001001},
        {"1\xc2\xb5s1\xce\xbcs", 2000},
        {"-9223372036854775808ns", INT64_MIN},
        {"0.3333333333333333333h", 1200000000000},
    };
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        ROW(good[i].text, cel_duration_parse(str_from(good[i].text), &ns));
        ROW(good[i].text, ns == good[i].ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),     cmocka_unit_test(test_equal_nested_refusal),
        cmocka_unit_test(test_compare),   cmocka_unit_test(test_map_numbers),
        cmocka_unit_test(test_map_many),  cmocka_unit_test(test_list_builder),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_cost_of_text),
        cmocka_unit_test(test_print),     cmocka_unit_test(test_print_double),
        cmocka_unit_test(test_dup),       cmocka_unit_test(test_calendar),
        cmocka_unit_test(test_time_text), cmocka_unit_test(test_duration_text),
    };
    return cmocka_run_group_tests(tests, open_run, close_run);
}
