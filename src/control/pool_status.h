/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver's pools have and what of it is free, as a ResourcePoolStatusRequest asks
 * (spec 6.3). Pure: documents in, a status out.
 */
#ifndef DRAY_CONTROL_POOL_STATUS_H
#define DRAY_CONTROL_POOL_STATUS_H

#include "base/arena.h"
#include "doc/doc.h"

struct pool_status_input { /* lists of objects; NULL: none */
    const struct doc *const *slices, *const *claims, *const *rules;
    uint32_t nslices, nclaims, nrules; /* rules: DeviceTaintRules, as far as they count */
};

/* The status, in the arena. now: "2026-11-30T12:00:00Z". *incomplete: some pool is not
 * published as a whole yet, so that it is better asked for later. */
struct doc pool_status_compute(const struct doc *request,
                               const struct pool_status_input *in, struct str now,
                               struct arena *a, bool *incomplete);

#endif
