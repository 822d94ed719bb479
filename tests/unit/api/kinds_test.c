/* SPDX-License-Identifier: Apache-2.0 */
/* What a write is told by the rules of the kinds around pods: services, storage,
 * schedules, certificates. */
#include "api/validate.h"

#include "objects.h"

#define META "\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"1\"}"
#define ALONE "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}"
#define SERVICE(rest)                                                                    \
    "{" META ",\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":80,"                     \
    "\"protocol\":\"TCP\"}],\"sessionAffinity\":\"None\"," rest "}}"
#define CLUSTER_IP "\"type\":\"ClusterIP\",\"internalTrafficPolicy\":\"Cluster\""
#define SET(STORAGE)                                                                     \
    "{" META ",\"spec\":{\"replicas\":1,\"podManagementPolicy\":\"Parallel\","           \
    "\"updateStrategy\":{\"type\":\"OnDelete\"},"                                        \
    "\"persistentVolumeClaimRetentionPolicy\":{\"whenDeleted\":\"Retain\","              \
    "\"whenScaled\":\"Retain\"},"                                                        \
    "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"          \
    "\"labels\":{\"a\":\"b\"}},"                                                         \
    "\"spec\":{\"restartPolicy\":\"Always\",\"dnsPolicy\":\"Default\","                  \
    "\"terminationGracePeriodSeconds\":30,"                                              \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"imagePullPolicy\":\"Never\","     \
    "\"terminationMessagePolicy\":\"File\"}]}},"                                         \
    "\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"v\"},\"spec\":{"                \
    "\"accessModes\":["                                                                  \
    "\"ReadWriteOnce\"],\"volumeMode\":\"Block\",\"resources\":{\"requests\":{" STORAGE  \
    "}}}}]}}"
#define CRON(rest)                                                                       \
    "{" META ",\"spec\":{\"concurrencyPolicy\":\"Allow\",\"jobTemplate\":{\"spec\":{"    \
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"dnsPolicy\":"                 \
    "\"ClusterFirst\","                                                                  \
    "\"terminationGracePeriodSeconds\":1,\"containers\":[{\"name\":\"c\",\"image\":"     \
    "\"i\","                                                                             \
    "\"imagePullPolicy\":\"Always\",\"terminationMessagePolicy\":\"File\"}]}}}}," rest   \
    "}}"
#define PV(rest)                                                                         \
    "{" ALONE ",\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":"           \
    "[\"ReadWriteOnce\"],\"persistentVolumeReclaimPolicy\":\"Retain\",\"volumeMode\":"   \
    "\"Filesystem\"," rest "}}"
#define PVC(size, rest)                                                                  \
    "{" META                                                                             \
    ",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":"        \
    "{\"storage\":\"" size "\"}},\"volumeMode\":\"Filesystem\"" rest "}}"

static const struct {
    const char *name, *version, *kind;
    enum api_op op;
    const char *old, *object, *errors; /* "REASON path;" each */
} ROWS[] = {
    {"a service without ports", "v1", "Service", API_CREATE, NULL,
     "{" META ",\"spec\":{\"sessionAffinity\":\"None\"," CLUSTER_IP "}}",
     "FieldValueRequired spec.ports;"},
    {"a headless node port", "v1", "Service", API_CREATE, NULL,
     SERVICE("\"type\":\"NodePort\",\"externalTrafficPolicy\":\"Cluster\","
             "\"internalTrafficPolicy\":\"Cluster\",\"clusterIP\":\"None\","
             "\"clusterIPs\":[\"None\"]"),
     "FieldValueInvalid spec.clusterIPs[0];"},
    {"an external name that is none", "v1", "Service", API_CREATE, NULL,
     SERVICE("\"type\":\"ExternalName\",\"externalName\":\"a_b\""),
     "FieldValueInvalid spec.externalName;"},
    {"a service's address changes", "v1", "Service", API_UPDATE,
     SERVICE(CLUSTER_IP ",\"clusterIP\":\"10.0.0.1\",\"clusterIPs\":[\"10.0.0.1\"]"),
     SERVICE(CLUSTER_IP ",\"clusterIP\":\"10.0.0.2\",\"clusterIPs\":[\"10.0.0.2\"]"),
     "FieldValueInvalid spec.clusterIPs[0];"},
    {"a slice of names with a bad port", "discovery.k8s.io/v1", "EndpointSlice",
     API_CREATE, NULL,
     "{" META ",\"addressType\":\"IPv4\",\"endpoints\":[{\"addresses\":[\"::1\"]}],"
     "\"ports\":[{\"name\":\"A\",\"protocol\":\"TCP\"}]}",
     "FieldValueInvalid ports[0].name;FieldValueInvalid endpoints[0].addresses;"
     "FieldValueInvalid endpoints[0].addresses[0];"},
    {"a slice's address type changes", "discovery.k8s.io/v1", "EndpointSlice", API_UPDATE,
     "{" META ",\"addressType\":\"IPv4\",\"endpoints\":[],\"ports\":[]}",
     "{" META ",\"addressType\":\"IPv6\",\"endpoints\":[],\"ports\":[]}",
     "FieldValueInvalid addressType;"},
    {"a budget of both kinds", "policy/v1", "PodDisruptionBudget", API_CREATE, NULL,
     "{" META ",\"spec\":{\"minAvailable\":1,\"maxUnavailable\":\"200%\"}}",
     "FieldValueInvalid spec;FieldValueInvalid spec.maxUnavailable;"},
    {"a priority changes", "scheduling.k8s.io/v1", "PriorityClass", API_UPDATE,
     "{" ALONE ",\"value\":1,\"preemptionPolicy\":\"Never\"}",
     "{" ALONE ",\"value\":2,\"preemptionPolicy\":\"Never\"}",
     "FieldValueForbidden value;"},
    {"a runtime's handler changes", "node.k8s.io/v1", "RuntimeClass", API_UPDATE,
     "{" ALONE ",\"handler\":\"a\"}", "{" ALONE ",\"handler\":\"b\"}",
     "FieldValueInvalid handler;"},
    {"a schedule of four fields", "batch/v1", "CronJob", API_CREATE, NULL,
     CRON("\"schedule\":\"* * * *\""), "FieldValueInvalid spec.schedule;"},
    {"a schedule with its time zone inside", "batch/v1", "CronJob", API_CREATE, NULL,
     CRON("\"schedule\":\"TZ=UTC * * * * *\""), "FieldValueInvalid spec.schedule;"},
    {"a time zone that is none", "batch/v1", "CronJob", API_CREATE, NULL,
     CRON("\"schedule\":\"@daily\",\"timeZone\":\"../etc\""),
     "FieldValueInvalid spec.timeZone;"},
    {"a good schedule", "batch/v1", "CronJob", API_CREATE, NULL,
     CRON("\"schedule\":\"*/5 0-6 1,15 jan mon-fri\",\"timeZone\":\"UTC\""), ""},
    {"a volume of two sources", "v1", "PersistentVolume", API_CREATE, NULL,
     PV("\"hostPath\":{\"path\":\"/a\"},\"nfs\":{\"server\":\"s\",\"path\":\"/a\"}"),
     "FieldValueForbidden spec.nfs;"},
    {"a local volume of no node", "v1", "PersistentVolume", API_CREATE, NULL,
     PV("\"local\":{\"path\":\"/a\"}"), "FieldValueRequired spec.nodeAffinity;"},
    {"a volume's source changes", "v1", "PersistentVolume", API_UPDATE,
     PV("\"hostPath\":{\"path\":\"/a\"}"), PV("\"hostPath\":{\"path\":\"/b\"}"),
     "FieldValueForbidden spec.persistentvolumesource;"},
    {"a volume's source goes up", "v1", "PersistentVolume", API_CREATE, NULL,
     PV("\"hostPath\":{\"path\":\"/a/../b\"}"), "FieldValueInvalid spec.hostPath.path;"},
    {"a claim for nothing", "v1", "PersistentVolumeClaim", API_CREATE, NULL, PVC("0", ""),
     "FieldValueInvalid spec.resources[storage];"},
    {"a claim for less than before", "v1", "PersistentVolumeClaim", API_UPDATE,
     PVC("2Gi", ",\"volumeName\":\"v\""), PVC("1Gi", ",\"volumeName\":\"v\""),
     "FieldValueForbidden spec;"},
    {"claims of a set, in no namespace yet", "apps/v1", "StatefulSet", API_CREATE, NULL,
     SET("\"storage\":\"1Gi\""), ""},
    {"a claim of a set for nothing", "apps/v1", "StatefulSet", API_CREATE, NULL,
     SET("\"storage\":\"0\""),
     "FieldValueInvalid spec.volumeClaimTemplates[0].spec.resources[storage];"},
    {"a class's provisioner changes", "storage.k8s.io/v1", "StorageClass", API_UPDATE,
     "{" ALONE ",\"provisioner\":\"p\",\"reclaimPolicy\":\"Delete\","
     "\"volumeBindingMode\":\"Immediate\"}",
     "{" ALONE ",\"provisioner\":\"q\",\"reclaimPolicy\":\"Delete\","
     "\"volumeBindingMode\":\"Immediate\"}",
     "FieldValueInvalid provisioner;"},
    {"a driver on a node twice", "storage.k8s.io/v1", "CSINode", API_CREATE, NULL,
     "{" ALONE ",\"spec\":{\"drivers\":[{\"name\":\"d\",\"nodeID\":\"1\"},"
     "{\"name\":\"d\",\"nodeID\":\"2\"}]}}",
     "FieldValueDuplicate spec.drivers[1].name;"},
    {"an attachment of nothing", "storage.k8s.io/v1", "VolumeAttachment", API_CREATE,
     NULL, "{" ALONE ",\"spec\":{\"attacher\":\"a\",\"nodeName\":\"n\",\"source\":{}}}",
     "FieldValueRequired spec.source;"},
    {"a request of no signer for too short", "certificates.k8s.io/v1",
     "CertificateSigningRequest", API_CREATE, NULL,
     "{" ALONE ",\"spec\":{\"request\":\"YQ==\",\"signerName\":\"c\",\"usages\":"
     "[\"client auth\",\"client auth\"],\"expirationSeconds\":1}}",
     "FieldValueDuplicate spec.usages[1];FieldValueInvalid spec.signerName;"
     "FieldValueInvalid spec.expirationSeconds;"},
    {"an address in another form", "networking.k8s.io/v1", "IPAddress", API_CREATE, NULL,
     "{\"metadata\":{\"name\":\"10.0.0.01\"},\"spec\":{\"parentRef\":{\"resource\":"
     "\"services\","
     "\"name\":\"s\",\"namespace\":\"n\"}}}",
     "FieldValueInvalid metadata.name;"},
    {"ranges of one family", "networking.k8s.io/v1", "ServiceCIDR", API_CREATE, NULL,
     "{" ALONE ",\"spec\":{\"cidrs\":[\"10.0.0.0/24\",\"10.0.1.0/24\"]}}",
     "FieldValueInvalid spec.cidrs;"},
    {"what a revision holds changes", "apps/v1", "ControllerRevision", API_UPDATE,
     "{" META ",\"revision\":1,\"data\":{\"a\":1}}",
     "{" META ",\"revision\":2,\"data\":{\"a\":2}}", "FieldValueInvalid data;"},
    {"a default above its maximum", "v1", "LimitRange", API_CREATE, NULL,
     "{" META ",\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"},"
     "\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"1\"}}]}}",
     "FieldValueInvalid spec.limits[0].default[cpu];"},
};

static void check_row(struct arena *a, size_t i)
{
    const struct api_kind *kind =
        api_kind_find(str_from(ROWS[i].version), str_from(ROWS[i].kind));
    struct doc object = read_object(a, ROWS[i].object);
    struct doc old = read_object(a, ROWS[i].old ? ROWS[i].old : "{}");
    struct api_validate_opts opts = {
        .op = ROWS[i].op, .old = ROWS[i].old ? &old : NULL, .gates = &api_gates_default};
    struct api_errors errors = {0};
    struct strbuf got = STRBUF_INIT;
    api_validate(kind, &object, &opts, a, &errors);
    for (size_t e = 0; e < errors.list.n; e++)
        strbuf_addf(&got, "%s %.*s;", api_error_reason(errors.list.v[e].type),
                    STR_ARG(errors.list.v[e].path));
    if (strcmp(strbuf_cstr(&got), ROWS[i].errors) != 0)
        fail_msg("row '%s'\ngot  %s\nwant %s", ROWS[i].name, strbuf_cstr(&got),
                 ROWS[i].errors);
    strbuf_release(&got);
    api_errors_release(&errors);
}

static void test_rows(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check_row(&a, i);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
