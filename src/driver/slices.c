/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slices.h"

#include "api/timestamp.h"
#include "base/map.h"
#include "base/vec.h"
#include "driver/attributes.h"
#include "num/quantity.h"

/* ---- values ---- */

static struct doc quantity(struct str text, struct arena *a)
{
    struct quantity q;
    if (quantity_parse(text, a, &q, NULL))
        text = quantity_print(&q, a);
    return doc_make_string(a, text);
}

/* ---- capacity ---- */

static void set_quantity(struct doc *map, const char *key, struct str text,
                         struct arena *a)
{
    if (text.n)
        doc_set(a, map, key, quantity(text, a));
}

static struct doc policy(const struct driver_policy *p, struct arena *a)
{
    struct doc map = doc_make_map(), range = doc_make_map(), values = doc_make_list();
    set_quantity(&map, "default", p->preset, a);
    for (uint32_t i = 0; i < p->nvalues; i++)
        doc_append(a, &values, quantity(p->values[i], a));
    if (p->nvalues)
        doc_set(a, &map, "validValues", values);
    set_quantity(&range, "min", p->min, a);
    set_quantity(&range, "max", p->max, a);
    set_quantity(&range, "step", p->step, a);
    if (p->min.n)
        doc_set(a, &map, "validRange", range);
    return map;
}

static struct doc capacities(const struct driver_device *d, struct arena *a)
{
    struct doc map = doc_make_map();
    for (uint32_t i = 0; i < d->ncapacities; i++) {
        const struct driver_capacity *c = &d->capacities[i];
        struct doc value = doc_make_map();
        doc_set(a, &value, "value", quantity(c->quantity, a));
        if (c->policy)
            doc_set(a, &value, "requestPolicy", policy(c->policy, a));
        doc_set_str(a, &map, c->name, value);
    }
    return map;
}

/* ---- counters and taints ---- */

static struct doc counters(const struct driver_counter_set *s, const char *name,
                           struct arena *a)
{
    struct doc set = doc_make_map(), map = doc_make_map();
    for (uint32_t i = 0; i < s->n; i++) {
        struct doc value = doc_make_map();
        doc_set(a, &value, "value", quantity(s->counters[i].quantity, a));
        doc_set_str(a, &map, s->counters[i].name, value);
    }
    doc_set_text(a, &set, name, s->name);
    doc_set(a, &set, "counters", map);
    return set;
}

static struct doc consumes(const struct driver_device *d, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < d->nconsumes; i++)
        doc_append(a, &list, counters(&d->consumes[i], "counterSet", a));
    return list;
}

static struct doc taints(const struct driver_device *d, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < d->ntaints; i++) {
        const struct driver_taint *t = &d->taints[i];
        struct doc taint = doc_make_map();
        doc_set_text(a, &taint, "key", t->key);
        if (t->value.n)
            doc_set_text(a, &taint, "value", t->value);
        doc_set_text(a, &taint, "effect", t->effect);
        if (t->since_s)
            doc_set_text(a, &taint, "timeAdded",
                         timestamp_print(t->since_s, 0, false, a));
        doc_append(a, &list, taint);
    }
    return list;
}

static struct doc device(const struct driver_device *d, struct arena *a)
{
    struct doc map = doc_make_map();
    doc_set_text(a, &map, "name", d->name);
    const struct doc *attributes = driver_attributes_doc(d, a);
    if (attributes)
        doc_set(a, &map, "attributes", *attributes);
    if (d->ncapacities)
        doc_set(a, &map, "capacity", capacities(d, a));
    if (d->nconsumes)
        doc_set(a, &map, "consumesCounters", consumes(d, a));
    if (d->ntaints)
        doc_set(a, &map, "taints", taints(d, a));
    if (d->shared)
        doc_set(a, &map, "allowMultipleAllocations", doc_make_bool(true));
    return map;
}

/* ---- cutting ---- */

struct cut { /* a slice that is filled */
    struct doc devices, sets;
    uint32_t ncounters;
    bool rich; /* holds a device that makes the limit lower */
};
struct cutter {
    const struct driver_inventory *v;
    struct arena *a;
    VEC(struct cut) slices;
    struct strmap sets; /* counter set -> number of its slice + 1 */
};

static bool is_rich(const struct driver_device *d)
{
    for (uint32_t i = 0; i < d->nattributes; i++)
        if (d->attributes[i].value.kind >= DRIVER_STRINGS)
            return true;
    return d->nconsumes || d->ntaints;
}

static struct cut *add_slice(struct cutter *c)
{
    vec_push_in(c->a, &c->slices,
                (struct cut){.devices = doc_make_list(), .sets = doc_make_list()});
    return &c->slices.v[c->slices.n - 1];
}

static bool has_room(const struct cut *s, bool rich)
{
    return s->devices.n <
           (s->rich || rich ? SLICES_MAX_RICH_DEVICES : SLICES_MAX_DEVICES);
}

static void add_device(struct cutter *c, struct cut *s, const struct driver_device *d)
{
    doc_append(c->a, &s->devices, device(d, c->a));
    s->rich |= is_rich(d);
}

static const struct driver_counter_set *find_set(const struct cutter *c, struct str name)
{
    for (uint32_t i = 0; i < c->v->ncounters; i++)
        if (str_eq(c->v->counters[i].name, name))
            return &c->v->counters[i];
    return NULL;
}

static void add_set(struct cutter *c, struct cut *s, const struct driver_counter_set *set)
{
    doc_append(c->a, &s->sets, counters(set, "name", c->a));
    s->ncounters += set->n;
    strmap_put(&c->sets, set->name, NULL)->value.u = (uint64_t)(s - c->slices.v) + 1;
}

/* ---- counter sets apart ---- */

static void cut_apart(struct cutter *c)
{
    struct cut *s = NULL;
    for (uint32_t i = 0; i < c->v->ncounters; i++) {
        if (!s || s->sets.n == SLICES_MAX_COUNTER_SETS)
            s = add_slice(c);
        add_set(c, s, &c->v->counters[i]);
    }
    s = NULL;
    for (uint32_t i = 0; i < c->v->ndevices; i++) {
        const struct driver_device *d = &c->v->devices[i];
        if (!s || !has_room(s, is_rich(d)))
            s = add_slice(c);
        add_device(c, s, d);
    }
}

/* ---- together ---- */

static uint64_t slice_of_sets(const struct cutter *c, const struct driver_device *d)
{
    for (uint32_t i = 0; i < d->nconsumes; i++) {
        const struct strmap_entry *e = strmap_find(&c->sets, d->consumes[i].name);
        if (e)
            return e->value.u;
    }
    return 0;
}

static uint32_t new_counters(const struct cutter *c, const struct driver_device *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->nconsumes; i++) {
        const struct driver_counter_set *set = find_set(c, d->consumes[i].name);
        n += set && !strmap_find(&c->sets, set->name) ? set->n : 0;
    }
    return n;
}

static bool fits(const struct cutter *c, const struct cut *s,
                 const struct driver_device *d)
{
    return has_room(s, is_rich(d)) &&
           s->ncounters + new_counters(c, d) <= SLICES_MAX_OLD_COUNTERS;
}

/* The slice with a set that it takes of, whatever that slice's size: the server says it
 * when they are too many. Else the last one, or a new one. */
static struct cut *slice_for(struct cutter *c, const struct driver_device *d)
{
    uint64_t at = slice_of_sets(c, d);
    struct cut *last = c->slices.n ? &c->slices.v[c->slices.n - 1] : NULL;
    if (at)
        return &c->slices.v[at - 1];
    return last && fits(c, last, d) ? last : add_slice(c);
}

static void cut_together(struct cutter *c)
{
    for (uint32_t i = 0; i < c->v->ndevices; i++) {
        const struct driver_device *d = &c->v->devices[i];
        struct cut *s = slice_for(c, d);
        for (uint32_t k = 0; k < d->nconsumes; k++) {
            const struct driver_counter_set *set = find_set(c, d->consumes[k].name);
            if (set && !strmap_find(&c->sets, set->name))
                add_set(c, s, set);
        }
        add_device(c, s, d);
    }
}

void slices_make(const struct driver_inventory *v, enum slices_layout layout,
                 struct arena *a, struct slices *out)
{
    struct cutter c = {.v = v, .a = a};
    (layout == SLICES_APART ? cut_apart : cut_together)(&c);
    if (!c.slices.n)
        add_slice(&c);
    *out = (struct slices){ARENA_ARRAY(a, struct doc, c.slices.n), (uint32_t)c.slices.n};
    for (uint32_t i = 0; i < out->n; i++) {
        out->v[i] = doc_make_map();
        if (c.slices.v[i].devices.n)
            doc_set(a, &out->v[i], "devices", c.slices.v[i].devices);
        if (c.slices.v[i].sets.n)
            doc_set(a, &out->v[i], "sharedCounters", c.slices.v[i].sets);
    }
    strmap_release(&c.sets);
}
