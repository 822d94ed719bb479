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
#include "cli/why.h"

enum placed_status {
    PLACED,
    UNPLACED,      /* no node takes it; why says so */
    UNPLACED_ERROR /* it can be placed nowhere: error says why */
};

struct placed_pod {
    struct waiting_pod pod;
    enum placed_status status;
    const struct view_node *node; /* PLACED */
    struct work_claim **claims;
    uint32_t nclaims;
    bool has_extended; /* the last of claims serves its extended resources already */
    struct work_claim *extended; /* made here for extended resources; NULL: none */
    struct str error;
    struct why *why; /* UNPLACED; shared by pods that are alike */
};

struct placement {
    struct work_claims claims;
    VEC(struct placed_pod) pods;
    VEC(struct why *) whys;
    VEC(struct alloc_plan *) plans; /* errors and reasons point into them */
    uint32_t unplaced;
    struct alloc_inventory *inv; /* results point into it */
};

struct place_opts {
    const struct alloc_features *features;
    bool taint_rules;   /* DeviceTaintRules count */
    uint64_t max_steps; /* 0: the allocator's default */
    struct str node;    /* place on this node alone, which is there; empty: any */
};

/* Everything in *out lives in the cluster's arena until placement_fini. */
void place_pods(struct cluster *c, const struct waiting_pods *waiting,
                const struct place_opts *opts, struct placement *out);
void placement_fini(struct placement *p);

#endif
