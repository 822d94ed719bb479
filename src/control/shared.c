/* SPDX-License-Identifier: Apache-2.0 */
#include "control/shared.h"

#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "client/index.h"

enum { AGAIN_MS = 600000 };

struct listener {
    shared_changed *changed; /* NULL: it has gone */
    void *ctx;
};

struct shared_kind {
    struct shared_kind *next;
    struct shared *shared;
    struct client_kind kind;
    struct informer *informer;
    struct index owners; /* "UID" of controllers, "-NAMESPACE" of orphans */
    VEC(struct listener) listeners;
};

struct shared {
    struct client *client;
    struct shared_kind *kinds;
    struct net_timer *timer;
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

static void by_owner(struct index *x, const struct object *o)
{
    const struct doc *controller = claim_ref_controller(o->doc);
    struct arena a;
    arena_init(&a);
    index_emit(x, controller ? doc_get_text(controller, "uid")
                             : arena_printf(&a, "-%.*s", STR_ARG(o->namespace)));
    arena_fini(&a);
}

const struct informer *shared_informer(const struct shared_kind *k)
{
    return k->informer;
}

const struct str *shared_owned(const struct shared_kind *k, struct str uid, uint32_t *n)
{
    return index_find(&k->owners, uid, n);
}

const struct str *shared_orphans(const struct shared_kind *k, struct str namespace,
                                 uint32_t *n)
{
    struct arena a;
    arena_init(&a);
    const struct str *keys =
        index_find(&k->owners, arena_printf(&a, "-%.*s", STR_ARG(namespace)), n);
    arena_fini(&a);
    return keys;
}

/* Listeners that come from within are told by shared_watch itself. */
static void tell(struct shared_kind *k, const struct object *old,
                 const struct object *now)
{
    for (size_t i = 0, n = k->listeners.n; i < n; i++)
        if (k->listeners.v[i].changed)
            k->listeners.v[i].changed(k->listeners.v[i].ctx, old, now);
}

static void on_changed(void *ctx, const struct object *old, const struct object *now)
{
    struct shared_kind *k = ctx;
    index_change(&k->owners, old, now);
    tell(k, old, now);
}

static void on_trouble(void *ctx, const char *what)
{
    struct shared_kind *k = ctx;
    if (k->shared->log)
        k->shared->log(k->shared->log_ctx, what);
}

static void tell_again(void *ctx, const struct object *o)
{
    tell(ctx, o, o);
}

static void tell_all_again(void *ctx)
{
    struct shared *s = ctx;
    for (struct shared_kind *k = s->kinds; k; k = k->next)
        informer_each(k->informer, tell_again, k);
}

static void on_synced(void *ctx)
{
    struct shared_kind *k = ctx;
    tell_all_again(k->shared);
}

bool shared_synced(const struct shared_kind *k)
{
    return informer_synced(k->informer);
}

static const struct informer_ops OPS = {on_changed, on_synced, on_trouble};

static void tell_new(void *ctx, const struct object *o)
{
    const struct listener *l = ctx;
    l->changed(l->ctx, NULL, o);
}

static bool is_same(const struct client_kind *a, const struct client_kind *b)
{
    return !strcmp(a->group, b->group) && !strcmp(a->resource, b->resource) &&
           !strcmp(a->version, b->version);
}

static struct shared_kind *find_kind(struct shared *s, const struct client_kind *kind)
{
    struct shared_kind *k = s->kinds;
    while (k && !is_same(&k->kind, kind))
        k = k->next;
    return k;
}

static struct shared_kind *make_kind(struct shared *s, const struct client_kind *kind)
{
    struct informer_opts opts = {.kind = *kind};
    struct shared_kind *k = mem_zalloc(sizeof *k);
    k->next = s->kinds;
    k->shared = s;
    k->kind = *kind;
    s->kinds = k;
    index_init(&k->owners, by_owner);
    k->informer = informer_new(s->client, &opts, &OPS, k);
    return k;
}

struct shared_kind *shared_watch(struct shared *s, const struct client_kind *kind,
                                 shared_changed *changed, void *ctx)
{
    struct shared_kind *k = find_kind(s, kind);
    struct listener l = {changed, ctx};
    if (k)
        informer_each(k->informer, tell_new, &l);
    else
        k = make_kind(s, kind);
    vec_push(&k->listeners, l);
    return k;
}

void shared_unwatch(struct shared *s, void *ctx)
{
    for (struct shared_kind *k = s->kinds; k; k = k->next)
        for (size_t i = 0; i < k->listeners.n; i++)
            if (k->listeners.v[i].ctx == ctx)
                k->listeners.v[i].changed = NULL;
}

struct client *shared_client(const struct shared *s)
{
    return s->client;
}

struct shared *shared_new(struct client *c, void (*log)(void *ctx, const char *text),
                          void *log_ctx)
{
    struct shared *s = mem_zalloc(sizeof *s);
    *s = (struct shared){.client = c, .log = log, .log_ctx = log_ctx};
    s->timer = net_timer_start(client_loop(c), AGAIN_MS, AGAIN_MS, tell_all_again, s);
    return s;
}

void shared_free(struct shared *s)
{
    if (!s)
        return;
    net_timer_stop(s->timer);
    for (struct shared_kind *k = s->kinds, *next; k; k = next) {
        next = k->next;
        informer_free(k->informer);
        index_fini(&k->owners);
        vec_release(&k->listeners);
        free(k);
    }
    free(s);
}
