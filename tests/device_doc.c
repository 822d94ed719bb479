/* SPDX-License-Identifier: Apache-2.0 */
#include "device_doc.h"

static uint32_t members(const struct doc *d)
{
    return d && d->type == DOC_MAP ? d->n : 0;
}

static struct device_attr_value read_ints(const struct doc *list, struct arena *a)
{
    int64_t *v = ARENA_ARRAY(a, int64_t, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        doc_int64(&list->items[i], &v[i]);
    return (struct device_attr_value){.kind = DEVICE_ATTR_INTS, .n = list->n, .ints = v};
}

static struct device_attr_value read_bools(const struct doc *list, struct arena *a)
{
    bool *v = ARENA_ARRAY(a, bool, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        v[i] = list->items[i].b;
    return (struct device_attr_value){
        .kind = DEVICE_ATTR_BOOLS, .n = list->n, .bools = v};
}

static struct device_attr_value read_texts(const struct doc *list, uint8_t kind,
                                           struct arena *a)
{
    struct str *v = ARENA_ARRAY(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        v[i] = doc_str(&list->items[i]);
    return (struct device_attr_value){.kind = kind, .n = list->n, .strings = v};
}

static struct device_attr_value read_attr(const struct doc *d, struct arena *a)
{
    const struct doc *v;
    struct device_attr_value out = {0};
    if ((v = doc_get(d, "ints")))
        return read_ints(v, a);
    if ((v = doc_get(d, "bools")))
        return read_bools(v, a);
    if ((v = doc_get(d, "strings")))
        return read_texts(v, DEVICE_ATTR_STRINGS, a);
    if ((v = doc_get(d, "versions")))
        return read_texts(v, DEVICE_ATTR_VERSIONS, a);
    if (doc_get_int64(d, "int", &out.i))
        out.kind = DEVICE_ATTR_INT;
    else if (doc_get_bool(d, "bool", &out.b))
        out.kind = DEVICE_ATTR_BOOL;
    else if ((v = doc_get(d, "string"))) {
        out.kind = DEVICE_ATTR_STRING;
        out.s = doc_str(v);
    } else if ((v = doc_get(d, "version"))) {
        out.kind = DEVICE_ATTR_VERSION;
        out.s = doc_str(v);
    }
    return out;
}

void device_doc_read(struct device_names *names, const struct doc *d, struct arena *a,
                     struct device_facts *out)
{
    const struct doc *attributes = doc_get(d, "attributes");
    const struct doc *capacity = doc_get(d, "capacity");
    uint32_t nattrs = members(attributes), ncapacities = members(capacity);
    struct device_attr *attrs = ARENA_ARRAY(a, struct device_attr, nattrs);
    struct device_capacity *capacities =
        ARENA_ARRAY(a, struct device_capacity, ncapacities);
    for (uint32_t i = 0; i < nattrs; i++) {
        attrs[i].name = doc_key(&attributes->members[i]);
        attrs[i].value = read_attr(&attributes->members[i].value, a);
    }
    for (uint32_t i = 0; i < ncapacities; i++) {
        capacities[i].name = doc_key(&capacity->members[i]);
        quantity_parse(doc_get_text(&capacity->members[i].value, "value"), a,
                       &capacities[i].value, NULL);
    }
    bool multiple = false;
    doc_get_bool(d, "allowMultipleAllocations", &multiple);
    device_facts_make(out, names, doc_get_text(d, "driver"), attrs, nattrs, capacities,
                      ncapacities, multiple, a);
}

static struct doc texts_doc(const struct device_attr_value *v, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < v->n; i++)
        doc_append(a, &list, doc_make_string(a, v->strings[i]));
    return list;
}

static struct doc list_doc(const struct device_attr_value *v, struct arena *a)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < v->n; i++)
        doc_append(a, &list,
                   v->kind == DEVICE_ATTR_INTS ? doc_make_int(a, v->ints[i])
                                               : doc_make_bool(v->bools[i]));
    return list;
}

struct doc device_doc_attr(const struct device_attr_value *v, struct arena *a)
{
    struct doc d = doc_make_map();
    switch (v->kind) {
    case DEVICE_ATTR_INT:
        doc_set(a, &d, "int", doc_make_int(a, v->i));
        break;
    case DEVICE_ATTR_BOOL:
        doc_set(a, &d, "bool", doc_make_bool(v->b));
        break;
    case DEVICE_ATTR_STRING:
        doc_set(a, &d, "string", doc_make_string(a, v->s));
        break;
    case DEVICE_ATTR_VERSION:
        doc_set(a, &d, "version", doc_make_string(a, v->s));
        break;
    case DEVICE_ATTR_INTS:
        doc_set(a, &d, "ints", list_doc(v, a));
        break;
    case DEVICE_ATTR_BOOLS:
        doc_set(a, &d, "bools", list_doc(v, a));
        break;
    case DEVICE_ATTR_STRINGS:
        doc_set(a, &d, "strings", texts_doc(v, a));
        break;
    default:
        doc_set(a, &d, "versions", texts_doc(v, a));
        break;
    }
    return d;
}
