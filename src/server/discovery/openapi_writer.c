/* SPDX-License-Identifier: Apache-2.0 */
/* Documents, put together part by part, so that no tree of a whole one is ever there. */
#include <stdlib.h>

#include "base/bitset.h"
#include "server/discovery/openapi_inner.h"

static void add_json(struct strbuf *b, struct str name, const struct doc *d)
{
    struct doc key = {.type = DOC_STRING, .n = (uint32_t)name.n, .s = name.p};
    if (b->n)
        strbuf_addc(b, ',');
    doc_write_json(&key, DOC_JSON_COMPACT, b);
    strbuf_addc(b, ':');
    doc_write_json(d, DOC_JSON_COMPACT, b);
}

static struct strbuf *buffer_of(struct openapi_text *t, enum openapi_part part)
{
    switch (part) {
    case OPENAPI_PART_PATH:
        return &t->paths;
    case OPENAPI_PART_DEFINITION:
        return &t->definitions;
    case OPENAPI_PART_PARAMETER:
        return &t->parameters;
    default:
        return &t->head;
    }
}

void openapi_add(struct openapi_writer *w, enum openapi_part part, struct str name,
                 const struct doc *d)
{
    if (w->json)
        add_json(buffer_of(&w->as_json, part), name, d);
    if (w->proto)
        openapi_proto(w->form, part, name, d, buffer_of(&w->as_proto, part));
}

struct doc openapi_refer(struct openapi_writer *w, uint32_t definition)
{
    openapi_reach(w->reached, definition);
    return openapi_ref(openapi_name(definition, &w->a), w->form, &w->a);
}

/* ---- Definitions ---- */

static void append_gvk(struct openapi_writer *w, struct doc *list, struct str group,
                       struct str version, const char *kind)
{
    struct doc one = openapi_gvk(group, version, str_from(kind), &w->a);
    doc_append(&w->a, list, one.items[0]);
}

/* The options of a deletion are understood in the words of every version. */
static void add_versions(struct openapi_writer *w, const struct api_type *t,
                         struct doc *d)
{
    struct doc all = openapi_gvk(STR(""), STR("v1"), str_from(t->name), &w->a);
    for (uint32_t i = 0; i < w->ndocs; i++)
        if (w->docs[i].sort == OPENAPI_VERSION && w->docs[i].group.n &&
            w->docs[i].nresources)
            append_gvk(w, &all, w->docs[i].group, w->docs[i].version, t->name);
    doc_set(&w->a, d, "x-kubernetes-group-version-kind", all);
}

static void add_definitions(struct openapi_writer *w)
{
    uint32_t n = openapi_ndefinitions();
    for (size_t i = bitset_next(w->reached, n, 0); i < n;
         i = bitset_next(w->reached, n, i + 1)) {
        struct doc d = openapi_definition((uint32_t)i, w->form, &w->a);
        const struct api_type *t = i < api_ntypes ? api_types[i] : NULL;
        if (t && strcmp(t->name, "DeleteOptions") == 0)
            add_versions(w, t, &d);
        openapi_add(w, OPENAPI_PART_DEFINITION, openapi_name((uint32_t)i, &w->a), &d);
        arena_reset(&w->a);
    }
}

/* [{jsonPath: ".spec.size"}] is [{fieldPath: "spec.size"}] in what is published. */
static void add_selectable(struct openapi_writer *w, const struct openapi_kind *k,
                           struct doc *d)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; k->selectable && i < k->selectable->n; i++) {
        struct str path = doc_get_text(&k->selectable->items[i], "jsonPath");
        struct doc one = doc_make_map();
        path = str_sub(path, path.n && path.p[0] == '.', SIZE_MAX);
        doc_set(&w->a, &one, "fieldPath", doc_make_string(&w->a, path));
        doc_append(&w->a, &list, one);
    }
    if (list.n)
        doc_set(&w->a, d, "x-kubernetes-selectable-fields", list);
}

static void add_custom(struct openapi_writer *w, const struct openapi_kind *k,
                       struct str kind, struct doc d)
{
    struct str name = openapi_custom_name(k->group, k->version, kind, &w->a);
    doc_set(&w->a, &d, "x-kubernetes-group-version-kind",
            openapi_gvk(k->group, k->version, kind, &w->a));
    add_selectable(w, k, &d);
    openapi_add(w, OPENAPI_PART_DEFINITION, name, &d);
}

static void reach_meta(struct openapi_writer *w, const char *name)
{
    openapi_reach(w->reached,
                  openapi_of_type(api_type_find(STR("meta"), STR("v1"), str_from(name))));
}

static void add_custom_kind(struct openapi_writer *w, const struct openapi_kind *k)
{
    struct str name = openapi_custom_name(k->group, k->version, k->kind, &w->a);
    reach_meta(w, "ObjectMeta");
    reach_meta(w, "ListMeta");
    add_custom(w, k, k->kind, openapi_custom(k->schema, w->form, &w->a));
    add_custom(w, k, k->list_kind, openapi_custom_list(name, w->form, &w->a));
    arena_reset(&w->a);
}

/* ---- The whole ---- */

#define SCHEME                                                                           \
    "{\"BearerToken\":{\"type\":\"apiKey\",\"description\":\"Bearer Token "              \
    "authentication\",\"name\":\"authorization\",\"in\":\"header\"}}"
#define INFO "\"info\":{\"title\":\"Kubernetes\",\"version\":\"1.37\"}"
static const char *const HEADS[] = {
    [OPENAPI_V2] = "{\"swagger\":\"2.0\"," INFO ",\"securityDefinitions\":" SCHEME
                   ",\"security\":[{\"BearerToken\":[]}]}",
    [OPENAPI_V3] = "{\"openapi\":\"3.0.0\"," INFO
                   ",\"components\":{\"securitySchemes\":" SCHEME "}}",
};

/* A member's text, and the map of parts behind it where there is one. */
static void put_json_map(struct strbuf *out, const char *key, const struct strbuf *map)
{
    strbuf_addf(out, "\"%s\":{", key);
    strbuf_addstr(out, strbuf_str(map));
    strbuf_addc(out, '}');
}

static void join_json(const struct openapi_writer *w, struct strbuf *out)
{
    const struct openapi_text *t = &w->as_json;
    bool v2 = w->form == OPENAPI_V2;
    strbuf_reserve(out, t->paths.n + t->definitions.n + t->parameters.n + 1000);
    strbuf_adds(out, v2 ? "{\"swagger\":\"2.0\"," : "{\"openapi\":\"3.0.0\",");
    strbuf_adds(out, INFO ",");
    put_json_map(out, "paths", &t->paths);
    strbuf_addc(out, ',');
    if (v2) {
        put_json_map(out, "definitions", &t->definitions);
        strbuf_addc(out, ',');
        put_json_map(out, "parameters", &t->parameters);
        strbuf_adds(out, ",\"securityDefinitions\":" SCHEME
                         ",\"security\":[{\"BearerToken\":[]}]}");
        return;
    }
    strbuf_adds(out, "\"components\":{");
    if (t->definitions.n) {
        put_json_map(out, "schemas", &t->definitions);
        strbuf_addc(out, ',');
    }
    strbuf_adds(out, "\"securitySchemes\":" SCHEME "}}");
}

static void join_proto(struct openapi_writer *w, struct strbuf *out)
{
    const struct openapi_text *t = &w->as_proto;
    struct doc_source src = {.name = "head", .text = str_from(HEADS[w->form])};
    struct doc head = doc_make_map();
    struct strbuf bytes = STRBUF_INIT;
    doc_read_json(&src, &w->a, &head, NULL);
    openapi_proto(w->form, OPENAPI_PART_HEAD, STR(""), &head, &bytes);
    openapi_proto_join(w->form, strbuf_str(&bytes), strbuf_str(&t->paths),
                       strbuf_str(&t->definitions), strbuf_str(&t->parameters), out);
    strbuf_release(&bytes);
}

static void release_text(struct openapi_text *t)
{
    strbuf_release(&t->head);
    strbuf_release(&t->paths);
    strbuf_release(&t->definitions);
    strbuf_release(&t->parameters);
}

void openapi_make(enum openapi_form form, const struct openapi_doc *docs, uint32_t ndocs,
                  struct strbuf *json, struct strbuf *proto)
{
    struct openapi_writer w = {
        .form = form, .docs = docs, .ndocs = ndocs, .json = json, .proto = proto};
    w.reached = mem_zalloc(BITSET_WORDS(openapi_ndefinitions()) * sizeof *w.reached);
    for (uint32_t i = 0; i < ndocs; i++)
        openapi_add_paths(&w, &docs[i]);
    if (form == OPENAPI_V2)
        openapi_add_parameters(&w);
    for (uint32_t i = 0; i < ndocs; i++)
        for (uint32_t k = 0; k < docs[i].nkinds; k++)
            add_custom_kind(&w, &docs[i].kinds[k]);
    add_definitions(&w);
    if (json)
        join_json(&w, json);
    if (proto)
        join_proto(&w, proto);
    release_text(&w.as_json);
    release_text(&w.as_proto);
    arena_fini(&w.a);
    free(w.reached);
}
