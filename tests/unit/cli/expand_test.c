/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors of workloads, and the order of pods that wait. */
#include "unit/unit.h"

#include "cli/expand.h"

static const struct doc *read_doc(const char *text, struct arena *a)
{
    struct doc_source src = {.name = "test", .text = str_from(text)};
    struct doc_list list;
    struct err e = ERR_INIT;
    if (!doc_read_yaml(&src, a, &list, &e) || list.n != 1)
        fail_msg("%s: %s", text, err_text(&e));
    return &list.v[0];
}

static void test_selects(void **state)
{
    static const struct {
        const char *selector;
        bool selects;
    } rows[] = {
        {"{}", true},
        {"{matchLabels: {app: a}}", true},
        {"{matchLabels: {app: b}}", false},
        {"{matchLabels: {app: a, tier: x}}", false},
        {"{matchExpressions: [{key: app, operator: In, values: [a, b]}]}", true},
        {"{matchExpressions: [{key: app, operator: NotIn, values: [a, b]}]}", false},
        {"{matchExpressions: [{key: tier, operator: NotIn, values: [a]}]}", true},
        {"{matchExpressions: [{key: app, operator: Exists}]}", true},
        {"{matchExpressions: [{key: tier, operator: Exists}]}", false},
        {"{matchExpressions: [{key: tier, operator: DoesNotExist}]}", true},
        {"{matchLabels: {app: a}, matchExpressions: [{key: app, operator: "
         "DoesNotExist}]}",
         false},
    };
    static const struct view_label label = {{"app", 3}, {"a", 1}};
    const struct view_pod pod = {.labels = &label, .nlabels = 1};
    struct arena a;
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        ROW(rows[i].selector,
            expand_selects(read_doc(rows[i].selector, &a), &pod) == rows[i].selects);
    arena_fini(&a);
}

static void add(struct cluster *c, const char *kind, const char *text)
{
    struct err e = ERR_INIT;
    if (!cluster_add(c, str_from(kind), read_doc(text, &c->arena), &e))
        fail_msg("%s: %s", text, err_text(&e));
}

/* Higher priorities first; equal ones stay in order; pods before those of workloads. */
static void test_order(void **state)
{
    static const char *const WANT[] = {"c", "e", "w-1", "a", "b", "d"};
    struct cluster c;
    struct waiting_pods waiting = {0};
    struct diags diags;
    (void)state;
    cluster_init(&c);
    diags_init(&diags);
    add(&c, "PriorityClass", "{metadata: {name: high}, value: 7}");
    add(&c, "Deployment",
        "{metadata: {name: w}, spec: {replicas: 1, selector: {matchLabels: {app: w}}, "
        "template: {metadata: {labels: {app: w}}, spec: {priorityClassName: high}}}}");
    add(&c, "Pod", "{metadata: {name: a}}");
    add(&c, "Pod", "{metadata: {name: b}}");
    add(&c, "Pod", "{metadata: {name: c}, spec: {priority: 9}}");
    add(&c, "Pod", "{metadata: {name: d}, spec: {priority: -1}}");
    add(&c, "Pod", "{metadata: {name: e}, spec: {priorityClassName: high}}");
    expand_pods(&c, &waiting, &diags);
    assert_int_equal(waiting.list.n, UNIT_COUNT(WANT));
    for (size_t i = 0; i < UNIT_COUNT(WANT); i++)
        assert_str(waiting.list.v[i].name, WANT[i]);
    waiting_pods_release(&waiting);
    diags_fini(&diags);
    cluster_fini(&c);
}

static void test_priority(void **state)
{
    static const struct {
        const char *pod;
        int64_t priority;
        bool known;
    } rows[] = {
        {"{spec: {priority: 3, priorityClassName: none}}", 3, true},
        {"{spec: {priorityClassName: system-node-critical}}", 2000001000, true},
        {"{spec: {priorityClassName: none}}", 0, false},
        {"{spec: {}}", 5, true},
    };
    struct cluster c;
    (void)state;
    cluster_init(&c);
    add(&c, "PriorityClass", "{metadata: {name: usual}, value: 5, globalDefault: true}");
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        int64_t priority;
        struct view_pod *pod =
            view_pod_new(read_doc(rows[i].pod, &c.arena), &c.arena, NULL);
        ROW(rows[i].pod, cluster_priority(&c, pod, &priority) == rows[i].known);
        ROW(rows[i].pod, priority == rows[i].priority);
    }
    cluster_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selects),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
