/* SPDX-License-Identifier: Apache-2.0 */
/* PodDisruptionBudgets, as preemption minds them. */
#ifndef DRAY_SCHED_BUDGETS_H
#define DRAY_SCHED_BUDGETS_H

#include "sched/world.h"

/* For each of k pods whether a budget would be exceeded when all of them go, counted in
 * their order. In the arena. */
bool *budgets_violated(const struct world *w, struct node_pod *const *v, uint32_t k,
                       struct arena *a);

#endif
