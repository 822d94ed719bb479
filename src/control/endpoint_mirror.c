/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoint_mirror.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "control/endpoint_mirror_make.h"
#include "control/endpoints.h"
#include "control/fields.h"
#include "control/selecting.h"
#include "control/slice_sync.h"

enum {
    WORKERS = 5,
    TOGETHER_MS = 100, /* in which changes are one piece of work */
    AGAIN_MS = 1000,   /* after a failure, doubled */
};
enum { LIST_SLICES };

struct endpoint_mirror {
    struct shared *shared;
    struct slice_sync sync;
    const struct shared_kind *endpoints, *services;
    struct worker *worker;
    struct events *events;
};

/* ---- work ---- */

/* Without anything to mirror its slices go. */
static enum progress drop_all(struct endpoint_mirror *e, struct work *w)
{
    uint32_t n = 0;
    const struct str *keys = index_find(&e->sync.by_service, w->key, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *slice =
            informer_get(shared_informer(e->sync.slices), keys[i]);
        const struct client_answer *answer;
        if (!slice || field_deleted(slice->doc))
            continue;
        struct str path =
            client_path(&slices_kind, slice->namespace, slice->name, NULL, w->a);
        enum progress p = work_ask(w, "DELETE", NULL, path, NULL, &answer);
        if (p != PROGRESS_DONE)
            return p;
        if (!answer->ok && answer->status != 404)
            return work_fail(w, "delete %.*s: %s", STR_ARG(slice->key), answer->message);
    }
    return PROGRESS_DONE;
}

static bool is_mirrored(const struct endpoint_mirror *e, const struct object *endpoints)
{
    const struct object *service =
        endpoints ? informer_get(shared_informer(e->services), endpoints->key) : NULL;
    const struct doc *selector = service ? doc_path(service->doc, "spec.selector") : NULL;
    return service && !(selector && selector->type == DOC_MAP) &&
           endpoint_mirror_wants(endpoints->doc);
}

static void tell_skipped(struct endpoint_mirror *e, const struct sync *s)
{
    uint32_t n = endpoint_mirror_skipped(s->owner->doc);
    struct event_about about = {"v1", "Endpoints", s->owner->doc};
    if (n)
        events_tell(
            e->events, &about, "Warning", "TooManyAddressesToMirror",
            arena_printf(s->a,
                         "A max of %u addresses can be mirrored to EndpointSlices "
                         "per Endpoints subset. %u addresses were skipped",
                         ENDPOINT_MIRROR_MAX, n));
}

static struct slice_plan *make_plan(struct sync *s)
{
    static const char *const TYPES[] = {"IPv4", "IPv6"};
    struct slice_plan *plan = ARENA_NEW(s->a, struct slice_plan);
    for (int i = 0; i < 2; i++) {
        struct slice_order o = endpoint_mirror_order(s->owner, TYPES[i], s->a);
        struct objects slices = slice_sync_of_type(s, LIST_SLICES, TYPES[i]);
        slice_plan(&o, &slices, plan);
    }
    return plan;
}

static enum progress work(struct work *w)
{
    struct endpoint_mirror *e = w->ctx;
    if (!shared_synced(e->endpoints) || !shared_synced(e->services) ||
        !shared_synced(e->sync.slices))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(e->endpoints));
    if (!s || (s->fresh && !is_mirrored(e, s->owner))) {
        expect_forget(&e->sync.expect, w->key);
        return drop_all(e, w);
    }
    if (!slice_sync_gather(&e->sync, s, w->key, LIST_SLICES,
                           net_now_ms(client_loop(shared_client(e->shared)))))
        return PROGRESS_DONE;
    if (!s->plan) {
        s->plan = make_plan(s);
        tell_skipped(e, s);
    }
    return slice_sync_apply(&e->sync, s, w->key, s->plan, !field_deleted(s->owner->doc));
}

/* ---- events ---- */

static void on_change(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoint_mirror *e = ctx;
    if (now || old)
        worker_add_after(e->worker, now ? now->key : old->key, TOGETHER_MS);
}

static void on_slice(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoint_mirror *e = ctx;
    struct arena a;
    arena_init(&a);
    struct str service = slice_sync_change(&e->sync, old, now, &a);
    if (service.n)
        worker_add_after(e->worker, service, TOGETHER_MS);
    arena_fini(&a);
}

/* ---- life ---- */

struct endpoint_mirror *endpoint_mirror_new(struct shared *shared,
                                            const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .queue.first_ms = AGAIN_MS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct endpoint_mirror *e = mem_zalloc(sizeof *e);
    struct client *c = shared_client(shared);
    e->shared = shared;
    slice_sync_init(&e->sync, ENDPOINT_MIRROR_MANAGER);
    e->worker = worker_new(c, &worker, work, e);
    e->events = events_new(c, "endpoint-slice-mirroring-controller");
    e->services = shared_watch(shared, &services_kind, on_change, e);
    e->endpoints = shared_watch(shared, &endpoints_kind, on_change, e);
    e->sync.slices = shared_watch(shared, &slices_kind, on_slice, e);
    return e;
}

void endpoint_mirror_free(struct endpoint_mirror *e)
{
    if (!e)
        return;
    shared_unwatch(e->shared, e);
    worker_free(e->worker);
    events_free(e->events);
    slice_sync_fini(&e->sync);
    free(e);
}
