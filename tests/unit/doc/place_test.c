/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

static void test_place(void **state)
{
    static const struct {
        const char *text;
        uint32_t pos, line, column;
    } rows[] = {
        {"", 0, 1, 1},
        {"ab\ncd", 0, 1, 1},
        {"ab\ncd", 2, 1, 3},
        {"ab\ncd", 3, 2, 1},
        {"ab\ncd", 4, 2, 2},
        {"ab\ncd", 5, 2, 3},
        {"ab\ncd", 99, 2, 3},
        {"\n\n\n", 3, 4, 1},
        {"a\r\nb", 3, 2, 1},
        {"\xc3\xa9\xf0\x9f\x98\x80x", 6, 1, 3},
        {"\xff\xffx", 2, 1, 3},
        {"\xef\xbb\xbf"
         "a",
         3, 1, 1},
        {"\xef\xbb\xbf"
         "a",
         4, 1, 2},
        {"ab", UINT32_MAX, 1, 3},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct doc_source src = {.name = "f", .text = str_from(rows[i].text)};
        struct doc_place p = doc_place(&src, rows[i].pos);
        assert_int_equal(p.line, rows[i].line);
        assert_int_equal(p.column, rows[i].column);
    }
}

/* The value of key a; where its n-th byte stands. */
static void test_place_in(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        uint32_t line, column;
    } rows[] = {
        {"a: bcd", 0, 1, 4},
        {"a: bcd", 2, 1, 6},
        {"a: bcd", 3, 1, 7},
        {"a: bcd", 99, 1, 7},
        {"a: b\n  cd", 2, 1, 4}, /* folded: its own place */
        {"a: &x !!str bcd", 1, 1, 14},
        {"a: &x\n  bcd", 1, 2, 4},
        {"a: 'b''cd'", 0, 1, 5},
        {"a: 'b''cd'", 1, 1, 6},
        {"a: 'b''cd'", 2, 1, 8},
        {"a: 'b\n  cd'", 3, 1, 4},
        {"a: \"b\\n\\u00e9\\x41d\"", 1, 1, 6},
        {"a: \"b\\n\\u00e9\\x41d\"", 2, 1, 8},
        {"a: \"b\\n\\u00e9\\x41d\"", 3, 1, 8},
        {"a: \"b\\n\\u00e9\\x41d\"", 4, 1, 14},
        {"a: \"b\\n\\u00e9\\x41d\"", 5, 1, 18},
        {"a: \"\\U0001F600\\N\\L|\"", 0, 1, 5},
        {"a: \"\\U0001F600\\N\\L|\"", 4, 1, 15},
        {"a: \"\\U0001F600\\N\\L|\"", 6, 1, 17},
        {"a: \"\\U0001F600\\N\\L|\"", 9, 1, 19},
        {"{\"a\": \"\\ud83d\\ude00x\"}", 4, 1, 20},
        {"{\"a\": \"\\ud83dx\"}", 3, 1, 14},
        {"{\"a\": \"b\\\\c\"}", 2, 1, 11},
        {"a: |\n  one\n  two\n", 0, 2, 3},
        {"a: |\n  one\n  two\n", 2, 2, 5},
        {"a: |\n  one\n  two\n", 3, 2, 6},
        {"a: |\n  one\n  two\n", 4, 3, 3},
        {"a: |\n  one\n  two\n", 6, 3, 5},
        {"a: |-\n\n    one\n      two", 1, 3, 5},
        {"a: |-\n\n    one\n      two", 7, 4, 7},
        {"a: |2\n   one\n", 1, 2, 4},
        {"a: &x |  # c\n  one\n", 1, 2, 4},
        {"a: >\n  one\n  two\n", 5, 1, 4},
        {"a: [1]", 0, 1, 4},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_docs(&t, str_from(rows[i].text), doc_read);
        ROW(rows[i].text, t.ok);
        struct doc_place p = doc_place_in(&t.src, doc_get(&t.doc, "a"), rows[i].offset);
        if (p.line != rows[i].line || p.column != rows[i].column)
            fail_msg("%s, offset %zu: got %u:%u, want %u:%u", rows[i].text,
                     rows[i].offset, p.line, p.column, rows[i].line, rows[i].column);
        text_fini(&t);
    }
}

/* Made by hand, or an empty literal: no place to be exact about. */
static void test_no_place(void **state)
{
    struct text t;
    text_docs(&t, STR("a: |\n"), doc_read);
    struct doc_place p = doc_place_in(&t.src, doc_get(&t.doc, "a"), 0);
    assert_int_equal(p.line, 2);
    struct doc made = doc_make_string(&t.arena, STR("x"));
    p = doc_place_in(&t.src, &made, 0);
    assert_int_equal(p.line, 2);
    text_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_place_in),
        cmocka_unit_test(test_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
