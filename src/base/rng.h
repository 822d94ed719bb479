/* SPDX-License-Identifier: Apache-2.0 */
/* SplitMix64: a seeded, reproducible stream of numbers. Not for secrets. */
#ifndef DRAY_BASE_RNG_H
#define DRAY_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline void rng_init(struct rng *r, uint64_t seed)
{
    r->state = seed;
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform enough for tests: lo + next mod (hi - lo + 1), both ends included; lo <= hi. */
static inline int64_t rng_range(struct rng *r, int64_t lo, int64_t hi)
{
    uint64_t n = (uint64_t)hi - (uint64_t)lo + 1; /* 0: every int64 */
    uint64_t x = rng_next(r);
    return (int64_t)((uint64_t)lo + (n ? x % n : x));
}

#endif
