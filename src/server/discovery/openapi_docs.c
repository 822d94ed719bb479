/* SPDX-License-Identifier: Apache-2.0 */
/* Which documents there are, and of which kinds. */
#include <stdlib.h>

#include "server/discovery/openapi_inner.h"

/* What the hook tells, in the order of its telling. */
struct told {
    struct arena *a;
    const struct openapi_docs *whole;
    VEC(struct openapi_kind) kinds;
};

static bool wants_schema(const struct told *t, const struct openapi_kind *k)
{
    for (uint32_t i = 0; t->whole && i < t->whole->n; i++)
        if (str_eq(t->whole->v[i].group, k->group) &&
            str_eq(t->whole->v[i].version, k->version))
            return true;
    return false;
}

static void keep_kind(void *ctx, const struct openapi_kind *k)
{
    struct told *t = ctx;
    struct openapi_kind copy = *k;
    copy.group = arena_str(t->a, k->group);
    copy.version = arena_str(t->a, k->version);
    copy.kind = arena_str(t->a, k->kind);
    copy.list_kind = arena_str(t->a, k->list_kind);
    copy.plural = arena_str(t->a, k->plural);
    copy.schema = copy.selectable = NULL;
    const struct doc *from[] = {k->schema, k->selectable};
    const struct doc **to[] = {&copy.schema, &copy.selectable};
    for (size_t i = 0; wants_schema(t, k) && i < 2; i++)
        if (from[i]) {
            struct doc *d = ARENA_NEW(t->a, struct doc);
            *d = doc_dup(t->a, from[i]);
            *to[i] = d;
        }
    vec_push(&t->kinds, copy);
}

/* ---- The list ---- */

struct listing {
    struct server *s;
    struct arena *a;
    VEC(struct openapi_doc) docs;
};

/* Of a row of the tables: other resources are told of by the hook. */
static bool is_of_tables(const struct resource *r)
{
    return r->kind >= api_kinds && r->kind < api_kinds + api_nkinds;
}

static struct openapi_doc *find_doc(struct listing *l, struct str name)
{
    for (size_t i = 0; i < l->docs.n; i++)
        if (str_eq(l->docs.v[i].name, name))
            return &l->docs.v[i];
    return NULL;
}

static struct str doc_name(struct arena *a, struct str group, struct str version)
{
    if (group.n == 0)
        return arena_printf(a, "api/%.*s", STR_ARG(version));
    return arena_printf(a, "apis/%.*s%s%.*s", STR_ARG(group), version.n ? "/" : "",
                        STR_ARG(version));
}

static struct openapi_doc *need_doc(struct listing *l, struct str name,
                                    enum openapi_sort sort)
{
    struct openapi_doc *d = find_doc(l, name);
    if (!d) {
        vec_push(&l->docs, (struct openapi_doc){.name = name, .sort = sort});
        d = &l->docs.v[l->docs.n - 1];
    }
    return d;
}

static struct openapi_doc *need_version(struct listing *l, struct str group,
                                        struct str version)
{
    struct openapi_doc *d = need_doc(l, doc_name(l->a, group, version), OPENAPI_VERSION);
    d->group = group;
    d->version = version;
    return d;
}

static void add_resources(struct listing *l, struct openapi_doc *d)
{
    struct server *s = l->s;
    struct resource *list = ARENA_ARRAY(l->a, struct resource, s->nresources);
    for (uint32_t i = 0; i < s->nresources; i++)
        if (is_of_tables(&s->resources[i]) &&
            str_is(d->group, s->resources[i].kind->group) &&
            str_is(d->version, s->resources[i].kind->version))
            list[d->nresources++] = s->resources[i];
    d->resources = list;
}

static void add_tables(struct listing *l)
{
    for (uint32_t i = 0; i < l->s->nresources; i++) {
        const struct api_kind *k = l->s->resources[i].kind;
        if (!is_of_tables(&l->s->resources[i]))
            continue;
        if (k->group[0])
            need_doc(l, doc_name(l->a, str_from(k->group), STR("")), OPENAPI_GROUP)
                ->group = str_from(k->group);
        struct openapi_doc *d = need_version(l, str_from(k->group), str_from(k->version));
        if (!d->resources)
            add_resources(l, d);
    }
}

static uint64_t mix(uint64_t stamp, struct str s)
{
    return stamp * UINT64_C(0x9e3779b97f4a7c15) + str_hash(s);
}

static void stamp_kind(struct openapi_doc *d, const struct openapi_kind *k)
{
    d->stamp = mix(mix(d->stamp, k->plural), k->kind) ^ (k->revision + 1);
}

static void add_kinds(struct listing *l, const struct told *t)
{
    for (size_t i = 0; i < t->kinds.n; i++) {
        const struct openapi_kind *k = &t->kinds.v[i];
        struct openapi_doc *d = need_version(l, k->group, k->version);
        if (!d->kinds)
            d->kinds = ARENA_ARRAY(l->a, struct openapi_kind, t->kinds.n);
        ((struct openapi_kind *)d->kinds)[d->nkinds++] = *k;
        stamp_kind(d, k);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct openapi_doc *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

struct openapi_docs openapi_docs_list(struct server *s, openapi_kinds_fn *kinds,
                                      const struct openapi_docs *whole, struct arena *a)
{
    struct listing l = {.s = s, .a = a};
    struct told told = {.a = a, .whole = whole};
    if (kinds)
        kinds(s, keep_kind, &told);
    need_doc(&l, STR(".well-known/openid-configuration"), OPENAPI_SERVER);
    need_doc(&l, STR("openid/v1/jwks"), OPENAPI_SERVER);
    need_doc(&l, STR("version"), OPENAPI_SERVER);
    need_doc(&l, STR("api"), OPENAPI_ROOT);
    need_doc(&l, STR("apis"), OPENAPI_ROOT);
    add_tables(&l);
    add_kinds(&l, &told);
    qsort(l.docs.v, l.docs.n, sizeof *l.docs.v, by_name);
    struct openapi_docs out = {ARENA_ARRAY(a, struct openapi_doc, l.docs.n),
                               (uint32_t)l.docs.n};
    memcpy(out.v, l.docs.v, l.docs.n * sizeof *l.docs.v);
    vec_release(&l.docs);
    vec_release(&told.kinds);
    return out;
}
