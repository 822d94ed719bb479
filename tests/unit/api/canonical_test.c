/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/api/objects.h"

#include "api/canonical.h"

static const struct {
    const char *name, *type, *in, *out;
} ROWS[] = {
    {"null is nothing", "ConfigMap", "{\"data\":null,\"immutable\":null}",
     "{\"metadata\":{}}"},
    {"a set pointer stays", "ConfigMap", "{\"immutable\":false}",
     "{\"immutable\":false,\"metadata\":{}}"},
    {"empty containers go", "ConfigMap", "{\"data\":{}}", "{\"metadata\":{}}"},
    {"null in a map of texts", "ConfigMap", "{\"data\":{\"a\":null}}",
     "{\"data\":{\"a\":\"\"},\"metadata\":{}}"},
    {"unknown fields go", "ConfigMap", "{\"dat\":{},\"kind\":\"ConfigMap\"}",
     "{\"kind\":\"ConfigMap\",\"metadata\":{}}"},
    {"the last of equal keys", "ConfigMap", "{\"immutable\":false,\"immutable\":true}",
     "{\"immutable\":true,\"metadata\":{}}"},
    {"bytes", "Secret", "{\"data\":{\"a\":\"Zg\\n==\"}}",
     "{\"data\":{\"a\":\"Zg==\"},\"metadata\":{}}"},
    {"times in UTC", "ObjectMeta",
     "{\"creationTimestamp\":\"2026-01-01T01:00:00.5+01:00\"}",
     "{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"}"},
    {"a zero time", "ObjectMeta", "{\"creationTimestamp\":null}", "{}"},
    {"a zero time that Go prints", "ContainerStateRunning", "{}", "{\"startedAt\":null}"},
    {"quantities", "ResourceRequirements",
     "{\"limits\":{\"cpu\":1.5,\"memory\":\"0.5Gi\",\"x\":null}}",
     "{\"limits\":{\"cpu\":\"1500m\",\"memory\":\"512Mi\",\"x\":\"0\"}}"},
    {"a quantity that is always there", "ResourceFieldSelector",
     "{\"resource\":\"limits.cpu\"}", "{\"divisor\":\"0\",\"resource\":\"limits.cpu\"}"},
    {"null for a struct", "PodSpec", "{\"containers\":[null]}",
     "{\"containers\":[{\"name\":\"\",\"resources\":{}}]}"},
    {"lists that are always there", "PodSpec", "{}", "{\"containers\":null}"},
    {"items of a list are never null", "PodList", "{}", "{\"items\":[],\"metadata\":{}}"},
    {"other items may go", "ConfigMapVolumeSource", "{\"items\":[],\"name\":\"a\"}",
     "{\"name\":\"a\"}"},
    {"int or string", "ServicePort", "{\"port\":1}", "{\"port\":1,\"targetPort\":0}"},
};

static const struct api_type *type_named(const char *name)
{
    const struct api_type *t = api_type_find(STR(""), STR("v1"), str_from(name));
    return t ? t : api_type_find(STR("meta"), STR("v1"), str_from(name));
}

static void test_rows(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct doc d = read_object(&a, ROWS[i].in);
        const struct api_type *t = type_named(ROWS[i].type);
        assert_non_null(t);
        api_canonical(t, &d, &a);
        object_is(&a, ROWS[i].name, &d, ROWS[i].out);
        api_canonical(t, &d, &a);
        object_is(&a, ROWS[i].name, &d, ROWS[i].out);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
