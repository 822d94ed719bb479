/* SPDX-License-Identifier: Apache-2.0 */
#include "num/decimal.h"

_Static_assert(sizeof(mp_limb_t) == sizeof(int64_t), "one limb holds any int64");

const int64_t pow10_int64[POW10_INT64_MAX + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

static int sign_of(int64_t v)
{
    return (v > 0) - (v < 0);
}

void decimal_view(struct decimal_view *v, const struct quantity *q)
{
    if (q->big) {
        mpz_roinit_n(v->z, q->big->limbs, q->big->size);
        return;
    }
    v->limb = q->i < 0 ? -(uint64_t)q->i : (uint64_t)q->i;
    mpz_roinit_n(v->z, &v->limb, sign_of(q->i));
}

void decimal_mul_pow10(mpz_t z, unsigned n)
{
    mpz_t factor;
    mpz_init(factor);
    mpz_ui_pow_ui(factor, 10, n);
    mpz_mul(z, z, factor);
    mpz_clear(factor);
}

void decimal_at_scale(mpz_t z, const struct quantity *q, int scale)
{
    struct decimal_view v;
    decimal_view(&v, q);
    mpz_set(z, v.z);
    if (q->scale > scale && mpz_sgn(z) != 0)
        decimal_mul_pow10(z, (unsigned)(q->scale - scale));
}

bool decimal_div_pow10(mpz_t z, unsigned long n)
{
    if (mpz_sgn(z) == 0)
        return true;
    if (n > mpz_sizeinbase(z, 10)) { /* far below one: do not build 10^n */
        mpz_set_si(z, mpz_sgn(z));
        return false;
    }
    mpz_t divisor, rest;
    mpz_inits(divisor, rest, NULL);
    mpz_ui_pow_ui(divisor, 10, n);
    int sign = mpz_sgn(z);
    mpz_tdiv_qr(z, rest, z, divisor);
    bool exact = mpz_sgn(rest) == 0;
    mpz_clears(divisor, rest, NULL);
    if (!exact)
        sign > 0 ? mpz_add_ui(z, z, 1) : mpz_sub_ui(z, z, 1);
    return exact;
}

struct quantity decimal_quantity(const mpz_t z, int scale, uint8_t format,
                                 struct arena *a)
{
    size_t n = mpz_size(z);
    struct quantity_big *big = arena_alloc(a, sizeof *big + n * sizeof(mp_limb_t));
    big->size = mpz_sgn(z) < 0 ? -(int32_t)n : (int32_t)n;
    if (n)
        memcpy(big->limbs, mpz_limbs_read(z), n * sizeof(mp_limb_t));
    return (struct quantity){.big = big, .scale = (int16_t)scale, .format = format};
}
