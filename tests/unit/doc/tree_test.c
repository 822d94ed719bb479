/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/doc/docs.h"

static void test_get(void **state)
{
    struct text t;
    text_json(&t, STR("{\"a\":{\"b\":{\"c\":5}},\"s\":\"x\",\"t\":true,\"n\":null,"
                      "\"i\":-7,\"f\":1.5,\"a.b\":1,\"d\":1,\"d\":2}"));
    const struct doc *d = &t.doc;
    int64_t i = 42;
    bool b = false;
    assert_int_equal(doc_path(d, "a.b.c")->type, DOC_NUMBER);
    assert_null(doc_path(d, "a.x.c"));
    assert_null(doc_path(d, "s.x"));
    assert_null(doc_path(d, ""));
    assert_ptr_equal(doc_path(d, "s"), doc_get(d, "s"));
    assert_null(doc_get(NULL, "a"));
    assert_null(doc_get(doc_get(d, "s"), "a"));
    assert_int_equal(doc_get(d, "n")->type, DOC_NULL);
    assert_true(doc_get_bool(d, "t", &b) && b);
    assert_false(doc_get_bool(d, "s", &b) || doc_get_bool(d, "z", &b));
    assert_true(doc_get_int64(d, "i", &i) && i == -7);
    assert_true(doc_get_int64(d, "d", &i) && i == 2); /* the last one */
    assert_false(doc_get_int64(d, "f", &i) || doc_get_int64(d, "n", &i));
    assert_int_equal(i, 2);
    assert_str(doc_get_text(d, "s"), "x");
    assert_null(doc_get_text(d, "i").p);
    assert_true(doc_is_string(doc_get(d, "s"), "x"));
    assert_false(doc_is_string(NULL, "x") || doc_is_string(doc_get(d, "s"), "y"));
    text_fini(&t);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *s;
        bool is_int, is_uint, is_double;
        int64_t i;
        uint64_t u;
        double d;
    } rows[] = {
        {"0", true, true, true, 0, 0, 0},
        {"-0", true, true, true, 0, 0, -0.0},
        {"9223372036854775807", true, true, true, INT64_MAX, INT64_MAX,
         9223372036854775807.0},
        {"9223372036854775808", false, true, true, 0, 9223372036854775808u,
         9223372036854775808.0},
        {"-9223372036854775808", true, false, true, INT64_MIN, 0, -9223372036854775808.0},
        {"-9223372036854775809", false, false, true, 0, 0, -9223372036854775808.0},
        {"18446744073709551615", false, true, true, 0, UINT64_MAX,
         18446744073709551615.0},
        {"18446744073709551616", false, false, true, 0, 0, 18446744073709551616.0},
        {"1.0", false, false, true, 0, 0, 1},
        {"1e3", false, false, true, 0, 0, 1000},
        {"-1", true, false, true, -1, 0, -1},
        {"1e309", false, false, false, 0, 0, 0},
        {"-1e309", false, false, false, 0, 0, 0},
        {"1e-999", false, false, true, 0, 0, 0},
        {"0.0000000000000000001e-400", false, false, true, 0, 0, 0},
        {"100000000000e300", false, false, false, 0, 0, 0},
        {"1e99999999999999999999", false, false, false, 0, 0, 0},
        {"1e-99999999999999999999", false, false, true, 0, 0, 0},
        {"0e99999999999999999999", false, false, true, 0, 0, 0},
        {"4.9e-324", false, false, true, 0, 0, 4.9e-324},
        {"2.2250738585072011e-308", false, false, true, 0, 0, 2.2250738585072011e-308},
        {"0.1", false, false, true, 0, 0, 0.1},
    };
    for (size_t k = 0; k < UNIT_COUNT(rows); k++) {
        struct text t;
        int64_t i = 0;
        uint64_t u = 0;
        double d = 0;
        text_json(&t, str_from(rows[k].s));
        ROW(rows[k].s, doc_int64(&t.doc, &i) == rows[k].is_int && i == rows[k].i);
        ROW(rows[k].s, doc_uint64(&t.doc, &u) == rows[k].is_uint && u == rows[k].u);
        ROW(rows[k].s, doc_double(&t.doc, &d) == rows[k].is_double && d == rows[k].d);
        text_fini(&t);
    }
    int64_t i;
    assert_false(doc_int64(NULL, &i));
}

static void test_equal(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"1", "1.0", true},
        {"1", "10e-1", true},
        {"100", "1e2", true},
        {"1.50", "15e-1", true},
        {"0.00150", "1.5e-3", true},
        {"0", "-0.0e5", true},
        {"1", "-1", false},
        {"1", "10", false},
        {"1.05", "10.5e-1", true},
        {"1.05", "10.5", false},
        {"10.5", "1.05e1", true},
        {"105", "10.5", false},
        {"12345678901234567890123", "12345678901234567890124", false},
        {"12345678901234567890123", "1234567890123456789012.3e1", true},
        {"1e99999999999999999999", "1e99999999999999999999", true},
        {"1e99999999999999999999", "1e99999999999999999998", false},
        {"0e99999999999999999999", "0", true},
        {"\"1\"", "1", false},
        {"null", "null", true},
        {"null", "false", false},
        {"true", "true", true},
        {"true", "false", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"a\"", "\"a\\u0000\"", false},
        {"[]", "{}", false},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1]", "[1,1]", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1,\"b\":null}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}", true},
        {"{\"a\":1,\"a\":2}", "{\"a\":1}", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text a, b;
        text_json(&a, str_from(rows[i].a));
        text_json(&b, str_from(rows[i].b));
        ROW(rows[i].a, doc_equal(&a.doc, &b.doc) == rows[i].equal);
        ROW(rows[i].a, doc_equal(&b.doc, &a.doc) == rows[i].equal);
        ROW(rows[i].a, doc_equal(&a.doc, &a.doc));
        ROW(rows[i].a, !doc_equal(&a.doc, NULL));
        text_fini(&a);
        text_fini(&b);
    }
    assert_true(doc_equal(NULL, NULL));
}

static void test_type_names(void **state)
{
    static const struct {
        const char *in, *name;
    } rows[] = {{"null", "null"},   {"true", "boolean"}, {"1", "number"},
                {"\"\"", "string"}, {"[]", "list"},      {"{}", "map"}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct text t;
        text_json(&t, str_from(rows[i].in));
        assert_string_equal(doc_type_name(&t.doc), rows[i].name);
        text_fini(&t);
    }
    assert_string_equal(doc_type_name(NULL), "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_type_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
