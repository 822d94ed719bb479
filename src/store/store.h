/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where objects are kept: a map from keys to bytes with one revision counter, an ordered
 * stream of changes, and compare-and-swap. Back ends give just that; lists, watches,
 * history and bookmarks are made once, above them (cache.h).
 *
 * A key is "/registry/GROUP/RESOURCE/NAMESPACE/NAME" (cluster-scoped: without the
 * namespace). Every write that succeeds has a revision of its own, larger than all before
 * it; a key remembers the revision of its last change. An empty store is at revision 1,
 * so that no object and no list ever is at 0, which means "any" to clients.
 *
 * Writes are submitted from any thread and answered later, in order of submission, by
 * store_poll: a back end groups what is waiting into one transaction. Answered with OK
 * means durable. All other functions belong to one thread, that of store_poll.
 *
 * Several programs may share an etcd, which has no other users below the prefix. Then:
 *
 *   - others' writes, and what etcd's other users do elsewhere, take revisions too; a
 *     transaction that changes several keys gives all of them the same, and their changes
 *     are reported one after another;
 *   - writes of different keys are done side by side: only those of one key are done, and
 *     answered, in the order of submission. A change may be reported long before its
 *     write is answered, but never after;
 *   - after an outage that etcd's history does not reach back over, changes are made of
 *     the difference: versions in between are missing, and what was deleted or replaced
 *     is not known (value of a DELETE, previous: STR_NONE), and several may have the
 *     revision of the end of the outage.
 */
#ifndef DRAY_STORE_STORE_H
#define DRAY_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct store;

/* Larger keys and values are answered with STORE_FAILED. */
enum { STORE_KEY_MAX = 1024, STORE_VALUE_MAX = 64 << 20 };

enum store_answer {
    STORE_OK,
    STORE_CONFLICT, /* the expected revision is not the key's */
    STORE_EXISTS,   /* expected to be new */
    STORE_MISSING,  /* expected to be there */
    /* Disk full, I/O error, server gone: nothing was written, unless the text says that
     * this is not known: the disk refuses to confirm it (then a crash may bring the write
     * back), or etcd's answer was lost and what is there does not tell. */
    STORE_FAILED,
};

#define STORE_ANY                                                                        \
    UINT64_MAX /* whatever is there; a delete still wants something there                \
                */

struct store_write {
    struct str key;
    struct str value; /* p NULL: delete */
    uint64_t expect;  /* revision of the key; 0: must not exist; STORE_ANY */
    /* Called once, never from within store_submit. revision: of this write; for CONFLICT
     * and EXISTS that of the key; else 0. e: of FAILED, or NULL. */
    void (*done)(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e);
    void *ctx;
};

enum store_change_kind { STORE_PUT, STORE_DELETE };

/* The bytes are the store's, valid during the call. */
struct store_change {
    enum store_change_kind kind;
    uint64_t revision;
    struct str key;
    struct str value; /* PUT: new; DELETE: what was there */
    bool created;     /* PUT of a key that was not there */
    /* What was there, unless created. */
    struct str previous;
    uint64_t previous_revision; /* 0: created */
};

typedef bool store_each_object(void *ctx, struct str key, struct str value,
                               uint64_t revision);
typedef bool store_each_change(void *ctx, const struct store_change *c);

struct store_opts {
    /* Called from any thread when store_poll has something to do. */
    void (*wake)(void *ctx);
    void *wake_ctx;
    /* Every change, in the order of revisions, from store_poll; own writes' changes come
     * before their done. */
    void (*changed)(void *ctx, const struct store_change *c);
    void *changed_ctx;
    /* History is forgotten when it is older or takes more. 0: 300 s, 64 MiB. */
    uint32_t history_seconds;
    uint64_t history_bytes;
    /* For etcds: whom to trust, and what to show (PEM); copied. */
    struct str etcd_ca_pem, etcd_cert_pem, etcd_key_pem;
};

/* "sqlite:DIR" (made when it is not there; its parent must be), "memory:",
 * "etcd://HOST:PORT[,HOST:PORT...][/PREFIX]" and, by TLS, "etcds://..." (version 3.4 or
 * newer). Keys of etcd begin with /PREFIX, "/dray" when there is none. */
struct store *store_open(const char *url, const struct store_opts *opts, struct err *e);
/* Finishes what was submitted, answers and all. Not from a callback. */
void store_close(struct store *s);

/* Key and value are copied. */
void store_submit(struct store *s, const struct store_write *w);
/* Delivers answers and changes that are ready. Callbacks may submit, not poll. */
void store_poll(struct store *s);

/* Everything as of one revision, in any order; changes delivered later may be part of it
 * already: their revisions tell. False when each does (*e untouched) or on error. */
bool store_snapshot(struct store *s, store_each_object *each, void *ctx,
                    uint64_t *revision, struct err *e);
uint64_t store_revision(const struct store *s); /* of the last change delivered */

/* Changes after a revision, in order; false with ERR_NOT_FOUND when they are not all
 * known anymore, else as store_snapshot. */
bool store_history(struct store *s, uint64_t after, store_each_change *each, void *ctx,
                   struct err *e);
/* Forgets history up to and including revision, soon and in small steps that stall no
 * write. */
void store_compact(struct store *s, uint64_t revision);
/* done(ctx, true) once all that anybody had written when this was called was delivered;
 * false: that is not known (etcd cannot be reached). At once, or from store_poll. */
void store_sync(struct store *s, void (*done)(void *ctx, bool current), void *ctx);
/* History is known after this revision; with etcd, as far as this is known here. */
uint64_t store_compacted(const struct store *s);

/* ---- back ends ---- */

struct store_backend {
    const char *scheme; /* with its colon */
    struct store *(*open)(const char *rest, const struct store_opts *opts, struct err *e);
    void (*close)(struct store *s);
    void (*submit)(struct store *s, const struct store_write *w);
    void (*poll)(struct store *s);
    bool (*snapshot)(struct store *s, store_each_object *each, void *ctx,
                     uint64_t *revision, struct err *e);
    bool (*history)(struct store *s, uint64_t after, store_each_change *each, void *ctx,
                    struct err *e);
    void (*compact)(struct store *s, uint64_t revision);
    /* NULL: nobody else writes. */
    void (*sync)(struct store *s, void (*done)(void *ctx, bool current), void *ctx);
    uint64_t (*revision)(const struct store *s);
    uint64_t (*compacted)(const struct store *s);
};
struct store { /* what every back end begins with */
    const struct store_backend *backend;
};
extern const struct store_backend store_sqlite, store_memory, store_etcd, store_etcds;

#endif
