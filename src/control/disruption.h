/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of PodDisruptionBudgets (pkg/controller/disruption): how many pods of
 * each budget are healthy, must be, and may be evicted, by which the API server grants
 * evictions.
 */
#ifndef DRAY_CONTROL_DISRUPTION_H
#define DRAY_CONTROL_DISRUPTION_H

#include "control/reconciler.h"

extern const struct reconciler_def disruption_table;

#endif
