/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities to compute with: 128-bit counts of billionths, exact as quantities are
 * (they have no finer digits). Values beyond 1.7e29 do not fit; who meets one refuses the
 * device, so that nothing is ever given out on a rounded sum.
 */
#ifndef DRAY_ALLOC_AMOUNT_H
#define DRAY_ALLOC_AMOUNT_H

#include <stdbool.h>

#include "num/quantity.h"

typedef __int128 amount;
#define AMOUNT_MAX ((amount)(~(unsigned __int128)0 >> 1))

bool amount_from(const struct quantity *q, amount *out);

/* False on overflow; *sum is untouched then. */
static inline bool amount_add(amount *sum, amount n)
{
    amount r;
    if (__builtin_add_overflow(*sum, n, &r))
        return false;
    *sum = r;
    return true;
}

#endif
