/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of kinds that the tables do not have, from their structural schemas. */
#include "api/openapi.h"

static const char PRESERVE[] = "x-kubernetes-preserve-unknown-fields";
static const char EMBEDDED[] = "x-kubernetes-embedded-resource";
static const char INT_OR_STRING[] = "x-kubernetes-int-or-string";
static const char OBJECT_META[] = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
static const char LIST_META[] = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

struct str openapi_custom_name(struct str group, struct str version, struct str kind,
                               struct arena *a)
{
    struct str turned = STR("");
    for (size_t at = 0; at <= group.n;) {
        size_t end = str_find_byte(group, '.', at);
        struct str label = str_sub(group, at, end);
        turned = arena_printf(a, "%.*s%s%.*s", STR_ARG(label), turned.n ? "." : "",
                              STR_ARG(turned));
        at = end == SIZE_MAX ? group.n + 1 : end + 1;
    }
    return arena_printf(a, "%.*s.%.*s.%.*s", STR_ARG(turned), STR_ARG(version),
                        STR_ARG(kind));
}

/* ---- Pieces ---- */

static bool is_true(const struct doc *d, const char *key)
{
    bool set = false;
    return doc_get_bool(d, key, &set) && set;
}

static struct doc of_type(const char *type, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set(a, &d, "type", doc_make_string(a, str_from(type)));
    return d;
}

/* In the form of version 3 a reference stands in an allOf. */
static struct doc property_ref(const char *name, enum openapi_form form, struct arena *a)
{
    struct doc ref = openapi_ref(str_from(name), form, a);
    if (form == OPENAPI_V2)
        return ref;
    struct doc d = doc_make_map(), all = doc_make_list();
    doc_append(a, &all, ref);
    doc_set(a, &d, "allOf", all);
    return d;
}

/* The last of that name, as doc_get has it. */
static struct doc *member(struct doc *d, const char *key)
{
    for (uint32_t i = d->type == DOC_MAP ? d->n : 0; i > 0; i--)
        if (str_is(doc_key(&d->members[i - 1]), key))
            return &d->members[i - 1].value;
    return NULL;
}

static struct doc *properties_of(struct doc *d, struct arena *a)
{
    struct doc *p = member(d, "properties");
    return p && p->type == DOC_MAP ? p : doc_set(a, d, "properties", doc_make_map());
}

/* kind, apiVersion and metadata of an object; schema's own words on them go. */
static void set_object_members(struct doc *d, enum openapi_form form, struct arena *a)
{
    struct doc *properties = properties_of(d, a);
    doc_set(a, properties, "apiVersion", of_type("string", a));
    doc_set(a, properties, "kind", of_type("string", a));
    doc_set(a, properties, "metadata", property_ref(OBJECT_META, form, a));
}

/* ---- One schema ---- */

static const char *const UNSAYABLE[] = {"default", "allOf", "oneOf", "anyOf", "not"};

/* An array without items, or members beside unknown ones, are more than clients of that
 * form can read. */
static void weaken(struct doc *d)
{
    bool nullable = is_true(d, "nullable"), open = is_true(d, PRESERVE);
    for (size_t i = 0; i < sizeof UNSAYABLE / sizeof *UNSAYABLE; i++)
        doc_remove(d, str_from(UNSAYABLE[i]));
    doc_remove(d, STR("nullable"));
    if (nullable || open) {
        doc_remove(d, STR("items"));
        doc_remove(d, STR("properties"));
    }
    bool list = doc_is_string(doc_get(d, "type"), "array") && !doc_get(d, "items");
    bool map = doc_is_string(doc_get(d, "type"), "object") && open;
    if (nullable || list || map || is_true(d, INT_OR_STRING))
        doc_remove(d, STR("type"));
}

static bool may_be_null(const struct doc *d, struct str property)
{
    return is_true(doc_get_str(doc_get(d, "properties"), property), "nullable");
}

/* To be called before what it looks at is weakened. */
static void loosen_required(struct doc *d, struct arena *a)
{
    const struct doc *required = doc_get(d, "required");
    struct doc kept = doc_make_list();
    bool any = is_true(doc_get(d, "additionalProperties"), "nullable");
    if (!required || required->type != DOC_LIST)
        return;
    for (uint32_t i = 0; !any && i < required->n; i++)
        if (required->items[i].type == DOC_STRING &&
            !may_be_null(d, doc_str(&required->items[i])))
            doc_append(a, &kept, required->items[i]);
    if (kept.n)
        doc_set(a, d, "required", kept);
    else
        doc_remove(d, STR("required"));
}

static bool is_either(const struct doc *any)
{
    return any && any->type == DOC_LIST && any->n == 2 &&
           doc_is_string(doc_get(&any->items[0], "type"), "integer") &&
           doc_is_string(doc_get(&any->items[1], "type"), "string");
}

static struct doc either(struct arena *a)
{
    struct doc types = doc_make_list();
    doc_append(a, &types, of_type("integer", a));
    doc_append(a, &types, of_type("string", a));
    return types;
}

/* What the marker says is said in words that validators know, unless it is already: in an
 * anyOf, or as first of an allOf. */
static void unfold(struct doc *d, struct arena *a)
{
    const struct doc *any = doc_get(d, "anyOf"), *all = doc_get(d, "allOf");
    uint32_t n = all && all->type == DOC_LIST ? all->n : 0;
    const struct doc *inner = n ? doc_get(&all->items[0], "anyOf") : NULL;
    if (!is_true(d, INT_OR_STRING) || is_either(any) || is_either(inner))
        return;
    if (!any) {
        doc_set(a, d, "anyOf", either(a));
        return;
    }
    struct doc first = doc_make_map(), joined = doc_make_list();
    doc_set(a, &first, "anyOf", either(a));
    doc_append(a, &joined, first);
    for (uint32_t i = 0; i < n; i++)
        doc_append(a, &joined, all->items[i]);
    doc_set(a, d, "allOf", joined);
}

static void embed(struct doc *d, enum openapi_form form, struct arena *a)
{
    if (!is_true(d, EMBEDDED) || (form == OPENAPI_V2 && is_true(d, PRESERVE)))
        return;
    set_object_members(d, form, a);
    struct doc *required = member(d, "required");
    if (!required || required->type != DOC_LIST)
        required = doc_set(a, d, "required", doc_make_list());
    static const char *const BOTH[] = {"kind", "apiVersion"};
    for (size_t i = 0; i < 2; i++) {
        bool there = false;
        for (uint32_t k = 0; k < required->n; k++)
            there = there || doc_is_string(&required->items[k], BOTH[i]);
        if (!there)
            doc_append(a, required, doc_make_string(a, str_from(BOTH[i])));
    }
}

/* As deep as the schema, which was read with a limit. */
// NOLINTNEXTLINE(misc-no-recursion)
static void convert(struct doc *d, enum openapi_form form, struct arena *a)
{
    if (d->type != DOC_MAP)
        return;
    if (form == OPENAPI_V2) {
        loosen_required(d, a);
        weaken(d);
    } else {
        unfold(d, a);
    }
    struct doc *properties = member(d, "properties");
    for (uint32_t i = 0; properties && properties->type == DOC_MAP && i < properties->n;
         i++)
        convert(&properties->members[i].value, form, a);
    struct doc *items = member(d, "items"), *more = member(d, "additionalProperties");
    if (items)
        convert(items, form, a);
    if (more)
        convert(more, form, a);
    embed(d, form, a);
}

/* ---- The whole ---- */

struct doc openapi_custom(const struct doc *schema, enum openapi_form form,
                          struct arena *a)
{
    /* Whoever is told of some members takes all others for mistakes. */
    if (!schema || schema->type != DOC_MAP ||
        (form == OPENAPI_V2 && is_true(schema, PRESERVE)))
        return of_type("object", a);
    struct doc d = doc_dup(a, schema);
    convert(&d, form, a);
    set_object_members(&d, form, a);
    return d;
}

struct doc openapi_custom_list(struct str item_name, enum openapi_form form,
                               struct arena *a)
{
    struct doc d = of_type("object", a), required = doc_make_list();
    struct doc properties = doc_make_map(), items = of_type("array", a);
    doc_set(a, &items, "items", openapi_ref(item_name, form, a));
    doc_append(a, &required, doc_make_string(a, STR("items")));
    doc_set(a, &properties, "apiVersion", of_type("string", a));
    doc_set(a, &properties, "items", items);
    doc_set(a, &properties, "kind", of_type("string", a));
    doc_set(a, &properties, "metadata", property_ref(LIST_META, form, a));
    doc_set(a, &d, "required", required);
    doc_set(a, &d, "properties", properties);
    return d;
}
