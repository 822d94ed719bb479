/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_unit.h"

static struct cel_env *env;
static struct arena arena;

static void check_tree(const char *text, const char *want)
{
    struct cel_issues issues;
    struct strbuf got = STRBUF_INIT;
    const struct cel_expr *x = cel_parse(env, str_from(text), &arena, &issues);
    if (x)
        unit_tree(x->root, &got);
    else
        cel_issues_print(&issues, str_from(text), &got);
    assert_str(strbuf_str(&got), want);
    strbuf_release(&got);
}

struct tree_row {
    const char *text, *want;
};

static void check_trees(const struct tree_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_tree(rows[i].text, rows[i].want);
}

static void test_literals(void **state)
{
    static const struct tree_row rows[] = {
        {"1", "1"},
        {"-1", "-1"},
        {"- 1", "-1"},
        {"0x10", "16"},
        {"-0x8000000000000000", "-9223372036854775808"},
        {"9223372036854775807", "9223372036854775807"},
        {"000000000000000000000000000001", "1"},
        {"1u", "1u"},
        {"0xffffffffffffffffU", "18446744073709551615u"},
        {"1.5", "1.5000000000000000"},
        {"-.5e1", "-5.0000000000000000"},
        {"1e-400", "0.0000000000000000"},
        {"true", "true"},
        {"false", "false"},
        {"null", "null"},
        {"'a\\x41'", "\"aA\""},
        {"b'a'", "b\"a\""},
        {"br'\\'", "b\"\\\""},
        {"r'\\n'", "\"\\n\""},
        {"'''a\r\nb'''", "\"a\nb\""},
    };
    check_trees(rows, UNIT_COUNT(rows));
}

static void test_operators(void **state)
{
    static const struct tree_row rows[] = {
        {"a + b * c - d", "(_-_ (_+_ a (_*_ b c)) d)"},
        {"a % b / c", "(_/_ (_%_ a b) c)"},
        {"a - -1", "(_-_ a -1)"},
        {"a -1", "(_-_ a 1)"},
        {"a < b == c", "(_==_ (_<_ a b) c)"},
        {"a in b != c", "(_!=_ (@in a b) c)"},
        {"a <= b + c", "(_<=_ a (_+_ b c))"},
        {"a > b >= c", "(_>=_ (_>_ a b) c)"},
        {"!a", "(!_ a)"},
        {"!!a", "a"},
        {"!!!a", "(!_ a)"},
        {"-a", "(-_ a)"},
        {"--a", "a"},
        {"--1", "1"},
        {"---1", "(-_ 1)"},
        {"-(1)", "(-_ 1)"},
        {"-1u", "(-_ 1u)"},
        {"!-1", "(!_ -1)"},
        {"-1.a", "(select -1 a)"},
        {"-a.b", "(-_ (select a b))"},
        {"!a.b()", "(!_ (a .b))"},
        {"a ? b : c", "(_?_:_ a b c)"},
        {"a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))"},
        {"a || b ? c && d : e", "(_?_:_ (_||_ a b) (_&&_ c d) e)"},
        {"a && b || c && d", "(_||_ (_&&_ a b) (_&&_ c d))"},
        {"(a || b) && c", "(_&&_ (_||_ a b) c)"},
        {"a && b", "(_&&_ a b)"},
        {"a && b && c", "(_&&_ (_&&_ a b) c)"},
        {"a && b && c && d", "(_&&_ (_&&_ a b) (_&&_ c d))"},
        {"a || b || c || d || e", "(_||_ (_||_ (_||_ a b) c) (_||_ d e))"},
        {"((a))", "a"},
        {"a // b\n + c", "(_+_ a c)"},
    };
    check_trees(rows, UNIT_COUNT(rows));
}

static void test_members(void **state)
{
    static const struct tree_row rows[] = {
        {"a", "a"},
        {".a", ".a"},
        {". a . b", "(select .a b)"},
        {"a.b.c", "(select (select a b) c)"},
        {"a.in1.if", "(select (select a in1) if)"},
        {"a.`b.c/d-e f`", "(select a b.c/d-e f)"},
        {"a.?b", "(_?._ a \"b\")"},
        {"a.?`b-c`.d", "(select (_?._ a \"b-c\") d)"},
        {"a[0]", "(_[_] a 0)"},
        {"a[?0][1]", "(_[_] (_[?_] a 0) 1)"},
        {"a()", "(a)"},
        {".a(1)", "(.a 1)"},
        {"a.b(1, 2).c", "(select (a .b 1 2) c)"},
        {"'a'.b()", "(\"a\" .b)"},
        {"1.a", "(select 1 a)"},
        {"[]", "[]"},
        {"[,]", "[]"},
        {"[1, ?a, 2,]", "[1 ?a 2]"},
        {"{}", "{}"},
        {"{,}", "{}"},
        {"{'a': 1, ?b: c,}", "{\"a\": 1, ?b: c}"},
        {"{a: {1: [2]}}[b]", "(_[_] {a: {1: [2]}} b)"},
        {"a{}", "a{}"},
        {".a.b{c: 1, ?d: e, `f-g`: 2,}", ".a.b{c: 1, ?d: e, f-g: 2}"},
        {"a . b {c: d}.e", "(select a.b{c: d} e)"},
        {"if.in1{a: 1}", "if.in1{a: 1}"},
        {"a{b: c{d: e}}", "a{b: c{d: e}}"},
    };
    check_trees(rows, UNIT_COUNT(rows));
}

#define NSF "@not_strictly_false"

static void test_macros(void **state)
{
    static const struct tree_row rows[] = {
        {"has(a.b)", "(has a b)"},
        {"has(a.b.c)", "(has (select a b) c)"},
        {".has(a.b)", "(.has (select a b))"},
        {"a.has(a.b)", "(a .has (select a b))"},
        {"a.all(x, p)", "(fold a x @result true (" NSF " @result) (_&&_ @result p) "
                        "@result)"},
        {"a.exists(x, p)", "(fold a x @result false (" NSF " (!_ @result)) (_||_ @result "
                           "p) @result)"},
        {"a.exists_one(x, p)", "(fold a x @result 0 true (_?_:_ p (_+_ @result 1) "
                               "@result) (_==_ @result 1))"},
        {"a.map(x, t)", "(fold a x @result [] true (_+_ @result [t]) @result)"},
        {"a.map(x, p, t)", "(fold a x @result [] true (_?_:_ p (_+_ @result [t]) "
                           "@result) @result)"},
        {"a.filter(x, p)", "(fold a x @result [] true (_?_:_ p (_+_ @result [x]) "
                           "@result) @result)"},
        {"all(x, p)", "(all x p)"},
        {"a.all(x)", "(a .all x)"},
        {"a.existsOne(x, p)", "(a .existsOne x p)"},
        {"a.all(i, x, p)", "(fold a i,x @result true (" NSF " @result) (_&&_ @result p) "
                           "@result)"},
        {"a.existsOne(i, x, p)", "(fold a i,x @result 0 true (_?_:_ p (_+_ @result 1) "
                                 "@result) (_==_ @result 1))"},
        {"a.transformList(i, x, t)", "(fold a i,x @result [] true (_+_ @result [t]) "
                                     "@result)"},
        {"a.transformMap(k, x, p, t)", "(fold a k,x @result {} true (_?_:_ p "
                                       "(cel.@mapInsert @result k t) @result) @result)"},
        {"a.transformMapEntry(k, x, t)", "(fold a k,x @result {} true (cel.@mapInsert "
                                         "@result t) @result)"},
        {"cel.bind(x, a, b)", "(fold [] #unused x a false x b)"},
        {".cel.bind(x, a, b)", "(.cel .bind x a b)"},
        {"a.bind(x, a, b)", "(a .bind x a b)"},
        {"a.optMap(x, t)", "(_?_:_ (a .hasValue) (optional.of (fold [] #unused x (a "
                           ".value) false x t)) (optional.none))"},
        {"a.optFlatMap(x, t)", "(_?_:_ (a .hasValue) (fold [] #unused x (a .value) false "
                               "x t) (optional.none))"},
        {"a.sortBy(x, k)", "(fold [] #unused @__sortBy_input__ a false @__sortBy_input__ "
                           "(@__sortBy_input__ .@sortByAssociatedKeys (fold "
                           "@__sortBy_input__ x @result [] true (_+_ @result [k]) "
                           "@result)))"},
    };
    check_trees(rows, UNIT_COUNT(rows));
}

/* Calls as written are kept for what they became. */
static void test_macro_calls(void **state)
{
    struct cel_issues issues;
    const struct cel_expr *x =
        cel_parse(env, STR("a.all(x, has(x.b)) && f(1)"), &arena, &issues);
    assert_non_null(x);
    assert_int_equal(x->nmacros, 2);
    const struct cel_ast *fold = x->root->call.args[0];
    assert_int_equal(x->macros[1].id, fold->id);
    assert_str(x->macros[1].call->call.function, "all");
    assert_int_equal(x->macros[1].call->call.nargs, 2);
    assert_int_equal(x->macros[0].id, x->macros[1].call->call.args[1]->id);
    assert_str(x->macros[0].call->call.function, "has");
}

static void walk_ids(const struct cel_ast *n, uint8_t *seen, uint32_t nids)
{
    assert_in_range(n->id, 1, nids);
    seen[n->id]++;
    if (n->kind == CEL_AST_CALL) {
        if (n->call.target)
            walk_ids(n->call.target, seen, nids);
        for (uint32_t i = 0; i < n->call.nargs; i++)
            walk_ids(n->call.args[i], seen, nids);
    } else if (n->kind == CEL_AST_SELECT) {
        walk_ids(n->select.operand, seen, nids);
    } else if (n->kind == CEL_AST_COMPREHENSION) {
        walk_ids(n->fold.range, seen, nids);
        walk_ids(n->fold.init, seen, nids);
        walk_ids(n->fold.condition, seen, nids);
        walk_ids(n->fold.step, seen, nids);
        walk_ids(n->fold.result, seen, nids);
    }
}

/* A macro that uses its receiver twice copies it, ids and all. */
static void test_ids(void **state)
{
    struct cel_issues issues;
    const struct cel_expr *x =
        cel_parse(env, STR("a.b.f(c).optMap(x, x + 1).optMap(y, y)"), &arena, &issues);
    assert_non_null(x);
    uint8_t *seen = ARENA_ARRAY(&arena, uint8_t, x->nids + 1);
    walk_ids(x->root, seen, x->nids);
    for (uint32_t id = 1; id <= x->nids; id++)
        assert_in_range(seen[id], 0, 1);
}

static void test_positions(void **state)
{
    static const struct {
        const char *text;
        uint32_t pos; /* of the root */
    } rows[] = {
        {"a", 0},           {" a", 1},        {".a", 1},        {"a + b", 2},
        {"!a", 0},          {"!!!a", 0},      {"a.b", 1},       {"a.?b", 1},
        {"a[0]", 1},        {"f(x)", 1},      {"a.f(x)", 3},    {"[1]", 0},
        {"{1: 2}", 0},      {"a.b{c: 1}", 3}, {"a ? b : c", 2}, {"a.all(x, y)", 5},
        {"a && b || c", 7}, {"-1", 0},        {"(a)", 1},       {"a && b && c", 7},
        {"has(a.b)", 3},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct cel_issues issues;
        const struct cel_expr *x =
            cel_parse(env, str_from(rows[i].text), &arena, &issues);
        ROW(rows[i].text, x && x->root->pos == rows[i].pos);
    }
}

/* "LINE:COLUMN: message; ..." */
static void parse_errors(const struct cel_env *in, struct str text, struct strbuf *out)
{
    struct cel_issues issues;
    if (cel_parse(in, text, &arena, &issues))
        strbuf_adds(out, "none");
    for (uint32_t i = 0; i < issues.n; i++)
        strbuf_addf(out, "%s%d:%d: %.*s", i ? "; " : "", issues.v[i].line,
                    issues.v[i].column, STR_ARG(issues.v[i].msg));
}

static void check_errors(const struct cel_env *in, const char *text, const char *want)
{
    struct strbuf got = STRBUF_INIT;
    parse_errors(in, str_from(text), &got);
    assert_str(strbuf_str(&got), want);
    strbuf_release(&got);
}

static void test_meaning_errors(void **state)
{
    static const struct tree_row rows[] = {
        {"if", "1:1: reserved identifier: if"},
        {".if", "1:1: reserved identifier: if"},
        {"if(1)", "1:1: reserved identifier: if"},
        {"[as, break, const]", "1:2: reserved identifier: as; 1:6: reserved identifier: "
                               "break; 1:13: reserved identifier: const"},
        {"has(x)", "1:5: invalid argument to has() macro"},
        {"has(1)", "1:5: invalid argument to has() macro"},
        {"[1].all(1, true)", "1:9: argument must be a simple name"},
        {"[1].exists(a.b, true)", "1:13: argument must be a simple name"},
        {"[1].exists_one(\"x\", true)", "1:16: argument must be a simple name"},
        {"[1].map(1, 1)", "1:9: argument is not an identifier"},
        {"[1].filter(1, true)", "1:12: argument is not an identifier"},
        {"[1].all(__result__, true)",
         "1:9: iteration variable overwrites accumulator variable"},
        {"[1].map(__result__, 1)",
         "1:9: iteration variable overwrites accumulator variable"},
        {"[1].filter(__result__, true)",
         "1:12: iteration variable overwrites accumulator variable"},
        {"[1].all(x, 1, true)", "1:12: argument must be a simple name"},
        {"[1].exists(1, x, true)", "1:12: argument must be a simple name"},
        {"[1].all(x, x, true)", "1:12: duplicate variable name: x"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check_errors(env, rows[i].text, rows[i].want);
}

/* Where a text stops making sense. */
static void test_syntax_errors(void **state)
{
    static const struct {
        const char *text, *at, *what; /* what: how the message goes on */
    } rows[] = {
        {"", "1:0",
         "mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', "
         "'!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
         "STRING, BYTES, IDENTIFIER}"},
        {"   ", "1:4", "mismatched input '<EOF>'"},
        {"\n", "2:1", "mismatched input '<EOF>'"},
        {"// x", "1:5", "mismatched input '<EOF>'"},
        {"1 +", "1:4", "mismatched input '<EOF>'"},
        {"1)", "1:2", "extraneous input ')' expecting <EOF>"},
        {"true and false", "1:6", "mismatched input 'and' expecting <EOF>"},
        {"'a' 'b'", "1:5", "extraneous input ''b'' expecting <EOF>"},
        {"[1, 2", "1:6", "mismatched input '<EOF>' expecting {']', ','}"},
        {"{'a': }", "1:7", "mismatched input '}'"},
        {"{'a'}", "1:5", "mismatched input '}' expecting ':'"},
        {"{1: 2,,}", "1:7", "extraneous input ',' expecting '}'"},
        {"[1,,2]", "1:4", "mismatched input ',' expecting ']'"},
        {"f(1,)", "1:5", "mismatched input ')'"},
        {"f(1 2)", "1:5", ""},
        {"f(", "1:3", "mismatched input '<EOF>'"},
        {"(1", "1:3", "missing ')' at '<EOF>'"},
        {"((1)", "1:5", "missing ')' at '<EOF>'"},
        {"((1", "1:4", "mismatched input '<EOF>' expecting ')'"},
        {"a[f(1", "1:6", "mismatched input '<EOF>' expecting ')'"},
        {"a[1", "1:4", "missing ']' at '<EOF>'"},
        {"a[]", "1:3", "mismatched input ']'"},
        {"a.b.", "1:5", "no viable alternative at input '.'"},
        {"1..2", "1:3", "no viable alternative at input '..2'"},
        {"a.1", "1:2", ""},
        {"a.?1", "1:4", "mismatched input '1' expecting {IDENTIFIER, ESC_IDENTIFIER}"},
        {"true.false", "1:6", "mismatched input 'false' expecting IDENTIFIER"},
        {"`a`", "1:1", ""},
        {"a.`b`()", "1:6", ""},
        {"true ? 1", "1:9", "mismatched input '<EOF>' expecting ':'"},
        {"true?true?1:2:3", "1:10", "mismatched input '?' expecting ':'"},
        {"-!a", "1:2", "no viable alternative at input '-!'"},
        {"--", "1:3", "no viable alternative at input '-'"},
        {"!", "1:2", "extraneous input '<EOF>' expecting {'[', '{', '(', '.', '-', '!'"},
        {"..a", "1:2", "no viable alternative at input '..'"},
        {"!--1", "1:3", "no viable alternative at input '--'"},
        {"1 2", "1:3", "extraneous input '2' expecting <EOF>"},
        {"1 = 1", "1:3", "token recognition error at: '= '"},
        {"1; 2", "1:2", "token recognition error at: ';'"},
        {"$x", "1:1", "token recognition error at: '$'"},
        {"'abc", "1:1", "token recognition error at: ''abc'"},
        {"(a).b{c: 1}", "1:6", ""},
        {"a.?b{c: 1}", "1:5", ""},
        {"a{1: 2}", "1:3", ""},
        {"a{b}", "1:4", "mismatched input '}' expecting ':'"},
        {"\xe6\x97\xa5 + 1", "1:1", "token recognition error at: '\xe6\x97\xa5'"},
        {"'\xe6\x97\xa5' 1 2", "1:5", "mismatched input '1' expecting <EOF>"},
        {"1\n +\n", "3:1", "mismatched input '<EOF>'"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct strbuf got = STRBUF_INIT, want = STRBUF_INIT;
        parse_errors(env, str_from(rows[i].text), &got);
        strbuf_addf(&want, "%s: Syntax error: %s", rows[i].at, rows[i].what);
        if (!str_starts(strbuf_str(&got), strbuf_str(&want)))
            assert_string_equal(strbuf_cstr(&got), strbuf_cstr(&want));
        strbuf_release(&got);
        strbuf_release(&want);
    }
}

static void repeat(struct strbuf *b, const char *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        strbuf_adds(b, s);
}

static void test_limits(void **state)
{
    static const char nested[] = "-1:0: expression recursion limit exceeded: 250";
    static const char deep[] = "-1:0: max recursion depth exceeded";
    static const struct {
        const char *before, *middle, *after;
        unsigned max; /* repetitions of before and after that are still fine */
        const char *error;
    } rows[] = {
        {"(", "1", ")", 249, nested},
        {"[", "", "]", 250, nested},
        {"{1:", "1", "}", 249, nested},
        {"f(", "1", ")", 249, nested},
        {"-(", "1", ")", 249, nested},
        {"x[", "0", "]", 249, nested},
        {"1 ? 1 : ", "1", "", 249, nested},
        {"1+(", "1", ")", 124, nested},
        {"1==(", "1", ")", 124, nested},
        {"1+1*(", "1", ")", 83, nested},
        {"[1].map(x, ", "x", ")", 249, nested},
        {"", "1", "+1", 250, deep},
        {"", "1", "==1", 250, deep},
        {"", "x", ".x", 250, deep},
        {"", "x", "[0]", 250, deep},
        {"", "x", ".f()", 250, deep},
        {"", "x", ".all(y, z)", 250, deep},
        {"!", "x", "", 5000, NULL},
        {"", "x", " && x", 5000, NULL},
        {"", "x", " || x", 5000, NULL},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        for (unsigned more = 0; more <= (rows[i].error ? 1u : 0u); more++) {
            struct strbuf text = STRBUF_INIT, got = STRBUF_INIT;
            repeat(&text, rows[i].before, rows[i].max + more);
            strbuf_adds(&text, rows[i].middle);
            repeat(&text, rows[i].after, rows[i].max + more);
            parse_errors(env, strbuf_str(&text), &got);
            assert_str(strbuf_str(&got), more ? rows[i].error : "none");
            strbuf_release(&text);
            strbuf_release(&got);
        }
    }
}

/* Every optMap copies all before it: the text is short, the tree is not. */
static void test_copies(void **state)
{
    struct strbuf text = STRBUF_INIT, got = STRBUF_INIT;
    strbuf_adds(&text, "x");
    repeat(&text, ".optMap(y, y)", 40);
    parse_errors(env, strbuf_str(&text), &got);
    assert_str(strbuf_str(&got), "-1:0: expression size limit exceeded: 1048576");
    strbuf_release(&text);
    strbuf_release(&got);
}

static void test_long_text(void **state)
{
    char *text = ARENA_ARRAY(&arena, char, 100002);
    memset(text, 'a', 100001);
    check_errors(env, text,
                 "-1:0: expression code point size exceeds limit: size: 100001, limit "
                 "100000");
    text[100000] = 0;
    check_errors(env, text, "none");
    /* Code points count, not bytes; what is no UTF-8 counts byte by byte. */
    struct cel_env_opts opts = unit_opts();
    opts.max_text = 3;
    struct cel_env *small = cel_env_new(&opts);
    check_errors(small, "'\xe6\x97\xa5'", "none");
    check_errors(small, "'\xe6\x97\xa5x'",
                 "-1:0: expression code point size exceeds limit: size: 4, limit 3");
    check_errors(small, "'\xff'", "none");
    check_errors(small, "'\xe6\x97'",
                 "-1:0: expression code point size exceeds limit: size: 4, limit 3");
    cel_env_free(small);
}

/* Bytes that are no UTF-8 are read as U+FFFD. */
static void test_bad_utf8(void **state)
{
    check_tree("'a\xff"
               "b'",
               "\"a\xef\xbf\xbd"
               "b\"");
    check_tree("b'\xe6\x97'", "b\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_dialect(void **state)
{
    struct cel_env_opts opts = unit_opts();
    opts.flags = 0;
    opts.nlibs = 0;
    opts.max_depth = 10;
    struct cel_env *bare = cel_env_new(&opts);
    check_errors(bare, "a.?b", "1:2: unsupported syntax '.?'");
    check_errors(bare, "a[?b]", "1:2: unsupported syntax '[?'");
    check_errors(bare, "[?a]", "1:2: unsupported syntax '?'");
    check_errors(bare, "{?a: b}", "1:2: unsupported syntax '?'");
    check_errors(bare, "a{?a: b}", "1:3: unsupported syntax '?'");
    check_errors(bare, "a.`b`", "1:3: unsupported syntax: '`'");
    check_errors(bare, "((((((((((a))))))))))",
                 "-1:0: expression recursion limit exceeded: 10");
    check_errors(bare, "a.all(x, y)", "none");
    cel_env_free(bare);
}

static void test_error_layout(void **state)
{
    static const struct tree_row rows[] = {
        {"if", "ERROR: <input>:1:1: reserved identifier: if\n | if\n | ^"},
        {"1 +\n\tif", "ERROR: <input>:2:2: reserved identifier: if\n |  if\n | .^"},
        {"'\xe6\x97\xa5' + if", "ERROR: <input>:1:7: reserved identifier: if\n | "
                                "'\xe6\x97\xa5' + if\n | .\uff0e....^"},
        {"[if, as]", "ERROR: <input>:1:2: reserved identifier: if\n | [if, as]\n | .^\n"
                     "ERROR: <input>:1:6: reserved identifier: as\n | [if, as]\n | "
                     ".....^"},
    };
    check_trees(rows, UNIT_COUNT(rows));
}

/* 100 are shown; a long line is not. */
static void test_many_errors(void **state)
{
    struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;
    struct cel_issues issues;
    strbuf_adds(&text, "[if");
    repeat(&text, ", if", 149);
    strbuf_addc(&text, ']');
    assert_null(cel_parse(env, strbuf_str(&text), &arena, &issues));
    assert_int_equal(issues.n, 100);
    assert_int_equal(issues.total, 150);
    cel_issues_print(&issues, strbuf_str(&text), &out);
    assert_true(str_ends(strbuf_str(&out), STR("\n50 more errors were truncated")));
    strbuf_clear(&text);
    strbuf_clear(&out);
    strbuf_adds(&text, "if +");
    repeat(&text, "          ", 1700);
    strbuf_adds(&text, "x");
    assert_null(cel_parse(env, strbuf_str(&text), &arena, &issues));
    cel_issues_print(&issues, strbuf_str(&text), &out);
    assert_str(strbuf_str(&out), "ERROR: <input>:1:1: reserved identifier: if");
    strbuf_release(&text);
    strbuf_release(&out);
}

static int set_up(void **state)
{
    struct cel_env_opts opts = unit_opts();
    env = cel_env_new(&opts);
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    cel_env_free(env);
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals),      cmocka_unit_test(test_operators),
        cmocka_unit_test(test_members),       cmocka_unit_test(test_macros),
        cmocka_unit_test(test_macro_calls),   cmocka_unit_test(test_ids),
        cmocka_unit_test(test_positions),     cmocka_unit_test(test_meaning_errors),
        cmocka_unit_test(test_syntax_errors), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_bad_utf8),      cmocka_unit_test(test_dialect),
        cmocka_unit_test(test_error_layout),  cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
