/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin of the scheduler says at one of its points (spec 7.0). */
#ifndef DRAY_SCHED_STATUS_H
#define DRAY_SCHED_STATUS_H

#include "api/view.h"

enum sched_code {
    SCHED_SUCCESS,
    SCHED_ERROR,         /* the attempt is over: back-off, no event is needed */
    SCHED_UNSCHEDULABLE, /* other pods' going could help */
    SCHED_UNRESOLVABLE,  /* it could not: UnschedulableAndUnresolvable */
    SCHED_SKIP,          /* the plugin has no part in this pod */
};

/* Reasons live as long as the cycle that was asked, or the arena given. */
struct sched_status {
    enum sched_code code;
    struct view_strs reasons; /* of an error: its text, one */
};

static inline bool sched_ok(const struct sched_status *s)
{
    return s->code == SCHED_SUCCESS;
}

#endif
