/* SPDX-License-Identifier: Apache-2.0 */
/* golden/num: quantities and versions, one by one and in pairs. */
#include "golden/golden.h"

#include <stdlib.h>

#include <gmp.h>

#include "num/quantity.h"
#include "num/semver.h"

/* True when there is a value to look at: parsed, and upstream parsed it too. */
static bool check_parsed(struct golden_case *c, bool ok, const struct err *e)
{
    bool want = false;
    doc_get_bool(c->doc, "ok", &want);
    golden_check_bool(c, "ok", want, ok);
    if (!ok && !want)
        golden_check_str(c, "error", doc_get_text(c->doc, "error"), str_from(e->msg));
    return ok && want;
}

static void check_int(struct golden_case *c, const char *field, int64_t got)
{
    int64_t want = 0;
    if (doc_get_int64(c->doc, field, &want))
        golden_check_int(c, field, want, got);
    else
        golden_fail(c, "%s is missing", field);
}

/* text * 10^digits rounded away from zero, or null if int64 cannot hold it. text is
 * upstream's exact decimal; without one (above 80 characters) nothing fits. */
static struct doc scaled_text(struct golden_case *c, struct str text, int digits)
{
    if (!text.p)
        return doc_make_null();
    struct strbuf b = STRBUF_INIT;
    size_t point = str_find_byte(text, '.', 0);
    size_t frac = point == SIZE_MAX ? 0 : text.n - point - 1;
    strbuf_addstr(&b, str_sub(text, 0, point));
    strbuf_addstr(&b, str_sub(text, text.n - frac, text.n));
    for (int i = 0; i < digits; i++)
        strbuf_addc(&b, '0');
    mpz_t z, unit;
    mpz_init_set_str(z, strbuf_cstr(&b), 10);
    mpz_init(unit);
    mpz_ui_pow_ui(unit, 10, frac);
    (mpz_sgn(z) > 0 ? mpz_cdiv_q : mpz_fdiv_q)(z, z, unit);
    struct doc d =
        mpz_fits_slong_p(z) ? doc_make_int(c->arena, mpz_get_si(z)) : doc_make_null();
    mpz_clears(z, unit, NULL);
    strbuf_release(&b);
    return d;
}

/* Upstream's Value, MilliValue and ScaledValue wrap where int64 ends and are wrong for
 * many negative decimal forms (spec 4.8). There its exact text is the judge; dray says
 * "does not fit" instead of wrapping. */
static void check_scaled(struct golden_case *c, const struct quantity *q)
{
    static const struct {
        const char *field;
        int digits;
    } rows[] = {{"value", 0}, {"milliValue", 3}, {"scaledNano", 9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct doc want = scaled_text(c, doc_get_text(c->doc, "exact"), rows[i].digits);
        int64_t v;
        bool fits = quantity_scaled(q, rows[i].digits, &v);
        struct doc got = fits ? doc_make_int(c->arena, v) : doc_make_null();
        const struct doc *upstream = doc_get(c->doc, rows[i].field);
        bool wrong = want.type == DOC_NULL || quantity_sign(q) < 0;
        golden_check_doc(c, rows[i].field, wrong ? &want : upstream, &got);
    }
}

static void check_as_int64(struct golden_case *c, const struct quantity *q)
{
    const struct doc *want = doc_get(c->doc, "asInt64");
    bool fits = false;
    int64_t v = 0, got = 0;
    doc_get_bool(want, "ok", &fits);
    doc_get_int64(want, "v", &v);
    if (golden_check_bool(c, "asInt64.ok", fits, quantity_as_int64(q, &got)) && fits)
        golden_check_int(c, "asInt64.v", v, got);
}

static void check_double(struct golden_case *c, const struct quantity *q)
{
    struct str want = doc_get_text(c->doc, "approxFloat");
    double d = quantity_approx_double(q);
    if (!want.p || strtod(want.p, NULL) != d)
        golden_check_str(c, "approxFloat", want, arena_printf(c->arena, "%.17g", d));
}

static void check_quantity(struct golden_case *c, struct str text)
{
    static const char *const formats[] = {"DecimalSI", "BinarySI", "DecimalExponent"};
    struct quantity q;
    struct err e = ERR_INIT;
    if (check_parsed(c, quantity_parse(text, c->arena, &q, &e), &e)) {
        golden_check_str(c, "canonical", doc_get_text(c->doc, "canonical"),
                         quantity_print(&q, c->arena));
        golden_check_str(c, "format", doc_get_text(c->doc, "format"),
                         str_from(formats[q.format]));
        check_int(c, "sign", quantity_sign(&q));
        check_as_int64(c, &q);
        check_scaled(c, &q);
        check_double(c, &q);
        struct str exact = doc_get_text(c->doc, "exact");
        if (exact.p)
            golden_check_str(c, "exact", exact, quantity_exact(&q, c->arena));
    }
    err_release(&e);
}

static void check_order(struct golden_case *c, int cmp)
{
    bool equal = false;
    doc_get_bool(c->doc, "equal", &equal);
    check_int(c, "cmp", cmp);
    golden_check_bool(c, "equal", equal, cmp == 0);
}

static void check_quantities(struct golden_case *c, struct str left, struct str right)
{
    struct quantity a, b;
    struct err e = ERR_INIT;
    if (check_parsed(c,
                     quantity_parse(left, c->arena, &a, &e) &&
                         quantity_parse(right, c->arena, &b, &e),
                     &e)) {
        struct quantity sum = quantity_add(&a, &b, c->arena);
        struct quantity rest = quantity_sub(&a, &b, c->arena);
        check_order(c, quantity_cmp(&a, &b));
        golden_check_str(c, "add", doc_get_text(c->doc, "add"),
                         quantity_print(&sum, c->arena));
        golden_check_str(c, "sub", doc_get_text(c->doc, "sub"),
                         quantity_print(&rest, c->arena));
    }
    err_release(&e);
}

static void check_version(struct golden_case *c, struct str text)
{
    struct semver v;
    struct err e = ERR_INIT;
    bool normalize = false;
    doc_get_bool(c->doc, "normalize", &normalize);
    if (check_parsed(c, semver_parse(text, normalize, c->arena, &v, &e), &e)) {
        golden_check_str(c, "canonical", doc_get_text(c->doc, "canonical"),
                         semver_print(&v, c->arena));
        check_int(c, "major", (int64_t)v.major);
        check_int(c, "minor", (int64_t)v.minor);
        check_int(c, "patch", (int64_t)v.patch);
    }
    err_release(&e);
}

static void check_versions(struct golden_case *c, struct str left, struct str right)
{
    struct semver a, b;
    struct err e = ERR_INIT;
    if (check_parsed(c,
                     semver_parse(left, false, c->arena, &a, &e) &&
                         semver_parse(right, false, c->arena, &b, &e),
                     &e))
        check_order(c, semver_cmp(&a, &b));
    err_release(&e);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    (void)g;
    bool version = strncmp(c->file, "semver", 6) == 0;
    struct str one = doc_get_text(c->doc, "s");
    struct str a = doc_get_text(c->doc, "a"), b = doc_get_text(c->doc, "b");
    if (one.p)
        (version ? check_version : check_quantity)(c, one);
    else
        (version ? check_versions : check_quantities)(c, a, b);
}

const struct golden_runner golden_num = {.folder = "num", .run_case = run_case};
