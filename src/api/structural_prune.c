/* SPDX-License-Identifier: Apache-2.0 */
/* What decoding takes out of an object, and the defaults it puts in. */
#include "api/structural_inner.h"

void schema_paths_add(struct schema_paths *p, struct str path, struct arena *a)
{
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? 2 * p->cap : 8;
        struct str *v = ARENA_ARRAY(a, struct str, cap);
        if (p->n)
            memcpy(v, p->v, p->n * sizeof *v);
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n++] = arena_str(a, path);
}

static bool is_meta(struct str key)
{
    return str_is(key, "metadata") || str_is(key, "apiVersion") || str_is(key, "kind");
}

/* ---- Unknown members ---- */

struct pruner {
    struct arena *a;
    struct schema_paths *found; /* or NULL */
    struct strbuf path;         /* kept only for found */
};

static size_t enter_key(struct pruner *p, struct str key)
{
    return p->found ? schema_path_child(&p->path, key) : 0;
}

static size_t enter_item(struct pruner *p, uint32_t i)
{
    return p->found ? schema_path_index(&p->path, i) : 0;
}

static void note(struct pruner *p, struct str key)
{
    if (!p->found)
        return;
    size_t here = schema_path_child(&p->path, key);
    schema_paths_add(p->found, strbuf_str(&p->path), p->a);
    schema_path_back(&p->path, here);
}

static void prune(struct pruner *p, const struct schema *s, struct doc *d, bool resource);

/* The schema of a member; false: there is none, which is not the same as an empty one. */
static bool member_schema(const struct schema *s, struct str key,
                          const struct schema **out)
{
    *out = s ? schema_prop(s, key) : NULL;
    if (*out || !s || !s->additional)
        return *out;
    *out = s->extra;
    return true;
}

/* keep: unknown members stay, and are not looked into. */
static void prune_members(struct pruner *p, const struct schema *s, struct doc *d,
                          bool resource, bool keep)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        struct doc_member *m = &d->members[i];
        const struct schema *below = NULL;
        bool known = s && member_schema(s, doc_key(m), &below);
        if (s && resource && is_meta(doc_key(m))) {
            d->members[kept++] = *m;
            continue;
        }
        if (!known && !keep) {
            note(p, doc_key(m));
            continue;
        }
        size_t here = enter_key(p, doc_key(m));
        if (known)
            prune(p, below, &m->value, false);
        schema_path_back(&p->path, here);
        d->members[kept++] = *m;
    }
    d->n = kept;
}

/* Below a schema that preserves unknown members, up to where one says more. */
static void keep_unknown(struct pruner *p, const struct schema *s, struct doc *d,
                         bool resource)
{
    if (s && d->type == DOC_MAP)
        prune_members(p, s, d, resource, true);
    for (uint32_t i = 0; s && d->type == DOC_LIST && i < d->n; i++) {
        size_t here = enter_item(p, i);
        keep_unknown(p, s->items, &d->items[i], s->items && s->items->embedded);
        schema_path_back(&p->path, here);
    }
}

static void prune(struct pruner *p, const struct schema *s, struct doc *d, bool resource)
{
    resource = resource || (s && s->embedded);
    if (s && s->preserve) {
        keep_unknown(p, s, d, resource);
        return;
    }
    if (d->type == DOC_MAP)
        prune_members(p, s, d, resource, false);
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++) {
        size_t here = enter_item(p, i);
        prune(p, s ? s->items : NULL, &d->items[i], false);
        schema_path_back(&p->path, here);
    }
}

void schema_prune(const struct schema *s, struct doc *d, bool resource, struct arena *a,
                  struct schema_paths *found)
{
    struct pruner p = {.a = a, .found = found, .path = STRBUF_INIT};
    prune(&p, s, d, resource);
    strbuf_release(&p.path);
}

/* ---- Nulls ---- */

static const struct schema *field_schema(const struct schema *s, struct str key)
{
    const struct schema *p = s ? schema_prop(s, key) : NULL;
    return p ? p : s ? s->extra : NULL;
}

void schema_prune_nulls(const struct schema *s, struct doc *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; s && d->type == DOC_LIST && i < d->n; i++)
        schema_prune_nulls(s->items, &d->items[i]);
    if (!s || d->type != DOC_MAP)
        return;
    for (uint32_t i = 0; i < d->n; i++) {
        struct doc_member *m = &d->members[i];
        const struct schema *below = field_schema(s, doc_key(m));
        if (m->value.type == DOC_NULL && below && !below->nullable && !below->def)
            continue;
        schema_prune_nulls(below, &m->value);
        d->members[kept++] = *m;
    }
    d->n = kept;
}

/* ---- Defaults ---- */

static bool lacks(const struct doc *d, const struct schema *s)
{
    return !d || (d->type == DOC_NULL && !s->nullable);
}

/* Where nothing is to be put in, null stays: it is the default of what has none. */
static void put_default(const struct schema *s, struct doc *d, struct arena *a)
{
    if (s && s->def && lacks(d, s))
        *d = doc_dup(a, s->def);
}

/* Of many properties that are all looked for in a large map. */
static void add_defaults(const struct schema *s, struct doc *d, struct arena *a)
{
    struct doc **have = ARENA_ARRAY(a, struct doc *, s->nprops);
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = schema_prop_index(s, doc_key(&d->members[i]));
        if (at < s->nprops)
            have[at] = &d->members[i].value;
    }
    for (uint32_t i = 0; i < s->nprops; i++)
        if (have[i])
            put_default(s->props[i].schema, have[i], a);
    for (uint32_t i = 0; i < s->nprops; i++)
        if (!have[i] && s->props[i].schema->def)
            doc_add_str(a, d, s->props[i].name, doc_dup(a, s->props[i].schema->def));
}

static void default_members(const struct schema *s, struct doc *d, struct arena *a)
{
    bool any = false;
    for (uint32_t i = 0; !any && i < s->nprops; i++)
        any = s->props[i].schema->def;
    if (any)
        add_defaults(s, d, a);
    for (uint32_t i = 0; i < d->n; i++) {
        struct doc *value = &d->members[i].value;
        const struct schema *p = schema_prop(s, doc_key(&d->members[i]));
        if (!p)
            put_default(s->extra, value, a);
        schema_apply_defaults(p ? p : s->extra, value, a);
    }
}

void schema_apply_defaults(const struct schema *s, struct doc *d, struct arena *a)
{
    if (!s || !s->has_defaults)
        return;
    if (d->type == DOC_MAP)
        default_members(s, d, a);
    for (uint32_t i = 0; s->items && d->type == DOC_LIST && i < d->n; i++) {
        put_default(s->items, &d->items[i], a);
        schema_apply_defaults(s->items, &d->items[i], a);
    }
}
