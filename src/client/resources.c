/* SPDX-License-Identifier: Apache-2.0 */
#include "client/resources.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* As upstream's garbage collector; kinds at most, for a server that has lost its mind. */
enum { LOOK_MS = 30000, SOON_MS = 1000, MAX_RESOURCES = 20000 };

static const char ALL[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

struct resources {
    struct client *client;
    const struct resources_ops *ops;
    void *ctx;
    struct arena arena; /* of the entries' texts */
    VEC(struct resource *) list;
    struct strmap by_path; /* "GROUP/VERSION/RESOURCE" -> entry, as all has them */
    struct strbuf stale;
    bool known, changed;
    uint32_t round;
    uint64_t looked_ms;
    struct steps look; /* that is under way */
    bool looking;
    struct net_timer *timer;
};

/* ---- entries ---- */

static struct resource *add(struct resources *r, struct str group, struct str version,
                            struct str path)
{
    struct resource *e = ARENA_NEW(&r->arena, struct resource);
    struct str resource = str_sub(path, group.n + version.n + 2, path.n);
    e->kind.group = arena_str(&r->arena, group).p;
    e->kind.version = arena_str(&r->arena, version).p;
    e->kind.resource = arena_str(&r->arena, resource).p;
    e->api_version =
        group.n ? arena_printf(&r->arena, "%s/%s", e->kind.group, e->kind.version)
                : str_from(e->kind.version);
    vec_push(&r->list, e);
    strmap_put(&r->by_path, arena_str(&r->arena, path), NULL)->value.ptr = e;
    return e;
}

static unsigned read_verbs(const struct doc *d)
{
    static const struct {
        const char *name;
        unsigned bit;
    } VERBS[] = {
        {"delete", RESOURCE_DELETE},
        {"deletecollection", RESOURCE_DELETE_COLLECTION},
        {"list", RESOURCE_LIST},
        {"watch", RESOURCE_WATCH},
    };
    const struct doc *list = doc_get(d, "verbs");
    unsigned verbs = 0;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        for (int v = 0; v < 4; v++)
            if (doc_is_string(&list->items[i], VERBS[v].name))
                verbs |= VERBS[v].bit;
    return verbs;
}

/* Whether an earlier version of the group has it: the server names the preferred first.
 */
static bool is_seen(const struct resources *r, const struct resource *e)
{
    for (size_t i = 0; i < r->list.n; i++) {
        const struct resource *o = r->list.v[i];
        if (o != e && o->round == r->round && o->preferred &&
            strcmp(o->kind.group, e->kind.group) == 0 &&
            strcmp(o->kind.resource, e->kind.resource) == 0)
            return true;
    }
    return false;
}

static void take_text(struct resources *r, struct str *to, struct str text)
{
    if (!str_eq(*to, text))
        *to = arena_str(&r->arena, text);
}

static void take_resource(struct resources *r, struct str group, struct str version,
                          const struct doc *d)
{
    struct arena a;
    arena_init(&a);
    struct str path = arena_printf(&a, "%.*s/%.*s/%.*s", STR_ARG(group), STR_ARG(version),
                                   STR_ARG(doc_get_text(d, "resource")));
    struct strmap_entry *found = strmap_find(&r->by_path, path);
    struct resource *e = found                       ? found->value.ptr
                         : r->list.n < MAX_RESOURCES ? add(r, group, version, path)
                                                     : NULL;
    arena_fini(&a);
    if (!e)
        return;
    struct resource was = *e;
    take_text(r, &e->name, doc_get_text(doc_get(d, "responseKind"), "kind"));
    take_text(r, &e->singular, doc_get_text(d, "singularResource"));
    e->kind.namespaced = doc_is_string(doc_get(d, "scope"), "Namespaced");
    e->verbs = read_verbs(d);
    e->round = r->round;
    e->served = true;
    e->preferred = !is_seen(r, e);
    r->changed |= !was.served || was.preferred != e->preferred || was.verbs != e->verbs ||
                  was.kind.namespaced != e->kind.namespaced || !str_eq(was.name, e->name);
}

/* Of a version that its own server does not answer for now, what was known stays. */
static void keep_stale(struct resources *r, struct str group, struct str version)
{
    for (size_t i = 0; i < r->list.n; i++) {
        struct resource *e = r->list.v[i];
        if (e->served && str_is(group, e->kind.group) && str_is(version, e->kind.version))
            e->round = r->round;
    }
    strbuf_addf(&r->stale, "%s%.*s/%.*s: stale GroupVersion discovery: %.*s/%.*s",
                r->stale.n ? ", " : "", STR_ARG(group), STR_ARG(version), STR_ARG(group),
                STR_ARG(version));
}

static void take_version(struct resources *r, struct str group, const struct doc *d)
{
    struct str version = doc_get_text(d, "version");
    const struct doc *list = doc_get(d, "resources");
    if (doc_is_string(doc_get(d, "freshness"), "Stale"))
        keep_stale(r, group, version);
    else
        for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
            take_resource(r, group, version, &list->items[i]);
}

static void take_groups(struct resources *r, const struct doc *all)
{
    const struct doc *groups = doc_get(all, "items");
    for (uint32_t i = 0; groups && groups->type == DOC_LIST && i < groups->n; i++) {
        const struct doc *versions = doc_get(&groups->items[i], "versions");
        struct str group = doc_get_text(doc_get(&groups->items[i], "metadata"), "name");
        for (uint32_t v = 0; versions && versions->type == DOC_LIST && v < versions->n;
             v++)
            take_version(r, group, &versions->items[v]);
    }
}

static void drop_unseen(struct resources *r)
{
    for (size_t i = 0; i < r->list.n; i++) {
        struct resource *e = r->list.v[i];
        if (!e->served || e->round == r->round)
            continue;
        e->served = e->preferred = false;
        r->changed = true;
    }
}

/* ---- looking ---- */

static const struct client_answer *ask(struct steps *s, const char *path)
{
    struct client_request q = {.method = "GET", .path = str_from(path), .accept = ALL};
    return steps_ask(s, &q);
}

/* NULL: it is no such document; *why says more. */
static const struct doc *read(struct steps *s, const struct client_answer *a,
                              const char **why)
{
    struct doc_source src = {.name = "discovery", .text = a->body};
    struct doc *d = ARENA_NEW(&s->arena, struct doc);
    *why = a->message;
    if (!a->ok)
        return NULL;
    *why = "the server does not tell all of its kinds in one document";
    return doc_read_json(&src, &s->arena, d, NULL) &&
                   doc_is_string(doc_get(d, "kind"), "APIGroupDiscoveryList")
               ? d
               : NULL;
}

/* WAIT, FAILED with a reason, or DONE: the entries are as the server says. */
static enum progress look(struct resources *r, struct steps *s, const char **why)
{
    const struct client_answer *core = ask(s, "/api"), *groups = ask(s, "/apis");
    if (!core || !groups)
        return PROGRESS_WAIT;
    const struct doc *c = read(s, core, why), *g = c ? read(s, groups, why) : NULL;
    if (!c || !g)
        return PROGRESS_FAILED;
    r->round++;
    r->changed = false;
    strbuf_clear(&r->stale);
    take_groups(r, c);
    take_groups(r, g);
    drop_unseen(r);
    r->known = true;
    r->looked_ms = net_now_ms(client_loop(r->client));
    if (r->changed && r->ops->changed)
        r->ops->changed(r->ctx);
    return PROGRESS_DONE;
}

static void look_now(void *ctx);

static void look_later(struct resources *r, uint64_t ms)
{
    r->timer = net_timer_start(client_loop(r->client), ms, 0, look_now, r);
}

static void go_on(void *ctx)
{
    struct resources *r = ctx;
    const char *why = "";
    enum progress p = look(r, &r->look, &why);
    if (p == PROGRESS_WAIT)
        return;
    if (p == PROGRESS_FAILED && r->ops->trouble)
        r->ops->trouble(r->ctx, why);
    steps_fini(&r->look);
    r->looking = false;
    look_later(r, p == PROGRESS_DONE ? LOOK_MS : SOON_MS);
}

static void look_now(void *ctx)
{
    struct resources *r = ctx;
    r->timer = NULL;
    r->looking = true;
    steps_init(&r->look, r->client, go_on, r);
    go_on(r);
}

void resources_look(struct resources *r)
{
    uint64_t now = net_now_ms(client_loop(r->client)), at = r->looked_ms + SOON_MS;
    if (r->looking)
        return;
    net_timer_stop(r->timer);
    look_later(r, at > now ? at - now : 0);
}

enum progress resources_renew(struct resources *r, struct work *w)
{
    const char *why = "";
    enum progress p = look(r, &w->steps, &why);
    return p == PROGRESS_FAILED ? work_fail(w, "%s", why) : p;
}

/* ---- reading ---- */

bool resources_known(const struct resources *r)
{
    return r->known;
}

uint32_t resources_count(const struct resources *r)
{
    return (uint32_t)r->list.n;
}

const struct resource *resources_at(const struct resources *r, uint32_t i)
{
    return r->list.v[i];
}

const struct resource *resources_find(const struct resources *r, struct str api_version,
                                      struct str name)
{
    for (size_t i = 0; i < r->list.n; i++) {
        const struct resource *e = r->list.v[i];
        if (e->served && str_eq(e->name, name) && str_eq(e->api_version, api_version))
            return e;
    }
    return NULL;
}

const char *resources_stale(const struct resources *r)
{
    return strbuf_cstr(&r->stale);
}

/* ---- life ---- */

struct resources *resources_new(struct client *c, const struct resources_ops *ops,
                                void *ctx)
{
    struct resources *r = mem_zalloc(sizeof *r);
    r->client = c;
    r->ops = ops;
    r->ctx = ctx;
    arena_init(&r->arena);
    look_now(r);
    return r;
}

void resources_free(struct resources *r)
{
    if (!r)
        return;
    if (r->looking)
        steps_fini(&r->look);
    net_timer_stop(r->timer);
    vec_release(&r->list);
    strmap_release(&r->by_path);
    strbuf_release(&r->stale);
    arena_fini(&r->arena);
    free(r);
}
