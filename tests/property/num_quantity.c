/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities against GMP's rationals: texts from upstream's grammar, drawn with a seed,
 * read by a reader of our own that knows nothing of the two forms.
 */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include <gmp.h>

#include "base/rng.h"
#include "num/quantity.h"

enum { ROUNDS = 20000 };

static struct rng rng;
static struct arena arena;

/* ---- Texts ---- */

static const char *const suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                       "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

static void add_digits(struct strbuf *b, int64_t n)
{
    bool zeros = rng_range(&rng, 0, 3) == 0;
    for (; n > 0; n--)
        strbuf_addc(b, (char)('0' + (zeros ? 0 : rng_range(&rng, 0, 9))));
}

static void add_exponent(struct strbuf *b)
{
    int64_t reach = rng_range(&rng, 0, 9) == 0 ? 1000 : 24;
    strbuf_addf(b, "%c%d", rng_range(&rng, 0, 1) ? 'e' : 'E',
                (int)rng_range(&rng, -reach, reach));
}

static struct str random_text(void)
{
    struct strbuf b = STRBUF_INIT;
    int64_t sign = rng_range(&rng, 0, 5);
    if (sign < 2)
        strbuf_addc(&b, sign ? '-' : '+');
    strbuf_addc(&b, (char)('0' + rng_range(&rng, 0, 9)));
    add_digits(&b, rng_range(&rng, 0, rng_range(&rng, 0, 4) ? 6 : 30));
    if (rng_range(&rng, 0, 2) == 0) {
        strbuf_addc(&b, '.');
        add_digits(&b, rng_range(&rng, 0, rng_range(&rng, 0, 4) ? 4 : 20));
    }
    if (rng_range(&rng, 0, 5) == 0)
        add_exponent(&b);
    else
        strbuf_adds(&b, suffixes[rng_range(&rng, 0, UNIT_COUNT(suffixes) - 1)]);
    struct str s = arena_str(&arena, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static struct quantity parsed(struct str text)
{
    struct quantity q;
    struct err e = ERR_INIT;
    if (!quantity_parse(text, &arena, &q, &e))
        fail_msg("%.*s: %s", STR_ARG(text), err_text(&e));
    return q;
}

/* ---- The reference ---- */

/* out *= base^exponent */
static void scale(mpq_t out, unsigned base, long exponent)
{
    mpq_t factor;
    mpq_init(factor);
    mpz_ui_pow_ui(mpq_numref(factor), base, (unsigned long)labs(exponent));
    if (exponent < 0)
        mpq_div(out, out, factor);
    else
        mpq_mul(out, out, factor);
    mpq_clear(factor);
}

/* Digits with an optional sign and point, up to the first other character. Returns it. */
static const char *read_number(mpq_t out, const char *p)
{
    bool negative = *p == '-';
    long frac = 0;
    bool point = false;
    mpq_set_ui(out, 0, 1);
    p += *p == '-' || *p == '+';
    for (; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        mpz_mul_ui(mpq_numref(out), mpq_numref(out), 10);
        mpz_add_ui(mpq_numref(out), mpq_numref(out), (unsigned)(*p - '0'));
        frac += point;
    }
    scale(out, 10, -frac);
    if (negative)
        mpq_neg(out, out);
    return p;
}

/* To an integer, away from zero. */
static void round_away(mpq_t q)
{
    mpz_t z;
    mpz_init(z);
    (mpq_sgn(q) < 0 ? mpz_fdiv_q : mpz_cdiv_q)(z, mpq_numref(q), mpq_denref(q));
    mpq_set_z(q, z);
    mpz_clear(z);
}

static void cap_binary(mpq_t q)
{
    mpq_t limit;
    mpq_init(limit);
    mpq_set_si(limit, mpq_sgn(q) < 0 ? -INT64_MAX : INT64_MAX, 1);
    if (mpq_sgn(q) * mpq_cmp(q, limit) > 0)
        mpq_set(q, limit);
    mpq_clear(limit);
}

static void read_text(mpq_t out, struct str text)
{
    const char *suffix = read_number(out, text.p);
    int unit = -1;
    for (int i = 0; i < (int)UNIT_COUNT(suffixes); i++)
        if (strcmp(suffix, suffixes[i]) == 0)
            unit = i;
    if (unit >= 10)
        scale(out, 1024, unit - 9);
    else if (unit >= 4)
        scale(out, 1000, unit - 3);
    else if (unit >= 1)
        scale(out, 1000, unit - 4);
    else if (unit < 0)
        scale(out, 10, strtol(suffix + 1, NULL, 10));
    scale(out, 10, 9);
    round_away(out);
    scale(out, 10, -9);
    if (unit >= 10)
        cap_binary(out);
}

static void value_of(mpq_t out, const struct quantity *q)
{
    struct str exact = quantity_exact(q, &arena);
    read_number(out, exact.p);
}

static bool has_value(const struct quantity *q, const mpq_t want)
{
    mpq_t got;
    mpq_init(got);
    value_of(got, q);
    bool same = mpq_equal(got, want);
    mpq_clear(got);
    return same;
}

/* ---- Properties ---- */

/* Runs f on ROUNDS pairs of texts; every f says itself what it expects. */
struct pair {
    struct str text[2];
    struct quantity q[2];
    mpq_t v[2];
};

static void each_pair(void (*f)(struct pair *p))
{
    struct pair p;
    mpq_inits(p.v[0], p.v[1], NULL);
    rng_init(&rng, 20261);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            p.text[i] = random_text();
            p.q[i] = parsed(p.text[i]);
            read_text(p.v[i], p.text[i]);
        }
        f(&p);
        arena_reset(&arena);
    }
    mpq_clears(p.v[0], p.v[1], NULL);
}

#define EXPECT(p, cond)                                                                  \
    do {                                                                                 \
        if (!(cond))                                                                     \
            fail_msg("%s, %s: %s", (p)->text[0].p, (p)->text[1].p, #cond);               \
    } while (0)

static void parse_is_exact(struct pair *p)
{
    EXPECT(p, has_value(&p->q[0], p->v[0]));
    EXPECT(p, quantity_sign(&p->q[0]) == mpq_sgn(p->v[0]));
}

static void print_reads_back(struct pair *p)
{
    struct quantity plain = p->q[0];
    plain.text = NULL; /* not what was kept, what would be printed */
    struct quantity again = parsed(quantity_print(&plain, &arena));
    struct quantity kept = parsed(quantity_print(&p->q[0], &arena));
    EXPECT(p, has_value(&again, p->v[0]) && has_value(&kept, p->v[0]));
    /* Canonical texts are fixed points. */
    again.text = NULL;
    EXPECT(p, str_eq(quantity_print(&again, &arena), quantity_print(&plain, &arena)));
}

static void order_is_total(struct pair *p)
{
    int want = mpq_cmp(p->v[0], p->v[1]);
    want = (want > 0) - (want < 0);
    EXPECT(p, quantity_cmp(&p->q[0], &p->q[1]) == want);
    EXPECT(p, quantity_cmp(&p->q[1], &p->q[0]) == -want);
    EXPECT(p, want != 0 || quantity_hash(&p->q[0]) == quantity_hash(&p->q[1]));
    EXPECT(p, quantity_cmp(&p->q[0], &p->q[0]) == 0);
}

static void sums_are_exact(struct pair *p)
{
    struct quantity sum = quantity_add(&p->q[0], &p->q[1], &arena);
    struct quantity rest = quantity_sub(&p->q[0], &p->q[1], &arena);
    struct quantity back = quantity_sub(&sum, &p->q[1], &arena);
    struct quantity negated = quantity_neg(&p->q[0], &arena);
    mpq_t v;
    mpq_init(v);
    mpq_add(v, p->v[0], p->v[1]);
    EXPECT(p, has_value(&sum, v));
    mpq_sub(v, p->v[0], p->v[1]);
    EXPECT(p, has_value(&rest, v));
    mpq_neg(v, p->v[0]);
    EXPECT(p, has_value(&negated, v));
    EXPECT(p, quantity_cmp(&back, &p->q[0]) == 0);
    EXPECT(p, quantity_hash(&back) == quantity_hash(&p->q[0]));
    mpq_clear(v);
}

static void products_are_exact(struct pair *p)
{
    int64_t n = (int64_t)rng_next(&rng) >> rng_range(&rng, 0, 63);
    struct quantity product = quantity_mul_int64(&p->q[0], n, &arena);
    mpq_t v;
    mpq_init(v);
    mpq_set_si(v, n, 1);
    mpq_mul(v, v, p->v[0]);
    EXPECT(p, has_value(&product, v));
    mpq_clear(v);
}

static void scaling_rounds_away(struct pair *p)
{
    int digits = (int)rng_range(&rng, -25, 25);
    mpq_t v, rounded;
    mpq_inits(v, rounded, NULL);
    mpq_set(v, p->v[0]);
    scale(v, 10, digits);
    mpq_set(rounded, v);
    round_away(rounded);
    int64_t want = 7, got = 7, exact = 7;
    bool fits = mpz_fits_slong_p(mpq_numref(rounded));
    if (fits)
        want = mpz_get_si(mpq_numref(rounded));
    EXPECT(p, quantity_scaled(&p->q[0], digits, &got) == fits && got == want);
    bool whole = fits && mpq_equal(v, rounded);
    EXPECT(p, quantity_scaled_exact(&p->q[0], digits, &exact) == whole);
    EXPECT(p, exact == (whole ? want : 7));
    if (digits == 0 && quantity_as_int64(&p->q[0], &got))
        EXPECT(p, whole && got == want);
    mpq_clears(v, rounded, NULL);
}

/* Neither neighbour of the double is nearer. */
static void double_is_nearest(struct pair *p)
{
    double d = quantity_as_double(&p->q[0]);
    if (!isfinite(d))
        return;
    mpq_t best, other;
    mpq_inits(best, other, NULL);
    mpq_set_d(best, d);
    mpq_sub(best, best, p->v[0]);
    mpq_abs(best, best);
    for (int side = -1; side <= 1; side += 2) {
        double next = nextafter(d, side * HUGE_VAL);
        if (!isfinite(next))
            continue;
        mpq_set_d(other, next);
        mpq_sub(other, other, p->v[0]);
        mpq_abs(other, other);
        EXPECT(p, mpq_cmp(best, other) <= 0);
    }
    mpq_clears(best, other, NULL);
    double approx = quantity_approx_double(&p->q[0]);
    EXPECT(p, fabs(approx - d) <= fabs(d) * 4e-16);
}

static void copies_are_equal(struct pair *p)
{
    struct arena other;
    arena_init(&other);
    struct quantity q = quantity_dup(&p->q[0], &other);
    EXPECT(p, has_value(&q, p->v[0]));
    EXPECT(p, str_eq(quantity_print(&q, &arena), quantity_print(&p->q[0], &arena)));
    arena_fini(&other);
}

#define PROPERTY(name)                                                                   \
    static void test_##name(void **state)                                                \
    {                                                                                    \
        each_pair(name);                                                                 \
    }
PROPERTY(parse_is_exact)
PROPERTY(print_reads_back)
PROPERTY(order_is_total)
PROPERTY(sums_are_exact)
PROPERTY(products_are_exact)
PROPERTY(scaling_rounds_away)
PROPERTY(double_is_nearest)
PROPERTY(copies_are_equal)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_is_exact),
        cmocka_unit_test(test_print_reads_back),
        cmocka_unit_test(test_order_is_total),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_products_are_exact),
        cmocka_unit_test(test_scaling_rounds_away),
        cmocka_unit_test(test_double_is_nearest),
        cmocka_unit_test(test_copies_are_equal),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
