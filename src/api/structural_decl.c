/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas as types of expressions, with the sizes that cost estimates need (apiserver
 * pkg/cel/common, SchemaDeclType).
 */
#include <stdlib.h>

#include "api/structural_inner.h"

enum {
    MIN_BOOL = 4,
    MIN_NUMBER = 1,
    MIN_STRING = 2,
    MIN_DURATION = 3,
    MIN_DATE_TIME = 21,
    DATE = 12,
    MAX_TIME = 32,
    NAME_LENGTH = 253,
};

/* ---- What every resource has ---- */

static bool typed(const struct schema *s, const char *name, enum schema_type type)
{
    const struct schema *p = s ? schema_prop(s, str_from(name)) : NULL;
    return p && p->type == type;
}

static struct schema *string_schema(struct arena *a, int64_t max)
{
    struct schema *s = ARENA_NEW(a, struct schema);
    *s = schema_empty;
    s->type = SCHEMA_STRING;
    s->type_name = STR("string");
    if (max < 0)
        return s;
    s->values = ARENA_NEW(a, struct schema_values);
    s->values->set = 1 << BOUND_MAX_LENGTH;
    s->values->whole[BOUND_MAX_LENGTH] = max;
    return s;
}

static struct schema *name_schema(const struct schema *meta, const char *name,
                                  int64_t max, struct arena *a)
{
    const struct schema *p = meta ? schema_prop(meta, str_from(name)) : NULL;
    if (p && schema_bounded(p, BOUND_MAX_LENGTH) &&
        p->values->whole[BOUND_MAX_LENGTH] < max)
        max = p->values->whole[BOUND_MAX_LENGTH];
    return string_schema(a, max);
}

static struct schema *meta_schema(const struct schema *meta, struct arena *a)
{
    struct schema *s = ARENA_NEW(a, struct schema);
    *s = schema_empty;
    s->type = SCHEMA_OBJECT;
    s->type_name = STR("object");
    s->has_props = true;
    s->props = ARENA_ARRAY(a, struct schema_prop, 2);
    s->props[s->nprops++] = (struct schema_prop){
        STR("generateName"), name_schema(meta, "generateName", NAME_LENGTH - 1, a)};
    s->props[s->nprops++] =
        (struct schema_prop){STR("name"), name_schema(meta, "name", NAME_LENGTH, a)};
    return s;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct schema_prop *)a)->name,
                   ((const struct schema_prop *)b)->name);
}

/* s with apiVersion, kind and the names in metadata, unless it says all of them. */
static struct schema *with_meta(struct schema *s, struct arena *a)
{
    struct schema *meta = schema_prop(s, STR("metadata"));
    if (typed(s, "kind", SCHEMA_STRING) && typed(s, "apiVersion", SCHEMA_STRING) &&
        typed(s, "metadata", SCHEMA_OBJECT) && typed(meta, "name", SCHEMA_STRING) &&
        typed(meta, "generateName", SCHEMA_STRING))
        return s;
    struct schema *copy = ARENA_NEW(a, struct schema);
    *copy = *s;
    copy->has_props = true;
    copy->nprops = 0;
    copy->props = ARENA_ARRAY(a, struct schema_prop, (size_t)s->nprops + 3);
    for (uint32_t i = 0; i < s->nprops; i++)
        if (!str_is(s->props[i].name, "kind") && !str_is(s->props[i].name, "metadata") &&
            !str_is(s->props[i].name, "apiVersion"))
            copy->props[copy->nprops++] = s->props[i];
    copy->props[copy->nprops++] =
        (struct schema_prop){STR("apiVersion"), string_schema(a, -1)};
    copy->props[copy->nprops++] = (struct schema_prop){STR("kind"), string_schema(a, -1)};
    copy->props[copy->nprops++] =
        (struct schema_prop){STR("metadata"), meta_schema(meta, a)};
    qsort(copy->props, copy->nprops, sizeof *copy->props, by_name);
    return copy;
}

/* ---- Sizes ---- */

static int64_t whole(const struct schema *s, enum schema_bound b)
{
    int64_t v = s->values->whole[b];
    return v < 0 ? 0 : v;
}

/* maxLength counts code points, the estimate bytes. */
static uint64_t text_size(const struct schema *s)
{
    int64_t max = 0;
    const struct doc *enums = s->values->enums;
    if (schema_bounded(s, BOUND_MAX_LENGTH))
        return (uint64_t)whole(s, BOUND_MAX_LENGTH) * 4;
    if (!enums || s->int_or_string)
        return API_CEL_REQUEST_MAX - 2;
    for (uint32_t i = 0; i < enums->n; i++)
        if (enums->items[i].type == DOC_STRING && enums->items[i].n > max)
            max = enums->items[i].n;
    return (uint64_t)max;
}

static uint64_t items_size(const struct schema *s, const struct schema_decl *elem)
{
    if (schema_bounded(s, BOUND_MAX_ITEMS))
        return (uint64_t)whole(s, BOUND_MAX_ITEMS);
    return (uint64_t)((API_CEL_REQUEST_MAX - 2) / (elem->min + 1));
}

static uint64_t members_size(const struct schema *s, const struct schema_decl *elem)
{
    if (schema_bounded(s, BOUND_MAX_PROPERTIES))
        return (uint64_t)whole(s, BOUND_MAX_PROPERTIES);
    return (uint64_t)((API_CEL_REQUEST_MAX - 2) / (elem->min + 6));
}

/* ---- Types ---- */

static struct schema_decl *make(struct arena *a, const struct cel_type *type,
                                uint64_t max, int64_t min)
{
    struct schema_decl *d = ARENA_NEW(a, struct schema_decl);
    *d = (struct schema_decl){.type = type, .max = max, .min = min};
    return d;
}

static struct schema_decl *string_decl(const struct schema *s, struct arena *a)
{
    struct str f = s->values->format;
    if (str_is(f, "byte"))
        return make(a, &cel_type_bytes,
                    schema_bounded(s, BOUND_MAX_LENGTH)
                        ? (uint64_t)whole(s, BOUND_MAX_LENGTH)
                        : API_CEL_REQUEST_MAX - 2,
                    MIN_STRING);
    if (str_is(f, "duration"))
        return make(a, &cel_type_duration, MAX_TIME, MIN_DURATION);
    if (str_is(f, "date"))
        return make(a, &cel_type_timestamp, DATE, DATE);
    if (str_is(f, "date-time"))
        return make(a, &cel_type_timestamp, MAX_TIME, MIN_DATE_TIME);
    return make(a, &cel_type_string, text_size(s), MIN_STRING);
}

static struct schema_decl *list_decl(struct schema *s, struct arena *a)
{
    const struct schema_decl *elem =
        s->items ? schema_declare(s->items, s->items->embedded, a) : NULL;
    if (!elem)
        return NULL;
    struct schema_decl *d =
        make(a, cel_type_list(a, elem->type), items_size(s, elem), MIN_STRING);
    d->elem = elem;
    return d;
}

static struct schema_decl *map_decl(struct schema *s, struct arena *a)
{
    const struct schema_decl *elem = schema_declare(s->extra, s->extra->embedded, a);
    if (!elem)
        return NULL;
    struct schema_decl *d = make(a, cel_type_map(a, &cel_type_string, elem->type),
                                 members_size(s, elem), MIN_STRING);
    d->elem = elem;
    return d;
}

/* By property, which of them are required. */
static const bool *required_of(const struct schema *s, struct arena *a)
{
    const struct doc *required = s->values->required;
    bool *set = ARENA_ARRAY(a, bool, s->nprops);
    for (uint32_t i = 0; required && i < required->n; i++) {
        uint32_t at = schema_prop_index(s, doc_str(&required->items[i]));
        if (at < s->nprops)
            set[at] = true;
    }
    return set;
}

static int by_field(const void *a, const void *b)
{
    return str_cmp(((const struct schema_decl_field *)a)->name,
                   ((const struct schema_decl_field *)b)->name);
}

/* The name is nobody's business, and only has to be another one each time. */
static const struct cel_type *object_type(const struct schema_decl *d, struct arena *a)
{
    struct cel_object_type *t = ARENA_NEW(a, struct cel_object_type);
    struct cel_field *fields = ARENA_ARRAY(a, struct cel_field, d->nfields);
    for (uint32_t i = 0; i < d->nfields; i++)
        fields[i] = (struct cel_field){d->fields[i].name.p, d->fields[i].decl->type};
    t->name = arena_printf(a, "selfType%zx", (size_t)(uintptr_t)d).p;
    t->fields = fields;
    t->nfields = d->nfields;
    return cel_type_object(a, t);
}

static struct schema_decl *object_decl(struct schema *s, struct arena *a)
{
    struct schema_decl_field *fields =
        ARENA_ARRAY(a, struct schema_decl_field, s->nprops);
    struct schema_decl *d = make(a, NULL, 0, MIN_STRING);
    const bool *required = required_of(s, a);
    for (uint32_t i = 0; i < s->nprops; i++) {
        struct schema *p = s->props[i].schema;
        struct str name = s->props[i].name, escaped;
        const struct schema_decl *decl = schema_declare(p, p->embedded, a);
        if (!decl)
            continue;
        if (api_cel_escape(name, a, &escaped))
            fields[d->nfields++] = (struct schema_decl_field){escaped, decl};
        if (!p->def && required[i])
            d->min += (int64_t)name.n + decl->min + 4;
    }
    if (d->nfields > 1)
        qsort(fields, d->nfields, sizeof *fields, by_field);
    d->fields = fields;
    d->type = object_type(d, a);
    return d;
}

static struct schema_decl *declare(struct schema *s, struct arena *a)
{
    if (s->int_or_string)
        return make(a, &cel_type_dyn, text_size(s), MIN_NUMBER);
    switch (s->type) {
    case SCHEMA_ARRAY:
        return list_decl(s, a);
    case SCHEMA_OBJECT:
        return s->extra ? map_decl(s, a) : object_decl(s, a);
    case SCHEMA_STRING:
        return string_decl(s, a);
    case SCHEMA_BOOLEAN:
        return make(a, &cel_type_bool, 0, MIN_BOOL);
    case SCHEMA_NUMBER:
        return make(a, &cel_type_double, 0, MIN_NUMBER);
    case SCHEMA_INTEGER:
        return make(a, &cel_type_int, 0, MIN_NUMBER);
    default:
        return NULL;
    }
}

const struct schema_decl *schema_declare(struct schema *s, bool resource, struct arena *a)
{
    if (s->declared)
        return s->decl;
    s->declared = true;
    if (resource && !s->int_or_string)
        s->as_resource = with_meta(s, a);
    s->decl = declare(s->as_resource ? s->as_resource : s, a);
    return s->decl;
}

/* ---- Sizes of paths ---- */

static const struct schema_decl *field_of(const struct schema_decl *d, struct str name)
{
    const struct schema_decl_field key = {.name = name};
    const struct schema_decl_field *f =
        d->nfields ? bsearch(&key, d->fields, d->nfields, sizeof key, by_field) : NULL;
    return f ? f->decl : NULL;
}

bool schema_decl_size(void *decl, const struct cel_step *steps, unsigned n, uint64_t *max)
{
    static const struct schema_decl key = {0};
    const struct schema_decl *d = decl;
    for (unsigned i = 0; d && i < n; i++) {
        if (!steps[i].index)
            d = field_of(d, steps[i].key);
        else if (str_is(steps[i].key, "@keys"))
            d = d->elem && d->type->kind == CEL_T_MAP ? &key : NULL;
        else
            d = str_is(steps[i].key, "@indices") ? NULL : d->elem;
    }
    if (!d)
        return false;
    *max = d->max;
    return true;
}
