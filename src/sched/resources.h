/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amounts of resources as whole numbers, which is how the scheduler counts (upstream's
 * framework.Resource): CPU in thousandths, all else in units, rounded up. Beyond 63 bits
 * an amount is INT64_MAX.
 */
#ifndef DRAY_SCHED_RESOURCES_H
#define DRAY_SCHED_RESOURCES_H

#include "api/view.h"

struct scalar { /* a resource beyond the three */
    struct str name;
    int64_t value;
};

struct resources {
    int64_t cpu, memory, storage; /* cpu in thousandths; ephemeral-storage */
    struct scalar *scalars;       /* sorted by name */
    uint32_t n;
};

/* In the arena; names are borrowed. "pods" is left out. */
struct resources resources_of(const struct view_amount *v, uint32_t n, struct arena *a);
int64_t resources_get(const struct resources *r, struct str name); /* 0: has none */
/* The same of one quantity: *q of the resource called name. */
int64_t resource_value(struct str name, const struct quantity *q);

/* ---- sums that grow: scalars on the heap, names owned ---- */

struct usage {
    struct resources sum;
    uint32_t cap;
};
void usage_fini(struct usage *u);
/* sign 1: adds; -1: takes away. */
void usage_add(struct usage *u, const struct resources *r, int sign);

#endif
