/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of completion indexes as a Job's status writes them: "1,3-5,7", in ascending
 * order.
 */
#ifndef DRAY_CONTROL_JOB_SPANS_H
#define DRAY_CONTROL_JOB_SPANS_H

#include "base/arena.h"
#include "base/str.h"

struct job_span {
    int64_t first, last; /* both belong to it */
};

struct job_spans { /* in an arena; apart from one another, ascending */
    struct job_span *v;
    uint32_t n, cap;
};

/* Indexes below the limit; what is no number is passed over. */
struct job_spans job_spans_parse(struct str text, int64_t limit, struct arena *a);
/* Two that touch are one, and two numbers are no range: "1,2", "1-3". */
struct str job_spans_print(const struct job_spans *s, struct arena *a);
struct job_spans job_spans_merge(const struct job_spans *x, const struct job_spans *y,
                                 struct arena *a);
/* An index that is not below those which are there. */
void job_spans_append(struct job_spans *s, int64_t index, struct arena *a);
int64_t job_spans_total(const struct job_spans *s);
bool job_spans_have(const struct job_spans *s, int64_t index);
/* How many indexes both have. */
int64_t job_spans_common(const struct job_spans *x, const struct job_spans *y);

#endif
