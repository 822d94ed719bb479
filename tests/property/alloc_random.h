/* SPDX-License-Identifier: Apache-2.0 */
/* Random inputs of the allocator, small enough for the naive search. */
#ifndef DRAY_TESTS_ALLOC_RANDOM_H
#define DRAY_TESTS_ALLOC_RANDOM_H

#include "property/naive_alloc.h"

/* What a family of inputs is made of; each is a chance in percent. */
struct random_mix {
    uint32_t all, alternatives, admin, selectors, errors, taints, counters, groups;
    uint32_t capacity, constraints, lists, binding, held, pools, per_device, twins;
    uint32_t features_off;
    uint32_t max_devices, max_claims, max_count;
};

/* A little of everything that plans and policies have to do with. */
extern const struct random_mix random_mix_of_all;

struct random_world {
    struct alloc_features features;
    struct device_names names;
    struct arena arena;
    struct naive_input in;
};

void random_world_init(struct random_world *w, const struct random_mix *mix,
                       uint64_t seed);
void random_world_fini(struct random_world *w);
/* The inventory of the world, with what is held charged. */
struct alloc_inventory *random_inventory(struct random_world *w);

#endif
