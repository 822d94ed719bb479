/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life cycle of nodes (pkg/controller/nodelifecycle): a node that neither posts its
 * status nor renews its lease becomes Unknown; conditions become taints, of which those
 * that evict (NoExecute) are given slowly, slower where most of a zone is down, and not
 * at all while no node is up: then it is the network that is down; pods of a node that
 * was lost are not ready.
 */
#ifndef DRAY_CONTROL_NODE_LIFE_H
#define DRAY_CONTROL_NODE_LIFE_H

#include "control/reconciler.h"

extern const struct reconciler_def node_life;

#endif
