/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of ResourceQuotas (pkg/controller/resourcequota): counts what a
 * namespace uses, by the rules that the API server charges requests by (api/quota.h), and
 * writes it into the status, without which a quota limits nothing. What goes is noticed
 * within a second for pods, services and claims; other kinds ("count/...") are counted
 * every ten.
 */
#ifndef DRAY_CONTROL_QUOTA_USAGE_H
#define DRAY_CONTROL_QUOTA_USAGE_H

#include "control/reconciler.h"

extern const struct reconciler_def quota_usage_table;

#endif
