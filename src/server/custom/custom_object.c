/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources as objects: from and to what is stored, and what selects them. */
#include <string.h>

#include "api/canonical.h"
#include "api/order.h"
#include "server/custom/conversion.h"
#include "server/custom/custom.h"

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

/* As its own version has it. false: that is the one that is wanted. */
static bool bring_up(const struct custom *c, const struct custom_version *to,
                     struct doc *d, struct arena *a)
{
    struct str why, have = doc_get_text(d, "apiVersion");
    const struct custom_version *from = version_of(c, have);
    structural_prune(from->schema, d, true, NULL, NULL, a, &why);
    structural_default(from->schema, d, a);
    return !str_eq(have, to->api_version);
}

static bool fail_conversion(struct request *r, struct str why)
{
    return r->failure.waits || r->failure.code ? false
                                               : fail(r, 500, NULL, "%.*s", STR_ARG(why));
}

/* It keeps its revision, which is not the webhook's to know. */
static bool by_webhook(struct request *r, struct conversions *c, struct str version,
                       struct doc *d, struct arena *a)
{
    struct str revision = meta_text(d, "resourceVersion"), why;
    struct str source = conversion_source(d, r ? r->a : a);
    struct doc made;
    if (conversion_find(c, version, source, a, &made)) {
        *d = made;
        if (revision.n)
            doc_set_text(a, object_meta(d), "resourceVersion", revision);
        api_order_object(d, a);
        return true;
    }
    if (!r)
        return false;
    return conversion_await(r, c, version, &source, 1, &why) || fail_conversion(r, why);
}

/* Versions differ in their names, and in what each of them knows; or a webhook says. */
static bool bring_into(struct request *r, const struct custom *c,
                       const struct custom_version *to, struct doc *d, struct arena *a)
{
    struct str why;
    if (!bring_up(c, to, d, a))
        return true;
    if (c->conversions && !by_webhook(r, c->conversions, to->api_version, d, a))
        return false;
    doc_set(a, d, "apiVersion", doc_make_string(a, to->api_version));
    structural_prune(to->schema, d, true, NULL, NULL, a, &why);
    return true;
}

bool custom_convert(struct request *r, const struct resource *res, struct doc *d,
                    struct arena *a)
{
    return bring_into(r, res->custom->of, res->custom, d, a);
}

bool custom_to_stored(struct request *r, const struct resource *res, struct doc *d,
                      struct arena *a)
{
    return bring_into(r, res->custom->of, res->custom->of->storage, d, a);
}

bool custom_asks(const struct resource *res)
{
    return res->custom && res->custom->of->conversions;
}

void custom_convert_owned(void *ctx, struct str version, struct doc *d, struct arena *a)
{
    struct request *r = ctx;
    const struct custom *c = r->res->custom->of;
    bring_into(r, c, version_of(c, version), d, a);
}

/* ---- what is stored and cannot be shown ---- */

/* "object not decodable revision=7: WHY" */
static struct str undecodable(struct request *r, const struct cache_object *o,
                              struct str why)
{
    return arena_printf(r->a, "object not decodable revision=%llu: %.*s",
                        (unsigned long long)o->revision, STR_ARG(why));
}

static struct str corrupt(struct request *r, const struct cache_object *o, bool whole_key,
                          struct str why)
{
    struct str key = str_sub(o->key, whole_key ? 0 : strlen("/registry"), SIZE_MAX);
    return arena_printf(r->a,
                        "StorageError: corrupt object, Code: 7, Key: %.*s, "
                        "ResourceVersion: 0, AdditionalErrorMsg: %.*s",
                        STR_ARG(key), STR_ARG(undecodable(r, o, why)));
}

static bool fail_get(struct request *r, const struct cache_object *o, struct str why)
{
    struct str text = corrupt(r, o, false, why);
    fail(r, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(text));
    r->failure.has_details = true;
    fail_cause(r, NULL, text, STR_NONE);
    return false;
}

static bool fail_list(struct request *r, const struct cache_object *o, struct str why)
{
    const struct api_kind *k = r->res->main;
    struct str text = corrupt(r, o, true, why);
    struct str resource = qualified(r->a, str_from(k->resource), str_from(k->group));
    fail(r, 500, "StorageReadError",
         "failed to read one or more %.*s from the storage: %.*s", STR_ARG(resource),
         STR_ARG(text));
    fail_cause(r, "UnexpectedServerResponse", text, o->key);
    r->failure.has_details = true;
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->resource);
    r->failure.name = STR("list");
    return false;
}

static bool fail_stored(struct request *r, const struct cache_object *o, struct str why,
                        enum custom_reading how)
{
    if (r->failure.waits || r->failure.code)
        return false;
    switch (how) {
    case CUSTOM_GET:
        return fail_get(r, o, why);
    case CUSTOM_LIST:
        return fail_list(r, o, why);
    case CUSTOM_CHANGE:
        break;
    }
    return fail(r, 500, NULL, "%.*s", STR_ARG(undecodable(r, o, why)));
}

/* ---- many at once ---- */

bool custom_source(const struct custom_version *to, const struct cache_object *o,
                   struct arena *a, struct str *out)
{
    struct arena scratch = {0};
    struct doc d = object_doc(o, &scratch);
    bool differs = bring_up(to->of, to, &d, &scratch);
    if (differs)
        *out = arena_str(a, conversion_source(&d, &scratch));
    arena_fini(&scratch);
    return differs;
}

bool custom_ready(struct request *r, struct cache_object *const *objects, size_t n,
                  enum custom_reading how)
{
    struct conversions *c = r->res->custom ? r->res->custom->of->conversions : NULL;
    struct str why;
    uint32_t left = 0;
    if (!c || n == 0)
        return true;
    struct str *sources = ARENA_ARRAY(r->a, struct str, n);
    for (size_t i = 0; i < n; i++)
        left += custom_source(r->res->custom, objects[i], r->a, &sources[left]);
    return conversion_await(r, c, r->res->custom->api_version, sources, left, &why) ||
           fail_stored(r, objects[0], why, how);
}

typedef VEC(struct cache_object *) object_list;

static bool gather(void *ctx, struct cache_object *o)
{
    object_list *list = ctx;
    vec_push(list, o);
    return true;
}

bool custom_selectable(struct request *r, const struct selection *s,
                       enum custom_reading how)
{
    object_list list = {0};
    if (!s->custom || !s->custom->of->conversions || s->fields.n == 0)
        return true;
    cache_each(r->s->cache, request_prefix(r), STR_NONE, gather, &list);
    bool ok = custom_ready(r, list.v, list.n, how);
    vec_release(&list);
    return ok;
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
    if (!structural_prune(res->custom->schema, d, false, note_unknown, &unknown, a,
                          why) ||
        !structural_floats(d, a, why))
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

/* In the version whose fields they are. */
static struct doc selected_doc(const struct custom_version *v,
                               const struct cache_object *o, struct arena *a)
{
    struct doc d = object_doc(o, a);
    if (v->of->conversions)
        bring_into(NULL, v->of, v, &d, a);
    return d;
}

bool custom_matches(const struct selection *s, const struct cache_object *o)
{
    struct arena a = {0};
    struct doc d = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->fields.n; i++) {
        struct str key = s->fields.all[i].key;
        if (d.type == DOC_NULL && !str_starts(key, STR("metadata.")))
            d = selected_doc(s->custom, o, &a);
        ok = requirement_holds(&s->fields.all[i], field_value(s->custom, o, &d, key, &a));
    }
    arena_fini(&a);
    return ok && selector_matches_labels(&s->labels, o);
}
