/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inventory as what ResourceSlices hold (resource.k8s.io/v1): its devices in their
 * order, and its counter sets, cut where the API's limits are. The same inventory gives
 * the same slices; quantities are in their canonical form, as a server gives them back.
 *
 * Source: spec 5.8.14.
 */
#ifndef DRAY_DRIVER_SLICES_H
#define DRAY_DRIVER_SLICES_H

#include "driver/device.h"

enum {
    SLICES_MAX_DEVICES = 128,
    /* where a device has taints, takes of counters, or has lists as attributes */
    SLICES_MAX_RICH_DEVICES = 64,
    SLICES_MAX_COUNTER_SETS = 8,
    SLICES_MAX_OLD_COUNTERS = 32, /* of a slice, before Kubernetes 1.35 */
};

enum slices_layout {
    /* Counter sets have slices of their own, which come first: Kubernetes 1.35 and newer.
     */
    SLICES_APART,
    /* A counter set is in the slice of the devices that take of it. */
    SLICES_TOGETHER,
};

struct slices {
    struct doc *v; /* of each "devices" or "sharedCounters", or both; or nothing */
    uint32_t n;    /* at least one */
};

/* Everything is made in a; v is not looked at afterwards. */
void slices_make(const struct driver_inventory *v, enum slices_layout layout,
                 struct arena *a, struct slices *out);

#endif
