/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/rbac.h"

#include "unit/unit.h"

static struct arena arena;

static struct doc parse(const char *json)
{
    char *text = arena_strdup(&arena, json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc d;
    assert_true(doc_read_json(&src, &arena, &d, NULL));
    return d;
}

static void put(struct rbac *b, enum rbac_kind kind, const char *namespace,
                const char *name, const char *json)
{
    struct doc d = parse(json);
    rbac_put(b, kind, str_from(namespace), str_from(name), &d);
}

/* "verb group resource sub namespace name" or "verb /path"; "-" is empty. */
static struct attributes want(const char *text)
{
    struct str parts[6] = {0};
    struct str s = str_from(text);
    uint32_t n = 0;
    for (size_t at = 0; at < s.n && n < 6; n++) {
        size_t end = str_find_byte(s, ' ', at);
        parts[n] = str_sub(s, at, end);
        if (str_is(parts[n], "-"))
            parts[n] = STR("");
        at = end == SIZE_MAX ? s.n : end + 1;
    }
    if (n == 2)
        return (struct attributes){.verb = parts[0], .path = parts[1]};
    assert_int_equal(n, 6);
    return (struct attributes){.verb = parts[0],
                               .group = parts[1],
                               .resource = parts[2],
                               .subresource = parts[3],
                               .namespace = parts[4],
                               .name = parts[5]};
}

/* ---- one rule ---- */

static const struct {
    const char *rule, *want;
    bool allowed;
} RULES[] = {
#define PODS "{'verbs':['get','list'],'apiGroups':[''],'resources':['pods']}"
    {PODS, "get - pods - n p", true},
    {PODS, "list - pods - n -", true},
    {PODS, "delete - pods - n p", false},
    {PODS, "get apps pods - n p", false},
    {PODS, "get - pods status n p", false},
    {PODS, "get - podss - n p", false},
    {PODS, "get /pods", false},
#define ALL "{'verbs':['*'],'apiGroups':['*'],'resources':['*']}"
    {ALL, "get - pods - n p", true},
    {ALL, "anything x.io y status n p", true},
    {ALL, "get /healthz", false},
#define STATUS "{'verbs':['patch'],'apiGroups':['*'],'resources':['*/status']}"
    {STATUS, "patch - pods status n p", true},
    {STATUS, "patch r.io claims status n p", true},
    {STATUS, "patch - pods - n p", false},
    {STATUS, "patch - pods statuses n p", false},
    {STATUS, "patch - pods tatus n p", false},
#define NAMED                                                                            \
    "{'verbs':['get'],'apiGroups':[''],'resources':['secrets','pods/log'],"              \
    "'resourceNames':['a','b']}"
    {NAMED, "get - secrets - n a", true},
    {NAMED, "get - secrets - n c", false},
    {NAMED, "get - secrets - n -", false}, /* a list names nothing */
    {NAMED, "get - pods log n b", true},
    {NAMED, "get - pods - n b", false},
#define PATHS "{'verbs':['get'],'nonResourceURLs':['/healthz','/apis/*','/x*']}"
    {PATHS, "get /healthz", true},
    {PATHS, "get /healthz/etcd", false},
    {PATHS, "get /apis/", true},
    {PATHS, "get /apis/apps/v1", true},
    {PATHS, "get /apis", false},
    {PATHS, "get /xyz", true},
    {PATHS, "post /healthz", false},
    {PATHS, "get - pods - n p", false},
    {"{'verbs':['get'],'nonResourceURLs':['*']}", "get /anything", true},
    {"{'verbs':[],'apiGroups':['*'],'resources':['*']}", "get - pods - n p", false},
    {"{'verbs':['*'],'apiGroups':[],'resources':['*']}", "get - pods - n p", false},
};

static void test_rules(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(RULES); i++) {
        struct doc list = parse(arena_printf(&arena, "[%s]", RULES[i].rule).p);
        struct rules rules = rules_read(&list, &arena);
        struct attributes w = want(RULES[i].want);
        assert_int_equal(rules.n, 1);
        if (rule_allows(&rules.v[0], &w) != RULES[i].allowed)
            fail_msg("%s: %s", RULES[i].rule, RULES[i].want);
    }
}

/* ---- coverage ---- */

static const struct {
    const char *held, *wanted, *missing;
} COVERS[] = {
    {"[" ALL "]", "[" PODS "]", ""},
    {"[" PODS "]", "[" PODS "]", ""},
    {"[" PODS "]", "[" ALL "]", "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}"},
    {"[]", "[" PODS "]",
     "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}"},
    {"[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]", "[" PODS "]",
     "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}"},
    {"[" STATUS "]",
     "[{'verbs':['patch'],'apiGroups':['a'],'resources':['pods/status','pods']}]",
     "{APIGroups:[\"a\"], Resources:[\"pods\"], Verbs:[\"patch\"]}"},
    /* Two rules may cover what neither does alone. */
    {"[{'verbs':['get'],'apiGroups':[''],'resources':['pods']},"
     "{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]",
     "[" PODS "]", ""},
    /* All names are more than some. */
    {"[" NAMED "]", "[{'verbs':['get'],'apiGroups':[''],'resources':['secrets']}]",
     "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"},
    {"[{'verbs':['get'],'apiGroups':[''],'resources':['secrets']}]",
     "[{'verbs':['get'],'apiGroups':[''],'resources':['secrets'],'resourceNames':['a']}]",
     ""},
    {"[" NAMED "]",
     "[{'verbs':['get'],'apiGroups':[''],'resources':['secrets'],"
     "'resourceNames':['a','c']}]",
     "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"c\"], "
     "Verbs:[\"get\"]}"},
    {"[" PATHS "]", "[{'verbs':['get'],'nonResourceURLs':['/apis/x','/apis/*']}]", ""},
    {"[" PATHS "]", "[{'verbs':['get'],'nonResourceURLs':['/*']}]",
     "{NonResourceURLs:[\"/*\"], Verbs:[\"get\"]}"},
    {"[]",
     "[{'verbs':['z'],'apiGroups':['b'],'resources':['r']},"
     "{'verbs':['a'],'apiGroups':['a'],'resources':['r']}]",
     "{APIGroups:[\"a\"], Resources:[\"r\"], Verbs:[\"a\"]}\n"
     "{APIGroups:[\"b\"], Resources:[\"r\"], Verbs:[\"z\"]}"},
};

static void test_coverage(void **state)
{
    for (size_t i = 0; i < UNIT_COUNT(COVERS); i++) {
        struct doc held = parse(COVERS[i].held), wanted = parse(COVERS[i].wanted);
        struct str missing =
            rules_missing(rules_read(&held, &arena), rules_read(&wanted, &arena), &arena);
        assert_str(missing, COVERS[i].missing);
    }
}

/* ---- who holds what ---- */

#define READER "{'rules':[" PODS "]}"

static struct rbac *sample(void)
{
    struct rbac *b = rbac_new();
    put(b, RBAC_CLUSTER_ROLE, "", "reader", READER);
    put(b, RBAC_ROLE, "n", "logs",
        "{'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}]}");
    put(b, RBAC_CLUSTER_BINDING, "", "all",
        "{'roleRef':{'kind':'ClusterRole','name':'reader'},'subjects':["
        "{'kind':'User','name':'ann'},{'kind':'Group','name':'staff'},"
        "{'kind':'ServiceAccount','namespace':'n','name':'bot'},"
        "{'kind':'ServiceAccount','name':'nowhere'},{'kind':'Robot','name':'ann'}]}");
    put(b, RBAC_BINDING, "n", "some",
        "{'roleRef':{'kind':'Role','name':'logs'},'subjects':["
        "{'kind':'User','name':'bob'},{'kind':'ServiceAccount','name':'own'}]}");
    put(b, RBAC_BINDING, "m", "here",
        "{'roleRef':{'kind':'ClusterRole','name':'reader'},'subjects':["
        "{'kind':'User','name':'bob'}]}");
    put(b, RBAC_BINDING, "m", "broken",
        "{'roleRef':{'kind':'Role','name':'gone'},'subjects':["
        "{'kind':'User','name':'eve'}]}");
    return b;
}

static const struct {
    const char *user, *group, *want;
    bool allowed;
    const char *why;
} ASKS[] = {
    {"ann", "x", "get - pods - n p", true,
     "RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to User "
     "\"ann\""},
    {"ann", "staff", "get - pods - n p", true,
     "RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to User "
     "\"ann\""},
    {"joe", "staff", "list - pods - - -", true,
     "RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to Group "
     "\"staff\""},
    {"system:serviceaccount:n:bot", "x", "get - pods - m p", true,
     "RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"reader\" to "
     "ServiceAccount \"bot/n\""},
    {"system:serviceaccount:m:bot", "x", "get - pods - m p", false, ""},
    {"system:serviceaccount::nowhere", "x", "get - pods - m p", false, ""},
    {"joe", "x", "get - pods - n p", false, ""},
    {"bob", "x", "get - pods log n p", true,
     "RBAC: allowed by RoleBinding \"some/n\" of Role \"logs\" to User \"bob\""},
    {"bob", "x", "get - pods log m p", false, ""},
    {"bob", "x", "get - pods - n p", false, ""},
    {"bob", "x", "get - pods - m p", true,
     "RBAC: allowed by RoleBinding \"here/m\" of ClusterRole \"reader\" to User \"bob\""},
    {"bob", "x", "list - pods - - -", false, ""},
    {"system:serviceaccount:n:own", "x", "get - pods log n p", true,
     "RBAC: allowed by RoleBinding \"some/n\" of Role \"logs\" to ServiceAccount "
     "\"own/n\""},
    {"eve", "x", "get - pods - m p", false,
     "RBAC: role.rbac.authorization.k8s.io \"gone\" not found"},
};

static void test_bindings(void **state)
{
    struct rbac *b = sample();
    for (size_t i = 0; i < UNIT_COUNT(ASKS); i++) {
        struct str group = str_from(ASKS[i].group), why;
        struct user u = {.name = str_from(ASKS[i].user), .groups = &group, .ngroups = 1};
        struct attributes w = want(ASKS[i].want);
        if (rbac_allows(b, &u, &w, &arena, &why) != ASKS[i].allowed)
            fail_msg("%s: %s", ASKS[i].user, ASKS[i].want);
        assert_str(why, ASKS[i].why);
    }
    rbac_free(b);
}

static bool may(struct rbac *b, const char *user, const char *text)
{
    struct user u = {.name = str_from(user)};
    struct attributes w = want(text);
    return rbac_allows(b, &u, &w, &arena, NULL);
}

/* Answers follow the objects at once. */
static void test_changes(void **state)
{
    struct rbac *b = sample();
    assert_true(may(b, "ann", "get - pods - n p"));
    put(b, RBAC_CLUSTER_ROLE, "", "reader", "{'rules':[]}");
    assert_false(may(b, "ann", "get - pods - n p"));
    put(b, RBAC_CLUSTER_ROLE, "", "reader", READER);
    rbac_remove(b, RBAC_CLUSTER_BINDING, STR(""), STR("all"));
    assert_false(may(b, "ann", "get - pods - n p"));
    assert_true(may(b, "bob", "get - pods - m p"));
    put(b, RBAC_BINDING, "m", "here",
        "{'roleRef':{'kind':'ClusterRole','name':'reader'},'subjects':["
        "{'kind':'User','name':'zoe'}]}");
    assert_false(may(b, "bob", "get - pods - m p"));
    assert_true(may(b, "zoe", "get - pods - m p"));
    rbac_remove(b, RBAC_CLUSTER_ROLE, STR(""), STR("reader"));
    assert_false(may(b, "zoe", "get - pods - m p"));
    rbac_remove(b, RBAC_ROLE, STR("n"), STR("none"));
    rbac_remove(b, RBAC_BINDING, STR("n"), STR("none"));
    rbac_free(b);
}

/* ---- roles of roles ---- */

#define SELECTS(label)                                                                   \
    "'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'" label "':'true'}}]}"
#define ONE_BINDING                                                                      \
    "{'roleRef':{'kind':'ClusterRole','name':'admin'},'subjects':["                      \
    "{'kind':'User','name':'ann'}]}"

static void test_aggregation(void **state)
{
    struct rbac *b = rbac_new();
    put(b, RBAC_CLUSTER_BINDING, "", "admins", ONE_BINDING);
    put(b, RBAC_CLUSTER_ROLE, "", "admin", "{'rules':null," SELECTS("in-admin") "}");
    put(b, RBAC_CLUSTER_ROLE, "", "edit",
        "{'metadata':{'labels':{'in-admin':'true'}}," SELECTS("in-edit") "}");
    assert_false(may(b, "ann", "get - pods - n p"));
    put(b, RBAC_CLUSTER_ROLE, "", "part",
        "{'metadata':{'labels':{'in-edit':'true'}},'rules':[" PODS "]}");
    assert_true(may(b, "ann", "get - pods - n p"));
    put(b, RBAC_CLUSTER_ROLE, "", "part",
        "{'metadata':{'labels':{'in-edit':'false'}},'rules':[" PODS "]}");
    assert_false(may(b, "ann", "get - pods - n p"));
    /* A controller has written them. */
    put(b, RBAC_CLUSTER_ROLE, "", "admin",
        "{'rules':[" STATUS "]," SELECTS("in-admin") "}");
    assert_true(may(b, "ann", "patch - pods status n p"));
    rbac_free(b);
}

static void test_expressions(void **state)
{
    static const struct {
        const char *expression;
        bool selects;
    } ROWS[] = {
        {"{'key':'tier','operator':'In','values':['a','b']}", true},
        {"{'key':'tier','operator':'In','values':['b']}", false},
        {"{'key':'tier','operator':'NotIn','values':['b']}", true},
        {"{'key':'none','operator':'NotIn','values':['b']}", true},
        {"{'key':'tier','operator':'Exists'}", true},
        {"{'key':'none','operator':'Exists'}", false},
        {"{'key':'none','operator':'DoesNotExist'}", true},
        {"{'key':'tier','operator':'Unheard'}", false},
    };
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct rbac *b = rbac_new();
        put(b, RBAC_CLUSTER_BINDING, "", "admins", ONE_BINDING);
        put(b, RBAC_CLUSTER_ROLE, "", "part",
            "{'metadata':{'labels':{'tier':'a'}},'rules':[" PODS "]}");
        put(b, RBAC_CLUSTER_ROLE, "", "admin",
            arena_printf(&arena,
                         "{'aggregationRule':{'clusterRoleSelectors':[{"
                         "'matchExpressions':[%s]}]}}",
                         ROWS[i].expression)
                .p);
        ROW(ROWS[i].expression, may(b, "ann", "get - pods - n p") == ROWS[i].selects);
        rbac_free(b);
    }
}

/* Roles that select each other, and themselves. */
static void test_circle(void **state)
{
    struct rbac *b = rbac_new();
    put(b, RBAC_CLUSTER_BINDING, "", "admins", ONE_BINDING);
    put(b, RBAC_CLUSTER_ROLE, "", "admin",
        "{'metadata':{'labels':{'x':'true'}}," SELECTS("x") "}");
    put(b, RBAC_CLUSTER_ROLE, "", "other",
        "{'metadata':{'labels':{'x':'true'}}," SELECTS("x") "}");
    put(b, RBAC_CLUSTER_ROLE, "", "part",
        "{'metadata':{'labels':{'x':'true'}},'rules':[" PODS "]}");
    assert_true(may(b, "ann", "get - pods - n p"));
    assert_true(may(b, "ann", "get - pods - n p"));
    assert_false(may(b, "ann", "delete - pods - n p"));
    rbac_free(b);
}

static int set_up(void **state)
{
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_bindings),    cmocka_unit_test(test_changes),
        cmocka_unit_test(test_aggregation), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_circle),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
