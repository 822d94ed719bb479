/* SPDX-License-Identifier: Apache-2.0 */
/* The garbage collector's informers, one for each kind, and its graph. */
#include "control/garbage.h"

#include <stdlib.h>

#include "control/garbage_inner.h"

/* Kinds that do not tell for so long are not waited for, as upstream. */
enum { WORKERS = 20, PATIENCE_MS = 30000, COMPARE_MS = 60000 };

static void trouble(struct garbage *g, const char *what)
{
    if (g->opts.log)
        g->opts.log(g->opts.log_ctx, what);
}

/* ---- tasks ---- */

static void on_task(void *ctx, enum garbage_task what, const struct garbage_node *n)
{
    static const char LETTERS[] = {
        [GARBAGE_CHECK] = 'c', [GARBAGE_RELEASE] = 'r', [GARBAGE_LET_GO] = 'l'};
    struct garbage *g = ctx;
    struct arena a;
    if (!g->ready)
        return;
    arena_init(&a);
    worker_add(g->worker, arena_printf(&a, "%c:%.*s", LETTERS[what], STR_ARG(n->id.uid)));
    arena_fini(&a);
}

static void on_misplaced(void *ctx, const struct garbage_node *n,
                         const struct garbage_owner *o)
{
    struct garbage *g = ctx;
    struct arena a;
    struct doc d = doc_make_map(), meta = doc_make_map();
    struct event_about about = {n->id.api_version.p, n->id.kind.p, &d};
    arena_init(&a);
    doc_set_text(&a, &meta, "namespace", n->id.namespace);
    doc_set_text(&a, &meta, "name", n->id.name);
    doc_set_text(&a, &meta, "uid", n->id.uid);
    doc_set(&a, &d, "metadata", meta);
    events_tell(g->events, &about, "Warning", "OwnerRefInvalidNamespace",
                arena_printf(&a,
                             "ownerRef [%.*s/%.*s, namespace: %.*s, name: %.*s, uid: "
                             "%.*s] does not exist in namespace \"%.*s\"",
                             STR_ARG(o->api_version), STR_ARG(o->kind),
                             STR_ARG(n->id.namespace), STR_ARG(o->name), STR_ARG(o->uid),
                             STR_ARG(n->id.namespace)));
    arena_fini(&a);
}

/* ---- monitors ---- */

static void on_changed(void *ctx, const struct object *old, const struct object *now)
{
    struct garbage_monitor *m = ctx;
    garbage_graph_change(&m->garbage->graph, m->resource->api_version, m->resource->name,
                         old, now);
}

static void on_trouble(void *ctx, const char *what)
{
    struct garbage_monitor *m = ctx;
    trouble(m->garbage, what);
}

bool garbage_is_complete(const struct garbage *g)
{
    uint64_t now = net_now_ms(client_loop(g->client));
    for (size_t i = 0; i < g->monitors.n; i++) {
        const struct garbage_monitor *m = g->monitors.v[i];
        if (!informer_synced(m->informer) && now - m->begun_ms < PATIENCE_MS)
            return false;
    }
    return g->monitors.n > 0;
}

/* Once the graph is whole, also again, all that is to be done is found in it. */
static void look_at_all(struct garbage *g)
{
    if (!resources_known(g->resources) || !garbage_is_complete(g))
        return;
    g->ready = true;
    garbage_graph_compare(&g->graph);
}

static void on_patience_end(void *ctx)
{
    struct garbage *g = ctx;
    g->patience = NULL;
    look_at_all(g);
}

static void on_compare(void *ctx)
{
    look_at_all(ctx);
}

static void on_synced(void *ctx)
{
    const struct garbage_monitor *m = ctx;
    look_at_all(m->garbage);
}

static bool is_watched(const struct resource *r)
{
    static const unsigned NEEDED = RESOURCE_DELETE | RESOURCE_LIST | RESOURCE_WATCH;
    bool event = strcmp(r->kind.resource, "events") == 0 &&
                 (!r->kind.group[0] || strcmp(r->kind.group, "events.k8s.io") == 0);
    return r->preferred && (r->verbs & NEEDED) == NEEDED && !event;
}

static void begin_monitor(struct garbage *g, const struct resource *r)
{
    static const struct informer_ops OPS = {on_changed, on_synced, on_trouble};
    struct garbage_monitor *m = mem_zalloc(sizeof *m);
    struct informer_opts opts = {
        .kind = r->kind,
        .metadata = true,
        .objects = {.view = garbage_meta_view, .drop_doc = true},
    };
    *m = (struct garbage_monitor){.garbage = g,
                                  .resource = r,
                                  .namespaced = r->kind.namespaced,
                                  .begun_ms = net_now_ms(client_loop(g->client))};
    vec_push(&g->monitors, m);
    m->informer = informer_new(g->client, &opts, &OPS, m);
}

static void lose(void *ctx, const struct object *o)
{
    struct garbage *g = ctx;
    garbage_graph_lose(&g->graph, o);
}

static void end_monitor(struct garbage *g, size_t i)
{
    struct garbage_monitor *m = g->monitors.v[i];
    informer_each(m->informer, lose, g);
    informer_free(m->informer);
    free(m);
    g->monitors.v[i] = g->monitors.v[--g->monitors.n];
}

static bool has_monitor(const struct garbage *g, const struct resource *r)
{
    for (size_t i = 0; i < g->monitors.n; i++)
        if (g->monitors.v[i]->resource == r)
            return true;
    return false;
}

static void on_resources(void *ctx)
{
    struct garbage *g = ctx;
    for (size_t i = g->monitors.n; i-- > 0;) {
        const struct garbage_monitor *m = g->monitors.v[i];
        if (!is_watched(m->resource) || m->namespaced != m->resource->kind.namespaced)
            end_monitor(g, i);
    }
    for (uint32_t i = 0; i < resources_count(g->resources); i++) {
        const struct resource *r = resources_at(g->resources, i);
        if (is_watched(r) && !has_monitor(g, r))
            begin_monitor(g, r);
    }
    net_timer_stop(g->patience);
    g->patience =
        net_timer_start(client_loop(g->client), PATIENCE_MS + 1, 0, on_patience_end, g);
}

static void on_resources_trouble(void *ctx, const char *what)
{
    trouble(ctx, what);
}

/* ---- life ---- */

struct garbage *garbage_new(struct client *c, const struct garbage_opts *opts)
{
    static const struct garbage_graph_ops GRAPH = {on_task, on_misplaced};
    static const struct resources_ops RESOURCES = {on_resources, on_resources_trouble};
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct garbage *g = mem_zalloc(sizeof *g);
    g->client = c;
    g->opts = *opts;
    garbage_graph_init(&g->graph, &GRAPH, g);
    g->worker = worker_new(c, &worker, garbage_work, g);
    g->events = events_new(c, "garbage-collector-controller");
    g->compare = net_timer_start(client_loop(c), COMPARE_MS, COMPARE_MS, on_compare, g);
    g->resources = resources_new(c, &RESOURCES, g);
    return g;
}

bool garbage_ready(const struct garbage *g)
{
    return g->ready;
}

void garbage_free(struct garbage *g)
{
    if (!g)
        return;
    worker_free(g->worker);
    events_free(g->events);
    net_timer_stop(g->compare);
    net_timer_stop(g->patience);
    for (size_t i = 0; i < g->monitors.n; i++) {
        informer_free(g->monitors.v[i]->informer);
        free(g->monitors.v[i]);
    }
    vec_release(&g->monitors);
    garbage_graph_fini(&g->graph);
    resources_free(g->resources);
    free(g);
}
