/* SPDX-License-Identifier: Apache-2.0 */
#include "control/statefulsets.h"

#include <stdlib.h>

#include "base/mem.h"
#include "control/fields.h"
#include "control/labels.h"
#include "control/revisions.h"
#include "control/route.h"
#include "control/statefulset_inner.h"

enum { WORKERS = 5 };

const struct owner_kind statefulset_kind = {
    {"apps", "v1", "statefulsets", true}, "apps/v1", "StatefulSet"};

/* ---- looking ---- */

/* A set has only pods of its name. */
static bool is_of_name(const struct sync *s, const struct object *pod)
{
    return stateful_ordinal(s->owner->name, pod->name) >= 0;
}

static void hold_claims_of(const struct stateful *t, int64_t ordinal)
{
    const struct informer *claims = shared_informer(t->all->claims);
    const struct doc *list = field_list(t->set, "spec.volumeClaimTemplates");
    for (uint32_t i = 0; i < list->n; i++) {
        struct str name = arena_printf(t->s->a, "%.*s-%.*s-%lld",
                                       STR_ARG(field_meta(&list->items[i], "name")),
                                       STR_ARG(t->s->owner->name), (long long)ordinal);
        const struct object *claim = informer_find(claims, t->s->owner->namespace, name);
        if (claim)
            sync_hold(t->s, STATEFUL_CLAIMS, claim);
    }
}

static void hold_claims(const struct stateful *t, const struct stateful_plan *p)
{
    for (uint32_t i = 0; i < p->replicas.n; i++)
        hold_claims_of(t, p->replicas.v[i].ordinal);
    for (uint32_t i = 0; i < p->condemned.n; i++)
        hold_claims_of(t, p->condemned.v[i].ordinal);
}

static struct stateful look(struct statefulsets *all, struct sync *s)
{
    const struct doc *set = s->owner->doc;
    struct stateful t = {.all = all, .s = s, .set = set};
    t.start = field_int(set, "spec.ordinals.start", 0);
    t.replicas = field_int(set, "spec.replicas", 1);
    t.min_ready_s = field_int(set, "spec.minReadySeconds", 0);
    t.burst = str_is(field_text(set, "spec.podManagementPolicy"), "Parallel");
    t.collisions = field_int(set, "status.collisionCount", 0);
    return t;
}

/* ---- status ---- */

static enum progress put_status(const struct stateful *t, const struct doc *status)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc set = doc_dup(t->s->a, t->set);
    doc_set(t->s->a, &set, "status", *status);
    enum progress p =
        sync_put(t->s, &statefulset_kind.kind, "status", &set, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(t->s->work, "status of %.*s: %s", STR_ARG(t->s->owner->key),
                         answer->message);
    if (p == PROGRESS_DONE)
        written_note(&t->all->written, made);
    return p;
}

/* Until one more pod is available. */
static void come_again(const struct stateful *t)
{
    int64_t soonest = t->min_ready_s, wait;
    bool waits = false;
    for (uint32_t i = 0; i < t->pods.n; i++) {
        pod_is_available(t->pods.v[i]->doc, t->min_ready_s, t->s->now, &wait);
        if (wait && wait <= soonest) {
            soonest = wait;
            waits = true;
        }
    }
    if (waits)
        t->s->work->again_ms = (uint64_t)soonest * 1000;
}

static enum progress update_status(const struct stateful *t,
                                   const struct stateful_plan *p)
{
    struct doc status;
    come_again(t);
    return stateful_status(t, p, &status) ? put_status(t, &status) : PROGRESS_DONE;
}

/* ---- work ---- */

static enum progress gather(struct stateful *t, struct objects *revisions)
{
    struct adopt how = {.owners = &statefulset_kind,
                        .dependents = &pods_kind,
                        .selector = doc_path(t->set, "spec.selector"),
                        .fits = is_of_name};
    enum progress p = adopt_claim(t->s, &how, STATEFUL_PODS, &t->pods);
    return p == PROGRESS_DONE ? stateful_history(t, revisions) : p;
}

static struct stateful_plan *find_plan(struct stateful *t)
{
    if (!t->s->plan) {
        struct stateful_plan *p = stateful_plan(t);
        hold_claims(t, p);
        t->s->plan = p;
    }
    return t->s->plan;
}

static bool is_recreated(const struct stateful *t)
{
    return str_is(field_text(t->set, "spec.updateStrategy.type"), "Recreate");
}

static enum progress refuse_recreate(const struct stateful *t)
{
    struct str text = arena_printf(t->s->a,
                                   "statefulset %.*s uses Recreate strategy but feature "
                                   "gate StatefulSetRecreateStrategy is disabled",
                                   STR_ARG(t->s->owner->key));
    stateful_tell(t, "Warning", "UnknownStrategy", text);
    return work_fail(t->s->work, "%.*s", STR_ARG(text));
}

static enum progress sync_set(struct stateful *t)
{
    struct objects revisions;
    enum progress p = gather(t, &revisions);
    if (p != PROGRESS_DONE)
        return p;
    if (is_recreated(t))
        return refuse_recreate(t);
    struct stateful_plan *plan = find_plan(t);
    p = field_deleted(t->set) ? PROGRESS_DONE : stateful_manage(t, plan);
    if (p == PROGRESS_WAIT)
        return p;
    enum progress told = update_status(t, plan);
    if (told != PROGRESS_DONE || p != PROGRESS_DONE)
        return told == PROGRESS_DONE ? p : told;
    return stateful_forget_history(t, &revisions);
}

static bool is_synced(const struct statefulsets *all)
{
    return shared_synced(all->sets) && shared_synced(all->pods) &&
           shared_synced(all->claims) && shared_synced(all->revisions);
}

/* What was made, deleted or written and is not seen yet will come, and wake it again. */
static bool is_settled(struct statefulsets *all, const struct sync *s)
{
    return written_is_seen(&all->written, s->owner) &&
           expect_is_met(&all->expect, s->owner->key,
                         net_now_ms(client_loop(shared_client(all->shared))));
}

static enum progress work(struct work *w)
{
    struct statefulsets *all = w->ctx;
    if (!is_synced(all))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(all->sets));
    if (!s) {
        expect_forget(&all->expect, w->key);
        return PROGRESS_DONE;
    }
    if (s->fresh && !is_settled(all, s))
        return PROGRESS_DONE;
    adopt_gather(s, all->pods, STATEFUL_PODS, NULL);
    adopt_gather(s, all->revisions, STATEFUL_REVISIONS, NULL);
    struct stateful t = look(all, s);
    return sync_set(&t);
}

/* ---- events ---- */

static void change(struct statefulsets *all, struct expect *expect,
                   const struct object *old, const struct object *now)
{
    struct route route = {.owners = &statefulset_kind,
                          .known = all->sets,
                          .worker = all->worker,
                          .expect = expect};
    route_change(&route, old, now);
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct statefulsets *all = ctx;
    change(all, &all->expect, old, now);
}

static void on_revision(void *ctx, const struct object *old, const struct object *now)
{
    change(ctx, NULL, old, now);
}

static void on_set(void *ctx, const struct object *old, const struct object *now)
{
    struct statefulsets *all = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid))) {
        expect_forget(&all->expect, old->key);
        written_forget(&all->written, old->uid);
    }
    if (now || old)
        worker_add(all->worker, now ? now->key : old->key);
}

struct lookup {
    struct statefulsets *all;
    const struct object *claim;
};

/* "TEMPLATE-SET-ORDINAL" */
static bool is_claim_of(const struct object *set, const struct doc *template,
                        struct str claim)
{
    struct str prefix = field_meta(template, "name");
    return str_starts(claim, prefix) && claim.n > prefix.n && claim.p[prefix.n] == '-' &&
           stateful_ordinal(set->name, str_sub(claim, prefix.n + 1, SIZE_MAX)) >= 0;
}

static void wake_of_claim(void *ctx, const struct object *set)
{
    const struct lookup *l = ctx;
    const struct doc *list = field_list(set->doc, "spec.volumeClaimTemplates");
    bool own = false;
    for (uint32_t i = 0; i < list->n && !own; i++)
        own = is_claim_of(set, &list->items[i], l->claim->name);
    if (own && str_eq(set->namespace, l->claim->namespace))
        worker_add(l->all->worker, set->key);
}

/* A claim that has come gets its owners; one that has gone may have been in the way. */
static void on_claim(void *ctx, const struct object *old, const struct object *now)
{
    struct lookup l = {ctx, now ? now : old};
    if (l.claim && !(old && now))
        informer_each(shared_informer(l.all->sets), wake_of_claim, &l);
}

/* ---- life ---- */

struct statefulsets *statefulsets_new(struct shared *shared,
                                      const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct statefulsets *all = mem_zalloc(sizeof *all);
    all->shared = shared;
    expect_init(&all->expect);
    written_init(&all->written);
    all->worker = worker_new(shared_client(shared), &worker, work, all);
    all->events = events_new(shared_client(shared), "statefulset-controller");
    all->sets = shared_watch(shared, &statefulset_kind.kind, on_set, all);
    all->pods = shared_watch(shared, &pods_kind, on_pod, all);
    all->claims = shared_watch(shared, &stateful_claims, on_claim, all);
    all->revisions = shared_watch(shared, &revisions_kind, on_revision, all);
    return all;
}

void statefulsets_free(struct statefulsets *all)
{
    if (!all)
        return;
    shared_unwatch(all->shared, all);
    worker_free(all->worker);
    events_free(all->events);
    expect_fini(&all->expect);
    written_fini(&all->written);
    free(all);
}
