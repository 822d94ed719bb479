/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of defaults/ that the recorded minimal objects do not reach. */
#include "unit/api/objects.h"

#include "api/defaults.h"

static const struct {
    const char *name, *version, *kind, *in, *out;
} ROWS[] = {
    {"session affinity by address", "v1", "Service",
     "{\"spec\":{\"sessionAffinity\":\"ClientIP\",\"type\":\"ExternalName\"}}",
     "{\"spec\":{\"sessionAffinity\":\"ClientIP\",\"type\":\"ExternalName\","
     "\"sessionAffinityConfig\":{\"clientIP\":{\"timeoutSeconds\":10800}}}}"},
    {"a timeout that is set stays", "v1", "Service",
     "{\"spec\":{\"sessionAffinity\":\"ClientIP\",\"type\":\"ExternalName\","
     "\"sessionAffinityConfig\":{\"clientIP\":{\"timeoutSeconds\":5}}}}",
     "{\"spec\":{\"sessionAffinity\":\"ClientIP\",\"type\":\"ExternalName\","
     "\"sessionAffinityConfig\":{\"clientIP\":{\"timeoutSeconds\":5}}}}"},
    {"no affinity, no settings of it", "v1", "Service",
     "{\"spec\":{\"type\":\"ExternalName\",\"sessionAffinityConfig\":{}}}",
     "{\"spec\":{\"sessionAffinity\":\"None\",\"type\":\"ExternalName\"}}"},
    {"load balancers", "v1", "Service",
     "{\"spec\":{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80,\"targetPort\":\"\"}]}"
     ","
     "\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.1\"},{\"hostname\":"
     "\"h\"}]}}}",
     "{\"spec\":{\"sessionAffinity\":\"None\",\"type\":\"LoadBalancer\","
     "\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80}],"
     "\"externalTrafficPolicy\":\"Cluster\",\"internalTrafficPolicy\":\"Cluster\","
     "\"allocateLoadBalancerNodePorts\":true},\"status\":{\"loadBalancer\":{\"ingress\":"
     "[{\"ip\":\"10.0.0.1\",\"ipMode\":\"VIP\"},{\"hostname\":\"h\"}]}}}"},
    {"external addresses", "v1", "Service",
     "{\"spec\":{\"type\":\"ClusterIP\",\"externalIPs\":[\"10.0.0.1\"]}}",
     "{\"spec\":{\"type\":\"ClusterIP\",\"externalIPs\":[\"10.0.0.1\"],"
     "\"sessionAffinity\":\"None\",\"externalTrafficPolicy\":\"Cluster\","
     "\"internalTrafficPolicy\":\"Cluster\"}}"},
    {"limits of a range", "v1", "LimitRange",
     "{\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},"
     "\"min\":{\"memory\":\"1Mi\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"0.0001\"}}]}}",
     "{\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},"
     "\"default\":{\"cpu\":\"2\"},\"min\":{\"memory\":\"1Mi\"},"
     "\"defaultRequest\":{\"cpu\":\"2\",\"memory\":\"1Mi\"}},"
     "{\"type\":\"Pod\",\"max\":{\"cpu\":\"1m\"}}]}}"},
    {"what a node has it offers", "v1", "Node",
     "{\"status\":{\"capacity\":{\"cpu\":\"4\"}}}",
     "{\"status\":{\"capacity\":{\"cpu\":\"4\"},\"allocatable\":{\"cpu\":\"4\"}}}"},
    {"clear text over bytes", "v1", "Secret",
     "{\"data\":{\"a\":\"AA==\",\"b\":\"AA==\"},\"stringData\":{\"a\":\"x\"}}",
     "{\"type\":\"Opaque\",\"data\":{\"a\":\"eA==\",\"b\":\"AA==\"}}"},
    {"labels of a controller", "v1", "ReplicationController",
     "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
     "\"dnsPolicy\":\"x\",\"restartPolicy\":\"x\",\"securityContext\":{},"
     "\"terminationGracePeriodSeconds\":0,\"schedulerName\":\"x\"}}}}",
     "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"replicas\":1,\"selector\":{"
     "\"a\":\"b\"},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
     "\"dnsPolicy\":\"x\",\"restartPolicy\":\"x\",\"securityContext\":{},"
     "\"terminationGracePeriodSeconds\":0,\"schedulerName\":\"x\"}}}}"},
    {"both kinds of traffic", "networking.k8s.io/v1", "NetworkPolicy",
     "{\"spec\":{\"egress\":[{}]}}",
     "{\"spec\":{\"egress\":[{}],\"policyTypes\":[\"Ingress\",\"Egress\"]}}"},
    {"parameters of a class", "networking.k8s.io/v1", "IngressClass",
     "{\"spec\":{\"parameters\":{\"kind\":\"K\",\"name\":\"n\"}}}",
     "{\"spec\":{\"parameters\":{\"kind\":\"K\",\"name\":\"n\",\"scope\":\"Cluster\"}}}"},
    {"no parameters", "networking.k8s.io/v1", "IngressClass", "{\"spec\":{}}",
     "{\"spec\":{}}"},
    {"scaling", "autoscaling/v2", "HorizontalPodAutoscaler",
     "{\"spec\":{\"minReplicas\":0,\"metrics\":[{\"type\":\"Pods\"}],\"behavior\":{"
     "\"scaleUp\":{\"selectPolicy\":\"Min\"}}}}",
     "{\"spec\":{\"minReplicas\":0,\"metrics\":[{\"type\":\"Pods\"}],\"behavior\":{"
     "\"scaleUp\":{\"selectPolicy\":\"Min\",\"stabilizationWindowSeconds\":0,"
     "\"policies\":"
     "[{\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15},{\"type\":\"Percent\","
     "\"value\":100,\"periodSeconds\":15}]},\"scaleDown\":{\"selectPolicy\":\"Max\","
     "\"policies\":[{\"type\":\"Percent\",\"value\":100,\"periodSeconds\":15}]}}}}"},
    {"replicas by hand", "apps/v1", "StatefulSet",
     "{\"spec\":{\"replicas\":0,\"revisionHistoryLimit\":0,\"podManagementPolicy\":"
     "\"Parallel\",\"updateStrategy\":{\"type\":\"RollingUpdate\"},"
     "\"persistentVolumeClaimRetentionPolicy\":{\"whenScaled\":\"Delete\"},"
     "\"template\":{\"spec\":{\"dnsPolicy\":\"x\",\"restartPolicy\":\"x\","
     "\"securityContext\":{},\"terminationGracePeriodSeconds\":0,\"schedulerName\":\"x\"}"
     "}"
     "}}",
     "{\"spec\":{\"replicas\":0,\"revisionHistoryLimit\":0,\"podManagementPolicy\":"
     "\"Parallel\",\"updateStrategy\":{\"type\":\"RollingUpdate\"},"
     "\"persistentVolumeClaimRetentionPolicy\":{\"whenScaled\":\"Delete\","
     "\"whenDeleted\":\"Retain\"},"
     "\"template\":{\"spec\":{\"dnsPolicy\":\"x\",\"restartPolicy\":\"x\","
     "\"securityContext\":{},\"terminationGracePeriodSeconds\":0,\"schedulerName\":\"x\"}"
     "}"
     "}}"},
    {"a taint of a device", "resource.k8s.io/v1", "ResourceSlice",
     "{\"spec\":{\"devices\":[{\"taints\":[{\"key\":\"a\"},{\"key\":\"b\",\"timeAdded\":"
     "\"2020-01-01T00:00:00Z\"}]}]}}",
     "{\"spec\":{\"devices\":[{\"taints\":[{\"key\":\"a\",\"timeAdded\":"
     "\"2026-01-01T00:00:00Z\"},{\"key\":\"b\",\"timeAdded\":\"2020-01-01T00:00:00Z\"}]}]"
     "}"
     "}"},
};

static void test_rows(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        const struct api_kind *kind =
            api_kind_find(str_from(ROWS[i].version), str_from(ROWS[i].kind));
        struct doc d = read_object(&a, ROWS[i].in);
        assert_non_null(kind);
        api_default(kind, &d, STR("2026-01-01T00:00:00Z"), &a);
        object_is(&a, ROWS[i].name, &d, ROWS[i].out);
        api_default(kind, &d, STR("2027-01-01T00:00:00Z"), &a);
        object_is(&a, ROWS[i].name, &d, ROWS[i].out);
    }
    arena_fini(&a);
}

static struct doc defaulted_spec(struct arena *a, const char *spec)
{
    const struct api_kind *pod = api_kind_find(STR("v1"), STR("Pod"));
    struct doc d = read_object(a, spec);
    api_default(pod, &d, STR("2026-01-01T00:00:00Z"), a);
    return d;
}

/* Two objects never share what one of them may change. */
static void test_nothing_shared(void **state)
{
    struct arena a = {0};
    (void)state;
    struct doc x = defaulted_spec(&a, "{\"spec\":{}}"),
               y = defaulted_spec(&a, "{\"spec\":{}}");
    struct doc *mine = (struct doc *)doc_path(&x, "spec.securityContext");
    doc_set(&a, mine, "runAsUser", doc_make_int(&a, 1));
    object_is(&a, "shared", doc_path(&y, "spec.securityContext"), "{}");
    arena_fini(&a);
}

static const struct {
    const char *name, *in, *path, *out;
} PODS[] = {
    {"negative grace", "{\"spec\":{\"terminationGracePeriodSeconds\":-5}}",
     "spec.terminationGracePeriodSeconds", "1"},
    {"zero is a grace", "{\"spec\":{\"terminationGracePeriodSeconds\":0}}",
     "spec.terminationGracePeriodSeconds", "0"},
    {"old name of the account", "{\"spec\":{\"serviceAccount\":\"a\"}}",
     "spec.serviceAccountName", "\"a\""},
    {"new name of the account",
     "{\"spec\":{\"serviceAccount\":\"a\",\"serviceAccountName\":\"b\"}}",
     "spec.serviceAccount", "\"b\""},
    {"volume of nothing", "{\"spec\":{\"volumes\":[{\"name\":\"v\"}]}}", "spec.volumes",
     "[{\"name\":\"v\",\"emptyDir\":{}}]"},
    {"image volume",
     "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"image\":{\"reference\":\"a:1\"}}]}}",
     "spec.volumes",
     "[{\"name\":\"v\",\"image\":{\"reference\":\"a:1\",\"pullPolicy\":\"IfNotPresent\"}}"
     "]"},
    {"addresses from one", "{\"status\":{\"podIP\":\"10.0.0.1\"}}", "status.podIPs",
     "[{\"ip\":\"10.0.0.1\"}]"},
    {"one from addresses", "{\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.2\"}]}}",
     "status.podIP", "\"10.0.0.2\""},
    {"the one address counts",
     "{\"status\":{\"podIP\":\"10.0.0.1\",\"podIPs\":[{\"ip\":\"10.0.0.2\"}]}}",
     "status.podIPs", "[{\"ip\":\"10.0.0.1\"}]"},
    {"host ports",
     "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"containerPort\":1},"
     "{\"containerPort\":2,\"hostPort\":3}]}]}}",
     "spec.containers",
     "[{\"ports\":[{\"containerPort\":1,\"hostPort\":1,\"protocol\":\"TCP\"},"
     "{\"containerPort\":2,\"hostPort\":3,\"protocol\":\"TCP\"}],"
     "\"imagePullPolicy\":\"IfNotPresent\",\"terminationMessagePath\":"
     "\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\"}]"},
    {"requests from limits, rounded",
     "{\"spec\":{\"initContainers\":[{\"imagePullPolicy\":\"x\","
     "\"terminationMessagePath\":"
     "\"x\",\"terminationMessagePolicy\":\"x\",\"resources\":{\"limits\":{\"cpu\":\"1u\","
     "\"memory\":\"1\"},\"requests\":{\"memory\":\"0\"}}}]}}",
     "spec.initContainers",
     "[{\"imagePullPolicy\":\"x\",\"terminationMessagePath\":\"x\","
     "\"terminationMessagePolicy\":\"x\",\"resources\":{\"limits\":{\"cpu\":\"1m\","
     "\"memory\":\"1\"},\"requests\":{\"memory\":\"0\",\"cpu\":\"1m\"}}}]"},
};

static void test_pods(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(PODS); i++) {
        struct doc d = defaulted_spec(&a, PODS[i].in);
        object_is(&a, PODS[i].name, doc_path(&d, PODS[i].path), PODS[i].out);
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_nothing_shared),
        cmocka_unit_test(test_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
