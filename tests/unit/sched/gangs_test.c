/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs in a storm: groups and pods come and go, of two priorities, in any order; writes
 * are refused, fail, or happen and their answers are lost; events come late; the
 * scheduler begins anew at any moment. No node is ever given more than it has. Once it is
 * calm and there is room, every pod of a group that is complete has a node, and no other.
 * DRAY_STORMS says how many there are.
 */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "fake_api.h"
#include "sched/scheduler.h"

enum { SEEDS = 4, STEPS = 250, NODES = 3, CPUS = 4, GROUPS = 4, PATIENCE_S = 60 };

struct group {
    bool there; /* its object is */
    uint32_t least, pods, serial;
    bool high; /* priority */
};

struct storm {
    struct arena a;
    struct fake_api api;
    struct scheduler *sched;
    struct rng rng;
    struct group groups[GROUPS];
    uint32_t made;
    uint64_t seed, scheduled, preemptions;
};

static uint32_t pick(struct storm *s, uint32_t n)
{
    return (uint32_t)rng_range(&s->rng, 0, (int64_t)n - 1);
}

static struct doc read_json(struct storm *s, struct str text)
{
    struct err e = ERR_INIT;
    struct doc_source src = {.name = "test", .text = text};
    struct doc d;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            ((char *)text.p)[i] = '"';
    if (!doc_read_json(&src, &s->a, &d, &e))
        fail_msg("%s", err_text(&e));
    return d;
}

static void write_object(struct storm *s, const char *resource, struct str text)
{
    struct doc d = read_json(s, text);
    fake_api_write(&s->api, resource, &d);
}

static void put_node(struct storm *s, const char *name, uint32_t cpus)
{
    write_object(s, "nodes",
                 arena_printf(&s->a,
                              "{'metadata':{'name':'%s'},'status':{'allocatable':{'cpu':"
                              "'%u','pods':'100'}}}",
                              name, cpus));
}

/* ---- the scheduler ---- */

static void start(struct storm *s)
{
    struct scheduler_opts opts = {.gates = api_gates_default};
    api_gate_set(&opts.gates, API_GATE_GenericWorkload, true);
    api_gate_set(&opts.gates, API_GATE_DRAWorkloadResourceClaims, true);
    fake_api_catch_up(&s->api);
    s->sched = scheduler_new(s->api.client, &opts);
    while (!scheduler_synced(s->sched))
        net_loop_run_once(s->api.loop, true);
}

static void stop(struct storm *s)
{
    struct scheduler_counts n = scheduler_count(s->sched);
    s->scheduled += n.scheduled;
    s->preemptions += n.preemptions;
    scheduler_free(s->sched);
    fake_api_settle(&s->api);
}

/* ---- what comes and goes ---- */

static const struct doc *pods(struct storm *s)
{
    return fake_api_list(&s->api, "pods");
}

static uint32_t group_of(const struct doc *pod)
{
    const struct doc *g = doc_path(pod, "spec.schedulingGroup");
    return (uint32_t)(doc_get_text(g, "podGroupName").p[1] - '0');
}

static void come(struct storm *s, uint32_t i)
{
    struct group *g = &s->groups[i];
    if (!g->least)
        *g = (struct group){.least = 1 + pick(s, 4), .high = pick(s, 2)};
    if (!g->there && !pick(s, 3)) {
        g->there = true;
        write_object(
            s, "podgroups",
            arena_printf(&s->a,
                         "{'metadata':{'name':'g%u','namespace':'ns','uid':'g%u'},"
                         "'spec':{'priority':%d,'schedulingPolicy':{'gang':{"
                         "'minCount':%u}}},'status':{}}",
                         i, s->made++, g->high ? 100 : 0, g->least));
        return;
    }
    if (g->pods >= 6)
        return;
    g->pods++;
    uint32_t id = s->made++;
    write_object(s, "pods",
                 arena_printf(&s->a,
                              "{'metadata':{'name':'p%u','namespace':'ns','uid':'p%u'},"
                              "'spec':{'schedulerName':'default-scheduler','priority':%d,"
                              "'schedulingGroup':{'podGroupName':'g%u'},'containers':[{"
                              "'name':'c','resources':{'requests':{'cpu':'1'}}}]},"
                              "'status':{'phase':'Pending'}}",
                              id, id, g->high ? 100 : 0, i));
}

static void count_pods(struct storm *s)
{
    for (uint32_t i = 0; i < GROUPS; i++)
        s->groups[i].pods = 0;
    for (uint32_t i = 0; i < pods(s)->n; i++)
        s->groups[group_of(&pods(s)->items[i])].pods++;
}

static void end_group(struct storm *s, uint32_t i)
{
    struct doc like = read_json(
        s, arena_printf(&s->a, "{'metadata':{'name':'g%u','namespace':'ns'}}", i));
    for (uint32_t k = pods(s)->n; k-- > 0;)
        if (group_of(&pods(s)->items[k]) == i) {
            struct doc d = doc_dup(&s->a, &pods(s)->items[k]);
            fake_api_remove(&s->api, "pods", &d);
        }
    fake_api_remove(&s->api, "podgroups", &like);
    s->groups[i] = (struct group){0};
}

static void one_goes(struct storm *s)
{
    if (!pods(s)->n)
        return;
    struct doc d = doc_dup(&s->a, &pods(s)->items[pick(s, pods(s)->n)]);
    fake_api_remove(&s->api, "pods", &d);
}

/* ---- trouble ---- */

static void fail_next(struct storm *s)
{
    static const char *const WHAT[] = {
        "'verb':'create','resource':'pods','subresource':'binding'",
        "'verb':'patch','resource':'pods'", "'verb':'patch','resource':'podgroups'",
        "'verb':'delete','resource':'pods'", "'verb':'get','resource':'pods'"};
    static const char *const HOW[] = {
        "'status':409,'reason':'Conflict','after':false",
        "'status':500,'reason':'InternalError','after':false",
        "'status':500,'reason':'InternalError','after':true",
        "'status':403,'reason':'Forbidden','after':false"};
    struct doc d = read_json(s, arena_printf(&s->a, "{%s,%s,'error':'no','times':1}",
                                             WHAT[pick(s, UNIT_COUNT(WHAT))],
                                             HOW[pick(s, UNIT_COUNT(HOW))]));
    doc_append(&s->a, &s->api.failures, d);
}

static void run_rounds(struct storm *s, uint32_t n)
{
    while (n-- > 0)
        net_loop_run_once(s->api.loop, false);
}

static void step(struct storm *s)
{
    switch (pick(s, 30)) {
    case 0:
        stop(s);
        start(s);
        break;
    case 1:
        s->api.late = true;
        break;
    case 2:
    case 3:
        s->api.late = false;
        fake_api_tell_some(&s->api, UINT32_MAX);
        break;
    case 4:
        fake_api_tell_some(&s->api, pick(s, 4));
        break;
    case 5:
        fail_next(s);
        break;
    case 6:
        end_group(s, pick(s, GROUPS));
        break;
    case 7:
        one_goes(s);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
        run_rounds(s, pick(s, 12));
        break;
    default:
        come(s, pick(s, GROUPS));
    }
    count_pods(s);
}

/* ---- what must hold ---- */

static struct str node_of(const struct doc *pod)
{
    return doc_get_text(doc_get(pod, "spec"), "nodeName");
}

static void check_nodes(struct storm *s)
{
    uint32_t used[NODES] = {0};
    for (uint32_t i = 0; i < pods(s)->n; i++) {
        struct str node = node_of(&pods(s)->items[i]);
        if (node.n && node.p[0] == 'n' && ++used[node.p[1] - '0'] > CPUS)
            fail_msg("seed %llu: %.*s has more than it can", (unsigned long long)s->seed,
                     STR_ARG(node));
    }
}

static bool is_settled(struct storm *s)
{
    for (uint32_t i = 0; i < pods(s)->n; i++) {
        const struct doc *pod = &pods(s)->items[i];
        const struct group *g = &s->groups[group_of(pod)];
        if (g->there && g->pods >= g->least && !node_of(pod).n)
            return false;
    }
    return true;
}

/* Whoever is still backing off need not be waited for by one that begins anew. */
static void calm_down(struct storm *s)
{
    uint64_t end = clock_mono_ns() + (uint64_t)PATIENCE_S * 1000000000;
    s->api.late = false;
    s->api.failures.n = 0;
    stop(s);
    put_node(s, "large", 1000);
    count_pods(s);
    start(s);
    while (!is_settled(s) && clock_mono_ns() < end)
        net_loop_run_once(s->api.loop, true);
    if (!is_settled(s))
        fail_msg("seed %llu: a gang that is complete waits", (unsigned long long)s->seed);
    fake_api_settle(&s->api);
}

static void check_end(struct storm *s)
{
    struct scheduler_counts n = scheduler_count(s->sched);
    assert_int_equal(n.in_flight, 0);
    assert_int_equal(n.active + n.parked, 0);
    check_nodes(s);
}

static void weather(struct storm *s, uint64_t seed)
{
    arena_init(&s->a);
    rng_init(&s->rng, seed);
    s->seed = seed;
    fake_api_open(&s->api, &s->a);
    s->api.stores = true;
    s->api.version = 1000;
    for (uint32_t i = 0; i < NODES; i++)
        put_node(s, arena_printf(&s->a, "n%u", i).p, CPUS);
    start(s);
    for (int i = 0; i < STEPS; i++) {
        step(s);
        check_nodes(s);
    }
    calm_down(s);
    check_end(s);
    stop(s);
    fake_api_close(&s->api);
    arena_fini(&s->a);
}

static uint64_t storms(uint64_t usual)
{
    const char *n = getenv("DRAY_STORMS");
    return n ? strtoull(n, NULL, 10) : usual;
}

static void test_storm(void **state)
{
    uint64_t scheduled = 0, preemptions = 0, n = storms(SEEDS);
    for (uint64_t seed = 0; seed < n; seed++) {
        struct storm s = {0};
        weather(&s, seed);
        scheduled += s.scheduled;
        preemptions += s.preemptions;
    }
    assert_true(scheduled > n * 10); /* it has been put to the test */
    assert_true(preemptions > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
