/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing pods: one after another, each on a node that takes it with all its claims; what
 * it gets is charged before the next one is looked at. Nothing placed is ever moved.
 */
#ifndef DRAY_CLI_PLACE_H
#define DRAY_CLI_PLACE_H

#include "alloc/alloc.h"
#include "cli/cluster.h"
#include "cli/expand.h"
#include "cli/podclaims.h"
#include "sched/filter.h"

enum placed_status {
    PLACED,
    UNPLACED,      /* no node takes it; why says so */
    UNPLACED_ERROR /* it can be placed nowhere: error says why */
};

/* How many nodes a filter refused, devices aside. */
struct why_filter {
    enum sched_refusal refusal;
    struct str detail; /* of the first node */
    uint32_t nodes;
    const struct view_node *example;
};

/* Devices that one rule refused first, for one claim and request, over all nodes asked.
 */
struct why_devices {
    const struct view_claim *claim;
    struct alloc_reason reason; /* of the first node; devices: the sum over all */
    uint32_t nodes;
    const struct view_node *example;
};

/* How many devices would do for a request, at most on one node and in all. */
struct why_need {
    const struct view_claim *claim;
    struct alloc_need need; /* of the best node */
    const struct view_node *best;
    uint64_t matching, free; /* over all nodes */
};

struct why {
    uint32_t nodes; /* that were looked at */
    uint32_t asked; /* for devices: those that passed the filters */
    VEC(struct why_filter) filters;
    VEC(struct why_devices) devices;
    VEC(struct why_need) needs;
    struct str summary; /* the allocator's own line, of the last node asked */
};

struct placed_pod {
    struct waiting_pod pod;
    enum placed_status status;
    const struct view_node *node; /* PLACED */
    struct work_claim **claims;
    uint32_t nclaims;
    struct work_claim *extended; /* NULL: none */
    struct str error;
    struct why *why; /* UNPLACED; shared by pods that are alike */
};

struct placement {
    struct work_claims claims;
    VEC(struct placed_pod) pods;
    uint32_t unplaced;
    struct alloc_inventory *inv; /* results point into it */
};

struct place_opts {
    const struct alloc_features *features;
    uint64_t max_steps; /* 0: the allocator's default */
    struct str node;    /* place on this node alone; empty: any */
};

/* Everything in *out lives in the cluster's arena until placement_fini. */
void place_pods(struct cluster *c, const struct waiting_pods *waiting,
                const struct place_opts *opts, struct placement *out);
void placement_fini(struct placement *p);

#endif
