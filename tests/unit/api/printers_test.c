/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of kinds that the recorded tables do not have. */
#include "unit/api/objects.h"

#include "api/printers.h"

static const struct {
    const char *version, *kind, *object, *cells;
} ROWS[] = {
    {"v1", "LimitRange",
     "\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2025-12-31T23:59:00Z\"}",
     "[\"a\",\"2025-12-31T23:59:00Z\"]"},
    {"v1", "Endpoints",
     "\"metadata\":{\"name\":\"a\"},\"subsets\":[{\"addresses\":[{\"ip\":\"10.0.0.1\"},"
     "{\"ip\":\"fd::1\"}],\"ports\":[{\"port\":1},{\"port\":2}]}]",
     "[\"a\",\"10.0.0.1:1,[fd::1]:1,10.0.0.1:2 + 1 more...\",\"<unknown>\"]"},
    {"v1", "Service",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"LoadBalancer\",\"externalIPs\":"
     "[\"9.9.9.9\"],\"ports\":[{\"port\":80,\"nodePort\":30000,\"protocol\":\"TCP\"}]},"
     "\"status\":{\"loadBalancer\":{\"ingress\":[{\"hostname\":\"h\"},{\"ip\":\"1.1.1."
     "1\"}"
     "]}}",
     "[\"a\",\"LoadBalancer\",\"<none>\",\"1.1.1.1,h,9.9.9.9\",\"80:30000/TCP\","
     "\"<unknown>\",\"<none>\"]"},
    {"v1", "ResourceQuota",
     "\"metadata\":{\"name\":\"a\"},\"status\":{\"hard\":{\"pods\":\"3\",\"cpu.x\":\"1\","
     "\"cpu\":\"2\",\"limits.cpu\":\"4\"},\"used\":{\"pods\":\"1\"}}",
     "[\"a\",\"cpu: 0/2, cpu.x: 0/1, pods: 1/3\",\"limits.cpu: 0/4\",\"<unknown>\"]"},
    {"v1", "PersistentVolume",
     "\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
     "\"spec\":{\"accessModes\":[\"ReadWriteMany\",\"ReadWriteOnce\"],\"claimRef\":{"
     "\"namespace\":\"n\",\"name\":\"c\"}}",
     "[\"a\",\"0\",\"RWO,RWX\",\"\",\"Terminating\",\"n/c\",\"\",\"<unset>\",\"\","
     "\"<unknown>\",\"<unset>\"]"},
    {"apps/v1", "ControllerRevision",
     "\"metadata\":{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
     "\"X\",\"name\":\"y\"},{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"name\":"
     "\"d\",\"controller\":true}]},\"revision\":3",
     "[\"a\",\"daemonset.apps/d\",3,\"<unknown>\"]"},
    {"autoscaling/v2", "HorizontalPodAutoscaler",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"minReplicas\":1,\"maxReplicas\":5,"
     "\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"d\"},\"metrics\":[{\"type\":"
     "\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"averageUtilization\":80}}"
     "}"
     ",{\"type\":\"External\",\"external\":{\"target\":{\"averageValue\":\"5\"}}},{"
     "\"type\":\"Pods\"}]},\"status\":{\"currentMetrics\":[{\"type\":\"Resource\","
     "\"resource\":{\"current\":{\"averageUtilization\":12}}}]}",
     "[\"a\",\"Deployment/d\",\"cpu: 12%/80%, <unknown>/5 (avg) + 1 more...\",\"1\",5,0,"
     "\"<unknown>\"]"},
    {"autoscaling/v1", "HorizontalPodAutoscaler",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"maxReplicas\":5,\"scaleTargetRef\":{"
     "\"kind\":\"Deployment\",\"name\":\"d\"}}",
     "[\"a\",\"Deployment/d\",\"cpu: <unknown>/80%\",\"<unset>\",5,0,\"<unknown>\"]"},
    {"networking.k8s.io/v1", "Ingress",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"rules\":[{\"host\":\"x\"},{},{\"host\":"
     "\"y\"}],\"tls\":[{}]}",
     "[\"a\",\"<none>\",\"x,y\",\"\",\"80, 443\",\"<unknown>\"]"},
    {"networking.k8s.io/v1", "IngressClass",
     "\"metadata\":{\"name\":\"a\",\"annotations\":{"
     "\"ingressclass.kubernetes.io/is-default-class\":\"true\"}},\"spec\":{"
     "\"parameters\":{\"apiGroup\":\"g\",\"kind\":\"K\",\"name\":\"n\"}}",
     "[\"a (default)\",\"\",\"K.g/n\",\"<unknown>\"]"},
    {"networking.k8s.io/v1", "IPAddress",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"parentRef\":{\"resource\":\"services\","
     "\"namespace\":\"n\",\"name\":\"s\"}}",
     "[\"a\",\"services/n/s\"]"},
    {"discovery.k8s.io/v1", "EndpointSlice",
     "\"metadata\":{\"name\":\"a\"},\"addressType\":\"IPv4\",\"ports\":[{\"port\":80},{"
     "\"name\":\"x\"},{}],\"endpoints\":[{\"addresses\":[\"1\",\"2\"]},{\"addresses\":["
     "\"3\",\"4\",\"5\"]}]",
     "[\"a\",\"IPv4\",\"80,x,*\",\"1,2,3 + 2 more...\",\"<unknown>\"]"},
    {"storage.k8s.io/v1", "CSIDriver",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"storageCapacity\":true,"
     "\"volumeLifecycleModes\":[\"Persistent\",\"Ephemeral\"]}",
     "[\"a\",true,false,true,\"<unset>\",false,\"Persistent,Ephemeral\",\"<unknown>\"]"},
    {"certificates.k8s.io/v1", "CertificateSigningRequest",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"expirationSeconds\":3600,\"username\":"
     "\"u\"},\"status\":{\"conditions\":[{\"type\":\"Approved\"}],\"certificate\":\"AA=="
     "\""
     "}",
     "[\"a\",\"<unknown>\",\"<none>\",\"u\",\"60m\",\"Approved,Issued\"]"},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"policyName\":\"p\",\"paramRef\":{"
     "\"selector\":{\"matchLabels\":{\"b\":\"c\"},\"matchExpressions\":[{\"key\":\"k\","
     "\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]}}}",
     "[\"a\",\"p\",\"&LabelSelector{MatchLabels:map[string]string{b: c,},"
     "MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,"
     "Operator:In,Values:[x y],},},}\",\"<unknown>\"]"},
    {"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"Limited\",\"limited\":{"
     "\"nominalConcurrencyShares\":0,\"limitResponse\":{}}}",
     "[\"a\",\"Limited\",0,\"<none>\",\"<none>\",\"<none>\",\"<unknown>\"]"},
    {"storagemigration.k8s.io/v1", "StorageVersionMigration",
     "\"metadata\":{\"name\":\"a\"},\"spec\":{\"resource\":{\"group\":\"g\",\"resource\":"
     "\"r\"}},\"status\":{\"conditions\":[{\"type\":\"Running\",\"status\":\"True\"}]}",
     "[\"a\",\"r.g\",\"Running\"]"},
    {"events.k8s.io/v1", "Event",
     "\"metadata\":{\"name\":\"a\"},\"eventTime\":\"2025-12-31T23:59:00.000000Z\","
     "\"note\":\"hi "
     "\",\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\",\"fieldPath\":\"f\"}"
     ",\"reportingController\":\"c\",\"reportingInstance\":\"i\",\"type\":\"Normal\"",
     "[\"60s\",\"Normal\",\"\",\"pod/p\",\"f\",\"c, i\",\"hi\",\"60s\",1,\"a\"]"},
};

static struct doc table_of(struct arena *a, const char *json, enum api_include include)
{
    struct api_print p = {.a = a, .now = 1767225600000000000, .include = include};
    struct doc object = read_object(a, json);
    return api_table(&p, &object);
}

static void test_cells(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct str json = arena_printf(&a, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",%s}",
                                       ROWS[i].version, ROWS[i].kind, ROWS[i].object);
        struct doc table = table_of(&a, json.p, API_INCLUDE_NONE);
        const struct doc *rows = doc_get(&table, "rows"),
                         *columns = doc_get(&table, "columnDefinitions");
        const struct doc *cells = doc_get(&rows->items[0], "cells");
        object_is(&a, ROWS[i].kind, cells, ROWS[i].cells);
        ROW(ROWS[i].kind, cells->n == columns->n);
    }
    arena_fini(&a);
}

#define CLASS(name, time)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"creationTimestamp\":\"" time "\","           \
    "\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}}}"

static void test_lists(void **state)
{
    struct arena a = {0};
    (void)state;
    struct doc table = table_of(
        &a,
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClassList\","
        "\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"c\"},\"items\":"
        "[" CLASS("old", "2020-01-01T00:00:00Z") "," CLASS(
            "b", "2025-01-01T00:00:00Z") "," CLASS("a", "2025-01-01T00:00:00Z") "]}",
        API_INCLUDE_METADATA);
    static const char *const names[] = {"old", "b", "a (default)"};
    const struct doc *rows = doc_get(&table, "rows");
    object_is(&a, "list", doc_get(&table, "metadata"),
              "{\"resourceVersion\":\"7\",\"continue\":\"c\"}");
    assert_int_equal(rows->n, 3);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct doc *cells = doc_get(&rows->items[i], "cells");
        assert_true(doc_is_string(&cells->items[0], names[i]));
        assert_true(doc_is_string(doc_path(&rows->items[i], "object.kind"),
                                  "PartialObjectMetadata"));
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
