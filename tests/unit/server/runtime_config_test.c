/* SPDX-License-Identifier: Apache-2.0 */
#include "server/discovery/runtime_config.h"

#include "unit/unit.h"

static const struct {
    const char *list, *group, *version, *resource;
    bool served;
} SERVED[] = {
    {NULL, "", "v1", "pods", true},
    {NULL, "resource.k8s.io", "v1", "resourceclaims", true},
    {NULL, "resource.k8s.io", "v1beta1", "resourceclaims", false},
    {NULL, "internal.apiserver.k8s.io", "v1alpha1", "storageversions", false},
    {"api/all=true", "internal.apiserver.k8s.io", "v1alpha1", "storageversions", true},
    {"api/beta=true", "internal.apiserver.k8s.io", "v1alpha1", "storageversions", false},
    {"api/beta=true", "resource.k8s.io", "v1beta2", "resourceclaims", true},
    {"api/ga=false", "apps", "v1", "deployments", false},
    {"api/all=false,api/ga=true", "apps", "v1", "deployments", true},
    {"resource.k8s.io/v1beta1", "resource.k8s.io", "v1beta1", "resourceclaims", true},
    {"api/all=true,resource.k8s.io/v1beta1=false", "resource.k8s.io", "v1beta1",
     "resourceclaims", false},
    {"resource.k8s.io/v1beta1=false,api/all=true", "resource.k8s.io", "v1beta1",
     "resourceclaims", false},
    {"apps/v1/deployments=false", "apps", "v1", "deployments", false},
    {"apps/v1/deployments=false", "apps", "v1", "replicasets", true},
    {"apps/v1=false,apps/v1/deployments=true", "apps", "v1", "deployments", true},
    {"apps/v1=false,apps/v1=true", "apps", "v1", "deployments", true},
    /* its gate is off */
    {"api/all=true", "scheduling.k8s.io", "v1beta1", "podgroups", false},
};

static void test_served(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(SERVED); i++) {
        const struct api_kind *k =
            api_resource_find(str_from(SERVED[i].group), str_from(SERVED[i].version),
                              str_from(SERVED[i].resource));
        assert_non_null(k);
        ROW(SERVED[i].list ? SERVED[i].list : SERVED[i].resource,
            runtime_config_check(SERVED[i].list, NULL) &&
                runtime_config_serves(SERVED[i].list, &api_gates_default, k) ==
                    SERVED[i].served);
    }
}

static void test_wrong(void **state)
{
    static const char *const WRONG[] = {
        "api/some=true",   "apps/v2=true", "apps=true", "apps/v1/things=true",
        "apps/v1=perhaps", "nothing",      "=true",
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        ROW(WRONG[i], !runtime_config_check(WRONG[i], NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_served),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
