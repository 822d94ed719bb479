/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/attributes.h"

static const char *const FIELDS[] = {
    [DRIVER_STRING] = "string",   [DRIVER_INT] = "int",           [DRIVER_BOOL] = "bool",
    [DRIVER_VERSION] = "version", [DRIVER_STRINGS] = "strings",   [DRIVER_INTS] = "ints",
    [DRIVER_BOOLS] = "bools",     [DRIVER_VERSIONS] = "versions",
};

static struct doc item_doc(const struct driver_value *v, uint32_t i, struct arena *a)
{
    switch (v->kind) {
    case DRIVER_INTS:
        return doc_make_int(a, v->numbers[i]);
    case DRIVER_BOOLS:
        return doc_make_bool(v->numbers[i] != 0);
    default:
        return doc_make_string(a, v->texts[i]);
    }
}

static struct doc bare_doc(const struct driver_value *v, struct arena *a)
{
    if (v->kind == DRIVER_STRING || v->kind == DRIVER_VERSION)
        return doc_make_string(a, v->text);
    if (v->kind == DRIVER_INT)
        return doc_make_int(a, v->number);
    if (v->kind == DRIVER_BOOL)
        return doc_make_bool(v->number != 0);
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < v->n; i++)
        doc_append(a, &list, item_doc(v, i, a));
    return list;
}

struct doc driver_value_doc(const struct driver_value *v, struct arena *a)
{
    struct doc map = doc_make_map();
    doc_set(a, &map, FIELDS[v->kind], bare_doc(v, a));
    return map;
}

const struct doc *driver_attributes_doc(const struct driver_device *d, struct arena *a)
{
    if (d->nattributes == 0)
        return NULL;
    struct doc *map = ARENA_NEW(a, struct doc);
    *map = doc_make_map();
    for (uint32_t i = 0; i < d->nattributes; i++)
        doc_set_str(a, map, d->attributes[i].name,
                    driver_value_doc(&d->attributes[i].value, a));
    return map;
}
