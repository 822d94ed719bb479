/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "cel/lexer.h"

static struct arena arena;

/* "KIND:text KIND:text"; errors as "!from-to" where they are found. */
static void lex(const char *text, struct strbuf *out)
{
    struct cel_issues issues = {0};
    struct cel_reporter report = {&issues, &arena, str_from(text)};
    struct cel_lexer l = {.text = str_from(text), .report = &report};
    for (;;) {
        struct cel_token t = cel_lexer_next(&l);
        if (t.kind == CEL_TOK_EOF)
            break;
        strbuf_adds(out, out->n ? " " : "");
        if (t.kind >= CEL_TOK_FLOAT)
            strbuf_addf(out, "%s:", cel_token_name(t.kind));
        strbuf_addf(out, "%.*s", (int)t.len, text + t.pos);
    }
    for (uint32_t i = 0; i < issues.n; i++)
        strbuf_addf(out, "%s!%u:%.*s", out->n ? " " : "", issues.v[i].pos,
                    STR_ARG(issues.v[i].msg));
}

#define BAD "Syntax error: token recognition error at: "

static void test_tokens(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {" \t\r\n\f", ""},
        {"a_1 _ B", "IDENTIFIER:a_1 IDENTIFIER:_ IDENTIFIER:B"},
        {"in true false null", "in true false null"},
        {"inn True", "IDENTIFIER:inn IDENTIFIER:True"},
        {"a.b", "IDENTIFIER:a . IDENTIFIER:b"},
        {"==!=<=>=<>&&||", "== != <= >= < > && ||"},
        {"[]{}(),-!?:+*/%", "[ ] { } ( ) , - ! ? : + * / %"},
        {"!=!", "!= !"},
        {"1 -1 1u 2U", "NUM_INT:1 - NUM_INT:1 NUM_UINT:1u NUM_UINT:2U"},
        {"0x1f 0xFFu 0x 0X1", "NUM_INT:0x1f NUM_UINT:0xFFu NUM_INT:0 IDENTIFIER:x "
                              "NUM_INT:0 IDENTIFIER:X1"},
        {"1.5 .5 1e3 1E-3 1.5e+3", "NUM_FLOAT:1.5 NUM_FLOAT:.5 NUM_FLOAT:1e3 "
                                   "NUM_FLOAT:1E-3 NUM_FLOAT:1.5e+3"},
        {"1. 1.e3 1e 1e+ 1.5u", "NUM_INT:1 . NUM_INT:1 . IDENTIFIER:e3 NUM_INT:1 "
                                "IDENTIFIER:e NUM_INT:1 IDENTIFIER:e + NUM_FLOAT:1.5 "
                                "IDENTIFIER:u"},
        {"a.5", "IDENTIFIER:a NUM_FLOAT:.5"},
        {"1 // 2\n3", "NUM_INT:1 NUM_INT:3"},
        {"//", ""},
        {"'a' \"b\"", "STRING:'a' STRING:\"b\""},
        {"''' a'' '''", "STRING:''' a'' '''"},
        {"''''''", "STRING:''''''"},
        {"''' ", "STRING:'' !2:" BAD "'' '"},
        {"'''''", "STRING:'' STRING:'' !4:" BAD "'''"},
        {"r'\\' R\"\\\"", "STRING:r'\\' STRING:R\"\\\""},
        {"b'a' B'a' br'\\' bR'\\'", "BYTES:b'a' BYTES:B'a' BYTES:br'\\' BYTES:bR'\\'"},
        {"rb'a'", "IDENTIFIER:rb STRING:'a'"},
        {"r 'a' b", "IDENTIFIER:r STRING:'a' IDENTIFIER:b"},
        {"b'a", "IDENTIFIER:b !1:" BAD "''a'"},
        {"'\\a\\'\\x41\\u0041\\U00000041\\101'",
         "STRING:'\\a\\'\\x41\\u0041\\U00000041\\101'"},
        {"'\\q' 1", "!0:" BAD "''\\q' !3:" BAD "'' 1'"},
        {"'\\x4'", "!0:" BAD "''\\x4''"},
        {"'\\400'", "NUM_INT:00 !0:" BAD "''\\4' !5:" BAD "'''"},
        {"'a\nb", "IDENTIFIER:b !0:" BAD "''a\n'"},
        {"`a b/c-d.e`", "ESC_IDENTIFIER:`a b/c-d.e`"},
        {"``", "!0:" BAD "'``'"},
        {"`a+`", "!0:" BAD "'`a+' !3:" BAD "'`'"},
        {"=a", "!0:" BAD "'=a'"},
        {"a & b", "IDENTIFIER:a IDENTIFIER:b !2:" BAD "'& '"},
        {"a |", "IDENTIFIER:a !2:" BAD "'|'"},
        {"@#$", "!0:" BAD "'@' !1:" BAD "'#' !2:" BAD "'$'"},
        {"a\xc3\xa9"
         "b",
         "IDENTIFIER:a IDENTIFIER:b !1:" BAD "'\xc3\xa9'"},
        {"'\xe6\x97\xa5'", "STRING:'\xe6\x97\xa5'"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf got = STRBUF_INIT;
        lex(rows[i].text, &got);
        assert_str(strbuf_str(&got), rows[i].want);
        strbuf_release(&got);
    }
}

/* After a hundred errors the text is over. */
static void test_many_errors(void **state)
{
    char text[151];
    memset(text, '@', 150);
    text[150] = 0;
    struct cel_issues issues = {0};
    struct cel_reporter report = {&issues, &arena, str_from(text)};
    struct cel_lexer l = {.text = str_from(text), .report = &report};
    assert_int_equal(cel_lexer_next(&l).kind, CEL_TOK_EOF);
    assert_true(l.give_up);
    assert_int_equal(l.at, 101);
    assert_int_equal(issues.n, 100);
    assert_int_equal(issues.total, 101);
}

static void test_unquote(void **state)
{
    static const struct {
        const char *token;
        bool bytes;
        const char *want, *error;
        size_t n;
    } rows[] = {
        {"'abc'", false, "abc", NULL, 3},
        {"\"\"", false, "", NULL, 0},
        {"''''''", false, "", NULL, 0},
        {"'''a'b'''", false, "a'b", NULL, 3},
        {"r'\\n'", false, "\\n", NULL, 2},
        {"R'''\\'''", false, "\\", NULL, 1},
        {"'\\a\\b\\f\\n\\r\\t\\v'", false, "\a\b\f\n\r\t\v", NULL, 7},
        {"'\\\\\\'\\\"\\`\\?'", false, "\\'\"`?", NULL, 5},
        {"'\\x41\\X42\\103'", false, "ABC", NULL, 3},
        {"'\\xe9'", false, "\xc3\xa9", NULL, 2},
        {"'\\xe9'", true, "\xe9", NULL, 1},
        {"'\\377'", false, "\xc3\xbf", NULL, 2},
        {"'\\377'", true, "\xff", NULL, 1},
        {"'\\u65e5'", false, "\xe6\x97\xa5", NULL, 3},
        {"'\\U0001F600'", false, "\xf0\x9f\x98\x80", NULL, 4},
        {"'\\u0000'", false, "\0", NULL, 1},
        {"'\xe6\x97\xa5'", true, "\xe6\x97\xa5", NULL, 3},
        {"'\\ud800'", false, NULL, "invalid unicode code point", 0},
        {"'\\U00110000'", false, NULL, "invalid unicode code point", 0},
        {"'\\u0041'", true, NULL, "unable to unescape string", 0},
        {"'\\U00000041'", true, NULL, "unable to unescape string", 0},
        {"'''a\r\nb\rc'''", false, "a\nb\nc", NULL, 5},
        {"r'''a\r\nb'''", false, "a\nb", NULL, 3},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str got;
        const char *error =
            cel_unquote(&arena, str_from(rows[i].token), rows[i].bytes, &got);
        if (rows[i].error) {
            assert_string_equal(error, rows[i].error);
            continue;
        }
        ROW(rows[i].token, error == NULL);
        ROW(rows[i].token, str_eq(got, (struct str){rows[i].want, rows[i].n}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_unquote),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
