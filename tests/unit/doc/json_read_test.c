/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json.h"

#include "unit/doc/docs.h"

struct row {
    const char *in;
    const char *out; /* compact JSON, or the error */
};

static void check(struct str in, const char *want)
{
    struct text t;
    text_json(&t, in);
    const char *got = text_result(&t);
    if (strcmp(got, want) != 0)
        fail_msg("%.*s\n   got  %s\n   want %s", STR_ARG(in), got, want);
    text_fini(&t);
}

static void test_values(void **state)
{
    static const struct row rows[] = {
        {"{}", "{}"},
        {"[]", "[]"},
        {" \r\n\t[ 1 , { \"a\" : [ ] } ]\n", "[1,{\"a\":[]}]"},
        {"null", "null"},
        {"true", "true"},
        {" false ", "false"},
        {"\"\"", "\"\""},
        {"0", "0"},
        {"-0", "-0"},
        {"-0.00e-00", "-0.00e-00"},
        {"1E+5", "1E+5"},
        {"123456789012345678901234567890.5", "123456789012345678901234567890.5"},
        {"1e99999", "1e99999"},
        {"{\"b\":1,\"a\":2,\"b\":3}", "{\"b\":1,\"a\":2,\"b\":3}"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check(str_from(rows[i].in), rows[i].out);
}

static void test_strings(void **state)
{
    static const struct row rows[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u00e9\\u20AC\"", "\"\xc3\xa9\xe2\x82\xac\""},
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
        /* Half a surrogate pair, as in encoding/json. */
        {"\"\\ud83d\"", "\"\xef\xbf\xbd\""},
        {"\"\\udc00x\"", "\"\xef\xbf\xbdx\""},
        {"\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""},
        {"\"\\ud83d\\n\"", "\"\xef\xbf\xbd\\n\""},
        {"\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                               "A\""},
        {"\"\\u0000\"", "\"\\u0000\""},
        {"\"\x7f\"", "\"\x7f\""},
        /* Bytes that are no UTF-8. */
        {"\"a\xff\xc3\"", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"{\"\xff\":\"\\n\xc3\xa9\"}", "{\"\xef\xbf\xbd\":\"\\n\xc3\xa9\"}"},
        {"[\"1234567\",\"12345678\",\"123456789\\\"\",\"\\\\\"]",
         "[\"1234567\",\"12345678\",\"123456789\\\"\",\"\\\\\"]"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check(str_from(rows[i].in), rows[i].out);
}

static void test_errors(void **state)
{
    static const struct row rows[] = {
        {"", "f:1:1: there is no JSON value in it"},
        {" \n ", "f:2:2: there is no JSON value in it"},
        {"[1", "f:1:3: the JSON ends where a comma or ] should be"},
        {"[1 2]", "f:1:4: found '2' where a comma or ] should be"},
        {"[1,]", "f:1:4: found ']' where a value should be"},
        {"[,1]", "f:1:2: found ',' where a value should be"},
        {"{\"a\":1,}", "f:1:8: found '}' where a key in double quotes should be"},
        {"{\"a\" 1}", "f:1:6: found '1' where the colon behind a key should be"},
        {"{\"a\":}", "f:1:6: found '}' where a value should be"},
        {"{a:1}", "f:1:2: found 'a' where a key in double quotes should be"},
        {"{\"a\":1]", "f:1:7: found ']' where a comma or } should be"},
        {"[1}", "f:1:3: found '}' where a comma or ] should be"},
        {"]", "f:1:1: found ']' where a value should be"},
        {":", "f:1:1: found ':' where a value should be"},
        {"{", "f:1:2: the JSON ends where a key in double quotes should be"},
        {"{\"a\"", "f:1:5: the JSON ends where the colon behind a key should be"},
        {"[", "f:1:2: the JSON ends where a value should be"},
        {"{}\n  {}", "f:2:3: found '{' behind the end of the JSON value"},
        {"1 2", "f:1:3: found '2' behind the end of the JSON value"},
        {"01", "f:1:1: '01' is no value of JSON"},
        {"+1", "f:1:1: '+1' is no value of JSON"},
        {"1.", "f:1:1: '1.' is no value of JSON"},
        {".5", "f:1:1: '.5' is no value of JSON"},
        {"1e", "f:1:1: '1e' is no value of JSON"},
        {"1e+", "f:1:1: '1e+' is no value of JSON"},
        {"-", "f:1:1: '-' is no value of JSON"},
        {"0x1", "f:1:1: '0x1' is no value of JSON"},
        {"12a", "f:1:1: '12a' is no value of JSON"},
        {"tru", "f:1:1: 'tru' is no value of JSON"},
        {"truex", "f:1:1: 'truex' is no value of JSON"},
        {"True", "f:1:1: 'True' is no value of JSON"},
        {"NaN", "f:1:1: 'NaN' is no value of JSON"},
        {"'a'", "f:1:1: ''a'' is no value of JSON"},
        {"[1, // x\n2]", "f:1:5: '//' is no value of JSON"},
        {"\"a", "f:1:1: a string has no closing quote"},
        {"[\"a\", \"b]", "f:1:7: a string has no closing quote"},
        {"\"\\\"", "f:1:1: a string has no closing quote"},
        {"\"\\q\"", "f:1:2: \\q is no escape of JSON"},
        {"\"\\u12\"", "f:1:2: \\u needs four hexadecimal digits"},
        {"{\"\\u12g4\":1}", "f:1:3: \\u needs four hexadecimal digits"},
        {"\"a\tb\"", "f:1:3: a string holds the control character U+0009; write it as "
                     "\\u0009"},
        {"[\"\xc3\xa9\n\"]", "f:1:4: a string holds the control character U+000A; write "
                             "it as \\u000a"},
        {"\xff", "f:1:1: byte 0xff is no value of JSON"},
        {"\xef\xbb\xbf{}", "f:1:1: '\xef\xbb\xbf' is no value of JSON"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check(str_from(rows[i].in), rows[i].out);
    check(STR("[\0]"), "f:1:2: byte 0x00 is no value of JSON");
    check(STR("1\0"), "f:1:1: '1' is no value of JSON");
    check(STR("\"\0\""), "f:1:2: a string holds the control character U+0000; write it "
                         "as \\u0000");
}

static void test_depth(void **state)
{
    static const struct {
        size_t depth;
        bool ok;
    } rows[] = {
        {1, true}, {DOC_MAX_DEPTH, true}, {DOC_MAX_DEPTH + 1, false}, {100000, false}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        for (int map = 0; map < 2; map++) {
            struct strbuf b = STRBUF_INIT;
            struct text t;
            for (size_t k = 0; k < rows[i].depth; k++)
                strbuf_adds(&b, map ? "{\"a\":" : "[");
            strbuf_adds(&b, "1");
            for (size_t k = 0; k < rows[i].depth; k++)
                strbuf_addc(&b, map ? '}' : ']');
            text_json(&t, strbuf_str(&b));
            assert_int_equal(t.ok, rows[i].ok);
            if (!t.ok)
                assert_string_equal(
                    err_text(&t.err),
                    map ? "f:1:1001: lists and maps are nested more than 200 deep"
                        : "f:1:201: lists and maps are nested more than 200 deep");
            text_fini(&t);
            strbuf_release(&b);
        }
}

static const char sample[] = "{\"a\": [1.5e+3, -2, \"x\\u00e9\\ud83d\\ude00\\n\"], "
                             "\"b\\\\\": {\"c\": [true, false, null, {}, []]}}";

/* Cut anywhere, a text is no JSON, and says so. */
static void test_truncated(void **state)
{
    for (size_t n = 0; n < sizeof sample - 1; n++) {
        struct text t;
        text_json(&t, (struct str){sample, n});
        assert_false(t.ok);
        assert_true(strncmp(err_text(&t.err), "f:1:", 4) == 0);
        text_fini(&t);
    }
    check(STR(sample), "{\"a\":[1.5e+3,-2,\"x\xc3\xa9\xf0\x9f\x98\x80\\n\"],"
                       "\"b\\\\\":{\"c\":[true,false,null,{},[]]}}");
}

/* Any one byte replaced by any other: a tree or an error, nothing worse. */
static void test_damaged(void **state)
{
    char copy[sizeof sample];
    for (size_t i = 0; i < sizeof sample - 1; i++)
        for (int c = 0; c < 256; c += 3) {
            memcpy(copy, sample, sizeof sample);
            copy[i] = (char)c;
            struct text t;
            text_json(&t, (struct str){copy, sizeof sample - 1});
            assert_true(t.ok == (t.err.code == ERR_NONE));
            text_fini(&t);
        }
}

static void test_places(void **state)
{
    struct text t;
    text_json(&t, STR("{ \"k\\n\": [ 12,\n \"s\", {}, null ], \"l\": true }"));
    assert_true(t.ok);
    assert_int_equal(t.doc.pos, 0);
    assert_int_equal(t.doc.members[0].key_pos, 2);
    const struct doc *list = &t.doc.members[0].value;
    static const uint32_t want[] = {11, 16, 21, 25};
    for (size_t i = 0; i < UNIT_COUNT(want); i++)
        assert_int_equal(list->items[i].pos, want[i]);
    assert_int_equal(t.doc.members[1].value.pos, 38);
    assert_int_equal(list->items[1].style, DOC_DOUBLE_QUOTED);
    /* Texts end in NUL. */
    assert_string_equal(list->items[0].s, "12");
    assert_string_equal(list->items[1].s, "s");
    assert_string_equal(t.doc.members[0].key, "k\n");
    text_fini(&t);
}

static void test_dups(void **state)
{
    static const struct row rows[] = {
        {"{\"a\":1,\"b\":2}", ""},
        {"{\"a\":1,\"a\":2}", "a@7"},
        {"{\"a\":1,\"\\u0061\":2,\"a\":3}", "a@7 a@18"},
        {"{\"a\":{\"b\":[1,{\"c\":1,\"c\":2}],\"d\":0},\"a\":0}", "a.b[1].c@20 a@35"},
        {"[{\"x\":1,\"x\":1},{\"x\":1,\"x\":1}]", "[0].x@8 [1].x@22"},
        {"{\"aaaaaaaabbbbbbbb\":1,\"aaaaaaaaXbbbbbbbb\":1,\"aaaaaaaaYbbbbbbbb\":1}", ""},
    };
    struct strbuf got = STRBUF_INIT;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_json(&t, str_from(rows[i].in));
        assert_true(t.ok);
        text_dups(&t, &got);
        assert_str(strbuf_str(&got), rows[i].out);
        text_fini(&t);
    }
    strbuf_release(&got);
}

static void test_many_dups(void **state)
{
    struct strbuf b = STRBUF_INIT;
    struct text t;
    for (int i = 0; i < 2000; i++)
        strbuf_addf(&b, "%c\"key-%d\":%d", i ? ',' : '{', i % 1500, i);
    strbuf_addc(&b, '}');
    text_json(&t, strbuf_str(&b));
    assert_true(t.ok);
    assert_int_equal(t.src.ndups, 500);
    assert_string_equal(t.src.dups[499].path, "key-499");
    int64_t v;
    assert_true(doc_get_int64(&t.doc, "key-499", &v) && v == 1999);
    text_fini(&t);
    strbuf_release(&b);
}

static void test_shared_keys(void **state)
{
    struct text t;
    text_json(&t, STR("[{\"name\":1,\"x\":2},{\"name\":3,\"x\":4}]"));
    const struct doc *v = t.doc.items;
    assert_ptr_equal(v[0].members[0].key, v[1].members[0].key);
    assert_ptr_equal(v[0].members[1].key, v[1].members[1].key);
    text_fini(&t);
}

static void test_long_strings(void **state)
{
    static const size_t sizes[] = {1, 4000, 4096, 16000, 16384, 70000};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        struct strbuf b = STRBUF_INIT;
        struct text t;
        strbuf_adds(&b, "[\"short\",\"");
        for (size_t k = 0; k < sizes[i]; k++)
            strbuf_addc(&b, (char)('a' + k % 26));
        strbuf_adds(&b, "\",\"end\\n\"]");
        text_json(&t, strbuf_str(&b));
        assert_true(t.ok);
        assert_int_equal(t.doc.items[1].n, sizes[i]);
        assert_int_equal(strlen(t.doc.items[1].s), sizes[i]);
        assert_string_equal(t.doc.items[0].s, "short");
        assert_string_equal(t.doc.items[2].s, "end\n");
        text_fini(&t);
        strbuf_release(&b);
    }
}

static void test_number_len(void **state)
{
    static const struct {
        const char *s;
        size_t n;
    } rows[] = {{"0", 1},  {"01", 0},   {"-1", 2},  {"-", 0},     {"1.5x", 3},
                {"1.", 0}, {"1e5,", 3}, {"1e", 0},  {"1E-05", 5}, {"", 0},
                {"a", 0},  {"-0", 2},   {"10 ", 2}, {"1.0e+9", 6}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].s, json_number_len(str_from(rows[i].s)) == rows[i].n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_strings),
        cmocka_unit_test(test_errors),       cmocka_unit_test(test_depth),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_places),       cmocka_unit_test(test_dups),
        cmocka_unit_test(test_many_dups),    cmocka_unit_test(test_shared_keys),
        cmocka_unit_test(test_long_strings), cmocka_unit_test(test_number_len),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
