/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a pod fits on no node, gathered over all nodes: rows of equal reasons are summed.
 * What rows point to (claims, nodes, devices) is the placement's.
 */
#ifndef DRAY_CLI_WHY_H
#define DRAY_CLI_WHY_H

#include "alloc/alloc.h"
#include "cli/podclaims.h"
#include "sched/filter.h"

/* Nodes that a filter refused, devices apart. */
struct why_filter {
    struct sched_reason reason; /* of the first node */
    uint32_t nodes;
    uint32_t would_do; /* of those: their devices would do */
    const struct view_node *example;
};

/* Devices that one rule refused first, for one claim and request, over all nodes asked.
 */
struct why_devices {
    const struct work_claim *claim;
    struct alloc_reason reason; /* of the first node; devices: the sum over all */
    uint32_t nodes;
    const struct view_node *example;
};

/* How many devices would do for a request, at most on one node and in all. */
struct why_need {
    const struct work_claim *claim;
    struct alloc_need need; /* of the best node */
    const struct view_node *best;
    uint64_t matching, free; /* over all nodes */
    uint32_t matching_nodes; /* nodes with any that match */
};

/* Nodes of which the allocator says something else: an error, or that it gave up. */
struct why_error {
    struct str text;
    uint32_t nodes;
    const struct view_node *example;
};

struct why {
    bool has_claims;               /* the pod needs devices at all */
    uint32_t nodes;                /* that were looked at */
    uint32_t asked;                /* for devices: those that passed the filters */
    uint32_t gave_up;              /* of those: the search ran out of steps */
    uint32_t elsewhere;            /* refused because a claim is allocated on others: */
    const struct work_claim *tied; /* this one */
    VEC(struct why_filter) filters;
    VEC(struct why_devices) devices;
    VEC(struct why_need) needs;
    VEC(struct why_error) errors;
    struct str summary; /* the allocator's own line, of the last node asked */
};

void why_release(struct why *w);
void why_add_filter(struct why *w, const struct sched_reason *reason,
                    const struct view_node *node, bool would_do);
void why_add_tied(struct why *w, const struct work_claim *claim);
/* An answer with explanations; claims[i] is the claim that the answer numbers i. */
void why_add_outcome(struct why *w, const struct alloc_outcome *o,
                     const struct work_claim *const *claims,
                     const struct view_node *node);
/* The first request that all nodes together have too few free devices for, whichever of
 * its alternatives is taken. NULL: none. */
const struct why_need *why_unmet(const struct why *w);

#endif
