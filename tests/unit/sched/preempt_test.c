/* SPDX-License-Identifier: Apache-2.0 */
/* Who has to go for a pod, and where: the node, then the victims, the most important
 * first; or what the pod is told. */
#include "sched/preempt.h"

#include "site.h"
#include "unit/unit.h"

#define LOW(name, node, priority, cpu)                                                   \
    POD(name, node, "", "priority: " priority ", " WANTS("cpu: '" cpu "'"))
#define HIGH(cpu) ASKS("", "priority: 100, " WANTS("cpu: '" cpu "'"))

static const struct {
    const char *name, *objects, *pod, *told;
} ROWS[] = {
    {"one that matters less", NODE("a", "") LOW("p", "a", "1", "4"), HIGH("2"), "a: p"},
    {"one that matters as much", NODE("a", "") LOW("p", "a", "100", "4"), HIGH("2"),
     "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming "
     "pod."},
    {"it would not help", NODE("a", "") LOW("p", "a", "1", "1") LOW("q", "a", "100", "2"),
     HIGH("3"), "preemption: 0/1 nodes are available: 1 Insufficient cpu."},
    {"the node is too small", NODE("a", "") LOW("p", "a", "1", "4"), HIGH("5"),
     "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
    {"no more than it takes",
     NODE("a", "") LOW("p", "a", "1", "2") LOW("q", "a", "2", "2"), HIGH("2"), "a: p"},
    {"as many as it takes", NODE("a", "") LOW("p", "a", "1", "2") LOW("q", "a", "2", "2"),
     HIGH("4"), "a: q p"},
    {"the small one is spared",
     NODE("a", "") LOW("p", "a", "1", "1") LOW("q", "a", "1", "3"), HIGH("3"), "a: q"},
    {"where those that go matter least",
     NODE("a", "") NODE("b", "") LOW("p", "a", "5", "4") LOW("q", "b", "3", "4"),
     HIGH("2"), "b: q"},
    {"where their sum is the least",
     NODE("a", "") NODE("b", "") LOW("p", "a", "5", "2") LOW("q", "a", "4", "2")
         LOW("r", "b", "5", "4"),
     HIGH("4"), "b: r"},
    {"a pod that may not", NODE("a", "") LOW("p", "a", "1", "4"),
     ASKS("", "priority: 100, preemptionPolicy: Never, " WANTS("cpu: '2'")),
     "preemption: not eligible due to preemptionPolicy=Never."},
    {"a node that is not to be had",
     NODE_LIKE("a", "", "spec: {unschedulable: true}") LOW("p", "a", "1", "4"), HIGH("2"),
     "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
};

static struct str outcome(struct site *s, const char *pod)
{
    site_try(s, pod);
    assert_int_not_equal(s->cycle.code, SCHED_SUCCESS);
    struct preemption p = preempt_find(&s->cycle);
    if (!p.node)
        return p.message;
    struct str told = arena_printf(&s->a, "%.*s:", STR_ARG(p.node->name));
    for (uint32_t i = 0; i < p.nvictims; i++)
        told = arena_printf(&s->a, "%.*s %.*s", STR_ARG(told),
                            STR_ARG(p.victims[i]->object->name));
    return told;
}

static size_t pods_of(const struct site *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->world.cache.nodes.n; i++)
        n += s->world.cache.nodes.v[i]->pods.n;
    return n;
}

/* Nothing is moved in the end: it was a question. */
static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ROWS); i++) {
        struct site s;
        site_open(&s, ROWS[i].objects);
        size_t before = pods_of(&s);
        struct str told = outcome(&s, ROWS[i].pod);
        if (!str_eq(told, str_from(ROWS[i].told)))
            fail_msg("%s: \"%.*s\", not \"%s\"", ROWS[i].name, STR_ARG(told),
                     ROWS[i].told);
        assert_int_equal(pods_of(&s), before);
        site_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
