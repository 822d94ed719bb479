/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of EndpointSlices: where the pods of services with selectors are, as
 * kube-controller-manager tells it. */
#ifndef DRAY_CONTROL_ENDPOINT_SLICES_H
#define DRAY_CONTROL_ENDPOINT_SLICES_H

#include "control/workload.h"

struct endpoint_slices;

/* Works from here on, until endpoint_slices_free; the informers are the shared ones. */
struct endpoint_slices *endpoint_slices_new(struct shared *shared,
                                            const struct workload_opts *opts);
void endpoint_slices_free(struct endpoint_slices *e);

#endif
