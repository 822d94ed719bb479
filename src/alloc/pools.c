/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a pool as columns: the newest generation, in search order (spec 3.2, 3.4). */
#include "alloc/inner.h"

#include <stdlib.h>

static uint64_t *new_bits(struct pool *p)
{
    return ARENA_ARRAY(&p->mem, uint64_t, p->words + 1);
}

/* ---- Parts ---- */

static int by_slice_name(const void *a, const void *b)
{
    const struct pool_slice *x = a, *y = b;
    int c = str_cmp(x->v->meta.name, y->v->meta.name);
    return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

static int64_t newest_generation(const struct pool *p)
{
    int64_t g = INT64_MIN;
    for (size_t i = 0; i < p->slices.n; i++)
        if (p->slices.v[i].v->generation > g)
            g = p->slices.v[i].v->generation;
    return g;
}

static bool slice_uses_groups(const struct view_slice *s)
{
    for (uint32_t i = 0; i < s->ndevices; i++)
        for (uint32_t j = 0; j < s->devices[i].nconsumes; j++)
            if (s->devices[i].consumes[j].groups.n)
                return true;
    return false;
}

static struct part make_part(const struct alloc_features *f, const struct view_slice *s)
{
    struct part part = {.v = s, .local = s->node_name.n != 0};
    part.holds_sets = f->partitionable_devices && s->ncounter_sets > 0;
    part.uncounted = !f->compatibility_groups && slice_uses_groups(s);
    part.ignored = part.uncounted || (!f->partitionable_devices &&
                                      (s->has_per_device || s->ncounter_sets > 0));
    return part;
}

static void collect_parts(const struct alloc_features *f, struct pool *p)
{
    p->generation = newest_generation(p);
    qsort(p->slices.v, p->slices.n, sizeof *p->slices.v, by_slice_name);
    p->parts = ARENA_ARRAY(&p->mem, struct part, p->slices.n);
    p->nparts = 0;
    p->contradicts = false;
    for (size_t i = 0; i < p->slices.n; i++) {
        const struct view_slice *s = p->slices.v[i].v;
        if (s->generation != p->generation)
            continue;
        p->parts[p->nparts++] = make_part(f, s);
        if (s->slice_count != p->parts[0].v->slice_count)
            p->contradicts = true;
    }
}

/* ---- Devices ---- */

static void number_devices(struct pool *p)
{
    p->n = 0;
    for (uint32_t i = 0; i < p->nparts; i++) {
        struct part *part = &p->parts[i];
        part->first = p->n;
        part->n = part->ignored || part->holds_sets ? 0 : part->v->ndevices;
        p->n += part->n;
    }
    p->words = (uint32_t)BITSET_WORDS(p->n);
    p->devices = ARENA_ARRAY(&p->mem, struct pool_device, p->n);
    for (uint32_t i = 0; i < p->nparts; i++)
        for (uint32_t j = 0; j < p->parts[i].n; j++)
            p->devices[p->parts[i].first + j] =
                (struct pool_device){&p->parts[i].v->devices[j], i};
}

/* From the last to the first, so that a chain of equal names is in order. */
static void index_names(struct pool *p)
{
    p->same_name = ARENA_ARRAY(&p->mem, uint32_t, p->n);
    strmap_clear(&p->by_name);
    for (uint32_t i = p->n; i-- > 0;) {
        bool made;
        struct strmap_entry *e = strmap_put(&p->by_name, p->devices[i].v->name, &made);
        p->same_name[i] = made ? NONE : (uint32_t)e->value.u - 1;
        e->value.u = i + 1;
    }
}

uint32_t pool_find(const struct pool *p, struct str device)
{
    const struct strmap_entry *e = strmap_find(&p->by_name, device);
    return e ? (uint32_t)e->value.u - 1 : NONE;
}

static void note_device(const struct alloc_features *f, struct pool *p, uint32_t i)
{
    const struct view_device *d = p->devices[i].v;
    if (f->consumable_capacity && d->facts.shape->allow_multiple) {
        bit_set(p->multi, i);
        p->any_multi = true;
    }
    if (d->nconsumes) {
        bit_set(p->consumes, i);
        p->any_consumes = true;
    }
    if (d->binding_conditions.n) {
        bit_set(p->binding, i);
        p->any_binding = true;
    }
    if (p->parts[p->devices[i].part].v->skip_node_operations.n) {
        bit_set(p->skips, i);
        p->any_skips = true;
    }
    if (d->facts.shape->ncapacities)
        p->any_capacity = true;
}

static void note_devices(const struct alloc_features *f, struct pool *p)
{
    p->used = new_bits(p);
    p->shared = new_bits(p);
    p->multi = new_bits(p);
    p->consumes = new_bits(p);
    p->binding = new_bits(p);
    p->skips = new_bits(p);
    p->any_multi = p->any_consumes = p->any_skips = false;
    p->any_capacity = p->any_binding = false;
    for (uint32_t i = 0; i < p->n; i++)
        note_device(f, p, i);
}

/* ---- Taint rules (rule 49) ---- */

static bool rule_selects(const struct view_taint_rule *r, const struct pool *p,
                         const struct view_device *d)
{
    return r->has_selector && (r->driver.n == 0 || str_eq(r->driver, p->driver)) &&
           (r->pool.n == 0 || str_eq(r->pool, p->name)) &&
           (r->device.n == 0 || str_eq(r->device, d->name));
}

static const struct view_taint **
taints_of_rules(struct alloc_inventory *inv, struct pool *p, uint32_t device, uint32_t *n)
{
    const struct view_taint **v =
        ARENA_ARRAY(&p->mem, const struct view_taint *, inv->rules.n);
    *n = 0;
    for (size_t i = 0; i < inv->rules.n; i++)
        if (rule_selects(inv->rules.v[i], p, p->devices[device].v))
            v[(*n)++] = &inv->rules.v[i]->taint;
    return v;
}

static void apply_rules(struct alloc_inventory *inv, struct pool *p)
{
    p->rule_taints = NULL;
    p->nrule_taints = NULL;
    if (inv->rules.n == 0 || !inv->features.device_taints)
        return;
    p->rule_taints = ARENA_ARRAY(&p->mem, const struct view_taint **, p->n);
    p->nrule_taints = ARENA_ARRAY(&p->mem, uint32_t, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        p->rule_taints[i] = taints_of_rules(inv, p, i, &p->nrule_taints[i]);
}

/* ---- State ---- */

static void mark_device(struct pool *p, uint32_t i, const struct held *h)
{
    bool multi = bit_test(p->multi, i);
    bit_clear(p->used, i);
    bit_clear(p->shared, i);
    if (h->exclusive || (!multi && (h->shares || h->records)))
        bit_set(p->used, i); /* also a shared device republished as dedicated (U7) */
    if (multi && (h->shares || h->records))
        bit_set(p->shared, i);
}

static void mark_held(struct pool *p, const struct held *h)
{
    for (uint32_t i = pool_find(p, h->device); i != NONE; i = p->same_name[i])
        mark_device(p, i, h);
}

void pool_held_changed(struct pool *p, const struct held *h)
{
    p->charges++;
    if (p->stale || p->charged != p->charges - 1)
        return;
    mark_held(p, h);
    p->charged = p->charges;
}

static void mark_all_held(struct pool *p)
{
    memset(p->used, 0, p->words * sizeof *p->used);
    memset(p->shared, 0, p->words * sizeof *p->shared);
    strmap_each(&p->held, e) mark_held(p, e->value.ptr);
    p->charged = p->charges;
}

static void forget_columns(struct pool *p)
{
    arena_reset(&p->mem);
    p->views = NULL;
    p->counters = NULL;
    vec_clear(&p->profiles);
    vec_clear(&p->attributes);
    vec_clear(&p->derived);
}

static void compile(struct alloc_inventory *inv, struct pool *p)
{
    forget_columns(p);
    collect_parts(&inv->features, p);
    number_devices(p);
    index_names(p);
    note_devices(&inv->features, p);
    apply_rules(inv, p);
    p->stale = false;
    p->version++;
}

void pool_refresh(struct alloc_inventory *inv, struct pool *p)
{
    if (p->stale)
        compile(inv, p);
    mark_all_held(p);
}

void pool_free(struct pool *p)
{
    strmap_each(&p->held, e) held_free(e->value.ptr);
    strmap_release(&p->held);
    strmap_release(&p->by_name);
    vec_release(&p->slices);
    vec_release(&p->hosts);
    vec_release(&p->profiles);
    vec_release(&p->attributes);
    vec_release(&p->derived);
    arena_fini(&p->mem);
    free(p);
}

struct str device_path(const struct pool *p, uint32_t device, struct arena *a)
{
    return arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(p->driver), STR_ARG(p->name),
                        STR_ARG(p->devices[device].v->name));
}
