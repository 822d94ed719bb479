/* SPDX-License-Identifier: Apache-2.0 */
#include "api/openapi_type.h"

#include "api/cel_env.h"

enum { DEPTH_MAX = 256 };

static const char SCHEMAS[] = "#/components/schemas/";

struct reading {
    struct arena *a;
    const struct doc *schemas;
    uint32_t left;  /* schemas that may still come */
    uint32_t depth; /* of the one that is read */
    bool broken;
};

/* References that lead here: one that comes again is an object of which nothing is known.
 */
struct trail {
    const struct trail *up;
    const struct doc *schema;
};

static const struct cel_type *read_type(struct reading *r, const struct trail *trail,
                                        const struct doc *s, struct str name, bool root);

/* ---- references ---- */

static const struct doc *find_schema(const struct reading *r, struct str ref)
{
    struct str prefix = str_from(SCHEMAS);
    return str_starts(ref, prefix)
               ? doc_get_str(r->schemas, str_sub(ref, prefix.n, ref.n))
               : NULL;
}

/* A reference may be wrapped to have a description of its own. Empty: it is none. */
static struct str ref_of(const struct doc *s)
{
    struct str ref = doc_get_text(s, "$ref");
    const struct doc *all = doc_get(s, "allOf");
    for (uint32_t i = 0; !ref.n && all && all->type == DOC_LIST && i < all->n; i++)
        ref = doc_get_text(&all->items[i], "$ref");
    return ref;
}

static bool is_on_trail(const struct trail *t, const struct doc *schema)
{
    for (; t; t = t->up)
        if (t->schema == schema)
            return true;
    return false;
}

/* ---- what schemas say ---- */

/* The first of several. */
static struct str type_name(const struct doc *s)
{
    const struct doc *t = doc_get(s, "type");
    if (t && t->type == DOC_LIST)
        t = t->n ? &t->items[0] : NULL;
    return t && t->type == DOC_STRING ? doc_str(t) : STR_NONE;
}

static bool is_set(const struct doc *s, const char *extension)
{
    const struct doc *d = doc_get(s, extension);
    return d && d->type == DOC_BOOL && d->b;
}

static bool is_embedded(const struct doc *s)
{
    return is_set(s, "x-kubernetes-embedded-resource");
}

static bool is_int_or_string(const struct doc *s)
{
    return str_is(doc_get_text(s, "format"), "int-or-string") ||
           is_set(s, "x-kubernetes-int-or-string");
}

static const struct cel_type *string_type(const struct doc *s)
{
    struct str format = doc_get_text(s, "format");
    if (str_is(format, "byte"))
        return &cel_type_bytes;
    if (str_is(format, "duration"))
        return &cel_type_duration;
    if (str_is(format, "date") || str_is(format, "date-time"))
        return &cel_type_timestamp;
    return &cel_type_string;
}

/* ---- objects ---- */

struct fields {
    struct cel_field *v;
    uint32_t n;
};

static void add_field(struct reading *r, struct fields *f, struct str name,
                      const struct cel_type *type)
{
    struct str escaped;
    if (type && api_cel_escape(name, r->a, &escaped))
        f->v[f->n++] = (struct cel_field){escaped.p, type};
}

static const struct cel_type *object_type(struct reading *r, struct str name,
                                          const struct fields *f)
{
    struct cel_object_type *o = ARENA_NEW(r->a, struct cel_object_type);
    *o = (struct cel_object_type){
        .name = arena_str(r->a, name).p, .fields = f->v, .nfields = f->n};
    return cel_type_object(r->a, o);
}

static struct str field_name(struct reading *r, struct str of, struct str field)
{
    return arena_printf(r->a, "%.*s.%.*s", STR_ARG(of), STR_ARG(field));
}

static bool is_type(const struct doc *props, const char *name, const char *type)
{
    return str_is(type_name(doc_get(props, name)), type);
}

static const struct doc *resolve(const struct reading *r, const struct doc *s)
{
    struct str ref = ref_of(s);
    return ref.n ? find_schema(r, ref) : s;
}

/* It says itself what every resource has. */
static bool is_resource(const struct reading *r, const struct doc *props)
{
    const struct doc *meta = resolve(r, doc_get(props, "metadata")),
                     *of_meta = doc_get(meta, "properties");
    return is_type(props, "kind", "string") && is_type(props, "apiVersion", "string") &&
           str_is(type_name(meta), "object") && is_type(of_meta, "name", "string") &&
           is_type(of_meta, "generateName", "string");
}

/* In place of what the schema has under these names. */
static void add_resource(struct reading *r, struct fields *f, struct str name)
{
    struct fields meta = {.v = ARENA_ARRAY(r->a, struct cel_field, 2)};
    add_field(r, &meta, STR("name"), &cel_type_string);
    add_field(r, &meta, STR("generateName"), &cel_type_string);
    add_field(r, f, STR("kind"), &cel_type_string);
    add_field(r, f, STR("apiVersion"), &cel_type_string);
    add_field(r, f, STR("metadata"),
              object_type(r, field_name(r, name, STR("metadata")), &meta));
}

static bool is_of_resource(struct str name)
{
    return str_is(name, "kind") || str_is(name, "apiVersion") || str_is(name, "metadata");
}

static const struct cel_type *read_object(struct reading *r, const struct trail *trail,
                                          const struct doc *s, struct str name, bool root)
{
    const struct doc *props = doc_get(s, "properties");
    uint32_t n = props && props->type == DOC_MAP ? props->n : 0;
    struct fields f = {.v = ARENA_ARRAY(r->a, struct cel_field, n + 3)};
    bool make = root && !is_resource(r, props);
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *of = &props->members[i].value;
        struct str key = doc_key(&props->members[i]);
        if (!make || !is_of_resource(key))
            add_field(r, &f, key,
                      read_type(r, trail, of, field_name(r, name, key), is_embedded(of)));
    }
    if (make)
        add_resource(r, &f, name);
    return object_type(r, name, &f);
}

static const struct cel_type *read_map(struct reading *r, const struct trail *trail,
                                       const struct doc *of, struct str name)
{
    const struct cel_type *value =
        read_type(r, trail, of, field_name(r, name, STR("@elem")), is_embedded(of));
    return value ? cel_type_map(r->a, &cel_type_string, value) : NULL;
}

static const struct cel_type *read_list(struct reading *r, const struct trail *trail,
                                        const struct doc *of, struct str name)
{
    const struct cel_type *item =
        of && of->type == DOC_MAP
            ? read_type(r, trail, of, field_name(r, name, STR("@idx")), is_embedded(of))
            : NULL;
    return item ? cel_type_list(r->a, item) : NULL;
}

/* NULL: nothing that expressions could see. */
static const struct cel_type *read_here(struct reading *r, const struct trail *trail,
                                        const struct doc *s, struct str name, bool root)
{
    struct str type = type_name(s);
    const struct doc *more = doc_get(s, "additionalProperties");
    if (is_int_or_string(s))
        return &cel_type_dyn;
    if (str_is(type, "object"))
        return more && more->type == DOC_MAP ? read_map(r, trail, more, name)
                                             : read_object(r, trail, s, name, root);
    if (str_is(type, "array"))
        return read_list(r, trail, doc_get(s, "items"), name);
    if (str_is(type, "string"))
        return string_type(s);
    return str_is(type, "boolean")   ? &cel_type_bool
           : str_is(type, "number")  ? &cel_type_double
           : str_is(type, "integer") ? &cel_type_int
                                     : NULL;
}

static const struct cel_type *read_type(struct reading *r, const struct trail *trail,
                                        const struct doc *s, struct str name, bool root)
{
    const struct doc *at = resolve(r, s);
    struct trail here = {trail, at};
    struct fields none = {0};
    const struct cel_type *t;
    r->broken |= !at || r->left == 0 || r->depth == DEPTH_MAX;
    if (r->broken)
        return NULL;
    r->left--;
    if (at != s && is_on_trail(trail, at))
        return object_type(r, name, &none);
    r->depth++;
    t = read_here(r, at == s ? trail : &here, at, name, root);
    r->depth--;
    return t;
}

/* ---- a kind ---- */

static bool is_of_kind(const struct doc *schema, struct str group, struct str version,
                       struct str kind)
{
    const struct doc *list = doc_get(schema, "x-kubernetes-group-version-kind");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *d = &list->items[i];
        if (str_eq(doc_get_text(d, "group"), group) &&
            str_eq(doc_get_text(d, "version"), version) &&
            str_eq(doc_get_text(d, "kind"), kind))
            return true;
    }
    return false;
}

bool openapi_type(const struct doc *document, struct str group, struct str version,
                  struct str kind, struct arena *a, const struct cel_type **out)
{
    struct reading r = {.a = a,
                        .schemas = doc_path(document, "components.schemas"),
                        .left = OPENAPI_TYPE_NODES};
    struct str name = arena_printf(a, "%.*s0", STR_ARG(kind));
    for (uint32_t i = 0; r.schemas && r.schemas->type == DOC_MAP && i < r.schemas->n;
         i++) {
        const struct doc *s = &r.schemas->members[i].value;
        struct trail here = {NULL, s};
        if (!is_of_kind(s, group, version, kind))
            continue;
        const struct cel_type *t = read_here(&r, &here, s, name, true);
        if (!r.broken)
            *out = t;
        return !r.broken;
    }
    return false;
}
