/* SPDX-License-Identifier: Apache-2.0 */
#include "api/openapi.h"

#include "base/bitset.h"

/* ---- Names ---- */

/* What the tables know as forms of a value has definitions of its own. */
static const struct form {
    uint8_t form;
    const char *name;
    const char *v2, *v3; /* as JSON */
} FORMS[] = {
    {API_TIME, "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
     "{\"type\":\"string\",\"format\":\"date-time\"}", NULL},
    {API_MICRO_TIME, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
     "{\"type\":\"string\",\"format\":\"date-time\"}", NULL},
    {API_DURATION, "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
     "{\"type\":\"string\"}", NULL},
    {API_QUANTITY, "io.k8s.apimachinery.pkg.api.resource.Quantity",
     "{\"type\":\"string\"}",
     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"},
    {API_INT_OR_STRING, "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
     "{\"type\":\"string\",\"format\":\"int-or-string\"}",
     "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":"
     "\"string\"}]}"},
    {API_RAW, "io.k8s.apimachinery.pkg.runtime.RawExtension", "{\"type\":\"object\"}",
     NULL},
    {API_FIELDS_V1, "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
     "{\"type\":\"object\"}", NULL},
    /* No field has it: the body of a patch. */
    {UINT8_MAX, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "{\"type\":\"object\"}",
     NULL},
};
enum { NFORMS = sizeof FORMS / sizeof *FORMS };

/* Where upstream's package is not io.k8s.api.GROUP, GROUP up to its first dot. */
static const struct {
    const char *group, *package;
} PACKAGES[] = {
    {"", "io.k8s.api.core"},
    {"meta", "io.k8s.apimachinery.pkg.apis.meta"},
    {"apiextensions.k8s.io", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"},
    {"apiregistration.k8s.io", "io.k8s.kube-aggregator.pkg.apis.apiregistration"},
    {"internal.apiserver.k8s.io", "io.k8s.api.apiserverinternal"},
};

uint32_t openapi_ndefinitions(void)
{
    return api_ntypes + NFORMS;
}

uint32_t openapi_of_type(const struct api_type *t)
{
    return (uint32_t)(t - api_types[0]);
}

uint32_t openapi_of_form(const char *name)
{
    uint32_t i = 0;
    while (i < NFORMS - 1 && strcmp(strrchr(FORMS[i].name, '.') + 1, name) != 0)
        i++;
    return api_ntypes + i;
}

/* UINT32_MAX: values of this form are written in place. */
static uint32_t definition_of(const struct api_field *f)
{
    if (f->form == API_STRUCT)
        return openapi_of_type(f->type);
    for (uint32_t i = 0; i < NFORMS; i++)
        if (FORMS[i].form == f->form)
            return api_ntypes + i;
    return UINT32_MAX;
}

static struct str type_name(const struct api_type *t, struct arena *a)
{
    if (strcmp(t->group, "meta") == 0 && strcmp(t->name, "Info") == 0)
        return STR("io.k8s.apimachinery.pkg.version.Info");
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++)
        if (strcmp(PACKAGES[i].group, t->group) == 0)
            return arena_printf(a, "%s.%s.%s", PACKAGES[i].package, t->version, t->name);
    struct str group = str_from(t->group);
    group = str_sub(group, 0, str_find_byte(group, '.', 0));
    return arena_printf(a, "io.k8s.api.%.*s.%s.%s", STR_ARG(group), t->version, t->name);
}

struct str openapi_name(uint32_t definition, struct arena *a)
{
    return definition < api_ntypes ? type_name(api_types[definition], a)
                                   : str_from(FORMS[definition - api_ntypes].name);
}

/* ---- Pieces ---- */

static void set_text(struct arena *a, struct doc *d, const char *key, const char *text)
{
    doc_set(a, d, key, doc_make_string(a, str_from(text)));
}

static struct doc read_json(const char *text, struct arena *a)
{
    struct doc_source src = {.name = "table", .text = str_from(text)};
    struct doc d = doc_make_map();
    doc_read_json(&src, a, &d, NULL);
    return d;
}

static struct doc split_list(const char *text, char separator, struct arena *a)
{
    struct doc list = doc_make_list();
    struct str s = str_from(text);
    for (size_t at = 0; at <= s.n;) {
        size_t end = str_find_byte(s, separator, at);
        doc_append(a, &list, doc_make_string(a, str_sub(s, at, end)));
        at = end == SIZE_MAX ? s.n + 1 : end + 1;
    }
    return list;
}

struct doc openapi_ref(struct str name, enum openapi_form form, struct arena *a)
{
    const char *where = form == OPENAPI_V2 ? "#/definitions/" : "#/components/schemas/";
    struct doc d = doc_make_map();
    struct str text = arena_printf(a, "%s%.*s", where, STR_ARG(name));
    doc_set(a, &d, "$ref", doc_make_string(a, text));
    return d;
}

struct doc openapi_gvk(struct str group, struct str version, struct str kind,
                       struct arena *a)
{
    struct doc list = doc_make_list(), d = doc_make_map();
    doc_set(a, &d, "group", doc_make_string(a, group));
    doc_set(a, &d, "kind", doc_make_string(a, kind));
    doc_set(a, &d, "version", doc_make_string(a, version));
    doc_append(a, &list, d);
    return list;
}

/* ---- Fields ---- */

static const struct {
    const char *type, *format;
} SCALARS[] = {
    [API_STRING] = {"string", NULL},    [API_BYTES] = {"string", "byte"},
    [API_BOOL] = {"boolean", NULL},     [API_INT32] = {"integer", "int32"},
    [API_INT64] = {"integer", "int64"}, [API_DOUBLE] = {"number", "double"},
    [API_OBJECT] = {"object", NULL},    [API_ANY] = {NULL, NULL},
};

/* Of the field's value, or of an item. */
static struct doc value_schema(const struct api_field *f, enum openapi_form form,
                               struct arena *a)
{
    uint32_t definition = definition_of(f);
    if (definition != UINT32_MAX)
        return openapi_ref(openapi_name(definition, a), form, a);
    struct doc d = doc_make_map();
    if (SCALARS[f->form].type)
        set_text(a, &d, "type", SCALARS[f->form].type);
    if (SCALARS[f->form].format)
        set_text(a, &d, "format", SCALARS[f->form].format);
    if (f->values)
        doc_set(a, &d, "enum", split_list(f->values, ',', a));
    return d;
}

static struct doc list_of(struct doc items, struct arena *a)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "type", "array");
    doc_set(a, &d, "items", items);
    return d;
}

static struct doc map_of(struct doc values, struct arena *a)
{
    struct doc d = doc_make_map();
    set_text(a, &d, "type", "object");
    doc_set(a, &d, "additionalProperties", values);
    return d;
}

/* What it refers to stands inside, in the form of version 3: beside a reference nothing
 * counts there. */
static struct doc wrap(struct doc d, enum openapi_form form, struct arena *a)
{
    if (form == OPENAPI_V2 || !doc_get(&d, "$ref"))
        return d;
    struct doc out = doc_make_map(), all = doc_make_list();
    doc_append(a, &all, d);
    doc_set(a, &out, "allOf", all);
    return out;
}

static void add_list_type(const struct api_field *f, struct doc *d, struct arena *a)
{
    static const char *const NAMES[] = {
        [API_LIST_ATOMIC] = "atomic", [API_LIST_SET] = "set", [API_LIST_MAP] = "map"};
    if (f->list_keys)
        doc_set(a, d, "x-kubernetes-list-map-keys", split_list(f->list_keys, ',', a));
    if (f->flags & API_LIST_TOLD)
        set_text(a, d, "x-kubernetes-list-type", NAMES[f->list_type]);
}

/* Structs are told once, by their type, and a field where it is otherwise. */
static void add_map_type(const struct api_field *f, struct doc *d, struct arena *a)
{
    if (f->container == API_MAP && f->flags & API_MAP_ATOMIC)
        set_text(a, d, "x-kubernetes-map-type", "atomic");
    if (f->flags & API_MAP_GRANULAR)
        set_text(a, d, "x-kubernetes-map-type", "granular");
}

static void add_patch(const struct api_field *f, struct doc *d, struct arena *a)
{
    static const struct {
        unsigned flag;
        const char *name;
    } WAYS[] = {{API_PATCH_MERGE, "merge"},
                {API_PATCH_RETAIN, "retainKeys"},
                {API_PATCH_REPLACE, "replace"}};
    struct str all = STR("");
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
        if (f->flags & WAYS[i].flag)
            all =
                arena_printf(a, "%.*s%s%s", STR_ARG(all), all.n ? "," : "", WAYS[i].name);
    if (f->patch_key)
        set_text(a, d, "x-kubernetes-patch-merge-key", f->patch_key);
    if (all.n)
        doc_set(a, d, "x-kubernetes-patch-strategy", doc_make_string(a, all));
}

static struct doc field_schema(const struct api_field *f, enum openapi_form form,
                               struct arena *a)
{
    struct doc d = value_schema(f, form, a);
    if (f->container == API_LIST)
        d = list_of(d, a);
    else if (f->container == API_MAP)
        d = map_of(d, a);
    else if (f->container == API_MAP_OF_LISTS)
        d = map_of(list_of(d, a), a);
    d = wrap(d, form, a);
    if (f->def && form == OPENAPI_V3)
        doc_set(a, &d, "default", read_json(f->def, a));
    add_list_type(f, &d, a);
    add_map_type(f, &d, a);
    add_patch(f, &d, a);
    return d;
}

/* ---- Definitions ---- */

static bool has_type_meta(const struct api_type *t)
{
    const struct api_field *version = api_field_find(t, STR("apiVersion"));
    const struct api_field *kind = api_field_find(t, STR("kind"));
    return version && kind && version->number == 0 && kind->number == 0;
}

static void add_gvk(const struct api_type *t, struct doc *d, struct arena *a)
{
    if (!has_type_meta(t))
        return;
    const char *group = strcmp(t->group, "meta") == 0 ? "" : t->group;
    doc_set(a, d, "x-kubernetes-group-version-kind",
            openapi_gvk(str_from(group), str_from(t->version), str_from(t->name), a));
}

static void add_union(const struct api_type *t, struct doc *d, struct arena *a)
{
    if (!t->unions)
        return;
    const char *colon = strchr(t->unions, ':');
    struct doc list = doc_make_list(), one = doc_make_map(), by = doc_make_map();
    struct doc members = split_list(colon + 1, ',', a);
    struct str discriminator = {t->unions, (size_t)(colon - t->unions)};
    for (uint32_t i = 0; i < members.n; i++) {
        char *go = arena_strdup(a, members.items[i].s);
        if (go[0] >= 'a' && go[0] <= 'z')
            go[0] = (char)(go[0] - 'a' + 'A');
        set_text(a, &by, members.items[i].s, go);
    }
    if (discriminator.n)
        doc_set(a, &one, "discriminator", doc_make_string(a, discriminator));
    doc_set(a, &one, "fields-to-discriminateBy", by);
    doc_append(a, &list, one);
    doc_set(a, d, "x-kubernetes-unions", list);
}

static void add_fields(const struct api_type *t, struct doc *d, enum openapi_form form,
                       struct arena *a)
{
    struct doc required = doc_make_list(), properties = doc_make_map();
    for (uint32_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        if (f->flags & API_REQUIRED)
            doc_append(a, &required, doc_make_string(a, str_from(f->name)));
        doc_add_str(a, &properties, str_from(f->name), field_schema(f, form, a));
    }
    if (required.n)
        doc_set(a, d, "required", required);
    if (properties.n)
        doc_set(a, d, "properties", properties);
}

static struct doc type_definition(const struct api_type *t, enum openapi_form form,
                                  struct arena *a)
{
    struct doc d = doc_make_map();
    if (t->form != API_ANY)
        set_text(a, &d, "type", "object");
    add_fields(t, &d, form, a);
    add_gvk(t, &d, a);
    if (t->atomic)
        set_text(a, &d, "x-kubernetes-map-type", "atomic");
    add_union(t, &d, a);
    return d;
}

struct doc openapi_definition(uint32_t definition, enum openapi_form form,
                              struct arena *a)
{
    if (definition < api_ntypes)
        return type_definition(api_types[definition], form, a);
    const struct form *f = &FORMS[definition - api_ntypes];
    return read_json(form == OPENAPI_V3 && f->v3 ? f->v3 : f->v2, a);
}

/* As deep as types contain each other; those that contain themselves are seen once. */
// NOLINTNEXTLINE(misc-no-recursion)
void openapi_reach(uint64_t *set, uint32_t definition)
{
    if (bit_test(set, definition))
        return;
    bit_set(set, definition);
    if (definition >= api_ntypes)
        return;
    const struct api_type *t = api_types[definition];
    for (uint32_t i = 0; i < t->nfields; i++) {
        uint32_t inner = definition_of(&t->fields[i]);
        if (inner != UINT32_MAX)
            openapi_reach(set, inner);
    }
}
