/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of pool_status: pool_status.c counts devices, pool_views.c sums up partitions
 * and what is shared. */
#ifndef DRAY_CONTROL_POOL_INNER_H
#define DRAY_CONTROL_POOL_INNER_H

#include "base/map.h"
#include "base/vec.h"
#include "control/pool_status.h"

struct pool_device {
    struct str name;
    const struct doc *doc;
    struct str grouping; /* attribute that says the type of partition; empty: none */
    struct str type;     /* its value; p NULL: it has none */
    bool used;
};

struct pool {
    struct str driver, name, node;
    bool many_nodes;
    int64_t generation, slices, wanted; /* wanted: as the first slice says */
    int64_t unavailable;
    VEC(struct pool_device) devices;
    VEC(const struct doc *) counter_sets;
    struct strmap used;     /* names of devices with an allocation */
    struct strmap consumed; /* capacity -> struct quantity *, of all claims */
};

/* Adds partitionSummary and shareableSummary to the status of a pool whose devices are
 * complete. What is wrong with them, or STR_NONE. */
struct str pool_views_add(const struct pool *p, struct doc *status, struct arena *a);

#endif
