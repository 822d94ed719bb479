/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of dra_mapped.c and dra_demand.c, with nothing of a cycle in them. */
#ifndef DRAY_SCHED_DRA_MAPPED_H
#define DRAY_SCHED_DRA_MAPPED_H

#include "sched/dra_inner.h"

struct mapped_result {
    const struct view_device *view; /* NULL: the device is not there */
    struct str driver, pool, device;
    const struct view_amount *consumed;
    uint32_t nconsumed;
};
struct mapped_claim {
    struct str namespace, name, entry; /* entry: of the pod's resourceClaims */
    const struct mapped_result *results;
    uint32_t nresults;
};

/* status.nodeAllocatableResourceClaimStatuses of a pod. */
bool dra_mapped_statuses(const struct doc *pod, const struct mapped_claim *claims,
                         uint32_t n, struct arena *a, struct doc *out, struct err *e);
/* What the pod asks of a node in all, with these. */
struct amounts dra_mapped_demand(const struct doc *pod, const struct doc *statuses,
                                 struct arena *a);
/* Whether what the pod's spec.resources says is enough for its containers and these. */
struct sched_status dra_mapped_cover(const struct doc *pod, const struct doc *statuses,
                                     struct arena *a);
struct sched_status dra_mapped_fits(const struct sched_node *node,
                                    const struct amounts *want, struct arena *a);

#endif
