/* SPDX-License-Identifier: Apache-2.0 */
/* What slices should say of an object of Endpoints. Pure. */
#ifndef DRAY_CONTROL_ENDPOINT_MIRROR_MAKE_H
#define DRAY_CONTROL_ENDPOINT_MIRROR_MAKE_H

#include "control/slice_plan.h"

#define ENDPOINT_MIRROR_MANAGER "endpointslicemirroring-controller.k8s.io"

enum { ENDPOINT_MIRROR_MAX = 1000 }; /* addresses of a subset; the rest is left out */

/* It is not excepted, and nobody's lock. */
bool endpoint_mirror_wants(const struct doc *endpoints);
/* All of one type of addresses, "IPv4" or "IPv6". */
struct slice_order endpoint_mirror_order(const struct object *endpoints, const char *type,
                                         struct arena *a);
/* Addresses beyond the limit, of all subsets. */
uint32_t endpoint_mirror_skipped(const struct doc *endpoints);

#endif
