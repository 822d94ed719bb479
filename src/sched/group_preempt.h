/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption for a group: which pods of lower priority, anywhere, would have to go so
 * that the group fits (upstream's PodGroupEvaluator). Pods of a group whose disruption
 * mode is All go together. Only asks; victims.c does.
 */
#ifndef DRAY_SCHED_GROUP_PREEMPT_H
#define DRAY_SCHED_GROUP_PREEMPT_H

#include "sched/group_trial.h"

struct group_preemption {
    bool found;
    struct node_pod **victims; /* the most important first; in the trial's arena */
    uint32_t nvictims;
    struct node **nodes; /* of each pod of the group, NULL: none */
    bool going;          /* found: victims of before are going, there are no new ones */
    bool nobody;         /* not found: nobody has less priority */
    struct str message;
};

/* t: as for group_trial_run, which it runs; its outcome is that without the victims, and
 * taken back. */
struct group_preemption group_preempt_find(struct group_trial *t);

#endif
