/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of CronJobs: a Job each time that a schedule says, as
 * kube-controller-manager makes them. */
#ifndef DRAY_CONTROL_CRONJOBS_H
#define DRAY_CONTROL_CRONJOBS_H

#include "control/workload.h"

struct cronjobs;

/* Works from here on, until cronjobs_free; the informers are the shared ones. */
struct cronjobs *cronjobs_new(struct shared *shared, const struct workload_opts *opts);
void cronjobs_free(struct cronjobs *c);

#endif
