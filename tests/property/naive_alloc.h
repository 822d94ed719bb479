/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator once more, written for clarity: every rule of spec 3 as it stands there,
 * every state computed from the picks so far, nothing pruned, nothing kept. It is slow on
 * purpose; what it answers is what src/alloc must answer.
 */
#ifndef DRAY_TESTS_NAIVE_ALLOC_H
#define DRAY_TESTS_NAIVE_ALLOC_H

#include "alloc/alloc.h"

struct naive_held { /* something allocated */
    struct str driver, pool, device;
    bool share;
    const struct view_amount *consumed;
    uint32_t nconsumed;
};

struct naive_input {
    const struct alloc_features *features;
    const struct view_node *node;
    const struct view_slice *const *slices;
    uint32_t nslices;
    const struct view_class *const *classes;
    uint32_t nclasses;
    const struct view_claim *const *claims;
    uint32_t nclaims;
    const struct naive_held *held;
    uint32_t nheld;
    /* The test's own idea of what its expressions say. */
    enum device_verdict (*match)(struct str expression, const struct view_device *d);
    uint64_t max_steps;
};

enum { NAIVE_MAX_PICKS = 160 };

struct naive_pick {
    uint32_t claim;
    const struct view_alternative *alt;
    const struct view_slice *slice;
    const struct view_device *device;
};

struct naive_output {
    enum alloc_status status;
    struct naive_pick picks[NAIVE_MAX_PICKS];
    uint32_t npicks;
    uint64_t steps;
};

void naive_alloc(const struct naive_input *in, struct naive_output *out);

#endif
