/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption: which pods of lower priority would have to go so that a pod fits, and on
 * which node that costs least (upstream's DefaultPreemption). Only asks; victims.c does.
 */
#ifndef DRAY_SCHED_PREEMPT_H
#define DRAY_SCHED_PREEMPT_H

#include "sched/cycle.h"

struct preemption {
    struct node *node;         /* NULL: none helps */
    struct node_pod **victims; /* the most important first; in the cycle's arena */
    uint32_t nvictims;
    uint32_t violations; /* of disruption budgets */
    bool keeps;          /* the pod keeps the nomination that it has: victims are going */
    struct str message;  /* what the pod is told when there is no node */
};

/* After cycle_run has found no node. */
struct preemption preempt_find(struct cycle *c);

#endif
