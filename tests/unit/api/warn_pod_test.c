/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of pods and templates, in the words of kube-apiserver 1.37.2. */
#include "api/warn.h"
#include "unit/unit.h"

struct told {
    struct strbuf text;
};

static void tell(void *ctx, struct str text)
{
    struct told *t = ctx;
    strbuf_addf(&t->text, "%.*s\n", STR_ARG(text));
}

static struct doc read_doc(struct arena *a, const char *json)
{
    struct doc_source src = {.name = "test", .text = str_from(json)};
    struct doc d = doc_make_map();
    assert_true(doc_read_json(&src, a, &d, NULL));
    return d;
}

static void check(const char *version, const char *kind, const char *json,
                  const char *old_json, const char *want)
{
    struct arena a = {0};
    struct told t = {.text = STRBUF_INIT};
    struct api_warn w = {&a, tell, &t};
    struct doc d = read_doc(&a, json), old = read_doc(&a, old_json ? old_json : "{}");
    const struct api_kind *k = api_kind_find(str_from(version), str_from(kind));
    assert_non_null(k);
    api_warn(&w, k, &d, old_json ? &old : NULL);
    assert_string_equal(strbuf_cstr(&t.text), want);
    strbuf_release(&t.text);
    arena_fini(&a);
}

#define C "\"containers\":[{\"name\":\"c\","
static const struct {
    const char *spec, *want;
} PODS[] = {
    {"\"nodeName\":\"n\"", ""},
    {"\"nodeSelector\":{\"beta.kubernetes.io/os\":\"linux\",\"x\":\"y\"}",
     "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
     "\"kubernetes.io/os\" instead\n"},
    {"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
     "{"
     "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"beta.kubernetes.io/"
     "arch\"}]}"
     "]}}}",
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
     "nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is "
     "deprecated "
     "since v1.14; use \"kubernetes.io/arch\" instead\n"},
    {"\"topologySpreadConstraints\":[{\"topologyKey\":\"x\"}]",
     "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in "
     "matching no pod\n"},
    {"\"affinity\":{\"podAntiAffinity\":{"
     "\"preferredDuringSchedulingIgnoredDuringExecution"
     "\":[{\"podAffinityTerm\":{}}]}}",
     "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
     "podAffinityTerm.labelSelector: a null labelSelector results in matching no pod\n"},
    {"\"volumes\":[{\"name\":\"a\",\"storageos\":{}},{\"name\":\"b\",\"emptyDir\":{}}]",
     "spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+\n"},
    {"\"hostAliases\":[{\"ip\":\"1.2.3.4\"},{\"ip\":\"1.2.3.4\"}]",
     "spec.hostAliases[1].ip: duplicate ip \"1.2.3.4\"\n"},
    {"\"imagePullSecrets\":[{\"name\":\"a\"},{\"name\":\"a\"},{}]",
     "spec.imagePullSecrets[1].name: duplicate name \"a\"\n"
     "spec.imagePullSecrets[2].name: invalid empty name \"\"\n"},
    {C "\"resources\":{\"limits\":{\"memory\":\"1500m\",\"cpu\":\"1500m\"}}}]",
     "spec.containers[0].resources.limits[memory]: fractional byte value \"1500m\" is "
     "invalid, must be an integer\n"},
    {C "\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"A\",\"value\":\"$(A)2\"},"
       "{\"name\":\"A\",\"value\":\"3\"}]}]",
     "spec.containers[0].env[2]: hides previous definition of \"A\", which may be "
     "dropped "
     "when using apply\n"},
    {"\"initContainers\":[{\"name\":\"i\",\"ports\":[{\"containerPort\":80,\"protocol\":"
     "\"TCP\",\"name\":\"p\"}]}]," C
     "\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\",\"name\":\"p\"},"
     "{\"containerPort\":80,\"protocol\":\"UDP\"},"
     "{\"containerPort\":80,\"protocol\":\"TCP\",\"hostPort\":8}]}]",
     "spec.containers[0].ports[0]: duplicate port definition with "
     "spec.initContainers[0].ports[0]\n"
     "spec.containers[0].ports[2]: overlapping port definition with "
     "spec.initContainers[0].ports[0]\n"
     "spec.containers[0].ports[2]: overlapping port definition with "
     "spec.containers[0].ports[0]\n"
     "spec.containers[0].ports[0]: duplicate port name \"p\" with "
     "spec.initContainers[0].ports[0], services and probes that select ports by name "
     "will "
     "use spec.initContainers[0].ports[0]\n"},
    {C "\"ports\":[{\"containerPort\":1,\"protocol\":\"TCP\",\"hostIP\":\"1.2.3.4\"}]}]",
     "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 "
     "ContainerPort:1 Protocol:TCP HostIP:1.2.3.4}\n"},
    {"\"volumes\":[{\"name\":\"v\",\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{"
     "\"resources\":{\"requests\":{\"storage\":\"1500m\"}}}}}}]",
     "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: "
     "fractional byte value \"1500m\" is invalid, must be an integer\n"},
    {"\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"m\",\"items\":[{\"key\":"
     "\"a\","
     "\"path\":\"x\"},{\"key\":\"b\",\"path\":\"x/y/\"},{\"key\":\"c\",\"path\":\"xy\"},"
     "{\"key\":\"d\",\"path\":\"x\"}]}},{\"name\":\"s\",\"secret\":{\"secretName\":\"t\","
     "\"items\":[{\"path\":\"x\"}]}}]",
     "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"x/y\" with \"x\"\n"
     "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"x\" with \"x\"\n"
     "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"x\" with \"x/y\"\n"},
    {"\"volumes\":[{\"name\":\"p\",\"projected\":{\"sources\":[{},{\"secret\":{\"name\":"
     "\"s\",\"items\":[{\"path\":\"a/b\"}]}},{\"serviceAccountToken\":{\"path\":\"a\"}},"
     "{\"clusterTrustBundle\":{\"signerName\":\"n\",\"path\":\"a/c\"}},"
     "{\"podCertificate\":{\"keyPath\":\"k\",\"certificateChainPath\":\"k\"}}]}}]",
     "volume \"p\" (Projected) has no sources provided\n"
     "volume \"p\" (Projected): overlapping paths: \"a\" (ServiceAccountToken) with "
     "\"a/b\" (Secret \"s\")\n"
     "volume \"p\" (Projected): overlapping paths: \"a/c\" (ClusterTrustBundle \"n\") "
     "with "
     "\"a\" (ServiceAccountToken)\n"
     "volume \"p\" (Projected): overlapping paths: \"k\" (PodCertificate key) with \"k\" "
     "(PodCertificate chain)\n"},
    {"\"terminationGracePeriodSeconds\":-1",
     "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
     "will be treated as 1\n"},
    {"\"dnsConfig\":{\"nameservers\":[\"010.1.2.3\"]}",
     "spec.dnsConfig.nameservers[0]: non-standard IP address \"010.1.2.3\" is invalid: "
     "use "
     "\"10.1.2.3\"\n"},
};

static void test_pods(void **state)
{
    for (size_t i = 0; i < sizeof PODS / sizeof *PODS; i++) {
        char json[2048];
        snprintf(json, sizeof json, "{\"metadata\":{},\"spec\":{%s}}", PODS[i].spec);
        check("v1", "Pod", json, NULL, PODS[i].want);
        check("v1", "Pod", json, "{}", "");
    }
}

#define BAD                                                                              \
    "{\"metadata\":{\"annotations\":{\"container.apparmor.security.beta.kubernetes.io/"  \
    "c\":\"unconfined\"}},\"spec\":{\"securityContext\":{\"appArmorProfile\":{\"type\":" \
    "\"%s\"}},\"containers\":[{\"name\":\"c\"}]}}"

static const struct {
    const char *version, *kind, *before, *after, *at;
} WORKLOADS[] = {
    {"apps/v1", "Deployment", "\"spec\":{\"template\":", "}", "spec.template"},
    {"batch/v1", "CronJob", "\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":", "}}}",
     "spec.jobTemplate.spec.template"},
    {"v1", "PodTemplate", "\"template\":", "", "template"},
};

/* The object of row i, with this as its template. */
static void make(char *json, size_t n, size_t i, const char *template)
{
    snprintf(json, n, "{\"metadata\":{\"generation\":2},%s%s%s}", WORKLOADS[i].before,
             template, WORKLOADS[i].after);
}

static void test_templates(void **state)
{
    for (size_t i = 0; i < sizeof WORKLOADS / sizeof *WORKLOADS; i++) {
        char template[512], json[1024], want[512];
        const char *version = WORKLOADS[i].version, *kind = WORKLOADS[i].kind;
        snprintf(
            want, sizeof want,
            "%s.metadata.annotations[container.apparmor.security.beta.kubernetes.io/"
            "c]: deprecated since v1.30; use the \"appArmorProfile\" field instead\n",
            WORKLOADS[i].at);
        snprintf(template, sizeof template, BAD, "RuntimeDefault");
        make(json, sizeof json, i, template);
        check(version, kind, json, NULL, want);
        check(version, kind, json, "{\"metadata\":{\"generation\":1}}", want);
        check(version, kind, json, "{\"metadata\":{\"generation\":2}}", "");
        snprintf(template, sizeof template, BAD, "Unconfined");
        make(json, sizeof json, i, template);
        check(version, kind, json, NULL, "");
    }
}

#define SURPRISE                                                                         \
    ", which can result in surprising behavior; a DNS label is recommended: [must not "  \
    "contain dots]\n"
#define MANY "\"completionMode\":\"Indexed\",\"completions\":100001,\"parallelism\":10001"

static void test_names_and_sizes(void **state)
{
    static const char
        NAMED[] = "{\"metadata\":{\"name\":\"a.b\",\"generation\":1}}",
        OF_PODS[] = "metadata.name: this is used in Pod names and hostnames" SURPRISE;
    (void)state;
    check("v1", "Pod", NAMED, NULL,
          "metadata.name: this is used in the Pod's hostname" SURPRISE);
    check("apps/v1", "Deployment", NAMED, NULL, OF_PODS);
    check("batch/v1", "Job", NAMED, NULL, OF_PODS);
    check("batch/v1", "CronJob", NAMED, NULL, OF_PODS);
    check("batch/v1", "CronJob", NAMED, NAMED, "");
    check("apps/v1", "StatefulSet", NAMED, NULL, "");
    check("batch/v1", "Job", "{\"metadata\":{\"name\":\"a\"},\"spec\":{" MANY "}}", NULL,
          "spec: In Indexed Jobs with a number of completions higher than 10^5 and a "
          "parallelism higher than 10^4, Kubernetes might not be able to track "
          "completedIndexes when a big number of indexes fail\n");
    check("batch/v1", "CronJob", "{\"spec\":{\"schedule\":\"TZ=UTC * * * * *\"}}",
          "{\"spec\":{}}",
          "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
          "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
          "details\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pods),
                                       cmocka_unit_test(test_templates),
                                       cmocka_unit_test(test_names_and_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
