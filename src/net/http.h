/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server: HTTP/2 and HTTP/1.1 over TLS (by ALPN), and HTTP/1.1 or prior-knowledge
 * HTTP/2 over Unix sockets. One event loop (libuv), one thread; whoever hands work to
 * other threads comes back through net_post.
 *
 * An exchange is one request and its response. The handler is called once the headers and
 * the whole body are there (bodies above the limit are answered 413 here). It responds
 * now or later; until net_done is called for it, the exchange stays valid even if the
 * client has gone (writes then do nothing, and on_gone was called).
 *
 * Slow and hostile clients: limits on headers, bodies, streams per connection,
 * connections, idle time and unsent bytes per exchange; an exchange that cannot be
 * written to anymore is ended, it never stalls others.
 */
#ifndef DRAY_NET_HTTP_H
#define DRAY_NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct net_loop; /* the event loop of a process */

struct net_loop *net_loop_new(struct err *e);
void net_loop_free(struct net_loop *l);
/* Until net_loop_stop. */
void net_loop_run(struct net_loop *l);
void net_loop_stop(struct net_loop *l);
/* From any thread: fn(ctx) runs on the loop soon. */
void net_post(struct net_loop *l, void (*fn)(void *ctx), void *ctx);

struct net_timer;
/* repeat_ms 0: once. The timer frees itself after its last call, or by net_timer_stop. */
struct net_timer *net_timer_start(struct net_loop *l, uint64_t first_ms,
                                  uint64_t repeat_ms, void (*fn)(void *ctx), void *ctx);
void net_timer_stop(struct net_timer *t);
/* fn on SIGTERM and SIGINT. */
void net_on_stop_signal(struct net_loop *l, void (*fn)(void *ctx), void *ctx);

/* ---- TLS ---- */

struct net_tls_opts {
    struct str cert_pem, key_pem; /* of the server, a chain if need be */
    struct str client_ca_pem; /* client certificates are verified against these; empty:
                               * not asked for. A client without one is let in. */
};

/* ---- server ---- */

struct net_header {
    struct str name, value; /* name in lower case */
};

struct net_exchange {
    struct arena *arena;            /* of the exchange */
    struct str method, path, query; /* path percent-encoded as sent; query without "?" */
    const struct net_header *headers;
    uint32_t nheaders;
    struct str body;
    bool http2, tls, local; /* local: by Unix socket */
    struct str peer;        /* address:port, or empty */
    /* of a verified client certificate; empty: none was shown */
    struct str client_name;          /* CN */
    const struct str *client_groups; /* O */
    uint32_t nclient_groups;
    struct str client_cert_hash; /* SHA-256 in hex */
    void *user;                  /* the handler's own */
};

/* STR_NONE: not there. name in lower case. */
struct str net_header_get(const struct net_exchange *x, const char *name);

typedef void net_handler(void *ctx, struct net_exchange *x);

struct net_server_opts {
    const struct net_tls_opts *tls; /* NULL: plain, for Unix sockets */
    const char *address;            /* "127.0.0.1:6443", "[::1]:0", or "unix:/path" */
    size_t max_body;                /* 0: 3 MiB, as upstream */
    size_t max_unsent;              /* per exchange, 0: 64 MiB */
    uint32_t max_connections;       /* 0: 10,000 */
    uint32_t max_streams;           /* per connection, 0: 250 */
    uint64_t idle_ms;               /* connections without a stream, 0: 180,000 */
};

struct net_server;
struct net_server *net_server_new(struct net_loop *l, const struct net_server_opts *opts,
                                  net_handler *handler, void *ctx, struct err *e);
/* The port it listens on (when asked for port 0). */
uint16_t net_server_port(const struct net_server *s);
/* No new connections and streams; running exchanges may end for ms, then all is closed
 * and done(ctx) called. */
void net_server_stop(struct net_server *s, uint64_t ms, void (*done)(void *ctx),
                     void *ctx);
void net_server_free(struct net_server *s);

/* ---- responding ---- */

/* The whole response; content-length is added. Ends the exchange (net_done). */
void net_respond(struct net_exchange *x, unsigned status,
                 const struct net_header *headers, uint32_t nheaders, struct str body);
/* A response in pieces: begin, write..., done. */
void net_begin(struct net_exchange *x, unsigned status, const struct net_header *headers,
               uint32_t nheaders);
/* Copies. False: the client is gone or too slow; the exchange should be ended. */
bool net_write(struct net_exchange *x, struct str bytes);
/* Bytes shared by many exchanges, encoded once: referenced, not copied. */
struct net_shared;
struct net_shared *net_shared_new(struct str bytes); /* copies once; one reference */
struct net_shared *net_shared_ref(struct net_shared *s);
void net_shared_unref(struct net_shared *s);
bool net_write_shared(struct net_exchange *x, struct net_shared *s);
/* Bytes handed over and not yet sent. */
size_t net_unsent(const struct net_exchange *x);
/* Ends the response. The exchange must not be touched afterwards. */
void net_done(struct net_exchange *x);
/* fn(ctx) once when the client goes away before net_done. */
void net_on_gone(struct net_exchange *x, void (*fn)(void *ctx), void *ctx);

/* ---- upgrades (HTTP/1.1): after this the connection is a pair of byte streams ---- */

struct net_tunnel;
typedef void net_tunnel_data(void *ctx, struct str bytes); /* empty: the peer has ended */
/* Answers 101 with the headers and takes the connection over. NULL: not possible
 * (HTTP/2). */
struct net_tunnel *net_upgrade(struct net_exchange *x, const struct net_header *headers,
                               uint32_t nheaders, net_tunnel_data *on_data, void *ctx);
bool net_tunnel_write(struct net_tunnel *t, struct str bytes);
void net_tunnel_close(struct net_tunnel *t);

#endif
