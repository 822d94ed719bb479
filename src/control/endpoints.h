/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of Endpoints: one object beside each service with a selector, as
 * kube-controller-manager keeps them for those who do not read EndpointSlices. */
#ifndef DRAY_CONTROL_ENDPOINTS_H
#define DRAY_CONTROL_ENDPOINTS_H

#include "control/workload.h"

struct endpoints;

extern const struct client_kind endpoints_kind;

/* Works from here on, until endpoints_free; the informers are the shared ones. */
struct endpoints *endpoints_new(struct shared *shared, const struct workload_opts *opts);
void endpoints_free(struct endpoints *e);

#endif
