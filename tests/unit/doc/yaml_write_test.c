/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

/* JSON in, the YAML of sigs.k8s.io/yaml out (made with it, version 1.6.0). */
static const struct {
    const char *json, *yaml;
} rows[] = {
    {"null", "null\n"},
    {"true", "true\n"},
    {"-0", "0\n"},
    {"1.0", "1\n"},
    {"1e3", "1000\n"},
    {"1E6", "1e+06\n"},
    {"123456789012345678901234567890", "1.2345678901234568e+29\n"},
    {"1e400", "1e400\n"},
    {"0.1", "0.1\n"},
    {"1e-7", "1e-07\n"},
    {"[]", "[]\n"},
    {"{}", "{}\n"},
    {"\"\"", "\"\"\n"},
    {"\"a\"", "a\n"},
    {"\"yes\"", "\"yes\"\n"},
    {"\"NULL\"", "\"NULL\"\n"},
    {"\"~\"", "\"~\"\n"},
    {"\"1\"", "\"1\"\n"},
    {"\"0x1F\"", "\"0x1F\"\n"},
    {"\"1e3\"", "\"1e3\"\n"},
    {"\"1.5.2\"", "1.5.2\n"},
    {"\"2001-01-01\"", "\"2001-01-01\"\n"},
    {"\"12:30:45\"", "\"12:30:45\"\n"},
    {"\"1:99\"", "1:99\n"},
    {"\"-1:30.5\"", "\"-1:30.5\"\n"},
    {"\"<<\"", "<<\n"},
    {"\"=\"", "=\n"},
    {"\"-\"", "'-'\n"},
    {"\"- a\"", "'- a'\n"},
    {"\"-a\"", "-a\n"},
    {"\"?\"", "'?'\n"},
    {"\"? a\"", "'? a'\n"},
    {"\":\"", "':'\n"},
    {"\"a:\"", "'a:'\n"},
    {"\"a: b\"", "'a: b'\n"},
    {"\"a:b\"", "a:b\n"},
    {"\"#\"", "'#'\n"},
    {"\"a #b\"", "'a #b'\n"},
    {"\"a#b\"", "a#b\n"},
    {"\"&a\"", "'&a'\n"},
    {"\"*a\"", "'*a'\n"},
    {"\"!a\"", "'!a'\n"},
    {"\"|\"", "'|'\n"},
    {"\">\"", "'>'\n"},
    {"\"%a\"", "'%a'\n"},
    {"\"@a\"", "'@a'\n"},
    {"\"`a\"", "'`a'\n"},
    {"\"'\"", "''''\n"},
    {"\"it's\"", "it's\n"},
    {"\"\\\"\"", "'\"'\n"},
    {"\"a\\\"b\"", "a\"b\n"},
    {"\"'a: b'\"", "'''a: b'''\n"},
    {"\"[a\"", "'[a'\n"},
    {"\"a]\"", "a]\n"},
    {"\"{a\"", "'{a'\n"},
    {"\"a, b\"", "a, b\n"},
    {"\" a\"", "' a'\n"},
    {"\"a \"", "'a '\n"},
    {"\"a\\tb\"", "\"a\\tb\"\n"},
    {"\"\\u00e9\"", "\xc3\xa9\n"},
    {"\"\\ud83d\\ude00\"", "\"\\U0001F600\"\n"},
    {"\"\\u0000\\u0007\\u001b\\u00a0\\u2028\"", "\"\\0\\a\\e\xc2\xa0\\L\"\n"},
    {"\"\\ufeffa\"", "\"\\uFEFF\\x61\"\n"},
    {"\"---\"", "'---'\n"},
    {"\"--- a\"", "'--- a'\n"},
    {"\"...\"", "'...'\n"},
    {"\"a\\n\"", "|\n  a\n"},
    {"\"a\\nb\"", "|-\n  a\n  b\n"},
    {"\"a\\n\\n\"", "|+\n  a\n\n"},
    {"\"\\n\"", "|2+\n\n"},
    {"\"\\na\"", "|2-\n\n  a\n"},
    {"\" a\\nb\\n\"", "|2\n   a\n  b\n"},
    {"\"a \\nb\"", "\"a \\nb\"\n"},
    {"\"a\\nb \"", "\"a\\nb \"\n"},
    {"\"a\\n  b\\n\"", "|\n  a\n    b\n"},
    {"\"a\\tb\\nc\"", "\"a\\tb\\nc\"\n"},
    {"{\"a\":{\"b\":{\"c\":1}},\"l\":[1,[2,[3]],{\"x\":1,\"y\":[{\"z\":[]}]},[],{}]}",
     "a:\n  b:\n    c: 1\nl:\n- 1\n- - 2\n  - - 3\n- x: 1\n  \"y\":\n  - z: []\n- []\n- "
     "{}\n"},
    {"[[1,2],[[3]],[{\"a\":1,\"b\":2}]]", "- - 1\n  - 2\n- - - 3\n- - a: 1\n    b: 2\n"},
    {"{\"a\":[{\"b\":\"x\\ny\",\"c\":\"p\\n\"},\"q\\nr\\n\"]}",
     "a:\n- b: |-\n    x\n    y\n  c: |\n    p\n- |\n  q\n  r\n"},
    {"{\"yes\":1,\"1\":2,\"a b\":3,\"a: "
     "b\":4,\"\":5,\"x\\ny\":6,"
     "\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\":7,"
     "\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\":[8,{\"m\":9}]}",
     "\"\": 5\n\"1\": 2\na b: 3\n'a: b': "
     "4\nkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 7\n? "
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n: - 8\n  - m: 9\n? |-\n  x\n  y\n: "
     "6\n\"yes\": 1\n"},
    {"{\"a2\":1,\"a10\":2,\"B\":3,\"b\":4,\"1\":5,\"_\":6,\"z\":7,\"\\u00e9\":8}",
     "_: 6\n\"1\": 5\nB: 3\na2: 1\na10: 2\nb: 4\nz: 7\n\xc3\xa9: 8\n"},
    {"{\"text\":\"word word word word word word word word word word word word word word "
     "word word word word word word word word word word word word word word word word "
     "word word word word word word word word word word end\"}",
     "text: word word word word word word word word word word word word word word word "
     "word\n  word word word word word word word word word word word word word word word "
     "word\n  word word word word word word word word end\n"},
    {"{\"text\":\"it is: it is: it is: it is: it is: it is: it is: it is: it is: it is: "
     "it is: it is: it is: it is: it is: it is: it is: it is: it is: it is: end\"}",
     "text: 'it is: it is: it is: it is: it is: it is: it is: it is: it is: it is: it "
     "is:\n  it is: it is: it is: it is: it is: it is: it is: it is: it is: end'\n"},
    {"{\"text\":\"tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t "
     "tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t end\"}",
     "text: \"tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t "
     "tab\\t tab\\t tab\\t\n  tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t tab\\t end\"\n"},
    {"[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxx y z\"]",
     "- "
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxx\n  y z\n"},
    {"{\"a\":"
     "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  two "
     " spaces here and there\"}",
     "a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  "
     "two  spaces\n  here and there\n"},
    {"{\"a\":"
     "\"b\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb"
     "\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\t  two  spaces  here\"}",
     "a: "
     "\"b\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb"
     "\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\tb\\t\n  \\ two  spaces  here\"\n"},
};

static void test_write(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_json(&t, str_from(rows[i].json));
        ROW(rows[i].json, t.ok);
        doc_write_yaml(&t.doc, &t.out);
        if (!str_is(strbuf_str(&t.out), rows[i].yaml))
            fail_msg("%s\n   got\n%s   want\n%s", rows[i].json, strbuf_cstr(&t.out),
                     rows[i].yaml);
        text_fini(&t);
    }
}

/* What was written reads back as it was; but numbers that YAML has no room for. */
static void test_read_back(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text in, out;
        text_json(&in, str_from(rows[i].json));
        text_docs(&out, str_from(rows[i].yaml), doc_read_yaml);
        ROW(rows[i].yaml, out.ok);
        bool number = in.doc.type == DOC_NUMBER && in.doc.n > 4;
        if (in.doc.type != DOC_NULL && !number)
            ROW(rows[i].yaml, out.docs.n == 1 && doc_equal(&in.doc, &out.doc));
        text_fini(&in);
        text_fini(&out);
    }
}

/* Where the library's own output does not read back as it was, ours does. */
static void test_better(void **state)
{
    static const struct {
        const char *json, *yaml;
    } mine[] = {
        {"\"\x7f\"", "\"\\x7F\"\n"},
        {"\"a\xc2\x85\"", "\"a\\N\"\n"},
        {"\"a\\nb\\u2028\"", "\"a\\nb\\L\"\n"},
        {"{\"a\":1,\"a\":2}", "a: 2\n"},
    };
    for (size_t i = 0; i < UNIT_COUNT(mine); i++) {
        struct text t, back;
        text_json(&t, str_from(mine[i].json));
        doc_write_yaml(&t.doc, &t.out);
        assert_str(strbuf_str(&t.out), mine[i].yaml);
        text_docs(&back, strbuf_str(&t.out), doc_read_yaml);
        assert_true(back.ok && doc_equal(&t.doc, &back.doc));
        text_fini(&t);
        text_fini(&back);
    }
}

/* Strings made by hand may hold bytes that are no UTF-8. */
static void test_bad_bytes(void **state)
{
    struct arena a;
    struct strbuf b = STRBUF_INIT;
    arena_init(&a);
    struct doc d = doc_make_string(&a, STR("a\xff\xc3\n\xe2\x80"));
    doc_write_yaml(&d, &b);
    assert_str(strbuf_str(&b), "\"a\\uFFFD\\uFFFD\\n\\uFFFD\\uFFFD\"\n");
    strbuf_release(&b);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_better),
        cmocka_unit_test(test_bad_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
