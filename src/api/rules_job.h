/* SPDX-License-Identifier: Apache-2.0 */
/* What rules of jobs have in common. */
#ifndef DRAY_API_RULES_JOB_H
#define DRAY_API_RULES_JOB_H

#include "api/rules_pod.h"
#include "api/rules_workload.h"

static inline bool job_is_indexed(const struct doc *spec)
{
    return doc_is_string(api_member(spec, "completionMode"), "Indexed");
}

/* Of the job, or of those that a CronJob makes. */
static inline const struct doc *job_spec_at_hand(const struct api_walk *w)
{
    return doc_path(w->object, strcmp(w->type->name, "CronJob") == 0
                                   ? "spec.jobTemplate.spec"
                                   : "spec");
}

#endif
