/* SPDX-License-Identifier: Apache-2.0 */
#include "device/internal.h"

static bool is_qualified(struct str name)
{
    return str_find_byte(name, '/', 0) != SIZE_MAX;
}

/* By id, the spelling with a domain first. */
static int name_order(uint32_t a, struct str a_name, uint32_t b, struct str b_name)
{
    if (a != b)
        return a < b ? -1 : 1;
    return (int)is_qualified(b_name) - (int)is_qualified(a_name);
}

static int attr_order(const void *a, const void *b)
{
    const struct device_attr *x = a, *y = b;
    return name_order(x->id, x->name, y->id, y->name);
}

static int capacity_order(const void *a, const void *b)
{
    const struct device_capacity *x = a, *y = b;
    return name_order(x->id, x->name, y->id, y->name);
}

static uint32_t sort_attrs(struct device_attr *v, uint32_t n)
{
    uint32_t kept = 0;
    if (n > 1)
        qsort(v, n, sizeof *v, attr_order);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || v[i].id != v[kept - 1].id)
            v[kept++] = v[i];
    return kept;
}

static uint32_t sort_capacities(struct device_capacity *v, uint32_t n)
{
    uint32_t kept = 0;
    if (n > 1)
        qsort(v, n, sizeof *v, capacity_order);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || v[i].id != v[kept - 1].id)
            v[kept++] = v[i];
    return kept;
}

/* ---- Versions ---- */

static bool is_version(const struct device_attr_value *v)
{
    return v->kind == DEVICE_ATTR_VERSION || v->kind == DEVICE_ATTR_VERSIONS;
}

static uint32_t count_of(const struct device_attr_value *v)
{
    return v->kind <= DEVICE_ATTR_VERSION ? 1 : v->n;
}

static struct str version_text(const struct device_attr_value *v, uint32_t i)
{
    return v->kind == DEVICE_ATTR_VERSION ? v->s : v->strings[i];
}

/* False: one of them is none, and why. */
static bool parse_versions(struct device_attr_value *v, struct arena *a, struct err *e)
{
    uint32_t n = count_of(v);
    struct semver *parsed = ARENA_ARRAY(a, struct semver, n);
    for (uint32_t i = 0; i < n && !v->bad; i++)
        v->bad = !semver_parse(version_text(v, i), false, a, &parsed[i], e);
    v->versions = v->bad ? NULL : parsed;
    return !v->bad;
}

/* The text that every expression on the device fails with, if the attribute is why. */
static struct str check_attr(struct device_attr *attr, struct arena *a)
{
    struct err e = ERR_INIT;
    struct str text = STR_NONE;
    if (attr->value.kind == DEVICE_ATTR_NONE) {
        text = arena_printf(a, "attribute %.*s: unsupported attribute value",
                            STR_ARG(attr->name));
    } else if (is_version(&attr->value) && !attr->value.versions) {
        attr->value.bad = false;
        if (!parse_versions(&attr->value, a, &e))
            text = arena_printf(a, "attribute %.*s: parse semantic version: %s",
                                STR_ARG(attr->name), err_text(&e));
    }
    err_release(&e);
    return text;
}

/* Upstream reports any of several; here it is the first by name. */
static struct str check_attrs(struct device_attr *v, uint32_t n, struct arena *a)
{
    struct str bad = STR_NONE, name = STR_NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct str text = check_attr(&v[i], a);
        if (text.n && (!bad.n || str_cmp(v[i].name, name) < 0)) {
            bad = text;
            name = v[i].name;
        }
    }
    return bad;
}

/* ---- Values ---- */

static struct cel_value semver_value(const struct semver *v)
{
    return (struct cel_value){.kind = CEL_SEMVER, .semver = v};
}

static struct cel_value item_value(const struct device_attr_value *v, uint32_t i)
{
    switch (v->kind) {
    case DEVICE_ATTR_INTS:
        return cel_int(v->ints[i]);
    case DEVICE_ATTR_BOOLS:
        return cel_bool(v->bools[i]);
    case DEVICE_ATTR_STRINGS:
        return cel_string_marked(v->strings[i]);
    default:
        return semver_value(&v->versions[i]);
    }
}

static struct cel_value list_value(const struct device_attr_value *v, struct arena *a)
{
    struct cel_value *items = ARENA_ARRAY(a, struct cel_value, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        items[i] = item_value(v, i);
    return cel_list(items, v->n);
}

static struct cel_value attr_value(const struct device_attr_value *v, struct arena *a)
{
    switch (v->kind) {
    case DEVICE_ATTR_NONE:
        return cel_null();
    case DEVICE_ATTR_INT:
        return cel_int(v->i);
    case DEVICE_ATTR_BOOL:
        return cel_bool(v->b);
    case DEVICE_ATTR_STRING:
        return cel_string_marked(v->s);
    case DEVICE_ATTR_VERSION:
        return v->bad ? cel_null() : semver_value(v->versions);
    default:
        return v->bad ? cel_null() : list_value(v, a);
    }
}

static void fill_attrs(struct device_facts *out, struct arena *a)
{
    uint32_t *ids = ARENA_ARRAY(a, uint32_t, out->nattrs);
    struct cel_value *values = ARENA_ARRAY(a, struct cel_value, out->nattrs);
    for (uint32_t i = 0; i < out->nattrs; i++) {
        ids[i] = out->attrs[i].id;
        values[i] = attr_value(&out->attrs[i].value, a);
    }
    out->attr_ids = ids;
    out->attr_values = values;
}

static void fill_capacities(struct device_facts *out, struct arena *a)
{
    uint32_t *ids = ARENA_ARRAY(a, uint32_t, out->ncapacities);
    for (uint32_t i = 0; i < out->ncapacities; i++)
        ids[i] = out->capacities[i].id;
    out->capacity_ids = ids;
}

void device_facts_make(struct device_facts *out, struct device_names *names,
                       struct str driver, struct device_attr *attrs, uint32_t nattrs,
                       struct device_capacity *capacities, uint32_t ncapacities,
                       bool allow_multiple, struct arena *a)
{
    for (uint32_t i = 0; i < nattrs; i++)
        attrs[i].id = device_name_id(names, driver, attrs[i].name);
    for (uint32_t i = 0; i < ncapacities; i++)
        capacities[i].id = device_name_id(names, driver, capacities[i].name);
    *out = (struct device_facts){.driver = driver,
                                 .driver_value = cel_string_marked(driver),
                                 .attrs = attrs,
                                 .capacities = capacities,
                                 .allow_multiple = allow_multiple,
                                 .bad = check_attrs(attrs, nattrs, a)};
    out->nattrs = sort_attrs(attrs, nattrs);
    out->ncapacities = sort_capacities(capacities, ncapacities);
    fill_attrs(out, a);
    fill_capacities(out, a);
}
