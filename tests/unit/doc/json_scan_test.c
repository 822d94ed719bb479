/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json_scan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "doc/doc.h"
#include "unit/unit.h"

static void test_valid(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        {"{}", true},
        {" [ ] ", true},
        {"1", true},
        {"\"a\"", true},
        {"null", true},
        {"{\"a\":[1,-2.5e3,{\"b\":true}],\"c\":\"\\u00e4\\n\"}", true},
        {"\"\xc3\xa4\"", true},
        {"\"a long text that fills more than one word\"", true},
        {"", false},
        {" ", false},
        {"{", false},
        {"{\"a\"}", false},
        {"{\"a\":}", false},
        {"{\"a\":1,}", false},
        {"{,}", false},
        {"{a:1}", false},
        {"{1:1}", false},
        {"[1,]", false},
        {"[1 2]", false},
        {"[1]]", false},
        {"[1}", false},
        {"01", false},
        {"-", false},
        {"1.", false},
        {"+1", false},
        {"nul", false},
        {"nulls", false},
        {"True", false},
        {"\"a", false},
        {"\"a\\", false},
        {"\"\\x\"", false},
        {"\"\\u12\"", false},
        {"\"\\u12g4\"", false},
        {"\"\\ud83d\\ude00\"", false}, /* JSON, but to be read in full */
        {"\"a\nb\"", false},
        {"\"a long text, then a \x01 in it\"", false},
        {"\"\xff\"", false},
        {"{}{}", false},
        {"'a'", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].text, json_scan(str_from(rows[i].text), NULL, 0) == rows[i].is);
    assert_false(json_scan(STR_NONE, NULL, 0));
}

/* The end of the text is the end, whatever stands behind it. */
static void test_every_prefix(void **state)
{
    static const char text[] =
        "{\"a\":[1,-2.5e3,{\"b\":true,\"c\":null}],\"d\":\"x\\u00e4\\\"yz0123456789\"}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *copy = mem_dup(text, n); /* for sanitizers */
        assert_false(json_scan((struct str){copy, n}, NULL, 0));
        free(copy);
    }
    assert_true(json_scan(STR(text), NULL, 0));
}

static void test_depth(void **state)
{
    char text[2 * DOC_MAX_DEPTH + 3];
    for (int extra = 0; extra < 2; extra++) {
        size_t n = DOC_MAX_DEPTH + (size_t)extra;
        memset(text, '[', n);
        memset(text + n, ']', n);
        assert_int_equal(json_scan((struct str){text, 2 * n}, NULL, 0), !extra);
    }
}

static void test_wants(void **state)
{
    static const char text[] =
        "{\"a\":1,\"spec\":{\"node\":\"n\",\"nodeName\" : \"x\" ,\"more\":{\"a\":[{\"b\":"
        "2}]}},\"specs\":{\"nodeName\":\"no\"},\"spec\":{\"nodeName\":\"late\"},\"a.b\":"
        "3,"
        "\"l\":[{\"nodeName\":\"no\"}],\"e\\u0073\":4,\"t\":{ \"k\" : \"v\" , "
        "\"k2\":\"\\t\" "
        "}}";
    static const struct {
        const char *path, *raw;
    } rows[] = {
        {"a", "1"},
        {"spec.nodeName", "\"x\""},
        {"spec.node", "\"n\""},
        {"spec.more.a", "[{\"b\":2}]"},
        {"spec.more", "{\"a\":[{\"b\":2}]}"},
        {"spec.more.a.b", NULL},
        {"a.b", "3"},
        {"l.nodeName", NULL},
        {"es", NULL},
        {"nodeName", NULL},
        {"spec.nodeName.x", NULL},
        {"", NULL},
    };
    struct json_want wants[UNIT_COUNT(rows)];
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        wants[i] = (struct json_want){.path = str_from(rows[i].path)};
    assert_true(json_scan(STR(text), wants, UNIT_COUNT(rows)));
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].path,
            rows[i].raw ? str_is(wants[i].raw, rows[i].raw) : wants[i].raw.p == NULL);
}

static void test_raw(void **state)
{
    struct arena a;
    struct str s, key, value;
    arena_init(&a);
    assert_true(json_raw_string(STR("\"x\""), &a, &s));
    assert_true(str_is(s, "x"));
    assert_true(json_raw_string(STR("\"a\\tb\\u0041\""), &a, &s));
    assert_true(str_is(s, "a\tbA"));
    assert_false(json_raw_string(STR("12"), &a, &s));
    assert_false(json_raw_string(STR_NONE, &a, &s));
    struct str at = STR("{ \"a\" : 1 , \"b\":{\"c\":[]}}");
    assert_true(json_raw_member(&at, &key, &value));
    assert_true(str_is(key, "\"a\"") && str_is(value, "1"));
    assert_true(json_raw_member(&at, &key, &value));
    assert_true(str_is(key, "\"b\"") && str_is(value, "{\"c\":[]}"));
    assert_false(json_raw_member(&at, &key, &value));
    at = STR("{}");
    assert_false(json_raw_member(&at, &key, &value));
    at = STR("[1]");
    assert_false(json_raw_member(&at, &key, &value));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid), cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_wants),
        cmocka_unit_test(test_raw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
