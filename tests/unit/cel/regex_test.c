/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions against Go's: verdict, matches, error texts. */
#include "unit/unit.h"

#include "cel/regex.h"

/* all: every match in its brackets, or the error text behind "error parsing regexp: ". */
static const struct {
    const char *pattern, *text, *all;
} rows[] = {
    /* plain texts, which need no automaton */
    {"abc", "xabcabc", "[abc][abc]"},
    {"^ab", "abab", "[ab]"},
    {"^ab", "xab", ""},
    {"ab$", "abab", "[ab]"},
    {"^ab$", "ab", "[ab]"},
    {"^ab$", "abab", ""},
    {"", "日本", "[][][]"},
    {"^", "ab", "[]"},
    {"$", "ab", "[]"},
    {"^$", "", "[]"},
    {"^$", "a", ""},
    /* expressions */
    {"a*", "baaac", "[][aaa][]"},
    {"a|ab", "ab", "[a]"},
    {"(?i)ÉA", "éa", "[éa]"},
    {"(?s).", "a\nb", "[a][\n][b]"},
    {"(?m)^b$", "a\nb\nc", "[b]"},
    {"(?U)a+", "aaa", "[a][a][a]"},
    {"\\p{Han}+", "ab日本c", "[日本]"},
    {"\\pL", "1a", "[a]"},
    {"[[:alpha:]]+", "1ab2", "[ab]"},
    {"\\p{greek}\\p{Uppercase Letter}\\p{decimal-number}", "αA1", "[αA1]"},
    {"\\P{^lu}", "aB", "[B]"},
    {"\\p{ASCII}+|[\\P{ascii}]", "abé", "[ab][é]"},
    {"\\Q(a)\\E", "(a)", "[(a)]"},
    {"\\b", "a b", "[][][][]"},
    {"\\B", "日本 aé", "[][][][]"},
    {"x*\\B", "aé", "[]"},
    {"(?P<n>a)(?<m>b)", "ab", "[ab]"},
    {"(?P<n>a)(?P<n>b)", "ab", "[ab]"},
    {"a{2,3}", "aaaaa", "[aaa][aa]"},
    {"a{,3}", "a{,3}", "[a{,3}]"},
    {"\\x{1F600}", "😀", "[😀]"},
    {"\\z", "a", "[]"},
    /* errors */
    {"(", "", "missing closing ): `(`"},
    {"a)", "", "unexpected ): `a)`"},
    {"[a", "", "missing closing ]: `[a`"},
    {"[\\p{letter}", "", "missing closing ]: `[\\p{letter}`"},
    {"a**", "", "invalid nested repetition operator: `**`"},
    {"*a", "", "missing argument to repetition operator: `*`"},
    {"(?<n>?", "", "missing argument to repetition operator: `?`"},
    {"a{1001}", "", "invalid repeat count: `{1001}`"},
    {"a{3,1}?", "", "invalid repeat count: `{3,1}`"},
    {"(a{100}){100}", "", "invalid repeat count: `{100}`"},
    {"(?=a)", "", "invalid or unsupported Perl syntax: `(?=`"},
    {"(?<=a)", "", "invalid named capture: `(?<=a)`"},
    {"(?<n", "", "invalid named capture: `(?<n`"},
    {"(?P<é>a)", "", "invalid named capture: `(?P<é>`"},
    {"(?P=n)", "", "invalid or unsupported Perl syntax: `(?P`"},
    {"a\\", "", "trailing backslash at end of expression: ``"},
    {"\\C", "", "invalid escape sequence: `\\C`"},
    {"*\\C", "", "missing argument to repetition operator: `*`"},
    {"(\\C", "", "invalid escape sequence: `\\C`"},
    {"[\\C]", "", "invalid escape sequence: `\\C`"},
    {"\\8", "", "invalid escape sequence: `\\8`"},
    {"\\p{Nope}", "", "invalid character class range: `\\p{Nope}`"},
    {"[z-a]", "", "invalid character class range: `z-a`"},
    {"[[:nope:]]", "", "invalid character class range: `[:nope:]`"},
    {"\\x{110000}", "", "invalid escape sequence: `\\x{110000`"},
};

static void add_matches(const struct cel_regex *re, struct str text, struct strbuf *out)
{
    struct cel_regex_iter it = {.re = re, .text = text};
    struct str match;
    while (cel_regex_next(&it, &match))
        strbuf_addf(out, "[%.*s]", STR_ARG(match));
}

static void test_rows(void **state)
{
    const char *const prefix = "error parsing regexp: ";
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf out = STRBUF_INIT;
        struct err e = ERR_INIT;
        struct str text = str_from(rows[i].text), first;
        struct cel_regex *re = cel_regex_new(str_from(rows[i].pattern), &e);
        assert_int_equal(cel_regex_check(str_from(rows[i].pattern), NULL), re != NULL);
        if (re) {
            add_matches(re, text, &out);
            ROW(rows[i].pattern, cel_regex_match(re, text) == (out.n > 0));
            ROW(rows[i].pattern, cel_regex_find(re, text, 0, &first) == (out.n > 0));
        } else {
            ROW(rows[i].pattern, str_starts(str_from(e.msg), str_from(prefix)));
            strbuf_adds(&out, e.msg + strlen(prefix));
        }
        if (!str_is(strbuf_str(&out), rows[i].all))
            fail_msg("%s: got %s, want %s", rows[i].pattern, strbuf_cstr(&out),
                     rows[i].all);
        cel_regex_free(re);
        err_release(&e);
        strbuf_release(&out);
    }
}

/* An empty text without an address is a text. */
static void test_none(void **state)
{
    static const char *const patterns[] = {"", "a*", "\\B", "^$"};
    for (size_t i = 0; i < UNIT_COUNT(patterns); i++) {
        struct cel_regex *re = cel_regex_new(str_from(patterns[i]), NULL);
        struct cel_regex_iter it = {.re = re, .text = STR_NONE};
        struct str match;
        ROW(patterns[i], cel_regex_match(re, STR_NONE));
        ROW(patterns[i], cel_regex_next(&it, &match) && match.n == 0);
        ROW(patterns[i], !cel_regex_next(&it, &match));
        cel_regex_free(re);
    }
}

/* What Go's parser refuses by its size limits. */
static void test_limits(void **state)
{
    struct strbuf deep = STRBUF_INIT;
    struct err e = ERR_INIT;
    for (int i = 0; i < 1001; i++)
        strbuf_addc(&deep, '(');
    assert_null(cel_regex_new(strbuf_str(&deep), &e));
    assert_non_null(strstr(e.msg, "expression nests too deeply"));
    strbuf_release(&deep);
    err_release(&e);
}

/* More memory than the first attempt has. */
static void test_large(void **state)
{
    struct err e = ERR_INIT;
    struct cel_regex *re = cel_regex_new(STR("(\\pL{500}\\pN{500}){1}"), &e);
    assert_non_null(re);
    assert_false(cel_regex_match(re, STR("a1")));
    cel_regex_free(re);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
