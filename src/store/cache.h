/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch cache: every stored object by key, as bytes that are served as they are, and
 * the recent changes of each resource, so that lists and watches cost no decoding. One
 * thread, except for references to objects, which any thread may take and drop.
 *
 * A prefix begins with a whole resource: "/registry/GROUP/RESOURCE/", and more.
 */
#ifndef DRAY_STORE_CACHE_H
#define DRAY_STORE_CACHE_H

#include "base/arena.h"
#include "store/store.h"

struct cache;

/* An object at one revision; immutable, counted. */
struct cache_object {
    struct str key;
    uint32_t refs; /* atomic */
    uint32_t nlabels, nfields;
    uint64_t revision;
    struct str namespace, name;
    struct str json; /* as served in its stored version, resourceVersion inside */
    /* Labels and the fields that selectors may name, sorted by name. */
    const struct cache_pair {
        struct str name, value;
    } * labels, *fields;
    /* The server's: other encodings made on demand, and how to drop them. */
    void *encoded;
    void (*encoded_free)(void *encoded);
    struct arena arena;
};
struct cache_object *cache_object_ref(struct cache_object *o);
void cache_object_unref(struct cache_object *o);
/* The value of a name, or STR_NONE. */
struct str cache_pair_find(const struct cache_pair *pairs, uint32_t n, struct str name);

enum cache_event_kind { CACHE_ADDED, CACHE_MODIFIED, CACHE_DELETED, CACHE_BOOKMARK };
struct cache_event {
    enum cache_event_kind kind;
    uint64_t revision;
    /* New; of DELETED the last state, at the revision of its end (or previous, where the
     * store has forgotten it); NULL for BOOKMARK. */
    struct cache_object *object;
    /* Of MODIFIED and DELETED: what was there, at its own revision; else NULL. */
    struct cache_object *previous;
};

struct cache_opts {
    /* Makes the object of stored bytes: fills namespace, name, json (with its
     * resourceVersion), labels and fields (in any order: the cache sorts them) in
     * o->arena; key and revision are there. The value is valid during the call. */
    bool (*decode)(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o);
    void *ctx;
    uint32_t history;       /* events kept per resource, 0: 4,096 */
    uint64_t history_bytes; /* memory that they may take per resource, 0: 32 MiB */
};

struct cache *cache_new(const struct cache_opts *opts);
/* Watches end with it. */
void cache_free(struct cache *c);
/* Once, before anything else: reads a snapshot, and as much of the store's history as a
 * resource may keep, so that watches survive a restart. Then the cache follows the
 * store's changes: give cache_apply and it to store_opts.changed. */
bool cache_load(struct cache *c, struct store *s, struct err *e);
void cache_apply(void *cache, const struct store_change *change);
uint64_t cache_revision(const struct cache *c);
/* Changes that decode refused: their keys stay as they were. */
uint64_t cache_refused(const struct cache *c);

/* Borrowed, or NULL. */
struct cache_object *cache_get(const struct cache *c, struct str key);
/* Objects below a prefix ("/registry/core/pods/default/") in order of keys, those after
 * the key `after` alone unless it is STR_NONE. each false: stop. */
void cache_each(const struct cache *c, struct str prefix, struct str after,
                bool (*each)(void *ctx, struct cache_object *o), void *ctx);
/* How many such objects. */
uint64_t cache_count(const struct cache *c, struct str prefix, struct str after);

/* Events of a prefix after a revision, live until cache_unwatch; those that have happened
 * are delivered before this returns. A revision that is yet to come is waited for. NULL:
 * the revision is older than what is remembered (410). Events and their objects are
 * borrowed during the call; a callback may start and end watches, its own too. */
struct cache_watch;
typedef void cache_on_event(void *ctx, const struct cache_event *e);
struct cache_watch *cache_watch(struct cache *c, struct str prefix, uint64_t after,
                                cache_on_event *event, void *ctx);
/*
 * The same for what is one of many that are told: changes are kept back until
 * cache_deliver (or until too many wait), and then each watch gets all of them at once.
 * Those that stand side by side come as a run; one alone goes to `event`.
 */
struct cache_run {
    const void *resource;
    uint32_t first, n;
    uint64_t number; /* of its first: equal resource, number and n are the same events */
};
const struct cache_event *cache_run_at(const struct cache_run *run, uint32_t i);
typedef void cache_on_run(void *ctx, const struct cache_run *run);
struct cache_watch *cache_watch_runs(struct cache *c, struct str prefix, uint64_t after,
                                     cache_on_event *event, cache_on_run *run, void *ctx);
void cache_deliver(struct cache *c);
void cache_unwatch(struct cache_watch *w);
/* Sends a BOOKMARK: all up to its revision was delivered. */
void cache_bookmark(struct cache_watch *w);
/* The oldest revision that a watch of this prefix can start after. */
uint64_t cache_oldest(const struct cache *c, struct str prefix);
/* Forgets events up to a revision. */
void cache_compact(struct cache *c, uint64_t revision);

#endif
