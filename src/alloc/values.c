/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute values as constraints compare them (spec 3.7): interned, in columns. */
#include "alloc/inner.h"

#include <stdlib.h>

enum value_type {
    TYPE_INT = 'i',
    TYPE_BOOL = 'b',
    TYPE_STRING = 's',
    TYPE_VERSION = 'v'
};

static uint32_t intern_value(struct alloc_inventory *inv, enum value_type type,
                             const void *bytes, size_t n)
{
    strbuf_clear(&inv->key);
    strbuf_addc(&inv->key, (char)type);
    strbuf_add(&inv->key, bytes, n);
    return intern_id(&inv->values, strbuf_str(&inv->key));
}

struct str value_text(const struct alloc_inventory *inv, uint32_t value, struct arena *a)
{
    struct str key = intern_str(&inv->values, value);
    struct str rest = str_sub(key, 1, key.n);
    int64_t i;
    switch ((enum value_type)key.p[0]) {
    case TYPE_INT:
        memcpy(&i, rest.p, sizeof i);
        return arena_printf(a, "%lld", (long long)i);
    case TYPE_BOOL:
        return rest.p[0] ? STR("true") : STR("false");
    default:
        return arena_printf(a, "\"%.*s\"", STR_ARG(rest));
    }
}

static uint32_t intern_int(struct alloc_inventory *inv, int64_t v)
{
    return intern_value(inv, TYPE_INT, &v, sizeof v);
}

static uint32_t intern_bool(struct alloc_inventory *inv, bool v)
{
    return intern_value(inv, TYPE_BOOL, &v, 1);
}

static uint32_t list_item(struct alloc_inventory *inv, const struct device_attr_value *v,
                          uint32_t i)
{
    switch (v->kind) {
    case DEVICE_ATTR_INTS:
        return intern_int(inv, v->ints[i]);
    case DEVICE_ATTR_BOOLS:
        return intern_bool(inv, v->bools[i]);
    case DEVICE_ATTR_STRINGS:
        return intern_value(inv, TYPE_STRING, v->strings[i].p, v->strings[i].n);
    default:
        return intern_value(inv, TYPE_VERSION, v->strings[i].p, v->strings[i].n);
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct value_set set_of_list(struct alloc_inventory *inv,
                                    const struct device_attr_value *v, struct arena *a)
{
    if (!inv->features.list_type_attributes || v->n == 0)
        return (struct value_set){.state = VALUE_ODD};
    uint32_t *ids = ARENA_ARRAY(a, uint32_t, v->n), n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        ids[i] = list_item(inv, v, i);
    qsort(ids, v->n, sizeof *ids, by_number);
    for (uint32_t i = 0; i < v->n; i++)
        if (n == 0 || ids[n - 1] != ids[i])
            ids[n++] = ids[i];
    return (struct value_set){ids, n, VALUE_SET};
}

static struct value_set set_of_one(struct arena *a, uint32_t id)
{
    uint32_t *ids = arena_alloc(a, sizeof *ids);
    *ids = id;
    return (struct value_set){ids, 1, VALUE_SET};
}

static struct value_set set_of(struct alloc_inventory *inv,
                               const struct device_attr_value *v, struct arena *a)
{
    switch ((enum device_attr_kind)v->kind) {
    case DEVICE_ATTR_NONE:
        return (struct value_set){.state = VALUE_ODD};
    case DEVICE_ATTR_INT:
        return set_of_one(a, intern_int(inv, v->i));
    case DEVICE_ATTR_BOOL:
        return set_of_one(a, intern_bool(inv, v->b));
    case DEVICE_ATTR_STRING:
        return set_of_one(a, intern_value(inv, TYPE_STRING, v->s.p, v->s.n));
    case DEVICE_ATTR_VERSION:
        return set_of_one(a, intern_value(inv, TYPE_VERSION, v->s.p, v->s.n));
    default:
        return set_of_list(inv, v, a);
    }
}

/* ---- Published attributes ---- */

uint32_t attribute_id(struct alloc_inventory *inv, struct str name)
{
    struct strmap_entry *e = strmap_find(&inv->attributes, name);
    if (!e) {
        struct str kept = arena_str(&inv->profile_mem, name);
        e = strmap_put(&inv->attributes, kept, NULL);
        e->value.u = inv->attribute_names.n;
        vec_push(&inv->attribute_names, kept);
    }
    return (uint32_t)e->value.u;
}

/* Rule 39: the exact name first, then the name without its domain, if the domain is the
 * driver's. Both have the same id. */
static uint32_t find_attribute(const struct device_shape *s, uint32_t id, struct str name)
{
    bool qualified = str_find_byte(name, '/', 0) != SIZE_MAX;
    for (uint32_t i = 0; i < s->nattrs; i++)
        if (s->ids[i] == id)
            return qualified || str_eq(s->names[i], name) ? i : NONE;
    return NONE;
}

static void reserve(struct value_column ***v, size_t *n, size_t *cap, uint32_t id)
{
    if (id < *n)
        return;
    if (id >= *cap) {
        *cap = id + 8;
        *v = mem_resize(*v, *cap, sizeof **v);
    }
    memset(*v + *n, 0, (id + 1 - *n) * sizeof **v);
    *n = id + 1;
}

#define RESERVE(vec, id) reserve(&(vec)->v, &(vec)->n, &(vec)->cap, (id))

static struct value_column *new_column(struct pool *p)
{
    struct value_column *c = ARENA_NEW(&p->mem, struct value_column);
    c->of = ARENA_ARRAY(&p->mem, struct value_set, p->n);
    return c;
}

static void fill_published(struct alloc_inventory *inv, struct pool *p, struct str name,
                           struct value_column *c)
{
    uint32_t id = device_name_id(inv->names, p->driver, name);
    const struct device_shape *shape = NULL;
    uint32_t at = NONE;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct device_facts *d = &p->devices[i].v->facts;
        if (shape != d->shape)
            at = find_attribute(d->shape, id, name);
        shape = d->shape;
        if (at != NONE)
            c->of[i] = set_of(inv, device_attr(d, at), &p->mem);
    }
}

const struct value_column *pool_values(struct alloc_inventory *inv, struct pool *p,
                                       uint32_t attribute)
{
    if (attribute < p->attributes.n && p->attributes.v[attribute])
        return p->attributes.v[attribute];
    struct value_column *c = new_column(p);
    fill_published(inv, p, inv->attribute_names.v[attribute], c);
    RESERVE(&p->attributes, attribute);
    return p->attributes.v[attribute] = c;
}

/* ---- Derived attributes (rule 45) ---- */

static struct value_set derive(struct alloc_inventory *inv, struct expression *x,
                               const struct device_facts *facts)
{
    struct device_attr_value v;
    struct str why;
    bool made;
    if (!x->x)
        return (struct value_set){.state = VALUE_ERROR};
    struct outcome *o = expression_outcome(inv, x, facts, &made);
    if (!made)
        return o->value;
    o->value = device_expr_derive(x->x, facts, &inv->run, &v, &why)
                   ? set_of(inv, &v, &x->values)
                   : (struct value_set){.state = VALUE_ERROR};
    cel_run_reset(&inv->run);
    return o->value;
}

static struct value_set keep_set(const struct value_set *v, struct arena *a)
{
    struct value_set kept = *v;
    uint32_t *ids = ARENA_ARRAY(a, uint32_t, v->n);
    if (v->n)
        memcpy(ids, v->ids, v->n * sizeof *ids);
    kept.ids = ids;
    return kept;
}

const struct value_column *pool_derived(struct alloc_inventory *inv, struct pool *p,
                                        uint32_t derived)
{
    if (derived < p->derived.n && p->derived.v[derived])
        return p->derived.v[derived];
    struct value_column *c = new_column(p);
    for (uint32_t i = 0; i < p->n; i++) {
        struct value_set v =
            derive(inv, inv->derived_exprs.v[derived], &p->devices[i].v->facts);
        c->of[i] = keep_set(&v, &p->mem);
    }
    RESERVE(&p->derived, derived);
    return p->derived.v[derived] = c;
}

struct str derived_why(struct alloc_inventory *inv, uint32_t derived, struct str name,
                       const struct pool *p, uint32_t device, struct arena *a)
{
    struct expression *x = inv->derived_exprs.v[derived];
    struct device_attr_value v;
    struct str why = STR_NONE;
    if (!x->x)
        return arena_printf(a, "compile derived attribute %.*s failed: %.*s",
                            STR_ARG(name), STR_ARG(x->error));
    device_expr_derive(x->x, &p->devices[device].v->facts, &inv->run, &v, &why);
    struct str path = device_path(p, device, a);
    why = arena_printf(a, "evaluate derived attribute %.*s on device %.*s failed: %.*s",
                       STR_ARG(name), STR_ARG(path), STR_ARG(why));
    cel_run_reset(&inv->run);
    return why;
}
