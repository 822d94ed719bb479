/* SPDX-License-Identifier: Apache-2.0 */
/* APIServices of versions that definitions serve. What many changes bring is done at
 * once, from what is served by then. */
#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "server/custom/custom.h"
#include "server/discovery/apiservices.h"

enum {
    SOON_MS = 50,
    RETRY_MS = 1000,
    /* Upstream's of all definitions: behind everything that is built in. */
    GROUP_PRIORITY = 1000,
    VERSION_PRIORITY = 100,
};

struct apiservice_sync {
    struct server *s;
    struct net_timer *timer;   /* NULL: nothing is due */
    struct cache_watch *watch; /* of APIServices: one that somebody deletes comes back */
    uint32_t left;             /* writes on their way */
    bool again, failed, over;
    const struct resource *res;
    struct strmap served; /* "VERSION.GROUP" to a row of it */
    struct arena arena;   /* of one round */
};

static void round_begins(void *ctx);

static void drop(struct apiservice_sync *c)
{
    strmap_release(&c->served);
    arena_fini(&c->arena);
    free(c);
}

static void begin_in(struct apiservice_sync *c, uint64_t ms)
{
    if (!c->timer && !c->left && !c->over)
        c->timer = net_timer_start(c->s->loop, ms, 0, round_begins, c);
}

static void written(void *ctx, enum store_answer answer, uint64_t revision,
                    const struct err *e)
{
    struct apiservice_sync *c = ctx;
    c->failed |= answer == STORE_FAILED;
    if (--c->left > 0)
        return;
    if (c->over)
        drop(c);
    else if (c->failed || c->again)
        begin_in(c, c->failed ? RETRY_MS : SOON_MS);
}

static void submit(struct apiservice_sync *c, struct str key, struct str value,
                   uint64_t expect)
{
    struct store_write w = {
        .key = key, .value = value, .expect = expect, .done = written, .ctx = c};
    c->left++;
    store_submit(c->s->store, &w);
}

static void note_served(struct apiservice_sync *c)
{
    uint32_t n;
    bool made;
    const struct resource *const *all = customs_listed(c->s, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct api_kind *k = all[i]->main;
        struct str name = arena_printf(&c->arena, "%s.%s", k->version, k->group);
        strmap_put(&c->served, name, &made)->value.ptr = (void *)k;
    }
}

/* Those that are not served anymore go; what remains of the map is missing. */
static bool compare(void *ctx, struct cache_object *o)
{
    struct apiservice_sync *c = ctx;
    struct str managed = cache_pair_find(o->labels, o->nlabels, STR(APISERVICE_LABEL));
    if (strmap_find(&c->served, o->name))
        strmap_remove(&c->served, o->name);
    else if (str_is(managed, "true"))
        submit(c, arena_str(&c->arena, o->key), STR_NONE, o->revision);
    return true;
}

static void make_missing(struct apiservice_sync *c)
{
    struct str now = timestamp_print(time(NULL), 0, false, &c->arena);
    strmap_each(&c->served, e)
    {
        const struct api_kind *k = e->value.ptr;
        struct apiservice v = {.group = str_from(k->group),
                               .version = str_from(k->version),
                               .now = now,
                               .managed = "true",
                               .group_priority = GROUP_PRIORITY,
                               .version_priority = VERSION_PRIORITY};
        submit(c, object_key(c->res, STR(""), e->key, &c->arena),
               apiservice_bytes(&v, &c->arena), 0);
    }
}

static void round_begins(void *ctx)
{
    struct apiservice_sync *c = ctx;
    c->timer = NULL;
    c->again = c->failed = false;
    strmap_clear(&c->served);
    arena_reset(&c->arena);
    note_served(c);
    cache_each(c->s->cache, c->res->prefix, STR_NONE, compare, c);
    make_missing(c);
}

static void on_event(void *ctx, const struct cache_event *e)
{
    struct apiservice_sync *c = ctx;
    if (e->kind == CACHE_DELETED)
        apiservices_follow(c->s);
}

void apiservices_follow(struct server *s)
{
    const struct resource *res = kinds_stored(s, "apiregistration.k8s.io", "apiservices");
    if (!res || s->ending)
        return;
    if (!s->apiservices) {
        s->apiservices = mem_zalloc(sizeof *s->apiservices);
        s->apiservices->s = s;
        s->apiservices->res = res;
        s->apiservices->watch = cache_watch(
            s->cache, res->prefix, cache_revision(s->cache), on_event, s->apiservices);
    }
    s->apiservices->again = true;
    begin_in(s->apiservices, SOON_MS);
}

void apiservices_end(struct server *s)
{
    struct apiservice_sync *c = s->apiservices;
    s->apiservices = NULL;
    if (!c)
        return;
    if (c->timer)
        net_timer_stop(c->timer);
    cache_unwatch(c->watch);
    c->timer = NULL;
    c->over = true;
    if (!c->left)
        drop(c);
}
