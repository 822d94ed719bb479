/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of admission plugins: what is read, and what is said of mistakes. */
#include "server/admission/admission_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/unit.h"

#define HEAD                                                                             \
    "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
#define SECURITY                                                                         \
    "- name: PodSecurity\n  configuration:\n    apiVersion: "                            \
    "pod-security.admission.config.k8s.io/v1\n    kind: PodSecurityConfiguration\n"
#define EVENTS                                                                           \
    "- name: EventRateLimit\n  configuration:\n    apiVersion: "                         \
    "eventratelimit.admission.k8s.io/v1alpha1\n    kind: Configuration\n"

static const struct {
    const char *text, *error; /* a part of it; NULL: none */
} FILES[] = {
    {HEAD, NULL},
    {HEAD SECURITY "    defaults: {enforce: baseline, enforce-version: v1.30}\n", NULL},
    {"apiVersion: v1\nkind: List\n", "it is no AdmissionConfiguration"},
    {HEAD "- name: Nothing\n", "plugins: \"Nothing\" takes no configuration"},
    {HEAD "- name: PodSecurity\n  config: {}\n", "there is no field \"config\""},
    {HEAD "- name: PodSecurity\n  configuration: {apiVersion: v1, kind: Pod}\n",
     "PodSecurity: v1/Pod is no configuration of it"},
    {HEAD SECURITY "    defaults: {enforce: low}\n",
     "defaults.enforce: Invalid value: \"low\": must be one of privileged, baseline, "
     "restricted"},
    {HEAD SECURITY "    defaults: {warn-version: '1.2'}\n",
     "defaults.warn-version: Invalid value: \"1.2\": must be \"latest\" or \"v1.x\""},
    {HEAD SECURITY "    exemptions: {namespaces: [a, a]}\n",
     "namespaces[1]: Duplicate value: \"a\""},
    {HEAD SECURITY "    exemptions: {users: [a]}\n", "there is no field \"users\""},
    {HEAD EVENTS, "limits: Invalid value: must not be empty"},
    {HEAD EVENTS "    limits: [{type: Server, qps: 1}]\n",
     "limits[0].burst: Invalid value: 0: must be positive"},
    {HEAD EVENTS "    limits: [{type: Cluster, qps: 1, burst: 1}]\n",
     "limits[0].type: Unsupported value"},
    {HEAD EVENTS "    limits: [{type: User, qps: 1, burst: 1, cacheSize: 9}]\n", NULL},
    {HEAD
     "- name: PodNodeSelector\n  configuration: {podNodeSelectorPluginConfig: {a: 1}}\n",
     "a: a selector is needed"},
    {HEAD "- name: ResourceQuota\n  path: /nowhere/quota.yaml\n", "/nowhere/quota.yaml"},
    {HEAD "  x: [\n", "config"},
};

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_files(void **state)
{
    char path[] = "/tmp/dray-config-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < UNIT_COUNT(FILES); i++) {
        struct admission_config c;
        struct arena a = {0};
        struct err e = ERR_INIT;
        write_file(path, FILES[i].text);
        bool ok = admission_config_read(&c, path, &a, &e);
        bool as = FILES[i].error ? !ok && strstr(err_text(&e), FILES[i].error) : ok;
        if (!as)
            fail_msg("row %zu: %s", i, err_text(&e));
        err_release(&e);
        arena_fini(&a);
    }
    unlink(path);
}

static void test_defaults(void **state)
{
    struct admission_config c;
    struct arena a = {0};
    (void)state;
    assert_true(admission_config_read(&c, NULL, &a, NULL));
    assert_true(pod_policy_is_privileged(&c.pod_defaults));
    assert_null(c.limited);
    assert_null(c.exempt);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
