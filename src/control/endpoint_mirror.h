/* SPDX-License-Identifier: Apache-2.0 */
/* The controller that mirrors: Endpoints that somebody writes for a service without a
 * selector are told as EndpointSlices too. */
#ifndef DRAY_CONTROL_ENDPOINT_MIRROR_H
#define DRAY_CONTROL_ENDPOINT_MIRROR_H

#include "control/workload.h"

struct endpoint_mirror;

/* Works from here on, until endpoint_mirror_free; the informers are the shared ones. */
struct endpoint_mirror *endpoint_mirror_new(struct shared *shared,
                                            const struct workload_opts *opts);
void endpoint_mirror_free(struct endpoint_mirror *e);

#endif
