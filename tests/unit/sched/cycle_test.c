/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt by all plugins: the node that a pod gets, or what it is told. */
#include "site.h"
#include "unit/unit.h"

#define TWO NODE("a", "zone: z1") NODE("b", "zone: z2")
#define TAINTED(name, effect)                                                            \
    NODE_LIKE(name, "", "spec: {taints: [{key: k, value: v, effect: " effect "}]}")
#define TERM(labels, key)                                                                \
    "{labelSelector: {matchLabels: {" labels "}}, topologyKey: " key "}"
#define REQUIRED(kind, term)                                                             \
    "affinity: {" kind ": {requiredDuringSchedulingIgnoredDuringExecution: [" term "]}}"
#define PREFERRED(kind, term)                                                            \
    "affinity: {" kind ": {preferredDuringSchedulingIgnoredDuringExecution: "            \
    "[{weight: 100, podAffinityTerm: " term "}]}}"
#define SPREAD(skew, key, when, more)                                                    \
    "topologySpreadConstraints: [{maxSkew: " skew ", topologyKey: " key                  \
    ", whenUnsatisfiable: " when ", labelSelector: {matchLabels: {app: s}}" more "}]"
#define PORT(n)                                                                          \
    "containers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: " n "}]}]"
#define HOST "kubernetes.io/hostname"

struct row {
    const char *name, *objects, *pod, *told;
};

/* ---- filters ---- */

static const struct row FILTERS[] = {
    {"no node", "[]", ASKS("", PLAIN), "no nodes available to schedule pods"},

    /* one node by itself */
    {"it is named", TWO, ASKS("", "nodeName: b, " PLAIN), "b"},
    {"another one is named", TWO, ASKS("", "nodeName: c, " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match the requested node name."},
    {"cordoned", NODE_LIKE("a", "", "spec: {unschedulable: true}") NODE("b", ""),
     ASKS("", PLAIN), "b"},
    {"tainted", TAINTED("a", "NoSchedule") TAINTED("b", "NoExecute"), ASKS("", PLAIN),
     "0/2 nodes are available: 2 node(s) had untolerated taint(s)."},
    {"tolerated", TAINTED("a", "NoSchedule"),
     ASKS("", "tolerations: [{key: k, operator: Exists}], " PLAIN), "a"},
    {"selected", TWO, ASKS("", "nodeSelector: {zone: z2}, " PLAIN), "b"},
    {"nothing is selected", TWO, ASKS("", "nodeSelector: {zone: z3}, " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."},
    {"tied to a node by its name", TWO,
     ASKS("", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, "
              "values: [c]}]}]}}}, " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
    {"reasons are counted and sorted", TAINTED("c", "NoSchedule") TWO,
     ASKS("", "nodeSelector: {zone: z3}, " PLAIN),
     "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't "
     "match Pod's node affinity/selector."},

    /* ports */
    {"the port is taken", NODE("a", "") POD("p", "a", "", PORT("80")),
     ASKS("", PORT("80")),
     "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod "
     "ports."},
    {"another port", NODE("a", "") POD("p", "a", "", PORT("81")), ASKS("", PORT("80")),
     "a"},
    {"another protocol",
     NODE("a", "") POD("p", "a", "",
                       "containers: [{name: c, image: i, ports: "
                       "[{containerPort: 1, hostPort: 80, protocol: UDP}]}]"),
     ASKS("", PORT("80")), "a"},

    /* resources */
    {"too many CPUs", NODE("a", ""), ASKS("", WANTS("cpu: '5'")),
     "0/1 nodes are available: 1 Insufficient cpu."},
    {"what is left is enough", NODE("a", "") POD("p", "a", "", WANTS("cpu: '3'")),
     ASKS("", PLAIN), "a"},
    {"what is left is too little", NODE("a", "") POD("p", "a", "", WANTS("cpu: '3500m'")),
     ASKS("", PLAIN), "0/1 nodes are available: 1 Insufficient cpu."},
    {"each that lacks is told", NODE("a", ""),
     ASKS("", WANTS("cpu: '5', memory: '9Gi', example.com/x: '1'")),
     "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/x, 1 "
     "Insufficient memory."},
    {"too many pods",
     "- {kind: Node, metadata: {name: a}, status: {allocatable: {cpu: '4', pods: "
     "1}}}\n" POD("p", "a", "", PLAIN),
     ASKS("", PLAIN), "0/1 nodes are available: 1 Too many pods."},

    /* rules between pods */
    {"near one that is there", TWO POD("p", "b", "app: near", PLAIN),
     ASKS("", REQUIRED("podAffinity", TERM("app: near", "zone")) ", " PLAIN), "b"},
    {"near one that is not there", TWO,
     ASKS("", REQUIRED("podAffinity", TERM("app: near", "zone")) ", " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match pod affinity rules."},
    {"near itself, as the first one", TWO,
     ASKS("app: near", "nodeSelector: {zone: z2}, " REQUIRED(
                           "podAffinity", TERM("app: near", "zone")) ", " PLAIN),
     "b"},
    {"one of another namespace is not meant",
     TWO
     "- {kind: Pod, metadata: {name: p, namespace: other, labels: {app: near}}, spec: "
     "{nodeName: b, " PLAIN "}}\n",
     ASKS("", REQUIRED("podAffinity", TERM("app: near", "zone")) ", " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match pod affinity rules."},
    {"apart from one that is there", TWO POD("p", "a", "app: near", PLAIN),
     ASKS("", REQUIRED("podAntiAffinity", TERM("app: near", "zone")) ", " PLAIN), "b"},
    {"apart, everywhere",
     TWO POD("p", "a", "app: near", PLAIN) POD("q", "b", "app: near", PLAIN),
     ASKS("", REQUIRED("podAntiAffinity", TERM("app: near", HOST)) ", " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."},
    {"one that is there keeps apart from it",
     NODE("a", "") POD("p", "a", "",
                       REQUIRED("podAntiAffinity", TERM("app: near", HOST)) ", " PLAIN),
     ASKS("app: near", PLAIN),
     "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity "
     "rules."},
    {"not in another zone",
     TWO POD("p", "a", "",
             REQUIRED("podAntiAffinity", TERM("app: near", "zone")) ", " PLAIN),
     ASKS("app: near", PLAIN), "b"},

    /* spread */
    {"where there are fewer", TWO POD("p", "a", "app: s", PLAIN),
     ASKS("app: s", SPREAD("1", "zone", "DoNotSchedule", "") ", " PLAIN), "b"},
    {"no further apart than it may be", TWO POD("p", "a", "app: s", PLAIN),
     ASKS("app: s",
          "nodeSelector: {zone: z1}, " SPREAD("1", "zone", "DoNotSchedule",
                                              ", nodeAffinityPolicy: Ignore") ", " PLAIN),
     "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
     "node(s) didn't match pod topology spread constraints."},
    {"domains that it cannot go to do not count", TWO POD("p", "a", "app: s", PLAIN),
     ASKS("app: s", "nodeSelector: {zone: z1}, " SPREAD("1", "zone", "DoNotSchedule",
                                                        "") ", " PLAIN),
     "a"},
    {"a larger skew", TWO POD("p", "a", "app: s", PLAIN),
     ASKS("app: s",
          "nodeSelector: {zone: z1}, " SPREAD("2", "zone", "DoNotSchedule",
                                              ", nodeAffinityPolicy: Ignore") ", " PLAIN),
     "a"},
    {"a node without the label", NODE("a", ""),
     ASKS("app: s", SPREAD("1", "zone", "DoNotSchedule", "") ", " PLAIN),
     "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints "
     "(missing required label)."},
    {"too few domains", TWO POD("p", "a", "app: s", PLAIN) POD("q", "b", "app: s", PLAIN),
     ASKS("app: s", SPREAD("1", "zone", "DoNotSchedule", ", minDomains: 3") ", " PLAIN),
     "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints."},
};

/* ---- scores ---- */

#define IMAGES(name, image)                                                              \
    "- {kind: Node, metadata: {name: " name                                              \
    "}, status: {allocatable: {cpu: '4', memory: "                                       \
    "8Gi, pods: 10}, images: [{names: ['" image "'], sizeBytes: 900000000}]}}\n"

static const struct row SCORES[] = {
    {"the emptier node", TWO POD("p", "a", "", WANTS("cpu: '2', memory: '4Gi'")),
     ASKS("", WANTS("cpu: '1', memory: '2Gi'")), "b"},
    {"taints that are rather not tolerated",
     TAINTED("a", "PreferNoSchedule") NODE("b", ""), ASKS("", PLAIN), "b"},
    {"a node that is preferred", TWO,
     ASKS("",
          "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
          "[{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, "
          "values: [z2]}]}}]}}, " PLAIN),
     "b"},
    {"a pod that is preferred", TWO POD("p", "b", "app: near", WANTS("cpu: '100m'")),
     ASKS("", PREFERRED("podAffinity", TERM("app: near", "zone")) ", " PLAIN), "b"},
    {"a pod that is rather avoided", TWO POD("p", "a", "app: near", WANTS("cpu: '100m'")),
     ASKS("", PREFERRED("podAntiAffinity", TERM("app: near", "zone")) ", " PLAIN), "b"},
    {"a pod that is there prefers it",
     TWO POD(
         "p", "b", "",
         PREFERRED("podAffinity", TERM("app: near", "zone")) ", " WANTS("cpu: '100m'")),
     ASKS("app: near", PLAIN), "b"},
    {"rather spread", TWO POD("p", "a", "app: s", WANTS("cpu: '100m'")),
     ASKS("app: s", SPREAD("1", "zone", "ScheduleAnyway", "") ", " PLAIN), "b"},
    {"where the image is",
     IMAGES("a", "other:1") IMAGES("b", "docker.io/library/i:latest"),
     ASKS("", "containers: [{name: c, image: 'docker.io/library/i'}]"), "b"},
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct site s;
        site_open(&s, rows[i].objects);
        struct str told = site_try(&s, rows[i].pod);
        if (!str_eq(told, str_from(rows[i].told)))
            fail_msg("%s: \"%.*s\", not \"%s\"", rows[i].name, STR_ARG(told),
                     rows[i].told);
        site_close(&s);
    }
}

static void test_filters(void **state)
{
    (void)state;
    check(FILTERS, UNIT_COUNT(FILTERS));
}

static void test_scores(void **state)
{
    (void)state;
    check(SCORES, UNIT_COUNT(SCORES));
}

/* Of equal nodes the first one, from where the last search ended. */
static void test_equal_nodes(void **state)
{
    struct site s;
    char seen[8] = "";
    (void)state;
    site_open(&s, NODE("a", "") NODE("b", "") NODE("c", ""));
    s.world.next_start = 1;
    for (int i = 0; i < 3; i++) {
        struct str told = site_try(&s, ASKS("", PLAIN));
        seen[i] = told.p[0];
        cycle_fini(&s.cycle);
        object_unref(s.pod);
        s.pod = NULL;
        s.tried = false;
    }
    assert_string_equal(seen, "bbb"); /* all three were looked at each time */
    site_close(&s);
}

/* What a node is promised to counts before those of lower priority. */
static void test_promised_nodes(void **state)
{
    static const struct {
        const char *pod, *told;
    } rows[] = {
        {ASKS("", "priority: 1, " WANTS("cpu: '2'")),
         "0/1 nodes are available: 1 Insufficient cpu."},
        {ASKS("", "priority: 9, " WANTS("cpu: '2'")), "a"},
        {ASKS("", "priority: 1, " PLAIN), "a"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct site s, other;
        site_open(&other, "[]");
        site_try(&other, "{kind: Pod, metadata: {name: promised, namespace: default}, "
                         "spec: {priority: 5, " WANTS("cpu: '3'") "}}");
        site_open(&s, NODE("a", ""));
        nominated_set(&s.world.nominated, other.pod, STR("a"));
        struct str told = site_try(&s, rows[i].pod);
        if (!str_eq(told, str_from(rows[i].told)))
            fail_msg("row %zu: %.*s", i, STR_ARG(told));
        assert_int_equal(cache_find_node(&s.world.cache, STR("a"))->pods.n, 0);
        site_close(&s);
        site_close(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_equal_nodes),
        cmocka_unit_test(test_promised_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
