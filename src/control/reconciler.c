/* SPDX-License-Identifier: Apache-2.0 */
#include "control/reconciler.h"

#include <stdlib.h>

#include "base/mem.h"

enum { ALL_MS = 300000 };

struct watched {
    struct reconciler *reconciler;
    const struct reconciler_watch *watch;
    struct informer *informer;
};

struct reconciler {
    struct client *client;
    const struct reconciler_def *def;
    struct reconciler_opts opts;
    struct watched watched[RECONCILER_WATCHES];
    struct worker *worker;
    struct events *events;
    struct net_timer *timer;
    void *state;
    bool synced;
};

void *reconciler_state(struct reconciler *r)
{
    return r->state;
}

struct client *reconciler_client(const struct reconciler *r)
{
    return r->client;
}

struct events *reconciler_events(const struct reconciler *r)
{
    return r->events;
}

const struct control_settings *reconciler_settings(const struct reconciler *r)
{
    return r->opts.settings;
}

struct informer *reconciler_watched(const struct reconciler *r, int watch)
{
    return r->watched[watch].informer;
}

void reconciler_add(struct reconciler *r, struct str key)
{
    if (r->synced)
        worker_add(r->worker, key);
}

void reconciler_add_after(struct reconciler *r, struct str key, uint64_t ms)
{
    if (r->synced)
        worker_add_after(r->worker, key, ms);
}

/* ---- events ---- */

static void on_changed(void *ctx, const struct object *old, const struct object *now)
{
    struct watched *w = ctx;
    if (w->watch->changed)
        w->watch->changed(w->reconciler, old, now);
    else
        reconciler_add(w->reconciler, (now ? now : old)->key);
}

static void add_one(void *ctx, const struct object *o)
{
    reconciler_add(ctx, o->key);
}

static void look_at_all(void *ctx)
{
    struct reconciler *r = ctx;
    if (!r->synced)
        return;
    if (r->def->all)
        r->def->all(r);
    else
        informer_each(r->watched[0].informer, add_one, r);
}

/* The informers that are made so far; those to come are waited for as well. */
static bool are_all_synced(const struct reconciler *r)
{
    bool all = true;
    for (int i = 0; i < RECONCILER_WATCHES && r->def->watches[i].kind.resource; i++) {
        const struct watched *w = &r->watched[i];
        all &= w->informer && (w->watch->optional || informer_synced(w->informer));
    }
    return all;
}

static void on_synced(void *ctx)
{
    const struct watched *w = ctx;
    struct reconciler *r = w->reconciler;
    bool before = r->synced;
    r->synced = before || are_all_synced(r);
    if (r->synced && !before)
        look_at_all(r);
}

static void on_trouble(void *ctx, const char *what)
{
    const struct watched *w = ctx;
    const struct reconciler_opts *opts = &w->reconciler->opts;
    if (opts->log && !(w->watch->optional && !informer_synced(w->informer)))
        opts->log(opts->log_ctx, what);
}

/* ---- life ---- */

static void watch(struct reconciler *r, int i)
{
    static const struct informer_ops OPS = {on_changed, on_synced, on_trouble};
    const struct reconciler_watch *w = &r->def->watches[i];
    struct informer_opts opts = {.kind = w->kind,
                                 .namespace = w->namespace,
                                 .labels = w->labels,
                                 .fields = w->fields,
                                 .metadata = w->metadata,
                                 .objects = w->objects};
    r->watched[i].reconciler = r;
    r->watched[i].watch = w;
    r->watched[i].informer = informer_new(r->client, &opts, &OPS, &r->watched[i]);
}

struct reconciler *reconciler_new(struct client *c, const struct reconciler_def *def,
                                  const struct reconciler_opts *opts)
{
    uint64_t ms = def->all_ms ? def->all_ms : ALL_MS;
    struct worker_opts worker = {
        .queue.workers = def->workers, .log = opts->log, .log_ctx = opts->log_ctx};
    struct reconciler *r = mem_zalloc(sizeof *r);
    r->client = c;
    r->def = def;
    r->opts = *opts;
    r->state = def->state ? mem_zalloc(def->state) : NULL;
    r->worker = worker_new(c, &worker, def->work, r);
    r->events = def->component ? events_new(c, def->component) : NULL;
    r->timer = net_timer_start(client_loop(c), ms, ms, look_at_all, r);
    if (def->init)
        def->init(r);
    for (int i = 0; i < RECONCILER_WATCHES && def->watches[i].kind.resource; i++)
        watch(r, i);
    return r;
}

bool reconciler_synced(const struct reconciler *r)
{
    return r->synced;
}

void reconciler_free(struct reconciler *r)
{
    if (!r)
        return;
    worker_free(r->worker);
    net_timer_stop(r->timer);
    for (int i = 0; i < RECONCILER_WATCHES; i++)
        informer_free(r->watched[i].informer);
    if (r->events)
        events_free(r->events);
    if (r->def->fini)
        r->def->fini(r);
    free(r->state);
    free(r);
}
