/* SPDX-License-Identifier: Apache-2.0 */
/* What a service's slices should say of its pods. Pure. */
#ifndef DRAY_CONTROL_ENDPOINT_SLICE_MAKE_H
#define DRAY_CONTROL_ENDPOINT_SLICE_MAKE_H

#include "control/slice_plan.h"

#define ENDPOINT_SLICES_MANAGER "endpointslice-controller.k8s.io"

/* zone: of a pod's node; p NULL: there is no such node. */
typedef struct str slice_zone_fn(void *ctx, struct str node);

/* All of one type of addresses, "IPv4" or "IPv6". *lost: a pod whose node is not known is
 * left out. */
struct slice_order endpoint_slice_order(const struct object *service,
                                        const struct objects *pods, const char *type,
                                        slice_zone_fn *zone, void *ctx, struct arena *a,
                                        const struct object **lost);

#endif
