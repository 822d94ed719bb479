/* SPDX-License-Identifier: Apache-2.0 */
/* Near names, fields that belong elsewhere, kinds of other versions. */
#include "unit/unit.h"

#include "api/hints.h"

static void test_nearest(void **state)
{
    static const char *const NAMES[] = {"selectors", "allocationMode", "deviceClassName",
                                        "count",     "name",           "cel"};
    static const struct {
        const char *wanted, *name;
    } rows[] = {
        {"selector", "selectors"},
        {"alocationMode", "allocationMode"},
        {"allocationmode", "allocationMode"},
        {"deviceClass", "deviceClassName"},
        {"cuont", "count"},
        {"nam", "name"},
        {"cell", "cel"},
        {"driver", ""},
        {"x", ""},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct hint_nearest near = hint_nearest_to(str_from(rows[i].wanted));
        for (size_t k = 0; k < UNIT_COUNT(NAMES); k++)
            hint_nearest_try(&near, str_from(NAMES[k]));
        ROW(rows[i].wanted, str_is(near.name, rows[i].name));
    }
}

#define CLAIM(rest)                                                                      \
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, " rest "}"
#define REQUEST(rest) CLAIM("spec: {devices: {requests: [{name: r, " rest "}]}}")

static void test_issues(void **state)
{
    static const struct {
        const char *object, *hint;
    } rows[] = {
        {REQUEST("deviceClassName: x"),
         "deviceClassName belongs under \"exactly\": write "
         "spec.devices.requests[0].exactly.deviceClassName"},
        {CLAIM("spec: {requests: []}"),
         "requests belongs under \"devices\": write spec.devices.requests"},
        {CLAIM("devices: {}"), "devices belongs under \"spec\": write spec.devices"},
        {REQUEST("exactly: {constraints: []}"),
         "constraints stands too deep: write spec.devices.constraints"},
        {REQUEST("exactly: {count: 1, firstAvailable: []}"),
         "firstAvailable stands too deep: write spec.devices.requests[0].firstAvailable"},
        {CLAIM("spec: {spec: {devices: {}}}"),
         "in resource.k8s.io/v1 what stands under \"spec\" belongs directly under spec"},
        {REQUEST("exactly: {deviceClass: x}"), "did you mean \"deviceClassName\"?"},
        {REQUEST("exacly: {}"), "did you mean \"exactly\"?"},
        {REQUEST("exactly: {colour: red}"), ""},
        {"{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: "
         "{cel: {}}}",
         "cel belongs into an item of the list: spec.selectors[].cel"},
        {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, "
         "spec: "
         "{devices: [{name: d, basic: {attributes: {}}}]}}",
         "in resource.k8s.io/v1 what stands under \"basic\" belongs directly under "
         "spec.devices[0]"},
        {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, "
         "spec: "
         "{devices: [{name: d, attributes: {a.b/model: A100}}]}}",
         "write a.b/model: {string: A100}"},
        {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: c}, "
         "spec: "
         "{devices: [{name: d, capacity: {memory: 40Gi}}]}}",
         "write memory: {value: 40Gi}"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {containers: [{name: c, "
         "claims: [{name: x}]}]}}",
         "claims belongs under \"resources\": write spec.containers[0].resources.claims"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct arena a;
        struct doc_source src = {.name = "x", .text = str_from(rows[i].object)};
        struct doc_list list;
        struct api_issues issues = {0};
        arena_init(&a);
        assert_true(doc_read_yaml(&src, &a, &list, NULL));
        const struct api_kind *kind = api_kind_find(
            doc_get_text(&list.v[0], "apiVersion"), doc_get_text(&list.v[0], "kind"));
        api_check_object(kind, &list.v[0], &src, &a, &issues);
        ROW(rows[i].object, issues.list.n == 1);
        struct str hint = hint_for_issue(&issues.list.v[0], &list.v[0], &a);
        if (!str_is(hint, rows[i].hint))
            fail_msg("row '%s': got \"%.*s\"", rows[i].object, STR_ARG(hint));
        api_issues_release(&issues);
        arena_fini(&a);
    }
}

static void test_version(void **state)
{
    static const struct {
        const char *version, *kind, *hint;
    } rows[] = {
        {"resource.k8s.io/v1alpha2", "ResourceClaim",
         "Kubernetes 1.37 has ResourceClaim in resource.k8s.io/v1, "
         "resource.k8s.io/v1beta2, resource.k8s.io/v1beta1"},
        {"v1", "Deployment", "Kubernetes 1.37 has Deployment in apps/v1"},
        {"apps/v1", "Deploiment", "did you mean \"Deployment\"?"},
        {"serving.example.com/v1", "Service", ""},
        {"example.com/v1", "Thing", ""},
    };
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct str hint =
            hint_for_version(str_from(rows[i].version), str_from(rows[i].kind), &a);
        if (!str_is(hint, rows[i].hint))
            fail_msg("row '%s': got \"%.*s\"", rows[i].kind, STR_ARG(hint));
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_issues),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
