/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of Jobs: pods until enough of them have succeeded, as
 * kube-controller-manager runs them. */
#ifndef DRAY_CONTROL_JOBS_H
#define DRAY_CONTROL_JOBS_H

#include "control/workload.h"

struct jobs;

/* Works from here on, until jobs_free; the informers are the shared ones. */
struct jobs *jobs_new(struct shared *shared, const struct workload_opts *opts);
void jobs_free(struct jobs *j);

#endif
