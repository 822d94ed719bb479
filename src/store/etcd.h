/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the etcd back end: what its files share. All of it runs on the back end's own
 * thread and loop, but for what the lock guards and what is marked as the owner's (the
 * thread of store_poll).
 *
 *     writes   etcd_write.c   transactions: of one key in order, of others side by side
 *              etcd_doubt.c   what became of a write whose answer was lost
 *     changes  etcd_follow.c  the one watch, and its resumption, whatever happens
 *              etcd_known.c   which keys there are, to tell what a gap has changed
 *     reads    etcd_read.c    snapshots and history, for the owner who waits
 *              etcd_sync.c    whether what the owner has is all that was written
 *     forget   etcd_forget.c  compaction, together with other servers
 *
 * An answer waits until all changes up to its revision have been handed over.
 */
#ifndef DRAY_STORE_ETCD_H
#define DRAY_STORE_ETCD_H

#include <pthread.h>

#include "base/map.h"
#include "grpc/grpc.h"
#include "store/etcd_change.h"
#include "store/etcd_link.h"
#include "store/etcd_watch.h"
#include "store/queue.h"

enum {
    ETCD_MAX_MESSAGE = 2 * STORE_VALUE_MAX + (1 << 20), /* an event: value and previous */
    ETCD_TRY_MS = 5000,                                 /* of one attempt of a call */
    ETCD_WRITE_MS = 15000, /* after which a write has failed, or nobody knows */
    ETCD_READ_MS = 30000,
    ETCD_SYNC_MS = 8000,
    ETCD_CLOSE_MS = 5000, /* for what is under way */
};

struct etcd_wait;

struct etcd_delivery { /* one of them */
    struct etcd_change *change;
    struct request *request;
    struct etcd_wait *wait;
};

struct etcd_write {
    struct etcd_write *next;     /* of a list */
    struct etcd_write *follower; /* the next write of the key */
    struct etcd *s;
    struct request *request;
    uint64_t deadline_ms;
    uint64_t wait_for; /* changes up to here come before the answer */
    bool doubtful;     /* it was sent once, and the answer was lost */
    bool compare_only; /* there is no room for it: only what it expects is looked at */
    unsigned steps;    /* of the search for what became of it */
    uint64_t seen;     /* the version that the search stands at */
    bool seen_ours;    /* its bytes are the write's */
};

struct etcd_list {
    struct etcd_write *first, **last;
};

struct etcd_writes {
    struct strmap busy;               /* key -> its last write that is not settled */
    struct etcd_list ready, parked;   /* to be sent; to be sent a little later */
    VEC(struct etcd_write *) answers; /* settled, in the order of wait_for */
    unsigned in_flight;
};

struct etcd_known {
    struct strmap keys; /* key -> struct known_key */
    uint32_t round;
};

struct etcd_mark { /* how far changes had come at a time */
    uint64_t ms, revision, bytes;
};

struct etcd_forget {
    VEC(struct etcd_mark) marks;
    uint64_t bytes;  /* of all changes that were seen */
    uint64_t agreed; /* the revision of the key that servers agree by */
    uint64_t target; /* of the attempt under way; 0: none */
    struct net_timer *timer;
};

struct etcd_syncs {
    struct etcd_wait *fresh; /* etcd is to be asked for them */
    struct etcd_wait *asked; /* it is being asked */
    struct etcd_wait *pending, *over;
    bool asking, marking;
    struct net_timer *timer;
};

struct etcd_job;

struct etcd {
    struct store store;
    struct store_opts opts, answer_opts; /* the second: without the changes */
    struct etcd_target target;
    struct net_tls_client_opts tls;
    bool has_tls;
    pthread_t thread;
    struct net_loop *loop;
    uint64_t revision; /* delivered; the owner's */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t job_done;
    struct request_list waiting;
    bool posted; /* the thread has been told of them */
    VEC(struct etcd_delivery) deliveries;
    struct etcd_job *jobs; /* handed over */
    struct etcd_wait *waits;
    uint64_t compacted, compact_to;

    /* The thread's. */
    struct etcd_link *link;
    struct etcd_watch *watch;
    bool following; /* a watch is wanted */
    struct etcd_resync *resync;
    uint64_t opened;  /* the revision then; set before the thread follows from there */
    uint64_t reached; /* all changes up to here were handed over */
    struct etcd_writes writes;
    struct etcd_job *running; /* jobs that are not done */
    struct etcd_known known;
    struct etcd_syncs syncs;
    struct etcd_forget forget;
    struct net_timer *tick;
    bool stopping, stopped;
    uint64_t stop_ms; /* until then */
};

static inline struct etcd *etcd_of(const struct store *s)
{
    return (struct etcd *)s;
}

/* ---- etcd.c ---- */

/* A call of KV, "Range" for example. False: there is no connection now. */
bool etcd_ask(struct etcd *s, const char *method, const ProtobufCMessage *m,
              const ProtobufCMessageDescriptor *answer, uint64_t timeout_ms,
              grpc_answered *answered, void *ctx);
/* Whether the status says that nothing was done. */
bool etcd_is_definite(const struct grpc_end *end);
/* What hangs on time is looked after soon, and again until there is nothing left. */
void etcd_tick(struct etcd *s);
/* Hands changes, up to a revision that is reached by them, and answers over. */
void etcd_deliver(struct etcd *s, struct etcd_changes *l, uint64_t reached);
void etcd_note_compacted(struct etcd *s, uint64_t revision);

/* ---- etcd_write.c ---- */

void etcd_writes_init(struct etcd *s);
void etcd_writes_take(struct etcd *s, struct request_list *l);
/* Sends what may be sent. */
void etcd_writes_pump(struct etcd *s);
/* Gives up what is late; true: there is something to look after again. */
bool etcd_writes_sweep(struct etcd *s);
bool etcd_writes_idle(const struct etcd *s);
void etcd_writes_release(struct etcd *s);
/* The next answer whose changes are all there, or NULL. */
struct request *etcd_writes_answered(struct etcd *s, uint64_t reached);

/* For etcd_doubt.c: the write is over, as request->answer and revision say, once changes
 * up to wait_for are there. */
void etcd_write_settle(struct etcd_write *w, enum store_answer answer, uint64_t revision);
void etcd_write_fail(struct etcd_write *w, const char *why);
void etcd_write_again(struct etcd_write *w); /* a little later */

/* ---- etcd_doubt.c ---- */

/* The write may have been done, and what it expects is not there anymore: finds out. */
void etcd_doubt_resolve(struct etcd_write *w);

/* ---- etcd_follow.c ---- */

/* After a revision; the connection may come and go. */
void etcd_follow(struct etcd *s, uint64_t after);
void etcd_follow_up(struct etcd *s); /* the connection is there */
void etcd_follow_release(struct etcd *s);

/* ---- etcd_known.c ---- */

void etcd_known_put(struct etcd_known *k, struct str key, uint64_t revision);
void etcd_known_note(struct etcd *s, const struct etcd_change *c);
void etcd_known_release(struct etcd_known *k);
/* A snapshot, made of pages, against what is known: the changes after s->reached that
 * lead to it. */
void etcd_known_begin(struct etcd_known *k);
void etcd_known_compare(struct etcd *s, const Etcd__KeyValue *kv, struct etcd_changes *l);
void etcd_known_end(struct etcd *s, uint64_t revision, struct etcd_changes *l);

/* ---- etcd_read.c ---- */

/* The owner's, who waits. */
bool etcd_snapshot(struct store *store, store_each_object *each, void *ctx,
                   uint64_t *revision, struct err *e);
bool etcd_history(struct store *store, uint64_t after, store_each_change *each, void *ctx,
                  struct err *e);
/* Where etcd is now, and what it has forgotten. */
bool etcd_look(struct etcd *s, uint64_t *revision, uint64_t *compacted, struct err *e);
/* The thread's. */
void etcd_jobs_take(void *etcd);
void etcd_jobs_pump(struct etcd *s);
bool etcd_jobs_sweep(struct etcd *s);
/* A page of our keys, from a key on, at a revision (0: now). */
void etcd_page(const struct etcd *s, Etcd__RangeRequest *r, struct str from,
               uint64_t revision, int64_t limit);

/* ---- etcd_sync.c ---- */

/* The owner's. */
void etcd_sync(struct store *store, void (*done)(void *ctx, bool current), void *ctx);
void etcd_wait_deliver(struct etcd_wait *w);
/* The thread's. */
void etcd_syncs_pump(struct etcd *s);
bool etcd_syncs_sweep(struct etcd *s);
struct etcd_wait *etcd_syncs_over(struct etcd *s); /* the next that is, or NULL */
void etcd_syncs_stop(struct etcd *s);

/* ---- etcd_forget.c ---- */

void etcd_forget_start(struct etcd *s);
void etcd_forget_release(struct etcd *s);
void etcd_forget_note(struct etcd *s, const struct etcd_change *c);
void etcd_forget_asked(void *etcd); /* compact_to was raised */

#endif
