/* SPDX-License-Identifier: Apache-2.0 */
#include "control/cronjobs.h"

#include <stdlib.h>
#include <time.h>

#include "api/edit.h"
#include "api/timestamp.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/vec.h"
#include "control/cronjob_plan.h"
#include "control/fields.h"
#include "control/job_inner.h"
#include "control/route.h"

enum { WORKERS = 5 };
enum { LIST_JOBS };

static const struct owner_kind KIND = {
    {"batch", "v1", "cronjobs", true}, "batch/v1", "CronJob"};

struct cronjobs {
    struct shared *shared;
    const struct shared_kind *cronjobs, *jobs;
    struct worker *worker;
    struct events *events;
    struct written written;
};

struct cronjob { /* one of them, as it is worked on */
    struct cronjobs *all;
    struct sync *s;
    const struct doc *doc;
    struct doc status; /* a copy that changes */
    bool changed;
};

static void tell(struct cronjob *c, const char *type, const char *reason,
                 struct str message)
{
    struct event_about about = {KIND.api_version, KIND.name, c->doc};
    if (sync_once(c->s))
        events_tell(c->all->events, &about, type, reason, message);
}

/* ---- jobs that run ---- */

static const struct doc *active(const struct cronjob *c)
{
    return field_list(&c->status, "active");
}

static bool is_active(const struct doc *list, const char *key, struct str value)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], key), value))
            return true;
    return false;
}

static void drop_active(struct cronjob *c, struct str uid)
{
    struct doc left = doc_make_list();
    const struct doc *list = active(c);
    for (uint32_t i = 0; i < list->n; i++)
        if (!str_eq(doc_get_text(&list->items[i], "uid"), uid))
            doc_append(c->s->a, &left, list->items[i]);
    doc_remove(&c->status, STR("active"));
    if (left.n)
        doc_set(c->s->a, &c->status, "active", left);
}

static void add_active(struct cronjob *c, const struct doc *job)
{
    struct arena *a = c->s->a;
    struct doc ref = doc_make_map(), *list = api_edit_get(&c->status, "active");
    doc_set_text(a, &ref, "kind", STR("Job"));
    doc_set_text(a, &ref, "namespace", field_meta(job, "namespace"));
    doc_set_text(a, &ref, "name", field_meta(job, "name"));
    doc_set_text(a, &ref, "uid", field_meta(job, "uid"));
    doc_set_text(a, &ref, "apiVersion", STR("batch/v1"));
    doc_set_text(a, &ref, "resourceVersion", field_meta(job, "resourceVersion"));
    list = list ? list : doc_set(a, &c->status, "active", doc_make_list());
    doc_append(a, list, ref);
    c->changed = true;
}

static enum progress get(struct cronjob *c, const struct client_kind *kind,
                         struct str name, const struct doc **out,
                         const struct client_answer **answer)
{
    struct str path = client_path(kind, c->s->owner->namespace, name, NULL, c->s->a);
    enum progress p = work_ask(c->s->work, "GET", NULL, path, NULL, answer);
    *out =
        p == PROGRESS_DONE && (*answer)->ok ? work_answer_doc(c->s->work, *answer) : NULL;
    return p;
}

/* The cache may be behind: the server is asked. */
static enum progress look_at_stranger(struct cronjob *c, const struct object *job)
{
    const struct client_answer *answer;
    const struct doc *fresh;
    enum progress p = get(c, &KIND.kind, c->s->owner->name, &fresh, &answer);
    if (p != PROGRESS_DONE)
        return p;
    if (!fresh)
        return work_fail(c->s->work, "%s", answer->message);
    if (!is_active(field_list(fresh, "status.active"), "uid", job->uid))
        tell(c, "Warning", "UnexpectedJob",
             arena_printf(c->s->a,
                          "Saw a job that the controller did not create or forgot: %.*s",
                          STR_ARG(job->name)));
    return PROGRESS_DONE;
}

static void note_success(struct cronjob *c, const struct doc *job)
{
    int64_t ended, last;
    if (!job_condition_true(job, "Complete") ||
        !field_time(job, "status.completionTime", &ended) ||
        (field_time(&c->status, "lastSuccessfulTime", &last) && ended <= last))
        return;
    doc_set_text(c->s->a, &c->status, "lastSuccessfulTime",
                 field_text(job, "status.completionTime"));
    c->changed = true;
}

static enum progress look_at_job(struct cronjob *c, const struct object *job)
{
    bool known = is_active(active(c), "uid", job->uid);
    if (!job_is_finished(job->doc))
        return known ? PROGRESS_DONE : look_at_stranger(c, job);
    if (known) {
        drop_active(c, job->uid);
        c->changed = true;
        tell(c, "Normal", "SawCompletedJob",
             arena_printf(
                 c->s->a, "Saw completed job: %.*s, condition: %s", STR_ARG(job->name),
                 job_condition_true(job->doc, "Complete") ? "Complete" : "Failed"));
    }
    note_success(c, job->doc);
    return PROGRESS_DONE;
}

static bool is_held(const struct cronjob *c, struct str uid)
{
    const struct object_list *jobs = &c->s->lists[LIST_JOBS];
    for (uint32_t i = 0; i < jobs->n; i++)
        if (str_eq(jobs->v[i]->uid, uid))
            return true;
    return false;
}

static enum progress look_for_missing(struct cronjob *c)
{
    const struct doc list = *active(c);
    for (uint32_t i = 0; i < list.n; i++) {
        const struct client_answer *answer;
        const struct doc *job;
        struct str uid = doc_get_text(&list.items[i], "uid"),
                   name = doc_get_text(&list.items[i], "name");
        if (is_held(c, uid))
            continue;
        enum progress p = get(c, &job_kind.kind, name, &job, &answer);
        if (p != PROGRESS_DONE)
            return p;
        if (answer->status == 404) {
            drop_active(c, uid);
            c->changed = true;
            tell(c, "Normal", "MissingJob",
                 arena_printf(c->s->a, "Active job went missing: %.*s", STR_ARG(name)));
        } else if (!job)
            return work_fail(c->s->work, "%s", answer->message);
    }
    return PROGRESS_DONE;
}

static enum progress look_at_jobs(struct cronjob *c)
{
    const struct object_list *jobs = &c->s->lists[LIST_JOBS];
    for (uint32_t i = 0; i < jobs->n; i++) {
        enum progress p = look_at_job(c, jobs->v[i]);
        if (p != PROGRESS_DONE)
            return p;
    }
    return look_for_missing(c);
}

/* ---- jobs that go ---- */

/* *gone: whether it went. Not to be found is no failure of the work: it is told. */
static enum progress delete_job(struct cronjob *c, struct str name, struct str uid,
                                bool *gone)
{
    const struct client_answer *answer;
    struct doc options = doc_make_map();
    struct str path =
        client_path(&job_kind.kind, c->s->owner->namespace, name, NULL, c->s->a);
    doc_set_text(c->s->a, &options, "propagationPolicy", STR("Background"));
    enum progress p = work_ask(c->s->work, "DELETE", NULL, path, &options, &answer);
    if (p != PROGRESS_DONE)
        return p;
    *gone = answer->ok;
    if (answer->ok) {
        drop_active(c, uid);
        c->changed = true;
        tell(c, "Normal", "SuccessfulDelete",
             arena_printf(c->s->a, "Deleted job %.*s", STR_ARG(name)));
    } else {
        tell(c, "Warning", "FailedDelete",
             arena_printf(c->s->a, "Deleted job: %s", answer->message));
    }
    return p;
}

/* Those that have not begun are the last. */
static int by_start(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    int64_t xs = INT64_MAX, ys = INT64_MAX;
    field_time((*x)->doc, "status.startTime", &xs);
    field_time((*y)->doc, "status.startTime", &ys);
    if (xs != ys)
        return xs < ys ? -1 : 1;
    return str_cmp((*x)->name, (*y)->name);
}

static enum progress clean_up(struct cronjob *c, const char *condition, const char *limit)
{
    const struct object_list *jobs = &c->s->lists[LIST_JOBS];
    int64_t keep = field_int(c->doc, limit, -1);
    struct objects old = {0};
    for (uint32_t i = 0; i < jobs->n; i++)
        if (job_condition_true(jobs->v[i]->doc, condition))
            vec_push_in(c->s->a, &old, (const struct object *)jobs->v[i]);
    if (keep < 0 || old.n <= keep)
        return PROGRESS_DONE;
    qsort(old.v, old.n, sizeof *old.v, by_start);
    for (uint32_t i = 0; i < old.n - keep; i++) {
        bool gone;
        enum progress p = delete_job(c, old.v[i]->name, old.v[i]->uid, &gone);
        if (p != PROGRESS_DONE)
            return p;
    }
    return PROGRESS_DONE;
}

static enum progress replace_active(struct cronjob *c)
{
    const struct doc list = *active(c);
    for (uint32_t i = 0; i < list.n; i++) {
        struct str name = doc_get_text(&list.items[i], "name");
        bool gone;
        enum progress p = delete_job(c, name, doc_get_text(&list.items[i], "uid"), &gone);
        if (p != PROGRESS_DONE)
            return p;
        if (!gone)
            return work_fail(c->s->work, "could not replace job %.*s/%.*s",
                             STR_ARG(c->s->owner->namespace), STR_ARG(name));
    }
    return PROGRESS_DONE;
}

/* ---- jobs that come ---- */

/* One of its name is there: it is this one's, unless somebody else made it. */
static enum progress take_existing(struct cronjob *c, struct str name, int64_t due_s)
{
    const struct client_answer *answer;
    const struct doc *job;
    struct object like = {0};
    enum progress p = get(c, &job_kind.kind, name, &job, &answer);
    if (p != PROGRESS_DONE)
        return p;
    if (!job)
        return work_fail(c->s->work, "%s", answer->message);
    like.doc = job;
    if (!adopt_is_controlled(&like, c->s->owner) ||
        is_active(active(c), "uid", field_meta(job, "uid")))
        return PROGRESS_DONE;
    add_active(c, job);
    doc_set_text(c->s->a, &c->status, "lastScheduleTime",
                 timestamp_print(due_s, 0, false, c->s->a));
    return PROGRESS_DONE;
}

static enum progress make_job(struct cronjob *c, int64_t due_s)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc ref = adopt_reference(c->s->a, &KIND, c->s->owner),
               job = cronjob_make_job(c->doc, due_s, &ref, c->s->a);
    enum progress p = sync_post(c->s, &job_kind.kind, &job, &made, &answer);
    if (p != PROGRESS_DONE)
        return p;
    if (str_is(str_from(answer->reason), "AlreadyExists"))
        return take_existing(c, field_meta(&job, "name"), due_s);
    if (!made && !podwork_is_terminating(answer))
        tell(c, "Warning", "FailedCreate",
             arena_printf(c->s->a, "Error creating job: %s", answer->message));
    if (!made)
        return work_fail(c->s->work, "%s", answer->message);
    tell(c, "Normal", "SuccessfulCreate",
         arena_printf(c->s->a, "Created job %.*s", STR_ARG(field_meta(made, "name"))));
    add_active(c, made);
    doc_set_text(c->s->a, &c->status, "lastScheduleTime",
                 timestamp_print(due_s, 0, false, c->s->a));
    return PROGRESS_DONE;
}

static bool was_run(const struct cronjob *c, int64_t due_s)
{
    int64_t last;
    struct str name = cronjob_job_name(c->doc, due_s, c->s->a);
    return is_active(active(c), "name", name) ||
           (field_time(&c->status, "lastScheduleTime", &last) && last == due_s);
}

/* "Mon, 02 Jan 2006 15:04:05 UTC" */
static struct str mail_time(int64_t at, struct arena *a)
{
    char text[64];
    time_t t = at;
    struct tm fields;
    gmtime_r(&t, &fields);
    strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S UTC", &fields);
    return arena_str(a, str_from(text));
}

static enum progress run(struct cronjob *c, const struct cronjob_times *t)
{
    struct str policy = field_text(c->doc, "spec.concurrencyPolicy");
    if (t->too_many)
        tell(c, "Warning", "TooManyMissedTimes",
             STR("too many missed start times. Set or decrease "
                 ".spec.startingDeadlineSeconds or check clock skew"));
    if (t->too_late) {
        tell(c, "Warning", "MissSchedule",
             arena_printf(c->s->a, "Missed scheduled time to start a job: %.*s",
                          STR_ARG(mail_time(t->due_s, c->s->a))));
        return PROGRESS_DONE;
    }
    if (was_run(c, t->due_s))
        return PROGRESS_DONE;
    if (str_is(policy, "Forbid") && active(c)->n) {
        tell(c, "Normal", "JobAlreadyActive",
             STR("Not starting job because prior execution is running and concurrency "
                 "policy is Forbid"));
        return PROGRESS_DONE;
    }
    enum progress p = str_is(policy, "Replace") ? replace_active(c) : PROGRESS_DONE;
    return p == PROGRESS_DONE ? make_job(c, t->due_s) : p;
}

static void tell_bad_zone(struct cronjob *c)
{
    struct strbuf b = STRBUF_INIT;
    struct str zone = field_text(c->doc, "spec.timeZone");
    strbuf_add_quoted(&b, zone);
    tell(c, "Warning", "UnknownTimeZone",
         arena_printf(c->s->a, "invalid timeZone: %s: unknown time zone %.*s",
                      strbuf_cstr(&b), STR_ARG(zone)));
    strbuf_release(&b);
}

static void tell_bad_schedule(struct cronjob *c, struct str why)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, field_text(c->doc, "spec.schedule"));
    tell(c, "Warning", "UnparseableSchedule",
         arena_printf(c->s->a, "unparseable schedule: %s : %.*s", strbuf_cstr(&b),
                      STR_ARG(why)));
    strbuf_release(&b);
}

static enum progress run_if_due(struct cronjob *c)
{
    struct cron cron = {0};
    struct str why = STR_NONE;
    if (field_deleted(c->doc))
        return PROGRESS_DONE;
    enum cronjob_verdict v = cronjob_schedule(c->doc, c->s->a, &cron, &why);
    if (v == CRONJOB_BAD_ZONE)
        tell_bad_zone(c);
    if (v == CRONJOB_BAD_ZONE || field_bool(c->doc, "spec.suspend"))
        return PROGRESS_DONE;
    if (cronjob_has_own_zone(c->doc))
        tell(c, "Warning", "UnsupportedSchedule",
             arena_printf(c->s->a,
                          "CRON_TZ or TZ used in schedule \"%.*s\" is not officially "
                          "supported, see "
                          "https://kubernetes.io/docs/concepts/workloads/controllers/"
                          "cron-jobs/ for more details",
                          STR_ARG(field_text(c->doc, "spec.schedule"))));
    if (v != CRONJOB_FINE) {
        tell_bad_schedule(c, why);
        return PROGRESS_DONE;
    }
    struct cronjob_times t = cronjob_times(c->doc, &cron, c->s->now_ns / 1000000);
    c->s->work->again_ms = (uint64_t)t.again_ms;
    return t.due_s ? run(c, &t) : PROGRESS_DONE;
}

/* ---- work ---- */

static enum progress put_status(struct cronjob *c)
{
    const struct client_answer *answer;
    const struct doc *made;
    struct doc d = doc_dup(c->s->a, c->doc);
    doc_set(c->s->a, &d, "status", c->status);
    enum progress p = sync_put(c->s, &KIND.kind, "status", &d, &made, &answer);
    if (p == PROGRESS_DONE && !made)
        return work_fail(c->s->work, "status of %.*s: %s", STR_ARG(c->s->owner->key),
                         answer->message);
    if (p == PROGRESS_DONE)
        written_note(&c->all->written, made);
    return p;
}

static enum progress sync_cronjob(struct cronjob *c)
{
    enum progress p = clean_up(c, "Complete", "spec.successfulJobsHistoryLimit");
    if (p == PROGRESS_DONE)
        p = clean_up(c, "Failed", "spec.failedJobsHistoryLimit");
    if (p == PROGRESS_DONE)
        p = look_at_jobs(c);
    if (p == PROGRESS_DONE)
        p = run_if_due(c);
    if (p == PROGRESS_WAIT || !c->changed)
        return p;
    enum progress told = put_status(c);
    return told == PROGRESS_DONE ? p : told;
}

static void hold_jobs(struct sync *s, const struct cronjobs *all)
{
    uint32_t n;
    const struct str *keys = shared_owned(all->jobs, s->owner->uid, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct object *job = informer_get(shared_informer(all->jobs), keys[i]);
        if (job)
            sync_hold(s, LIST_JOBS, job);
    }
}

static enum progress work(struct work *w)
{
    struct cronjobs *all = w->ctx;
    if (!shared_synced(all->cronjobs) || !shared_synced(all->jobs))
        return PROGRESS_DONE;
    struct sync *s = sync_begin(w, shared_informer(all->cronjobs));
    if (!s || (s->fresh && !written_is_seen(&all->written, s->owner)))
        return PROGRESS_DONE;
    if (s->fresh)
        hold_jobs(s, all);
    const struct doc *status = doc_get(s->owner->doc, "status");
    struct cronjob c = {.all = all, .s = s, .doc = s->owner->doc};
    c.status = status && status->type == DOC_MAP ? doc_dup(s->a, status) : doc_make_map();
    return sync_cronjob(&c);
}

/* ---- events ---- */

static void on_job(void *ctx, const struct object *old, const struct object *now)
{
    struct cronjobs *all = ctx;
    struct route route = {.owners = &KIND, .known = all->cronjobs, .worker = all->worker};
    const struct object *owner = route_owner(&route, now ? now : old),
                        *before = old ? route_owner(&route, old) : NULL;
    if (owner)
        worker_add(all->worker, owner->key);
    if (before && before != owner)
        worker_add(all->worker, before->key);
}

static bool is_rescheduled(const struct object *old, const struct object *now)
{
    return old && now && str_eq(old->uid, now->uid) &&
           (!str_eq(field_text(old->doc, "spec.schedule"),
                    field_text(now->doc, "spec.schedule")) ||
            !str_eq(field_text(old->doc, "spec.timeZone"),
                    field_text(now->doc, "spec.timeZone")));
}

/* Times that a new schedule would have had before are not run. */
static void wait_for_next(struct cronjobs *all, const struct object *o)
{
    struct arena a;
    struct cron cron = {0};
    struct str why = STR_NONE;
    struct timespec now;
    arena_init(&a);
    clock_gettime(CLOCK_REALTIME, &now);
    if (cronjob_schedule(o->doc, &a, &cron, &why) == CRONJOB_FINE)
        worker_add_after(
            all->worker, o->key,
            (uint64_t)cronjob_times(o->doc, &cron, (int64_t)now.tv_sec * 1000).again_ms);
    else
        worker_add(all->worker, o->key);
    arena_fini(&a);
}

static void on_cronjob(void *ctx, const struct object *old, const struct object *now)
{
    struct cronjobs *all = ctx;
    if (old && (!now || !str_eq(old->uid, now->uid)))
        written_forget(&all->written, old->uid);
    if (is_rescheduled(old, now))
        wait_for_next(all, now);
    else if (now || old)
        worker_add(all->worker, now ? now->key : old->key);
}

/* ---- life ---- */

struct cronjobs *cronjobs_new(struct shared *shared, const struct workload_opts *opts)
{
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct cronjobs *all = mem_zalloc(sizeof *all);
    all->shared = shared;
    written_init(&all->written);
    all->worker = worker_new(shared_client(shared), &worker, work, all);
    all->events = events_new(shared_client(shared), "cronjob-controller");
    all->cronjobs = shared_watch(shared, &KIND.kind, on_cronjob, all);
    all->jobs = shared_watch(shared, &job_kind.kind, on_job, all);
    return all;
}

void cronjobs_free(struct cronjobs *all)
{
    if (!all)
        return;
    shared_unwatch(all->shared, all);
    worker_free(all->worker);
    events_free(all->events);
    written_fini(&all->written);
    free(all);
}
