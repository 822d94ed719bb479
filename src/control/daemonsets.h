/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of DaemonSets: a pod on each node that fits, and templates rolled out
 * node by node, as kube-controller-manager does it. */
#ifndef DRAY_CONTROL_DAEMONSETS_H
#define DRAY_CONTROL_DAEMONSETS_H

#include "control/workload.h"

struct daemonsets;

/* Works from here on, until daemonsets_free; the informers are the shared ones. */
struct daemonsets *daemonsets_new(struct shared *shared,
                                  const struct workload_opts *opts);
void daemonsets_free(struct daemonsets *d);

#endif
