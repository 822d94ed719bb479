/* SPDX-License-Identifier: Apache-2.0 */
/* The variable "device": its slots, its values, its sizes. */
#include "device/internal.h"

/* ---- Slots ---- */

enum { FIELD_STEPS = 3 };

/* The slot kinds below a field, by the number of steps that they cover. */
static const struct field {
    const char *name;
    uint8_t kinds[FIELD_STEPS];
    uint8_t steps;
} fields[] = {
    {"driver", {SLOT_DRIVER}, 1},
    {"allowMultipleAllocations", {SLOT_MULTIPLE}, 1},
    {"attributes", {SLOT_ATTRS, SLOT_ATTR_DOMAIN, SLOT_ATTR}, 3},
    {"capacity", {SLOT_CAPACITIES, SLOT_CAPACITY_DOMAIN, SLOT_CAPACITY}, 3},
};

static const struct field *field_find(struct str name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(name, fields[i].name))
            return &fields[i];
    return NULL;
}

static int slot_make(unsigned kind, bool optional, uint32_t id)
{
    return id > SLOT_ID_MAX
               ? -1
               : (int)(id << SLOT_ID_SHIFT | (optional ? SLOT_OPTIONAL : 0) | kind);
}

/* How many steps a slot may cover: up to the first optional one, which makes the load's
 * value an optional; and a domain has no "/", unless a driver's name is wrong. */
static unsigned coverable(const struct field *f, const struct cel_step *steps, unsigned n)
{
    if (n > f->steps)
        n = f->steps;
    for (unsigned i = 0; i + 1 < n; i++)
        if (steps[i].optional)
            n = i + 1;
    if (n > 1 && str_find_byte(steps[1].key, '/', 0) != SIZE_MAX)
        n = 1;
    return n;
}

static int device_slot(void *decl, const struct cel_step *steps, unsigned n,
                       unsigned *used)
{
    struct device_env *env = decl;
    const struct field *f = n ? field_find(steps[0].key) : NULL;
    if (!f)
        return -1;
    n = coverable(f, steps, n);
    uint32_t id = 0;
    if (n == 2)
        id = intern_id(&env->names->texts, steps[1].key);
    else if (n == 3)
        id = device_name_join(env->names,
                              (struct device_name){steps[1].key, steps[2].key});
    *used = n;
    return slot_make(f->kinds[n - 1], steps[n - 1].optional, id);
}

/* ---- Maps ---- */

static const struct cel_map empty_map;
static const struct cel_value empty_map_value = {.kind = CEL_MAP, .map = &empty_map};

struct item {
    struct device_name name;
    struct cel_value value;
};

static int item_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = str_cmp(x->name.domain, y->name.domain);
    return order ? order : str_cmp(x->name.id, y->name.id);
}

struct items {
    struct item *v;
    uint32_t n;
};

/* All attributes or capacities, by domain and id; of one domain unless that is NULL. */
static struct items items_of(const struct device_facts *d, bool capacity,
                             const struct str *domain, struct cel_run *run)
{
    const struct device_shape *s = d->shape;
    uint32_t i = capacity ? s->nattrs : 0;
    uint32_t end = i + (capacity ? s->ncapacities : s->nattrs);
    struct items out = {ARENA_ARRAY(&run->arena, struct item, end - i), 0};
    for (; i < end; i++) {
        struct item *item = &out.v[out.n];
        item->name = device_name_split(s->driver, s->names[i]);
        if (domain && !str_eq(item->name.domain, *domain))
            continue;
        item->value = device_cel(d, i);
        out.n++;
    }
    if (out.n > 1)
        qsort(out.v, out.n, sizeof *out.v, item_order);
    return out;
}

static struct cel_value map_of(const struct item *v, uint32_t n, struct cel_run *run)
{
    if (n == 0)
        return empty_map_value;
    struct cel_entry *entries = ARENA_ARRAY(&run->arena, struct cel_entry, n);
    for (uint32_t i = 0; i < n; i++)
        entries[i] = (struct cel_entry){cel_string(v[i].name.id), v[i].value};
    return cel_map_make(run, entries, n);
}

static struct cel_value domain_value(const struct device_facts *d, bool capacity,
                                     struct str domain, struct cel_run *run)
{
    struct items items = items_of(d, capacity, &domain, run);
    return map_of(items.v, items.n, run);
}

/* An unknown domain reads as an empty map, but is not in the map (spec 4.2). */
static struct cel_value with_default(struct cel_value map, struct cel_run *run)
{
    struct cel_map *copy = ARENA_NEW(&run->arena, struct cel_map);
    *copy = *map.map;
    copy->missing = &empty_map_value;
    return cel_map_value(copy);
}

static struct cel_value domains_value(const struct device_facts *d, bool capacity,
                                      struct cel_run *run)
{
    struct items items = items_of(d, capacity, NULL, run);
    struct cel_entry *entries = ARENA_ARRAY(&run->arena, struct cel_entry, items.n);
    uint32_t n = 0;
    for (uint32_t i = 0, end; i < items.n; i = end) {
        struct str domain = items.v[i].name.domain;
        for (end = i + 1; end < items.n && str_eq(items.v[end].name.domain, domain);)
            end++;
        entries[n++] =
            (struct cel_entry){cel_string(domain), map_of(&items.v[i], end - i, run)};
    }
    return with_default(cel_map_make(run, entries, n), run);
}

/* ---- Loads ---- */

static const struct device_slot *slot_of(const struct device_binding *b, int slot)
{
    for (uint32_t i = 0; i < b->expr->nslots; i++)
        if (b->expr->slots[i].slot == slot)
            return &b->expr->slots[i];
    return NULL;
}

static struct cel_value found(int slot, struct cel_value v, struct cel_run *run)
{
    return slot & SLOT_OPTIONAL ? cel_optional_of(run, v) : v;
}

static struct cel_value missing(const struct device_binding *b, int slot,
                                struct cel_run *run)
{
    if (slot & SLOT_OPTIONAL)
        return cel_optional_none();
    return cel_no_key(run, cel_string(slot_of(b, slot)->id));
}

static struct cel_value load_named(const struct device_binding *b, int slot,
                                   struct cel_run *run)
{
    uint32_t at = device_slot_at(b->facts->shape, slot);
    return at == NOWHERE ? missing(b, slot, run)
                         : found(slot, device_cel(b->facts, at), run);
}

/* What every device has. */
static struct cel_value load_common(const struct device_binding *b, int slot,
                                    struct cel_run *run)
{
    switch (slot_kind(slot)) {
    case SLOT_DRIVER:
        return b->facts->shape->driver_value;
    case SLOT_MULTIPLE:
        return cel_bool(b->facts->shape->allow_multiple);
    case SLOT_ATTRS:
        return domains_value(b->facts, false, run);
    case SLOT_CAPACITIES:
        return domains_value(b->facts, true, run);
    case SLOT_ATTR_DOMAIN:
        return domain_value(b->facts, false, slot_of(b, slot)->domain, run);
    default:
        return domain_value(b->facts, true, slot_of(b, slot)->domain, run);
    }
}

static __attribute__((noinline)) struct cel_value load_anew(const void *activation,
                                                            int slot, struct cel_run *run)
{
    if (slot_kind(slot) == SLOT_ATTR || slot_kind(slot) == SLOT_CAPACITY)
        return load_named(activation, slot, run);
    return found(slot, load_common(activation, slot, run), run);
}

/* A memo has looked for what its part reads; the part has a mask if it is there. */
static struct cel_value load(const void *activation, int slot, struct cel_run *run)
{
    const struct device_binding *b = activation;
    const struct cel_part *asked = b->parts ? b->parts->asked : NULL;
    if (asked && asked->mask && asked->slot == slot && !(slot & SLOT_OPTIONAL))
        return device_cel(b->facts, asked->at);
    return load_anew(activation, slot, run);
}

/* Without its static type the variable is a map, and always has all its fields. */
static struct cel_value whole(const void *activation, struct cel_run *run)
{
    size_t n = sizeof fields / sizeof *fields;
    struct cel_entry *entries = ARENA_ARRAY(&run->arena, struct cel_entry, n);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct cel_entry){cel_string(str_from(fields[i].name)),
                                        load(activation, fields[i].kinds[0], run)};
    return cel_map_make(run, entries, (uint32_t)n);
}

const struct cel_var_ops device_var_ops = {
    .slot = device_slot, .load = load, .value = whole};

/* ---- Sizes (spec 4.1) ---- */

enum shape {
    SHAPE_NONE,
    SHAPE_DEVICE,
    SHAPE_DRIVER,
    SHAPE_FLAG,
    SHAPE_ATTR_DOMAINS,
    SHAPE_ATTRS,
    SHAPE_ATTR,
    SHAPE_CAPACITY_DOMAINS,
    SHAPE_CAPACITIES,
    SHAPE_QUANTITY,
    SHAPE_DOMAIN,
    SHAPE_ID,
};

static const struct {
    uint8_t max, value, key;
} shapes[] = {
    [SHAPE_DEVICE] = {0, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_DRIVER] = {BOUND_DRIVER, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_FLAG] = {BOUND_FLAG, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_ATTR_DOMAINS] = {BOUND_ENTRIES, SHAPE_ATTRS, SHAPE_DOMAIN},
    [SHAPE_ATTRS] = {BOUND_ENTRIES, SHAPE_ATTR, SHAPE_ID},
    [SHAPE_ATTR] = {BOUND_ATTR, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_CAPACITY_DOMAINS] = {BOUND_ENTRIES, SHAPE_CAPACITIES, SHAPE_DOMAIN},
    [SHAPE_CAPACITIES] = {BOUND_ENTRIES, SHAPE_QUANTITY, SHAPE_ID},
    [SHAPE_QUANTITY] = {0, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_DOMAIN] = {BOUND_DOMAIN, SHAPE_NONE, SHAPE_NONE},
    [SHAPE_ID] = {BOUND_ID, SHAPE_NONE, SHAPE_NONE},
};

static enum shape shape_field(const struct device_env *env, struct str name)
{
    const struct field *f = field_find(name);
    switch (f ? f->kinds[0] : SLOT_ATTR) {
    case SLOT_DRIVER:
        return SHAPE_DRIVER;
    case SLOT_MULTIPLE:
        return env->allow_multiple ? SHAPE_FLAG : SHAPE_NONE;
    case SLOT_ATTRS:
        return SHAPE_ATTR_DOMAINS;
    case SLOT_CAPACITIES:
        return SHAPE_CAPACITY_DOMAINS;
    default:
        return SHAPE_NONE;
    }
}

/* Any name below the attributes of a domain is an attribute; upstream knows no other map
 * by name, so a capacity by name has no bound. */
static enum shape shape_below(const struct device_env *env, enum shape at,
                              const struct cel_step *step)
{
    if (step->index && (str_is(step->key, "@items") || str_is(step->key, "@values")))
        return (enum shape)shapes[at].value;
    if (step->index && str_is(step->key, "@keys"))
        return (enum shape)shapes[at].key;
    if (at == SHAPE_DEVICE)
        return shape_field(env, step->key);
    return at == SHAPE_ATTRS ? SHAPE_ATTR : SHAPE_NONE;
}

bool device_var_size(void *decl, const struct cel_step *steps, unsigned n, uint64_t *max)
{
    enum shape at = SHAPE_DEVICE;
    for (unsigned i = 0; i < n; i++) {
        at = shape_below(decl, at, &steps[i]);
        if (at == SHAPE_NONE)
            return false;
    }
    *max = shapes[at].max;
    return true;
}
