/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Job needs: whether it is over, and if not, which pods go and how many come.
 * Pure.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "control/fields.h"
#include "control/job_inner.h"

/* ---- counting ---- */

static bool is_listed(const struct doc *uids, struct str uid)
{
    for (uint32_t i = 0; i < uids->n; i++)
        if (uids->items[i].type == DOC_STRING && str_eq(doc_str(&uids->items[i]), uid))
            return true;
    return false;
}

struct fresh { /* pods that have ended and stand in no count yet */
    struct job_list succeeded, failed;
};

static struct fresh find_fresh(const struct job_look *l)
{
    const struct doc *good =
                         field_list(l->v.doc, "status.uncountedTerminatedPods.succeeded"),
                     *bad = field_list(l->v.doc, "status.uncountedTerminatedPods.failed");
    struct fresh f = {0};
    for (uint32_t i = 0; i < l->npods; i++) {
        const struct job_pod *p = &l->pods[i];
        if (!p->tracked || !p->fits)
            continue;
        if (p->succeeded && !is_listed(good, p->o->uid))
            vec_push_in(l->a, &f.succeeded, p);
        if (p->failed && !is_listed(bad, p->o->uid))
            vec_push_in(l->a, &f.failed, p);
    }
    return f;
}

static int64_t count_failures(const struct job_list *failed)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < failed->n; i++)
        n += failed->v[i]->action != JOB_IGNORE;
    return n;
}

static void count(struct job_look *l, struct job_plan *p)
{
    const struct doc *job = l->v.doc;
    struct fresh f = find_fresh(l);
    for (uint32_t i = 0; i < l->npods; i++) {
        p->active += l->pods[i].active;
        p->ready += l->pods[i].active && l->pods[i].ready;
        p->terminating += l->pods[i].leaving;
    }
    p->succeeded = field_int(job, "status.succeeded", 0) + f.succeeded.n +
                   field_count(job, "status.uncountedTerminatedPods.succeeded");
    p->failed = field_int(job, "status.failed", 0) + count_failures(&f.failed) +
                field_count(job, "status.uncountedTerminatedPods.failed");
    p->backoff = job_backoff_after(l->backoff, f.succeeded.v, f.succeeded.n, f.failed.v,
                                   f.failed.n);
}

/* ---- indexes ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The indexes of the pods that a condition holds for. */
static struct job_spans indexes_of(const struct job_look *l,
                                   bool (*holds)(const struct job_look *l,
                                                 const struct job_pod *p))
{
    int64_t *all = ARENA_ARRAY(l->a, int64_t, l->npods + 1);
    struct job_spans s = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->npods; i++)
        if (l->pods[i].index != JOB_NO_INDEX && holds(l, &l->pods[i]))
            all[n++] = l->pods[i].index;
    qsort(all, n, sizeof *all, by_number);
    for (uint32_t i = 0; i < n; i++)
        job_spans_append(&s, all[i], l->a);
    return s;
}

static bool is_done(const struct job_look *l, const struct job_pod *p)
{
    (void)l;
    return p->succeeded && p->fits && p->finalizer;
}

static bool is_lost(const struct job_look *l, const struct job_pod *p)
{
    if (!p->fits || !p->finalizer || !p->failed || p->action == JOB_IGNORE)
        return false;
    return p->action == JOB_FAIL_INDEX || p->failures >= l->v.limit_per_index;
}

static bool is_active(const struct job_look *l, const struct job_pod *p)
{
    (void)l;
    return p->active;
}

static bool is_leaving(const struct job_look *l, const struct job_pod *p)
{
    (void)l;
    return p->leaving;
}

static struct job_spans with(const struct job_look *l, const char *known,
                             struct job_spans more)
{
    struct job_spans old =
        job_spans_parse(field_text(l->v.doc, known), l->v.completions, l->a);
    return job_spans_merge(&old, &more, l->a);
}

/* One of each index that waits for its next pod keeps its finalizer, since that pod is
 * told how often the index has failed: the one with most failures, the last of those. */
static void find_awaited(struct job_look *l, const struct job_plan *p)
{
    struct job_spans active = indexes_of(l, is_active);
    for (uint32_t i = 0; i < l->npods; i++) {
        struct job_pod *pod = &l->pods[i], *other;
        if (!pod->tracked || !pod->fits || !pod->failed ||
            job_spans_have(&p->done, pod->index) ||
            job_spans_have(&p->lost, pod->index) || job_spans_have(&active, pod->index))
            continue;
        other = (struct job_pod *)job_awaited(l, pod->index);
        if (other && (other->failures + other->ignored > pod->failures + pod->ignored ||
                      pod->finished_ms < other->finished_ms))
            continue;
        if (other)
            other->awaited = false;
        pod->awaited = true;
    }
}

const struct job_pod *job_awaited(const struct job_look *l, int64_t index)
{
    for (uint32_t i = 0; i < l->npods; i++)
        if (l->pods[i].awaited && l->pods[i].index == index)
            return &l->pods[i];
    return NULL;
}

static void read_indexes(struct job_look *l, struct job_plan *p)
{
    if (!l->v.indexed)
        return;
    p->before = with(l, "status.completedIndexes", (struct job_spans){0});
    p->done = with(l, "status.completedIndexes", indexes_of(l, is_done));
    p->succeeded = job_spans_total(&p->done);
    if (!l->v.per_index)
        return;
    p->lost = with(l, "status.failedIndexes", indexes_of(l, is_lost));
    find_awaited(l, p);
}

/* ---- whether it is over; the first that holds ---- */

static bool met_before(const struct job_look *l, const struct job_plan *p,
                       struct job_condition *c)
{
    const struct doc *met = job_condition_true(l->v.doc, "SuccessCriteriaMet"),
                     *target = job_condition_true(l->v.doc, "FailureTarget"),
                     *known = met ? met : target;
    (void)p;
    if (!known)
        return false;
    c->type = met ? "SuccessCriteriaMet" : "Failed";
    c->reason = arena_str(l->a, doc_get_text(known, "reason")).p;
    c->message = doc_get_text(known, "message");
    return true;
}

static bool is_fatal(const struct job_look *l, const struct job_plan *p,
                     struct job_condition *c)
{
    (void)p;
    for (uint32_t i = 0; i < l->npods; i++)
        if (l->pods[i].failed && l->pods[i].action == JOB_FAIL_JOB) {
            c->reason = "PodFailurePolicy";
            c->message = l->pods[i].message;
            return true;
        }
    return false;
}

static int64_t count_restarts(const struct doc *pod, const char *statuses)
{
    const struct doc *list = field_list(pod, statuses);
    int64_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += field_int(&list->items[i], "restartCount", 0);
    return n;
}

/* Containers that are started again on their nodes count too. */
static bool restarts_too_often(const struct job_look *l)
{
    int64_t n = 0, limit = l->v.backoff_limit;
    if (!str_is(field_text(l->v.doc, "spec.template.spec.restartPolicy"), "OnFailure"))
        return false;
    for (uint32_t i = 0; i < l->npods; i++) {
        const struct doc *pod = l->pods[i].o->doc, *phase = doc_path(pod, "status.phase");
        if (doc_is_string(phase, "Running") || doc_is_string(phase, "Pending"))
            n += count_restarts(pod, "status.initContainerStatuses") +
                 count_restarts(pod, "status.containerStatuses");
    }
    return limit ? n >= limit : n > 0;
}

static bool fails_too_often(const struct job_look *l, const struct job_plan *p,
                            struct job_condition *c)
{
    c->reason = "BackoffLimitExceeded";
    c->message = STR("Job has reached the specified backoff limit");
    return p->failed > l->v.backoff_limit || restarts_too_often(l);
}

static int64_t time_left_ms(const struct job_look *l)
{
    int64_t start = l->v.started_s ? l->v.started_s * 1000 : l->now_ms;
    return start + l->v.deadline_s * 1000 - l->now_ms;
}

static bool is_late(const struct job_look *l, const struct job_plan *p,
                    struct job_condition *c)
{
    (void)p;
    c->reason = "DeadlineExceeded";
    c->message = STR("Job was active longer than specified deadline");
    return l->v.deadline_s >= 0 && l->v.started_s && !l->v.suspended &&
           time_left_ms(l) <= 0;
}

static bool lost_too_many(const struct job_look *l, const struct job_plan *p,
                          struct job_condition *c)
{
    c->reason = "MaxFailedIndexesExceeded";
    c->message = STR("Job has exceeded the specified maximal number of failed indexes");
    return l->v.indexed && l->v.per_index && l->v.max_failed_indexes >= 0 &&
           job_spans_total(&p->lost) > l->v.max_failed_indexes;
}

static bool has_lost_the_rest(const struct job_look *l, const struct job_plan *p,
                              struct job_condition *c)
{
    c->reason = "FailedIndexes";
    c->message = STR("Job has failed indexes");
    return l->v.indexed && l->v.per_index && p->lost.n &&
           job_spans_total(&p->lost) + p->succeeded >= l->v.completions;
}

static bool has_enough(const struct job_look *l, const struct job_plan *p,
                       struct job_condition *c)
{
    c->type = "SuccessCriteriaMet";
    c->reason = "SuccessPolicy";
    return l->v.indexed && job_policy_succeeds(&l->v, &p->done, &c->message, l->a);
}

static struct job_condition find_end(const struct job_look *l, const struct job_plan *p)
{
    static bool (*const ENDS[])(const struct job_look *, const struct job_plan *,
                                struct job_condition *) = {
        met_before,    is_fatal,          fails_too_often, is_late,
        lost_too_many, has_lost_the_rest, has_enough,
    };
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        struct job_condition c = {.type = "FailureTarget"};
        if (ENDS[i](l, p, &c))
            return c;
    }
    return (struct job_condition){0};
}

/* ---- which pods go ---- */

static int by_index(const void *a, const void *b)
{
    const struct job_pod *const *x = a, *const *y = b;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

static void push_all(const struct job_look *l, struct job_list *to,
                     const struct job_list *from, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++)
        vec_push_in(l->a, to, from->v[i]);
}

/* Those whose end hurts least come first. */
static void sort_by_harm(const struct job_look *l, struct job_list *pods)
{
    struct objects o = {0};
    struct job_list sorted = {0};
    for (uint32_t i = 0; i < pods->n; i++)
        vec_push_in(l->a, &o, pods->v[i]->o);
    pods_sort_active(&o, l->a);
    for (uint32_t i = 0; i < o.n; i++)
        for (uint32_t k = 0; k < pods->n; k++)
            if (pods->v[k]->o == o.v[i])
                vec_push_in(l->a, &sorted, pods->v[k]);
    *pods = sorted;
}

/* Of several with one index all but the best go, and those with none or a wrong one. */
static void sift(const struct job_look *l, struct job_list *active,
                 struct job_list *doomed, struct job_list *left)
{
    if (active->n)
        qsort(active->v, active->n, sizeof *active->v, by_index);
    for (uint32_t i = 0, end; i < active->n; i = end) {
        int64_t index = active->v[i]->index;
        struct job_list same = {0};
        for (end = i; end < active->n && active->v[end]->index == index;)
            end++;
        push_all(l, &same, active, i, end);
        if (!active->v[i]->fits) {
            push_all(l, doomed, &same, 0, same.n);
            continue;
        }
        if (same.n > 1)
            sort_by_harm(l, &same);
        if (same.n) {
            push_all(l, doomed, &same, 0, same.n - 1);
            vec_push_in(l->a, left, same.v[same.n - 1]);
        }
    }
}

static struct job_list active_pods(const struct job_look *l)
{
    struct job_list active = {0};
    for (uint32_t i = 0; i < l->npods; i++)
        if (l->pods[i].active)
            vec_push_in(l->a, &active, (const struct job_pod *)&l->pods[i]);
    return active;
}

static struct job_list choose(const struct job_look *l, int64_t at_least)
{
    struct job_list active = active_pods(l), doomed = {0}, left = {0};
    if (l->v.indexed)
        sift(l, &active, &doomed, &left);
    else
        left = active;
    if (doomed.n >= at_least)
        return doomed;
    if (at_least - doomed.n < left.n)
        sort_by_harm(l, &left);
    for (uint32_t i = 0; doomed.n < at_least && i < left.n; i++)
        vec_push_in(l->a, &doomed, left.v[i]);
    return doomed;
}

/* ---- which pods come ---- */

static void come_again(struct job_plan *p, int64_t ms)
{
    uint64_t when = (uint64_t)(ms > 0 ? ms : 1);
    if (!p->again_ms || when < p->again_ms)
        p->again_ms = when;
}

/* The first indexes that nothing is known of, n of them at most. */
static uint32_t pending(const struct job_look *l, const struct job_plan *p, uint32_t n,
                        int64_t *out)
{
    struct job_spans active = indexes_of(l, is_active),
                     leaving = indexes_of(l, is_leaving),
                     taken = job_spans_merge(&p->done, &active, l->a);
    uint32_t found = 0;
    if (l->v.only_failed)
        taken = job_spans_merge(&taken, &leaving, l->a);
    taken = job_spans_merge(&taken, &p->lost, l->a);
    int64_t next = 0;
    for (uint32_t i = 0; i < taken.n; i++) {
        for (; next < l->v.completions && found < n && next < taken.v[i].first; next++)
            out[found++] = next;
        next = next > taken.v[i].last ? next : taken.v[i].last + 1;
    }
    for (; next < l->v.completions && found < n; next++)
        out[found++] = next;
    return found;
}

/* Each index has a pause of its own; comes again when there is none that may begin. */
static uint32_t rested(const struct job_look *l, struct job_plan *p, uint32_t n)
{
    int64_t soonest = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct job_pod *last = job_awaited(l, p->indexes[i]);
        struct job_backoff b = {0};
        if (last)
            b = (struct job_backoff){last->failures + last->ignored + 1,
                                     last->finished_ms};
        int64_t left = job_backoff_left_ms(&b, l->now_ms);
        if (!left)
            p->indexes[found++] = p->indexes[i];
        else if (!soonest || left < soonest)
            soonest = left;
    }
    if (soonest)
        come_again(p, soonest);
    return found;
}

static void plan_more(const struct job_look *l, struct job_plan *p, int64_t n)
{
    int64_t left = l->v.per_index ? 0 : job_backoff_left_ms(&p->backoff, l->now_ms);
    if (left) {
        come_again(p, left);
        return;
    }
    p->nmake = (uint32_t)(n < JOB_PODS_MAX ? n : JOB_PODS_MAX);
    if (!l->v.indexed)
        return;
    p->indexes = ARENA_ARRAY(l->a, int64_t, p->nmake);
    p->nmake = pending(l, p, p->nmake, p->indexes);
    if (l->v.per_index)
        p->nmake = rested(l, p, p->nmake);
}

static int64_t wanted(const struct job_look *l, const struct job_plan *p)
{
    int64_t left = l->v.completions - p->succeeded;
    if (l->v.completions < 0)
        return p->succeeded > 0 ? p->active : l->v.parallelism;
    left = left > 0 ? left : 0;
    return left < l->v.parallelism ? left : l->v.parallelism;
}

static void manage(const struct job_look *l, struct job_plan *p)
{
    int64_t want = l->v.suspended ? 0 : wanted(l, p), spare = p->active - want,
            leaving = l->v.only_failed ? p->terminating : 0;
    p->doomed = choose(l, spare > 0 ? spare : 0);
    if (p->doomed.n > JOB_PODS_MAX && !l->v.suspended)
        p->doomed.n = JOB_PODS_MAX;
    if (!p->doomed.n && want - leaving > p->active)
        plan_more(l, p, want - leaving - p->active);
}

void job_plan(struct job_look *l, struct job_plan *p)
{
    *p = (struct job_plan){0};
    count(l, p);
    read_indexes(l, p);
    p->finished = find_end(l, p);
    if (p->finished.type) {
        p->doomed = active_pods(l);
        p->keep_finalizers = true;
        return;
    }
    if (l->v.deadline_s >= 0 && !l->v.suspended)
        come_again(p, time_left_ms(l));
    p->manages = l->settled && !l->v.deleted;
    if (p->manages)
        manage(l, p);
}
