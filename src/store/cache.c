/* SPDX-License-Identifier: Apache-2.0 */
#include "store/cache.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/object.h"
#include "store/order.h"
#include "store/ring.h"

enum { HISTORY = 4096, HISTORY_BYTES = 32 << 20 };

struct cache_watch {
    struct cache_watch *next, **link;
    struct resource *resource;
    struct str prefix;     /* its bytes follow */
    uint64_t after;        /* events up to this revision are not wanted */
    uint64_t told;         /* so many events of the resource, from its first on */
    cache_on_event *event; /* NULL: ended, to be freed */
    cache_on_run *run;     /* NULL: it is told at once */
    void *ctx;
};

/* What shares a "/registry/GROUP/RESOURCE/". */
struct resource {
    struct cache *cache;
    struct str prefix; /* its bytes follow */
    struct ring ring;
    uint64_t events; /* ever pushed to the ring */
    /* Newest first: those that are told at once, and those that are told of runs. */
    struct cache_watch *prompt, *patient;
    uint32_t busy;          /* calls under way that walk the watches */
    bool any_ended;         /* meanwhile */
    struct resource *next;  /* of those that wait */
    uint64_t waiting_bytes; /* of events that the patient have not been told */
    uint32_t waiting;       /* so many */
};

struct cache {
    struct cache_opts opts;
    struct order objects; /* each has one reference */
    struct strmap by_key; /* the same; keys are the objects' */
    struct strmap resources;
    struct resource *waiting; /* have events that were not delivered */
    uint64_t revision;
    uint64_t loaded; /* what the snapshot had: changes up to here */
    uint64_t floor;  /* resources that are not there yet have forgotten up to here */
    uint64_t refused;
};

struct cache *cache_new(const struct cache_opts *opts)
{
    struct cache *c = mem_zalloc(sizeof *c);
    c->opts = *opts;
    if (c->opts.history == 0)
        c->opts.history = HISTORY;
    if (c->opts.history_bytes == 0)
        c->opts.history_bytes = HISTORY_BYTES;
    return c;
}

static void free_watches(struct cache_watch *w)
{
    while (w) {
        struct cache_watch *next = w->next;
        free(w);
        w = next;
    }
}

static void resource_free(struct resource *r)
{
    free_watches(r->prompt);
    free_watches(r->patient);
    ring_release(&r->ring);
    free(r);
}

void cache_free(struct cache *c)
{
    struct order_at at = {0, 0};
    if (!c)
        return;
    strmap_each(&c->resources, e) resource_free(e->value.ptr);
    strmap_release(&c->resources);
    for (struct cache_object *o; (o = order_next(&c->objects, &at));)
        cache_object_unref(o);
    order_release(&c->objects);
    strmap_release(&c->by_key);
    free(c);
}

uint64_t cache_revision(const struct cache *c)
{
    return c->revision;
}

uint64_t cache_refused(const struct cache *c)
{
    return c->refused;
}

/* ---- resources ---- */

/* The first three parts, with the slash behind them. */
static struct str resource_prefix(struct str key)
{
    size_t at = 0;
    for (int slashes = 0; slashes < 4; slashes++) {
        at = str_find_byte(key, '/', at);
        if (at == SIZE_MAX)
            bug("\"%.*s\" is in no resource", STR_ARG(key));
        at++;
    }
    return str_sub(key, 0, at);
}

static struct resource *find_resource(const struct cache *c, struct str key)
{
    struct strmap_entry *e = strmap_find(&c->resources, resource_prefix(key));
    return e ? e->value.ptr : NULL;
}

static struct resource *resource_of(struct cache *c, struct str key)
{
    struct resource *r = find_resource(c, key);
    if (r)
        return r;
    struct str prefix = resource_prefix(key);
    r = mem_zalloc(sizeof *r + prefix.n);
    r->cache = c;
    r->prefix = (struct str){memcpy(r + 1, prefix.p, prefix.n), prefix.n};
    ring_init(&r->ring, c->floor);
    strmap_put(&c->resources, r->prefix, NULL)->value.ptr = r;
    return r;
}

uint64_t cache_oldest(const struct cache *c, struct str prefix)
{
    const struct resource *r = find_resource(c, prefix);
    return r ? r->ring.forgotten : c->floor;
}

void cache_compact(struct cache *c, uint64_t revision)
{
    cache_deliver(c);
    if (c->floor < revision)
        c->floor = revision;
    strmap_each(&c->resources, e)
        ring_forget(&((struct resource *)e->value.ptr)->ring, revision);
}

static void push(struct cache *c, struct resource *r, const struct cache_event *e)
{
    ring_push(&r->ring, e, c->opts.history, c->opts.history_bytes);
    r->events++;
}

/* What had its key before, with its reference, or NULL. */
static struct cache_object *place(struct cache *c, struct cache_object *o)
{
    struct strmap_entry *e = strmap_put(&c->by_key, o->key, NULL);
    e->key = o->key; /* the one before goes */
    e->value.ptr = o;
    return order_put(&c->objects, o);
}

/* ---- loading ---- */

struct loading {
    struct cache *cache;
    struct err *err;
    struct strmap last; /* key -> its object after the events so far, with a reference */
};

static bool load_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    struct loading *l = ctx;
    struct cache_object *o = object_new(&l->cache->opts, key, value, revision);
    if (!o)
        return err_set(l->err, ERR_INVALID,
                       "store: %.*s at revision %llu cannot be decoded", STR_ARG(key),
                       (unsigned long long)revision);
    place(l->cache, o);
    return true;
}

/* A key's object at a revision, with a reference: one that is there, or a new one. */
static struct cache_object *object_at(struct loading *l, struct str key, struct str value,
                                      uint64_t revision)
{
    struct cache_object *o = cache_get(l->cache, key);
    if (o && o->revision == revision)
        return cache_object_ref(o);
    struct strmap_entry *last = strmap_find(&l->last, key);
    o = last ? last->value.ptr : NULL;
    if (o && o->revision == revision)
        return cache_object_ref(o);
    return object_new(&l->cache->opts, key, value, revision);
}

static void note_last(struct loading *l, struct cache_object *o)
{
    struct strmap_entry *last = strmap_put(&l->last, o->key, NULL);
    cache_object_unref(last->value.ptr);
    last->key = o->key;
    last->value.ptr = cache_object_ref(o);
}

static bool load_change(void *ctx, const struct store_change *change)
{
    struct loading *l = ctx;
    struct cache *c = l->cache;
    if (change->revision > c->revision)
        return true; /* newer than the snapshot: cache_apply will be told */
    struct cache_event e = {.kind = CACHE_DELETED, .revision = change->revision};
    if (change->kind == STORE_PUT)
        e.kind = change->created ? CACHE_ADDED : CACHE_MODIFIED;
    if (e.kind != CACHE_ADDED && change->previous.p)
        e.previous =
            object_at(l, change->key, change->previous, change->previous_revision);
    if (e.kind == CACHE_ADDED || e.previous)
        e.object = object_at(l, change->key, change->value, change->revision);
    if (!e.object) {
        cache_object_unref(e.previous);
        c->refused++;
        cache_compact(c, change->revision); /* history begins behind it */
        return true;
    }
    note_last(l, e.object);
    push(c, resource_of(c, change->key), &e);
    return true;
}

/* Without history watches must start anew, and nothing else is wrong. */
static void load_history(struct loading *l, struct store *s)
{
    struct cache *c = l->cache;
    uint64_t after = store_compacted(s);
    if (c->revision > c->opts.history && after < c->revision - c->opts.history)
        after = c->revision - c->opts.history;
    c->floor = after;
    if (!store_history(s, after, load_change, l, NULL))
        cache_compact(c, c->revision);
}

bool cache_load(struct cache *c, struct store *s, struct err *e)
{
    struct loading l = {.cache = c, .err = e};
    if (!store_snapshot(s, load_object, &l, &c->revision, e))
        return false;
    c->loaded = c->revision;
    load_history(&l, s);
    strmap_each(&l.last, last) cache_object_unref(last->value.ptr);
    strmap_release(&l.last);
    return true;
}

/* ---- telling watches ---- */

static void watch_free(struct cache_watch *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    free(w);
}

static void free_ended(struct cache_watch *w)
{
    while (w) {
        struct cache_watch *next = w->next;
        if (!w->event)
            watch_free(w);
        w = next;
    }
}

/* Watches that end while some are walked stay linked until all walks are over. */
static void walked(struct resource *r)
{
    if (--r->busy > 0 || !r->any_ended)
        return;
    r->any_ended = false;
    free_ended(r->prompt);
    free_ended(r->patient);
}

static bool wants(const struct cache_watch *w, const struct cache_event *e)
{
    return w->after < e->revision && str_starts(e->object->key, w->prefix);
}

const struct cache_event *cache_run_at(const struct cache_run *run, uint32_t i)
{
    const struct resource *r = run->resource;
    return ring_at(&r->ring, run->first + i);
}

static void tell_run(struct cache_watch *w, uint32_t first, uint32_t n)
{
    const struct resource *r = w->resource;
    const struct cache_run run = {r, first, n, r->events - r->ring.n + first};
    if (n > 1 && w->run)
        w->run(w->ctx, &run);
    for (uint32_t i = 0; i < n && w->event && (n == 1 || !w->run); i++)
        w->event(w->ctx, ring_at(&r->ring, first + i));
}

/* Of events that it has not been told, as they stand side by side. */
static void tell(struct cache_watch *w)
{
    const struct ring *ring = &w->resource->ring;
    uint64_t fresh = w->resource->events - w->told;
    uint32_t i = fresh < ring->n ? ring->n - (uint32_t)fresh : 0, n = ring->n;
    w->told = w->resource->events;
    while (i < n && w->event) {
        uint32_t first = i;
        while (i < n && wants(w, ring_at(ring, i)))
            i++;
        tell_run(w, first, i - first);
        i += i < n;
    }
}

/* Watches that start meanwhile have been told. */
static void tell_all(struct resource *r, struct cache_watch *w)
{
    r->busy++;
    for (; w; w = w->next)
        if (w->event && w->told < r->events)
            tell(w);
    walked(r);
}

void cache_deliver(struct cache *c)
{
    while (c->waiting) {
        struct resource *r = c->waiting;
        c->waiting = r->next;
        r->waiting = 0;
        r->waiting_bytes = 0;
        tell_all(r, r->patient);
    }
}

/* What waits is less than half of what the ring keeps. */
static void keep_back(struct resource *r, const struct cache_event *e)
{
    const struct cache_opts *o = &r->cache->opts;
    uint64_t bytes = ring_cost(e);
    if (r->waiting && (r->waiting + 1 > o->history / 2 ||
                       r->waiting_bytes + bytes > o->history_bytes / 2))
        cache_deliver(r->cache);
    if (!r->patient)
        return;
    if (r->waiting == 0) {
        r->next = r->cache->waiting;
        r->cache->waiting = r;
    }
    r->waiting++;
    r->waiting_bytes += bytes;
}

/* ---- following ---- */

/* Changes the objects, and makes the event, which owns its references. */
static bool put_object(struct cache *c, const struct store_change *change,
                       struct cache_event *e)
{
    struct cache_object *o =
        object_new(&c->opts, change->key, change->value, change->revision);
    if (!o)
        return false;
    e->object = cache_object_ref(o);
    e->previous = place(c, o);
    e->kind = e->previous ? CACHE_MODIFIED : CACHE_ADDED;
    return true;
}

static bool drop_object(struct cache *c, const struct store_change *change,
                        struct cache_event *e)
{
    struct cache_object *old = order_remove(&c->objects, change->key);
    strmap_remove(&c->by_key, change->key);
    if (!old)
        return false;
    e->kind = CACHE_DELETED;
    e->previous = old;
    if (change->value.p) /* else the store has forgotten it */
        e->object = object_new(&c->opts, change->key, change->value, change->revision);
    c->refused += change->value.p && !e->object;
    if (!e->object)
        e->object = cache_object_ref(old);
    return true;
}

void cache_apply(void *cache, const struct store_change *change)
{
    struct cache *c = cache;
    if (change->revision <= c->loaded)
        return; /* the snapshot had it */
    c->revision = change->revision;
    struct cache_event e = {.revision = change->revision};
    bool put = change->kind == STORE_PUT;
    if (!(put ? put_object(c, change, &e) : drop_object(c, change, &e))) {
        c->refused++;
        return;
    }
    struct resource *r = resource_of(c, change->key);
    keep_back(r, &e);
    push(c, r, &e);
    tell_all(r, r->prompt);
}

/* ---- lists ---- */

struct cache_object *cache_get(const struct cache *c, struct str key)
{
    struct strmap_entry *e = strmap_find(&c->by_key, key);
    return e ? e->value.ptr : NULL;
}

static struct order_at start_of(const struct cache *c, struct str prefix,
                                struct str after)
{
    if (after.p && str_cmp(after, prefix) >= 0)
        return order_seek_after(&c->objects, after);
    return order_seek(&c->objects, prefix);
}

void cache_each(const struct cache *c, struct str prefix, struct str after,
                bool (*each)(void *ctx, struct cache_object *o), void *ctx)
{
    struct order_at at = start_of(c, prefix, after);
    uint64_t n = order_between(&c->objects, at, order_seek_past(&c->objects, prefix));
    while (n-- > 0 && each(ctx, order_next(&c->objects, &at)))
        ;
}

uint64_t cache_count(const struct cache *c, struct str prefix, struct str after)
{
    return order_between(&c->objects, start_of(c, prefix, after),
                         order_seek_past(&c->objects, prefix));
}

/* ---- watches ---- */

static struct cache_watch *watch_new(struct resource *r, struct str prefix)
{
    struct cache_watch *w = mem_zalloc(sizeof *w + prefix.n);
    w->resource = r;
    w->prefix = (struct str){memcpy(w + 1, prefix.p, prefix.n), prefix.n};
    return w;
}

static void link_in(struct cache_watch *w, struct cache_watch **list)
{
    w->next = *list;
    w->link = list;
    if (w->next)
        w->next->link = &w->next;
    *list = w;
}

struct cache_watch *cache_watch_runs(struct cache *c, struct str prefix, uint64_t after,
                                     cache_on_event *event, cache_on_run *run, void *ctx)
{
    struct resource *r = resource_of(c, prefix);
    if (after < r->ring.forgotten)
        return NULL;
    struct cache_watch *w = watch_new(r, prefix);
    w->after = after;
    w->told = r->events - r->ring.n + ring_seek(&r->ring, after);
    w->event = event;
    w->run = run;
    w->ctx = ctx;
    link_in(w, run ? &r->patient : &r->prompt);
    r->busy++;
    tell(w);
    walked(r);
    return w;
}

struct cache_watch *cache_watch(struct cache *c, struct str prefix, uint64_t after,
                                cache_on_event *event, void *ctx)
{
    return cache_watch_runs(c, prefix, after, event, NULL, ctx);
}

void cache_unwatch(struct cache_watch *w)
{
    if (!w)
        return;
    w->event = NULL;
    if (w->resource->busy == 0)
        watch_free(w);
    else
        w->resource->any_ended = true;
}

void cache_bookmark(struct cache_watch *w)
{
    struct resource *r = w->resource;
    uint64_t revision = r->cache->revision;
    struct cache_event e = {.kind = CACHE_BOOKMARK, .revision = revision};
    r->busy++;
    tell(w);
    if (w->after > revision)
        e.revision = w->after;
    if (w->event)
        w->event(w->ctx, &e);
    walked(r);
}
