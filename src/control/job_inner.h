/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the controller of Jobs. A job is looked at (job_view.c) and planned
 * (job_plan.c); pods are made and deleted (job_requests.c); then what has ended is
 * counted (job_status.c) so that no pod is counted twice or missed, whenever the
 * controller stops: a pod has the finalizer until its uid stands in the status among
 * those yet to be counted, and its uid stands there until the finalizer is gone.
 *
 * Planning and counting are pure: all they know is what they are given.
 */
#ifndef DRAY_CONTROL_JOB_INNER_H
#define DRAY_CONTROL_JOB_INNER_H

#include "control/job_spans.h"
#include "control/podwork.h"
#include "control/written.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"
#define JOB_INDEX_IGNORED "batch.kubernetes.io/job-index-ignored-failure-count"

enum {
    JOB_NO_INDEX = -1,
    JOB_PODS_MAX = 500, /* made or deleted in one go, as upstream */
    JOB_UNCOUNTED_MAX = 500,
};

extern const struct owner_kind job_kind;

/* ---- the job ---- */

struct job_view {
    const struct doc *doc, *status; /* status: NULL or a map */
    struct str name, namespace;
    bool indexed;
    bool per_index;   /* backoffLimitPerIndex is set */
    bool only_failed; /* podReplacementPolicy Failed: what is leaving is not replaced */
    bool suspended, deleted;
    int64_t completions; /* below zero: any success ends it */
    int64_t parallelism, backoff_limit, limit_per_index;
    int64_t max_failed_indexes;    /* below zero: none */
    int64_t deadline_s, started_s; /* below zero: none; not yet */
};

struct job_view job_view(const struct doc *job);
/* Condition Complete or Failed. */
bool job_is_finished(const struct doc *job);
/* managedBy names somebody else. */
bool job_is_foreign(const struct doc *job);
/* The condition of a type when it is true; or NULL. */
const struct doc *job_condition_true(const struct doc *job, const char *type);
bool job_pod_is_tracked(const struct doc *pod); /* it has the finalizer */

/* ---- its pods ---- */

enum job_action { JOB_NO_ACTION, JOB_IGNORE, JOB_COUNT, JOB_FAIL_INDEX, JOB_FAIL_JOB };

struct job_pod {
    const struct object *o;
    int64_t index;             /* JOB_NO_INDEX: none */
    int64_t finished_ms;       /* when its containers ended, or what comes close */
    int64_t failures, ignored; /* of its index, before it */
    bool finalizer;            /* it has it, as far as is known */
    bool tracked;              /* and nobody has taken it off yet */
    bool fits;                 /* not indexed, or an index that the job has */
    bool active, leaving, ready, succeeded;
    bool failed;            /* or counts as failed since it is deleted */
    bool awaited;           /* keeps its finalizer until its index has another pod */
    enum job_action action; /* of the failure policy, were it to fail */
    struct str message;     /* why the job fails for it */
};

/* Which rule of the failure policy a pod's status meets; *message with JOB_FAIL_JOB. */
enum job_action job_policy_match(const struct doc *policy, const struct doc *pod,
                                 struct str *message, struct arena *a);
/* Whether the indexes that succeeded are enough; *message says for which rule. */
bool job_policy_succeeds(const struct job_view *v, const struct job_spans *done,
                         struct str *message, struct arena *a);

/* ---- pauses after failures ---- */

struct job_backoff {
    int64_t failures; /* since the last success */
    int64_t last_ms;  /* the last of them */
};

int64_t job_finished_ms(const struct doc *pod);
/* With those that have newly succeeded and failed; they are sorted. */
struct job_backoff job_backoff_after(struct job_backoff old,
                                     const struct job_pod **succeeded,
                                     uint32_t nsucceeded, const struct job_pod **failed,
                                     uint32_t nfailed);
/* Until a pod may be made after so many failures; 0: now. */
int64_t job_backoff_left_ms(const struct job_backoff *b, int64_t now_ms);

/* ---- the plan ---- */

struct job_condition { /* type NULL: none */
    const char *type, *reason;
    struct str message;
};

struct job_look {
    struct arena *a;
    struct job_view v;
    struct job_pod *pods;
    uint32_t npods;
    struct job_backoff backoff;
    bool settled; /* what was made and deleted is known by now */
    int64_t now_ms;
};

struct job_list { /* borrowed pods */
    const struct job_pod **v;
    uint32_t n, cap;
};

struct job_plan {
    int64_t active, ready, terminating, succeeded, failed;
    struct job_spans before, done, lost; /* succeeded before, and by now; failed */
    struct job_condition finished;       /* as the job ends, if it does */
    struct job_backoff backoff;
    bool manages; /* pods were looked after: the job neither ends nor waits */
    struct job_list doomed;
    bool keep_finalizers; /* of the doomed: they count as failed */
    uint32_t nmake;
    int64_t *indexes; /* of those that are made; NULL: they have none */
    uint64_t again_ms;
};

void job_plan(struct job_look *l, struct job_plan *p);
/* The awaited pod of an index; NULL: none. */
const struct job_pod *job_awaited(const struct job_look *l, int64_t index);

/* ---- status ---- */

struct job_done { /* what came of a plan */
    int64_t deleted, deleted_ready, unmade;
    bool *untracked, *deleted_fine, *made_fine; /* of each request */
};

struct job_state {
    struct doc status;
    struct job_condition finished; /* Complete or Failed, once all is counted */
    struct job_list release;       /* these lose their finalizers */
    int64_t terminating;
    bool flush;     /* the status is to be written before */
    bool suspended; /* the condition has changed */
    bool more;      /* too many at once: the rest comes next time */
};

void job_track(const struct job_look *l, const struct job_plan *p,
               const struct job_done *d, struct job_state *st);
/* After finalizers are gone: released[i] for each of st->release. Whether the status
 * (*status, a map) differs now; *ends: the job has come to its end. */
bool job_settle(const struct job_look *l, const struct job_state *st,
                const bool *released, struct doc *status, bool *ends);

/* ---- requests ---- */

struct jobs {
    struct shared *shared;
    const struct shared_kind *jobs, *pods;
    struct worker *worker, *orphans; /* orphans: keys of pods */
    struct events *events;
    struct expect expect;
    struct expect released; /* finalizers that are taken off */
    struct strmap
        backoffs; /* job's key -> struct job_backoff, with memory of their own */
    struct written written;
    uint64_t together_ms; /* in which changes of pods are one piece of work */
};

/* The plan's pods; *failure as podwork.h has it. */
enum progress job_carry_out(struct jobs *j, struct sync *s, const struct job_look *l,
                            const struct job_plan *p, struct job_done *done,
                            const char **failure);
/* ok[i]: whether list[i] has no finalizer anymore. */
enum progress job_release(struct jobs *j, struct sync *s, const struct job_list *list,
                          bool *ok, const char **failure);
/* Takes finalizers off pods that no job counts (job_orphans.c). */
work_fn job_orphan_work;
bool job_pod_is_orphan(const struct jobs *j, const struct object *pod);
void job_orphans_add(struct jobs *j, const struct object *job); /* all of its pods */

#endif
