/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClusterRoles with an aggregationRule are given the rules of those that it selects
 * (pkg/controller/clusterroleaggregation). dray's server looks them up itself; others,
 * and people, read what is written.
 */
#ifndef DRAY_CONTROL_CLUSTER_ROLES_H
#define DRAY_CONTROL_CLUSTER_ROLES_H

#include "control/reconciler.h"

extern const struct reconciler_def cluster_roles;

#endif
