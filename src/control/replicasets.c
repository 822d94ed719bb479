/* SPDX-License-Identifier: Apache-2.0 */
#include "control/replicasets.h"

#include <stdlib.h>

#include "api/claim_refs.h"
#include "api/edit.h"
#include "base/mem.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/labels.h"
#include "control/podwork.h"
#include "control/route.h"
#include "control/written.h"

enum {
    WORKERS = 5,
    BURST = 500, /* pods made or deleted in one go */
};
enum { LIST_PODS, LIST_LEAVING, LIST_RELATED };
enum { BATCH_PODS };

static const struct owner_kind KIND = {
    {"apps", "v1", "replicasets", true}, "apps/v1", "ReplicaSet"};

struct replicasets {
    struct shared *shared;
    const struct shared_kind *sets, *pods;
    struct worker *worker;
    struct events *events;
    struct expect expect;
    struct written written;
};

/* ---- how many there should be ---- */

static void hold_pods_of(struct sync *s, const struct replicasets *r,
                         const struct object *set)
{
    const struct informer *pods = shared_informer(r->pods);
    uint32_t n;
    const struct str *keys = shared_owned(r->pods, set->uid, &n);
    for (uint32_t i = 0; i < n; i++)
        sync_hold(s, LIST_RELATED, informer_get(pods, keys[i]));
}

/* The pods of all sets that have the same controller: they share nodes. */
static void hold_related(struct sync *s, const struct replicasets *r)
{
    const struct doc *controller = claim_ref_controller(s->owner->doc);
    uint32_t n;
    if (!controller) {
        hold_pods_of(s, r, s->owner);
        return;
    }
    const struct str *keys = shared_owned(r->sets, doc_get_text(controller, "uid"), &n);
    for (uint32_t i = 0; i < n; i++)
        hold_pods_of(s, r, informer_get(shared_informer(r->sets), keys[i]));
}

static bool is_active(const struct object *pod)
{
    return pod_is_active(pod->doc);
}

static bool is_leaving(const struct object *pod)
{
    return pod_is_leaving(pod->doc);
}

static int64_t wanted(const struct sync *s)
{
    return field_int(s->owner->doc, "spec.replicas", 1);
}

static void look(struct sync *s, const struct replicasets *r)
{
    adopt_gather(s, r->pods, LIST_PODS, is_active);
    adopt_gather(s, r->pods, LIST_LEAVING, is_leaving);
    if (!s->fresh)
        return;
    s->settled = expect_is_met(&r->expect, s->owner->key,
                               net_now_ms(client_loop(shared_client(r->shared))));
    if (s->settled && s->lists[LIST_PODS].n > wanted(s))
        hold_related(s, r);
}

static struct podwork podwork(struct replicasets *r)
{
    return (struct podwork){&r->expect, r->events, &KIND};
}

static enum progress make_pods(struct sync *s, struct replicasets *r, int64_t n,
                               const char **failure)
{
    struct podwork how = podwork(r);
    struct doc pod =
        pod_make(doc_path(s->owner->doc, "spec.template"), &KIND, s->owner, s->a);
    return podwork_make_alike(s, &how, BATCH_PODS, &pod,
                              (uint32_t)(n < BURST ? n : BURST), 1, failure);
}

static enum progress delete_pods(struct sync *s, struct replicasets *r,
                                 struct objects *pods, int64_t n, const char **failure)
{
    struct podwork how = podwork(r);
    const struct object_list *list = &s->lists[LIST_RELATED];
    struct objects related = {0};
    n = n < BURST ? n : BURST;
    for (uint32_t i = 0; i < list->n; i++)
        vec_push_in(s->a, &related, list->v[i]);
    if (n < pods->n)
        pods_sort_for_deletion(pods, &related, s->now_ns, s->a);
    return podwork_delete(s, &how, BATCH_PODS, pods->v, (uint32_t)n, failure);
}

static enum progress manage(struct sync *s, struct replicasets *r, struct objects *pods,
                            const char **failure)
{
    int64_t more = wanted(s) - pods->n;
    struct objects sorted = *pods;
    if (!s->settled || field_deleted(s->owner->doc) || more == 0)
        return PROGRESS_DONE;
    return more > 0 ? make_pods(s, r, more, failure)
                    : delete_pods(s, r, &sorted, -more, failure);
}

/* ---- status ---- */

static const struct doc *find_failure(const struct doc *set)
{
    const struct doc *list = field_list(set, "status.conditions");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "ReplicaFailure"))
            return &list->items[i];
    return NULL;
}

static void add_failure(struct sync *s, struct doc *list, const char *reason,
                        const char *failure)
{
    struct doc c = doc_make_map();
    doc_set_text(s->a, &c, "type", STR("ReplicaFailure"));
    doc_set_text(s->a, &c, "status", STR("True"));
    doc_set_text(s->a, &c, "lastTransitionTime", sync_now_text(s));
    doc_set_text(s->a, &c, "reason", str_from(reason));
    doc_set_text(s->a, &c, "message", str_from(failure));
    doc_append(s->a, list, c);
}

/* A failure that is known stays as it was first told. */
static void set_conditions(struct sync *s, struct doc *status, int64_t npods,
                           const char *failure)
{
    const struct doc *old = field_list(s->owner->doc, "status.conditions"),
                     *known = find_failure(s->owner->doc);
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < old->n; i++)
        if (&old->items[i] != known || failure)
            doc_append(s->a, &list, doc_dup(s->a, &old->items[i]));
    if (failure && !known)
        add_failure(s, &list, npods < wanted(s) ? "FailedCreate" : "FailedDelete",
                    failure);
    doc_remove(status, STR("conditions"));
    if (list.n)
        doc_set(s->a, status, "conditions", list);
}

static int64_t count_leaving(const struct sync *s)
{
    const struct object_list *list = &s->lists[LIST_LEAVING];
    const struct doc *selector = doc_path(s->owner->doc, "spec.selector");
    int64_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += adopt_is_controlled(list->v[i], s->owner) &&
             labels_match_object(selector, list->v[i]->doc);
    return n;
}

struct counts {
    int64_t labelled, ready, available, wait_s; /* wait_s: until one more is available */
};

static struct counts count(const struct sync *s, const struct objects *pods)
{
    const struct doc *labels = doc_path(s->owner->doc, "spec.template.metadata.labels");
    int64_t min_ready = field_int(s->owner->doc, "spec.minReadySeconds", 0);
    struct counts c = {0};
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct doc *pod = pods->v[i]->doc;
        int64_t wait;
        c.labelled += labels_have(doc_path(pod, "metadata.labels"), labels);
        c.ready += pod_is_ready(pod, NULL);
        c.available += pod_is_available(pod, min_ready, s->now, &wait);
        if (wait && (!c.wait_s || wait < c.wait_s))
            c.wait_s = wait;
    }
    return c;
}

static struct doc make_status(struct sync *s, const struct objects *pods,
                              const struct counts *c, const char *failure)
{
    struct arena *a = s->a;
    const struct doc *old = doc_get(s->owner->doc, "status");
    struct doc d = old && old->type == DOC_MAP ? doc_dup(a, old) : doc_make_map();
    doc_set(a, &d, "replicas", doc_make_int(a, pods->n));
    field_set_int(a, &d, "fullyLabeledReplicas", c->labelled);
    field_set_int(a, &d, "readyReplicas", c->ready);
    field_set_int(a, &d, "availableReplicas", c->available);
    doc_set(a, &d, "terminatingReplicas", doc_make_int(a, count_leaving(s)));
    field_set_int(a, &d, "observedGeneration",
                  field_int(s->owner->doc, "metadata.generation", 0));
    set_conditions(s, &d, pods->n, failure);
    return d;
}

static enum progress update_status(struct sync *s, struct replicasets *r,
                                   const struct doc *status)
{
    const struct client_answer *answer;
    const struct doc *made, *old = doc_get(s->owner->doc, "status");
    if (old && doc_equal(old, status))
        return PROGRESS_DONE;
    struct doc d = doc_dup(s->a, s->owner->doc);
    doc_set(s->a, &d, "status", *status);
    enum progress p = sync_put(s, &KIND.kind, "status", &d, &made, &answer);
    if (p == PROGRESS_DONE && made)
        written_note(&r->written, made);
    if (p == PROGRESS_DONE && !made)
        return work_fail(s->work, "status of %.*s: %s", STR_ARG(s->owner->key),
                         answer->message);
    return p;
}

/* ---- work ---- */

static enum progress work(struct work *w)
{
    struct replicasets *r = w->ctx;
    if (!shared_synced(r->sets) || !shared_synced(r->pods))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(r->sets));
    if (!s) {
        expect_forget(&r->expect, w->key);
        return PROGRESS_DONE;
    }
    if (s->fresh && !written_is_seen(&r->written, s->owner))
        return PROGRESS_DONE;
    struct adopt how = {.owners = &KIND,
                        .dependents = &pods_kind,
                        .selector = doc_path(s->owner->doc, "spec.selector")};
    struct objects pods;
    const char *failure = NULL;
    look(s, r);
    enum progress p = adopt_claim(s, &how, LIST_PODS, &pods);
    if (p == PROGRESS_DONE)
        p = manage(s, r, &pods, &failure);
    if (p != PROGRESS_DONE)
        return p;
    struct counts c = count(s, &pods);
    struct doc status = make_status(s, &pods, &c, failure);
    p = update_status(s, r, &status);
    if (p == PROGRESS_DONE && failure)
        return work_fail(w, "ReplicaSet %.*s: %s", STR_ARG(w->key), failure);
    if (c.ready != c.available)
        w->again_ms = (uint64_t)(c.wait_s ? c.wait_s : 1) * 1000;
    return p;
}

/* ---- events ---- */

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct replicasets *r = ctx;
    struct route route = {
        .owners = &KIND, .known = r->sets, .worker = r->worker, .expect = &r->expect};
    route_change(&route, old, now);
}

/* One that was made anew under the same name expects nothing. */
static void on_set(void *ctx, const struct object *old, const struct object *now)
{
    struct replicasets *r = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid))) {
        expect_forget(&r->expect, old->key);
        written_forget(&r->written, old->uid);
    }
    if (now || old)
        worker_add(r->worker, now ? now->key : old->key);
}

/* ---- life ---- */

struct replicasets *replicasets_new(struct shared *shared,
                                    const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct replicasets *r = mem_zalloc(sizeof *r);
    r->shared = shared;
    expect_init(&r->expect);
    written_init(&r->written);
    r->worker = worker_new(shared_client(shared), &worker, work, r);
    r->events = events_new(shared_client(shared), "replicaset-controller");
    r->sets = shared_watch(shared, &KIND.kind, on_set, r);
    r->pods = shared_watch(shared, &pods_kind, on_pod, r);
    return r;
}

void replicasets_free(struct replicasets *r)
{
    if (!r)
        return;
    shared_unwatch(r->shared, r);
    worker_free(r->worker);
    events_free(r->events);
    expect_fini(&r->expect);
    written_fini(&r->written);
    free(r);
}
