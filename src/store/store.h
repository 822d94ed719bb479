/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where objects are kept: a map from keys to bytes with one revision counter, an ordered
 * stream of changes, and compare-and-swap. Back ends (SQLite, memory, etcd) give just
 * that; lists, watches, history and bookmarks are made once, above them (cache.h).
 *
 * A key is "/registry/GROUP/RESOURCE/NAMESPACE/NAME" (cluster-scoped: without the
 * namespace). A revision is larger than all before it; a key remembers the revision of
 * its last change.
 *
 * Writes are submitted and answered later, in order of submission, on the thread that
 * called store_poll or through the wake function: a back end groups what is waiting into
 * one transaction. Answered with OK means durable.
 */
#ifndef DRAY_STORE_STORE_H
#define DRAY_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct store;

enum store_answer {
    STORE_OK,
    STORE_CONFLICT, /* the expected revision is not the key's */
    STORE_EXISTS,   /* expected to be new */
    STORE_MISSING,  /* expected to be there */
    STORE_FAILED,   /* disk full, I/O error, server gone: nothing was written */
};

#define STORE_ANY UINT64_MAX /* whatever is there */

struct store_write {
    struct str key;
    struct str value; /* p NULL: delete */
    uint64_t expect;  /* revision of the key; 0: must not exist; STORE_ANY */
    /* Called once. revision: of this write; for a conflict that of the key. */
    void (*done)(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e);
    void *ctx;
};

enum store_change_kind { STORE_PUT, STORE_DELETE };

struct store_change {
    enum store_change_kind kind;
    uint64_t revision;
    struct str key;
    struct str value; /* PUT: new; DELETE: what was there */
    bool created;     /* PUT of a key that was not there */
};

struct store_opts {
    /* Called from any thread when store_poll has something to do. */
    void (*wake)(void *ctx);
    void *wake_ctx;
    /* Every change, in the order of revisions, from store_poll; own writes' changes come
     * before their done. */
    void (*changed)(void *ctx, const struct store_change *c);
    void *changed_ctx;
};

/* "sqlite:DIR", "memory:", "etcd://host:port[,host:port]?..." */
struct store *store_open(const char *url, const struct store_opts *opts, struct err *e);
/* Finishes what was submitted. */
void store_close(struct store *s);

/* Key and value are copied. */
void store_submit(struct store *s, const struct store_write *w);
/* Delivers answers and changes that are ready. */
void store_poll(struct store *s);

/* Everything as of one revision, in order of keys; returns false when each does or on
 * error. Only before the first store_submit, or from the thread of store_poll. */
bool store_snapshot(struct store *s,
                    bool (*each)(void *ctx, struct str key, struct str value,
                                 uint64_t revision),
                    void *ctx, uint64_t *revision, struct err *e);
uint64_t store_revision(const struct store *s); /* of the last change delivered */

/* Changes after revision that are still known, for caches that were away; false with
 * ERR_NOT_FOUND when they are compacted. */
bool store_history(struct store *s, uint64_t after,
                   bool (*each)(void *ctx, const struct store_change *c), void *ctx,
                   struct err *e);
/* Forgets history up to and including revision, in small steps that stall no write. */
void store_compact(struct store *s, uint64_t revision);

/* ---- back ends ---- */

struct store_backend {
    const char *scheme;
    struct store *(*open)(const char *rest, const struct store_opts *opts, struct err *e);
    void (*close)(struct store *s);
    void (*submit)(struct store *s, const struct store_write *w);
    void (*poll)(struct store *s);
    bool (*snapshot)(struct store *s,
                     bool (*each)(void *ctx, struct str key, struct str value,
                                  uint64_t revision),
                     void *ctx, uint64_t *revision, struct err *e);
    bool (*history)(struct store *s, uint64_t after,
                    bool (*each)(void *ctx, const struct store_change *c), void *ctx,
                    struct err *e);
    void (*compact)(struct store *s, uint64_t revision);
    uint64_t (*revision)(const struct store *s);
};
struct store { /* what every back end begins with */
    const struct store_backend *backend;
};
extern const struct store_backend store_sqlite, store_memory, store_etcd;

#endif
