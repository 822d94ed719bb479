/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "unit/unit.h"

#include "unit/base/dies.h"

static void test_eq_cmp(void **state)
{
    static const struct {
        const char *a, *b;
        int cmp;
    } rows[] = {
        {"", "", 0},       {"a", "", 1},    {"", "a", -1},        {"a", "b", -1},
        {"ab", "a", 1},    {"a", "ab", -1}, {"\xff", "\x01", 1},  {"abc", "abd", -1},
        {"abc", "abc", 0}, {"Z", "a", -1},  {"\x7f", "\x80", -1},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str a = str_from(rows[i].a), b = str_from(rows[i].b);
        ROW(rows[i].a, str_cmp(a, b) == rows[i].cmp);
        ROW(rows[i].a, str_cmp(b, a) == -rows[i].cmp);
        ROW(rows[i].a, str_eq(a, b) == (rows[i].cmp == 0));
        ROW(rows[i].a, str_is(a, rows[i].b) == (rows[i].cmp == 0));
    }
    assert_true(str_eq(STR_NONE, STR("")));
    assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
    assert_int_equal(str_from(NULL).n, 0);
    /* A NUL byte is a byte like any other. */
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_int_equal(STR("a\0b").n, 3);
}

static void test_starts_ends(void **state)
{
    static const struct {
        const char *s, *part;
        bool starts, ends;
    } rows[] = {
        {"", "", true, true},          {"abc", "", true, true},
        {"", "a", false, false},       {"abc", "ab", true, false},
        {"abc", "bc", false, true},    {"abc", "abc", true, true},
        {"abc", "abcd", false, false}, {"aba", "a", true, true},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str s = str_from(rows[i].s), part = str_from(rows[i].part);
        ROW(rows[i].s, str_starts(s, part) == rows[i].starts);
        ROW(rows[i].s, str_ends(s, part) == rows[i].ends);
    }
    assert_true(str_starts(STR_NONE, STR_NONE) && str_ends(STR_NONE, STR_NONE));
}

static void test_find(void **state)
{
    static const struct {
        const char *s, *needle;
        size_t at;
    } rows[] = {
        {"", "", 0},
        {"abc", "", 0},
        {"abc", "a", 0},
        {"abc", "c", 2},
        {"abc", "bc", 1},
        {"aab", "ab", 1},
        {"", "a", SIZE_MAX},
        {"abc", "abcd", SIZE_MAX},
        {"abc", "d", SIZE_MAX},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].s,
            str_find(str_from(rows[i].s), str_from(rows[i].needle)) == rows[i].at);
    assert_int_equal(str_find_byte(STR("abcb"), 'b', 0), 1);
    assert_int_equal(str_find_byte(STR("abcb"), 'b', 2), 3);
    assert_int_equal(str_find_byte(STR("abcb"), 'b', 4), SIZE_MAX);
    assert_int_equal(str_find_byte(STR("abcb"), 'b', SIZE_MAX), SIZE_MAX);
    assert_int_equal(str_find_byte(STR_NONE, 'b', 0), SIZE_MAX);
    assert_int_equal(str_find_byte(STR("a\0b"), '\0', 0), 1);
    assert_int_equal(str_rfind_byte(STR("abcb"), 'b'), 3);
    assert_int_equal(str_rfind_byte(STR("abcb"), 'a'), 0);
    assert_int_equal(str_rfind_byte(STR("abcb"), 'x'), SIZE_MAX);
    assert_int_equal(str_rfind_byte(STR_NONE, 'b'), SIZE_MAX);
    /* Bytes behind the end are not looked at. */
    assert_int_equal(str_find((struct str){"abc", 2}, STR("bc")), SIZE_MAX);
}

static void test_split(void **state)
{
    static const struct {
        const char *s, *want; /* each part and a bar */
    } ROWS[] = {
        {"", ""},      {"a", "a|"},       {"a,b", "a|b|"}, {"a,", "a|"},
        {",a", "|a|"}, {"a,,b", "a||b|"}, {",", "|"},      {"a, b", "a| b|"},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct strbuf got = STRBUF_INIT;
        for (struct str rest = str_from(ROWS[i].s), part;
             str_split_next(&rest, ',', &part);)
            strbuf_addf(&got, "%.*s|", STR_ARG(part));
        ROW(ROWS[i].s, str_is(strbuf_str(&got), ROWS[i].want));
        strbuf_release(&got);
    }
}

static void test_sub_trim(void **state)
{
    struct str s = STR("hello");
    assert_str(str_sub(s, 0, 5), "hello");
    assert_str(str_sub(s, 1, 3), "el");
    assert_str(str_sub(s, 3, SIZE_MAX), "lo");
    assert_str(str_sub(s, 5, 9), "");
    assert_str(str_sub(s, 9, 12), "");
    assert_str(str_sub(s, 4, 2), "");
    assert_ptr_equal(str_sub(s, 4, 2).p, s.p + 4);
    assert_ptr_equal(str_sub(s, 99, 99).p, s.p + 5);
    assert_str(str_sub(STR_NONE, 0, 4), "");
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {" ", ""},
        {" \t\n\v\f\r", ""},
        {"a", "a"},
        {" a b\n", "a b"},
        {"a ", "a"},
        {"\x1f"
         "a",
         "\x1f"
         "a"},
        {"\xc2\xa0", "\xc2\xa0"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        assert_str(str_trim(str_from(rows[i].in)), rows[i].out);
    assert_str(str_trim(STR_NONE), "");
}

/* Equal bytes hash equally wherever they lie; every byte and the length count. */
static void test_hex_digit(void **state)
{
    static const char digits[] = "0123456789abcdef";
    (void)state;
    for (int c = -128; c < 256; c++) {
        const char *at = c > 0 ? strchr(digits, c >= 'A' && c <= 'F' ? c | 32 : c) : NULL;
        assert_int_equal(str_hex_digit((char)c), at ? (int)(at - digits) : -1);
    }
}

static void test_hash(void **state)
{
    char a[80], b[80];
    assert_true(str_hash(STR_NONE) == str_hash(STR("")));
    for (size_t n = 0; n <= 40; n++) {
        memset(a, 'x', sizeof a);
        memset(b, 'x', sizeof b);
        struct str s = {a, n}, t = {b + 3, n};
        assert_true(str_hash(s) == str_hash(t));
        assert_true(str_hash(s) != str_hash((struct str){a, n + 1}));
        for (size_t i = 0; i < n; i++) {
            b[3 + i] = 'y';
            assert_true(str_hash(s) != str_hash(t));
            b[3 + i] = 'x';
        }
    }
    assert_true(str_hash(STR("\0")) != str_hash(STR("\0\0")));
}

/* Numbered names, as clusters have them, spread over the low bits. */
static void test_hash_spread(void **state)
{
    enum { N = 4096 };
    static unsigned char hits[N];
    char name[32];
    int used = 0;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "gpu-node-%05d", i);
        unsigned char *slot = &hits[str_hash(str_from(name)) % N];
        used += *slot == 0;
        *slot = 1;
    }
    /* A random function reaches 63 % of the slots. */
    assert_in_range(used, N * 60 / 100, N * 66 / 100);
}

static void test_strbuf(void **state)
{
    struct strbuf b = STRBUF_INIT;
    assert_string_equal(strbuf_cstr(&b), "");
    assert_str(strbuf_str(&b), "");
    strbuf_clear(&b);
    strbuf_adds(&b, "ab");
    strbuf_addc(&b, 'c');
    strbuf_addstr(&b, STR("d\0e"));
    strbuf_addstr(&b, STR_NONE);
    strbuf_add(&b, NULL, 0);
    assert_int_equal(b.n, 6);
    assert_memory_equal(b.p, "abcd\0e", 7);
    char *p = b.p;
    strbuf_clear(&b);
    assert_string_equal(strbuf_cstr(&b), "");
    strbuf_adds(&b, "again");
    assert_ptr_equal(b.p, p);
    assert_string_equal(b.p, "again");
    char *stolen = strbuf_steal(&b);
    assert_string_equal(stolen, "again");
    assert_null(b.p);
    free(stolen);
    stolen = strbuf_steal(&b);
    assert_string_equal(stolen, "");
    free(stolen);
    strbuf_release(&b);
    strbuf_release(&b);
}

/* Output shorter and longer than the room, at every offset around it. */
static void test_strbuf_addf(void **state)
{
    char big[3000];
    memset(big, 'x', sizeof big);
    for (size_t before = 0; before < 140; before++)
        for (size_t n = 0; n < sizeof big; n = n < 140 ? n + 1 : n * 3) {
            struct strbuf b = STRBUF_INIT;
            strbuf_add(&b, big, before);
            strbuf_addf(&b, "%.*s%c%d", (int)n, big, '!', 42);
            assert_int_equal(b.n, before + n + 3);
            assert_string_equal(b.p + before + n, "!42");
            assert_true(b.cap > b.n);
            strbuf_release(&b);
        }
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%s", "");
    assert_string_equal(b.p, "");
    strbuf_addf(&b, "%*d", 100000, 7);
    assert_int_equal(b.n, 100000);
    assert_string_equal(b.p + 99998, " 7");
    strbuf_release(&b);
}

static void test_strbuf_growth(void **state)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_reserve(&b, 1000);
    char *p = b.p;
    for (int i = 0; i < 1000; i++)
        strbuf_addc(&b, (char)('a' + i % 26));
    assert_ptr_equal(b.p, p);
    for (int i = 1000; i < 100000; i++)
        strbuf_addc(&b, (char)('a' + i % 26));
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.p[i], 'a' + i % 26);
    assert_int_equal(b.p[b.n], 0);
    strbuf_release(&b);
}

static void reserve_overflow(void)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addc(&b, 'x');
    strbuf_reserve(&b, SIZE_MAX - 1);
}

static void reserve_huge(void)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_reserve(&b, SIZE_MAX / 2 + 10);
}

static void test_strbuf_overflow(void **state)
{
    assert_true(dies(reserve_overflow));
    assert_true(dies(reserve_huge));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eq_cmp),        cmocka_unit_test(test_starts_ends),
        cmocka_unit_test(test_find),          cmocka_unit_test(test_split),
        cmocka_unit_test(test_hex_digit),     cmocka_unit_test(test_sub_trim),
        cmocka_unit_test(test_hash),          cmocka_unit_test(test_hash_spread),
        cmocka_unit_test(test_strbuf),        cmocka_unit_test(test_strbuf_addf),
        cmocka_unit_test(test_strbuf_growth), cmocka_unit_test(test_strbuf_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
