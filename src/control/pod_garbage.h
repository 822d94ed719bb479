/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod garbage collector (pkg/controller/podgc): pods that nobody ends are ended:
 * those of nodes that are no more, those deleted before they had a node, those deleted on
 * a node that is out of service; and of pods that have ended only so many are kept.
 */
#ifndef DRAY_CONTROL_POD_GARBAGE_H
#define DRAY_CONTROL_POD_GARBAGE_H

#include "control/reconciler.h"

extern const struct reconciler_def pod_garbage;

#endif
