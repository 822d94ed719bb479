/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to num: both forms of a quantity as one decimal, unscaled * 10^scale, seen
 * through GMP. Looking allocates nothing: the view borrows the limbs.
 */
#ifndef DRAY_NUM_DECIMAL_H
#define DRAY_NUM_DECIMAL_H

#include <gmp.h>

#include "num/quantity.h"

struct quantity_big {
    int32_t size; /* limbs; negative for a negative number, as in GMP */
    mp_limb_t limbs[];
};

/* Points into itself and into the quantity: neither copy it nor outlive the quantity. */
struct decimal_view {
    mpz_t z; /* read-only, never cleared */
    mp_limb_t limb;
};

enum { POW10_INT64_MAX = 18 };
extern const int64_t pow10_int64[POW10_INT64_MAX + 1];

void decimal_view(struct decimal_view *v, const struct quantity *q);
/* The unscaled value at another scale, exactly; scale <= q->scale. z is initialised. */
void decimal_at_scale(mpz_t z, const struct quantity *q, int scale);
void decimal_mul_pow10(mpz_t z, unsigned n);
/* z / 10^n, rounded away from zero; false when digits were lost. */
bool decimal_div_pow10(mpz_t z, unsigned long n);
/* A big form of z * 10^scale; copies the limbs into the arena. */
struct quantity decimal_quantity(const mpz_t z, int scale, uint8_t format,
                                 struct arena *a);

#endif
