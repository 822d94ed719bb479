/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy leaves in pieces. Jobs of 1, 2, 4 and 8 devices come and go on nodes that
 * have 8 each, 4 on a NUMA node, and want theirs on one; or partitions of GPUs. One job
 * comes with each of 10,000 steps and stays for a while, so that on average nine tenths
 * of all are in use. Whoever does not fit waits, and is tried again in turn.
 *
 * A device is stranded when it is free while jobs wait that want it. The figure is their
 * mean number over the last 9,000 steps (or the mean number of jobs that wait). The peer
 * is upstream's policy: devices first-fit; nodes the one with the least allocated, as
 * NodeResourcesFit has it by default, or, where all score alike, from a place that
 * changes with each pod.
 */
#include <stdio.h>
#include <stdlib.h>

#include "alloc_case.h"
#include "base/rng.h"
#include "base/vec.h"
#include "bench.h"
#include "sched/dra.h"

enum { STEPS = 10000, WARM = 1000, KINDS = 4, NODES_MAX = 64 };

enum nodes_by { BY_POLICY, BY_LEAST_ALLOCATED, BY_TURN };

struct kind { /* of jobs */
    const char *class;
    uint32_t count, weight; /* devices; how many of a hundred jobs */
    uint32_t parts;         /* that one of its devices takes of a whole node's */
};

struct scene {
    uint32_t nodes, parts; /* parts: of a node */
    uint32_t lasting;      /* steps that a job stays, on average */
    const struct kind *kinds;
    void (*slice)(struct strbuf *b, uint32_t node);
    const char *constraint;
};

struct job {
    uint32_t kind, node, until;
    struct view_claim *claim;
};

struct run {
    const struct scene *scene;
    enum nodes_by nodes_by;
    struct alloc_options options;
    struct alloc_case c;
    struct arena a, scratch;
    struct alloc_plan *plans[KINDS];
    struct rng rng;
    VEC(struct job) waiting, running;
    uint32_t used[NODES_MAX]; /* parts of each node */
    uint64_t made, turn;
    double stranded, waited; /* sums over steps */
};

/* ---- scenes ---- */

static void slice_of_eight(struct strbuf *b, uint32_t node)
{
    strbuf_addf(
        b,
        "{\"metadata\":{\"name\":\"s%u\"},\"spec\":{\"driver\":\"d\",\"nodeName\":"
        "\"n%u\",\"pool\":{\"name\":\"n%u\",\"generation\":1,"
        "\"resourceSliceCount\":1},\"devices\":[",
        node, node, node);
    for (uint32_t i = 0; i < 8; i++)
        strbuf_addf(b,
                    "%s{\"name\":\"d%u\",\"attributes\":{"
                    "\"resource.kubernetes.io/numaNode\":{\"int\":%u}}}",
                    i ? "," : "", i, i / 4);
    strbuf_adds(b, "]}}");
}

static void partition(struct strbuf *b, uint32_t gpu, uint32_t size, uint32_t at)
{
    strbuf_addf(b,
                "{\"name\":\"g%u-%u-%u\",\"attributes\":{\"size\":{\"int\":%u}},"
                "\"consumesCounters\":[{\"counterSet\":\"g%u\",\"counters\":{",
                gpu, size, at, size, gpu);
    for (uint32_t i = at; i < at + size; i++)
        strbuf_addf(b, "%s\"s%u\":{\"value\":\"1\"}", i > at ? "," : "", i);
    strbuf_adds(b, "}}]}");
}

/* Two GPUs of four slices, to be cut in halves and quarters where these begin. */
static void slice_of_partitions(struct strbuf *b, uint32_t node)
{
    char head[256];
    snprintf(head, sizeof head,
             "\"driver\":\"d\",\"nodeName\":\"n%u\",\"pool\":{\"name\":\"n%u\","
             "\"generation\":1,\"resourceSliceCount\":2},",
             node, node);
    strbuf_addf(b, "{\"metadata\":{\"name\":\"c%u\"},\"spec\":{%s\"sharedCounters\":[",
                node, head);
    for (uint32_t g = 0; g < 2; g++)
        strbuf_addf(
            b,
            "%s{\"name\":\"g%u\",\"counters\":{\"s0\":{\"value\":\"1\"},\"s1\":{"
            "\"value\":\"1\"},\"s2\":{\"value\":\"1\"},\"s3\":{\"value\":\"1\"}}}",
            g ? "," : "", g);
    strbuf_addf(b, "]}},{\"metadata\":{\"name\":\"s%u\"},\"spec\":{%s\"devices\":[", node,
                head);
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t size = 1; size <= 4; size *= 2)
            for (uint32_t at = 0; at < 4; at += size) {
                strbuf_adds(b, g || size > 1 || at ? "," : "");
                partition(b, g, size, at);
            }
    strbuf_adds(b, "]}}");
}

static const struct kind DEVICES[KINDS] = {
    {"any", 1, 40, 1}, {"any", 2, 30, 1}, {"any", 4, 20, 1}, {"any", 8, 10, 1}};
static const struct kind PARTITIONS[KINDS] = {
    {"p1", 1, 50, 1}, {"p2", 1, 30, 2}, {"p4", 1, 15, 4}, {"p4", 2, 5, 4}};
static const struct scene WHOLE = {
    32,
    8,
    88,
    DEVICES,
    slice_of_eight,
    ",\"constraints\":[{\"matchAttribute\":\"resource.kubernetes.io/numaNode\"}]"};
static const struct scene PARTS = {32, 8, 103, PARTITIONS, slice_of_partitions, ""};

static void write_classes(struct strbuf *b)
{
    strbuf_adds(b, "\"classes\":[{\"metadata\":{\"name\":\"any\"},\"spec\":{}}");
    for (int size = 1; size <= 4; size *= 2)
        strbuf_addf(
            b,
            ",{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"selectors\":[{\"cel\":{"
            "\"expression\":\"device.attributes['d'].size == %d\"}}]}}",
            size, size);
    strbuf_adds(b, "],");
}

/* Eight devices are never on one NUMA node. */
static void write_claims(struct strbuf *b, const struct scene *s)
{
    strbuf_adds(b, "\"claims\":[");
    for (int i = 0; i < KINDS; i++)
        strbuf_addf(
            b,
            "%s{\"metadata\":{\"name\":\"k%d\",\"namespace\":\"ns\",\"uid\":\"k%d\"},"
            "\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{"
            "\"deviceClassName\":\"%s\",\"allocationMode\":\"ExactCount\","
            "\"count\":%u}}]%s}}}",
            i ? "," : "", i, i, s->kinds[i].class, s->kinds[i].count,
            s->kinds[i].count <= 4 ? s->constraint : "");
    strbuf_adds(b, "]}");
}

static struct str write_scene(const struct scene *s, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_adds(&b, "{\"nodes\":[");
    for (uint32_t i = 0; i < s->nodes; i++)
        strbuf_addf(&b, "%s{\"metadata\":{\"name\":\"n%u\"}}", i ? "," : "", i);
    strbuf_adds(&b, "],");
    write_classes(&b);
    strbuf_adds(&b, "\"slices\":[");
    for (uint32_t i = 0; i < s->nodes; i++) {
        strbuf_adds(&b, i ? "," : "");
        s->slice(&b, i);
    }
    strbuf_adds(&b, "],");
    write_claims(&b, s);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static void run_init(struct run *r, const struct scene *s)
{
    struct err e = ERR_INIT;
    arena_init(&r->a);
    arena_init(&r->scratch);
    struct doc_source src = {.name = "scene", .text = write_scene(s, &r->a)};
    struct doc *d = ARENA_NEW(&r->a, struct doc);
    if (!doc_read_json(&src, &r->a, d, &e) || !alloc_case_read(&r->c, d, &r->a, &e)) {
        fprintf(stderr, "%s\n", err_text(&e));
        exit(1);
    }
    for (int i = 0; i < KINDS; i++)
        r->plans[i] = alloc_plan_new(r->c.inv, &r->c.claims[i], 1);
    rng_init(&r->rng, 1);
    r->scene = s;
}

static void run_fini(struct run *r)
{
    for (int i = 0; i < KINDS; i++)
        alloc_plan_free(r->plans[i]);
    alloc_case_fini(&r->c);
    vec_release(&r->waiting);
    vec_release(&r->running);
    arena_fini(&r->a);
    arena_fini(&r->scratch);
}

/* ---- placing a job ---- */

static uint32_t parts_of(const struct run *r, const struct job *j)
{
    const struct kind *k = &r->scene->kinds[j->kind];
    return k->count * k->parts;
}

static int64_t points(const struct run *r, uint32_t node, const struct alloc_fit *fit)
{
    if (r->nodes_by == BY_POLICY)
        return dra_fit_points(r->options.policy, fit);
    return r->nodes_by == BY_TURN ? 0 : (int64_t)r->scene->parts - r->used[node];
}

/* Of equal nodes the first one, from a place that changes. */
static bool place(struct run *r, struct job *j)
{
    uint32_t n = r->scene->nodes, start = (uint32_t)(r->turn++ * 7 % n);
    int64_t best = -1;
    struct alloc_outcome found = {0};
    arena_reset(&r->scratch);
    for (uint32_t i = 0; i < n && !(best >= 0 && r->nodes_by == BY_TURN); i++) {
        uint32_t node = (start + i) % n;
        struct alloc_outcome out;
        if (alloc_find(r->plans[j->kind], &r->c.nodes[node], 1, 0, &r->options,
                       &r->scratch, &out) == 1)
            continue;
        int64_t p = points(r, node, &out.fit);
        if (p <= best)
            continue;
        best = p;
        found = out;
        j->node = node;
    }
    if (best < 0)
        return false;
    alloc_commit(r->c.inv, j->claim, &found.results[0]);
    r->used[j->node] += parts_of(r, j);
    return true;
}

/* ---- steps ---- */

static struct job new_job(struct run *r)
{
    struct job j = {0};
    uint32_t at = (uint32_t)rng_range(&r->rng, 0, 99);
    while (at >= r->scene->kinds[j.kind].weight)
        at -= r->scene->kinds[j.kind++].weight;
    j.until =
        (uint32_t)rng_range(&r->rng, 1, 2 * r->scene->lasting - 1); /* from then on */
    j.claim = ARENA_NEW(&r->a, struct view_claim);
    *j.claim = *r->c.claims[j.kind];
    j.claim->meta.uid = arena_printf(&r->a, "%llu", (unsigned long long)r->made++);
    return j;
}

static void end_jobs(struct run *r, uint32_t step)
{
    for (size_t i = r->running.n; i-- > 0;) {
        struct job *j = &r->running.v[i];
        if (j->until > step)
            continue;
        alloc_release(r->c.inv, j->claim->meta.uid);
        r->used[j->node] -= parts_of(r, j);
        *j = vec_pop(&r->running);
    }
}

static void start_jobs(struct run *r, uint32_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->waiting.n; i++) {
        struct job j = r->waiting.v[i];
        if (place(r, &j)) {
            j.until += step;
            vec_push(&r->running, j);
        } else {
            r->waiting.v[kept++] = j;
        }
    }
    r->waiting.n = kept;
}

static void note(struct run *r)
{
    uint64_t wanted = 0, left = 0;
    for (size_t i = 0; i < r->waiting.n; i++)
        wanted += parts_of(r, &r->waiting.v[i]);
    for (uint32_t i = 0; i < r->scene->nodes; i++)
        left += r->scene->parts - r->used[i];
    r->stranded += (double)(wanted < left ? wanted : left);
    r->waited += (double)r->waiting.n;
}

static struct run simulate(const struct scene *s, enum alloc_policy policy,
                           enum nodes_by nodes_by)
{
    struct run r = {.options = {.policy = policy}, .nodes_by = nodes_by};
    run_init(&r, s);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct job j = new_job(&r);
        vec_push(&r.waiting, j);
        end_jobs(&r, step);
        start_jobs(&r, step);
        if (step >= WARM)
            note(&r);
    }
    r.stranded /= STEPS - WARM;
    r.waited /= STEPS - WARM;
    run_fini(&r);
    return r;
}

/* ---- rows ---- */

struct compared {
    const struct scene *scene;
    enum nodes_by peer;
    bool waiting; /* jobs that wait, not devices that are stranded */
};

static void setup(struct bench *b, const struct bench_row *row)
{
    b->data = (void *)row->arg;
}

static double figure(const struct compared *c, enum alloc_policy policy,
                     enum nodes_by nodes_by)
{
    struct run r = simulate(c->scene, policy, nodes_by);
    return c->waiting ? r.waited : r.stranded;
}

static double measure(struct bench *b)
{
    return figure(b->data, ALLOC_BEST_FIT, BY_POLICY);
}

static double measure_peer(struct bench *b)
{
    const struct compared *c = b->data;
    return figure(c, ALLOC_FIRST_FIT, c->peer);
}

static const struct compared LEAST = {&WHOLE, BY_LEAST_ALLOCATED, false},
                             TURN = {&WHOLE, BY_TURN, false},
                             WAITING = {&WHOLE, BY_TURN, true},
                             CUT = {&PARTS, BY_TURN, false};
#define ROW(c)                                                                           \
    .setup = setup, .measure = measure, .peer_measure = measure_peer, .arg = &(c),       \
    .rounds = 1

const struct bench_row bench_fragmentation[] = {
    {.id = "fragmentation.default",
     .what =
         "devices stranded, 32 nodes of 8, against first-fit and least allocated nodes",
     .goal = 2,
     .unit = "",
     ROW(LEAST)},
    {.id = "fragmentation.ties",
     .what = "devices stranded, against first-fit and nodes in turn",
     .goal = 2,
     .unit = "",
     ROW(TURN)},
    {.id = "fragmentation.waiting",
     .what = "jobs that wait, against first-fit and nodes in turn",
     .goal = 2,
     .unit = "",
     ROW(WAITING)},
    {.id = "fragmentation.partitions",
     .what = "slices of GPUs stranded, 32 nodes of 2 GPUs in 4 slices, nodes in turn",
     .goal = 2,
     .unit = "",
     ROW(CUT)},
    {0}};
