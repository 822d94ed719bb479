/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/capacity.h"

typedef struct device_capacity_policy policy;

/* How one capacity went. */
struct draw {
    struct quantity amount;
    enum capacity_fit fit;
    const char *why; /* of NO and ERROR */
};

enum { MILLI = 3 };

/* ---- Ranges ---- */

static bool whole(const struct quantity *q)
{
    int64_t v;
    return quantity_scaled_exact(q, 0, &v);
}

static bool milli(const struct quantity *q)
{
    int64_t v;
    return quantity_scaled_exact(q, MILLI, &v);
}

/* Thousandths are used where a bound has a fraction, and all can be written so. Upstream
 * does it for ranges of whole numbers too and then fails on large or fine requests (U9).
 */
static bool uses_milli(const struct alloc_features *f, const policy *p)
{
    const struct quantity *bounds[] = {p->min, p->max, p->step};
    bool fraction = false;
    for (size_t i = 0; i < 3; i++) {
        if (!bounds[i])
            continue;
        if (!milli(bounds[i]))
            return false;
        fraction |= !whole(bounds[i]);
    }
    return f->fractional_capacity_range && fraction;
}

struct grid { /* min + n * step, in units of 10^-digits */
    int digits;
    int64_t min, step;
};

/* False: upstream would divide by zero or compute with a wrapped number (U8). */
static bool range_grid(const struct alloc_features *f, const policy *p, struct grid *g)
{
    g->digits = uses_milli(f, p) ? MILLI : 0;
    return p->min && quantity_scaled(p->min, g->digits, &g->min) &&
           quantity_scaled(p->step, g->digits, &g->step) && g->step > 0;
}

static struct quantity from_grid(const struct grid *g, int64_t v,
                                 enum quantity_format format)
{
    if (g->digits == 0)
        return quantity_from_int64(v, format);
    if (v % 1000 == 0)
        return quantity_from_int64(v / 1000, format);
    return (struct quantity){.i = v, .scale = -MILLI, .format = (uint8_t)format};
}

/* The request in units of the grid: whole units round up, thousandths must be exact. */
static bool on_grid(const struct grid *g, const struct quantity *q, int64_t *out)
{
    return g->digits ? quantity_scaled_exact(q, g->digits, out)
                     : quantity_scaled(q, 0, out);
}

static void fatal(struct draw *d, const char *why)
{
    d->fit = CAPACITY_ERROR;
    d->why = why;
}

static void unusable(struct draw *d, const char *why)
{
    d->fit = CAPACITY_NO;
    d->why = why;
}

#define NOT_REPRESENTABLE                                                                \
    "capacity request cannot be represented in the device's range arithmetic"

/* Rule 58. */
static void round_up(const struct alloc_features *f, const struct quantity *want,
                     const policy *p, struct draw *d)
{
    struct grid g;
    int64_t v, n, up;
    d->amount = *want;
    if (quantity_cmp(want, p->min) < 0)
        d->amount = *p->min;
    if (quantity_cmp(want, p->min) < 0 || !p->step)
        return;
    if (!range_grid(f, p, &g)) {
        unusable(d, "the step of its range cannot be computed with");
        return;
    }
    if (!on_grid(&g, want, &v) || __builtin_sub_overflow(v, g.min, &v)) {
        fatal(d, NOT_REPRESENTABLE);
        return;
    }
    n = v / g.step + (v % g.step > 0);
    if (__builtin_mul_overflow(n, g.step, &up) ||
        __builtin_add_overflow(up, g.min, &up)) {
        fatal(d, NOT_REPRESENTABLE);
        return;
    }
    d->amount = from_grid(&g, up, (enum quantity_format)p->step->format);
}

static bool in_range(const struct alloc_features *f, const struct quantity *amount,
                     const policy *p)
{
    struct grid g;
    int64_t v;
    if (p->max && quantity_cmp(amount, p->max) > 0)
        return false;
    if (!p->step)
        return true;
    if (!range_grid(f, p, &g) || !on_grid(&g, amount, &v) ||
        __builtin_sub_overflow(v, g.min, &v))
        return false;
    return v % g.step == 0;
}

/* ---- Lists ---- */

static const struct quantity *smallest_at_least(const struct quantity *want,
                                                const policy *p)
{
    for (uint32_t i = 0; i < p->nvalid_values; i++)
        if (quantity_cmp(want, &p->valid_values[i]) <= 0)
            return &p->valid_values[i];
    return want;
}

static bool in_list(const struct quantity *amount, const policy *p)
{
    for (uint32_t i = 0; i < p->nvalid_values; i++)
        if (quantity_cmp(amount, &p->valid_values[i]) == 0)
            return true;
    return false;
}

/* ---- One capacity ---- */

static const struct quantity *wanted(const struct view_amount *wants, uint32_t n,
                                     struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(wants[i].name, name))
            return &wants[i].value;
    return NULL;
}

/* Rule 57 and 58. */
static void draw_amount(const struct alloc_features *f, const struct quantity *want,
                        const struct device_capacity *c, struct draw *d)
{
    const policy *p = c->policy;
    d->fit = CAPACITY_FITS;
    if (!want)
        d->amount = p && p->def ? *p->def : c->value;
    else if (p && p->has_range && p->min)
        round_up(f, want, p, d);
    else if (p && p->nvalid_values)
        d->amount = *smallest_at_least(want, p);
    else
        d->amount = *want;
    if (d->fit == CAPACITY_FITS && quantity_sign(&d->amount) < 0)
        fatal(d, "capacity value is negative");
}

/* Equality of Go structs: the way the number was written counts. */
static bool identical(const struct quantity *a, const struct quantity *b)
{
    return !a->big && !b->big && a->i == b->i && a->scale == b->scale &&
           a->format == b->format && a->text_len == b->text_len &&
           (a->text_len == 0 || memcmp(a->text, b->text, a->text_len) == 0);
}

/* Rule 59. */
static bool obeys(const struct alloc_features *f, const struct quantity *amount,
                  const policy *p)
{
    if (!p || (p->def && identical(amount, p->def)))
        return true;
    if (p->has_range)
        return in_range(f, amount, p);
    return p->nvalid_values == 0 || in_list(amount, p);
}

static void judge(const struct alloc_features *f, const struct device_capacity *c,
                  struct draw *d)
{
    if (d->fit != CAPACITY_FITS)
        return;
    if (!obeys(f, &d->amount, c->policy))
        unusable(d, "breaks the device's request policy");
    else if (quantity_cmp(&d->amount, &c->value) > 0)
        unusable(d, "is more than the device has");
}

/* ---- A device ---- */

static const struct view_amount *lacking(const struct view_amount *wants, uint32_t n,
                                         const struct device_facts *d)
{
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t j = 0; j < d->shape->ncapacities && !found; j++)
            found = str_eq(device_capacity_name(d, j), wants[i].name);
        if (!found)
            return &wants[i];
    }
    return NULL;
}

/* What stands in the way: an error before anything else, else the first refusal. False:
 * nothing. */
static bool obstacle(const struct alloc_features *f, const struct view_amount *wants,
                     uint32_t n, const struct device_facts *d, struct device_capacity *at,
                     struct draw *out)
{
    bool refused = false;
    for (uint32_t i = 0; i < d->shape->ncapacities; i++) {
        const struct device_capacity c = device_capacity(d, i);
        const struct quantity *want = wanted(wants, n, c.name);
        struct draw draw;
        if (!want && !c.policy && quantity_sign(&c.value) >= 0)
            continue; /* all of it is taken */
        draw_amount(f, want, &c, &draw);
        if (draw.fit != CAPACITY_ERROR)
            judge(f, &c, &draw);
        if (draw.fit == CAPACITY_FITS || (refused && draw.fit != CAPACITY_ERROR))
            continue;
        *out = draw;
        *at = c;
        refused = true;
        if (draw.fit == CAPACITY_ERROR)
            break;
    }
    return refused;
}

enum capacity_fit capacity_check(const struct alloc_features *f,
                                 const struct view_amount *wants, uint32_t nwants,
                                 const struct device_facts *d)
{
    struct draw draw;
    struct device_capacity at;
    if (nwants && lacking(wants, nwants, d))
        return CAPACITY_NO;
    return obstacle(f, wants, nwants, d, &at, &draw) ? draw.fit : CAPACITY_FITS;
}

enum capacity_fit capacity_explain(const struct alloc_features *f,
                                   const struct view_amount *wants, uint32_t nwants,
                                   const struct device_facts *d, struct str *why,
                                   struct arena *a)
{
    struct draw draw;
    const struct view_amount *none = lacking(wants, nwants, d);
    if (none) {
        *why = arena_printf(a, "%.*s: the device has none", STR_ARG(none->name));
        return CAPACITY_NO;
    }
    struct device_capacity c;
    if (!obstacle(f, wants, nwants, d, &c, &draw))
        return CAPACITY_FITS;
    if (draw.fit == CAPACITY_ERROR) {
        *why = arena_printf(a, "capacity \"%.*s\": %s", STR_ARG(c.name), draw.why);
        return draw.fit;
    }
    struct str want = quantity_print(&draw.amount, a), has = quantity_print(&c.value, a);
    *why = arena_printf(a, "%.*s: wants %.*s, has %.*s", STR_ARG(c.name), STR_ARG(want),
                        STR_ARG(has));
    if (quantity_cmp(&draw.amount, &c.value) <= 0)
        *why = arena_printf(a, "%.*s: %.*s %s", STR_ARG(c.name), STR_ARG(want), draw.why);
    return draw.fit;
}

void capacity_amounts(const struct alloc_features *f, const struct view_amount *wants,
                      uint32_t nwants, const struct device_facts *d,
                      struct view_amount *out)
{
    for (uint32_t i = 0; i < d->shape->ncapacities; i++) {
        const struct device_capacity c = device_capacity(d, i);
        struct draw draw;
        draw_amount(f, wanted(wants, nwants, c.name), &c, &draw);
        out[i] = (struct view_amount){c.name, draw.amount};
    }
}
