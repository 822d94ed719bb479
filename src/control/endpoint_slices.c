/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoint_slices.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "control/endpoint_slice_make.h"
#include "control/fields.h"
#include "control/pods.h"
#include "control/selecting.h"
#include "control/slice_sync.h"

enum {
    WORKERS = 5,
    TOGETHER_MS = 100, /* in which changes of pods are one piece of work */
    AGAIN_MS = 1000,   /* after a failure, doubled */
};
enum { LIST_PODS, LIST_SLICES };

static const struct client_kind NODES = {"", "v1", "nodes", false};

struct endpoint_slices {
    struct shared *shared;
    struct selecting selecting;
    struct slice_sync sync;
    const struct shared_kind *nodes;
    struct worker *worker;
    struct events *events;
};

/* ---- work ---- */

struct planned {
    struct slice_plan plan;
    const struct object *lost;
};

static struct str zone_of(void *ctx, struct str node)
{
    const struct endpoint_slices *e = ctx;
    const struct object *o = informer_get(shared_informer(e->nodes), node);
    struct str zone = o ? field_label(o->doc, "topology.kubernetes.io/zone") : STR_NONE;
    return o && !zone.p ? STR("") : zone;
}

static struct planned *make_plan(struct endpoint_slices *e, struct sync *s)
{
    static const char *const TYPES[] = {"IPv4", "IPv6"};
    struct planned *p = ARENA_NEW(s->a, struct planned);
    const struct object_list *held = &s->lists[LIST_PODS];
    struct objects pods = {0};
    for (uint32_t i = 0; i < held->n; i++)
        vec_push_in(s->a, &pods, (const struct object *)held->v[i]);
    for (int i = 0; i < 2; i++) {
        struct objects slices = slice_sync_of_type(s, LIST_SLICES, TYPES[i]);
        if (!service_has_family(s->owner->doc, TYPES[i])) {
            for (uint32_t k = 0; k < slices.n; k++)
                vec_push_in(s->a, &p->plan.delete, slices.v[k]);
            continue;
        }
        struct slice_order o =
            endpoint_slice_order(s->owner, &pods, TYPES[i], zone_of, e, s->a, &p->lost);
        slice_plan(&o, &slices, &p->plan);
    }
    return p;
}

static enum progress fail(struct endpoint_slices *e, struct sync *s)
{
    struct event_about about = {"v1", "Service", s->owner->doc};
    events_tell(e->events, &about, "Warning", "FailedToUpdateEndpointSlices",
                arena_printf(s->a, "Error updating Endpoint Slices for Service %.*s: %s",
                             STR_ARG(s->owner->key), err_text(&s->work->err)));
    return PROGRESS_FAILED;
}

static enum progress sync_service(struct endpoint_slices *e, struct sync *s)
{
    if (!s->plan)
        s->plan = make_plan(e, s);
    const struct planned *p = s->plan;
    enum progress done = slice_sync_apply(&e->sync, s, s->owner->key, &p->plan,
                                          !field_deleted(s->owner->doc));
    if (done == PROGRESS_DONE && p->lost)
        done =
            work_fail(s->work, "skipping Pod %.*s for Service %.*s: Node %.*s Not Found",
                      STR_ARG(p->lost->name), STR_ARG(s->owner->key),
                      STR_ARG(field_text(p->lost->doc, "spec.nodeName")));
    return done == PROGRESS_FAILED ? fail(e, s) : done;
}

static bool is_synced(const struct endpoint_slices *e)
{
    return shared_synced(e->selecting.services) && shared_synced(e->selecting.pods) &&
           shared_synced(e->sync.slices) && shared_synced(e->nodes);
}

static enum progress work(struct work *w)
{
    struct endpoint_slices *e = w->ctx;
    if (!is_synced(e))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(e->selecting.services));
    if (!s || !service_selects(s->owner->doc)) {
        expect_forget(&e->sync.expect, w->key);
        return PROGRESS_DONE;
    }
    if (!slice_sync_gather(&e->sync, s, w->key, LIST_SLICES,
                           net_now_ms(client_loop(shared_client(e->shared)))))
        return PROGRESS_DONE;
    selecting_gather(&e->selecting, s, LIST_PODS);
    return sync_service(e, s);
}

/* ---- events ---- */

static void wake(void *ctx, const struct object *service)
{
    struct endpoint_slices *e = ctx;
    worker_add_after(e->worker, service->key, TOGETHER_MS);
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoint_slices *e = ctx;
    selecting_pod(&e->selecting, old, now, wake, e);
}

static void on_service(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoint_slices *e = ctx;
    selecting_service(&e->selecting, old, now);
    if (now || old)
        worker_add(e->worker, now ? now->key : old->key);
}

/* Somebody else may have changed it. */
static void on_slice(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoint_slices *e = ctx;
    struct arena a;
    arena_init(&a);
    struct str service = slice_sync_change(&e->sync, old, now, &a);
    if (service.n)
        worker_add_after(e->worker, service, TOGETHER_MS);
    arena_fini(&a);
}

/* Zones are looked up when a service is worked on. */
static void on_node(void *ctx, const struct object *old, const struct object *now)
{
    (void)ctx;
    (void)old;
    (void)now;
}

/* ---- life ---- */

struct endpoint_slices *endpoint_slices_new(struct shared *shared,
                                            const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .queue.first_ms = AGAIN_MS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct endpoint_slices *e = mem_zalloc(sizeof *e);
    struct client *c = shared_client(shared);
    e->shared = shared;
    selecting_init(&e->selecting);
    slice_sync_init(&e->sync, ENDPOINT_SLICES_MANAGER);
    e->worker = worker_new(c, &worker, work, e);
    e->events = events_new(c, "endpoint-slice-controller");
    e->nodes = shared_watch(shared, &NODES, on_node, e);
    e->selecting.services = shared_watch(shared, &services_kind, on_service, e);
    e->sync.slices = shared_watch(shared, &slices_kind, on_slice, e);
    e->selecting.pods = shared_watch(shared, &pods_kind, on_pod, e);
    return e;
}

void endpoint_slices_free(struct endpoint_slices *e)
{
    if (!e)
        return;
    shared_unwatch(e->shared, e);
    worker_free(e->worker);
    events_free(e->events);
    selecting_fini(&e->selecting);
    slice_sync_fini(&e->sync);
    free(e);
}
