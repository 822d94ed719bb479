/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of disruption budgets: disruption.c counts pods and writes, disruption_scale.c
 * asks how many there should be.
 */
#ifndef DRAY_CONTROL_DISRUPTION_INNER_H
#define DRAY_CONTROL_DISRUPTION_INNER_H

#include "base/vec.h"
#include "client/resources.h"
#include "control/disruption.h"
#include "sched/selector.h"

struct guarded { /* a pod, as its view */
    struct labels labels;
    struct str owner_version, owner_kind, owner_name, owner_uid; /* its controller */
    bool ready, deleted;
};
static inline const struct guarded *guarded(const struct object *o)
{
    return o->view;
}

struct pods {
    const struct object **v;
    size_t n, cap;
};

/* *out: the replicas that the controllers of the pods are to have, each once. Pods
 * without a controller do not count; one whose controller cannot be asked fails. */
enum progress disruption_scale(struct work *w, const struct resources *known,
                               const struct pods *pods, int64_t *out);

#endif
