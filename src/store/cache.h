/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch cache: every stored object by key, as bytes that are served as they are, and
 * the recent changes of each resource, so that lists and watches cost no decoding. One
 * thread.
 */
#ifndef DRAY_STORE_CACHE_H
#define DRAY_STORE_CACHE_H

#include "base/arena.h"
#include "doc/doc.h"
#include "store/store.h"

struct cache;

/* An object at one revision; immutable, counted. */
struct cache_object {
    uint32_t refs;
    uint64_t revision;
    struct str key;
    struct str namespace, name;
    struct str json; /* as served in its stored version, resourceVersion inside */
    /* Labels and the fields that selectors may name, sorted by name. */
    const struct cache_pair {
        struct str name, value;
    } * labels, *fields;
    uint32_t nlabels, nfields;
    void *encoded; /* the server's: other encodings made on demand */
    struct arena arena;
};
struct cache_object *cache_object_ref(struct cache_object *o);
void cache_object_unref(struct cache_object *o);

enum cache_event_kind { CACHE_ADDED, CACHE_MODIFIED, CACHE_DELETED, CACHE_BOOKMARK };
struct cache_event {
    enum cache_event_kind kind;
    uint64_t revision;
    struct cache_object *object;   /* new; of DELETED the last state; NULL for BOOKMARK */
    struct cache_object *previous; /* of MODIFIED; NULL otherwise */
};

struct cache_opts {
    /* Makes the object of stored bytes: fills namespace, name, json (with its
     * resourceVersion), labels and fields in o->arena. */
    bool (*decode)(void *ctx, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o);
    void *ctx;
    uint32_t history; /* events kept per resource, 0: 4,096 */
};

/* Reads a snapshot, then follows the store's changes (cache_apply from
 * store_opts.changed). */
struct cache *cache_new(const struct cache_opts *opts);
void cache_free(struct cache *c);
bool cache_load(struct cache *c, struct store *s, struct err *e);
void cache_apply(void *cache, const struct store_change *change);
uint64_t cache_revision(const struct cache *c);

struct cache_object *cache_get(const struct cache *c,
                               struct str key); /* borrowed, or NULL */
/* Objects below a prefix ("/registry/core/pods/default/") in order of keys, from start
 * (exclusive when after is set). each false: stop. */
void cache_each(const struct cache *c, struct str prefix, struct str after,
                bool (*each)(void *ctx, struct cache_object *o), void *ctx);
uint64_t cache_count(const struct cache *c, struct str prefix);

/* Events of a prefix after a revision, live until cache_unwatch. False: the revision is
 * older than what is remembered (410), or newer than the cache by more than it may wait
 * for. */
struct cache_watch;
struct cache_watch *cache_watch(struct cache *c, struct str prefix, uint64_t after,
                                void (*event)(void *ctx, const struct cache_event *e),
                                void *ctx, bool *too_old);
void cache_unwatch(struct cache_watch *w);
/* Forgets events up to a revision. */
void cache_compact(struct cache *c, uint64_t revision);

#endif
