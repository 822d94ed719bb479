/* SPDX-License-Identifier: Apache-2.0 */
#include "node/sim.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "node/sim_inner.h"

/* Leases are renewed in small shares, so that thousands are no burst. */
enum { RENEW_MS = 10000, BEAT_MS = 100, NODE_WORKERS = 64, POD_WORKERS = 256 };

static const struct client_kind NODE = {"", "v1", "nodes", false},
                                POD = {"", "v1", "pods", true},
                                LEASE = {"coordination.k8s.io", "v1", "leases", true};

/* ---- small things for all parts ---- */

struct sim_node *sim_find(const struct sim *s, struct str name)
{
    const struct strmap_entry *e = strmap_find(&s->by_name, name);
    return e ? e->value.ptr : NULL;
}

void sim_log(void *ctx, const char *text)
{
    const struct sim *s = ctx;
    if (s->opts.log)
        s->opts.log(s->opts.ctx, text);
}

int64_t sim_now(void)
{
    return time(NULL);
}

struct str sim_time(bool micro, struct arena *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return timestamp_print(t.tv_sec, micro ? (int32_t)t.tv_nsec : 0, micro, a);
}

struct str sim_node_ip(const struct sim_node *n, struct arena *a)
{
    return arena_printf(a, "172.%u.%u.%u", 16 + n->number / 62500 % 16,
                        n->number / 250 % 250, 1 + n->number % 250);
}

/* ---- leases ---- */

static void on_renewed(void *ctx, const struct client_answer *a)
{
    struct sim_node *n = ctx;
    n->renewal = NULL;
    if (a->status == 404) /* somebody deleted it */
        worker_add(n->sim->node_worker, n->name);
    else if (!a->ok)
        sim_log(n->sim, a->message);
}

static void renew(struct sim_node *n)
{
    const struct object *o = informer_get(n->sim->objects, n->name);
    if (n->renewal || !n->stands || !o || ((const struct sim_node_view *)o->view)->lost)
        return;
    struct arena a;
    arena_init(&a);
    struct str now = sim_time(true, &a);
    struct client_request q = {
        .method = "PATCH",
        .type = "application/merge-patch+json",
        .path = client_path(&LEASE, STR("kube-node-lease"), n->name, NULL, &a),
        .body = arena_printf(&a, "{\"spec\":{\"renewTime\":\"%.*s\"}}", STR_ARG(now)),
    };
    n->renewal = client_start(n->sim->client, &q, on_renewed, n);
    arena_fini(&a);
}

/* The share of one beat, rounded up: each lease in time, at the cost of some more. */
static void beat(void *ctx)
{
    struct sim *s = ctx;
    uint64_t ms = s->opts.renew_ms;
    uint64_t share = (s->nnodes * (uint64_t)BEAT_MS + ms - 1) / ms;
    for (uint64_t i = 0; i < share && i < s->nnodes; i++) {
        renew(&s->nodes[s->next_beat]);
        s->next_beat = (s->next_beat + 1) % s->nnodes;
    }
}

/* ---- events ---- */

static void readd_pod(void *ctx, const struct object *o)
{
    const struct sim_node *n = ctx;
    const struct sim_pod_view *v = o->view;
    if (str_eq(v->node, n->name))
        worker_add(n->sim->pod_worker, o->key);
}

static bool is_lost(const struct object *node)
{
    return node && ((const struct sim_node_view *)node->view)->lost;
}

/* What its pods had to wait for while nothing was heard of it is done now. */
static void on_node(void *ctx, const struct object *old, const struct object *now)
{
    struct sim *s = ctx;
    struct sim_node *n = sim_find(s, (now ? now : old)->name);
    if (!n)
        return;
    n->asked = true;
    worker_add(s->node_worker, n->name);
    if (is_lost(old) && !is_lost(now))
        informer_each(s->pods, readd_pod, n);
}

static void mark_ip(struct sim *s, const struct object *pod, bool used)
{
    const struct sim_pod_view *v = pod ? pod->view : NULL;
    struct sim_node *n = v && v->ip_end ? sim_find(s, v->node) : NULL;
    if (!n)
        return;
    uint64_t bit = 1ull << (v->ip_end % 64);
    n->ips[v->ip_end / 64] &= ~bit;
    n->ips[v->ip_end / 64] |= used && v->phase != SIM_OVER ? bit : 0;
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct sim *s = ctx;
    mark_ip(s, old, false);
    mark_ip(s, now, true);
    if (now && sim_find(s, ((const struct sim_pod_view *)now->view)->node))
        worker_add(s->pod_worker, now->key);
}

/* Which nodes are there already is known: the others are made. */
static void on_nodes_synced(void *ctx)
{
    struct sim *s = ctx;
    for (uint32_t i = 0; i < s->nnodes; i++)
        worker_add(s->node_worker, s->nodes[i].name);
}

/* ---- life ---- */

static bool add_node(struct sim *s, const struct sim_group *g, uint32_t i, struct err *e)
{
    struct sim_node *n = &s->nodes[s->nnodes];
    bool made;
    *n = (struct sim_node){.sim = s, .shape = g->shape, .number = s->nnodes};
    n->name = arena_printf(&s->arena, "%s-%u", g->prefix, i + 1);
    strmap_put(&s->by_name, n->name, &made)->value.ptr = n;
    s->nnodes++;
    return made ||
           err_set(e, ERR_INVALID, "there are two nodes \"%.*s\"", STR_ARG(n->name));
}

static bool make_nodes(struct sim *s, struct err *e)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->opts.ngroups; i++)
        n += s->opts.groups[i].n;
    if (n > SIM_MAX_NODES)
        return err_set(e, ERR_LIMIT, "more than %d nodes", SIM_MAX_NODES);
    s->nodes = mem_zalloc((n + 1) * sizeof *s->nodes);
    for (uint32_t g = 0; g < s->opts.ngroups; g++)
        for (uint32_t i = 0; i < s->opts.groups[g].n; i++)
            if (!add_node(s, &s->opts.groups[g], i, e))
                return false;
    return true;
}

static void start(struct sim *s)
{
    static const struct informer_ops NODES = {on_node, on_nodes_synced, sim_log},
                                     PODS = {on_pod, NULL, sim_log};
    const struct informer_opts nodes = {.kind = NODE, .objects = {sim_node_view, true}},
                               pods = {.kind = POD,
                                       .fields = "spec.nodeName!=",
                                       .objects = {sim_pod_view, true}};
    struct worker_opts opts = {
        .queue = {.workers = NODE_WORKERS}, .log = sim_log, .log_ctx = s};
    struct err e = ERR_INIT;
    if (!sim_logs_open(s, &e))
        sim_log(s, err_text(&e));
    err_release(&e);
    s->node_worker = worker_new(s->client, &opts, sim_node_work, s);
    opts.queue = (struct workqueue_opts){.workers = POD_WORKERS, .longest_ms = 30000};
    s->pod_worker = worker_new(s->client, &opts, sim_pod_work, s);
    s->objects = informer_new(s->client, &nodes, &NODES, s);
    s->pods = informer_new(s->client, &pods, &PODS, s);
    s->beat = net_timer_start(client_loop(s->client), BEAT_MS, BEAT_MS, beat, s);
}

struct sim *sim_new(struct client *c, const struct sim_opts *opts, struct err *e)
{
    struct sim *s = mem_zalloc(sizeof *s);
    *s = (struct sim){.client = c, .opts = *opts};
    s->opts.renew_ms = opts->renew_ms ? opts->renew_ms : RENEW_MS;
    arena_init(&s->arena);
    strmap_init(&s->by_name);
    if (make_nodes(s, e)) {
        start(s);
        return s;
    }
    sim_free(s);
    return NULL;
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->nnodes; i++)
        if (s->nodes[i].renewal)
            client_cancel(s->nodes[i].renewal);
    net_timer_stop(s->beat);
    sim_logs_close(s);
    worker_free(s->node_worker);
    worker_free(s->pod_worker);
    informer_free(s->objects);
    informer_free(s->pods);
    strmap_release(&s->by_name);
    arena_fini(&s->arena);
    free(s->nodes);
    free(s);
}
