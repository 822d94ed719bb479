/* SPDX-License-Identifier: Apache-2.0 */
#include "control/daemonsets.h"

#include <stdlib.h>

#include "api/edit.h"
#include "base/mem.h"
#include "control/daemonset_inner.h"
#include "control/fields.h"
#include "control/labels.h"
#include "control/podwork.h"
#include "control/route.h"

enum {
    WORKERS = 2,
    BURST = 250, /* pods made or deleted in one go */
};
enum { LIST_PODS, LIST_NODES, LIST_REVISIONS };
enum { BATCH_DELETE, BATCH_MAKE, BATCH_UPDATE_DELETE, BATCH_UPDATE_MAKE };

const struct owner_kind daemonset_kind = {
    {"apps", "v1", "daemonsets", true}, "apps/v1", "DaemonSet"};
static const struct client_kind NODES = {"", "v1", "nodes", false},
                                REVISIONS = {"apps", "v1", "controllerrevisions", true};

void daemon_tell(struct daemon *d, const char *type, const char *reason,
                 struct str message)
{
    struct event_about about = {daemonset_kind.api_version, daemonset_kind.name,
                                d->s->owner->doc};
    events_tell(d->all->events, &about, type, reason, message);
}

/* ---- looking ---- */

static void hold_node(void *ctx, const struct object *o)
{
    sync_hold(ctx, LIST_NODES, o);
}

static void look(struct daemon *d)
{
    struct sync *s = d->s;
    adopt_gather(s, d->all->pods, LIST_PODS, NULL);
    adopt_gather(s, d->all->revisions, LIST_REVISIONS, NULL);
    if (!s->fresh)
        return;
    informer_each(shared_informer(d->all->nodes), hold_node, s);
    s->settled = expect_is_met(&d->all->expect, s->owner->key,
                               net_now_ms(client_loop(shared_client(d->all->shared))));
}

/* ---- doing ---- */

/* A scheduler brings it to the node; it goes nowhere else. */
static void pin(struct sync *s, struct doc *pod, struct str node)
{
    struct arena *a = s->a;
    struct doc values = doc_make_list(), field = doc_make_map(), fields = doc_make_list(),
               term = doc_make_map(), terms = doc_make_list();
    struct doc *affinity = field_make(a, field_make(a, pod, "spec"), "affinity"),
               *required = field_make(a, field_make(a, affinity, "nodeAffinity"),
                                      "requiredDuringSchedulingIgnoredDuringExecution");
    doc_append(a, &values, doc_make_string(a, node));
    doc_set_text(a, &field, "key", STR("metadata.name"));
    doc_set_text(a, &field, "operator", STR("In"));
    doc_set(a, &field, "values", values);
    doc_append(a, &fields, field);
    doc_set(a, &term, "matchFields", fields);
    doc_append(a, &terms, term);
    doc_set(a, required, "nodeSelectorTerms", terms);
}

static struct doc make_pod(struct daemon *d, const struct daemon_node *node)
{
    struct doc pod = pod_make(&d->template, &daemonset_kind, d->s->owner, d->s->a);
    struct str generation =
        field_note(d->s->owner->doc, "deprecated.daemonset.template.generation");
    field_set_meta(d->s->a, &pod, "labels", "controller-revision-hash", d->hash);
    if (generation.n)
        field_set_meta(d->s->a, &pod, "labels", "pod-template-generation", generation);
    pin(d->s, &pod, node->name);
    return pod;
}

static struct doc *make_pods(struct daemon *d, const struct daemon_plan *p, uint32_t n)
{
    struct doc *pods = ARENA_ARRAY(d->s->a, struct doc, n);
    for (uint32_t i = 0; i < n; i++)
        pods[i] = make_pod(d, p->bare[i]);
    return pods;
}

static uint32_t burst(uint32_t n)
{
    return n < BURST ? n : BURST;
}

/* Both at once: where one goes and another comes they do not wait for one another. */
static enum progress carry_out(struct daemon *d, const struct daemon_plan *p,
                               uint32_t deletes, uint32_t makes)
{
    struct podwork how = {&d->all->expect, d->all->events, &daemonset_kind};
    const char *unmade = NULL, *undeleted = NULL;
    bool begun = d->s->batches[makes] != NULL;
    uint32_t n = burst(p->nbare);
    enum progress one = podwork_delete(d->s, &how, deletes, p->doomed.v,
                                       burst(p->doomed.n), &undeleted),
                  two = podwork_make(d->s, &how, makes, begun ? NULL : make_pods(d, p, n),
                                     n, 1, &unmade);
    if (one != PROGRESS_DONE || two != PROGRESS_DONE)
        return PROGRESS_WAIT;
    if (unmade || undeleted)
        return work_fail(d->s->work, "DaemonSet %.*s: %s", STR_ARG(d->s->owner->key),
                         unmade ? unmade : undeleted);
    return PROGRESS_DONE;
}

struct plans { /* as they were decided first */
    struct daemon_plan *nodes, *update;
};

static enum progress manage(struct daemon *d, const struct objects *old)
{
    struct plans *plans = d->s->plan;
    if (!plans) {
        d->s->plan = plans = ARENA_NEW(d->s->a, struct plans);
        plans->nodes = daemon_plan_nodes(d);
        if (!plans->nodes->nbare && !plans->nodes->doomed.n &&
            str_is(field_text(d->s->owner->doc, "spec.updateStrategy.type"),
                   "RollingUpdate"))
            plans->update = daemon_plan_update(d);
    }
    d->s->work->again_ms = plans->nodes->again_ms;
    enum progress p = carry_out(d, plans->nodes, BATCH_DELETE, BATCH_MAKE);
    if (p == PROGRESS_DONE && plans->update)
        p = carry_out(d, plans->update, BATCH_UPDATE_DELETE, BATCH_UPDATE_MAKE);
    return p == PROGRESS_DONE ? daemon_clean_history(d, old) : p;
}

/* ---- status ---- */

struct counts {
    int64_t wanted, current, misplaced, ready, updated, available;
};

static void count_node(const struct daemon *d, const struct daemon_node *n,
                       struct counts *c)
{
    int64_t min_ready = field_int(d->s->owner->doc, "spec.minReadySeconds", 0);
    if (!n->exists)
        return;
    if (!n->should) {
        c->misplaced += n->pods.n > 0;
        return;
    }
    c->wanted++;
    if (!n->pods.n)
        return;
    const struct object *pod = n->pods.v[0];
    c->current++;
    c->ready += pod_is_ready(pod->doc, NULL);
    c->available += pod_is_available(pod->doc, min_ready, d->s->now, NULL);
    c->updated += daemon_pod_is_updated(d, pod);
}

static struct doc make_status(struct daemon *d, const struct counts *c, bool observed)
{
    struct arena *a = d->s->a;
    const struct doc *set = d->s->owner->doc, *old = doc_get(set, "status");
    struct doc status = old && old->type == DOC_MAP ? doc_dup(a, old) : doc_make_map();
    doc_set(a, &status, "desiredNumberScheduled", doc_make_int(a, c->wanted));
    doc_set(a, &status, "currentNumberScheduled", doc_make_int(a, c->current));
    doc_set(a, &status, "numberMisscheduled", doc_make_int(a, c->misplaced));
    doc_set(a, &status, "numberReady", doc_make_int(a, c->ready));
    field_set_int(a, &status, "updatedNumberScheduled", c->updated);
    field_set_int(a, &status, "numberAvailable", c->available);
    field_set_int(a, &status, "numberUnavailable", c->wanted - c->available);
    if (observed)
        field_set_int(a, &status, "observedGeneration",
                      field_int(set, "metadata.generation", 0));
    return status;
}

static enum progress update_status(struct daemon *d, bool observed)
{
    const struct doc *old = doc_get(d->s->owner->doc, "status");
    struct counts c = {0};
    for (uint32_t i = 0; i < d->nnodes; i++)
        count_node(d, &d->nodes[i], &c);
    if (c.ready != c.available && !d->s->work->again_ms)
        d->s->work->again_ms = 1000;
    struct doc status = make_status(d, &c, observed);
    if (old && doc_equal(old, &status))
        return PROGRESS_DONE;
    struct doc set = doc_dup(d->s->a, d->s->owner->doc);
    doc_set(d->s->a, &set, "status", status);
    return sync_put_status(d->s, &daemonset_kind.kind, &set);
}

/* ---- work ---- */

static enum progress sync_daemon(struct daemon *d)
{
    struct objects old;
    struct adopt how = {.owners = &daemonset_kind,
                        .dependents = &pods_kind,
                        .selector = doc_path(d->s->owner->doc, "spec.selector")};
    enum progress p = daemon_sync_history(d, LIST_REVISIONS, &old);
    if (p == PROGRESS_DONE)
        p = adopt_claim(d->s, &how, LIST_PODS, &d->pods);
    if (p != PROGRESS_DONE)
        return p;
    d->template = daemon_template(d->s);
    daemon_read_nodes(d, LIST_NODES);
    if (!d->s->settled)
        return update_status(d, false);
    p = manage(d, &old);
    if (p == PROGRESS_WAIT)
        return p;
    enum progress told = update_status(d, true);
    return told == PROGRESS_DONE ? p : told;
}

static bool is_synced(const struct daemonsets *all)
{
    return shared_synced(all->sets) && shared_synced(all->pods) &&
           shared_synced(all->nodes) && shared_synced(all->revisions);
}

static enum progress work(struct work *w)
{
    struct daemonsets *all = w->ctx;
    if (!is_synced(all))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(all->sets));
    if (!s) {
        expect_forget(&all->expect, w->key);
        return PROGRESS_DONE;
    }
    struct daemon d = {.all = all, .s = s};
    if (labels_select_all(doc_path(s->owner->doc, "spec.selector"))) {
        daemon_tell(&d, "Warning", "SelectingAll",
                    STR("This daemon set is selecting all pods. A non-empty selector is "
                        "required."));
        return PROGRESS_DONE;
    }
    look(&d);
    return field_deleted(s->owner->doc) ? PROGRESS_DONE : sync_daemon(&d);
}

/* ---- events ---- */

static void change(struct daemonsets *d, struct expect *expect, const struct object *old,
                   const struct object *now)
{
    struct route route = {.owners = &daemonset_kind,
                          .known = d->sets,
                          .worker = d->worker,
                          .expect = expect};
    route_change(&route, old, now);
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct daemonsets *d = ctx;
    change(d, &d->expect, old, now);
}

static void on_revision(void *ctx, const struct object *old, const struct object *now)
{
    change(ctx, NULL, old, now);
}

static void on_set(void *ctx, const struct object *old, const struct object *now)
{
    struct daemonsets *d = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid)))
        expect_forget(&d->expect, old->key);
    if (now || old)
        worker_add(d->worker, now ? now->key : old->key);
}

static void add_set(void *ctx, const struct object *o)
{
    worker_add(ctx, o->key);
}

static bool is_same(const struct object *a, const struct object *b, const char *path)
{
    const struct doc *x = doc_path(a->doc, path), *y = doc_path(b->doc, path);
    return (!x && !y) || (x && y && doc_equal(x, y));
}

/* What a node says of its health every few seconds changes nothing here. */
static void on_node(void *ctx, const struct object *old, const struct object *now)
{
    struct daemonsets *d = ctx;
    if (old && now && old != now && is_same(old, now, "metadata.labels") &&
        is_same(old, now, "spec"))
        return;
    if (d->sets)
        informer_each(shared_informer(d->sets), add_set, d->worker);
}

/* ---- life ---- */

struct daemonsets *daemonsets_new(struct shared *shared, const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct daemonsets *d = mem_zalloc(sizeof *d);
    d->shared = shared;
    expect_init(&d->expect);
    strmap_init(&d->failures);
    d->worker = worker_new(shared_client(shared), &worker, work, d);
    d->events = events_new(shared_client(shared), "daemonset-controller");
    d->sets = shared_watch(shared, &daemonset_kind.kind, on_set, d);
    d->pods = shared_watch(shared, &pods_kind, on_pod, d);
    d->revisions = shared_watch(shared, &REVISIONS, on_revision, d);
    d->nodes = shared_watch(shared, &NODES, on_node, d);
    return d;
}

void daemonsets_free(struct daemonsets *d)
{
    if (!d)
        return;
    shared_unwatch(d->shared, d);
    worker_free(d->worker);
    events_free(d->events);
    expect_fini(&d->expect);
    strmap_each(&d->failures, e)
    {
        free((char *)e->key.p);
        free(e->value.ptr);
    }
    strmap_release(&d->failures);
    free(d);
}
