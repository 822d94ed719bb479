/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

struct row {
    const char *in;
    const char *out; /* compact JSON, documents with a space between; or the error */
};

static void check_with(struct str in, const char *want, text_reader *read)
{
    struct text t;
    text_docs(&t, in, read);
    const char *got = text_result(&t);
    if (strcmp(got, want) != 0)
        fail_msg("%.*s\n   got  %s\n   want %s", STR_ARG(in), got, want);
    text_fini(&t);
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_with(str_from(rows[i].in), rows[i].out, doc_read_yaml);
}

#define CHECK_ROWS(rows) check_rows(rows, UNIT_COUNT(rows))

static void test_plain(void **state)
{
    static const struct row rows[] = {
        {"[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]",
         "[true,true,true,true,true,true,true,true,true,true,true]"},
        {"[n, N, no, No, NO, off, Off, OFF, false, False, FALSE]",
         "[false,false,false,false,false,false,false,false,false,false,false]"},
        {"[yEs, tRUE, oN, nULL, 'y', \"on\"]",
         "[\"yEs\",\"tRUE\",\"oN\",\"nULL\",\"y\",\"on\"]"},
        {"a:\nb: ~\nc: null\nd: Null\ne: NULL\nf: ''\n",
         "{\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null,\"f\":\"\"}"},
        {"[0x1F, 0X1f, 0b11, 0o17, 017, 08, 0, 00, -0, +1, -0x10, -010]",
         "[31,31,3,15,15,8,0,0,0,1,-16,-8]"},
        {"[1_000, 0x_f, 1__0, 0_, 1_0.5, -1_0]", "[1000,15,10,0,10.5,-10]"},
        {"[0b, 0x, 0o, 0xg, 0b2, _1, '1', 1a, +, -a, 0o8, 0b-11, 0b+1, 0b--1]",
         "[\"0b\",\"0x\",\"0o\",\"0xg\",\"0b2\",\"_1\",\"1\",\"1a\",\"+\",\"-a\","
         "\"0o8\",-3,1,\"0b--1\"]"},
        {"[9223372036854775807, 9223372036854775808, 18446744073709551615]",
         "[9223372036854775807,9223372036854775808,18446744073709551615]"},
        {"[18446744073709551616, -9223372036854775808, -9223372036854775809, "
         "+9223372036854775808]",
         "[18446744073709552000,-9223372036854775808,-9223372036854776000,"
         "9223372036854776000]"},
        {"[1.5, .5, 5., -.5e2, 1e3, 1E-7, 1e21, 1e20, 1.0, 100.25e1, -0.0]",
         "[1.5,0.5,5,-50,1000,1e-7,1e+21,100000000000000000000,1,1002.5,-0]"},
        {"[1e400, 1e-400, 1e, ., .e1, 1.2.3, 1:30, 0x1p4, Infinity, nan, inf]",
         "[\"1e400\",0,\"1e\",\".\",\".e1\",\"1.2.3\",\"1:30\",\"0x1p4\",\"Infinity\","
         "\"nan\",\"inf\"]"},
        {"[2001-01-01, 2001-01-01T00:00:00Z, 2001-1-1 1:1:1]",
         "[\"2001-01-01\",\"2001-01-01T00:00:00Z\",\"2001-1-1 1:1:1\"]"},
        {"a: .inf", "f:1:4: JSON has no number for .inf"},
        {"a: -.INF", "f:1:4: JSON has no number for -.INF"},
        {"a: .NaN", "f:1:4: JSON has no number for .NaN"},
        {"a: b: c", "f:1:5: mapping values are not allowed in this context"},
        {"[a?b]", "f:1:2: a text with ? needs quotes inside [] and {}"},
    };
    CHECK_ROWS(rows);
}

static void test_tags(void **state)
{
    static const struct row rows[] = {
        {"[!!str 1, !!str yes, !!str , !!str ~]", "[\"1\",\"yes\",\"\",\"~\"]"},
        {"[!!int \"5\", !!int 0x10, !!bool yes, !!null ~, !!null '']",
         "[5,16,true,null,null]"},
        {"[!!float 5, !!float 1.5, !!float '2']", "[5,1.5,2]"},
        {"[! 12, ! '12', !foo 12, !!set x]", "[\"12\",\"12\",\"12\",\"x\"]"},
        {"a: !!map {b: !!seq [c]}", "{\"a\":{\"b\":[\"c\"]}}"},
        {"[!!binary aGVsbG8=, !!binary \"aGVs\\nbG8=\", !!binary '']",
         "[\"hello\",\"hello\",\"\"]"},
        {"a: !!binary /w==", "{\"a\":\"\xef\xbf\xbd\"}"},
        {"a: !!binary aGVsbG8", "f:1:4: the !!binary value is no base64"},
        {"a: !!binary aGV=bG8=", "f:1:4: the !!binary value is no base64"},
        {"a: !!binary ====", "f:1:4: the !!binary value is no base64"},
        {"a: !!timestamp 2001-01-01", "{\"a\":\"2001-01-01\"}"},
        {"a: !!timestamp 2001-02-30", "f:1:4: '2001-02-30' is no timestamp, as its tag "
                                      "says"},
        {"a: !!int x", "f:1:4: 'x' is no int, as its tag says"},
        {"a: !!int 1.5", "f:1:4: '1.5' is no int, as its tag says"},
        {"a: !!float x", "f:1:4: 'x' is no float, as its tag says"},
        {"a: !!float 18446744073709551615",
         "f:1:4: '18446744073709551615' is no float, as its tag says"},
        {"a: !!bool 1", "f:1:4: '1' is no bool, as its tag says"},
        {"a: !!null x", "f:1:4: 'x' is no null, as its tag says"},
    };
    CHECK_ROWS(rows);
}

static void test_keys(void **state)
{
    static const struct row rows[] = {
        {"{1: a, 0x10: b, true: c, No: d, 2001-01-01: e}",
         "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"false\":\"d\",\"2001-01-01\":"
         "\"e\"}"},
        {"{1.5: a, 1e6: b, 123456.0: c, 1e7: d, 0.1: e, 16777217.0: f, 0.00001: g}",
         "{\"1.5\":\"a\",\"1e+06\":\"b\",\"123456\":\"c\",\"1e+07\":\"d\",\"0.1\":\"e\","
         "\"1.6777216e+07\":\"f\",\"1e-05\":\"g\"}"},
        {".inf: a\n-.inf: b\n.nan: c", "{\".inf\":\"a\",\"-.inf\":\"b\",\".nan\":\"c\"}"},
        {"9223372036854775807: a", "{\"9223372036854775807\":\"a\"}"},
        {"9223372036854775808: a", "f:1:1: a key this large needs quotes"},
        {"~: a", "f:1:1: a key must not be null"},
        {"? \n: a", "f:1:2: a key must not be null"},
        {"? [a]\n: b", "f:1:3: a key must not be a list or a map"},
        {"{a: &k [x], *k : b}", "f:1:13: a key must not be a list or a map"},
        {"{a: &k x, *k : b, c: &l 5, *l : d}",
         "{\"a\":\"x\",\"x\":\"b\",\"c\":5,\"5\":\"d\"}"},
        {"? a\n: b\n? |\n  c\n: d", "{\"a\":\"b\",\"c\\n\":\"d\"}"},
        {"&k a: *k", "{\"a\":\"a\"}"},
        {"\"\": a", "{\"\":\"a\"}"},
        {"!!binary aGk=: x", "{\"hi\":\"x\"}"},
    };
    CHECK_ROWS(rows);
}

static void test_scalars(void **state)
{
    static const struct row rows[] = {
        {"a: |\n  one\n   two\n\n  three\nb: |-\n  x\nc: |+\n  y\n\nd: 1",
         "{\"a\":\"one\\n two\\n\\nthree\\n\",\"b\":\"x\",\"c\":\"y\\n\\n\",\"d\":1}"},
        {"a: |2\n   x\n", "{\"a\":\" x\\n\"}"},
        {"a: >\n  b\n  c\n\n  d\n", "{\"a\":\"b c\\nd\\n\"}"},
        {"a: 'it''s\n\n  two'", "{\"a\":\"it's\\ntwo\"}"},
        {"\"\\x41\\u00e9\\U0001F600\\n\\0\\e\\N\\_\\L\\P\\\n  x\"",
         "\"A\xc3\xa9\xf0\x9f\x98\x80\\n\\u0000\\u001b\xc2\x85\xc2\xa0\\u2028\\u2029x\""},
        {"a: b\n  c\n  d", "{\"a\":\"b c d\"}"},
        /* kubectl puts a line feed behind the last line. */
        {"a: |\n  x", "{\"a\":\"x\\n\"}"},
        {"a: |\r\n  x\r\n  y\r\n", "{\"a\":\"x\\ny\\n\"}"},
        {"a: \"b\\qc\"", "f:1:6: found unknown escape character while parsing a quoted "
                         "scalar that starts in line 1"},
        {"a: \"\\ud800\"",
         "f:1:7: found invalid Unicode character escape code while parsing a quoted "
         "scalar that starts in line 1"},
        {"a: 'b", "f:1:6: found unexpected end of stream while scanning a quoted scalar "
                  "that starts in line 1"},
    };
    CHECK_ROWS(rows);
}

#define ENDED                                                                            \
    "the document ends before this: is it indented like the rest, or is a line --- "     \
    "missing?"

static void test_documents(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"\n# c\n", ""},
        {"---\n", ""},
        {"---\n---\n---\n", ""},
        {"null\n---\n~\n", ""},
        {"a: 1\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"},
        {"---\na: 1\n--- # c\nb: 2\n---\n# d\n---", "{\"a\":1} {\"b\":2}"},
        {"a: 1\r\n---\r\nb: 2\r\n", "{\"a\":1} {\"b\":2}"},
        {"a: 1\n...\n", "{\"a\":1}"},
        {"a: 1\n...\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"},
        {"\xef\xbb\xbf"
         "a: 1\n---\n\xef\xbb\xbf"
         "b: 2\n",
         "{\"a\":1} {\"b\":2}"},
        {"a: |\n  ---\n  b\n", "{\"a\":\"---\\nb\\n\"}"},
        {"x\n---\n- 1\n", "\"x\" [1]"},
        {"a: 1\n--- b\n", "f:2:5: only a comment may follow --- on its line"},
        {"a: 1\n----\n", "f:2:4: only a comment may follow --- on its line"},
        {"%YAML 1.1\n---\na: 1\n", "f:1:1: kubectl reads no directives (lines that start "
                                   "with %)"},
        {"a: 1\n...\nb: 2\n", "f:3:1: " ENDED},
        {"  a: 1\nb: 2\n", "f:2:1: " ENDED},
        {"{a: 1} b", "f:1:8: " ENDED},
    };
    CHECK_ROWS(rows);
}

static void test_aliases(void **state)
{
    static const struct row rows[] = {
        {"a: &x {k: [1]}\nb: *x\nc: [*x, *x]",
         "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":[{\"k\":[1]},{\"k\":[1]}]}"},
        {"[&a 1, *a, &a 2, *a]", "[1,1,2,2]"},
        {"&a [&a x, *a]", "[\"x\",\"x\"]"},
        {"[&a x, &b [*a, *a], *b]", "[\"x\",[\"x\",\"x\"],[\"x\",\"x\"]]"},
        {"a: *x", "f:1:4: no anchor is called 'x' up to here"},
        {"a: *x\nb: &x 1", "f:1:4: no anchor is called 'x' up to here"},
        {"a: &x 1\n---\nb: *x", "f:3:4: no anchor is called 'x' up to here"},
        {"a: &x [*x]", "f:1:8: the value of anchor 'x' contains itself"},
        {"&x a: &y {b: *y}", "f:1:14: the value of anchor 'y' contains itself"},
    };
    CHECK_ROWS(rows);
}

static void test_merges(void **state)
{
    static const struct row rows[] = {
        {"{<<: {a: 1, b: 2}, b: 3}", "{\"a\":1,\"b\":3}"},
        /* What comes later wins, be it the merge. */
        {"{b: 3, <<: {a: 1, b: 2}}", "{\"a\":1,\"b\":2}"},
        {"{<<: [{a: 1}, {a: 2, b: 2}], c: 3}", "{\"b\":2,\"a\":1,\"c\":3}"},
        {"x: &x {a: 1}\nz: {<<: *x, b: 2}", "{\"x\":{\"a\":1},\"z\":{\"a\":1,\"b\":2}}"},
        {"x: &x {a: 1}\nz: {<<: [*x, {a: 2}]}", "{\"x\":{\"a\":1},\"z\":{\"a\":1}}"},
        {"{<<: {<<: {a: 1}, b: 2}}", "{\"a\":1,\"b\":2}"},
        {"{<<: {}}", "{}"},
        {"{'<<': {a: 1}}", "{\"<<\":{\"a\":1}}"},
        {"{!!merge '<<': {a: 1}}", "{\"a\":1}"},
        {"[<<]", "[\"<<\"]"},
        {"{<<: 1}", "f:1:6: << needs a map or a list of maps"},
        {"{<<: [1]}", "f:1:7: << needs a map or a list of maps"},
        {"x: &x [1]\nz: {<<: *x}", "f:2:9: << needs a map or a list of maps"},
        {"x: &x [{a: 1}]\nz: {<<: *x}", "f:2:9: << needs a map or a list of maps"},
    };
    CHECK_ROWS(rows);
}

static void test_errors(void **state)
{
    static const struct row rows[] = {
        {"a:\n\tb: 1", "f:2:1: found character that cannot start any token: a tab cannot "
                       "indent; use spaces"},
        {"a: [1, 2", "f:1:9: did not find expected ',' or ']' while parsing a flow "
                     "sequence that starts in line 1"},
        {"a: 1\n b: 2", "f:2:3: mapping values are not allowed in this context"},
        {"a:\n- b\nc", "f:3:2: could not find expected ':' while scanning a simple key "
                       "that starts in line 3"},
        {"a: @x", "f:1:4: found character that cannot start any token while scanning for "
                  "the next token that starts in line 1"},
        {"a: \xff", "f:1:4: invalid leading UTF-8 octet (0xFF)"},
        {"b: 1\n---\na: \xc3(", "f:3:5: invalid trailing UTF-8 octet (0x28)"},
        {"a: \x01", "f:1:4: control characters are not allowed (0x01)"},
    };
    CHECK_ROWS(rows);
    check_with(STR("a: \0"), "f:1:4: control characters are not allowed (0x00)",
               doc_read_yaml);
    /* Columns count characters. */
    check_with(STR("\xc3\xa9\xf0\x9f\x98\x80: [\xc3\xa9, *x]"),
               "f:1:9: no anchor is called 'x' up to here", doc_read_yaml);
}

static void test_dups(void **state)
{
    static const struct row rows[] = {
        {"a: 1\nb: 2\n", ""},
        {"a: 1\na: 2\n", "a@5"},
        {"a:\n- b: 1\n- c: 1\n  c: 2\n", "a[1].c@19"},
        {"1: a\n\"1\": b\n", "1@5"},
        {"{<<: {a: 1}, a: 2}", ""},
        {"{<<: {a: 1}, a: 2, a: 3}", "a@19"},
        {"{<<: {a: 1, a: 2}}", "a@12"},
        {"a: {b: 1, b: 2}\n---\na: {b: 1, b: 2}\n", "a.b@10 a.b@30"},
    };
    struct strbuf got = STRBUF_INIT;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_docs(&t, str_from(rows[i].in), doc_read_yaml);
        ROW(rows[i].in, t.ok);
        text_dups(&t, &got);
        assert_str(strbuf_str(&got), rows[i].out);
        text_fini(&t);
    }
    strbuf_release(&got);
}

static void check_depth(const char *open, const char *close, size_t n, bool ok)
{
    struct strbuf b = STRBUF_INIT;
    struct text t;
    for (size_t i = 0; i < n; i++)
        strbuf_adds(&b, open);
    strbuf_adds(&b, "1");
    for (size_t i = 0; i < n; i++)
        strbuf_adds(&b, close);
    text_docs(&t, strbuf_str(&b), doc_read_yaml);
    assert_int_equal(t.ok, ok);
    text_fini(&t);
    strbuf_release(&b);
}

static void test_depth(void **state)
{
    check_depth("[", "]", DOC_MAX_DEPTH, true);
    check_depth("[", "]", DOC_MAX_DEPTH + 1, false);
    check_depth("[", "]", 5000, false);
    check_depth("{a: ", "}", DOC_MAX_DEPTH, true);
    check_depth("{a: ", "}", DOC_MAX_DEPTH + 1, false);
    check_depth("- ", "", DOC_MAX_DEPTH, true);
    check_depth("- ", "", DOC_MAX_DEPTH + 1, false);
    check_depth("? ", "", 5000, false);
}

/* Each alias adds a level to the one before it. */
static void test_depth_by_aliases(void **state)
{
    for (int levels = 180; levels <= 220; levels += 10) {
        struct strbuf b = STRBUF_INIT;
        struct text t;
        strbuf_adds(&b, "- &a0 x\n");
        for (int i = 1; i <= levels; i++)
            strbuf_addf(&b, "- &a%d [*a%d]\n", i, i - 1);
        text_docs(&t, strbuf_str(&b), doc_read_yaml);
        assert_int_equal(t.ok, levels < DOC_MAX_DEPTH);
        text_fini(&t);
        strbuf_release(&b);
    }
}

static void test_laughs(void **state)
{
    struct strbuf b = STRBUF_INIT;
    struct text t;
    strbuf_adds(&b, "a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (int c = 'b'; c < 'k'; c++) {
        strbuf_addf(&b, "%c: &%c [", c, c);
        for (int i = 0; i < 9; i++)
            strbuf_addf(&b, "%s*%c", i ? "," : "", c - 1);
        strbuf_adds(&b, "]\n");
    }
    text_docs(&t, strbuf_str(&b), doc_read_yaml);
    assert_false(t.ok);
    assert_non_null(strstr(err_text(&t.err), "aliases blow this document up too far"));
    text_fini(&t);
    strbuf_release(&b);
}

/* Aliases of one thing many times are fine in a small document. */
static void test_many_aliases(void **state)
{
    struct strbuf b = STRBUF_INIT;
    struct text t;
    strbuf_adds(&b, "a: &a {x: 1, y: 2}\nl:\n");
    for (int i = 0; i < 10000; i++)
        strbuf_adds(&b, "- *a\n");
    text_docs(&t, strbuf_str(&b), doc_read_yaml);
    assert_true(t.ok);
    assert_int_equal(doc_get(&t.doc, "l")->n, 10000);
    text_fini(&t);
    strbuf_release(&b);
}

static const char sample[] = "# c\na: &x [1, 'b', \"c\\n\\u00e9\", {d: ~}]\n? |-\n  k\n  "
                             " l\n: !!str 5\n\xc3\xa9: >+\n"
                             "  f\n\n  g\n\nm: {<<: {n: 0x1F}, o: *x}\n---\nz: 1\n";

/* Cut anywhere or with a byte changed: documents or an error, nothing worse. */
static void test_damaged(void **state)
{
    char copy[sizeof sample];
    for (size_t n = 0; n < sizeof sample; n++) {
        struct text t;
        text_docs(&t, (struct str){sample, n}, doc_read_yaml);
        assert_true(t.ok == (t.err.code == ERR_NONE));
        text_fini(&t);
    }
    static const char bytes[] = "\0\x01\t\n\r \"#%&'*+,-.:<>?@[\\]`{|}~\x7f\x80\xc3\xff";
    for (size_t i = 0; i < sizeof sample - 1; i++)
        for (size_t k = 0; k < sizeof bytes - 1; k++) {
            memcpy(copy, sample, sizeof sample);
            copy[i] = bytes[k];
            struct text t;
            text_docs(&t, (struct str){copy, sizeof sample - 1}, doc_read_yaml);
            assert_true(t.ok == (t.err.code == ERR_NONE));
            text_fini(&t);
        }
}

static void test_places(void **state)
{
    struct text t;
    text_docs(&t, STR("\xc3\xa9: b\nc:\n- \"d\"\n---\ne: {f: 1}\n"), doc_read_yaml);
    assert_true(t.ok);
    assert_int_equal(t.docs.n, 2);
    const struct doc *first = &t.docs.v[0], *second = &t.docs.v[1];
    assert_int_equal(first->members[0].key_pos, 0);
    assert_int_equal(first->members[0].value.pos, 4);
    assert_int_equal(first->members[0].value.style, DOC_PLAIN);
    assert_int_equal(first->members[1].value.items[0].pos, 11);
    assert_int_equal(first->members[1].value.items[0].style, DOC_DOUBLE_QUOTED);
    assert_int_equal(second->pos, 19);
    assert_int_equal(second->members[0].value.members[0].key_pos, 23);
    assert_int_equal(second->members[0].value.members[0].value.pos, 26);
    text_fini(&t);
}

/* Texts that start with { are JSON, as far as they are. */
static void test_any(void **state)
{
    static const struct row rows[] = {
        {"{\"a\": 1.0}", "{\"a\":1.0}"},
        {" \n{\"a\":1}{\"b\":2}\n{\"c\":3}", "{\"a\":1} {\"b\":2} {\"c\":3}"},
        {"{\"a\":1} null {\"b\":2}", "{\"a\":1} {\"b\":2}"},
        {"{\"a\": 1,}", "{\"a\":1}"},
        {"{\"a\": 1 # c\n}", "{\"a\":1}"},
        {"{a: 1}", "{\"a\":1}"},
        {"{\"a\":1}\n---\n{\"b\":2}\n", "{\"a\":1} {\"b\":2}"},
        {"{\"a\":1}\n---\nb: 2\n", "{\"a\":1} {\"b\":2}"},
        {"{\"a\":1}  ", "{\"a\":1}"},
        {"[1, 0x10]", "[1,16]"},
        {"a: 1", "{\"a\":1}"},
        {"", ""},
        {"\"a\"", "\"a\""},
        /* The first attempt's message, unless YAML got further. */
        {"{\"a\":1", "f:1:7: the JSON ends where a comma or } should be"},
        {"{\"a\":1}{\"b\":2}{\"c\":}", "f:1:20: found '}' where a value should be"},
        {"{\"a\":1}\n---\nb: 1\n---\nc: [",
         "f:5:5: did not find expected node content while parsing a flow node that "
         "starts in line 5"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check_with(str_from(rows[i].in), rows[i].out, doc_read);
    struct text t;
    text_docs(&t, STR("{\"a\":1,\"a\":2}\n---\nb: 1\nb: 2\n"), doc_read);
    assert_int_equal(t.src.ndups, 2);
    assert_int_equal(t.src.dups[0].pos, 7);
    assert_string_equal(t.src.dups[1].path, "b");
    text_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_dups),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_depth_by_aliases),
        cmocka_unit_test(test_laughs),
        cmocka_unit_test(test_many_aliases),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
