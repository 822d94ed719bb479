/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <string.h>

size_t bitset_count(const uint64_t *w, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < BITSET_WORDS(n); i++)
        total += (size_t)__builtin_popcountll(w[i]);
    return total;
}

size_t bitset_next(const uint64_t *w, size_t n, size_t from)
{
    if (from >= n)
        return SIZE_MAX;
    size_t i = from / 64;
    uint64_t word = w[i] & (~(uint64_t)0 << (from % 64));
    while (word == 0) {
        if (++i >= BITSET_WORDS(n))
            return SIZE_MAX;
        word = w[i];
    }
    return i * 64 + (size_t)__builtin_ctzll(word);
}

void bitset_fill(uint64_t *w, size_t n)
{
    if (n == 0)
        return;
    memset(w, 0xff, BITSET_WORDS(n) * sizeof *w);
    if (n % 64)
        w[n / 64] = ((uint64_t)1 << (n % 64)) - 1;
}

bool bitset_any(const uint64_t *w, size_t n)
{
    for (size_t i = 0; i < BITSET_WORDS(n); i++)
        if (w[i])
            return true;
    return false;
}
