/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/scheduler.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sched/inner.h"

enum { FLUSH_MS = 1000, SYNC_MS = 10 };

void sched_log(const struct scheduler *s, const char *text)
{
    if (s->opts.log)
        s->opts.log(s->opts.log_ctx, text);
}

uint64_t sched_now(const struct scheduler *s)
{
    return net_now_ms(client_loop(s->client));
}

const struct profile *sched_profile_of(const struct scheduler *s, const struct object *p)
{
    struct str name = pod_info_of(p)->scheduler;
    if (!name.n)
        name = STR("default-scheduler");
    for (uint32_t i = 0; i < s->config.n; i++)
        if (str_eq(s->config.profiles[i].name, name))
            return &s->config.profiles[i];
    return NULL;
}

/* ---- turns ---- */

/* A pod that is in a group is tried with it. */
static void start(struct scheduler *s, struct queued *q)
{
    struct pod_group *g = groups_of(&s->world.groups, q->object);
    if (!s->groups || !q->info->group.n) {
        attempt_start(s, q);
    } else if (g && g->object && !g->busy) {
        group_start(s, g, q);
    } else { /* its group is gone */
        q->rejected_by = PLUGIN_BIT(PLUGIN_GANG);
        queue_reject(&s->queue, q, sched_now(s));
    }
}

static void on_turn(void *ctx)
{
    struct scheduler *s = ctx;
    struct queued *q;
    s->turn = NULL;
    for (int i = 0; i < SCHED_TURN && s->nattempts < SCHED_UNDER_WAY; i++) {
        if (!(q = queue_pop(&s->queue, sched_now(s))))
            return;
        start(s, q);
    }
    if (s->nattempts < SCHED_UNDER_WAY)
        sched_kick(s);
}

void sched_kick(struct scheduler *s)
{
    if (s->synced && !s->turn)
        s->turn = net_timer_start(client_loop(s->client), 0, 0, on_turn, s);
}

void sched_tell(struct scheduler *s, enum sched_event_kind kind, const struct object *old,
                const struct object *now)
{
    struct sched_event e = {.kind = kind, .old = old, .now = now};
    queue_event(&s->queue, &e, sched_now(s));
    sched_kick(s);
}

static void on_flush(void *ctx)
{
    struct scheduler *s = ctx;
    queue_flush(&s->queue, sched_now(s));
    sched_kick(s);
}

static void on_sync(void *ctx)
{
    struct scheduler *s = ctx;
    if (!watch_synced(s) || (s->world.dra && !dra_synced(s->world.dra)))
        return;
    net_timer_stop(s->sync);
    s->sync = NULL;
    s->synced = true;
    sched_kick(s);
}

/* ---- devices ---- */

static struct sched_event event_of(const struct dra_event *e)
{
    static const enum sched_event_kind KINDS[] = {
        [DRA_CLAIM] = EVENT_CLAIM,
        [DRA_CLASS] = EVENT_DEVICE_CLASS,
        [DRA_SLICE] = EVENT_SLICE,
    };
    return (struct sched_event){KINDS[e->kind], e->old, e->now, e};
}

/* A claim's event is told to the pods that name it, and to no other. */
static void tell_waiting(struct scheduler *s, const struct dra_event *d,
                         const struct sched_event *e)
{
    const struct object *claim = d->now ? d->now : d->old;
    uint32_t n;
    const struct str *keys = index_find(&s->pods_by_claim, claim->key, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *pod = informer_get(s->pods, keys[i]);
        struct queued *q = pod ? queue_find(&s->queue, pod_id(pod)) : NULL;
        if (q)
            queue_event_for(&s->queue, q, e, sched_now(s));
    }
}

static void on_devices(void *ctx, const struct dra_event *d)
{
    struct scheduler *s = ctx;
    struct sched_event e = event_of(d);
    if (d->all_pods || d->kind != DRA_CLAIM)
        queue_event(&s->queue, &e, sched_now(s));
    else
        tell_waiting(s, d, &e);
    sched_kick(s);
}

static void on_device_word(void *ctx, const struct object *pod, const char *reason,
                           struct str message)
{
    struct scheduler *s = ctx;
    struct event_about about = {"v1", "Pod", pod->doc};
    events_tell(s->events, &about, "Normal", reason, message);
}

static void on_device_log(void *ctx, const char *text)
{
    sched_log(ctx, text);
}

/* ---- the queue asks ---- */

static bool pre_enqueue_devices(struct scheduler *s, const struct object *pod)
{
    if (!s->world.dra)
        return true;
    struct arena a;
    arena_init(&a);
    struct sched_status st = dra_pre_enqueue(s->world.dra, pod, &a);
    bool ok = sched_ok(&st) || st.code == SCHED_SKIP;
    arena_fini(&a);
    return ok;
}

static bool pre_enqueue_group(struct scheduler *s, const struct object *pod)
{
    struct str name = pod_info_of(pod)->group;
    struct arena a;
    if (!s->groups || !name.n)
        return true;
    arena_init(&a);
    bool ok = !group_gate(groups_of(&s->world.groups, pod), name, &a).n;
    arena_fini(&a);
    return ok;
}

static plugin_set on_gate(void *ctx, const struct object *pod)
{
    if (pod_info_of(pod)->gated)
        return PLUGIN_BIT(PLUGIN_GATES);
    if (!pre_enqueue_devices(ctx, pod))
        return PLUGIN_BIT(PLUGIN_DEVICES);
    return pre_enqueue_group(ctx, pod) ? 0 : PLUGIN_BIT(PLUGIN_GANG);
}

static bool on_hint(void *ctx, enum plugin_id plugin, const struct object *pod,
                    const struct sched_event *e)
{
    struct scheduler *s = ctx;
    plugin_hint_fn *hint = plugin_table[plugin].hint;
    return !hint || hint(&s->world, pod, e);
}

/* ---- life ---- */

static void start_devices(struct scheduler *s)
{
    struct dra_opts opts = {.gates = s->opts.gates,
                            .changed = on_devices,
                            .tell = on_device_word,
                            .log = on_device_log,
                            .ctx = s};
    s->world.dra = dra_new(s->client, &opts);
}

struct scheduler *scheduler_new(struct client *c, const struct scheduler_opts *opts)
{
    static const struct queue_ops QUEUE = {on_gate, on_hint, NULL};
    struct scheduler *s = mem_zalloc(sizeof *s);
    struct net_loop *loop = client_loop(c);
    s->client = c;
    s->opts = *opts;
    s->config = opts->config ? *opts->config : sched_config_default(&s->config_arena);
    queue_init(&s->queue, &QUEUE, s, s->config.first_ms, s->config.longest_ms);
    sched_measure_init(&s->measure, &s->config);
    index_init(&s->pods_by_claim, dra_pod_claims);
    s->events = events_new(c, "default-scheduler");
    start_devices(s);
    watch_start(s);
    s->flush = net_timer_start(loop, FLUSH_MS, FLUSH_MS, on_flush, s);
    s->sync = net_timer_start(loop, SYNC_MS, SYNC_MS, on_sync, s);
    return s;
}

static void stop_timer(struct net_timer *t)
{
    if (t)
        net_timer_stop(t);
}

void scheduler_free(struct scheduler *s)
{
    if (!s)
        return;
    stop_timer(s->turn);
    stop_timer(s->flush);
    stop_timer(s->sync);
    watch_stop(s);
    while (s->attempts)
        attempt_free(s->attempts);
    while (s->group_attempts)
        group_attempt_free(s->group_attempts);
    dra_free(s->world.dra);
    events_free(s->events);
    queue_fini(&s->queue);
    index_fini(&s->pods_by_claim);
    groups_fini(&s->world.groups);
    nominated_fini(&s->world.nominated);
    cache_fini(&s->world.cache);
    sched_measure_fini(&s->measure);
    arena_fini(&s->scratch);
    arena_fini(&s->config_arena);
    free(s);
}

bool scheduler_synced(const struct scheduler *s)
{
    return s->synced;
}

struct scheduler_counts scheduler_count(const struct scheduler *s)
{
    struct scheduler_counts n = s->counts;
    n.active = queue_length(&s->queue, QUEUE_ACTIVE);
    n.backoff = queue_length(&s->queue, QUEUE_BACKOFF) +
                queue_length(&s->queue, QUEUE_ERROR_BACKOFF);
    n.parked = queue_length(&s->queue, QUEUE_PARKED);
    n.gated = queue_length(&s->queue, QUEUE_GATED);
    n.in_flight = queue_length(&s->queue, QUEUE_IN_FLIGHT);
    return n;
}

/* ---- metrics ---- */

struct gauge {
    const char *label; /* its value */
    uint64_t n;
};

static void print_gauges(struct strbuf *out, const char *name, const char *label,
                         const struct gauge *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_addf(out, "%s{%s=\"%s\"} %llu\n", name, label, v[i].label,
                    (unsigned long long)v[i].n);
}

void scheduler_print_metrics(const struct scheduler *s, struct strbuf *out)
{
    const struct scheduler_counts n = scheduler_count(s);
    const struct gauge pending[] = {{"active", n.active},
                                    {"backoff", n.backoff},
                                    {"gated", n.gated},
                                    {"unschedulable", n.parked}},
                       cached[] = {{"assumed_pods", n.in_flight},
                                   {"nodes", s->world.cache.nodes.n},
                                   {"pods", s->world.cache.pods.live}};
    sched_measure_print(&s->measure, out);
    sched_print_head(out, "scheduler_pending_pods", "gauge",
                     "Pods without a node, by where they wait.");
    print_gauges(out, "scheduler_pending_pods", "queue", pending,
                 sizeof pending / sizeof *pending);
    sched_print_head(out, "scheduler_cache_size", "gauge",
                     "Nodes and pods that the scheduler knows.");
    print_gauges(out, "scheduler_cache_size", "type", cached,
                 sizeof cached / sizeof *cached);
}
