/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices an expression cannot tell apart. */
#include "device/internal.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t mix_semver(uint64_t h, const struct semver *v)
{
    h = mix(mix(mix(h, v->major), v->minor), v->patch);
    return mix(mix(h, str_hash(v->pre)), str_hash(v->build));
}

/* Texts of facts carry a mark: their bytes need not be fetched for a key. */
static uint64_t mix_text(uint64_t h, struct cel_value v)
{
    return mix(h, (uint64_t)v.len << 16 | v.aux2);
}

static uint64_t mix_value(uint64_t h, struct cel_value v)
{
    h = mix(h, v.kind);
    switch (v.kind) {
    case CEL_BOOL:
        return mix(h, v.b);
    case CEL_INT:
        return mix(h, v.u);
    case CEL_STRING:
        return mix_text(h, v);
    case CEL_SEMVER:
        return mix_semver(h, v.semver);
    case CEL_LIST:
        for (uint32_t i = 0; i < v.len; i++)
            h = mix_value(h, v.items[i]);
        return mix(h, v.len);
    default:
        return h;
    }
}

static bool semver_same(const struct semver *a, const struct semver *b)
{
    return a->major == b->major && a->minor == b->minor && a->patch == b->patch &&
           str_eq(a->pre, b->pre) && str_eq(a->build, b->build);
}

/* Equal for every expression: no rounding, no precedence. */
static bool value_same(struct cel_value a, struct cel_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_BOOL:
        return a.b == b.b;
    case CEL_INT:
        return a.i == b.i;
    case CEL_STRING:
        return cel_text_equal(a, b);
    case CEL_SEMVER:
        return semver_same(a.semver, b.semver);
    case CEL_LIST:
        if (a.len != b.len)
            return false;
        for (uint32_t i = 0; i < a.len; i++)
            if (!value_same(a.items[i], b.items[i]))
                return false;
        return true;
    default:
        return true;
    }
}

/* isInteger sees the form of a quantity, so equal numbers are not enough. */
static bool quantity_same(const struct quantity *a, const struct quantity *b)
{
    return a->format == b->format && a->scale == b->scale && a->i == b->i &&
           !a->big == !b->big && a->text_len == b->text_len &&
           (!a->text_len || memcmp(a->text, b->text, a->text_len) == 0) &&
           quantity_cmp(a, b) == 0;
}

/* ---- Attributes and capacities alike, by id ---- */

static uint64_t mix_attr(uint64_t h, const struct device_facts *d, uint32_t i)
{
    return mix_value(mix(h, d->attr_ids[i]), d->attr_values[i]);
}

static uint64_t mix_capacity(uint64_t h, const struct device_facts *d, uint32_t i)
{
    return mix(mix(h, d->capacity_ids[i]), quantity_hash(&d->capacities[i].value));
}

static bool attr_same(const struct device_facts *a, uint32_t i,
                      const struct device_facts *b, uint32_t j)
{
    return a->attr_ids[i] == b->attr_ids[j] &&
           value_same(a->attr_values[i], b->attr_values[j]);
}

static bool capacity_same(const struct device_facts *a, uint32_t i,
                          const struct device_facts *b, uint32_t j)
{
    return a->capacity_ids[i] == b->capacity_ids[j] &&
           quantity_same(&a->capacities[i].value, &b->capacities[j].value);
}

static bool in_domain(const struct device_facts *d, struct str name,
                      const struct device_slot *s)
{
    return str_eq(device_name_split(d->driver, name).domain, s->domain);
}

/* The next index from i that the slot reads, n at the end. */
static uint32_t next_attr(const struct device_facts *d, uint32_t i,
                          const struct device_slot *s)
{
    if (slot_kind(s->slot) == SLOT_ATTR_DOMAIN)
        while (i < d->nattrs && !in_domain(d, d->attrs[i].name, s))
            i++;
    return i;
}

static uint32_t next_capacity(const struct device_facts *d, uint32_t i,
                              const struct device_slot *s)
{
    if (slot_kind(s->slot) == SLOT_CAPACITY_DOMAIN)
        while (i < d->ncapacities && !in_domain(d, d->capacities[i].name, s))
            i++;
    return i;
}

static uint64_t mix_attrs(uint64_t h, const struct device_facts *d,
                          const struct device_slot *s)
{
    for (uint32_t i = 0; (i = next_attr(d, i, s)) < d->nattrs; i++)
        h = mix_attr(h, d, i);
    return mix(h, 1);
}

static uint64_t mix_capacities(uint64_t h, const struct device_facts *d,
                               const struct device_slot *s)
{
    for (uint32_t i = 0; (i = next_capacity(d, i, s)) < d->ncapacities; i++)
        h = mix_capacity(h, d, i);
    return mix(h, 1);
}

static bool attrs_same(const struct device_facts *a, const struct device_facts *b,
                       const struct device_slot *s)
{
    uint32_t i = next_attr(a, 0, s), j = next_attr(b, 0, s);
    while (i < a->nattrs && j < b->nattrs && attr_same(a, i, b, j)) {
        i = next_attr(a, i + 1, s);
        j = next_attr(b, j + 1, s);
    }
    return i == a->nattrs && j == b->nattrs;
}

static bool capacities_same(const struct device_facts *a, const struct device_facts *b,
                            const struct device_slot *s)
{
    uint32_t i = next_capacity(a, 0, s), j = next_capacity(b, 0, s);
    while (i < a->ncapacities && j < b->ncapacities && capacity_same(a, i, b, j)) {
        i = next_capacity(a, i + 1, s);
        j = next_capacity(b, j + 1, s);
    }
    return i == a->ncapacities && j == b->ncapacities;
}

/* ---- Slots ---- */

static uint32_t attr_of(const struct device_facts *d, int slot)
{
    return device_id_find(d->attr_ids, d->nattrs, slot_id(slot));
}

static uint32_t capacity_of(const struct device_facts *d, int slot)
{
    return device_id_find(d->capacity_ids, d->ncapacities, slot_id(slot));
}

/* Where another device has it; devices of a driver mostly have the same names. */
static uint32_t also_at(const uint32_t *ids, uint32_t n, uint32_t i, uint32_t id)
{
    return i < n && ids[i] == id ? i : device_id_find(ids, n, id);
}

static uint64_t mix_slot(uint64_t h, const struct device_facts *d,
                         const struct device_slot *s)
{
    uint32_t i;
    switch (slot_kind(s->slot)) {
    case SLOT_DRIVER:
        return mix_text(h, d->driver_value);
    case SLOT_MULTIPLE:
        return mix(h, d->allow_multiple);
    case SLOT_ATTR:
        i = attr_of(d, s->slot);
        return i < d->nattrs ? mix_attr(h, d, i) : mix(h, 0);
    case SLOT_CAPACITY:
        i = capacity_of(d, s->slot);
        return i < d->ncapacities ? mix_capacity(h, d, i) : mix(h, 0);
    case SLOT_ATTRS:
    case SLOT_ATTR_DOMAIN:
        return mix_attrs(h, d, s);
    case SLOT_CAPACITIES:
    case SLOT_CAPACITY_DOMAIN:
        return mix_capacities(h, d, s);
    }
    return h;
}

static bool slot_same(const struct device_facts *a, const struct device_facts *b,
                      const struct device_slot *s)
{
    uint32_t i, j;
    switch (slot_kind(s->slot)) {
    case SLOT_DRIVER:
        return cel_text_equal(a->driver_value, b->driver_value);
    case SLOT_MULTIPLE:
        return a->allow_multiple == b->allow_multiple;
    case SLOT_ATTR:
        i = attr_of(a, s->slot);
        j = also_at(b->attr_ids, b->nattrs, i, slot_id(s->slot));
        if (i == a->nattrs || j == b->nattrs)
            return i == a->nattrs && j == b->nattrs;
        return attr_same(a, i, b, j);
    case SLOT_CAPACITY:
        i = capacity_of(a, s->slot);
        j = also_at(b->capacity_ids, b->ncapacities, i, slot_id(s->slot));
        if (i == a->ncapacities || j == b->ncapacities)
            return i == a->ncapacities && j == b->ncapacities;
        return capacity_same(a, i, b, j);
    case SLOT_ATTRS:
    case SLOT_ATTR_DOMAIN:
        return attrs_same(a, b, s);
    case SLOT_CAPACITIES:
    case SLOT_CAPACITY_DOMAIN:
        return capacities_same(a, b, s);
    }
    return false;
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
    if (d->bad.n)
        return mix(str_hash(d->bad), 1);
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
    if (a->bad.n || b->bad.n)
        return str_eq(a->bad, b->bad);
    uint32_t n;
    const struct device_slot *slots = slots_of(x, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!slot_same(a, b, &slots[i]))
            return false;
    return true;
}
