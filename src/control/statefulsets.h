/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of StatefulSets: pods with names and volumes of their own, one after
 * another or all at once, as kube-controller-manager keeps them. */
#ifndef DRAY_CONTROL_STATEFULSETS_H
#define DRAY_CONTROL_STATEFULSETS_H

#include "control/workload.h"

struct statefulsets;

/* Works from here on, until statefulsets_free; the informers are the shared ones. */
struct statefulsets *statefulsets_new(struct shared *shared,
                                      const struct workload_opts *opts);
void statefulsets_free(struct statefulsets *s);

#endif
