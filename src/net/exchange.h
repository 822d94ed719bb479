/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of an exchange, and what a protocol (h1.c, h2.c) and the server share about it.
 *
 *     made by the protocol at the first byte of a request; `asked` once the handler has
 *     it; `begun` with the status; `done` by net_done or net_respond; `detached` when the
 *     protocol has nothing to do with it anymore: all is sent, or the client has gone.
 *
 * Freed when detached and (done or never asked).
 */
#ifndef DRAY_NET_EXCHANGE_H
#define DRAY_NET_EXCHANGE_H

#include "net/http.h"
#include "net/stream.h"

/* A run of bytes to send: a part of somebody's, or its own behind the struct. */
struct piece {
    struct piece *next;
    struct net_shared *shared;
    const char *p;
    size_t n, room;          /* room: of own bytes, at the end */
    const struct str *parts; /* that follow, none of them empty */
    uint32_t nparts;
};

struct conn;
struct known;
struct net_inner_call;

struct exchange {
    struct net_exchange pub; /* first: a net_exchange is one of these */
    struct arena arena;
    struct conn *conn;             /* NULL once the connection is closed */
    struct known *known;           /* the connection's */
    struct exchange *next, **link; /* of the connection's */
    int32_t stream;                /* HTTP/2 */
    struct net_inner_call *call;   /* inner.c; NULL: nobody listens anymore */
    VEC(struct net_header) headers;
    size_t header_bytes;
    struct strbuf body;
    size_t dropped;    /* of a body that nobody wants */
    uint64_t since_ms; /* of the request's first byte, later of the last progress */
    unsigned refused;  /* status of a request that is not for the handler */
    bool have_headers, asked, begun, done, detached, cut, head;
    bool preempted; /* answered in the handler's place, who is not done yet */
    struct piece *first, *last;
    size_t unsent, max_unsent;
    struct arena after; /* of the trailers, which outlive the request */
    const struct net_header *trailers;
    uint32_t ntrailers;
    void (*on_gone)(void *ctx);
    void *gone_ctx;
    size_t drain_below;
    bool drain_armed;
    void (*on_drain)(void *ctx);
    void *drain_ctx;
    struct net_observer observer;
    unsigned status;  /* of the response, once it has begun */
    struct str whole; /* its body, while it is handed over at once */
};

struct exchange *exchange_new(struct conn *c);
/* Nothing but the connection's end follows: the bytes that wait are dropped and, when the
 * response was not over, the handler is told. x is gone afterwards or its handler's. */
void exchange_detach(struct exchange *x);
/* The same, at the client's cost: its stream or connection is ended first. */
void exchange_cut(struct exchange *x);

/* Copies; names are made lower-case. False: too many bytes (the request is refused). */
bool exchange_add_header(struct exchange *x, struct str name, struct str value);
bool exchange_add_body(struct exchange *x, struct str bytes);
void exchange_set_target(struct exchange *x, struct str target); /* path?query */
/* Headers in which no line can begin: themselves, or a copy. */
const struct net_header *exchange_clean(struct exchange *x,
                                        const struct net_header *headers, uint32_t n);
/* A request that the server answers in the handler's place. */
void exchange_refuse(struct exchange *x, unsigned status);
/* The request is complete: to the handler with it, or the refusal out. */
void exchange_ask(struct exchange *x);

/* Nothing more will be added to the response. */
static inline bool exchange_said_all(const struct exchange *x)
{
    return x->done || x->preempted;
}
/* Tells the observer, once, that all is over. */
void exchange_observed(struct exchange *x);

/* The next bytes to send, at most max; empty when there are none. */
struct str exchange_peek(const struct exchange *x, size_t max);
void exchange_consume(struct exchange *x, size_t n);
/* After some were consumed: tells the handler that waits for it. */
void exchange_drained(struct exchange *x);
const char *exchange_reason(unsigned status);

#endif
