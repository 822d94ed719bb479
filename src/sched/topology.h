/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by topology: how much there is of something in each zone, on each host, or
 * whatever label of nodes is asked for. And which pods rules between pods mean.
 */
#ifndef DRAY_SCHED_TOPOLOGY_H
#define DRAY_SCHED_TOPOLOGY_H

#include "sched/world.h"

struct topology { /* one key */
    struct str key;
    struct strmap values; /* of the label -> count; borrowed texts */
};

struct topologies {
    VEC(struct topology) keys;
};

void topologies_fini(struct topologies *t);
/* Adds to the count of the node's value; nothing where it has no such label. */
void topologies_add(struct topologies *t, struct str key, const struct node *n,
                    int64_t more);
/* 0: the node has no such label, or nothing was counted there. */
int64_t topologies_get(const struct topologies *t, struct str key, const struct node *n);
/* Of all keys that the node has a label of. */
int64_t topologies_sum(const struct topologies *t, const struct node *n);
/* Nothing is counted that is not 0. */
bool topologies_empty(const struct topologies *t);

/* Whether a term of a pod of namespace owner means the pod. */
bool term_matches(const struct world *w, const struct pod_term *t, struct str owner,
                  const struct pod_info *pod);
/* Every term does, and there is one. */
bool terms_match(const struct world *w, const struct pod_terms *t, struct str owner,
                 const struct pod_info *pod);

/* An object_view_fn: struct labels of the object. */
const void *labels_view_new(const struct doc *d, struct arena *a, struct err *e);

#endif
