/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that wait for a place which was made for them: the node is theirs before pods of
 * lower priority (status.nominatedNodeName).
 */
#ifndef DRAY_SCHED_NOMINATED_H
#define DRAY_SCHED_NOMINATED_H

#include "base/map.h"
#include "base/vec.h"
#include "sched/pod_info.h"

struct nomination {
    struct object *pod; /* a reference */
    char *node;
};

struct nominated {
    VEC(struct nomination) all; /* few */
};

void nominated_fini(struct nominated *n);
/* The pod as it is now; node empty: nowhere. */
void nominated_set(struct nominated *n, struct object *pod, struct str node);
void nominated_remove(struct nominated *n, struct str pod_id);
/* Where the pod is nominated; STR_NONE: nowhere. */
struct str nominated_node(const struct nominated *n, struct str pod_id);

#endif
