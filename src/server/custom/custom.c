/* SPDX-License-Identifier: Apache-2.0 */
/* The table of custom resources that are served, and how long its rows live. */
#include "server/custom/custom.h"

#include <stdlib.h>
#include <string.h>

#include "server/custom/definition.h"
#include "server/discovery/apiservices.h"
#include "server/discovery/openapi.h"

struct customs {
    struct server *s;
    struct strmap families; /* by the definition's name */
    struct strmap by_name;  /* "GROUP/VERSION/RESOURCE" */
    struct strmap by_key;   /* "GROUP/RESOURCE" */
    const struct resource **listed;
    uint32_t nlisted;
    struct arena arena; /* of the maps' keys and the list: made anew with them */
    bool stale;         /* these are of earlier families: many may change before a look */
    struct cache_watch *watch;
};

/* ---- how long rows live ---- */

void custom_ref(struct custom *c)
{
    c->refs++;
}

static void drop_family(struct custom_family *f)
{
    if (f->living)
        return;
    arena_fini(&f->names);
    arena_fini(&f->arena);
    free(f);
}

/* Once the writes under earlier rows are through, what is written is as today's want it.
 */
static void settle(struct custom_family *f)
{
    if (f->now && f->living == 2)
        f->now->since = cache_revision(f->now->s->cache);
}

void custom_unref(struct custom *c)
{
    struct custom_family *f = c->family;
    if (--c->refs > 0)
        return;
    custom_destroy(c);
    f->living--;
    settle(f);
    drop_family(f);
}

void custom_hold(struct request *r)
{
    if (!r->res || !r->res->custom || r->held)
        return;
    r->held = r->res->custom->of;
    custom_ref(r->held);
}

/* ---- the table ---- */

static int by_place(const void *x, const void *y)
{
    const struct resource *a = *(const struct resource *const *)x,
                          *b = *(const struct resource *const *)y;
    int c = strcmp(a->main->group, b->main->group);
    c = c ? c : custom_version_order(b->main->version, a->main->version);
    c = c ? c : strcmp(a->main->resource, b->main->resource);
    return c ? c : (int)(a->kind > b->kind) - (int)(a->kind < b->kind);
}

static void offer(struct customs *t, struct resource *res)
{
    const struct api_kind *k = res->kind;
    bool made;
    struct str name =
        arena_printf(&t->arena, "%s/%s/%s", k->group, k->version, k->resource);
    strmap_put(&t->by_name, name, &made)->value.ptr = res;
    if (res->custom->of->listed)
        t->listed[t->nlisted++] = res;
}

static void offer_all(struct customs *t, struct custom *c)
{
    bool made;
    struct str key = arena_printf(&t->arena, "%s/%s", c->group, c->plural);
    strmap_put(&t->by_key, key, &made)->value.ptr = &c->storage->rows[0];
    for (uint32_t i = 0; i < c->nversions; i++) {
        struct custom_version *v = &c->versions[i];
        if (!v->served)
            continue;
        offer(t, &v->rows[0]);
        if (v->has_status)
            offer(t, &v->rows[1]);
        if (v->has_scale)
            offer(t, &v->rows[2]);
    }
}

static uint32_t count_rows(const struct customs *t)
{
    uint32_t n = 0;
    strmap_each(&t->families, e)
    {
        struct custom_family *f = e->value.ptr;
        n += f->now ? 3 * f->now->nversions : 0;
    }
    return n;
}

static void make_table(struct customs *t)
{
    strmap_clear(&t->by_name);
    strmap_clear(&t->by_key);
    arena_reset(&t->arena);
    t->nlisted = 0;
    t->listed = ARENA_ARRAY(&t->arena, const struct resource *, count_rows(t) + 1);
    strmap_each(&t->families, e)
    {
        struct custom_family *f = e->value.ptr;
        if (f->now)
            offer_all(t, f->now);
    }
    if (t->nlisted)
        qsort(t->listed, t->nlisted, sizeof *t->listed, by_place);
    t->stale = false;
}

/* NULL: there is none yet. */
static const struct customs *table_of(const struct server *s)
{
    if (s->customs && s->customs->stale)
        make_table(s->customs);
    return s->customs;
}

static void outdate(struct customs *t)
{
    t->stale = true;
    openapi_invalidate(t->s);
    apiservices_follow(t->s);
}

static struct custom_family *family_of(struct customs *t, struct str name)
{
    struct strmap_entry *e = strmap_find(&t->families, name);
    if (e)
        return e->value.ptr;
    struct custom_family *f = mem_zalloc(sizeof *f);
    bool made;
    f->name = arena_str(&f->arena, name);
    f->living = 1;
    strmap_put(&t->families, f->name, &made)->value.ptr = f;
    return f;
}

/* What was served until now is not anymore: watches end, requests finish. */
static void retire(struct custom_family *f)
{
    struct custom *old = f->now;
    f->now = NULL;
    if (!old)
        return;
    watch_end_custom(old->s, old);
    custom_unref(old);
}

static void serve(struct custom_family *f, struct custom *c)
{
    if (!c)
        return;
    c->family = f;
    c->since = UINT64_MAX;
    f->living++;
    f->now = c;
    settle(f);
}

static bool is_terminating(const struct doc *definition)
{
    return definition_is(definition, "Terminating") ||
           meta_text(definition, "deletionTimestamp").n > 0;
}

/* Whether the rows stay: nothing has changed that they depend on. */
static bool stays(struct custom *c, const struct doc *definition)
{
    struct arena a = {0};
    bool same = c && str_eq(c->essence, custom_essence(definition, &a));
    arena_fini(&a);
    return same && (definition_is(definition, "Established") ||
                    definition_is(definition, "NamesAccepted"));
}

static void note_names(struct custom_family *f, const struct doc *definition)
{
    const struct doc *accepted = doc_path(definition, "status.acceptedNames");
    arena_reset(&f->names);
    f->group = arena_str(&f->names, doc_get_text(doc_get(definition, "spec"), "group"));
    f->accepted = accepted ? doc_dup(&f->names, accepted) : doc_make_map();
    f->conflicts = !definition_is(definition, "NamesAccepted");
}

static void put(struct customs *t, struct str name, const struct doc *definition,
                uint64_t revision)
{
    struct custom_family *f = family_of(t, name);
    note_names(f, definition);
    if (!stays(f->now, definition)) {
        retire(f);
        serve(f, custom_new(t->s, definition, revision));
    }
    if (!f->now)
        return;
    f->now->revision = revision;
    f->now->listed = definition_is(definition, "Established");
    f->now->terminating = is_terminating(definition);
}

static void forget(struct customs *t, struct str name)
{
    struct strmap_entry *e = strmap_find(&t->families, name);
    if (!e)
        return;
    struct custom_family *f = e->value.ptr;
    strmap_remove(&t->families, name);
    retire(f);
    f->living--;
    drop_family(f);
}

const struct resource *customs_find(const struct server *s, struct str name)
{
    const struct customs *t = table_of(s);
    struct strmap_entry *e = t ? strmap_find(&t->by_name, name) : NULL;
    return e ? e->value.ptr : NULL;
}

const struct resource *customs_of_key(const struct server *s, struct str key)
{
    const struct customs *t = table_of(s);
    struct strmap_entry *e = t ? strmap_find(&t->by_key, key) : NULL;
    return e ? e->value.ptr : NULL;
}

const struct resource *const *customs_listed(const struct server *s, uint32_t *n)
{
    const struct customs *t = table_of(s);
    *n = t ? t->nlisted : 0;
    return t ? t->listed : NULL;
}

/* ---- names ---- */

static bool has_name(const struct doc *accepted, bool of_kind, struct str name)
{
    const struct doc *shorts = doc_get(accepted, "shortNames");
    if (of_kind)
        return str_eq(doc_get_text(accepted, "kind"), name) ||
               str_eq(doc_get_text(accepted, "listKind"), name);
    for (uint32_t i = 0; shorts && shorts->type == DOC_LIST && i < shorts->n; i++)
        if (str_eq(doc_str(&shorts->items[i]), name))
            return true;
    return str_eq(doc_get_text(accepted, "plural"), name) ||
           str_eq(doc_get_text(accepted, "singular"), name);
}

bool customs_name_taken(const struct server *s, struct str group, struct str definition,
                        bool of_kind, struct str name)
{
    strmap_each(&s->customs->families, e)
    {
        const struct custom_family *f = e->value.ptr;
        if (str_eq(f->group, group) && !str_eq(f->name, definition) &&
            has_name(&f->accepted, of_kind, name))
            return true;
    }
    return false;
}

void customs_each_conflict(const struct server *s, struct str group,
                           void (*each)(void *ctx, struct str definition), void *ctx)
{
    strmap_each(&s->customs->families, e)
    {
        const struct custom_family *f = e->value.ptr;
        if (f->conflicts && str_eq(f->group, group))
            each(ctx, f->name);
    }
}

/* ---- following the definitions ---- */

static void on_change(void *ctx, const struct cache_event *e)
{
    struct customs *t = ctx;
    struct arena a = {0};
    struct cache_object *o = e->object;
    if (e->kind == CACHE_BOOKMARK)
        return;
    struct str name = arena_str(&a, o->name);
    bool gone = e->kind == CACHE_DELETED;
    struct doc d = object_doc(o, &a);
    if (gone)
        forget(t, name);
    else
        put(t, name, &d, e->revision);
    outdate(t);
    definition_changed(t->s, name, &d, gone);
    arena_fini(&a);
}

static bool take(void *ctx, struct cache_object *o)
{
    struct customs *t = ctx;
    struct arena a = {0};
    struct doc d = object_doc(o, &a);
    put(t, o->name, &d, o->revision);
    arena_fini(&a);
    return true;
}

/* Those that were left in the middle of something go on. */
static bool resume(void *ctx, struct cache_object *o)
{
    struct customs *t = ctx;
    struct arena a = {0};
    struct doc d = object_doc(o, &a);
    definition_changed(t->s, o->name, &d, false);
    arena_fini(&a);
    return true;
}

struct telling { /* openapi.h of kinds */
    openapi_kind_fn *each;
    void *ctx;
};

static void tell_version(const struct telling *t, const struct custom_version *v,
                         const struct doc *d)
{
    const struct custom *c = v->of;
    struct openapi_kind k = {.group = str_from(c->group),
                             .version = str_from(v->name),
                             .kind = str_from(v->kind.name),
                             .list_kind = str_from(c->list_kind),
                             .plural = str_from(c->plural),
                             .namespaced = v->kind.namespaced,
                             .status = v->has_status,
                             .scale = v->has_scale,
                             .schema = doc_path(d, "schema.openAPIV3Schema"),
                             .selectable = doc_get(d, "selectableFields"),
                             .revision = c->revision};
    if (v->served && c->listed)
        t->each(t->ctx, &k);
}

static void tell(const struct telling *t, const struct custom *c, struct str name)
{
    struct arena a = {0};
    const struct resource *res = definitions_resource(c->s);
    struct cache_object *o = cache_get(c->s->cache, object_key(res, STR_NONE, name, &a));
    struct doc d = o ? object_doc(o, &a) : doc_make_null();
    const struct doc *list = doc_path(&d, "spec.versions");
    for (uint32_t i = 0; list && i < c->nversions && i < list->n; i++)
        tell_version(t, &c->versions[i], &list->items[i]);
    arena_fini(&a);
}

static void tell_all(struct server *s, openapi_kind_fn *each, void *ctx)
{
    struct telling t = {each, ctx};
    strmap_each(&s->customs->families, e)
    {
        const struct custom_family *f = e->value.ptr;
        if (f->now)
            tell(&t, f->now, f->name);
    }
}

void customs_start(struct server *s)
{
    const struct resource *res = definitions_resource(s);
    struct customs *t = mem_zalloc(sizeof *t);
    t->s = s;
    s->customs = t;
    if (!res)
        return;
    cache_each(s->cache, res->prefix, STR_NONE, take, t);
    outdate(t);
    openapi_set_kinds(s, tell_all);
    t->watch = cache_watch(s->cache, res->prefix, cache_revision(s->cache), on_change, t);
    cache_each(s->cache, res->prefix, STR_NONE, resume, t);
}

void customs_free(struct server *s)
{
    struct customs *t = s->customs;
    if (!t)
        return;
    definitions_end(s);
    cache_unwatch(t->watch);
    strmap_each(&t->families, e)
    {
        struct custom_family *f = e->value.ptr;
        retire(f);
        f->living--;
        drop_family(f);
    }
    strmap_release(&t->families);
    strmap_release(&t->by_name);
    strmap_release(&t->by_key);
    arena_fini(&t->arena);
    free(t);
    s->customs = NULL;
}
