/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas as rows of the tables that server-side apply walks (kube-openapi
 * pkg/schemaconv): which lists have keys, what is owned as one.
 */
#include "api/structural_inner.h"

/* preserve: a schema around it keeps unknown members, and so does what is below. */
struct typer {
    struct arena *a;
    bool preserve;
};

enum { NAME_MAX = UINT8_MAX, FIELDS_MAX = UINT16_MAX };

static const struct api_type deduced_type = {
    .name = "", .group = "", .version = "", .form = API_DEDUCED};

static const struct api_type *type_of(struct typer t, const struct schema *s,
                                      const char *name, bool resource);

static struct api_type *make(struct arena *a, const char *name, enum api_form form)
{
    struct api_type *type = ARENA_NEW(a, struct api_type);
    *type = (struct api_type){
        .name = name, .group = "", .version = "", .form = (uint8_t)form};
    return type;
}

/* ---- Fields ---- */

static enum api_form scalar_form(const struct schema *s)
{
    struct str f = s->values->format;
    switch (s->type) {
    case SCHEMA_BOOLEAN:
        return API_BOOL;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        return API_DOUBLE;
    case SCHEMA_STRING:
        return f.n && !str_is(f, "byte") ? API_INT_OR_STRING : API_STRING;
    default:
        return API_DEDUCED;
    }
}

static const char *joined(struct arena *a, const struct doc *texts)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < texts->n; i++) {
        strbuf_adds(&b, i ? "," : "");
        strbuf_addstr(&b, doc_str(&texts->items[i]));
    }
    const char *s = arena_str(a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return s;
}

static const char *default_text(struct arena *a, const struct doc *d)
{
    struct strbuf b = STRBUF_INIT;
    if (!d || d->type >= DOC_LIST)
        return NULL;
    doc_write_json(d, DOC_JSON_COMPACT, &b);
    const char *s = arena_str(a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return s;
}

static struct api_field *make_field(struct typer t, const struct schema *s,
                                    struct api_field *f);

/* An object that is one map of values. */
static bool is_map(const struct schema *s)
{
    return s->type == SCHEMA_OBJECT && s->extra && !s->has_props && !s->embedded;
}

/* Of a schema that is no list and no map. */
static void set_value(struct typer t, const struct schema *s, struct api_field *f)
{
    f->form = API_DEDUCED;
    if (s->type == SCHEMA_OBJECT) {
        f->form = API_STRUCT;
        f->type = type_of(t, s, "", s->embedded);
    } else if (!s->int_or_string) {
        f->form = (uint8_t)scalar_form(s);
    }
}

/* Of the items of a list or the members of a map: what a field alone can say goes into a
 * type that stands for the field. */
static void set_item(struct typer t, const struct schema *s, struct api_field *f)
{
    bool atomic = s->type == SCHEMA_OBJECT && s->map_type == MAP_ATOMIC;
    if (s->type != SCHEMA_ARRAY && !is_map(s) && !atomic) {
        set_value(t, s, f);
        return;
    }
    struct api_type *alias = make(t.a, "", API_STRUCT);
    alias->value = make_field(t, s, ARENA_NEW(t.a, struct api_field));
    f->form = API_STRUCT;
    f->type = alias;
}

static void set_list(struct typer t, const struct schema *s, struct api_field *f)
{
    f->container = API_LIST;
    f->list_type = (uint8_t)(s->list_type == LIST_SET                  ? API_LIST_SET
                             : s->list_type == LIST_MAP && s->map_keys ? API_LIST_MAP
                                                                       : API_LIST_ATOMIC);
    if (f->list_type == API_LIST_MAP)
        f->list_keys = joined(t.a, s->map_keys);
    if (s->items)
        set_item(t, s->items, f);
    else
        f->form = API_ANY;
}

static struct api_field *make_field(struct typer t, const struct schema *s,
                                    struct api_field *f)
{
    t.preserve = t.preserve || s->preserve;
    f->def = default_text(t.a, s->def);
    if (s->type == SCHEMA_OBJECT && s->map_type == MAP_ATOMIC)
        f->flags |= API_MAP_ATOMIC;
    if (s->type == SCHEMA_ARRAY) {
        set_list(t, s, f);
    } else if (is_map(s)) {
        f->container = API_MAP;
        set_item(t, s->extra, f);
    } else {
        set_value(t, s, f);
    }
    return f;
}

/* ---- Types ---- */

static const struct {
    const char *name;
    bool metadata;
} RESOURCE_FIELDS[] = {{"apiVersion", false}, {"kind", false}, {"metadata", true}};

enum { RESOURCE = sizeof RESOURCE_FIELDS / sizeof *RESOURCE_FIELDS };

static void add_field(struct api_type *type, struct api_field *fields, struct str name,
                      struct arena *a)
{
    fields[type->nfields].name = arena_str(a, name).p;
    fields[type->nfields].name_len = (uint8_t)name.n;
    type->nfields++;
}

static void add_resource_field(struct api_type *type, struct api_field *fields,
                               unsigned i, struct arena *a)
{
    struct api_field *f = &fields[type->nfields];
    f->form = API_STRING;
    if (RESOURCE_FIELDS[i].metadata) {
        f->form = API_STRUCT;
        f->type = api_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
    }
    add_field(type, fields, str_from(RESOURCE_FIELDS[i].name), a);
}

/* By name; of a resource its own three in place of those that the schema has. */
static void add_fields(struct typer t, const struct schema *s, bool resource,
                       struct api_type *type)
{
    unsigned next = resource ? 0 : RESOURCE;
    struct api_field *fields =
        ARENA_ARRAY(t.a, struct api_field, (size_t)s->nprops + RESOURCE);
    type->fields = fields;
    for (uint32_t i = 0; i <= s->nprops; i++) {
        int c = -1;
        while (next < RESOURCE && c <= 0) {
            c = i < s->nprops
                    ? -str_cmp(s->props[i].name, str_from(RESOURCE_FIELDS[next].name))
                    : -1;
            if (c <= 0)
                add_resource_field(type, fields, next++, t.a);
            if (c == 0)
                break;
        }
        if (i == s->nprops || (c == 0 && resource))
            continue;
        if (s->props[i].name.n > NAME_MAX || type->nfields >= FIELDS_MAX - RESOURCE) {
            type->open = true; /* more than the tables hold */
            continue;
        }
        make_field(t, s->props[i].schema, &fields[type->nfields]);
        add_field(type, fields, s->props[i].name, t.a);
    }
}

/* Of an object with members of its own. */
static const struct api_type *type_of(struct typer t, const struct schema *s,
                                      const char *name, bool resource)
{
    t.preserve = t.preserve || s->preserve;
    if (!s->has_props && !resource)
        return s->additional == ADDITIONAL_FALSE ? make(t.a, name, API_STRUCT)
                                                 : &deduced_type;
    struct api_type *type = make(t.a, name, API_STRUCT);
    type->open = s->additional == ADDITIONAL_TRUE || s->extra ||
                 (s->additional == ADDITIONAL_NONE && t.preserve);
    add_fields(t, s, resource, type);
    return type;
}

const struct api_type *schema_type_new(const struct schema *s, const char *kind,
                                       bool whole, struct arena *a)
{
    const struct typer t = {.a = a, .preserve = whole};
    return type_of(t, s, arena_strdup(a, kind), true);
}
