/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of Deployments: a ReplicaSet for each template there was, the pods of
 * the last one instead of the others' step by step, as kube-controller-manager does it.
 */
#ifndef DRAY_CONTROL_DEPLOYMENTS_H
#define DRAY_CONTROL_DEPLOYMENTS_H

#include "control/workload.h"

struct deployments;

/* Works from here on, until deployments_free; the informers are the shared ones. */
struct deployments *deployments_new(struct shared *shared,
                                    const struct workload_opts *opts);
void deployments_free(struct deployments *d);

#endif
