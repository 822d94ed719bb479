/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic and comparison. Two small forms never touch GMP to be compared, nor to be
 * added unless the sum leaves int64.
 */
#include "num/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "num/decimal.h"

/* v * 10^n; false when int64 cannot hold it. */
static bool mul_pow10(int64_t v, int n, int64_t *out)
{
    if (v != 0 && n > 0 &&
        (n > POW10_INT64_MAX || __builtin_mul_overflow(v, pow10_int64[n], &v)))
        return false;
    *out = v;
    return true;
}

struct quantity quantity_from_int64(int64_t v, enum quantity_format format)
{
    return (struct quantity){.i = v, .format = (uint8_t)format};
}

int quantity_sign(const struct quantity *q)
{
    int64_t v = q->big ? q->big->size : q->i;
    return (v > 0) - (v < 0);
}

/* Compares a * 10^n with b, n >= 0. */
static int cmp_scaled(int64_t a, int n, int64_t b)
{
    /* Beyond 19 powers of ten a alone decides, unless it is zero; below, 128 bits do. */
    if (n > POW10_INT64_MAX && a != 0)
        return a > 0 ? 1 : -1;
    __int128 wide = (__int128)a * (a ? pow10_int64[n] : 1);
    return (wide > b) - (wide < b);
}

/* The unscaled value, when int64 can hold it; so it is with many a big form ("1.5Gi"). */
static bool narrow(const struct quantity *q, int64_t *out)
{
    if (!q->big) {
        *out = q->i;
        return true;
    }
    int32_t size = q->big->size;
    if (size < -1 || size > 1 || (size && q->big->limbs[0] > INT64_MAX))
        return false;
    *out = size ? size * (int64_t)q->big->limbs[0] : 0;
    return true;
}

static int min_scale(const struct quantity *a, const struct quantity *b)
{
    return a->scale < b->scale ? a->scale : b->scale;
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
    int64_t i, j;
    if (!a->big && !b->big && a->scale == b->scale)
        return (a->i > b->i) - (a->i < b->i);
    if (narrow(a, &i) && narrow(b, &j))
        return a->scale >= b->scale ? cmp_scaled(i, a->scale - b->scale, j)
                                    : -cmp_scaled(j, b->scale - a->scale, i);
    int sign = quantity_sign(a), other = quantity_sign(b);
    if (sign != other)
        return sign < other ? -1 : 1;
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    decimal_at_scale(x, a, min_scale(a, b));
    decimal_at_scale(y, b, min_scale(a, b));
    int r = mpz_cmp(x, y);
    mpz_clears(x, y, NULL);
    return (r > 0) - (r < 0);
}

/* Upstream's rule of when a sum of small forms stays small. */
static bool add_small(const struct quantity *a, const struct quantity *b,
                      struct quantity *out)
{
    int64_t x = a->i, y = b->i;
    int scale = min_scale(a, b);
    if (y == 0)
        scale = a->scale;
    else if (x == 0)
        scale = b->scale;
    else if (!mul_pow10(x, a->scale - scale, &x) || !mul_pow10(y, b->scale - scale, &y))
        return false;
    if (__builtin_add_overflow(x, y, &x))
        return false;
    out->i = x;
    out->scale = (int16_t)scale;
    return true;
}

struct quantity quantity_add(const struct quantity *a, const struct quantity *b,
                             struct arena *m)
{
    struct quantity sum = {.format = quantity_sign(a) ? a->format : b->format};
    if (!a->big && !b->big && add_small(a, b, &sum))
        return sum;
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    int scale = min_scale(a, b);
    decimal_at_scale(x, a, scale);
    decimal_at_scale(y, b, scale);
    mpz_add(x, x, y);
    sum = decimal_quantity(x, scale, sum.format, m);
    mpz_clears(x, y, NULL);
    return sum;
}

struct quantity quantity_sub(const struct quantity *a, const struct quantity *b,
                             struct arena *m)
{
    struct quantity negated = quantity_neg(b, m);
    return quantity_add(a, &negated, m);
}

/* q * n as a big form. */
static struct quantity mul_big(const struct quantity *q, int64_t n, struct arena *m)
{
    struct decimal_view v;
    mpz_t z;
    decimal_view(&v, q);
    mpz_init(z);
    mpz_mul_si(z, v.z, n);
    struct quantity r = decimal_quantity(z, q->scale, q->format, m);
    mpz_clear(z);
    return r;
}

struct quantity quantity_neg(const struct quantity *q, struct arena *m)
{
    if (q->big || q->i == INT64_MIN)
        return mul_big(q, -1, m);
    return (struct quantity){.i = -q->i, .scale = q->scale, .format = q->format};
}

struct quantity quantity_mul_int64(const struct quantity *q, int64_t n, struct arena *m)
{
    struct quantity r = {.scale = q->scale, .format = q->format};
    int64_t whole;
    if (q->big || __builtin_mul_overflow(q->i, n, &r.i) ||
        (q->scale > 0 && !mul_pow10(r.i, q->scale, &whole)))
        return mul_big(q, n, m);
    return r;
}

/* q * 10^scale. */
static struct quantity shift(const struct quantity *q, int scale, struct arena *m)
{
    struct quantity r = *q;
    r.text = NULL;
    r.text_len = 0;
    if (!q->big && q->scale + scale >= -9 && q->scale + scale <= POW10_INT64_MAX) {
        r.scale = (int16_t)(q->scale + scale);
        return r;
    }
    struct str digits = quantity_exact(q, m);
    quantity_parse(arena_printf(m, "%.*se%d", STR_ARG(digits), scale), m, &r, NULL);
    r.format = q->format;
    r.text = NULL;
    r.text_len = 0;
    return r;
}

struct quantity quantity_mul(const struct quantity *a, const struct quantity *b,
                             struct arena *m)
{
    const struct quantity *small = b->big ? a : b, *other = b->big ? b : a;
    struct quantity r = quantity_mul_int64(other, small->big ? INT64_MAX : small->i, m);
    if (!small->big)
        r = shift(&r, small->scale, m);
    r.format = a->format;
    return r;
}

bool quantity_as_int64(const struct quantity *q, int64_t *out)
{
    return !q->big && q->scale >= 0 && mul_pow10(q->i, q->scale, out);
}

/* value * 10^digits rounded away from zero, on small forms with a negative scale there.
 */
static int64_t div_pow10(int64_t v, int n, bool *exact)
{
    int away = v > 0 ? 1 : -1;
    if (n > POW10_INT64_MAX) {
        *exact = v == 0;
        return *exact ? 0 : away;
    }
    *exact = v % pow10_int64[n] == 0;
    return v / pow10_int64[n] + (*exact ? 0 : away);
}

static bool scale_small(const struct quantity *q, int scale, int64_t *out, bool *exact)
{
    *exact = true;
    if (scale >= 0)
        return mul_pow10(q->i, scale, out);
    *out = div_pow10(q->i, -scale, exact);
    return true;
}

static bool scale_big(const struct quantity *q, int digits, int64_t *out, bool *exact)
{
    int scale = q->scale + digits;
    mpz_t z;
    mpz_init(z);
    decimal_at_scale(z, q, scale >= 0 ? -digits : q->scale);
    *exact = scale >= 0 || decimal_div_pow10(z, (unsigned long)-scale);
    bool fits = mpz_fits_slong_p(z);
    if (fits)
        *out = mpz_get_si(z);
    mpz_clear(z);
    return fits;
}

static bool scale_to(const struct quantity *q, int digits, int64_t *out, bool *exact)
{
    return q->big ? scale_big(q, digits, out, exact)
                  : scale_small(q, q->scale + digits, out, exact);
}

bool quantity_scaled(const struct quantity *q, int digits, int64_t *out)
{
    bool exact;
    return scale_to(q, digits, out, &exact);
}

bool quantity_scaled_exact(const struct quantity *q, int digits, int64_t *out)
{
    bool exact;
    int64_t v;
    if (!scale_to(q, digits, &v, &exact) || !exact)
        return false;
    *out = v;
    return true;
}

double quantity_as_double(const struct quantity *q)
{
    struct decimal_view v;
    decimal_view(&v, q);
    /* The C library rounds decimal texts rightly; sign, digits, "e", scale, NUL. */
    size_t room = mpz_sizeinbase(v.z, 10) + 16;
    char *text = mem_alloc(room);
    mpz_get_str(text, 10, v.z);
    size_t n = strlen(text);
    snprintf(text + n, room - n, "e%d", q->scale);
    double d = strtod(text, NULL);
    free(text);
    return d;
}

/* The nearest double: 64 leading bits and a sticky one decide the rounding. */
static double nearest_double(const mpz_t z)
{
    size_t bits = mpz_sizeinbase(z, 2);
    long shift = bits > 64 ? (long)bits - 64 : 0;
    mpz_t top;
    mpz_init(top);
    mpz_tdiv_q_2exp(top, z, (mp_bitcnt_t)shift);
    uint64_t head = mpz_get_ui(top);
    if (shift && mpz_scan1(z, 0) < (mp_bitcnt_t)shift)
        head |= 1;
    mpz_clear(top);
    double d = ldexp((double)head, (int)shift);
    return mpz_sgn(z) < 0 ? -d : d;
}

/* Powers of ten as upstream's language makes them: a product of two table entries. */
static double pow10_double(int n)
{
    static const double ones[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
        1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
        1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    };
    static const double up[] = {1e0,   1e32,  1e64,  1e96,  1e128,
                                1e160, 1e192, 1e224, 1e256, 1e288};
    static const double down[] = {1e-0,   1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                  1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
    if (n > 308)
        return HUGE_VAL;
    if (n >= 0)
        return up[n / 32] * ones[n % 32];
    return n < -323 ? 0 : down[-n / 32] / ones[-n % 32];
}

double quantity_approx_double(const struct quantity *q)
{
    struct decimal_view v;
    decimal_view(&v, q);
    double base = nearest_double(v.z);
    /* Zero times an infinite power would be no number at all. */
    return base == 0 ? 0 : base * pow10_double(q->scale);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* Takes factors of ten into the scale. */
static uint64_t hash_small(int64_t v, int scale)
{
    while (v != 0 && v % 10 == 0) {
        v /= 10;
        scale++;
    }
    return mix(mix(1, (uint64_t)v), v ? (uint64_t)scale : 0);
}

uint64_t quantity_hash(const struct quantity *q)
{
    if (!q->big)
        return hash_small(q->i, q->scale);
    struct decimal_view v;
    mpz_t z;
    int scale = q->scale;
    decimal_view(&v, q);
    mpz_init_set(z, v.z);
    while (mpz_sgn(z) != 0 && mpz_divisible_ui_p(z, 10)) {
        mpz_divexact_ui(z, z, 10);
        scale++;
    }
    uint64_t h = 2;
    if (mpz_fits_slong_p(z))
        h = hash_small(mpz_get_si(z), scale);
    else
        for (size_t i = 0; i < mpz_size(z); i++)
            h = mix(h, mpz_getlimbn(z, (mp_size_t)i));
    mpz_clear(z);
    return h;
}

struct quantity quantity_dup(const struct quantity *q, struct arena *a)
{
    struct quantity r = *q;
    if (q->text)
        r.text = arena_str(a, (struct str){q->text, q->text_len}).p;
    if (q->big) {
        struct decimal_view v;
        decimal_view(&v, q);
        r = decimal_quantity(v.z, q->scale, q->format, a);
    }
    return r;
}

const uint64_t *quantity_words(const struct quantity *q, uint32_t *n)
{
    _Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t), "GMP with limbs of 64 bits");
    *n = q->big ? (uint32_t)abs(q->big->size) : 0;
    return q->big ? q->big->limbs : NULL;
}
