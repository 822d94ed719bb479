/* SPDX-License-Identifier: Apache-2.0 */
#include "control/jobs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "control/fields.h"
#include "control/job_inner.h"
#include "control/route.h"

enum {
    WORKERS = 5,
    TOGETHER_MS = 200, /* in which changes of pods are one piece of work */
    AGAIN_MS = 1000,   /* after a failure, doubled up to */
    LONGEST_MS = 60000,
};
enum { LIST_PODS };

const struct owner_kind job_kind = {{"batch", "v1", "jobs", true}, "batch/v1", "Job"};

/* ---- pauses ---- */

static struct job_backoff find_backoff(const struct jobs *j, struct str key)
{
    const struct strmap_entry *e = strmap_find(&j->backoffs, key);
    return e ? *(const struct job_backoff *)e->value.ptr : (struct job_backoff){0};
}

static void keep_backoff(struct jobs *j, struct str key, struct job_backoff b)
{
    struct strmap_entry *e = strmap_find(&j->backoffs, key);
    if (!e) {
        e = strmap_put(&j->backoffs, (struct str){mem_dup(key.p, key.n), key.n}, NULL);
        e->value.ptr = mem_zalloc(sizeof b);
    }
    *(struct job_backoff *)e->value.ptr = b;
}

static void drop_backoff(struct jobs *j, struct str key)
{
    const struct strmap_entry *e = strmap_find(&j->backoffs, key);
    if (!e)
        return;
    char *memory = (char *)e->key.p;
    free(e->value.ptr);
    strmap_remove(&j->backoffs, key);
    free(memory);
}

/* ---- looking ---- */

static int64_t read_count(struct str text)
{
    int64_t n = 0;
    enum { DIGITS = 10 };
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -1;
        n = n * 10 + (text.p[i] - '0');
        if (i >= DIGITS || n > INT32_MAX)
            return -1;
    }
    return text.n ? n : -1;
}

static int64_t read_failures(const struct doc *pod, const char *note)
{
    int64_t n = read_count(field_note(pod, note));
    return n > 0 ? n : 0;
}

static struct job_pod read_pod(struct jobs *j, struct sync *s, const struct job_view *v,
                               const struct object *o)
{
    const struct doc *pod = o->doc;
    struct job_pod p = {.o = o, .index = read_count(field_note(pod, JOB_INDEX))};
    p.finished_ms = job_finished_ms(pod);
    p.failures = read_failures(pod, JOB_INDEX_FAILURES);
    p.ignored = read_failures(pod, JOB_INDEX_IGNORED);
    /* One that was just adopted was given it with that. */
    p.finalizer = job_pod_is_tracked(pod) || !adopt_is_controlled(o, s->owner);
    p.tracked = p.finalizer && !expect_has_gone(&j->released, s->owner->key, o->uid);
    p.fits = !v->indexed || (p.index != JOB_NO_INDEX && p.index < v->completions);
    p.active = pod_is_active(pod);
    p.leaving = pod_is_leaving(pod);
    p.ready = pod_is_ready(pod, NULL);
    p.succeeded = doc_is_string(doc_path(pod, "status.phase"), "Succeeded");
    p.failed = doc_is_string(doc_path(pod, "status.phase"), "Failed") ||
               (!v->only_failed && field_deleted(pod) && !p.succeeded);
    p.action = job_policy_match(doc_path(v->doc, "spec.podFailurePolicy"), pod,
                                &p.message, s->a);
    return p;
}

struct run { /* of one piece of work, from round to round */
    struct job_look look;
    struct job_plan plan;
    struct job_done done;
    struct job_state state;
    bool tracked, kept; /* state is made; the backoff is kept */
    bool *released;
};

static struct run *begin(struct jobs *j, struct sync *s, const struct objects *pods)
{
    struct run *r = ARENA_NEW(s->a, struct run);
    struct job_look *l = &r->look;
    l->a = s->a;
    l->v = job_view(s->owner->doc);
    l->pods = ARENA_ARRAY(s->a, struct job_pod, pods->n + 1);
    l->npods = pods->n;
    for (uint32_t i = 0; i < pods->n; i++)
        l->pods[i] = read_pod(j, s, &l->v, pods->v[i]);
    l->backoff = find_backoff(j, s->owner->key);
    l->settled = s->settled;
    l->now_ms = s->now_ns / 1000000;
    job_plan(l, &r->plan);
    s->work->again_ms = r->plan.again_ms;
    return r;
}

/* ---- status ---- */

static void tell(struct jobs *j, const struct sync *s, const char *type,
                 const char *reason, struct str message)
{
    struct event_about about = {job_kind.api_version, job_kind.name, s->owner->doc};
    events_tell(j->events, &about, type, reason, message);
}

static void track(struct jobs *j, struct sync *s, struct run *r)
{
    job_track(&r->look, &r->plan, &r->done, &r->state);
    r->tracked = true;
    r->released = ARENA_ARRAY(s->a, bool, r->state.release.n + 1);
    if (!r->state.suspended)
        return;
    if (r->look.v.suspended)
        tell(j, s, "Normal", "Suspended", STR("Job suspended"));
    else
        tell(j, s, "Normal", "Resumed", STR("Job resumed"));
}

/* *job: as the server has it afterwards. */
static enum progress put_status(struct jobs *j, struct sync *s, const struct doc **job,
                                const struct doc *status)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc d = doc_dup(s->a, *job);
    doc_set(s->a, &d, "status", *status);
    enum progress p = sync_put(s, &job_kind.kind, "status", &d, &made, &answer);
    if (p != PROGRESS_DONE)
        return p;
    if (!made)
        return work_fail(s->work, "status of %.*s: %s", STR_ARG(s->owner->key),
                         answer->message);
    written_note(&j->written, made);
    *job = made;
    return PROGRESS_DONE;
}

static enum progress flush(struct jobs *j, struct sync *s, struct run *r,
                           const struct doc **job)
{
    enum progress p = put_status(j, s, job, &r->state.status);
    if (p == PROGRESS_DONE && !r->kept)
        keep_backoff(j, s->owner->key, r->plan.backoff);
    r->kept = r->kept || p == PROGRESS_DONE;
    return p;
}

static void tell_end(struct jobs *j, struct sync *s, const struct run *r,
                     const struct doc *status)
{
    const struct job_condition *c = &r->state.finished;
    int64_t wanted = r->look.v.completions;
    if (strcmp(c->type, "Complete") != 0) {
        tell(j, s, "Warning", c->reason, c->message);
        return;
    }
    if (wanted >= 0 && field_int(status, "succeeded", 0) > wanted)
        tell(j, s, "Warning", "TooManySucceededPods",
             STR("Too many succeeded pods running after completion count reached"));
    tell(j, s, "Normal", "Completed", STR("Job completed"));
}

static enum progress settle(struct jobs *j, struct sync *s, struct run *r,
                            const struct doc *job, const char *failure)
{
    const struct doc *known = doc_get(job, "status");
    struct doc status =
        r->state.flush && known ? doc_dup(s->a, known) : doc_dup(s->a, &r->state.status);
    bool ends;
    r->state.more |= failure != NULL;
    if (!job_settle(&r->look, &r->state, r->released, &status, &ends))
        return PROGRESS_DONE;
    enum progress p = put_status(j, s, &job, &status);
    if (p == PROGRESS_DONE && ends)
        tell_end(j, s, r, &status);
    return p;
}

static enum progress count(struct jobs *j, struct sync *s, struct run *r)
{
    const struct doc *job = s->owner->doc;
    const char *failure = NULL;
    if (!r->tracked)
        track(j, s, r);
    enum progress p = r->state.flush ? flush(j, s, r, &job) : PROGRESS_DONE;
    if (p == PROGRESS_DONE)
        p = job_release(j, s, &r->state.release, r->released, &failure);
    if (p == PROGRESS_DONE)
        p = settle(j, s, r, job, failure);
    if (p == PROGRESS_DONE && failure)
        return work_fail(s->work, "finalizers of %.*s: %s", STR_ARG(s->owner->key),
                         failure);
    return p;
}

/* ---- work ---- */

static enum progress sync_job(struct jobs *j, struct sync *s)
{
    struct adopt how = {.owners = &job_kind,
                        .dependents = &pods_kind,
                        .selector = doc_path(s->owner->doc, "spec.selector"),
                        .finalizer = JOB_FINALIZER};
    struct objects pods;
    const char *failure = NULL;
    enum progress p = adopt_claim(s, &how, LIST_PODS, &pods);
    if (p != PROGRESS_DONE)
        return p;
    if (!s->plan)
        s->plan = begin(j, s, &pods);
    struct run *r = s->plan;
    p = job_carry_out(j, s, &r->look, &r->plan, &r->done, &failure);
    if (p == PROGRESS_DONE)
        p = count(j, s, r);
    if (p == PROGRESS_DONE && failure)
        return work_fail(s->work, "Job %.*s: %s", STR_ARG(s->owner->key), failure);
    return p;
}

static void forget(struct jobs *j, struct str key)
{
    expect_forget(&j->expect, key);
    expect_forget(&j->released, key);
    drop_backoff(j, key);
}

static enum progress work(struct work *w)
{
    struct jobs *j = w->ctx;
    if (!shared_synced(j->jobs) || !shared_synced(j->pods))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(j->jobs));
    if (!s) {
        forget(j, w->key);
        return PROGRESS_DONE;
    }
    if (job_is_foreign(s->owner->doc))
        return PROGRESS_DONE;
    if (job_is_finished(s->owner->doc)) {
        drop_backoff(j, w->key);
        return PROGRESS_DONE;
    }
    if (s->fresh && !written_is_seen(&j->written, s->owner))
        return PROGRESS_DONE;
    adopt_gather(s, j->pods, LIST_PODS, NULL);
    if (s->fresh)
        s->settled = expect_is_met(&j->expect, w->key,
                                   net_now_ms(client_loop(shared_client(j->shared))));
    return sync_job(j, s);
}

/* ---- events ---- */

static void saw_released(struct jobs *j, const struct route *route,
                         const struct object *at, struct str uid)
{
    const struct object *job = at ? route_owner(route, at) : NULL;
    if (job)
        expect_saw_gone(&j->released, job->key, uid);
}

static void on_pod(void *ctx, const struct object *old, const struct object *now)
{
    struct jobs *j = ctx;
    struct route route = {.owners = &job_kind,
                          .known = j->jobs,
                          .worker = j->worker,
                          .expect = &j->expect,
                          .delay_ms = j->together_ms};
    bool other = old && now && !str_eq(old->uid, now->uid);
    if (old && (!now || other || !job_pod_is_tracked(now->doc)))
        saw_released(j, &route, old, old->uid);
    if (now && !job_pod_is_tracked(now->doc))
        saw_released(j, &route, now, now->uid);
    route_change(&route, old, now);
    if (now && job_pod_is_orphan(j, now))
        worker_add(j->orphans, now->key);
}

static bool is_new_spec(const struct object *old, const struct object *now)
{
    return !old || !now ||
           field_int(old->doc, "metadata.generation", 0) !=
               field_int(now->doc, "metadata.generation", 0);
}

static void on_job(void *ctx, const struct object *old, const struct object *now)
{
    struct jobs *j = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid))) {
        forget(j, old->key);
        written_forget(&j->written, old->uid);
        job_orphans_add(j, old);
    }
    if (now && job_is_finished(now->doc))
        job_orphans_add(j, now);
    if (is_new_spec(old, now) && (now || old))
        worker_add(j->worker, now ? now->key : old->key);
    else if (now)
        worker_add_after(j->worker, now->key, j->together_ms);
}

/* ---- life ---- */

struct jobs *jobs_new(struct shared *shared, const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .queue.first_ms =
                                     opts->pause_ms ? opts->pause_ms : AGAIN_MS,
                                 .queue.longest_ms = LONGEST_MS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct jobs *j = mem_zalloc(sizeof *j);
    struct client *c = shared_client(shared);
    j->shared = shared;
    j->together_ms = opts->pause_ms ? opts->pause_ms : TOGETHER_MS;
    expect_init(&j->expect);
    expect_init(&j->released);
    strmap_init(&j->backoffs);
    written_init(&j->written);
    j->worker = worker_new(c, &worker, work, j);
    j->orphans = worker_new(c, &worker, job_orphan_work, j);
    j->events = events_new(c, "job-controller");
    j->jobs = shared_watch(shared, &job_kind.kind, on_job, j);
    j->pods = shared_watch(shared, &pods_kind, on_pod, j);
    return j;
}

void jobs_free(struct jobs *j)
{
    if (!j)
        return;
    shared_unwatch(j->shared, j);
    worker_free(j->worker);
    worker_free(j->orphans);
    events_free(j->events);
    expect_fini(&j->expect);
    expect_fini(&j->released);
    written_fini(&j->written);
    strmap_each(&j->backoffs, e)
    {
        free((char *)e->key.p);
        free(e->value.ptr);
    }
    strmap_release(&j->backoffs);
    free(j);
}
