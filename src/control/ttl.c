/* SPDX-License-Identifier: Apache-2.0 */
#include "control/ttl.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "control/fields.h"
#include "control/job_inner.h"

struct ttl {
    struct shared *shared;
    const struct shared_kind *jobs;
    struct worker *worker;
};

/* Until it goes; below zero: it stays. */
static int64_t left_ms(const struct doc *job)
{
    const struct doc *complete = job_condition_true(job, "Complete"),
                     *end = complete ? complete : job_condition_true(job, "Failed");
    int64_t ttl = field_int(job, "spec.ttlSecondsAfterFinished", -1), ended;
    struct timespec now;
    if (ttl < 0 || field_deleted(job) || !end ||
        !field_time(end, "lastTransitionTime", &ended))
        return -1;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t left = (ended + ttl - now.tv_sec) * 1000 - now.tv_nsec / 1000000;
    return left > 0 ? left : 0;
}

static struct doc make_options(struct arena *a, struct str uid)
{
    struct doc options = doc_make_map(), want = doc_make_map();
    doc_set_text(a, &want, "uid", uid);
    doc_set(a, &options, "preconditions", want);
    doc_set_text(a, &options, "propagationPolicy", STR("Foreground"));
    return options;
}

/* The server is asked before: the time may have been changed since. */
static enum progress delete_job(struct work *w, struct str path)
{
    const struct client_answer *answer;
    enum progress p = work_ask(w, "GET", NULL, path, NULL, &answer);
    if (p != PROGRESS_DONE || answer->status == 404)
        return p;
    const struct doc *job = answer->ok ? work_answer_doc(w, answer) : NULL;
    if (!job)
        return work_fail(w, "%s", answer->message);
    if (!w->kept && left_ms(job) != 0)
        return PROGRESS_DONE; /* a change is on its way */
    w->kept = w;
    struct doc options = make_options(w->a, field_meta(job, "uid"));
    p = work_ask(w, "DELETE", NULL, path, &options, &answer);
    if (p == PROGRESS_DONE && !answer->ok && answer->status != 404)
        return work_fail(w, "%s", answer->message);
    return p;
}

static enum progress work(struct work *w)
{
    struct ttl *t = w->ctx;
    const struct object *job = informer_get(shared_informer(t->jobs), w->key);
    int64_t left = job ? left_ms(job->doc) : -1;
    if (left == 0)
        return delete_job(
            w, client_path(&job_kind.kind, job->namespace, job->name, NULL, w->a));
    if (left > 0)
        w->again_ms = (uint64_t)left;
    return PROGRESS_DONE;
}

static void on_job(void *ctx, const struct object *old, const struct object *now)
{
    struct ttl *t = ctx;
    (void)old;
    if (now && left_ms(now->doc) >= 0)
        worker_add(t->worker, now->key);
}

struct ttl *ttl_new(struct shared *shared, const struct workload_opts *opts)
{
    enum { WORKERS = 5 };
    struct worker_opts worker = {.queue.workers = opts->workers ? opts->workers : WORKERS,
                                 .log = opts->log,
                                 .log_ctx = opts->log_ctx};
    struct ttl *t = mem_zalloc(sizeof *t);
    t->shared = shared;
    t->worker = worker_new(shared_client(shared), &worker, work, t);
    t->jobs = shared_watch(shared, &job_kind.kind, on_job, t);
    return t;
}

void ttl_free(struct ttl *t)
{
    if (!t)
        return;
    shared_unwatch(t->shared, t);
    worker_free(t->worker);
    free(t);
}
