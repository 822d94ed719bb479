/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

static void check(const char *in, unsigned flags, const char *want)
{
    struct text t;
    text_json(&t, str_from(in));
    assert_true(t.ok);
    doc_write_json(&t.doc, flags, &t.out);
    assert_str(strbuf_str(&t.out), want);
    text_fini(&t);
}

static void test_layout(void **state)
{
    static const struct {
        const char *in;
        unsigned flags;
        const char *out;
    } rows[] = {
        {"{\"b\":[1,2.50],\"a\":{}}", DOC_JSON_COMPACT, "{\"b\":[1,2.50],\"a\":{}}"},
        {"{\"b\":[1],\"a\":{}}", DOC_JSON_SORT, "{\"a\":{},\"b\":[1]}"},
        {"{\"b\":[1,{\"x\":null}],\"a\":{},\"c\":[]}", DOC_JSON_INDENT,
         "{\n    \"b\": [\n        1,\n        {\n            \"x\": null\n        }\n"
         "    ],\n    \"a\": {},\n    \"c\": []\n}"},
        {"{\"b\":true,\"a\":false}", DOC_JSON_INDENT | DOC_JSON_SORT,
         "{\n    \"a\": false,\n    \"b\": true\n}"},
        {"[]", DOC_JSON_INDENT, "[]"},
        {"\"x\"", DOC_JSON_INDENT, "\"x\""},
        /* Sorted, a key comes once, with its last value. */
        {"{\"a\":1,\"b\":2,\"a\":3}", DOC_JSON_SORT, "{\"a\":3,\"b\":2}"},
        {"{\"a\":1,\"B\":2,\"\xc3\xa9\":3,\"_\":4,\"aa\":5,\"\":6}", DOC_JSON_SORT,
         "{\"\":6,\"B\":2,\"_\":4,\"a\":1,\"aa\":5,\"\xc3\xa9\":3}"},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        check(rows[i].in, rows[i].flags, rows[i].out);
}

static void test_many_keys(void **state)
{
    struct strbuf in = STRBUF_INIT, want = STRBUF_INIT;
    for (int i = 99; i >= 10; i--)
        strbuf_addf(&in, "%s\"%d\":0", i == 99 ? "{" : ",", i);
    for (int i = 10; i <= 99; i++)
        strbuf_addf(&want, "%s\"%d\":0", i == 10 ? "{" : ",", i);
    strbuf_addc(&in, '}');
    strbuf_addc(&want, '}');
    check(strbuf_cstr(&in), DOC_JSON_SORT, strbuf_cstr(&want));
    strbuf_release(&in);
    strbuf_release(&want);
}

static void test_strings(void **state)
{
    static const struct {
        struct str in;
        unsigned flags;
        const char *out;
    } rows[] = {
        {{"a\"\\/", 4}, 0, "\"a\\\"\\\\/\""},
        {{"\b\f\n\r\t\x01\x1f\x7f", 8}, 0, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\""},
        {{"\0", 1}, 0, "\"\\u0000\""},
        {{"<&>", 3}, 0, "\"<&>\""},
        {{"<&>", 3}, DOC_JSON_HTML, "\"\\u003c\\u0026\\u003e\""},
        {{"\xc3\xa9\xe2\x80\xa8\xe2\x80\xa9", 8}, 0, "\"\xc3\xa9\\u2028\\u2029\""},
        {{"a\xff\xc3", 3}, 0, "\"a\\ufffd\\ufffd\""},
        {{"\xf0\x9f\x98\x80", 4}, DOC_JSON_HTML, "\"\xf0\x9f\x98\x80\""},
    };
    struct arena a;
    struct strbuf out = STRBUF_INIT;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct doc d = doc_make_string(&a, rows[i].in);
        strbuf_clear(&out);
        doc_write_json(&d, rows[i].flags, &out);
        assert_str(strbuf_str(&out), rows[i].out);
    }
    strbuf_release(&out);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
