/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/api/objects.h"

#include <stdlib.h>

#include "api/openapi.h"
#include "api/wire.h"
#include "base/bitset.h"

#define META3                                                                            \
    "{\"allOf\":[{\"$ref\":\"#/components/schemas/"                                      \
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}]}"
#define META2                                                                            \
    "{\"$ref\":\"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}"
#define OBJECT3                                                                          \
    "\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"               \
    "\"metadata\":" META3
#define OBJECT2                                                                          \
    "\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"               \
    "\"metadata\":" META2

/* ---- Definitions ---- */

static uint32_t find_definition(const char *name, struct arena *a)
{
    for (uint32_t i = 0; i < openapi_ndefinitions(); i++)
        if (str_is(openapi_name(i, a), name))
            return i;
    fail_msg("no definition %s", name);
    return 0;
}

static void names_are_upstreams(void **state)
{
    static const struct {
        const char *group, *version, *type, *name;
    } NAMES[] = {
        {"", "v1", "Pod", "io.k8s.api.core.v1.Pod"},
        {"apps", "v1", "Deployment", "io.k8s.api.apps.v1.Deployment"},
        {"rbac.authorization.k8s.io", "v1", "Role", "io.k8s.api.rbac.v1.Role"},
        {"internal.apiserver.k8s.io", "v1alpha1", "StorageVersion",
         "io.k8s.api.apiserverinternal.v1alpha1.StorageVersion"},
        {"meta", "v1", "ObjectMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
        {"meta", "v1", "Info", "io.k8s.apimachinery.pkg.version.Info"},
        {"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
         "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
         "CustomResourceDefinition"},
        {"apiregistration.k8s.io", "v1", "APIService",
         "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(NAMES); i++) {
        const struct api_type *t =
            api_type_find(str_from(NAMES[i].group), str_from(NAMES[i].version),
                          str_from(NAMES[i].type));
        assert_non_null(t);
        struct str got = openapi_name(openapi_of_type(t), &a);
        if (!str_is(got, NAMES[i].name))
            fail_msg("%.*s, not %s", STR_ARG(got), NAMES[i].name);
    }
    struct str custom =
        openapi_custom_name(STR("acme.example.com"), STR("v1"), STR("Widget"), &a);
    assert_true(str_is(custom, "com.example.acme.v1.Widget"));
    arena_fini(&a);
}

/* member: of "properties"; NULL: the definition without them. */
static const struct {
    const char *name, *member, *v2, *v3; /* v2 NULL: as v3 */
} SCHEMAS[] = {
    {"io.k8s.apimachinery.pkg.api.resource.Quantity", NULL, "{\"type\":\"string\"}",
     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"},
    {"io.k8s.apimachinery.pkg.util.intstr.IntOrString", NULL,
     "{\"type\":\"string\",\"format\":\"int-or-string\"}",
     "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":"
     "\"string\"}]}"},
    {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", NULL, NULL, "{}"},
    {"io.k8s.api.core.v1.ConfigMap", NULL, NULL,
     "{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{\"group\":\"\",\"kind\":"
     "\"ConfigMap\",\"version\":\"v1\"}]}"},
    {"io.k8s.api.core.v1.ObjectReference", NULL, NULL,
     "{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\"}"},
    {"io.k8s.api.core.v1.AppArmorProfile", NULL, NULL,
     "{\"type\":\"object\",\"required\":[\"type\"],\"x-kubernetes-unions\":[{"
     "\"discriminator\":\"type\",\"fields-to-discriminateBy\":{\"localhostProfile\":"
     "\"LocalhostProfile\"}}]}"},
    {"io.k8s.api.core.v1.PodList", "metadata",
     "{\"$ref\":\"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta\"}",
     "{\"default\":{},\"allOf\":[{\"$ref\":\"#/components/schemas/"
     "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta\"}]}"},
    {"io.k8s.api.core.v1.PodList", "items",
     "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1.Pod\"}}",
     "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/"
     "io.k8s.api.core.v1.Pod\"}}"},
    {"io.k8s.api.core.v1.ContainerPort", "protocol",
     "{\"type\":\"string\",\"enum\":[\"SCTP\",\"TCP\",\"UDP\"]}",
     "{\"type\":\"string\",\"enum\":[\"SCTP\",\"TCP\",\"UDP\"],\"default\":\"TCP\"}"},
    {"io.k8s.api.core.v1.Secret", "data", NULL,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\",\"format\":"
     "\"byte\"}}"},
    {"io.k8s.api.authentication.v1.UserInfo", "extra", NULL,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{"
     "\"type\":\"string\"}}}"},
    {"io.k8s.api.core.v1.PodSpec", "nodeSelector", NULL,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
     "\"x-kubernetes-map-type\":\"atomic\"}"},
    {"io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef",
     "{\"$ref\":\"#/definitions/io.k8s.api.core.v1.ObjectReference\","
     "\"x-kubernetes-map-type\":\"granular\"}",
     "{\"allOf\":[{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1."
     "ObjectReference\"}],\"x-kubernetes-map-type\":\"granular\"}"},
    {"io.k8s.api.core.v1.ServiceSpec", "ports",
     "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1."
     "ServicePort\"},\"x-kubernetes-list-map-keys\":[\"port\",\"protocol\"],"
     "\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-patch-merge-key\":\"port\","
     "\"x-kubernetes-patch-strategy\":\"merge\"}",
     "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/io.k8s.api.core.v1."
     "ServicePort\"},\"x-kubernetes-list-map-keys\":[\"port\",\"protocol\"],"
     "\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-patch-merge-key\":\"port\","
     "\"x-kubernetes-patch-strategy\":\"merge\"}"},
};

static void definitions_are_of_the_tables(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SCHEMAS); i++)
        for (int form = OPENAPI_V2; form <= OPENAPI_V3; form++) {
            uint32_t n = find_definition(SCHEMAS[i].name, &a);
            struct doc d = openapi_definition(n, form, &a);
            const struct doc *of = &d;
            if (SCHEMAS[i].member)
                of = doc_get(doc_get(&d, "properties"), SCHEMAS[i].member);
            else
                doc_remove(&d, STR("properties"));
            assert_non_null(of);
            bool second = form == OPENAPI_V2 && SCHEMAS[i].v2;
            object_is(&a, SCHEMAS[i].name, of, second ? SCHEMAS[i].v2 : SCHEMAS[i].v3);
        }
    arena_fini(&a);
}

static void reach_is_closed(void **state)
{
    struct arena a = {0};
    uint32_t n = openapi_ndefinitions();
    uint64_t *set = ARENA_ARRAY(&a, uint64_t, BITSET_WORDS(n));
    (void)state;
    openapi_reach(set, find_definition("io.k8s.api.core.v1.Pod", &a));
    assert_true(bit_test(set, find_definition("io.k8s.api.core.v1.Container", &a)));
    assert_true(bit_test(
        set, find_definition("io.k8s.apimachinery.pkg.api.resource.Quantity", &a)));
    assert_false(bit_test(set, find_definition("io.k8s.api.core.v1.Node", &a)));
    size_t before = bitset_count(set, n);
    for (size_t i = bitset_next(set, n, 0); i < n; i = bitset_next(set, n, i + 1))
        openapi_reach(set, (uint32_t)i);
    assert_int_equal(before, bitset_count(set, n));
    /* A type that contains itself. */
    openapi_reach(set, find_definition("io.k8s.apiextensions-apiserver.pkg.apis."
                                       "apiextensions.v1.JSONSchemaProps",
                                       &a));
    arena_fini(&a);
}

/* ---- Kinds that the tables do not have ---- */

/* Of a property "x" of spec. */
static const struct {
    const char *name, *in, *v2, *v3;
} CUSTOM[] = {
    {"defaults", "{\"type\":\"string\",\"default\":\"a\"}", "{\"type\":\"string\"}",
     "{\"type\":\"string\",\"default\":\"a\"}"},
    {"junctors", "{\"type\":\"number\",\"oneOf\":[{\"minimum\":1}],\"not\":{}}",
     "{\"type\":\"number\"}",
     "{\"type\":\"number\",\"oneOf\":[{\"minimum\":1}],\"not\":{}}"},
    {"null is allowed", "{\"type\":\"object\",\"nullable\":true,\"properties\":{}}", "{}",
     "{\"type\":\"object\",\"nullable\":true,\"properties\":{}}"},
    {"unknown members",
     "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{"
     "\"a\":{\"type\":\"string\"}}}",
     "{\"x-kubernetes-preserve-unknown-fields\":true}",
     "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{"
     "\"a\":{\"type\":\"string\"}}}"},
    {"a list without items",
     "{\"type\":\"array\",\"x-kubernetes-preserve-unknown-fields\":true,\"items\":{}}",
     "{\"x-kubernetes-preserve-unknown-fields\":true}",
     "{\"type\":\"array\",\"x-kubernetes-preserve-unknown-fields\":true,\"items\":{}}"},
    {"int or string", "{\"x-kubernetes-int-or-string\":true}",
     "{\"x-kubernetes-int-or-string\":true}",
     "{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\"},{\"type\":"
     "\"string\"}]}"},
    {"int or string, said already",
     "{\"x-kubernetes-int-or-string\":true,\"allOf\":[{\"anyOf\":[{\"type\":\"integer\"},"
     "{\"type\":\"string\"}]}]}",
     "{\"x-kubernetes-int-or-string\":true}",
     "{\"x-kubernetes-int-or-string\":true,\"allOf\":[{\"anyOf\":[{\"type\":\"integer\"},"
     "{\"type\":\"string\"}]}]}"},
    {"int or string, and something else",
     "{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"pattern\":\"a\"}]}",
     "{\"x-kubernetes-int-or-string\":true}",
     "{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"pattern\":\"a\"}],\"allOf\":[{"
     "\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}]}"},
    {"an object of its own",
     "{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"required\":["
     "\"kind\"]"
     "}",
     "{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"required\":["
     "\"kind\","
     "\"apiVersion\"],\"properties\":{" OBJECT2 "}}",
     "{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,\"required\":["
     "\"kind\","
     "\"apiVersion\"],\"properties\":{" OBJECT3 "}}"},
    {"what must be there may be null",
     "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"type\":"
     "\"string\",\"nullable\":true},\"b\":{\"type\":\"string\"}}}",
     "{\"type\":\"object\",\"required\":[\"b\"],\"properties\":{\"a\":{},\"b\":{\"type\":"
     "\"string\"}}}",
     "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"type\":"
     "\"string\",\"nullable\":true},\"b\":{\"type\":\"string\"}}}"},
    {"below lists and maps",
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":{"
     "\"type\":\"string\",\"default\":\"\"}}}",
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":{"
     "\"type\":\"string\"}}}",
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":{"
     "\"type\":\"string\",\"default\":\"\"}}}"},
};

static void schemas_of_custom_kinds(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(CUSTOM); i++) {
        struct str text = arena_printf(
            &a, "{\"type\":\"object\",\"properties\":{\"spec\":%s}}", CUSTOM[i].in);
        struct doc schema = read_object(&a, text.p);
        for (int form = OPENAPI_V2; form <= OPENAPI_V3; form++) {
            struct doc d = openapi_custom(&schema, form, &a);
            const struct doc *spec = doc_path(&d, "properties.spec");
            assert_non_null(spec);
            object_is(&a, CUSTOM[i].name, spec,
                      form == OPENAPI_V2 ? CUSTOM[i].v2 : CUSTOM[i].v3);
            object_is(&a, CUSTOM[i].name, doc_path(&d, "properties.metadata"),
                      form == OPENAPI_V2 ? META2 : META3);
        }
        object_is(&a, "the input stays", &schema, text.p);
    }
    arena_fini(&a);
}

static void schemas_that_say_nothing(void **state)
{
    struct arena a = {0};
    struct doc open = read_object(&a, "{\"type\":\"object\",\"x-kubernetes-preserve-"
                                      "unknown-fields\":true}");
    (void)state;
    struct doc none = openapi_custom(NULL, OPENAPI_V3, &a);
    object_is(&a, "none", &none, "{\"type\":\"object\"}");
    struct doc second = openapi_custom(&open, OPENAPI_V2, &a);
    object_is(&a, "open", &second, "{\"type\":\"object\"}");
    struct doc third = openapi_custom(&open, OPENAPI_V3, &a);
    object_is(&a, "open", &third,
              "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
              "\"properties\":{" OBJECT3 "}}");
    /* What no validation let through does no harm either. */
    struct doc odd = read_object(
        &a, "{\"required\":[1,null,{}],\"properties\":[],\"items\":7,\"anyOf\":"
            "{},\"x-kubernetes-int-or-string\":true,\"allOf\":[4]}");
    openapi_custom(&odd, OPENAPI_V2, &a);
    openapi_custom(&odd, OPENAPI_V3, &a);
    struct doc list = openapi_custom_list(STR("a.v1.B"), OPENAPI_V2, &a);
    object_is(&a, "list", doc_path(&list, "properties.items"),
              "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/a.v1.B\"}}");
    arena_fini(&a);
}

/* ---- Protobuf ---- */

/* "4.31.1": the first field of these numbers, message in message. */
static struct str find_bytes(struct str message, const char *numbers)
{
    struct wire_field f;
    bool bad = false;
    char *rest;
    unsigned long number = strtoul(numbers, &rest, 10);
    while (wire_next(&message, &f, &bad))
        if (f.number == number && f.type == WIRE_BYTES)
            return *rest == '.' ? find_bytes(f.bytes, rest + 1) : f.bytes;
    return STR_NONE;
}

static const struct {
    const char *name;
    enum openapi_form form;
    enum openapi_part part;
    const char *json, *numbers, *bytes; /* bytes NULL: there is none */
} MESSAGES[] = {
    {"name of an entry", OPENAPI_V3, OPENAPI_PART_PATH, "{}", "1.1", "NAME"},
    {"an operation", OPENAPI_V3, OPENAPI_PART_PATH, "{\"get\":{\"operationId\":\"a\"}}",
     "1.2.4.5", "a"},
    {"an extension", OPENAPI_V3, OPENAPI_PART_PATH,
     "{\"put\":{\"x-kubernetes-action\":\"put\"}}", "1.2.5.13.2.2", "\"put\"\n"},
    {"a response by code", OPENAPI_V3, OPENAPI_PART_PATH,
     "{\"get\":{\"responses\":{\"200\":{\"description\":\"OK\"}}}}", "1.2.4.8.2.2.1.1",
     "OK"},
    {"a schema", OPENAPI_V3, OPENAPI_PART_DEFINITION, "{\"type\":\"object\"}", "1.2.1.25",
     "object"},
    {"a reference", OPENAPI_V3, OPENAPI_PART_DEFINITION, "{\"$ref\":\"#/x\"}", "1.2.2.1",
     "#/x"},
    {"a property", OPENAPI_V3, OPENAPI_PART_DEFINITION,
     "{\"properties\":{\"p\":{\"type\":\"string\"}}}", "1.2.1.31.1.2.1.25", "string"},
    {"items", OPENAPI_V3, OPENAPI_PART_DEFINITION, "{\"items\":{\"$ref\":\"#/x\"}}",
     "1.2.1.30.1.2.1", "#/x"},
    {"values of a map", OPENAPI_V3, OPENAPI_PART_DEFINITION,
     "{\"additionalProperties\":{\"type\":\"string\"}}", "1.2.1.32.1.1.25", "string"},
    {"a default text", OPENAPI_V3, OPENAPI_PART_DEFINITION, "{\"default\":\"d\"}",
     "1.2.1.33.3", "d"},
    {"a default object is there, and empty", OPENAPI_V3, OPENAPI_PART_DEFINITION,
     "{\"default\":{\"a\":1}}", "1.2.1.33", ""},
    {"an extension of a schema", OPENAPI_V3, OPENAPI_PART_DEFINITION,
     "{\"x-kubernetes-list-type\":\"map\"}", "1.2.1.36.1", "x-kubernetes-list-type"},
    {"what has no field", OPENAPI_V3, OPENAPI_PART_DEFINITION, "{\"nonsense\":\"x\"}",
     "1.2.1.1", NULL},
    {"a text where a list belongs", OPENAPI_V3, OPENAPI_PART_DEFINITION,
     "{\"required\":\"a\"}", "1.2.1.23", "a"},
    {"a schema of version 2", OPENAPI_V2, OPENAPI_PART_DEFINITION,
     "{\"type\":\"object\"}", "1.2.22.1", "object"},
    {"its properties", OPENAPI_V2, OPENAPI_PART_DEFINITION,
     "{\"properties\":{\"p\":{\"$ref\":\"#/x\"}}}", "1.2.25.1.2.1", "#/x"},
    {"its items", OPENAPI_V2, OPENAPI_PART_DEFINITION,
     "{\"items\":{\"type\":\"string\"}}", "1.2.23.1.22.1", "string"},
    {"its values", OPENAPI_V2, OPENAPI_PART_DEFINITION, "{\"enum\":[\"a\"]}", "1.2.20.2",
     "\"a\"\n"},
    {"a parameter by reference", OPENAPI_V2, OPENAPI_PART_PATH,
     "{\"parameters\":[{\"$ref\":\"#/p\"}]}", "2.2.9.2.1", "#/p"},
    {"a parameter of the query", OPENAPI_V2, OPENAPI_PART_PARAMETER,
     "{\"in\":\"query\",\"name\":\"n\"}", "1.2.2.3.4", "n"},
    {"a parameter of the path", OPENAPI_V2, OPENAPI_PART_PARAMETER,
     "{\"in\":\"path\",\"name\":\"n\"}", "1.2.2.4.4", "n"},
    {"a body", OPENAPI_V2, OPENAPI_PART_PARAMETER,
     "{\"in\":\"body\",\"name\":\"body\",\"schema\":{\"$ref\":\"#/x\"}}", "1.2.1.5.1",
     "#/x"},
    {"a response of version 2", OPENAPI_V2, OPENAPI_PART_PATH,
     "{\"get\":{\"responses\":{\"200\":{\"schema\":{\"$ref\":\"#/x\"}}}}}",
     "2.2.2.9.1.2.1.2.1.1", "#/x"},
};

static void messages(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(MESSAGES); i++) {
        struct doc d = read_object(&a, MESSAGES[i].json);
        struct strbuf b = STRBUF_INIT;
        openapi_proto(MESSAGES[i].form, MESSAGES[i].part, STR("NAME"), &d, &b);
        struct str got = find_bytes(strbuf_str(&b), MESSAGES[i].numbers);
        bool right = MESSAGES[i].bytes ? got.p && str_is(got, MESSAGES[i].bytes) : !got.p;
        if (!right)
            fail_msg("%s: \"%.*s\"", MESSAGES[i].name, STR_ARG(got));
        strbuf_release(&b);
    }
    arena_fini(&a);
}

static void whole_documents(void **state)
{
    struct arena a = {0};
    struct strbuf head = STRBUF_INIT, two = STRBUF_INIT, three = STRBUF_INIT;
    struct doc d = read_object(&a, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"T\"},"
                                   "\"security\":[{\"B\":[\"s\"]}]}");
    (void)state;
    openapi_proto(OPENAPI_V2, OPENAPI_PART_HEAD, STR(""), &d, &head);
    openapi_proto_join(OPENAPI_V2, strbuf_str(&head), STR("pp"), STR("dd"), STR("rr"),
                       &two);
    assert_true(str_is(find_bytes(strbuf_str(&two), "1"), "2.0"));
    assert_true(str_is(find_bytes(strbuf_str(&two), "2.1"), "T"));
    assert_true(str_is(find_bytes(strbuf_str(&two), "12.1.2.1"), "s"));
    assert_true(str_is(find_bytes(strbuf_str(&two), "8"), "pp"));
    assert_true(str_is(find_bytes(strbuf_str(&two), "9"), "dd"));
    assert_true(str_is(find_bytes(strbuf_str(&two), "10"), "rr"));
    openapi_proto_join(OPENAPI_V3, STR(""), STR("pp"), STR("dd"), STR(""), &three);
    assert_true(str_is(find_bytes(strbuf_str(&three), "4"), "pp"));
    assert_true(str_is(find_bytes(strbuf_str(&three), "5.1"), "dd"));
    strbuf_release(&head);
    strbuf_release(&two);
    strbuf_release(&three);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_upstreams),
        cmocka_unit_test(definitions_are_of_the_tables),
        cmocka_unit_test(reach_is_closed),
        cmocka_unit_test(schemas_of_custom_kinds),
        cmocka_unit_test(schemas_that_say_nothing),
        cmocka_unit_test(messages),
        cmocka_unit_test(whole_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
