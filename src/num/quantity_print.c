/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical texts (spec 4.8): the largest suffix that leaves an integer. Where upstream
 * has no suffix any more (10^21, 2^70 and up) it prints none, and so another number; here
 * the digits grow instead.
 */
#include "num/decimal.h"

static const char *const decimal_units[] = {"n", "u", "m", "",  "k",
                                            "M", "G", "T", "P", "E"};
static const char *const binary_units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
enum { LARGEST_DECIMAL = 18, LARGEST_BINARY = 6 };

/* z * 10^exponent: digits without zeros at the end, then as many as make the exponent a
 * multiple of three no larger than limit. */
struct digits {
    char *p;
    int exponent;
};

static struct digits digits_of(const mpz_t z, int exponent, int limit, struct arena *a)
{
    size_t len = mpz_sizeinbase(z, 10) + 2; /* a sign, a NUL */
    size_t pad = exponent > limit ? (size_t)(exponent - limit) : 0;
    struct digits d = {arena_alloc(a, len + pad + 2), exponent};
    mpz_get_str(d.p, 10, z);
    size_t n = strlen(d.p);
    while (n > 1 && d.p[n - 1] == '0') {
        n--;
        d.exponent++;
    }
    while (d.exponent % 3 != 0 || d.exponent > limit) {
        d.p[n++] = '0';
        d.exponent--;
    }
    d.p[n] = '\0';
    return d;
}

static struct str print_decimal(const struct quantity *q, struct arena *a)
{
    struct decimal_view v;
    decimal_view(&v, q);
    bool plain = q->format != QUANTITY_DECIMAL_EXPONENT;
    struct digits d = digits_of(v.z, q->scale, plain ? LARGEST_DECIMAL : INT16_MAX, a);
    if (plain)
        return arena_printf(a, "%s%s", d.p, decimal_units[d.exponent / 3 + 3]);
    if (d.exponent == 0)
        return str_from(d.p);
    return arena_printf(a, "%se%d", d.p, d.exponent);
}

/* Integers of 1024 and more; consumes z. */
static struct str print_binary(mpz_t z, struct arena *a)
{
    size_t unit = mpz_scan1(z, 0) / 10;
    if (unit > LARGEST_BINARY)
        unit = LARGEST_BINARY;
    mpz_tdiv_q_2exp(z, z, unit * 10);
    char *digits = arena_alloc(a, mpz_sizeinbase(z, 10) + 2);
    mpz_get_str(digits, 10, z);
    return arena_printf(a, "%s%s", digits, binary_units[unit]);
}

/* Below 1024 and with a fraction, binary quantities print as decimal ones. */
static bool integer_for_binary(mpz_t z, const struct quantity *q)
{
    int scale = q->scale < 0 ? q->scale : 0;
    decimal_at_scale(z, q, scale);
    return decimal_div_pow10(z, (unsigned long)-scale) && mpz_cmpabs_ui(z, 1024) >= 0;
}

struct str quantity_print(const struct quantity *q, struct arena *a)
{
    if (q->text)
        return (struct str){q->text, q->text_len};
    if (quantity_sign(q) == 0)
        return STR("0");
    if (q->format != QUANTITY_BINARY_SI)
        return print_decimal(q, a);
    mpz_t z;
    mpz_init(z);
    struct str s = integer_for_binary(z, q) ? print_binary(z, a) : print_decimal(q, a);
    mpz_clear(z);
    return s;
}

struct str quantity_exact(const struct quantity *q, struct arena *a)
{
    struct decimal_view v;
    decimal_view(&v, q);
    char *digits = arena_alloc(a, mpz_sizeinbase(v.z, 10) + 2);
    mpz_get_str(digits, 10, v.z);
    bool negative = *digits == '-';
    digits += negative;
    int n = (int)strlen(digits), frac = q->scale < 0 ? -q->scale : 0;
    const char *sign = negative ? "-" : "";
    if (q->scale > 0 && quantity_sign(q) != 0)
        return arena_printf(a, "%s%s%.*d", sign, digits, q->scale, 0);
    if (frac == 0)
        return arena_printf(a, "%s%s", sign, digits);
    if (n <= frac)
        return arena_printf(a, "%s0.%.*d%s", sign, frac - n, 0, digits);
    return arena_printf(a, "%s%.*s.%s", sign, n - frac, digits, digits + n - frac);
}
