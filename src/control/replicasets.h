/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of ReplicaSets: as many pods of a template as are wanted, as
 * kube-controller-manager keeps them. */
#ifndef DRAY_CONTROL_REPLICASETS_H
#define DRAY_CONTROL_REPLICASETS_H

#include "control/workload.h"

struct replicasets;

/* Works from here on, until replicasets_free; the informers are the shared ones. */
struct replicasets *replicasets_new(struct shared *shared,
                                    const struct workload_opts *opts);
void replicasets_free(struct replicasets *r);

#endif
