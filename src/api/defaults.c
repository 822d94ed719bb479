/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaults.h"

#include "api/defaults_table.h"
#include "api/edit.h"

/* ---- fields of a struct, by dotted names ---- */

static struct str next_step(struct str *path)
{
    size_t dot = str_find_byte(*path, '.', 0);
    struct str step = str_sub(*path, 0, dot);
    *path = dot == SIZE_MAX ? STR("") : str_sub(*path, dot + 1, SIZE_MAX);
    return step;
}

/* The struct that holds the path's last field, whose name goes to *last. NULL: there is
 * none, and makes is false. */
static struct doc *holder(struct defaulting *c, struct doc *d, const char *path,
                          bool makes, struct str *last)
{
    struct str rest = str_from(path), step = next_step(&rest);
    for (; rest.n; step = next_step(&rest)) {
        struct doc *inner = (struct doc *)doc_get_str(d, step);
        bool there = inner && inner->type != DOC_NULL;
        if (!there && !makes)
            return NULL;
        d = there ? inner : doc_set_str(c->a, d, step, doc_make_map());
        if (d->type != DOC_MAP)
            return NULL;
    }
    *last = step;
    return d;
}

static bool unset(const struct doc *d, bool pointer)
{
    int64_t v;
    if (!d || d->type == DOC_NULL)
        return true;
    if (pointer)
        return false;
    if (d->type == DOC_NUMBER)
        return doc_int64(d, &v) && v == 0;
    return d->type == DOC_BOOL ? !d->b : d->n == 0;
}

/* ---- conditions ---- */

static bool among(struct str text, const char *values)
{
    struct str rest = str_from(values);
    for (;;) {
        size_t bar = str_find_byte(rest, '|', 0);
        if (str_eq(str_sub(rest, 0, bar), text))
            return true;
        if (bar == SIZE_MAX)
            return false;
        rest = str_sub(rest, bar + 1, SIZE_MAX);
    }
}

static bool is_one_of(const struct doc *d, const char *values)
{
    if (d->type == DOC_BOOL)
        return among(d->b ? STR("true") : STR("false"), values);
    return d->type == DOC_STRING && among(doc_str(d), values);
}

static bool holds(const struct api_default_if *f, const struct doc *d)
{
    const struct doc *value = doc_path(d, f->field);
    bool yes = f->values ? value && is_one_of(value, f->values) : !unset(value, false);
    return yes != f->negated;
}

static bool all_hold(const struct api_default_row *r, const struct doc *d, bool where)
{
    for (int i = 0; i < r->nifs; i++)
        if (r->ifs[i].where == where && !holds(&r->ifs[i], d))
            return false;
    return true;
}

/* ---- rows ---- */

/* Tables are shared: containers in them are copied before anything may grow them. */
static struct doc fresh(struct defaulting *c, const struct doc *d)
{
    return d->type == DOC_LIST || d->type == DOC_MAP ? doc_dup(c->a, d) : *d;
}

static void put(struct defaulting *c, const struct api_default_row *r, struct doc *d)
{
    const struct doc *value = r->from ? doc_path(d, r->from) : r->value;
    struct str last;
    struct doc now = doc_make_null();
    if (r->op == API_DEFAULT_NOW) {
        now = doc_make_string(c->a, c->now);
        value = &now;
    }
    bool nothing = r->from ? unset(value, false) : !value;
    struct doc *in = holder(c, d, r->field, r->makes && !nothing, &last);
    if (!in || (r->op != API_DEFAULT_PUT && !unset(doc_get_str(in, last), r->pointer)))
        return;
    if (!nothing)
        doc_set_str(c->a, in, last, fresh(c, value));
    else if (r->op == API_DEFAULT_PUT)
        doc_remove(in, last);
}

static void merge(struct defaulting *c, const struct api_default_row *r, struct doc *d)
{
    const struct doc *from = doc_path(d, r->from);
    struct str last;
    struct doc *in = holder(c, d, r->field, r->makes, &last);
    if (!in || !from || from->type != DOC_MAP || from->n == 0)
        return;
    struct doc *to = (struct doc *)doc_get_str(in, last);
    if (!to || to->type != DOC_MAP)
        to = doc_set_str(c->a, in, last, doc_make_map());
    for (uint32_t i = 0; i < from->n; i++)
        if (!doc_get_str(to, doc_key(&from->members[i])))
            doc_set_str(c->a, to, doc_key(&from->members[i]), from->members[i].value);
}

struct placed {
    struct defaulting *c;
    const struct api_default_row *r;
};

static void apply_here(void *ctx, struct doc *d)
{
    struct placed *p = ctx;
    if (d->type != DOC_MAP || !all_hold(p->r, d, false))
        return;
    if (p->r->op == API_DEFAULT_MERGE)
        merge(p->c, p->r, d);
    else
        put(p->c, p->r, d);
}

static void apply(struct defaulting *c, const struct api_default_row *r, struct doc *d)
{
    struct placed p = {c, r};
    if (r->op == API_DEFAULT_CALL)
        r->fn(c, d, r->argument);
    else if (all_hold(r, d, true))
        api_edit_each(d, r->place, apply_here, &p);
}

/* ---- the walk ---- */

static void walk(struct defaulting *c, const struct api_type *t, struct doc *d);

/* A struct that Go has always is visited even where nothing was written. */
static void walk_absent(struct defaulting *c, const struct api_field *f, struct doc *d)
{
    struct doc made = doc_make_map();
    if (f->container != API_ONE || f->flags & API_POINTER)
        return;
    walk(c, f->type, &made);
    if (made.n)
        doc_set(c->a, d, f->name, made);
}

static void walk_field(struct defaulting *c, const struct api_field *f, struct doc *d)
{
    struct doc *inner = api_edit_get(d, f->name);
    if (!inner)
        walk_absent(c, f, d);
    else if (f->container == API_ONE)
        walk(c, f->type, inner);
    else if (inner->type == DOC_LIST)
        for (uint32_t i = 0; i < inner->n; i++)
            walk(c, f->type, &inner->items[i]);
    else if (inner->type == DOC_MAP)
        for (uint32_t i = 0; i < inner->n; i++)
            walk(c, f->type, &inner->members[i].value);
}

static void walk(struct defaulting *c, const struct api_type *t, struct doc *d)
{
    struct api_default_rows rows = api_default_rows_of(t);
    if (d->type != DOC_MAP)
        return;
    for (uint32_t i = 0; i < rows.n; i++)
        apply(c, &rows.rows[i], d);
    for (uint16_t i = 0; i < t->nfields; i++)
        if (t->fields[i].form == API_STRUCT && api_default_rows_below(t->fields[i].type))
            walk_field(c, &t->fields[i], d);
}

void api_default(const struct api_kind *kind, struct doc *object, struct str now,
                 struct arena *a)
{
    struct defaulting c = {.a = a, .now = now};
    if (kind->type && api_default_rows_below(kind->type))
        walk(&c, kind->type, object);
}
