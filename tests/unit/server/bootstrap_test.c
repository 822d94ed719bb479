/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/bootstrap.h"

#include "unit/unit.h"

/* What a role has by default, with every gate on, and with every gate off. -1: it is not
 * there. */
static const struct {
    const char *kind, *name;
    int rules, on, off;
} ROWS[] = {
    {"ClusterRole", "system:basic-user", 2, 2, 2},
    {"ClusterRole", "system:cluster-trust-bundle-discovery", 1, 1, -1},
    {"ClusterRoleBinding", "system:cluster-trust-bundle-discovery", 0, 0, -1},
    {"ClusterRole", "system:controller:podgroup-protection-controller", -1, 2, -1},
    {"ClusterRole", "system:controller:device-taint-eviction-controller", 8, 8, -1},
    {"ClusterRole", "system:controller:resource-claim-controller", 7, 9, 6},
};

static int rules_of(const struct api_gates *g, const char *kind, const char *name,
                    struct arena *a)
{
    struct doc d;
    if (!bootstrap_find(g, str_from(kind), STR(""), str_from(name), a, &d))
        return -1;
    const struct doc *rules = doc_get(&d, "rules");
    for (uint32_t i = 0; rules && i < rules->n; i++)
        assert_null(doc_get(&rules->items[i], "if"));
    assert_null(doc_get(&d, "if"));
    return rules ? (int)rules->n : 0;
}

static void test_gates(void **state)
{
    struct arena a = {0};
    struct api_gates on = {.on = UINT64_MAX}, off = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        const char *kind = ROWS[i].kind, *name = ROWS[i].name;
        ROW(name, rules_of(&api_gates_default, kind, name, &a) == ROWS[i].rules);
        ROW(name, rules_of(&on, kind, name, &a) == ROWS[i].on);
        ROW(name, rules_of(&off, kind, name, &a) == ROWS[i].off);
    }
    arena_fini(&a);
}

/* A gate that nobody knows would be off for ever. */
static void test_names(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < bootstrap_nrows; i++) {
        const char *gate = bootstrap_rows[i].json;
        while ((gate = strstr(gate, "\"if\":\""))) {
            gate += strlen("\"if\":\"");
            struct str name = {gate, strcspn(gate, "\"")};
            ROW(bootstrap_rows[i].name, api_gate_find(name) != API_GATE_COUNT);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gates),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
