/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a Job. */
#include "control/fields.h"
#include "control/job_inner.h"

static struct job_view read_limits(const struct doc *job)
{
    struct job_view v = {0};
    v.completions = field_int(job, "spec.completions", -1);
    v.parallelism = field_int(job, "spec.parallelism", 1);
    v.backoff_limit = field_int(job, "spec.backoffLimit", 6);
    v.limit_per_index = field_int(job, "spec.backoffLimitPerIndex", 0);
    v.max_failed_indexes = field_int(job, "spec.maxFailedIndexes", -1);
    v.deadline_s = field_int(job, "spec.activeDeadlineSeconds", -1);
    field_time(job, "status.startTime", &v.started_s);
    return v;
}

struct job_view job_view(const struct doc *job)
{
    const struct doc *spec = doc_get(job, "spec"), *status = doc_get(job, "status");
    struct job_view v = read_limits(job);
    v.doc = job;
    v.status = status && status->type == DOC_MAP ? status : NULL;
    v.name = field_meta(job, "name");
    v.namespace = field_meta(job, "namespace");
    v.indexed = str_is(doc_get_text(spec, "completionMode"), "Indexed");
    v.per_index = field_int(spec, "backoffLimitPerIndex", -1) >= 0;
    v.only_failed = str_is(doc_get_text(spec, "podReplacementPolicy"), "Failed");
    v.suspended = field_bool(spec, "suspend");
    v.deleted = field_deleted(job);
    return v;
}

const struct doc *job_condition_true(const struct doc *job, const char *type)
{
    const struct doc *list = field_list(job, "status.conditions");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), type) &&
            doc_is_string(doc_get(&list->items[i], "status"), "True"))
            return &list->items[i];
    return NULL;
}

bool job_is_finished(const struct doc *job)
{
    return job_condition_true(job, "Complete") || job_condition_true(job, "Failed");
}

bool job_is_foreign(const struct doc *job)
{
    struct str by = field_text(job, "spec.managedBy");
    return by.n && !str_is(by, "kubernetes.io/job-controller");
}

bool job_pod_is_tracked(const struct doc *pod)
{
    const struct doc *list = field_list(pod, "metadata.finalizers");
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(&list->items[i], JOB_FINALIZER))
            return true;
    return false;
}
