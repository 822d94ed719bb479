/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/api/objects.h"

#include "api/admit.h"
#include "api/canonical.h"
#include "api/defaults.h"
#include "api/prepare.h"

static const struct api_kind *kind_of(const char *group, const char *resource)
{
    const struct api_kind *k =
        api_resource_find(str_from(group), STR("v1"), str_from(resource));
    assert_non_null(k);
    return k;
}

static struct doc ready(struct arena *a, const struct api_kind *kind, const char *json)
{
    struct doc d = read_object(a, json);
    api_default(kind, &d, STR("2026-01-01T00:00:00Z"), a);
    api_canonical(kind->type, &d, a);
    return d;
}

/* What the path has after an update of old by in; "" : nothing. */
static const struct {
    const char *name, *group, *resource, *old, *in, *path, *out;
} UPDATES[] = {
    {"a spec that changes", "resource.k8s.io", "deviceclasses",
     "{\"metadata\":{\"generation\":4}}",
     "{\"metadata\":{\"generation\":1},\"spec\":{\"extendedResourceName\":\"a/b\"}}",
     "metadata.generation", "5"},
    {"one that does not", "resource.k8s.io", "deviceclasses",
     "{\"metadata\":{\"generation\":4}}", "{\"metadata\":{\"generation\":9}}",
     "metadata.generation", "4"},
    {"kinds without generations", "", "configmaps", "{}",
     "{\"metadata\":{\"generation\":9}}", "metadata.generation", ""},
    {"status is not for those who write the spec", "resource.k8s.io", "resourceclaims",
     "{\"status\":{\"reservedFor\":[{\"name\":\"a\",\"uid\":\"1\",\"resource\":\"pods\"}]"
     "}}",
     "{}", "status.reservedFor",
     "[{\"name\":\"a\",\"uid\":\"1\",\"resource\":\"pods\"}]"},
    {"and the spec not for those who write the status", "", "nodes/status",
     "{\"spec\":{\"unschedulable\":true}}", "{\"spec\":{}}", "spec.unschedulable",
     "true"},
    {"labels with the status of a claim", "resource.k8s.io", "resourceclaims/status",
     "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}",
     "{\"metadata\":{\"labels\":{\"a\":\"c\"}}}", "metadata.labels", "{\"a\":\"b\"}"},
    {"labels with the status of a node", "", "nodes/status",
     "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}",
     "{\"metadata\":{\"labels\":{\"a\":\"c\"}}}", "metadata.labels", "{\"a\":\"c\"}"},
    {"annotations of a deployment count", "apps", "deployments",
     "{\"metadata\":{\"generation\":1}}",
     "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", "metadata.generation", "2"},
    {"finalizers of a namespace", "", "namespaces",
     "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"kubernetes\"]}}",
     "{\"metadata\":{\"name\":\"n\"}}", "spec.finalizers", "[\"kubernetes\"]"},
    {"finalizers of a namespace that ends", "", "namespaces/finalize",
     "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"finalizers\":[\"kubernetes\"]}}",
     "{\"metadata\":{\"name\":\"n\"}}", "spec.finalizers", ""},
    {"a taint of another effect", "resource.k8s.io", "devicetaintrules",
     "{\"spec\":{\"taint\":{\"effect\":\"None\",\"timeAdded\":\"2020-01-01T00:00:00Z\"}}"
     "}",
     "{\"spec\":{\"taint\":{\"effect\":\"NoExecute\",\"timeAdded\":"
     "\"2020-01-01T00:00:00Z\"}}}",
     "spec.taint.timeAdded", "\"2026-02-02T00:00:00Z\""},
    {"a device that is given back", "resource.k8s.io", "resourceclaims/status",
     "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d\",\"pool\":"
     "\"p\",\"device\":\"x\"}]}}}}",
     "{\"status\":{\"devices\":[{\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\"}]}}",
     "status.devices", ""},
    {"pods keep the states of their claims", "", "pods/status",
     "{\"status\":{\"qosClass\":\"Burstable\",\"resourceClaimStatuses\":[{\"name\":"
     "\"a\"}]}}",
     "{\"status\":{\"phase\":\"Running\"}}", "status.resourceClaimStatuses",
     "[{\"name\":\"a\"}]"},
    {"and what their conditions saw", "", "pods/status",
     "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"observedGeneration\":3}]}}",
     "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
     "status.conditions",
     "[{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":3,"
     "\"lastProbeTime\":null,\"lastTransitionTime\":null}]"},
    {"debugging changes nothing else", "", "pods/ephemeralcontainers",
     "{\"metadata\":{\"generation\":1},\"spec\":{\"nodeName\":\"a\"}}",
     "{\"spec\":{\"nodeName\":\"b\",\"ephemeralContainers\":[{\"name\":\"c\"}]}}",
     "spec.nodeName", "\"a\""},
    {"debugging counts", "", "pods/ephemeralcontainers",
     "{\"metadata\":{\"generation\":1}}",
     "{\"spec\":{\"ephemeralContainers\":[{\"name\":\"c\"}]}}", "metadata.generation",
     "2"},
    {"resizing changes resources alone", "", "pods/resize",
     "{\"metadata\":{\"generation\":1},\"spec\":{\"containers\":[{\"name\":\"c\","
     "\"image\":\"a:1\"}]}}",
     "{\"spec\":{\"nodeName\":\"b\",\"containers\":[{\"name\":\"c\",\"image\":"
     "\"b:1\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}",
     "spec.containers",
     "[{\"name\":\"c\",\"image\":\"a:1\",\"imagePullPolicy\":\"IfNotPresent\","
     "\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"terminationMessagePath\":"
     "\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\"}]"},
    {"sources of a claim", "", "persistentvolumeclaims", "{}",
     "{\"spec\":{\"dataSourceRef\":{\"kind\":\"K\",\"name\":\"n\"}}}", "spec.dataSource",
     "{\"apiGroup\":null,\"kind\":\"K\",\"name\":\"n\"}"},
    {"a source that only the new field can say", "", "persistentvolumeclaims", "{}",
     "{\"spec\":{\"dataSource\":{\"kind\":\"K\",\"name\":\"n\"}}}", "spec.dataSource",
     ""},
    {"a changed template", "apps", "daemonsets",
     "{\"metadata\":{\"annotations\":{\"deprecated.daemonset.template.generation\":"
     "\"3\"}}}",
     "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}}",
     "metadata.annotations", "{\"deprecated.daemonset.template.generation\":\"4\"}"},
    {"stored versions", "apiextensions.k8s.io", "customresourcedefinitions",
     "{\"status\":{\"storedVersions\":[\"v1\"]}}",
     "{\"spec\":{\"versions\":[{\"name\":\"v2\",\"storage\":true}]}}",
     "status.storedVersions", "[\"v1\",\"v2\"]"},
};

static void test_updates(void **state)
{
    struct arena a = {0};
    struct api_prepare p = {.a = &a, .now = STR("2026-02-02T00:00:00Z")};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(UPDATES); i++) {
        const struct api_kind *kind = kind_of(UPDATES[i].group, UPDATES[i].resource);
        struct doc old = ready(&a, kind, UPDATES[i].old),
                   object = ready(&a, kind, UPDATES[i].in);
        api_prepare_update(&p, kind, &object, &old);
        const struct doc *got = doc_path(&object, UPDATES[i].path);
        if (*UPDATES[i].out && got)
            object_is(&a, UPDATES[i].name, got, UPDATES[i].out);
        else
            ROW(UPDATES[i].name, !*UPDATES[i].out && !got);
    }
    arena_fini(&a);
}

#define RESOURCES(what) "{\"resources\":{" what "}}"
#define BOTH(cpu, memory) "\"limits\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory "\"}"

static const struct {
    const char *spec, *service;
} SERVICES[] = {
    {"\"containers\":[{}]", "BestEffort"},
    {"\"containers\":[" RESOURCES(BOTH("1", "1Gi")) "]", "Guaranteed"},
    {"\"containers\":[" RESOURCES(BOTH("1", "1Gi")) ",{}]", "Burstable"},
    {"\"containers\":[" RESOURCES(BOTH("1", "1Gi")) "],\"initContainers\":[{}]",
     "Burstable"},
    {"\"containers\":[" RESOURCES("\"limits\":{\"cpu\":\"1\"}") "]", "Burstable"},
    {"\"containers\":[" RESOURCES("\"requests\":{\"cpu\":\"1\"}") "]", "Burstable"},
    {"\"containers\":[" RESOURCES("\"limits\":{\"x\":\"1\"}") "]", "BestEffort"},
    {"\"containers\":[" RESOURCES("\"requests\":{\"cpu\":\"0\"}") "]", "BestEffort"},
    {"\"containers\":[" RESOURCES(
         BOTH("1", "1Gi") ",\"requests\":{\"cpu\":\"1000m\",\"memory\":\"1Gi\"}") "]",
     "Guaranteed"},
    {"\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"containers\":[{}]", "Burstable"},
};

static void test_services(void **state)
{
    struct arena a = {0};
    struct api_prepare p = {.a = &a, .now = STR("2026-02-02T00:00:00Z")};
    const struct api_kind *pods = kind_of("", "pods");
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SERVICES); i++) {
        struct str json = arena_printf(&a, "{\"spec\":{%s}}", SERVICES[i].spec);
        struct doc pod = ready(&a, pods, json.p);
        api_prepare_create(&p, pods, &pod);
        ROW(SERVICES[i].spec,
            doc_is_string(doc_path(&pod, "status.qosClass"), SERVICES[i].service));
    }
    arena_fini(&a);
}

/* spec of a pod; its resources afterwards. */
static const struct {
    const char *spec, *resources;
} LEVELS[] = {
    {"\"resources\":{\"limits\":{\"cpu\":\"2\"}},\"containers\":[{}]",
     "{\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"2\"}}"},
    {"\"resources\":{\"limits\":{\"cpu\":\"2\"}},\"containers\":[" RESOURCES(
         "\"requests\":{\"cpu\":\"500m\"}") "," RESOURCES("\"requests\":{\"cpu\":"
                                                          "\"250m\",\"memory\":"
                                                          "\"1Gi\"}") "]",
     "{\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"750m\",\"memory\":"
     "\"1Gi\"}}"},
    {"\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"1\"}},\"containers\":"
     "[" RESOURCES("\"limits\":{\"cpu\":\"1\",\"memory\":\"2\"}") "," RESOURCES(
         "\"limits\":{\"cpu\":\"1\"}") "]",
     "{\"limits\":{\"cpu\":\"3\"},\"requests\":{\"cpu\":\"3\",\"memory\":\"1\"}}"},
    {"\"resources\":{\"limits\":{\"cpu\":\"9\"}},\"containers\":[" RESOURCES(
         "\"requests\":{\"cpu\":\"1\"}") "],\"initContainers\":["
                                         "{\"restartPolicy\":\"Always\","
                                         "\"resources\":{\"requests\":{\"cpu\":\"2\"}"
                                         "}}," RESOURCES(
                                             "\"requests\":{\"cpu\":\"4\"}") "]",
     "{\"limits\":{\"cpu\":\"9\"},\"requests\":{\"cpu\":\"6\"}}"},
    {"\"resources\":{\"limits\":{\"cpu\":\"1\"}},\"containers\":[" RESOURCES(
         "\"limits\":{\"hugepages-2Mi\":\"4Mi\"}") "]",
     "{\"limits\":{\"cpu\":\"1\",\"hugepages-2Mi\":\"4Mi\"},\"requests\":{\"cpu\":"
     "\"1\",\"hugepages-2Mi\":\"4Mi\"}}"},
    {"\"resources\":{},\"containers\":[" RESOURCES("\"limits\":{\"cpu\":\"1\"}") "]",
     "{}"},
};

static void test_pod_level(void **state)
{
    struct arena a = {0};
    struct api_prepare p = {.a = &a, .now = STR("2026-02-02T00:00:00Z")};
    const struct api_kind *pods = kind_of("", "pods");
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(LEVELS); i++) {
        struct str json = arena_printf(&a, "{\"spec\":{%s}}", LEVELS[i].spec);
        struct doc pod = ready(&a, pods, json.p);
        api_prepare_create(&p, pods, &pod);
        object_is(&a, LEVELS[i].spec, doc_path(&pod, "spec.resources"),
                  LEVELS[i].resources);
    }
    arena_fini(&a);
}

static void test_new_pod(void **state)
{
    struct arena a = {0};
    struct api_prepare p = {.a = &a, .now = STR("2026-02-02T00:00:00Z")};
    const struct api_kind *pods = kind_of("", "pods");
    (void)state;
    struct doc pod = ready(
        &a, pods,
        "{\"metadata\":{\"labels\":{\"app\":\"x\"},\"deletionTimestamp\":"
        "\"2026-01-01T00:00:00Z\"},\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}],"
        "\"topologySpreadConstraints\":[{\"labelSelector\":{},\"matchLabelKeys\":"
        "[\"app\",\"none\"]}]},\"status\":{\"phase\":\"Running\"}}");
    api_prepare_create(&p, pods, &pod);
    assert_null(doc_path(&pod, "metadata.deletionTimestamp"));
    object_is(&a, "status", doc_get(&pod, "status"),
              "{\"phase\":\"Pending\",\"qosClass\":\"BestEffort\",\"conditions\":[{"
              "\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
              "\"SchedulingGated\",\"message\":\"Scheduling is blocked due to non-empty "
              "scheduling gates\",\"lastProbeTime\":null,\"lastTransitionTime\":"
              "\"2026-02-02T00:00:00Z\"}]}");
    const struct doc *spread = doc_path(&pod, "spec.topologySpreadConstraints");
    object_is(&a, "selector", doc_get(&spread->items[0], "labelSelector"),
              "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":"
              "[\"x\"]}]}");
    arena_fini(&a);
}

/* spec of the old service (NULL: a new one), of the new one, families of the cluster. */
static const struct {
    const char *name, *old, *in, *families, *out;
} FAMILIES[] = {
    {"single", NULL, "{}", "IPv6,IPv4",
     "{\"ipFamilyPolicy\":\"SingleStack\",\"ipFamilies\":[\"IPv6\"]}"},
    {"an address that is asked for", NULL, "{\"clusterIP\":\"fd::1\"}", "IPv4,IPv6",
     "{\"clusterIP\":\"fd::1\",\"clusterIPs\":[\"fd::1\"],\"ipFamilyPolicy\":"
     "\"SingleStack\",\"ipFamilies\":[\"IPv6\"]}"},
    {"two where there are two", NULL, "{\"ipFamilyPolicy\":\"PreferDualStack\"}",
     "IPv4,IPv6",
     "{\"ipFamilyPolicy\":\"PreferDualStack\",\"ipFamilies\":[\"IPv4\",\"IPv6\"]}"},
    {"two where there is one", NULL, "{\"ipFamilyPolicy\":\"PreferDualStack\"}", "IPv4",
     "{\"ipFamilyPolicy\":\"PreferDualStack\",\"ipFamilies\":[\"IPv4\"]}"},
    {"headless, pods of others", NULL, "{\"clusterIP\":\"None\"}", "IPv4",
     "{\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"],\"ipFamilyPolicy\":"
     "\"RequireDualStack\",\"ipFamilies\":[\"IPv4\",\"IPv6\"]}"},
    {"the second is given up",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\",\"fd::1\"],"
     "\"ipFamilyPolicy\":\"PreferDualStack\",\"ipFamilies\":[\"IPv4\",\"IPv6\"]}",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\",\"fd::1\"],"
     "\"ipFamilyPolicy\":\"SingleStack\",\"ipFamilies\":[\"IPv4\",\"IPv6\"]}",
     "IPv4,IPv6",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],\"ipFamilyPolicy\":"
     "\"SingleStack\",\"ipFamilies\":[\"IPv4\"]}"},
    {"writers that know one address",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],\"ipFamilyPolicy\":"
     "\"SingleStack\",\"ipFamilies\":[\"IPv4\"]}",
     "{\"clusterIP\":\"1.1.1.1\"}", "IPv4",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],\"ipFamilyPolicy\":"
     "\"SingleStack\",\"ipFamilies\":[\"IPv4\"]}"},
    {"what was chosen stays",
     "{\"type\":\"NodePort\",\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],"
     "\"ipFamilyPolicy\":\"SingleStack\",\"ipFamilies\":[\"IPv4\"],\"ports\":[{\"name\":"
     "\"a\",\"port\":1,\"nodePort\":30001},{\"name\":\"b\",\"port\":2,\"nodePort\":"
     "30002}]}",
     "{\"type\":\"NodePort\",\"ports\":[{\"name\":\"b\",\"port\":3},{\"name\":\"c\","
     "\"port\":1,\"nodePort\":30001},{\"name\":\"a\",\"port\":4}]}",
     "IPv4",
     "{\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],\"ipFamilyPolicy\":"
     "\"SingleStack\",\"ipFamilies\":[\"IPv4\"],\"ports\":[{\"name\":\"b\",\"port\":3,"
     "\"protocol\":\"TCP\",\"targetPort\":3,\"nodePort\":30002},{\"name\":\"c\",\"port\":"
     "1,"
     "\"protocol\":\"TCP\",\"targetPort\":1,\"nodePort\":30001},{\"name\":\"a\",\"port\":"
     "4,"
     "\"protocol\":\"TCP\",\"targetPort\":4}]}"},
    {"another type does away with what it does not need",
     "{\"type\":\"LoadBalancer\",\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],"
     "\"ipFamilyPolicy\":\"SingleStack\",\"ipFamilies\":[\"IPv4\"],"
     "\"externalTrafficPolicy\":\"Local\",\"healthCheckNodePort\":30005,\"ports\":[{"
     "\"port\":1,\"nodePort\":30001}]}",
     "{\"type\":\"ExternalName\",\"clusterIP\":\"1.1.1.1\",\"clusterIPs\":[\"1.1.1.1\"],"
     "\"ipFamilyPolicy\":\"SingleStack\",\"ipFamilies\":[\"IPv4\"],"
     "\"externalTrafficPolicy\":\"Local\",\"healthCheckNodePort\":30005,\"ports\":[{"
     "\"port\":1,\"nodePort\":30001}]}",
     "IPv4", "{\"ports\":[{\"port\":1,\"protocol\":\"TCP\",\"targetPort\":1}]}"},
    {"none for names of elsewhere", NULL, "{\"type\":\"ExternalName\"}", "IPv4",
     "{\"type\":\"ExternalName\"}"},
};

static void test_service_families(void **state)
{
    static const char *const kept[] = {"clusterIP",  "clusterIPs", "ipFamilyPolicy",
                                       "ipFamilies", "ports",      "healthCheckNodePort"};
    struct arena a = {0};
    const struct api_kind *services = kind_of("", "services");
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(FAMILIES); i++) {
        struct api_prepare p = {&a, STR("2026-02-02T00:00:00Z"), FAMILIES[i].families};
        struct str in = arena_printf(&a, "{\"spec\":%s}", FAMILIES[i].in),
                   was = arena_printf(&a, "{\"spec\":%s}",
                                      FAMILIES[i].old ? FAMILIES[i].old : "{}");
        struct doc object = ready(&a, services, in.p), old = ready(&a, services, was.p);
        struct doc want = read_object(&a, FAMILIES[i].out);
        if (FAMILIES[i].old)
            api_prepare_update(&p, services, &object, &old);
        else
            api_prepare_create(&p, services, &object);
        for (size_t k = 0; k < UNIT_COUNT(kept); k++) {
            const struct doc *x = doc_get(&want, kept[k]),
                             *y = doc_get(doc_get(&object, "spec"), kept[k]);
            ROW(FAMILIES[i].name, x && y ? doc_equal(x, y) : x == y);
        }
    }
    arena_fini(&a);
}

static void test_admission_is_idempotent(void **state)
{
    struct arena a = {0};
    struct api_admit p = {.a = &a, .priority = 7, .preemption = "Never"};
    const struct api_kind *pods = kind_of("", "pods"), *nodes = kind_of("", "nodes");
    (void)state;
    struct doc pod = read_object(
        &a, "{\"spec\":{\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\"}]}}");
    struct doc node = read_object(&a, "{}");
    for (int i = 0; i < 2; i++) {
        api_admit_create(&p, pods, &pod);
        api_admit_create(&p, nodes, &node);
        object_is(&a, "pod", &pod,
                  "{\"spec\":{\"priority\":7,\"preemptionPolicy\":\"Never\","
                  "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\"},{\"key\":"
                  "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
                  "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]}}");
        object_is(&a, "node", &node,
                  "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/not-ready\","
                  "\"effect\":\"NoSchedule\"}]}}");
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_services),
        cmocka_unit_test(test_pod_level),
        cmocka_unit_test(test_new_pod),
        cmocka_unit_test(test_service_families),
        cmocka_unit_test(test_admission_is_idempotent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
