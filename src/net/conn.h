/* SPDX-License-Identifier: Apache-2.0 */
/* A connection of a server, and what a protocol does for it. */
#ifndef DRAY_NET_CONN_H
#define DRAY_NET_CONN_H

#include "net/exchange.h"
#include "net/stream.h"

struct proto {
    void (*open)(struct conn *c);
    void (*data)(struct conn *c, struct str bytes);
    void (*pump)(struct conn *c); /* write while stream_room */
    /* Sends the head of the response. length: of the body, -1: not known. */
    void (*begin)(struct exchange *x, unsigned status, const struct net_header *headers,
                  uint32_t nheaders, int64_t length);
    void (*more)(struct exchange *x);  /* bytes were queued, or the response has ended */
    void (*cut)(struct exchange *x);   /* the response will not be completed */
    void (*shut_down)(struct conn *c); /* nothing new; close when the last has ended */
    void (*fini)(struct conn *c);
};

extern const struct proto h1_proto, h2_proto;

struct h1;
struct h2;

/* The texts about a peer: exchanges need them longer than the connection lasts. */
struct known {
    unsigned refs;
    struct arena arena;
};
struct known *known_new(void);
struct known *known_ref(struct known *k);
void known_unref(struct known *k);

struct conn {
    struct net_server *server;
    struct conn *next, **link; /* of the server's */
    struct stream *stream;     /* NULL: it belongs to a tunnel now */
    const struct proto *proto; /* NULL: not known yet */
    union {
        struct h1 *h1;
        struct h2 *h2;
    };
    struct known *known; /* has the texts of the next two */
    struct tls_peer peer;
    struct str address;
    bool tls, local;
    bool shutting; /* shut_down was called */
    struct exchange *exchanges;
    uint32_t nexchanges; /* with those whose client has gone and whose handler runs */
    size_t body_bytes;   /* of its requests */
    uint64_t idle_ms;    /* since when there is no exchange */
    struct strbuf first; /* plain: what decides between the protocols */
};

struct net_server {
    struct net_loop *loop;
    struct net_server_opts opts; /* defaults put in */
    net_handler *handler;
    void *ctx;
    SSL_CTX *tls;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    bool local, listening, stopping, freed;
    char *path; /* of a Unix socket, removed at the end */
    uint16_t port;
    struct conn *conns;
    uint32_t nconns;
    size_t body_bytes; /* of requests that are being received */
    struct net_timer *sweep, *deadline;
    struct net_timer *check; /* whether nothing was left at the stop */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
    uint32_t handles; /* what must be closed before the server can be freed */
};

/* Leaves the stream to a tunnel: the server forgets the connection, whoever asked for it
 * frees it. */
struct stream *conn_release(struct conn *c);
void conn_free(struct conn *c);

#endif
