/* SPDX-License-Identifier: Apache-2.0 */
/* What configuration files make of profiles, and what they are refused for. */
#include "sched/profile.h"
#include "unit/unit.h"

#define HEAD                                                                             \
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static bool read_config(const char *text, struct sched_config *c, struct arena *a,
                        struct err *e)
{
    return sched_config_read(str_from(text), "file", a, c, e);
}

static struct sched_config must_read(const char *text, struct arena *a)
{
    struct sched_config c;
    struct err e = ERR_INIT;
    if (!read_config(text, &c, a, &e))
        fail_msg("%s", err_text(&e));
    return c;
}

static void test_default(void **state)
{
    struct arena a;
    arena_init(&a);
    struct sched_config c = must_read(HEAD, &a);
    assert_int_equal(c.n, 1);
    assert_str(c.profiles[0].name, "default-scheduler");
    assert_int_equal(c.profiles[0].dra.policy, ALLOC_FIRST_FIT);
    assert_int_equal(c.profiles[0].dra.filter_ms, 10000);
    assert_true(c.profiles[0].filters & PLUGIN_BIT(PLUGIN_GANG));
    arena_fini(&a);
}

/* Each profile has its own plugins, weights and arguments. */
static void test_profiles(void **state)
{
    struct arena a;
    arena_init(&a);
    struct sched_config c = must_read(
        HEAD
        "profiles:\n"
        "- schedulerName: packing\n"
        "  pluginConfig:\n"
        "  - {name: DynamicResources, args: {policy: best-fit, bindingTimeout: 30s}}\n"
        "  plugins: {score: {enabled: [{name: DynamicResources, weight: 9}]}}\n"
        "- schedulerName: plain\n"
        "  plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}\n"
        "- schedulerName: even\n"
        "  pluginConfig:\n"
        "  - {name: DynamicResources, args: {policy: spread}}\n",
        &a);
    assert_int_equal(c.n, 3);
    assert_str(c.profiles[0].name, "packing");
    assert_int_equal(c.profiles[0].dra.policy, ALLOC_BEST_FIT);
    assert_int_equal(c.profiles[0].dra.binding_ms, 30000);
    assert_int_equal(c.profiles[0].weights[PLUGIN_DEVICES], 9);
    assert_int_equal(c.profiles[1].dra.policy, ALLOC_FIRST_FIT);
    assert_int_equal(c.profiles[1].weights[PLUGIN_DEVICES], 2);
    assert_false(c.profiles[1].filters & PLUGIN_BIT(PLUGIN_PREEMPTION));
    assert_true(c.profiles[0].filters & PLUGIN_BIT(PLUGIN_PREEMPTION));
    assert_int_equal(c.profiles[2].dra.policy, ALLOC_SPREAD);
    arena_fini(&a);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } ROWS[] = {
        {"kind: Pod\napiVersion: v1\n", "must be KubeSchedulerConfiguration"},
        {"kind: KubeSchedulerConfiguration\napiVersion: v1\n",
         "must be kubescheduler.config.k8s.io/v1"},
        {HEAD "profiles: [{schedulerName: a}, {schedulerName: a}]\n", "a"},
        {HEAD "profiles: [{schedulerName: a, plugins: {score: {enabled: [{name: "
              "Nobody}]}}}]\n",
         "there is no plugin \"Nobody\""},
        {HEAD
         "profiles: [{schedulerName: a, pluginConfig: [{name: DynamicResources, args: "
         "{policy: worst-fit}}]}]\n",
         "policy: must be first-fit, best-fit or spread"},
        {HEAD
         "profiles: [{schedulerName: a, pluginConfig: [{name: DynamicResources, args: "
         "{policy: 1}}]}]\n",
         "policy: must be first-fit, best-fit or spread"},
        {HEAD
         "profiles: [{schedulerName: a, pluginConfig: [{name: DynamicResources, args: "
         "{bindingTimeout: 10ms}}]}]\n",
         "must be at least 1s"},
        {HEAD "nothing: 1\n", "nothing: not known"},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct arena a;
        struct sched_config c;
        struct err e = ERR_INIT;
        arena_init(&a);
        ROW(ROWS[i].text, !read_config(ROWS[i].text, &c, &a, &e));
        if (!strstr(err_text(&e), ROWS[i].says))
            fail_msg("%s: %s", ROWS[i].text, err_text(&e));
        err_release(&e);
        arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
