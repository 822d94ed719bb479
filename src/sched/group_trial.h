/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All pods of a group tried on the world as it is, one after another in their order; each
 * that finds a node counts as placed for those that follow. Greedy, as upstream: no pod
 * is moved for a later one (spec 7.12).
 */
#ifndef DRAY_SCHED_GROUP_TRIAL_H
#define DRAY_SCHED_GROUP_TRIAL_H

#include "sched/cycle.h"
#include "sched/groups.h"

struct group_trial {
    struct world *world;
    const struct profile *profile;
    const struct group_info *group;
    struct object *const *pods; /* borrowed */
    uint32_t n;
    int64_t scheduled;     /* pods of the group that have a place already */
    struct dra_group *dra; /* NULL: without devices */
    struct arena *a;

    /* ---- the outcome ---- */

    struct cycle *cycles; /* of pods that were tried, the first ntried */
    struct node **nodes;  /* of each pod, NULL: none */
    uint32_t ntried, nplaced;
    enum sched_code code; /* SUCCESS: enough have a place, and one of them is new */
    struct str message;
};

/* Fills the outcome; pods with a node are assumed on it, their devices reserved. What
 * comes before the outcome is set by the caller. */
void group_trial_run(struct group_trial *t);
/* Takes that back; the cycles stay. */
void group_trial_revert(struct group_trial *t);
void group_trial_fini(struct group_trial *t);

#endif
