/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods go from nodes with a NoExecute taint, at once or when they no longer tolerate it
 * (tolerationSeconds). As upstream (pkg/controller/tainteviction), whose clock starts
 * when the taint is first seen; beside it, the time changes when taints or tolerations
 * do.
 */
#ifndef DRAY_CONTROL_TAINT_EVICTION_H
#define DRAY_CONTROL_TAINT_EVICTION_H

#include "control/reconciler.h"

extern const struct reconciler_def taint_eviction;

#endif
