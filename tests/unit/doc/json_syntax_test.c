/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "doc/json_syntax.h"

static const struct {
    const char *text, *why; /* "": it is JSON */
} ROWS[] = {
    {"{}", ""},
    {" [1, -0.5e+3, \"\\u12aF\\n\", true, false, null, {\"a\": [ ] , \"b\":{}}] \n", ""},
    {"0", ""},
    {"\"\xff\\ud800\"", ""},
    {"", "unexpected end of JSON input"},
    {"  ", "unexpected end of JSON input"},
    {"{", "unexpected end of JSON input"},
    {"[1", "unexpected end of JSON input"},
    {"[1,", "unexpected end of JSON input"},
    {"{\"a\"", "unexpected end of JSON input"},
    {"{\"a\":1", "unexpected end of JSON input"},
    {"\"abc", "unexpected end of JSON input"},
    {"no", "invalid character 'o' in literal null (expecting 'u')"},
    {"tru", "invalid character ' ' in literal true (expecting 'e')"},
    {"-", "invalid character ' ' in numeric literal"},
    {"-x", "invalid character 'x' in numeric literal"},
    {"1.", "invalid character ' ' after decimal point in numeric literal"},
    {"1.e3", "invalid character 'e' after decimal point in numeric literal"},
    {"1e", "invalid character ' ' in exponent of numeric literal"},
    {"01", "invalid character '1' after top-level value"},
    {"{} x", "invalid character 'x' after top-level value"},
    {"x", "invalid character 'x' looking for beginning of value"},
    {"[1,]", "invalid character ']' looking for beginning of value"},
    {"[1 2]", "invalid character '2' after array element"},
    {"[1}", "invalid character '}' after array element"},
    {"{\"a\" 1}", "invalid character '1' after object key"},
    {"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"},
    {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
    {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
    {"\"a\nb\"", "invalid character '\\n' in string literal"},
    {"\"a\x01\"", "invalid character '\\x01' in string literal"},
    {"\"\\x\"", "invalid character 'x' in string escape code"},
    {"\"\\", "invalid character ' ' in string escape code"},
    {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
    {"'a'", "invalid character '\\'' looking for beginning of value"},
    {"\\", "invalid character '\\\\' looking for beginning of value"},
    {"\xe4", "invalid character '\xc3\xa4' looking for beginning of value"},
    {"\x85", "invalid character '\\u0085' looking for beginning of value"},
    {"\xad", "invalid character '\\u00ad' looking for beginning of value"},
};

static void test_rows(void **state)
{
    struct arena a = {0};
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct str why = STR("");
        bool ok = json_syntax_check(str_from(ROWS[i].text), &a, &why);
        assert_int_equal(ok, ROWS[i].why[0] == '\0');
        assert_string_equal(arena_str(&a, why).p, ROWS[i].why);
    }
    arena_fini(&a);
}

static void test_depth(void **state)
{
    struct arena a = {0};
    struct strbuf b = STRBUF_INIT;
    struct str why = STR("");
    for (int i = 0; i < JSON_SYNTAX_DEPTH; i++)
        strbuf_addc(&b, '[');
    assert_false(json_syntax_check(strbuf_str(&b), &a, &why));
    assert_true(str_is(why, "unexpected end of JSON input"));
    strbuf_addc(&b, '[');
    assert_false(json_syntax_check(strbuf_str(&b), &a, &why));
    assert_true(str_is(why, "invalid character '[' exceeded max depth"));
    strbuf_release(&b);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
