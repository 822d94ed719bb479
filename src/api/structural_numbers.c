/* SPDX-License-Identifier: Apache-2.0 */
#include "api/structural_numbers.h"

#include <float.h>
#include <math.h>

bool schema_is_integer(double d)
{
    double safe = 9007199254740991.0, rounded = round(d);
    if (!isfinite(d) || d < -safe || d > safe)
        return false;
    return d == rounded || (rounded != 0 && fabs(d - rounded) < 1e-9 * fabs(rounded));
}

int64_t schema_truncate(double d)
{
    return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
}

/* ---- Ranges of types ---- */

/* Whether the number is one of the type and format: printed, and read again. */
static bool in_range(const struct schema_number_check *c, struct schema_number n)
{
    if (c->type == SCHEMA_INTEGER) {
        if (!n.whole && (n.d != floor(n.d) || n.d < -0x1p63 || n.d >= 0x1p63))
            return false;
        int64_t i = n.whole ? n.i : (int64_t)n.d;
        return !str_is(c->format, "int32") || (i >= INT32_MIN && i <= INT32_MAX);
    }
    return !str_is(c->format, "float") || fabs(n.d) < FLT_MAX + 0x1p103;
}

static void out_of_range(const struct schema_number_check *c, const char *what,
                         struct arena *a)
{
    const char *type = c->type == SCHEMA_INTEGER ? "integer" : "number";
    struct str text;
    if (c->format.n)
        text = arena_printf(a, "%s value must be of type %s with format %.*s in %.*s",
                            what, type, STR_ARG(c->format), STR_ARG(c->path));
    else
        text = arena_printf(a, "%s value must be of type %s (default format) in %.*s",
                            what, type, STR_ARG(c->path));
    c->add(c->ctx, NUMBER_PLAIN, text);
}

/* ---- Bounds ---- */

static void say(const struct schema_number_check *c, struct arena *a,
                enum number_text how, struct str text, bool whole, double bound)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addstr(&b, text);
    if (whole)
        strbuf_addf(&b, "%lld", (long long)schema_truncate(bound));
    else
        cel_print_double(bound, &b);
    c->add(c->ctx, how, arena_str(a, strbuf_str(&b)));
    strbuf_release(&b);
}

static void not_positive(const struct schema_number_check *c, struct arena *a, bool whole,
                         double factor)
{
    struct str text = arena_printf(
        a, "factor MultipleOf declared for %.*s must be positive: ", STR_ARG(c->path));
    say(c, a, NUMBER_WHOLE, text, whole, factor);
}

/* What bounds that do not fit the type are compared with. */
static enum number_text at_value(const struct schema_number_check *c, bool whole)
{
    return c->n.whole && !whole ? NUMBER_AT_DOUBLE : NUMBER_AT;
}

static void check_multiple(const struct schema_number_check *c, bool whole, double factor,
                           struct arena *a)
{
    bool ok;
    if ((whole ? schema_truncate(factor) <= 0 : factor <= 0)) {
        not_positive(c, a, whole, factor);
        return;
    }
    if (whole)
        ok = c->n.i % schema_truncate(factor) == 0;
    else
        ok = schema_is_integer(factor < 1 ? 1 / factor * c->n.d : c->n.d / factor);
    if (!ok)
        say(c, a, at_value(c, whole), STR("should be a multiple of "), whole, factor);
}

/* sign: 1 for a maximum, -1 for a minimum. */
static bool beyond(const struct schema_number_check *c, bool whole, double bound,
                   int sign, bool exclusive)
{
    int order;
    if (whole) {
        int64_t b = schema_truncate(bound);
        order = (c->n.i > b) - (c->n.i < b);
    } else {
        order = (c->n.d > bound) - (c->n.d < bound);
    }
    return order == sign || (order == 0 && exclusive);
}

static void check_limit(const struct schema_number_check *c, bool whole, double bound,
                        int sign, bool exclusive, struct arena *a)
{
    static const char *const texts[2][2] = {
        {"should be greater than or equal to ", "should be greater than "},
        {"should be less than or equal to ", "should be less than "},
    };
    if (beyond(c, whole, bound, sign, exclusive))
        say(c, a, at_value(c, whole), str_from(texts[sign > 0][exclusive]), whole, bound);
}

void schema_check_number(const struct schema_number_check *c, struct arena *a)
{
    static const struct {
        enum schema_bound bound;
        const char *what;
    } steps[] = {
        {BOUND_MULTIPLE_OF, "MultipleOf"},
        {BOUND_MINIMUM, "Minimum boundary"},
        {BOUND_MAXIMUM, "Maximum boundary"},
    };
    const struct schema_values *v = c->s->values;
    if (!in_range(c, c->n))
        out_of_range(c, "Checked", a);
    for (unsigned i = 0; i < 3; i++) {
        enum schema_bound b = steps[i].bound;
        double bound = v->number[b - BOUNDS];
        if (!schema_bounded(c->s, b))
            continue;
        bool fits = in_range(c, (struct schema_number){.d = bound});
        bool whole = fits && c->n.whole;
        if (!fits)
            out_of_range(c, steps[i].what, a);
        if (b == BOUND_MULTIPLE_OF)
            check_multiple(c, whole, bound, a);
        else
            check_limit(c, whole, bound, b == BOUND_MAXIMUM ? 1 : -1,
                        b == BOUND_MAXIMUM ? v->exclusive_maximum : v->exclusive_minimum,
                        a);
    }
}
