/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit_policy.h"

#include "unit/unit.h"

static struct arena arena;

#define POLICY(rules)                                                                    \
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: "                            \
    "[RequestReceived]\nrules:\n" rules

static const struct str GROUPS[] = {STR("g1"), STR("g2")};
static const struct user USER = {.name = STR("u"), .groups = GROUPS, .ngroups = 2};
#define A(...)                                                                           \
    {                                                                                    \
        __VA_ARGS__                                                                      \
    }

static const struct {
    const char *rule;
    struct attributes want;
    bool matches;
} RULES[] = {
#define GET_POD                                                                          \
    A(.verb = STR("get"), .group = STR(""), .version = STR("v1"),                        \
      .resource = STR("pods"), .subresource = STR(""), .namespace = STR("ns"),           \
      .name = STR("p"))
#define GET_LOG                                                                          \
    A(.verb = STR("get"), .group = STR(""), .version = STR("v1"),                        \
      .resource = STR("pods"), .subresource = STR("log"), .namespace = STR("ns"),        \
      .name = STR("p"))
#define GET_PATH A(.verb = STR("get"), .path = STR("/healthz/x"))
    {"", GET_POD, true},
    {"", GET_PATH, true},
    {", users: [u]", GET_POD, true},
    {", users: [other]", GET_POD, false},
    {", userGroups: [g2]", GET_POD, true},
    {", userGroups: [g3]", GET_POD, false},
    {", verbs: [list, get]", GET_POD, true},
    {", verbs: [list]", GET_POD, false},
    {", namespaces: [ns]", GET_POD, true},
    {", namespaces: [m]", GET_POD, false},
    {", namespaces: [ns]", GET_PATH, false},
    {", resources: [{group: ''}]", GET_POD, true},
    {", resources: [{group: apps}]", GET_POD, false},
    {", resources: [{resources: [pods]}]", GET_POD, true},
    {", resources: [{resources: [pods]}]", GET_LOG, false},
    {", resources: [{resources: ['*']}]", GET_LOG, true},
    {", resources: [{resources: [pods/log]}]", GET_LOG, true},
    {", resources: [{resources: [pods/log]}]", GET_POD, false},
    {", resources: [{resources: ['*/log']}]", GET_LOG, true},
    {", resources: [{resources: ['*/log']}]", GET_POD, false},
    {", resources: [{resources: ['pods/*']}]", GET_POD, true},
    {", resources: [{resources: ['pods/*']}]", GET_LOG, true},
    {", resources: [{resources: [pods], resourceNames: [p]}]", GET_POD, true},
    {", resources: [{resources: [pods], resourceNames: [q]}]", GET_POD, false},
    {", nonResourceURLs: [/healthz*]", GET_PATH, true},
    {", nonResourceURLs: [/healthz]", GET_PATH, false},
    {", nonResourceURLs: ['*']", GET_PATH, true},
    {", nonResourceURLs: ['*']", GET_POD, false},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(RULES); i++) {
        struct str text = arena_printf(
            &arena, POLICY("- {level: Request, omitStages: [Panic]%s}\n"), RULES[i].rule);
        const struct audit_policy *p = audit_policy_read(text, &arena, NULL);
        ROW(RULES[i].rule, p != NULL);
        struct audit_verdict v = audit_policy_judge(p, &USER, &RULES[i].want);
        ROW(RULES[i].rule, (v.level == AUDIT_REQUEST) == RULES[i].matches);
        ROW(RULES[i].rule,
            v.omitted == (RULES[i].matches ? AUDIT_RECEIVED | AUDIT_PANIC : 0));
    }
}

/* The first rule that matches; what it says of managedFields before what the policy
 * says. */
static void test_order(void **state)
{
    (void)state;
    struct attributes want = GET_POD;
    struct str text =
        str_from(POLICY("- {level: None, users: [x]}\n"
                        "- {level: Metadata, omitManagedFields: false}\n"
                        "- {level: RequestResponse}\n") "omitManagedFields: true\n");
    const struct audit_policy *p = audit_policy_read(text, &arena, NULL);
    assert_non_null(p);
    struct audit_verdict v = audit_policy_judge(p, &USER, &want);
    assert_int_equal(v.level, AUDIT_METADATA);
    assert_false(v.omit_managed_fields);
}

static void test_wrong(void **state)
{
    static const char *const WRONG[] = {
        "",
        "kind: Policy\nrules: [{level: None}]\n",
        POLICY("- {level: All}\n"),
        POLICY("- {users: [a]}\n"),
        POLICY("- {level: None, nouns: [a]}\n"),
        POLICY("- {level: None, omitStages: [Before]}\n"),
        POLICY("- {level: None, nonResourceURLs: [/a], namespaces: [b]}\n"),
        POLICY("- {level: None, resources: [{resourceNames: [x]}]}\n"),
        "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n",
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        ROW(WRONG[i], !audit_policy_read(str_from(WRONG[i]), &arena, NULL));
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
