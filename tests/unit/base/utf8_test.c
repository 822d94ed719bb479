/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "unit/unit.h"

static void test_decode(void **state)
{
    static const struct {
        const char *bytes;
        unsigned n;
        uint32_t cp;
    } rows[] = {
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\xef\xbf\xbd", 3, 0xfffd},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        /* a lone continuation, a cut sequence, a wrong continuation */
        {"\x80", 0, 0},
        {"\xbf", 0, 0},
        {"\xc2", 0, 0},
        {"\xe0\xa0", 0, 0},
        {"\xf0\x90\x80", 0, 0},
        {"\xc2\x41", 0, 0},
        {"\xe0\xa0\x41", 0, 0},
        {"\xf0\x90\x80\xc0", 0, 0},
        /* overlong forms */
        {"\xc0\x80", 0, 0},
        {"\xc1\xbf", 0, 0},
        {"\xe0\x80\x80", 0, 0},
        {"\xe0\x9f\xbf", 0, 0},
        {"\xf0\x80\x80\x80", 0, 0},
        {"\xf0\x8f\xbf\xbf", 0, 0},
        /* surrogates, beyond U+10FFFF, bytes that never occur */
        {"\xed\xa0\x80", 0, 0},
        {"\xed\xbf\xbf", 0, 0},
        {"\xf4\x90\x80\x80", 0, 0},
        {"\xf5\x80\x80\x80", 0, 0},
        {"\xf8\x88\x80\x80\x80", 0, 0},
        {"\xfe", 0, 0},
        {"\xff", 0, 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str s = str_from(rows[i].bytes);
        uint32_t cp = 0;
        ROW(rows[i].bytes, utf8_decode(s, 0, &cp) == rows[i].n);
        ROW(rows[i].bytes, cp == rows[i].cp);
        ROW(rows[i].bytes, utf8_valid(s) == (rows[i].n > 0));
    }
    uint32_t cp = 99;
    assert_int_equal(utf8_decode(STR(""), 0, &cp), 0);
    assert_int_equal(utf8_decode(STR("a"), 1, &cp), 0);
    assert_int_equal(cp, 99);
    assert_int_equal(utf8_decode(STR("a\0"), 1, &cp), 1);
    assert_int_equal(cp, 0);
}

/* Every code point there and back; what encode refuses, decode refuses. */
static void test_round_trip(void **state)
{
    for (uint32_t cp = 0; cp <= 0x110010; cp++) {
        char out[4];
        unsigned n = utf8_encode(cp, out);
        bool scalar = cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff);
        if ((n > 0) != scalar)
            fail_msg("encode U+%04X: %u", cp, n);
        uint32_t back;
        if (n > 0 && (utf8_decode((struct str){out, n}, 0, &back) != n || back != cp))
            fail_msg("decode U+%04X", cp);
    }
    char out[4];
    assert_int_equal(utf8_encode(UINT32_MAX, out), 0);
}

static void test_valid_count(void **state)
{
    static const struct {
        const char *text;
        bool valid;
        size_t count; /* what Go's utf8.RuneCountInString says */
    } rows[] = {
        {"", true, 0},
        {"abc", true, 3},
        {"gr\xc3\xbc\xc3\x9f", true, 4},
        {"\xe2\x82\xac\xf0\x9f\x98\x80", true, 2},
        {"a\xff"
         "b",
         false, 3},
        {"\xe2\x82", false, 2},
        {"\xed\xa0\x80", false, 3},
        {"\xf0\x9f\x98", false, 3},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str s = str_from(rows[i].text);
        ROW(rows[i].text, utf8_valid(s) == rows[i].valid);
        ROW(rows[i].text, utf8_count(s) == rows[i].count);
    }
    assert_true(utf8_valid(STR_NONE));
    assert_int_equal(utf8_count(STR_NONE), 0);
    /* The length ends a sequence, not what follows in memory. */
    assert_false(utf8_valid((struct str){"\xc3\xbc", 1}));
}

/* A byte above 0x7f is found wherever it stands, and none behind the end is. */
static void test_is_ascii(void **state)
{
    char text[40];
    memset(text, 'a', sizeof text);
    for (size_t n = 0; n < sizeof text; n++) {
        text[n] = (char)0x80;
        assert_true(utf8_is_ascii((struct str){text, n}));
        for (size_t from = 0; from <= n; from++)
            assert_false(utf8_is_ascii((struct str){text + from, n + 1 - from}));
        text[n] = 'a';
    }
    assert_true(utf8_is_ascii(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_valid_count),
        cmocka_unit_test(test_is_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
