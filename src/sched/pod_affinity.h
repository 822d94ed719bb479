/* SPDX-License-Identifier: Apache-2.0 */
/* What pod_affinity.c and pod_affinity_score.c share: counts of one attempt. */
#ifndef DRAY_SCHED_POD_AFFINITY_H
#define DRAY_SCHED_POD_AFFINITY_H

#include "sched/plugins.h"
#include "sched/topology.h"

struct pod_affinity {
    struct topologies against; /* pods there whose anti-affinity means this one */
    struct topologies with;    /* pods there that match every affinity term */
    struct topologies without; /* pods there that match an anti-affinity term */
    struct topologies scores;  /* weights of preferences, this one's and theirs */
};

/* Made when it is first asked for. */
struct pod_affinity *pod_affinity_of(struct cycle *c);
void pod_affinity_free(struct pod_affinity *s);

#endif
