/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices an expression cannot tell apart: those that agree in codes. */
#include "device/internal.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* ---- Attributes or capacities, of all domains or of one ---- */

struct range { /* of a shape's positions */
    uint32_t next, end;
};

static struct range range_of(const struct device_shape *s, enum slot_kind kind)
{
    uint32_t n = s->nattrs + s->ncapacities;
    bool attrs = kind == SLOT_ATTRS || kind == SLOT_ATTR_DOMAIN;
    return attrs ? (struct range){0, s->nattrs} : (struct range){s->nattrs, n};
}

static bool in_domain(const struct device_shape *s, uint32_t i,
                      const struct device_slot *slot)
{
    enum slot_kind kind = slot_kind(slot->slot);
    if (kind != SLOT_ATTR_DOMAIN && kind != SLOT_CAPACITY_DOMAIN)
        return true;
    return str_eq(device_name_split(s->driver, s->names[i]).domain, slot->domain);
}

/* To the next position that the slot reads; false at the end. */
static bool next(const struct device_shape *s, struct range *r,
                 const struct device_slot *slot, uint32_t *at)
{
    while (r->next < r->end) {
        *at = r->next++;
        if (in_domain(s, *at, slot))
            return true;
    }
    return false;
}

static uint64_t mix_map(uint64_t h, const struct device_facts *d,
                        const struct device_slot *slot)
{
    struct range r = range_of(d->shape, slot_kind(slot->slot));
    uint32_t i;
    while (next(d->shape, &r, slot, &i))
        h = mix(h, (uint64_t)d->shape->ids[i] << 32 | d->codes[i]);
    return mix(h, 1);
}

static bool map_same(const struct device_facts *a, const struct device_facts *b,
                     const struct device_slot *slot)
{
    struct range ra = range_of(a->shape, slot_kind(slot->slot));
    struct range rb = range_of(b->shape, slot_kind(slot->slot));
    uint32_t i, j;
    for (;;) {
        bool more = next(a->shape, &ra, slot, &i);
        if (more != next(b->shape, &rb, slot, &j))
            return false;
        if (!more)
            return true;
        if (a->shape->ids[i] != b->shape->ids[j] || a->codes[i] != b->codes[j])
            return false;
    }
}

/* ---- Slots ---- */

/* 0: the device has none. */
static uint32_t code_of(const struct device_facts *d, int slot)
{
    uint32_t at = device_slot_at(d->shape, slot);
    return at == NOWHERE ? 0 : d->codes[at];
}

static uint64_t mix_slot(uint64_t h, const struct device_facts *d,
                         const struct device_slot *s)
{
    switch (slot_kind(s->slot)) {
    case SLOT_DRIVER:
        return mix(h, (uint64_t)d->shape->driver_value.len << 16 |
                          d->shape->driver_value.aux2);
    case SLOT_MULTIPLE:
        return mix(h, d->shape->allow_multiple);
    case SLOT_ATTR:
    case SLOT_CAPACITY:
        return mix(h, code_of(d, s->slot));
    default:
        return mix_map(h, d, s);
    }
}

static bool slot_same(const struct device_facts *a, const struct device_facts *b,
                      const struct device_slot *s)
{
    switch (slot_kind(s->slot)) {
    case SLOT_DRIVER:
        return a->shape == b->shape ||
               cel_text_equal(a->shape->driver_value, b->shape->driver_value);
    case SLOT_MULTIPLE:
        return a->shape->allow_multiple == b->shape->allow_multiple;
    case SLOT_ATTR:
    case SLOT_CAPACITY:
        return code_of(a, s->slot) == code_of(b, s->slot);
    default:
        return map_same(a, b, s);
    }
}

/* What an expression reads that uses the whole variable. */
static const struct device_slot everything[] = {
    {.slot = SLOT_DRIVER},
    {.slot = SLOT_MULTIPLE},
    {.slot = SLOT_ATTRS},
    {.slot = SLOT_CAPACITIES},
};

static const struct device_slot *slots_of(const struct device_expr *x, uint32_t *n)
{
    *n = x->whole ? sizeof everything / sizeof *everything : x->nslots;
    return x->whole ? everything : x->slots;
}

uint64_t device_expr_key(const struct device_expr *x, const struct device_facts *d)
{
    if (d->bad)
        return mix(str_hash(*d->bad), 1);
    uint32_t n;
    uint64_t h = 0;
    const struct device_slot *slots = slots_of(x, &n);
    for (uint32_t i = 0; i < n; i++)
        h = mix_slot(h, d, &slots[i]);
    return h;
}

bool device_expr_same(const struct device_expr *x, const struct device_facts *a,
                      const struct device_facts *b)
{
    if (a->bad || b->bad)
        return a->bad && b->bad && str_eq(*a->bad, *b->bad);
    uint32_t n;
    const struct device_slot *slots = slots_of(x, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!slot_same(a, b, &slots[i]))
            return false;
    return true;
}
