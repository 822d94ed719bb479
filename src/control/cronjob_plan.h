/* SPDX-License-Identifier: Apache-2.0 */
/* When a CronJob runs, by its schedule and by what it has run before. Pure. */
#ifndef DRAY_CONTROL_CRONJOB_PLAN_H
#define DRAY_CONTROL_CRONJOB_PLAN_H

#include "api/cron.h"
#include "doc/doc.h"

struct cronjob_times {
    int64_t due_s;    /* the latest time that has come and was not run yet; 0: none */
    bool too_many;    /* more than a hundred times were missed */
    bool too_late;    /* spec.startingDeadlineSeconds has passed since */
    int64_t again_ms; /* until the next time */
};

enum cronjob_verdict {
    CRONJOB_FINE,
    CRONJOB_BAD_ZONE,
    CRONJOB_BAD_SCHEDULE, /* *why says why */
};

enum cronjob_verdict cronjob_schedule(const struct doc *cronjob, struct arena *a,
                                      struct cron *out, struct str *why);
/* Whether the schedule names a zone by itself, which works and is not supported. */
bool cronjob_has_own_zone(const struct doc *cronjob);
struct cronjob_times cronjob_times(const struct doc *cronjob, const struct cron *c,
                                   int64_t now_ms);
/* The job of a time: named after it, so that it is made once. */
struct doc cronjob_make_job(const struct doc *cronjob, int64_t due_s,
                            const struct doc *owner_ref, struct arena *a);
struct str cronjob_job_name(const struct doc *cronjob, int64_t due_s, struct arena *a);

#endif
