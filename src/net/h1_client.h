/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to somebody else's HTTP/1.1 server, and its answer as it comes: for answers
 * that are passed on, and for upgrades, after which the call is a pair of byte streams.
 * Each call has a connection of its own, or, of a pool, one that the last call to the
 * same peer is through with.
 *
 * Limits: the head of the answer, 64 KiB; the time until it is there; 8 MiB that wait to
 * be sent; 64 connections that a pool keeps, each for 90 seconds at most. A body may take
 * as long as it likes: whoever reads it for somebody ends it.
 */
#ifndef DRAY_NET_H1_CLIENT_H
#define DRAY_NET_H1_CLIENT_H

#include "net/http.h"

struct net_h1_call;
struct net_h1_pool;

struct net_h1_request {
    struct net_connect_opts to;
    struct str method, target;        /* target: path and query, percent-encoded */
    struct str host;                  /* of the header */
    const struct net_header *headers; /* without host, content-length and connection */
    uint32_t nheaders;
    struct str body;
    struct str upgrade;       /* protocol to change to; empty: none */
    uint64_t head_ms;         /* until the answer's head is there; 0: 30,000 */
    struct net_h1_pool *pool; /* that outlives the call; NULL: none */
    /* All that makes a connection the one that is wanted: place, name, credentials. */
    struct str peer;
    bool fresh; /* a kept connection will not do */
};

struct net_h1_answer {
    unsigned status;
    const struct net_header *headers; /* as long as the call; names in lower case */
    uint32_t nheaders;
};

/* Never called from within a function of the call. */
struct net_h1_ops {
    /* The answer has begun; interim answers are passed over. 101: from now on data is
     * what the other side says, until it ends. */
    void (*head)(void *ctx, const struct net_h1_answer *answer);
    void (*data)(void *ctx, struct str bytes);
    /* Last: all is there, or why not (NULL: it is). */
    void (*end)(void *ctx, const struct err *why);
};

/* ops and ctx must outlive the call. NULL: the request cannot be sent (no such address, a
 * line break in a header). */
struct net_h1_call *net_h1_call(struct net_loop *l, const struct net_h1_request *r,
                                const struct net_h1_ops *ops, void *ctx, struct err *e);
/* Whether anybody was there to ask: before that a request may be made again. */
bool net_h1_reached(const struct net_h1_call *c);
/* Whether it ended because a kept connection was closed by the peer before it answered:
 * the request may be made again, with `fresh`. */
bool net_h1_was_stale(const struct net_h1_call *c);
/* Paused: bytes are left with the peer; what was read already still comes. */
void net_h1_pause(struct net_h1_call *c, bool paused);
/* After 101, as for a tunnel. */
bool net_h1_write(struct net_h1_call *c, struct str bytes);
size_t net_h1_unsent(const struct net_h1_call *c);
void net_h1_on_drain(struct net_h1_call *c, size_t below, void (*fn)(void *ctx));
/* Sends what was written and ends. No callback comes anymore; the call must not be
 * touched afterwards. At any time, in callbacks too. */
void net_h1_close(struct net_h1_call *c);

struct net_h1_pool *net_h1_pool_new(struct net_loop *l);
/* Closes what it keeps; its calls must be closed before. */
void net_h1_pool_free(struct net_h1_pool *p);

#endif
