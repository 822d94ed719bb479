/* SPDX-License-Identifier: Apache-2.0 */
/* Types of expressions from an OpenAPI document. */
#include "api/openapi_type.h"

#include "unit/unit.h"

#define HEAD "{\"components\":{\"schemas\":{"
#define KIND                                                                             \
    "\"K\":{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{\"group\":\"g\","  \
    "\"version\":\"v1\",\"kind\":\"Kind\"}],\"properties\":{"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"

/* The type, written out: "{a: int}", "?" for what is open; "none": there is no kind. */
static void print(const struct cel_type *t, struct strbuf *out)
{
    if (!t || t->kind != CEL_T_OBJECT) {
        if (t)
            cel_type_print(t, out);
        else
            strbuf_addc(out, '?');
        return;
    }
    for (uint32_t i = 0; i < t->object->nfields; i++) {
        strbuf_addf(out, "%s%s: ", i ? ", " : "{", t->object->fields[i].name);
        print(t->object->fields[i].type, out);
    }
    strbuf_adds(out, t->object->nfields ? "}" : "{}");
}

static void check(const char *text, const char *want)
{
    struct arena a;
    struct doc d;
    struct doc_source src = {.name = "document", .text = str_from(text)};
    struct strbuf got = STRBUF_INIT;
    const struct cel_type *t = NULL;
    arena_init(&a);
    assert_true(doc_read_json(&src, &a, &d, NULL));
    if (openapi_type(&d, STR("g"), STR("v1"), STR("Kind"), &a, &t))
        print(t, &got);
    else
        strbuf_adds(&got, "none");
    assert_string_equal(strbuf_cstr(&got), want);
    strbuf_release(&got);
    arena_fini(&a);
}

#define META                                                                             \
    "kind: string, apiVersion: string, metadata: {name: string, generateName: string}}"

static void test_values(void **state)
{
    (void)state;
    check(HEAD KIND
          "\"i\":{\"type\":\"integer\"},\"n\":{\"type\":\"number\"},"
          "\"b\":{\"type\":\"boolean\"},\"raw\":{\"type\":\"string\",\"format\":"
          "\"byte\"},\"q\":{\"oneOf\":[]},\"p\":{\"format\":\"int-or-string\"},"
          "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
          "\"m\":{\"type\":[\"object\"],\"additionalProperties\":{\"type\":"
          "\"integer\"}},\"mq\":{\"type\":\"object\",\"additionalProperties\":"
          "{}}}}}}}",
          "{i: int, n: double, b: bool, raw: bytes, p: dyn, l: list(string), "
          "m: map(string, int), " META);
}

static void test_references(void **state)
{
    (void)state;
    check(HEAD KIND "\"a\":" REF("A") ",\"b\":{\"allOf\":[" REF(
              "A") "],\"type\":\"string\"},"
                   "\"k\":" REF("K") "}},\"A\":{\"type\":\"object\",\"properties\":{"
                                     "\"again\":" REF(
                                         "A") ",\"s\":{\"type\":\"string\"}}}}}}",
          "{a: {again: {}, s: string}, b: {again: {}, s: string}, k: {}, " META);
    check(HEAD KIND "\"a\":" REF("Nobody") "}}}}}", "none");
    check(HEAD "\"other\":{}}}}", "none");
    check("{}", "none");
}

/* What every resource has, where the schema says so itself. */
static void test_resource(void **state)
{
    (void)state;
    check(
        HEAD KIND
        "\"kind\":{\"type\":\"string\"},\"apiVersion\":{\"type\":\"string\"},"
        "\"metadata\":" REF(
            "M") "}},\"M\":{\"type\":\"object\",\"properties\":{"
                 "\"name\":{\"type\":\"string\"},\"generateName\":{\"type\":\"string\"},"
                 "\"uid\":{\"type\":\"string\"}}}}}}",
        "{kind: string, apiVersion: string, metadata: {name: string, generateName: "
        "string, uid: string}}");
    check(HEAD KIND "\"kind\":{\"type\":\"integer\"},\"x\":{\"type\":\"integer\"}}}}}}",
          "{x: int, " META);
}

/* A document that is made to be large: every schema refers to the next twice. */
static void test_limits(void **state)
{
    struct strbuf b = STRBUF_INIT;
    (void)state;
    strbuf_adds(&b, HEAD KIND "\"a\":" REF("S0") "}}");
    for (int i = 0; i < 40; i++)
        strbuf_addf(&b,
                    ",\"S%d\":{\"type\":\"object\",\"properties\":{"
                    "\"a\":{\"$ref\":\"#/components/schemas/S%d\"},"
                    "\"b\":{\"$ref\":\"#/components/schemas/S%d\"}}}",
                    i, i + 1, i + 1);
    strbuf_adds(&b, ",\"S40\":{\"type\":\"string\"}}}}");
    check(strbuf_cstr(&b), "none");
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_resource),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
