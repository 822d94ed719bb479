/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a quantity (spec 4.8). Upstream's grammar is laxer than its documentation, and
 * which of the two forms a text ends up in is visible to users; both are kept here to the
 * letter.
 */
#include <stdlib.h>

#include "num/decimal.h"

enum {
    MAX_EXPONENT = 1000, /* absolute; upstream has no limit and hangs */
    SMALL_DIGITS = 18,   /* digits of a decimal that are sure to fit an int64 */
    NANO = -9,           /* the finest scale there is */
    MIN_ZERO_SCALE = -1000,
};

#define FORMAT_WRONG                                                                     \
    "quantities must match the regular expression "                                      \
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define SUFFIX_WRONG "unable to parse quantity's suffix"
#define NUMBER_WRONG "unable to parse numeric part of quantity"

/* A text cut into its parts. */
struct parts {
    struct str number; /* sign, digits, point */
    struct str whole;  /* digits before the point without leading zeros; "0" if none */
    struct str frac;   /* digits behind the point */
    struct str suffix;
    bool negative;
};

/* What a suffix stands for: base^exponent. */
struct unit {
    int base, exponent;
    enum quantity_format format;
};

static const struct {
    char text[3];
    uint8_t len, base;
    int8_t exponent;
} suffixes[] = {
    {"", 0, 10, 0},   {"Gi", 2, 2, 30}, {"Mi", 2, 2, 20}, {"Ki", 2, 2, 10},
    {"m", 1, 10, -3}, {"k", 1, 10, 3},  {"M", 1, 10, 6},  {"G", 1, 10, 9},
    {"Ti", 2, 2, 40}, {"T", 1, 10, 12}, {"n", 1, 10, -9}, {"u", 1, 10, -6},
    {"P", 1, 10, 15}, {"E", 1, 10, 18}, {"Pi", 2, 2, 50}, {"Ei", 2, 2, 60},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_sign(char c)
{
    return c == '+' || c == '-';
}

/* One bit for each letter, from '@' to DEL: "EGKMPT" and "eikmnu". */
static bool is_suffix_letter(char c)
{
    const uint64_t letters = UINT64_C(1) << ('E' - 64) | UINT64_C(1) << ('G' - 64) |
                             UINT64_C(1) << ('K' - 64) | UINT64_C(1) << ('M' - 64) |
                             UINT64_C(1) << ('P' - 64) | UINT64_C(1) << ('T' - 64) |
                             UINT64_C(1) << ('e' - 64) | UINT64_C(1) << ('i' - 64) |
                             UINT64_C(1) << ('k' - 64) | UINT64_C(1) << ('m' - 64) |
                             UINT64_C(1) << ('n' - 64) | UINT64_C(1) << ('u' - 64);
    unsigned at = (unsigned char)c - 64u;
    return at < 64 && (letters >> at & 1);
}

/* str_sub of a range that is there. */
static inline struct str range(struct str s, size_t from, size_t to)
{
    return (struct str){s.p + from, to - from};
}

static size_t skip_digits(struct str s, size_t i)
{
    while (i < s.n && is_digit(s.p[i]))
        i++;
    return i;
}

static size_t skip_letters(struct str s, size_t i)
{
    while (i < s.n && is_suffix_letter(s.p[i]))
        i++;
    return i;
}

static bool split(struct str s, struct parts *out)
{
    size_t i = s.n && is_sign(s.p[0]);
    out->negative = i && s.p[0] == '-';
    while (i < s.n && s.p[i] == '0')
        i++;
    size_t start = i;
    i = skip_digits(s, i);
    out->whole = i > start ? range(s, start, i) : STR("0");
    start = i;
    if (i < s.n && s.p[i] == '.')
        i = skip_digits(s, ++start);
    out->frac = range(s, start, i);
    out->number = range(s, 0, i);
    start = i;
    i = skip_letters(s, i);
    i += i < s.n && is_sign(s.p[i]);
    i = skip_digits(s, i);
    out->suffix = range(s, start, i);
    return s.n > 0 && i == s.n;
}

/* Digits with an optional sign; saturates *out at a value beyond any limit. False when
 * the text is no int64. */
static bool parse_exponent(struct str s, int *out)
{
    bool negative = s.n && s.p[0] == '-';
    size_t i = s.n && is_sign(s.p[0]);
    int64_t v = 0;
    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        int digit = s.p[i] - '0';
        if (!is_digit(s.p[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, digit, &v))
            return false;
    }
    if (!negative && v == INT64_MIN)
        return false;
    int size = v < -MAX_EXPONENT ? MAX_EXPONENT + 1 : (int)-v;
    *out = negative ? -size : size;
    return true;
}

static bool parse_unit(struct str s, struct unit *u, struct err *e)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (s.n == suffixes[i].len && (s.n < 1 || s.p[0] == suffixes[i].text[0]) &&
            (s.n < 2 || s.p[1] == suffixes[i].text[1])) {
            u->base = suffixes[i].base;
            u->exponent = suffixes[i].exponent;
            u->format = u->base == 2 ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI;
            return true;
        }
    *u = (struct unit){.base = 10, .format = QUANTITY_DECIMAL_EXPONENT};
    if (s.n < 2 || (s.p[0] | 0x20) != 'e' ||
        !parse_exponent(str_sub(s, 1, s.n), &u->exponent))
        return err_set(e, ERR_INVALID, SUFFIX_WRONG);
    if (abs(u->exponent) > MAX_EXPONENT)
        return err_set(e, ERR_LIMIT, "exponent of quantity must be within -%d and %d",
                       MAX_EXPONENT, MAX_EXPONENT);
    return true;
}

/* Upstream estimates, it does not count: some numbers that would fit are kept big. */
static bool fits_small(const struct parts *p, const struct unit *u)
{
    size_t digits = p->whole.n + p->frac.n;
    if (u->base == 10)
        return digits <= SMALL_DIGITS && u->exponent - (int)p->frac.n >= NANO;
    return p->frac.n == 0 && digits <= (size_t)14 &&
           (int)digits <= 14 - u->exponent * 3 / 10;
}

static int64_t digits_value(const struct parts *p)
{
    int64_t v = 0;
    for (size_t i = 0; i < p->whole.n; i++)
        v = v * 10 + (p->whole.p[i] - '0');
    for (size_t i = 0; i < p->frac.n; i++)
        v = v * 10 + (p->frac.p[i] - '0');
    return v;
}

/* Upstream keeps texts that it takes for canonical, oddities included ("1.", "+5"). */
static bool keeps_text(const struct parts *p, const struct unit *u,
                       const struct quantity *q, int64_t digits)
{
    if (u->base == 2)
        return digits % 8 != 0;
    return q->scale % 3 == 0 && digits % 1000 != 0 && p->whole.p[0] != '0';
}

static struct quantity parse_small(struct str text, const struct parts *p,
                                   const struct unit *u, struct arena *a)
{
    int64_t digits = digits_value(p);
    struct quantity q = {.format = (uint8_t)u->format};
    q.i = u->base == 2 ? digits << u->exponent : digits;
    q.scale = (int16_t)(u->base == 2 ? 0 : u->exponent - (int)p->frac.n);
    if (keeps_text(p, u, &q, digits)) {
        q.text = arena_str(a, text).p;
        q.text_len = (uint32_t)text.n;
    }
    if (p->negative)
        q.i = -q.i;
    return q;
}

static void set_digits(mpz_t z, const struct parts *p)
{
    if (p->whole.n + p->frac.n <= SMALL_DIGITS) {
        mpz_set_si(z, digits_value(p));
        return;
    }
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, p->whole);
    strbuf_addstr(&b, p->frac);
    mpz_set_str(z, strbuf_cstr(&b), 10);
    strbuf_release(&b);
}

/* Brings z * 10^scale to nano, rounded away from zero. A zero keeps the scale it was
 * written with, as upstream's does (0.0 is not 0.000000000). */
static int round_to_nano(mpz_t z, long scale)
{
    if (mpz_sgn(z) == 0)
        return scale < MIN_ZERO_SCALE ? MIN_ZERO_SCALE : (int)scale;
    if (scale >= NANO)
        decimal_mul_pow10(z, (unsigned)(scale - NANO));
    else
        decimal_div_pow10(z, (unsigned long)(NANO - scale));
    return NANO;
}

/* Binary values end at the largest int64; below one they print as decimals. */
static void bound_binary(mpz_t z, int *scale, enum quantity_format *format)
{
    enum { SURE_BITS = 63 + 29 }; /* less than INT64_MAX * 10^9 */
    if (*scale == NANO && mpz_sizeinbase(z, 2) <= SURE_BITS &&
        mpz_cmp_si(z, pow10_int64[-NANO]) >= 0)
        return;
    mpz_t limit;
    mpz_init_set_si(limit, INT64_MAX);
    decimal_mul_pow10(limit, (unsigned)-*scale);
    if (mpz_cmp(z, limit) > 0) {
        mpz_set_si(z, INT64_MAX);
        *scale = 0;
    }
    mpz_set_ui(limit, 1);
    decimal_mul_pow10(limit, (unsigned)-*scale);
    if (mpz_sgn(z) > 0 && mpz_cmp(z, limit) < 0)
        *format = QUANTITY_DECIMAL_SI;
    mpz_clear(limit);
}

static struct quantity parse_big(const struct parts *p, const struct unit *u,
                                 struct arena *a)
{
    enum quantity_format format = u->format;
    long scale = -(long)p->frac.n;
    mpz_t z;
    mpz_init(z);
    set_digits(z, p);
    if (u->base == 2)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)u->exponent);
    else
        scale += u->exponent;
    int rounded = round_to_nano(z, scale);
    if (format == QUANTITY_BINARY_SI)
        bound_binary(z, &rounded, &format);
    if (p->negative)
        mpz_neg(z, z);
    struct quantity q = decimal_quantity(z, rounded, (uint8_t)format, a);
    mpz_clear(z);
    return q;
}

static bool has_digit(struct str number)
{
    for (size_t i = 0; i < number.n; i++)
        if (is_digit(number.p[i]))
            return true;
    return false;
}

bool quantity_parse(struct str text, struct arena *a, struct quantity *out, struct err *e)
{
    struct parts p;
    struct unit u;
    if (!split(text, &p))
        return err_set(e, ERR_INVALID, FORMAT_WRONG);
    if (!parse_unit(p.suffix, &u, e))
        return false;
    if (fits_small(&p, &u))
        *out = parse_small(text, &p, &u, a);
    else if (has_digit(p.number))
        *out = parse_big(&p, &u, a);
    else
        return err_set(e, ERR_INVALID, NUMBER_WRONG);
    return true;
}
