/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/api/objects.h"

#include "api/order.h"

static const struct {
    const char *name, *in, *out;
} ROWS[] = {
    {"kind, version, then numbers",
     "{\"data\":{},\"metadata\":{},\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"}",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{},\"data\":{}}"},
    {"metadata",
     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"labels\":{\"b\":\"\","
     "\"a\":\"\"},\"uid\":\"u\",\"namespace\":\"n\",\"name\":\"a\"}}",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
     "\"namespace\":\"n\",\"uid\":\"u\",\"labels\":{\"a\":\"\",\"b\":\"\"}}}"},
    {"sets of fields",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
     "\"fieldsV1\":{\"f:b\":{\"f:x\":{},\".\":{}},\"f:a\":{}},\"manager\":\"m\"}]}}",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
     "\"manager\":\"m\",\"fieldsV1\":{\"f:a\":{},\"f:b\":{\".\":{},\"f:x\":{}}}}]}}"},
    {"sets of fields with numbers, values and places",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
     "\"fieldsV1\":{\"v:10\":{},\"i:2\":{},\"v:\\\"a\\\"\":{},\"v:9\":{},\"v:true\":{},"
     "\"k:{\\\"p\\\":10,\\\"q\\\":\\\"a\\\"}\":{},\"k:{\\\"p\\\":9,\\\"q\\\":\\\"b\\\"}"
     "\":{},"
     "\"f:z\":{},\".\":{},\"v:\\\"a b\\\"\":{}}}]}}",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFields\":[{"
     "\"fieldsV1\":{\".\":{},\"f:z\":{},\"k:{\\\"p\\\":9,\\\"q\\\":\\\"b\\\"}\":{},"
     "\"k:{\\\"p\\\":10,\\\"q\\\":\\\"a\\\"}\":{},\"v:9\":{},\"v:10\":{},\"v:\\\"a\\\"\":"
     "{},"
     "\"v:\\\"a b\\\"\":{},\"v:true\":{},\"i:2\":{}}}]}}"},
    {"embedded structs stand where they are embedded",
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[],\"volumes\":[{"
     "\"secret\":{},\"name\":\"v\"}]}}",
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"volumes\":[{\"name\":\"v\","
     "\"secret\":{}}],\"containers\":[]}}"},
    {"lists",
     "{\"items\":[{\"data\":{},\"metadata\":{}}],\"metadata\":{\"continue\":\"c\","
     "\"resourceVersion\":\"1\"},\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\"}",
     "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
     "\"resourceVersion\":\"1\",\"continue\":\"c\"},\"items\":[{\"metadata\":{},\"data\":"
     "{"
     "}}]}"},
    {"what nobody knows comes last",
     "{\"zz\":1,\"b\":1,\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}",
     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{},\"b\":1,\"zz\":1}"},
    {"a kind of nobody's stays",
     "{\"b\":1,\"a\":1,\"kind\":\"X\",\"apiVersion\":\"y/v1\"}",
     "{\"b\":1,\"a\":1,\"kind\":\"X\",\"apiVersion\":\"y/v1\"}"},
};

static void test_rows(void **state)
{
    struct arena a = {0};
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct doc d = read_object(&a, ROWS[i].in);
        struct strbuf b = STRBUF_INIT;
        api_order_object(&d, &a);
        doc_write_json(&d, DOC_JSON_COMPACT, &b);
        assert_string_equal(strbuf_cstr(&b), ROWS[i].out);
        strbuf_release(&b);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
