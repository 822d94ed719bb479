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
enum {
    LARGEST_DECIMAL = 18,
    LARGEST_BINARY = 6,
    INT64_TEXT = 20,  /* sign and digits */
    SUFFIX_TEXT = 16, /* "e-1000000", NUL */
};

static size_t put_int64(char *p, int64_t v)
{
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char digits[INT64_TEXT];
    size_t n = 0, len = 0;
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        p[len++] = '-';
    while (n)
        p[len++] = digits[--n];
    return len;
}

static size_t put_text(char *p, const char *text)
{
    size_t n = strlen(text);
    memcpy(p, text, n + 1);
    return n;
}

/* The unscaled value's digits, with room for more; *len of them. */
static char *put_unscaled(const struct quantity *q, size_t more, size_t *len,
                          struct arena *a)
{
    if (!q->big) {
        char *p = arena_alloc(a, INT64_TEXT + more);
        *len = put_int64(p, q->i);
        return p;
    }
    struct decimal_view v;
    decimal_view(&v, q);
    char *p = arena_alloc(a, mpz_sizeinbase(v.z, 10) + 2 + more);
    mpz_get_str(p, 10, v.z);
    *len = strlen(p);
    return p;
}

static struct str print_decimal(const struct quantity *q, struct arena *a)
{
    bool plain = q->format != QUANTITY_DECIMAL_EXPONENT;
    int exponent = q->scale, limit = plain ? LARGEST_DECIMAL : INT16_MAX;
    size_t n, pad = exponent > limit ? (size_t)(exponent - limit) : 0;
    char *p = put_unscaled(q, pad + 2 + SUFFIX_TEXT, &n, a);
    for (; n > 1 && p[n - 1] == '0'; n--)
        exponent++;
    for (; exponent % 3 != 0 || exponent > limit; exponent--)
        p[n++] = '0';
    if (plain) {
        n += put_text(p + n, decimal_units[exponent / 3 + 3]);
        return (struct str){p, n};
    }
    if (exponent != 0) {
        p[n++] = 'e';
        n += put_int64(p + n, exponent);
    }
    p[n] = '\0';
    return (struct str){p, n};
}

static unsigned binary_unit(size_t zero_bits)
{
    return zero_bits / 10 < LARGEST_BINARY ? (unsigned)zero_bits / 10 : LARGEST_BINARY;
}

static struct str print_binary_small(int64_t v, struct arena *a)
{
    unsigned unit = binary_unit((size_t)__builtin_ctzll((uint64_t)v));
    char *p = arena_alloc(a, INT64_TEXT + SUFFIX_TEXT);
    size_t n = put_int64(p, v / ((int64_t)1 << unit * 10));
    n += put_text(p + n, binary_units[unit]);
    return (struct str){p, n};
}

/* Consumes z. */
static struct str print_binary_big(mpz_t z, struct arena *a)
{
    unsigned unit = binary_unit(mpz_scan1(z, 0));
    mpz_tdiv_q_2exp(z, z, unit * 10);
    char *p = arena_alloc(a, mpz_sizeinbase(z, 10) + 2 + SUFFIX_TEXT);
    mpz_get_str(p, 10, z);
    size_t n = strlen(p);
    n += put_text(p + n, binary_units[unit]);
    return (struct str){p, n};
}

/* Below 1024 and with a fraction, binary quantities print as decimal ones. */
static struct str print_binary(const struct quantity *q, struct arena *a)
{
    int64_t v;
    if (!q->big && quantity_scaled_exact(q, 0, &v))
        return v <= -1024 || v >= 1024 ? print_binary_small(v, a) : print_decimal(q, a);
    int scale = q->scale < 0 ? q->scale : 0;
    mpz_t z;
    mpz_init(z);
    decimal_at_scale(z, q, scale);
    bool whole = decimal_div_pow10(z, (unsigned long)-scale);
    struct str s = whole && mpz_cmpabs_ui(z, 1024) >= 0 ? print_binary_big(z, a)
                                                        : print_decimal(q, a);
    mpz_clear(z);
    return s;
}

struct str quantity_print(const struct quantity *q, struct arena *a)
{
    if (q->text)
        return (struct str){q->text, q->text_len};
    if (quantity_sign(q) == 0)
        return STR("0");
    return q->format == QUANTITY_BINARY_SI ? print_binary(q, a) : print_decimal(q, a);
}

struct str quantity_exact(const struct quantity *q, struct arena *a)
{
    size_t len;
    char *digits = put_unscaled(q, 1, &len, a);
    digits[len] = '\0';
    bool negative = *digits == '-';
    digits += negative;
    int n = (int)len - negative, frac = q->scale < 0 ? -q->scale : 0;
    const char *sign = negative ? "-" : "";
    if (q->scale > 0 && quantity_sign(q) != 0)
        return arena_printf(a, "%s%s%.*d", sign, digits, q->scale, 0);
    if (frac == 0)
        return arena_printf(a, "%s%s", sign, digits);
    if (n <= frac)
        return arena_printf(a, "%s0.%.*d%s", sign, frac - n, 0, digits);
    return arena_printf(a, "%s%.*s.%s", sign, n - frac, digits, digits + n - frac);
}
