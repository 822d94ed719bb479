/* SPDX-License-Identifier: Apache-2.0 */
/* Views of ResourceSlice and DeviceTaintRule. */
#include <stdlib.h>

#include "api/view_read.h"

/* Devices of one slice repeat each other's names and values: texts that were just copied
 * are used again, and so are versions that were just parsed. */
struct recent {
    struct str text;
    const struct semver *version; /* of text, NULL: not parsed */
};
enum { NRECENT = 64 };

struct slice_reader {
    struct view_reader r;
    struct device_names *names;
    struct str driver;
    struct recent recent[NRECENT]; /* by hash */
};

static struct recent *share(struct slice_reader *s, struct str text)
{
    struct recent *e = &s->recent[str_hash(text) % NRECENT];
    if (!e->text.p || !str_eq(e->text, text))
        *e = (struct recent){arena_str(s->r.a, text), NULL};
    return e;
}

static void read_version(struct slice_reader *s, struct str text,
                         struct device_attr_value *v)
{
    struct recent *e = share(s, text);
    struct semver parsed;
    if (!e->version && semver_parse(e->text, false, s->r.a, &parsed, NULL)) {
        struct semver *kept = ARENA_NEW(s->r.a, struct semver);
        *kept = parsed;
        e->version = kept;
    }
    *v = (struct device_attr_value){
        .kind = DEVICE_ATTR_VERSION, .s = e->text, .versions = e->version};
}

static void read_ints(struct view_reader *r, const struct doc *list,
                      struct device_attr_value *v)
{
    int64_t *ints = VIEW_ITEMS(r, list, int64_t, &v->n);
    for (uint32_t i = 0; i < v->n; i++)
        if (!doc_int64(&list->items[i], &ints[i]))
            view_fail(r, "ints", "a list of integers", &list->items[i]);
    v->ints = ints;
}

static void read_bools(struct view_reader *r, const struct doc *list,
                       struct device_attr_value *v)
{
    bool *bools = VIEW_ITEMS(r, list, bool, &v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        if (list->items[i].type != DOC_BOOL)
            view_fail(r, "bools", "a list of booleans", &list->items[i]);
        else
            bools[i] = list->items[i].b;
    }
    v->bools = bools;
}

/* Lists first, then scalars, in the order upstream looks (spec 4.1). */
static struct device_attr_value read_list(struct view_reader *r, const struct doc *d)
{
    struct device_attr_value v = {0};
    const struct doc *list;
    if ((list = view_list(r, d, "ints")) != NULL) {
        v.kind = DEVICE_ATTR_INTS;
        read_ints(r, list, &v);
    } else if ((list = view_list(r, d, "bools")) != NULL) {
        v.kind = DEVICE_ATTR_BOOLS;
        read_bools(r, list, &v);
    } else if (view_list(r, d, "strings")) {
        struct view_strs s = view_strs(r, d, "strings");
        v = (struct device_attr_value){
            .kind = DEVICE_ATTR_STRINGS, .n = s.n, .strings = s.v};
    } else if (view_list(r, d, "versions")) {
        struct view_strs s = view_strs(r, d, "versions");
        v = (struct device_attr_value){
            .kind = DEVICE_ATTR_VERSIONS, .n = s.n, .strings = s.v};
    }
    return v;
}

static struct device_attr_value read_attr(struct slice_reader *s, const struct doc *d)
{
    struct view_reader *r = &s->r;
    struct device_attr_value v = read_list(r, d);
    const struct doc *m;
    if (v.kind != DEVICE_ATTR_NONE)
        return v;
    if ((m = doc_get(d, "int")) != NULL && m->type != DOC_NULL) {
        v.kind = DEVICE_ATTR_INT;
        v.i = view_int(r, d, "int");
    } else if ((m = doc_get(d, "bool")) != NULL && m->type != DOC_NULL) {
        v.kind = DEVICE_ATTR_BOOL;
        v.b = view_bool(r, d, "bool", NULL);
    } else if ((m = doc_get(d, "string")) != NULL && m->type != DOC_NULL) {
        v.kind = DEVICE_ATTR_STRING;
        if (m->type == DOC_STRING)
            v.s = share(s, doc_str(m))->text;
        else
            view_fail(r, "string", "a string", m);
    } else if ((m = doc_get(d, "version")) != NULL && m->type == DOC_STRING) {
        read_version(s, doc_str(m), &v);
    }
    return v;
}

static struct device_attr *read_attrs(struct slice_reader *s, const struct doc *map,
                                      uint32_t *n)
{
    struct device_attr *v = VIEW_ITEMS(&s->r, map, struct device_attr, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc_member *m = &map->members[i];
        v[i].name = share(s, doc_key(m))->text;
        v[i].value = read_attr(s, &m->value);
    }
    return v;
}

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

static struct device_capacity *read_capacities(struct slice_reader *s,
                                               const struct doc *map, uint32_t *n)
{
    struct device_capacity *v = VIEW_ITEMS(&s->r, map, struct device_capacity, n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc_member *m = &map->members[i];
        v[i].name = share(s, doc_key(m))->text;
        view_quantity(&s->r, &m->value, "value", &v[i].value);
        v[i].policy = read_policy(&s->r, view_map(&s->r, &m->value, "requestPolicy"));
    }
    return v;
}

/* What selectors see. */
static void read_facts(struct slice_reader *s, const struct doc *d,
                       struct device_facts *out)
{
    struct view_reader *r = &s->r;
    uint32_t nattrs, ncapacities;
    struct device_attr *attrs = read_attrs(s, view_map(r, d, "attributes"), &nattrs);
    struct device_capacity *capacities =
        read_capacities(s, view_map(r, d, "capacity"), &ncapacities);
    bool multiple = view_bool(r, d, "allowMultipleAllocations", NULL);
    device_facts_make(out, s->names, s->driver, attrs, nattrs, capacities, ncapacities,
                      multiple, r->a);
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

static void read_device(struct slice_reader *s, const struct doc *d,
                        struct view_device *out)
{
    struct view_reader *r = &s->r;
    out->name = view_text(r, d, "name");
    read_facts(s, d, &out->facts);
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
