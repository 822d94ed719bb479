/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources as objects: from and to what is stored, and what selects them. */
#include <string.h>

#include "api/canonical.h"
#include "server/custom.h"

bool custom_fresh(const struct resource *res, const struct cache_object *o)
{
    return !res->custom || o->revision > res->custom->of->since;
}

/* ---- versions ---- */

static const struct custom_version *version_of(const struct custom *c,
                                               struct str api_version)
{
    for (uint32_t i = 0; i < c->nversions; i++)
        if (str_eq(c->versions[i].api_version, api_version))
            return &c->versions[i];
    return c->storage;
}

/* Versions differ in their names, and in what each of them knows. */
static void bring_into(const struct custom *c, const struct custom_version *to,
                       struct doc *d, struct arena *a)
{
    struct str why, have = doc_get_text(d, "apiVersion");
    const struct custom_version *from = version_of(c, have);
    structural_prune(from->schema, d, true, NULL, NULL, a, &why);
    structural_default(from->schema, d, a);
    if (str_eq(have, to->api_version))
        return;
    doc_set(a, d, "apiVersion", doc_make_string(a, to->api_version));
    structural_prune(to->schema, d, true, NULL, NULL, a, &why);
}

void custom_convert(const struct resource *res, struct doc *d, struct arena *a)
{
    bring_into(res->custom->of, res->custom, d, a);
}

void custom_to_stored(const struct resource *res, struct doc *d, struct arena *a)
{
    bring_into(res->custom->of, res->custom->of->storage, d, a);
}

static bool fail_webhook(struct request *r)
{
    return fail(r, 500, "InternalError",
                "Internal error occurred: conversion webhook for %.*s, Kind=%s failed: "
                "this server asks none, and converts by name alone (strategy None)",
                STR_ARG(r->res->api_version), r->res->main->name);
}

bool custom_readable(struct request *r, const struct cache_object *o)
{
    const struct custom *c = r->res->custom ? r->res->custom->of : NULL;
    if (!c || !c->needs_webhook)
        return true;
    bool stored =
        r->res->main == r->res->hub && (!o || str_starts(o->json, r->res->head));
    return stored || fail_webhook(r);
}

/* ---- what a client sent ---- */

struct unknown {
    struct arena *a;
    struct api_issues *issues;
};

static void note_unknown(void *ctx, struct str path)
{
    struct unknown *u = ctx;
    struct api_issue i = {.kind = API_UNKNOWN_FIELD, .path = arena_str(u->a, path)};
    vec_push(&u->issues->list, i);
}

static void note_duplicates(const struct doc_source *src, struct arena *a,
                            struct api_issues *issues)
{
    for (size_t i = 0; src && i < src->ndups; i++) {
        struct api_issue dup = {.kind = API_DUPLICATE_FIELD, .pos = src->dups[i].pos};
        dup.path = arena_str(a, str_from(src->dups[i].path));
        vec_push(&issues->list, dup);
    }
}

bool custom_complete(const struct resource *res, struct doc *d,
                     const struct doc_source *src, struct arena *a,
                     struct api_issues *issues, struct str *why)
{
    const struct api_type *type =
        api_type_find(STR("meta"), STR("v1"), STR("ObjectMeta"));
    const struct doc *said = doc_get(d, "metadata");
    struct unknown unknown = {a, issues};
    *why = STR_NONE;
    note_duplicates(src, a, issues);
    if (said && !api_check_shape(type, said, STR("metadata"), a, issues))
        return false;
    if (!structural_prune(res->custom->schema, d, false, note_unknown, &unknown, a, why))
        return false;
    structural_default(res->custom->schema, d, a);
    struct doc *meta = object_meta(d);
    if (meta)
        api_canonical(type, meta, a);
    return true;
}

void custom_set_path(struct doc *d, const char *path, struct doc value, struct arena *a)
{
    struct str rest = str_from(path);
    for (;;) {
        size_t dot = str_find_byte(rest, '.', 0);
        struct str key = str_sub(rest, 0, dot);
        if (dot == SIZE_MAX) {
            doc_set_str(a, d, key, value);
            return;
        }
        const struct doc *next = doc_get_str(d, key);
        struct doc own =
            next && next->type == DOC_MAP ? doc_dup(a, next) : doc_make_map();
        d = doc_set_str(a, d, key, own);
        rest = str_sub(rest, dot + 1, SIZE_MAX);
    }
}

/* ---- selection ---- */

static struct str text_of(const struct doc *d, struct arena *a)
{
    if (!d || d->type == DOC_NULL)
        return STR("");
    if (d->type == DOC_BOOL)
        return d->b ? STR("true") : STR("false");
    return d->type == DOC_STRING || d->type == DOC_NUMBER ? doc_str(d) : STR("");
}

static struct str field_value(const struct custom_version *v,
                              const struct cache_object *o, const struct doc *d,
                              struct str key, struct arena *a)
{
    if (str_is(key, "metadata.name"))
        return o->name;
    if (str_is(key, "metadata.namespace"))
        return o->namespace;
    for (unsigned i = 0; v->labels.labels[i].path; i++) {
        uint32_t n;
        if (!str_is(key, v->labels.labels[i].path))
            continue;
        const struct doc *const *found = jsonpath_find(&v->selectable[i], d, a, &n);
        return text_of(n ? found[0] : NULL, a);
    }
    return STR("");
}

bool custom_matches(const struct selection *s, const struct cache_object *o)
{
    struct arena a = {0};
    struct doc d = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->fields.n; i++) {
        struct str key = s->fields.all[i].key;
        if (d.type == DOC_NULL && !str_starts(key, STR("metadata.")))
            d = object_doc(o, &a);
        ok = requirement_holds(&s->fields.all[i], field_value(s->custom, o, &d, key, &a));
    }
    arena_fini(&a);
    return ok && selector_matches_labels(&s->labels, o);
}
