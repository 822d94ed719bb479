/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of namespaces, and some pods at some versions. All checks are compared with
 * upstream's code, on random input (tests/peers). */
#include "api/pod_security.h"

#include "objects.h"

static struct arena arena;

#define L "pod-security.kubernetes.io/"

static const struct {
    const char *labels, *enforce, *audit, *warn;
    unsigned problems;
} LABELS[] = {
    {"{}", "privileged:latest", "privileged:latest", "privileged:latest", 0},
    {"{\"" L "enforce\":\"restricted\",\"" L "enforce-version\":\"v1.30\"}",
     "restricted:v1.30", "privileged:latest", "restricted:v1.30", 0},
    {"{\"" L "enforce\":\"restricted\",\"" L "warn\":\"baseline\"}", "restricted:latest",
     "privileged:latest", "baseline:latest", 0},
    {"{\"" L "enforce\":\"low\",\"" L "audit\":\"low\",\"" L "warn\":\"\"}",
     "restricted:latest", "privileged:latest", "privileged:latest", 3},
    {"{\"" L "enforce-version\":\"v1.07\",\"" L "warn-version\":\"1.7\"}",
     "privileged:latest", "privileged:latest", "privileged:latest", 2},
    {"{\"" L "audit-version\":\"v1.0\"}", "privileged:latest", "privileged:v1.0",
     "privileged:latest", 0},
};

static void test_labels(void **state)
{
    struct pod_policy defaults = {{{POD_PRIVILEGED, POD_LATEST},
                                   {POD_PRIVILEGED, POD_LATEST},
                                   {POD_PRIVILEGED, POD_LATEST}}};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(LABELS); i++) {
        struct pod_policy_problem problems[POD_POLICY_PROBLEMS];
        struct pod_policy p;
        struct doc labels = read_object(&arena, LABELS[i].labels);
        const char *want[] = {LABELS[i].enforce, LABELS[i].audit, LABELS[i].warn};
        assert_int_equal(pod_policy_read(&labels, &defaults, &p, problems),
                         LABELS[i].problems);
        for (int k = 0; k < POD_MODES; k++) {
            struct str got = pod_standard_print(p.of[k], &arena);
            if (!str_is(got, want[k]))
                fail_msg("%s: %.*s, not %s", LABELS[i].labels, STR_ARG(got), want[k]);
        }
    }
    arena_reset(&arena);
}

#define C(context) "\"containers\":[{\"name\":\"c\",\"securityContext\":{" context "}}]"

static const struct {
    struct pod_standard at;
    const char *spec, *want; /* NULL: nothing is wrong */
} PODS[] = {
    {{POD_PRIVILEGED, POD_LATEST}, "\"hostPID\":true", NULL},
    {{POD_BASELINE, POD_LATEST},
     "\"hostPID\":true,\"hostIPC\":true",
     "host namespaces (hostPID=true, hostIPC=true)"},
    {{POD_BASELINE, 0},
     C("\"privileged\":true"),
     "privileged (container \"c\" must not set securityContext.privileged=true)"},
    {{POD_BASELINE, 30},
     "\"hostUsers\":false," C("\"procMount\":\"Unmasked\""),
     "procMount (container \"c\" must not set securityContext.procMount to "
     "\"Unmasked\")"},
    {{POD_BASELINE, 35}, "\"hostUsers\":false," C("\"procMount\":\"Unmasked\""), NULL},
    {{POD_BASELINE, 36},
     "\"securityContext\":{\"sysctls\":[{\"name\":\"net.ipv4.tcp_notsent_lowat\"}]}",
     "forbidden sysctls (net.ipv4.tcp_notsent_lowat)"},
    {{POD_BASELINE, 99},
     "\"securityContext\":{\"sysctls\":[{\"name\":\"net.ipv4.tcp_notsent_lowat\"}]}",
     NULL},
    {{POD_RESTRICTED, 7}, C("\"runAsNonRoot\":true"), NULL},
    {{POD_RESTRICTED, 8},
     C("\"runAsNonRoot\":true"),
     "allowPrivilegeEscalation != false (container \"c\" must set "
     "securityContext.allowPrivilegeEscalation=false)"},
    {{POD_RESTRICTED, 7},
     "\"volumes\":[{\"name\":\"h\",\"hostPath\":{}}]," C("\"runAsNonRoot\":true"),
     "restricted volume types (volume \"h\" uses restricted volume type \"hostPath\")"},
    {{POD_RESTRICTED, 7},
     "\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]",
     "runAsNonRoot != true (pod or containers \"a\", \"b\" must set "
     "securityContext.runAsNonRoot=true)"},
};

static void test_pods(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(PODS); i++) {
        struct doc pod =
            read_object(&arena, arena_printf(&arena, "{\"spec\":{%s}}", PODS[i].spec).p);
        struct str got = pod_violations(PODS[i].at, &pod, true, &arena);
        if (PODS[i].want ? !str_is(got, PODS[i].want) : got.p != NULL)
            fail_msg("%s: %.*s", PODS[i].spec, STR_ARG(got));
    }
    arena_reset(&arena);
}

static void test_templates(void **state)
{
    struct doc cron =
        read_object(&arena, "{\"spec\":{\"jobTemplate\":{\"spec\":{"
                            "\"template\":{\"spec\":{\"hostPID\":true}}}}}}");
    struct pod_standard s = {POD_BASELINE, POD_LATEST};
    (void)state;
    const struct doc *pod = pod_of("batch", "cronjobs", &cron);
    assert_true(str_is(pod_violations(s, pod, false, &arena), "host namespaces"));
    assert_true(pod_kind("", "podtemplates"));
    assert_false(pod_kind("apps", "controllerrevisions"));
    assert_null(pod_of("apps", "deployments", &cron));
    arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_pods),
        cmocka_unit_test(test_templates),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
