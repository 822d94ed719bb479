/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/selector.h"

#include <stdlib.h>

#include "cli/tokens.h"

struct ground { /* devices that are looked at */
    struct cluster *c;
    struct device_env *env;
    struct cel_run run;
    struct arena *a;
    VEC(const struct view_device *) devices;
    VEC(const struct view_slice *) slices; /* of each device */
};

static void ground_init(struct ground *g, struct cluster *c, struct arena *a)
{
    const struct device_env_opts opts = {.kind = DEVICE_ENV_STORED};
    *g = (struct ground){.c = c, .a = a};
    g->env = device_env_new(&opts, &c->names);
    cel_run_init(&g->run);
    for (size_t i = 0; i < c->slices.n; i++)
        for (uint32_t k = 0; k < c->slices.v[i]->ndevices; k++) {
            vec_push(&g->devices, &c->slices.v[i]->devices[k]);
            vec_push(&g->slices, c->slices.v[i]);
        }
}

static void ground_fini(struct ground *g)
{
    vec_release(&g->devices);
    vec_release(&g->slices);
    cel_run_fini(&g->run);
    device_env_free(g->env);
}

static struct device_expr *compile(struct ground *g, struct str text)
{
    struct device_expr_error error;
    return device_expr_new(g->env, text, DEVICE_SELECTOR, g->a, &error);
}

static bool satisfies(struct ground *g, const struct device_expr *x, size_t i)
{
    struct str why;
    enum device_verdict v = device_expr_match(x, &g->devices.v[i]->facts, &g->run, &why);
    cel_run_reset(&g->run);
    return v == DEVICE_YES;
}

static size_t count(struct ground *g, const struct device_expr *x)
{
    size_t n = 0;
    for (size_t i = 0; i < g->devices.n; i++)
        n += satisfies(g, x, i);
    return n;
}

/* Keeps the devices that satisfy x, unless none does. */
static bool narrow(struct ground *g, struct str text)
{
    struct device_expr *x = compile(g, text);
    if (!x)
        return false;
    size_t n = count(g, x), kept = 0;
    for (size_t i = 0; n && i < g->devices.n; i++)
        if (satisfies(g, x, i)) {
            g->devices.v[kept] = g->devices.v[i];
            g->slices.v[kept++] = g->slices.v[i];
        }
    if (n)
        g->devices.n = g->slices.n = kept;
    device_expr_free(x);
    return n > 0;
}

/* ---- what is there instead ---- */

struct seen {
    struct str text;
    const struct quantity *amount; /* of capacities */
    size_t devices, first;         /* the first device that has it */
};
struct tally {
    VEC(struct seen) values;
    size_t absent;
};

static void note(struct tally *t, struct str text, const struct quantity *amount,
                 size_t device)
{
    for (size_t i = 0; i < t->values.n; i++)
        if (str_eq(t->values.v[i].text, text)) {
            t->values.v[i].devices++;
            return;
        }
    vec_push(&t->values, (struct seen){text, amount, 1, device});
}

static struct str value_text(const struct device_attr_value *v, struct arena *a)
{
    switch (v->kind) {
    case DEVICE_ATTR_INT:
        return arena_printf(a, "%lld", (long long)v->i);
    case DEVICE_ATTR_BOOL:
        return v->b ? STR("true") : STR("false");
    case DEVICE_ATTR_STRING:
        return arena_printf(a, "\"%.*s\"", STR_ARG(v->s));
    case DEVICE_ATTR_VERSION:
        return v->s;
    default:
        return STR("a list");
    }
}

static bool note_device(struct ground *g, const struct tokens_path *path, uint32_t id,
                        size_t i, struct tally *t)
{
    const struct device_facts *f = &g->devices.v[i]->facts;
    const struct device_shape *s = f->shape;
    for (uint32_t k = 0; path->capacity && k < s->ncapacities; k++)
        if (s->ids[s->nattrs + k] == id) {
            note(t, quantity_print(device_amount(f, k), g->a), device_amount(f, k), i);
            return true;
        }
    for (uint32_t k = 0; !path->capacity && k < s->nattrs; k++)
        if (s->ids[k] == id) {
            note(t, value_text(device_attr(f, k), g->a), NULL, i);
            return true;
        }
    return false;
}

/* Largest amounts first; other values by how many devices have them. */
static int by_weight(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->amount && y->amount)
        return -quantity_cmp(x->amount, y->amount);
    if (x->devices != y->devices)
        return x->devices < y->devices ? 1 : -1;
    return str_cmp(x->text, y->text);
}

static void print_tally(struct ground *g, struct tally *t, struct str name,
                        struct strbuf *b)
{
    enum { FEW = 5 };
    if (t->values.n == 0) {
        strbuf_addf(b, "; no device has %.*s", STR_ARG(name));
        return;
    }
    qsort(t->values.v, t->values.n, sizeof *t->values.v, by_weight);
    const struct seen *top = &t->values.v[0];
    if (top->amount && t->values.n > 1) {
        const struct view_slice *s = g->slices.v[top->first];
        strbuf_addf(b, "; the largest %.*s is %.*s (%.*s of pool %.*s)", STR_ARG(name),
                    STR_ARG(top->text), STR_ARG(g->devices.v[top->first]->name),
                    STR_ARG(s->pool));
        return;
    }
    strbuf_addf(b, "; %.*s is", STR_ARG(name));
    for (size_t i = 0; i < t->values.n && i < FEW; i++)
        strbuf_addf(b, "%s %.*s on %zu%s", i ? "," : "", STR_ARG(t->values.v[i].text),
                    t->values.v[i].devices,
                    i                             ? ""
                    : t->values.v[i].devices == 1 ? " device"
                                                  : " devices");
    if (t->values.n > FEW)
        strbuf_addf(b, " and %zu other values", t->values.n - FEW);
    if (t->absent)
        strbuf_addf(b, ", missing on %zu", t->absent);
}

static void tell_path(struct ground *g, const struct tokens_path *path, struct strbuf *b)
{
    struct tally t = {0};
    uint32_t id = device_name_id(&g->c->names, path->domain, path->name);
    for (size_t i = 0; i < g->devices.n; i++)
        t.absent += !note_device(g, path, id, i, &t);
    print_tally(g, &t, path->name, b);
    vec_release(&t.values);
}

static void tell_drivers(struct ground *g, struct strbuf *b)
{
    struct tally t = {0};
    for (size_t i = 0; i < g->devices.n; i++)
        note(&t, arena_printf(g->a, "\"%.*s\"", STR_ARG(g->slices.v[i]->driver)), NULL,
             i);
    print_tally(g, &t, STR("device.driver"), b);
    vec_release(&t.values);
}

/* What the devices have where the part looks. */
static void tell_part(struct ground *g, struct str part, struct strbuf *b)
{
    struct tokens t;
    struct tokens_path path;
    tokens_read(&t, part, g->a);
    strbuf_addf(b, "no device satisfies %.*s", STR_ARG(part));
    if (tokens_path(&t, 0, &path, g->a) && path.literal && path.domain.n && path.name.n)
        tell_path(g, &path, b);
    else if (str_find(part, STR("device.driver")) != SIZE_MAX)
        tell_drivers(g, b);
}

static void tell_expression(struct ground *g, struct str expression, struct strbuf *b)
{
    struct tokens t;
    uint32_t from = 0, end;
    tokens_read(&t, expression, g->a);
    for (; tokens_conjunct(&t, from, &end) && b->n == 0; from = end + 1) {
        struct str part = tokens_span(&t, from, end);
        struct device_expr *x = compile(g, part);
        device_expr_free(x);
        if (x && !narrow(g, part))
            tell_part(g, part, b);
    }
}

struct str selector_advice(struct cluster *c, struct str expression,
                           const struct str *others, uint32_t nothers, struct arena *a)
{
    struct ground g;
    struct strbuf b = STRBUF_INIT;
    ground_init(&g, c, a);
    for (uint32_t i = 0; i < nothers; i++)
        narrow(&g, others[i]);
    if (g.devices.n)
        tell_expression(&g, expression, &b);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    ground_fini(&g);
    return text;
}
