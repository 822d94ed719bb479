/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/discovery.h"

#include <ctype.h>

#include "base/vec.h"

static const char ACCEPT[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

typedef VEC(struct resource) resources;

static uint32_t length(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static struct str lower(struct str s, struct arena *a)
{
    char *p = (char *)arena_str(a, s).p;
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)tolower((unsigned char)p[i]);
    return (struct str){p, s.n};
}

/* ---- reading ---- */

static void add(resources *out, struct arena *a, struct str group, struct str version,
                const struct doc *d, bool preferred)
{
    struct str kind = doc_get_text(doc_get(d, "responseKind"), "kind"),
               singular = doc_get_text(d, "singularResource");
    struct resource r = {
        .group = group,
        .version = version,
        .resource = doc_get_text(d, "resource"),
        .singular = singular.n ? singular : lower(kind, a),
        .kind = kind,
        .namespaced = doc_is_string(doc_get(d, "scope"), "Namespaced"),
        .preferred = preferred,
        .shorts = doc_get(d, "shortNames"),
        .categories = doc_get(d, "categories"),
        .verbs = doc_get(d, "verbs"),
    };
    if (r.resource.n && kind.n)
        vec_push_in(a, out, r);
}

static void read_group(resources *out, struct arena *a, const struct doc *group)
{
    const struct doc *versions = doc_get(group, "versions");
    struct str name = doc_get_text(doc_get(group, "metadata"), "name");
    for (uint32_t v = 0; v < length(versions); v++) {
        const struct doc *version = &versions->items[v],
                         *list = doc_get(version, "resources");
        for (uint32_t i = 0; i < length(list); i++)
            add(out, a, name, doc_get_text(version, "version"), &list->items[i], v == 0);
    }
}

bool discovery_read(struct session *s, struct discovery *out, struct err *e)
{
    static const char *const ROOTS[] = {"/api", "/apis"};
    resources found = {0};
    for (size_t r = 0; r < sizeof ROOTS / sizeof *ROOTS; r++) {
        const struct doc *d =
            session_doc(s, session_get(s, str_from(ROOTS[r]), ACCEPT), e);
        const struct doc *items = doc_get(d, "items");
        if (!d)
            return false;
        for (uint32_t i = 0; i < length(items); i++)
            read_group(&found, s->a, &items->items[i]);
    }
    *out = (struct discovery){found.v, (uint32_t)found.n};
    return true;
}

/* ---- finding ---- */

static bool has_text(const struct doc *list, struct str text)
{
    for (uint32_t i = 0; i < length(list); i++)
        if (str_eq(doc_str(&list->items[i]), text))
            return true;
    return false;
}

bool resource_has_verb(const struct resource *r, const char *verb)
{
    return has_text(r->verbs, str_from(verb));
}

/* "", "apps", or "v1.apps"; without a group the preferred version alone. */
static bool is_in_group(const struct resource *r, struct str group)
{
    if (!group.n)
        return r->preferred;
    if (str_eq(group, r->group))
        return r->preferred;
    size_t dot = str_find_byte(group, '.', 0);
    return str_eq(str_sub(group, 0, dot), r->version) &&
           str_eq(dot == SIZE_MAX ? STR("") : str_sub(group, dot + 1, group.n), r->group);
}

static bool has_name(const struct resource *r, struct str name, struct arena *a)
{
    return str_eq(name, r->resource) || str_eq(name, r->singular) ||
           str_eq(name, lower(r->kind, a));
}

static const struct resource *find(const struct discovery *d, struct str name,
                                   struct str group, bool by_short, struct arena *a)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct resource *r = &d->v[i];
        if (is_in_group(r, group) &&
            (by_short ? has_text(r->shorts, name) : has_name(r, name, a)))
            return r;
    }
    return NULL;
}

const struct resource *discovery_find(const struct discovery *d, struct str name,
                                      struct err *e)
{
    struct arena a = {0};
    size_t dot = str_find_byte(name, '.', 0);
    struct str base = lower(str_sub(name, 0, dot), &a),
               group = dot == SIZE_MAX ? STR("") : str_sub(name, dot + 1, name.n);
    const struct resource *r = find(d, base, group, false, &a);
    if (!r)
        r = find(d, base, group, true, &a);
    arena_fini(&a);
    if (!r)
        err_set(e, ERR_NOT_FOUND, "the server doesn't have a resource type \"%.*s\"",
                STR_ARG(name));
    return r;
}

const struct resource *discovery_of(const struct discovery *d, const struct doc *object)
{
    struct str version = doc_get_text(object, "apiVersion"),
               kind = doc_get_text(object, "kind");
    size_t slash = str_find_byte(version, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(version, 0, slash);
    if (slash != SIZE_MAX)
        version = str_sub(version, slash + 1, version.n);
    for (uint32_t i = 0; i < d->n; i++)
        if (str_eq(d->v[i].group, group) && str_eq(d->v[i].version, version) &&
            str_eq(d->v[i].kind, kind))
            return &d->v[i];
    return NULL;
}

/* ---- naming ---- */

struct str resource_path(const struct resource *r, struct str namespace, struct str name,
                         const char *sub, struct arena *a)
{
    struct client_kind k = {arena_str(a, r->group).p, arena_str(a, r->version).p,
                            arena_str(a, r->resource).p, r->namespaced};
    return client_path(&k, r->namespaced ? namespace : STR_NONE, name, sub, a);
}

static struct str with_group(struct str name, struct str group, struct arena *a)
{
    return group.n ? arena_printf(a, "%.*s.%.*s", STR_ARG(name), STR_ARG(group)) : name;
}

struct str resource_kind_name(const struct resource *r, struct arena *a)
{
    return with_group(lower(r->kind, a), r->group, a);
}

struct str resource_plural_name(const struct resource *r, struct arena *a)
{
    return with_group(r->resource, r->group, a);
}
