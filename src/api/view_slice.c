/* SPDX-License-Identifier: Apache-2.0 */
/* Views of ResourceSlice and DeviceTaintRule. */
#include <stdlib.h>

#include "api/view_read.h"
#include "base/vec.h"

/* Attributes and capacities are read into room that the devices of a slice share, their
 * texts borrowed: device_facts_make keeps each value once. */
struct slice_reader {
    struct view_reader r;
    struct device_names *names;
    struct str driver;
    struct arena scratch; /* of a device's lists */
    VEC(struct device_attr) attrs;
    VEC(struct device_capacity) capacities;
};

/* ---- Attributes ---- */

static void read_ints(struct slice_reader *s, const struct doc *list,
                      struct device_attr_value *v)
{
    int64_t *ints = ARENA_ARRAY(&s->scratch, int64_t, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (!doc_int64(&list->items[i], &ints[i]))
            view_fail(&s->r, "ints", "a list of integers", &list->items[i]);
    v->ints = ints;
}

static void read_bools(struct slice_reader *s, const struct doc *list,
                       struct device_attr_value *v)
{
    bool *bools = ARENA_ARRAY(&s->scratch, bool, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type != DOC_BOOL)
            view_fail(&s->r, "bools", "a list of booleans", &list->items[i]);
        else
            bools[i] = list->items[i].b;
    }
    v->bools = bools;
}

static void read_texts(struct slice_reader *s, const struct doc *list,
                       struct device_attr_value *v)
{
    struct str *texts = ARENA_ARRAY(&s->scratch, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type != DOC_STRING)
            view_fail(&s->r, v->kind == DEVICE_ATTR_STRINGS ? "strings" : "versions",
                      "a list of strings", &list->items[i]);
        else
            texts[i] = doc_str(&list->items[i]);
    }
    v->strings = texts;
}

static void read_int(struct slice_reader *s, const struct doc *d,
                     struct device_attr_value *v)
{
    if (!doc_int64(d, &v->i))
        view_fail(&s->r, "int", "a 64-bit integer", d);
}

static void read_bool(struct slice_reader *s, const struct doc *d,
                      struct device_attr_value *v)
{
    v->b = d->b;
}

static void read_text(struct slice_reader *s, const struct doc *d,
                      struct device_attr_value *v)
{
    v->s = doc_str(d);
}

/* Lists first, then scalars, in the order upstream looks (spec 4.1). */
static const struct attr_field {
    struct str name;
    uint8_t kind, type;
    const char *want;
    void (*read)(struct slice_reader *s, const struct doc *d,
                 struct device_attr_value *v);
} attr_fields[] = {
    {{"ints", 4}, DEVICE_ATTR_INTS, DOC_LIST, "a list", read_ints},
    {{"bools", 5}, DEVICE_ATTR_BOOLS, DOC_LIST, "a list", read_bools},
    {{"strings", 7}, DEVICE_ATTR_STRINGS, DOC_LIST, "a list", read_texts},
    {{"versions", 8}, DEVICE_ATTR_VERSIONS, DOC_LIST, "a list", read_texts},
    {{"int", 3}, DEVICE_ATTR_INT, DOC_NUMBER, "an integer", read_int},
    {{"bool", 4}, DEVICE_ATTR_BOOL, DOC_BOOL, "true or false", read_bool},
    {{"string", 6}, DEVICE_ATTR_STRING, DOC_STRING, "a string", read_text},
    {{"version", 7}, DEVICE_ATTR_VERSION, DOC_STRING, "a string", read_text},
};
enum { NATTR_FIELDS = sizeof attr_fields / sizeof *attr_fields };

/* The value, unless it is null. */
static void read_field(struct slice_reader *s, const struct attr_field *f,
                       const struct doc *d, struct device_attr_value *v)
{
    if (d->type == DOC_NULL)
        return;
    if (d->type != f->type) {
        view_fail(&s->r, f->name.p, f->want, d);
        return;
    }
    v->kind = f->kind;
    v->n = d->type == DOC_LIST ? d->n : 0;
    f->read(s, d, v);
}

/* The row of a value's only member, which all values have that make sense; NULL. */
static const struct attr_field *only_field(const struct doc *d)
{
    if (d->n == 1)
        for (int i = 0; i < NATTR_FIELDS; i++)
            if (str_eq(doc_key(d->members), attr_fields[i].name))
                return &attr_fields[i];
    return NULL;
}

static struct device_attr_value read_attr(struct slice_reader *s, const struct doc *d)
{
    struct device_attr_value v = {0};
    if (d->type != DOC_MAP)
        return v;
    const struct attr_field *only = only_field(d);
    if (only)
        read_field(s, only, &d->members->value, &v);
    for (int i = 0; !only && i < NATTR_FIELDS && v.kind == DEVICE_ATTR_NONE; i++) {
        const struct doc *m = doc_get_str(d, attr_fields[i].name);
        if (m)
            read_field(s, &attr_fields[i], m, &v);
    }
    return v;
}

static void read_attrs(struct slice_reader *s, const struct doc *map)
{
    vec_clear(&s->attrs);
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct doc_member *m = &map->members[i];
        vec_push(&s->attrs, (struct device_attr){doc_key(m), read_attr(s, &m->value)});
    }
}

/* ---- Capacities ---- */

static const struct quantity *optional_quantity(struct view_reader *r,
                                                const struct doc *d, const char *field)
{
    struct quantity q;
    if (!view_quantity(r, d, field, &q))
        return NULL;
    struct quantity *out = ARENA_NEW(r->a, struct quantity);
    *out = q;
    return out;
}

static const struct device_capacity_policy *read_policy(struct view_reader *r,
                                                        const struct doc *d)
{
    if (!d)
        return NULL;
    struct device_capacity_policy *p = ARENA_NEW(r->a, struct device_capacity_policy);
    p->def = optional_quantity(r, d, "default");
    const struct doc *values = view_list(r, d, "validValues");
    struct quantity *v = VIEW_ITEMS(r, values, struct quantity, &p->nvalid_values);
    for (uint32_t i = 0; i < p->nvalid_values; i++)
        if (!quantity_parse(doc_str(&values->items[i]), r->a, &v[i], NULL))
            view_fail(r, "validValues", "a list of quantities", &values->items[i]);
    p->valid_values = v;
    const struct doc *range = view_map(r, d, "validRange");
    p->has_range = range != NULL;
    p->min = optional_quantity(r, range, "min");
    p->max = optional_quantity(r, range, "max");
    p->step = optional_quantity(r, range, "step");
    return p;
}

static struct quantity read_amount(struct slice_reader *s, const struct doc *d)
{
    struct quantity q = QUANTITY_ZERO;
    struct view_reader brief = {&s->scratch, s->r.e, s->r.failed};
    view_quantity(&brief, d, "value", &q);
    s->r.failed = brief.failed;
    return q;
}

static void read_capacities(struct slice_reader *s, const struct doc *map)
{
    vec_clear(&s->capacities);
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct doc_member *m = &map->members[i];
        struct device_capacity c = {.name = doc_key(m),
                                    .value = read_amount(s, &m->value)};
        c.policy = read_policy(&s->r, view_map(&s->r, &m->value, "requestPolicy"));
        vec_push(&s->capacities, c);
    }
}

/* What selectors see. */
static void read_facts(struct slice_reader *s, const struct doc *d,
                       struct device_facts *out)
{
    struct view_reader *r = &s->r;
    arena_reset(&s->scratch);
    read_attrs(s, view_map(r, d, "attributes"));
    read_capacities(s, view_map(r, d, "capacity"));
    bool multiple = view_bool(r, d, "allowMultipleAllocations", NULL);
    device_facts_make(out, s->names, s->driver, s->attrs.v, (uint32_t)s->attrs.n,
                      s->capacities.v, (uint32_t)s->capacities.n, multiple, r->a);
}

static const struct view_consumption *read_consumes(struct view_reader *r,
                                                    const struct doc *list, uint32_t *n)
{
    struct view_consumption *v = VIEW_ITEMS(r, list, struct view_consumption, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *d = &list->items[i];
        v[i].counter_set = view_text(r, d, "counterSet");
        v[i].counters =
            view_amount_map(r, view_map(r, d, "counters"), "value", &v[i].ncounters);
        v[i].groups = view_strs(r, d, "compatibilityGroups");
    }
    return v;
}

static void read_binding(struct view_reader *r, const struct doc *d,
                         struct view_device *out)
{
    out->binds_to_node = view_bool(r, d, "bindsToNode", NULL);
    out->has_binding_conditions = view_list(r, d, "bindingConditions") != NULL;
    out->binding_conditions = view_strs(r, d, "bindingConditions");
    out->binding_failure_conditions = view_strs(r, d, "bindingFailureConditions");
}

/* What most devices have nothing of. */
static void read_more(struct view_reader *r, const struct doc *d, struct view_device *out)
{
    out->consumes =
        read_consumes(r, view_list(r, d, "consumesCounters"), &out->nconsumes);
    out->node_name = view_text(r, d, "nodeName");
    out->node_selector = view_read_node_selector(r, view_map(r, d, "nodeSelector"));
    out->all_nodes = view_bool(r, d, "allNodes", NULL);
    out->taints = view_read_taints(r, view_list(r, d, "taints"), &out->ntaints);
    read_binding(r, d, out);
    const struct doc *allocatable = view_map(r, d, "nodeAllocatableResources");
    if (allocatable) {
        struct doc *copy = ARENA_NEW(r->a, struct doc);
        *copy = doc_dup(r->a, allocatable);
        out->node_allocatable = copy;
    }
}

static bool has_more(const struct doc *d)
{
    for (uint32_t i = 0; d->type == DOC_MAP && i < d->n; i++) {
        struct str key = doc_key(&d->members[i]);
        if (!str_is(key, "name") && !str_is(key, "attributes") &&
            !str_is(key, "capacity"))
            return true;
    }
    return false;
}

static void read_device(struct slice_reader *s, const struct doc *d,
                        struct view_device *out)
{
    out->name = view_text(&s->r, d, "name");
    read_facts(s, d, &out->facts);
    if (has_more(d))
        read_more(&s->r, d, out);
}

static void read_counter_sets(struct view_reader *r, const struct doc *list,
                              struct view_slice *out)
{
    struct view_counter_set *v =
        VIEW_ITEMS(r, list, struct view_counter_set, &out->ncounter_sets);
    for (uint32_t i = 0; i < out->ncounter_sets; i++) {
        v[i].name = view_text(r, &list->items[i], "name");
        v[i].counters = view_amount_map(r, view_map(r, &list->items[i], "counters"),
                                        "value", &v[i].ncounters);
    }
    out->counter_sets = v;
}

static void read_slice(struct slice_reader *s, const struct doc *spec,
                       struct view_slice *out)
{
    struct view_reader *r = &s->r;
    const struct doc *pool = view_map(r, spec, "pool");
    out->driver = s->driver = view_text(r, spec, "driver");
    out->pool = view_text(r, pool, "name");
    out->generation = view_int(r, pool, "generation");
    out->slice_count = view_int(r, pool, "resourceSliceCount");
    out->node_name = view_text(r, spec, "nodeName");
    out->node_selector = view_read_node_selector(r, view_map(r, spec, "nodeSelector"));
    out->all_nodes = view_bool(r, spec, "allNodes", NULL);
    out->per_device = view_bool(r, spec, "perDeviceNodeSelection", &out->has_per_device);
    out->skip_node_operations = view_strs(r, spec, "skipNodeOperations");
    read_counter_sets(r, view_list(r, spec, "sharedCounters"), out);
    const struct doc *devices = view_list(r, spec, "devices");
    struct view_device *v = VIEW_ITEMS(r, devices, struct view_device, &out->ndevices);
    for (uint32_t i = 0; i < out->ndevices; i++)
        read_device(s, &devices->items[i], &v[i]);
    out->devices = v;
}

struct view_slice *view_slice_new(const struct doc *d, struct device_names *names,
                                  struct arena *a, struct err *e)
{
    struct slice_reader s = {.r = {.a = a, .e = e}, .names = names};
    struct view_slice *out = ARENA_NEW(a, struct view_slice);
    view_read_meta(&s.r, d, &out->meta);
    read_slice(&s, view_map(&s.r, d, "spec"), out);
    vec_release(&s.attrs);
    vec_release(&s.capacities);
    arena_fini(&s.scratch);
    if (!s.r.failed)
        return out;
    err_wrap(e, "ResourceSlice \"%.*s\"", STR_ARG(out->meta.name));
    return NULL;
}

struct view_taint_rule *view_taint_rule_new(const struct doc *d, struct arena *a,
                                            struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_taint_rule *out = ARENA_NEW(a, struct view_taint_rule);
    const struct doc *spec = view_map(&r, d, "spec");
    const struct doc *selector = view_map(&r, spec, "deviceSelector");
    view_read_meta(&r, d, &out->meta);
    out->has_selector = selector != NULL;
    out->driver = view_text(&r, selector, "driver");
    out->pool = view_text(&r, selector, "pool");
    out->device = view_text(&r, selector, "device");
    out->taint = view_read_taint(&r, view_map(&r, spec, "taint"));
    if (!r.failed)
        return out;
    err_wrap(e, "DeviceTaintRule \"%.*s\"", STR_ARG(out->meta.name));
    return NULL;
}
