/* SPDX-License-Identifier: Apache-2.0 */
/* One pod, one node: the first filter that refuses, and its words. */
#include "unit/unit.h"

#include "sched/filter.h"

static const struct doc *read_doc(const char *text, struct arena *a)
{
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc_list list;
    struct err e = ERR_INIT;
    if (!doc_read_yaml(&src, a, &list, &e) || list.n != 1)
        fail_msg("%s: %s", text, err_text(&e));
    return &list.v[0];
}

static void set_up(const char *node_text, const char *pod_text, struct arena *a,
                   struct sched_node *node, struct sched_pod *pod)
{
    struct err e = ERR_INIT;
    const struct view_node *n = view_node_new(read_doc(node_text, a), a, &e);
    const struct view_pod *p = n ? view_pod_new(read_doc(pod_text, a), a, &e) : NULL;
    if (!p)
        fail_msg("%s", err_text(&e));
    sched_node_init(node, n, a);
    sched_pod_init(pod, p, a);
}

#define NODE(rest) "{metadata: {name: n1, labels: {zone: a}}, " rest "}"
#define POD(rest) "{metadata: {name: p}, spec: {" rest "}}"
#define WANTS(amounts)                                                                   \
    POD("containers: [{name: c, resources: {requests: {" amounts "}}}]")

static const struct {
    const char *name, *node, *pod, *why;
} ROWS[] = {
    {"nothing is asked", NODE("spec: {}"), POD(""), ""},
    {"another node is named", NODE("spec: {}"), POD("nodeName: m"),
     "the pod names another node"},
    {"this node is named", NODE("spec: {}"), POD("nodeName: n1"), ""},
    {"cordoned", NODE("spec: {unschedulable: true}"), POD(""), "the node is cordoned"},
    {"cordoned and tolerated", NODE("spec: {unschedulable: true}"),
     POD("tolerations: [{operator: Exists}]"), ""},
    {"tainted", NODE("spec: {taints: [{key: k, value: v, effect: NoSchedule}]}"), POD(""),
     "the node has the taint k=v:NoSchedule"},
    {"tainted, no value", NODE("spec: {taints: [{key: k, effect: NoExecute}]}"), POD(""),
     "the node has the taint k:NoExecute"},
    {"a preference does not refuse",
     NODE("spec: {taints: [{key: k, effect: PreferNoSchedule}]}"), POD(""), ""},
    {"tolerated", NODE("spec: {taints: [{key: k, value: v, effect: NoSchedule}]}"),
     POD("tolerations: [{key: k, operator: Equal, value: v}]"), ""},
    {"another value is tolerated",
     NODE("spec: {taints: [{key: k, value: v, effect: NoSchedule}]}"),
     POD("tolerations: [{key: k, value: w}]"), "the node has the taint k=v:NoSchedule"},
    {"the second taint refuses",
     NODE("spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]}"),
     POD("tolerations: [{key: a, operator: Exists}]"),
     "the node has the taint b:NoSchedule"},
    {"the label is there", NODE("spec: {}"), POD("nodeSelector: {zone: a}"), ""},
    {"the label has another value", NODE("spec: {}"), POD("nodeSelector: {zone: b}"),
     "the node's label zone is a, not b"},
    {"there is no such label", NODE("spec: {}"), POD("nodeSelector: {disk: ssd}"),
     "the node lacks the label disk=ssd"},
    {"affinity refuses", NODE("spec: {}"),
     POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: NotIn, values: "
         "[a]}]}]}}}"),
     "the node does not match the pod's required node affinity"},
    {"enough", NODE("status: {allocatable: {cpu: 2}}"), WANTS("cpu: 2"), ""},
    {"too little", NODE("status: {allocatable: {cpu: 2}}"), WANTS("cpu: 2500m"),
     "too little cpu: 2500m wanted, 2 of 2 free"},
    {"none at all", NODE("status: {allocatable: {cpu: 2}}"), WANTS("x.io/gpu: 1"),
     "the node has no x.io/gpu, 1 is wanted"},
    {"zero is none", NODE("status: {allocatable: {x.io/gpu: 0}}"), WANTS("x.io/gpu: 1"),
     "the node has no x.io/gpu, 1 is wanted"},
    {"huge pages that are not stated", NODE("status: {}"), WANTS("hugepages-2Mi: 2Mi"),
     "the node has no hugepages-2Mi, 2Mi is wanted"},
    {"memory that is not stated", NODE("status: {allocatable: {cpu: 2}}"),
     WANTS("memory: 9Ti, ephemeral-storage: 9Ti"), ""},
    {"no place for pods", NODE("status: {allocatable: {pods: 0}}"), POD(""),
     "all 0 places for pods are taken"},
    {"taints before labels, labels before resources",
     NODE("spec: {taints: [{key: k, effect: NoSchedule}]}"),
     POD("nodeSelector: {zone: b}"), "the node has the taint k:NoSchedule"},
};

static void test_filter(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct arena a;
        struct sched_node node;
        struct sched_pod pod;
        struct sched_reason why;
        arena_init(&a);
        set_up(ROWS[i].node, ROWS[i].pod, &a, &node, &pod);
        bool fits = sched_filter(&pod, &node, NULL, &a, &why);
        struct str text = fits ? STR("") : sched_reason_print(&why, &a);
        if (!str_is(text, ROWS[i].why))
            fail_msg("row '%s': got \"%.*s\"", ROWS[i].name, STR_ARG(text));
        arena_fini(&a);
    }
}

/* What pods use is no longer there for the next one. */
static void test_use(void **state)
{
    struct arena a;
    struct sched_node node;
    struct sched_pod pod;
    struct sched_reason why;
    (void)state;
    arena_init(&a);
    set_up(NODE("status: {allocatable: {cpu: 5, memory: 8Gi, pods: 3}}"),
           WANTS("cpu: 2, memory: 1Gi"), &a, &node, &pod);
    for (int i = 0; i < 2; i++) {
        assert_true(sched_filter(&pod, &node, NULL, &a, &why));
        sched_node_add(&node, &pod, &a);
    }
    assert_false(sched_filter(&pod, &node, NULL, &a, &why));
    assert_str(sched_reason_print(&why, &a), "too little cpu: 2 wanted, 1 of 5 free");
    const struct str cpu = STR("cpu");
    const struct view_strs ignored = {&cpu, 1};
    assert_true(sched_filter(&pod, &node, &ignored, &a, &why));
    sched_node_add(&node, &pod, &a);
    assert_false(sched_filter(&pod, &node, &ignored, &a, &why));
    assert_int_equal(why.refusal, SCHED_PODS);
    arena_fini(&a);
}

static void test_same(void **state)
{
    static const struct view_taint t1 = {{"k", 1}, {"v", 1}, {"NoSchedule", 10}};
    static const struct view_taint t2 = {{"k", 1}, {"v", 1}, {"NoSchedule", 10}};
    static const struct view_taint t3 = {{"k", 1}, {"w", 1}, {"NoSchedule", 10}};
    const struct sched_reason a = {.refusal = SCHED_TAINT, .taint = &t1},
                              b = {.refusal = SCHED_TAINT, .taint = &t2},
                              c = {.refusal = SCHED_TAINT, .taint = &t3},
                              d = {.refusal = SCHED_CORDONED};
    (void)state;
    assert_true(sched_reason_same(&a, &b));
    assert_false(sched_reason_same(&a, &c));
    assert_false(sched_reason_same(&a, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_use),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
