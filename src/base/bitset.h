/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-size sets of small numbers, as arrays of 64-bit words owned by the caller
 * (usually in an arena: ARENA_ARRAY(a, uint64_t, BITSET_WORDS(n))). Bits beyond n stay
 * zero.
 */
#ifndef DRAY_BASE_BITSET_H
#define DRAY_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITSET_WORDS(n) (((size_t)(n) + 63) / 64)

static inline bool bit_test(const uint64_t *w, size_t i)
{
    return w[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *w, size_t i)
{
    w[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void bit_clear(uint64_t *w, size_t i)
{
    w[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* Members in [0, n). */
size_t bitset_count(const uint64_t *w, size_t n);
/* Smallest member >= from and < n, or SIZE_MAX. */
size_t bitset_next(const uint64_t *w, size_t n, size_t from);
void bitset_fill(uint64_t *w, size_t n); /* {0 .. n-1} */
bool bitset_any(const uint64_t *w, size_t n);

#endif
