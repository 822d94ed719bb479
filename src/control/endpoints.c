/* SPDX-License-Identifier: Apache-2.0 */
#include "control/endpoints.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "control/endpoints_make.h"
#include "control/fields.h"
#include "control/podwork.h"
#include "control/selecting.h"
#include "control/written.h"

enum {
    WORKERS = 5,
    TOGETHER_MS = 100, /* in which changes of pods are one piece of work */
};
enum { LIST_PODS, LIST_KNOWN };

const struct client_kind endpoints_kind = {"", "v1", "endpoints", true};

struct endpoints {
    struct shared *shared;
    struct selecting selecting;
    const struct shared_kind *known;
    struct worker *worker;
    struct events *events;
    struct written written;
};

/* ---- work ---- */

struct planned {
    bool writes;
    struct doc doc;
};

static const struct object *known_of(const struct sync *s)
{
    return s->lists[LIST_KNOWN].n ? s->lists[LIST_KNOWN].v[0] : NULL;
}

static struct planned *make_plan(struct sync *s)
{
    struct planned *p = ARENA_NEW(s->a, struct planned);
    const struct object_list *held = &s->lists[LIST_PODS];
    struct objects pods = {0};
    for (uint32_t i = 0; i < held->n; i++)
        vec_push_in(s->a, &pods, (const struct object *)held->v[i]);
    p->writes = endpoints_make(s->owner, known_of(s), &pods, s->a, &p->doc);
    return p;
}

static enum progress fail(struct endpoints *e, struct sync *s, const char *message)
{
    const struct planned *p = s->plan;
    struct event_about about = {"v1", "Endpoints", &p->doc};
    bool changes = known_of(s) != NULL;
    const char *reason = changes ? "FailedToUpdateEndpoint" : "FailedToCreateEndpoint",
               *what = changes ? "update endpoint" : "create endpoint for service";
    events_tell(e->events, &about, "Warning", reason,
                arena_printf(s->a, "Failed to %s %.*s: %s", what, STR_ARG(s->owner->key),
                             message));
    return work_fail(s->work, "Failed to %s %.*s: %s", what, STR_ARG(s->owner->key),
                     message);
}

/* One that is there and not known yet will be. */
static enum progress write_down(struct endpoints *e, struct sync *s)
{
    const struct planned *p = s->plan;
    const struct client_answer *answer;
    const struct doc *made;
    enum progress done = known_of(s)
                             ? sync_put(s, &endpoints_kind, NULL, &p->doc, &made, &answer)
                             : sync_post(s, &endpoints_kind, &p->doc, &made, &answer);
    if (done != PROGRESS_DONE)
        return done;
    if (made)
        written_note(&e->written, made);
    if (made || podwork_is_terminating(answer) ||
        (!known_of(s) && str_is(str_from(answer->reason), "AlreadyExists")))
        return PROGRESS_DONE;
    return fail(e, s, answer->message);
}

static bool is_mine(const struct object *known)
{
    return str_is(field_label(known->doc, ENDPOINTS_MANAGER_LABEL), ENDPOINTS_MANAGER);
}

/* They go with their service. */
static enum progress drop(struct endpoints *e, struct work *w)
{
    const struct object *known = informer_get(shared_informer(e->known), w->key);
    const struct client_answer *answer;
    if (!known || !is_mine(known))
        return PROGRESS_DONE;
    enum progress p =
        work_ask(w, "DELETE", NULL,
                 client_path(&endpoints_kind, known->namespace, known->name, NULL, w->a),
                 NULL, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(w, "%s", answer->message);
    return p;
}

static enum progress work(struct work *w)
{
    struct endpoints *e = w->ctx;
    if (!shared_synced(e->selecting.services) || !shared_synced(e->selecting.pods) ||
        !shared_synced(e->known))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(e->selecting.services));
    if (!s)
        return drop(e, w);
    if (!service_selects(s->owner->doc))
        return PROGRESS_DONE;
    const struct object *known = informer_get(shared_informer(e->known), w->key);
    if (s->fresh && known) {
        if (!written_is_seen(&e->written, known))
            return PROGRESS_DONE;
        sync_hold(s, LIST_KNOWN, known);
    }
    selecting_gather(&e->selecting, s, LIST_PODS);
    if (!s->plan)
        s->plan = make_plan(s);
    return ((struct planned *)s->plan)->writes ? write_down(e, s) : PROGRESS_DONE;
}

/* ---- events ---- */

static void wake(void *ctx, const struct object *service)
{
    struct endpoints *e = ctx;
    worker_add_after(e->worker, service->key, TOGETHER_MS);
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoints *e = ctx;
    selecting_pod(&e->selecting, old, now, wake, e);
}

static void on_service(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoints *e = ctx;
    selecting_service(&e->selecting, old, now);
    if (now || old)
        worker_add(e->worker, now ? now->key : old->key);
}

static void on_known(void *ctx, const struct object *old, const struct object *now)
{
    struct endpoints *e = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid)))
        written_forget(&e->written, old->uid);
    if (now || old)
        worker_add_after(e->worker, now ? now->key : old->key, TOGETHER_MS);
}

/* ---- life ---- */

struct endpoints *endpoints_new(struct shared *shared, const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct endpoints *e = mem_zalloc(sizeof *e);
    struct client *c = shared_client(shared);
    e->shared = shared;
    selecting_init(&e->selecting);
    written_init(&e->written);
    e->worker = worker_new(c, &worker, work, e);
    e->events = events_new(c, "endpoint-controller");
    e->selecting.services = shared_watch(shared, &services_kind, on_service, e);
    e->known = shared_watch(shared, &endpoints_kind, on_known, e);
    e->selecting.pods = shared_watch(shared, &pods_kind, on_pod, e);
    return e;
}

void endpoints_free(struct endpoints *e)
{
    if (!e)
        return;
    shared_unwatch(e->shared, e);
    worker_free(e->worker);
    events_free(e->events);
    selecting_fini(&e->selecting);
    written_fini(&e->written);
    free(e);
}
