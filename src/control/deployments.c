/* SPDX-License-Identifier: Apache-2.0 */
#include "control/deployments.h"

#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "control/deployment_inner.h"
#include "control/fields.h"
#include "control/labels.h"
#include "control/pods.h"
#include "control/route.h"

enum { WORKERS = 5 };
enum { LIST_SETS };

const struct owner_kind deployment_kind = {
    {"apps", "v1", "deployments", true}, "apps/v1", "Deployment"};
const struct client_kind deployment_set_kind = {"apps", "v1", "replicasets", true};

/* ---- the deployment's own fields ---- */

bool rollout_is_rolling(const struct rollout *r)
{
    return str_is(field_text(&r->d, "spec.strategy.type"), "RollingUpdate");
}

/* Both at once: if rounding makes both zero, nothing would ever move. */
static void resolve(const struct rollout *r, int64_t *surge, int64_t *unavailable)
{
    const struct doc *how = doc_path(&r->d, "spec.strategy.rollingUpdate");
    *surge = field_scaled(doc_get(how, "maxSurge"), rollout_wanted(r), true);
    *unavailable = field_scaled(doc_get(how, "maxUnavailable"), rollout_wanted(r), false);
    if (!*surge && !*unavailable)
        *unavailable = 1;
}

int64_t rollout_max_surge(const struct rollout *r)
{
    int64_t surge, unavailable;
    resolve(r, &surge, &unavailable);
    return rollout_is_rolling(r) ? surge : 0;
}

int64_t rollout_max_unavailable(const struct rollout *r)
{
    int64_t surge, unavailable, wanted = rollout_wanted(r);
    if (!rollout_is_rolling(r) || !wanted)
        return 0;
    resolve(r, &surge, &unavailable);
    return unavailable > wanted ? wanted : unavailable;
}

bool rollout_has_deadline(const struct rollout *r)
{
    int64_t s = field_int(&r->d, "spec.progressDeadlineSeconds", INT32_MAX);
    return s != INT32_MAX;
}

void rollout_tell(struct rollout *r, const char *type, const char *reason,
                  struct str message)
{
    struct event_about about = {deployment_kind.api_version, deployment_kind.name,
                                r->s->owner->doc};
    if (sync_once(r->s))
        events_tell(r->all->events, &about, type, reason, message);
}

/* ---- work ---- */

/* That it was paused or goes on is noted, so that the time between is no lack of
 * progress. */
static enum progress note_pause(struct rollout *r)
{
    struct doc *status = field_make(r->s->a, &r->d, "status");
    const struct doc *c = rollout_condition(status, "Progressing"),
                     *reason = doc_get(c, "reason");
    bool paused = field_bool(&r->d, "spec.paused"),
         noted = doc_is_string(reason, "DeploymentPaused");
    if (!rollout_has_deadline(r) || doc_is_string(reason, "ProgressDeadlineExceeded") ||
        paused == noted)
        return PROGRESS_DONE;
    rollout_set_condition(r, status, "Progressing", "Unknown",
                          paused ? "DeploymentPaused" : "DeploymentResumed",
                          paused ? STR("Deployment is paused")
                                 : STR("Deployment is resumed"));
    return rollout_put_status(r);
}

/* The sets remember for how many pods they were made. */
static bool was_scaled(const struct rollout *r)
{
    int64_t desired;
    for (uint32_t i = 0; i < r->nsets; i++)
        if (r->sets[i].replicas > 0 &&
            replica_set_wanted_note(
                &r->sets[i], "deployment.kubernetes.io/desired-replicas", &desired) &&
            desired != rollout_wanted(r))
            return true;
    return false;
}

static enum progress scale(struct rollout *r)
{
    enum progress p = rollout_sync_newest(r, false);
    if (p == PROGRESS_DONE)
        p = rollout_scale_all(r);
    if (p == PROGRESS_DONE && field_bool(&r->d, "spec.paused"))
        p = rollout_clean_up(r);
    return p == PROGRESS_DONE ? rollout_sync_status(r, false) : p;
}

static enum progress roll(struct rollout *r)
{
    struct str how = field_text(&r->d, "spec.strategy.type");
    struct str back = field_note(&r->d, "deprecated.deployment.rollback.rollbackTo");
    enum progress p = note_pause(r);
    if (p != PROGRESS_DONE)
        return p;
    if (field_bool(&r->d, "spec.paused"))
        return scale(r);
    if (back.n && strspn(back.p, "0123456789") == back.n)
        return rollout_back(r);
    p = rollout_sync_newest(r, false);
    if (p != PROGRESS_DONE)
        return p;
    if (was_scaled(r))
        return scale(r);
    if (str_is(how, "Recreate"))
        return rollout_recreate(r);
    if (str_is(how, "RollingUpdate"))
        return rollout_rolling(r);
    return work_fail(r->s->work, "unexpected deployment strategy type: %.*s",
                     STR_ARG(how));
}

static enum progress refuse_all(struct rollout *r)
{
    struct doc *status = field_make(r->s->a, &r->d, "status");
    int64_t generation = field_int(&r->d, "metadata.generation", 0);
    rollout_tell(r, "Warning", "SelectingAll",
                 STR("This deployment is selecting all pods. A non-empty selector is "
                     "required."));
    if (field_int(status, "observedGeneration", 0) >= generation)
        return PROGRESS_DONE;
    field_set_int(r->s->a, status, "observedGeneration", generation);
    return rollout_put_status(r);
}

static enum progress work(struct work *w)
{
    struct deployments *all = w->ctx;
    if (!shared_synced(all->deployments) || !shared_synced(all->sets) ||
        !shared_synced(all->pods))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(all->deployments));
    if (!s)
        return PROGRESS_DONE;
    struct rollout r = {.all = all, .s = s, .d = doc_dup(s->a, s->owner->doc)};
    struct adopt how = {.owners = &deployment_kind,
                        .dependents = &deployment_set_kind,
                        .selector = doc_path(s->owner->doc, "spec.selector")};
    struct objects sets;
    if (labels_select_all(how.selector))
        return refuse_all(&r);
    adopt_gather(s, all->sets, LIST_SETS, NULL);
    enum progress p = adopt_claim(s, &how, LIST_SETS, &sets);
    if (p != PROGRESS_DONE)
        return p;
    rollout_read_sets(&r, &sets);
    if (!field_deleted(s->owner->doc))
        return roll(&r);
    p = rollout_sync_newest(&r, false);
    return p == PROGRESS_DONE ? rollout_sync_status(&r, false) : p;
}

/* ---- events ---- */

static struct route route(struct deployments *d)
{
    return (struct route){
        .owners = &deployment_kind, .known = d->deployments, .worker = d->worker};
}

static void on_set(void *ctx, const struct object *old, const struct object *now)
{
    struct route r = route(ctx);
    route_change(&r, old, now);
}

static void on_deployment(void *ctx, const struct object *old, const struct object *now)
{
    struct deployments *d = ctx;
    if (now || old)
        worker_add(d->worker, now ? now->key : old->key);
}

/* The last pod of a deployment that is recreated has gone: now its new pods may come. */
static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct deployments *d = ctx;
    const struct doc *controller = now ? NULL : claim_ref_controller(old->doc);
    if (!controller || !doc_is_string(doc_get(controller, "kind"), "ReplicaSet"))
        return;
    const struct object *set = informer_find(shared_informer(d->sets), old->namespace,
                                             doc_get_text(controller, "name"));
    struct route r = route(d);
    const struct object *owner = set ? route_owner(&r, set) : NULL;
    if (owner && str_is(field_text(owner->doc, "spec.strategy.type"), "Recreate"))
        worker_add(d->worker, owner->key);
}

/* ---- life ---- */

struct deployments *deployments_new(struct shared *shared,
                                    const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct deployments *d = mem_zalloc(sizeof *d);
    d->shared = shared;
    d->worker = worker_new(shared_client(shared), &worker, work, d);
    d->events = events_new(shared_client(shared), "deployment-controller");
    d->deployments = shared_watch(shared, &deployment_kind.kind, on_deployment, d);
    d->sets = shared_watch(shared, &deployment_set_kind, on_set, d);
    d->pods = shared_watch(shared, &pods_kind, on_pod, d);
    return d;
}

void deployments_free(struct deployments *d)
{
    if (!d)
        return;
    shared_unwatch(d->shared, d);
    worker_free(d->worker);
    events_free(d->events);
    free(d);
}
