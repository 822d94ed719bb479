/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "base/quote.h"

static void test_quote(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\""},
        {"a b", "\"a b\""},
        {"\a\b\t\n\v\f\r", "\"\\a\\b\\t\\n\\v\\f\\r\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"\x01\x1b\x7f", "\"\\x01\\x1b\\x7f\""},
        {"\xc3\xa9\xe1\x88\xb4", "\"\xc3\xa9\xe1\x88\xb4\""},
        {"\xc2\xad\xe2\x80\x8b", "\"\\u00ad\\u200b\""},
        {"\xf0\x9f\x98\x80\xf3\xa0\x80\x81", "\"\xf0\x9f\x98\x80\\U000e0001\""},
        {"a\xff\xc0z", "\"a\\xff\\xc0z\""},
    };
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        strbuf_clear(&b);
        strbuf_add_quoted(&b, str_from(rows[i].in));
        assert_str(strbuf_str(&b), rows[i].out);
    }
    strbuf_release(&b);
}

static void test_printable(void **state)
{
    assert_true(rune_is_printable(' '));
    assert_false(rune_is_printable(0xa0));
    assert_false(rune_is_printable(0xe000));
    assert_true(rune_is_printable(0x4e00));
    assert_false(rune_is_printable(0x10ffff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
