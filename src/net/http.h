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

/* Makes the process ignore SIGPIPE: a peer that is gone is an error of the write. */
struct net_loop *net_loop_new(struct err *e);
/* Servers are freed and tunnels closed before; what of them lingers is ended here. */
void net_loop_free(struct net_loop *l);
/* Until net_loop_stop (from the loop's thread). */
void net_loop_run(struct net_loop *l);
void net_loop_stop(struct net_loop *l);
/* What is ready, once; wait: until something is. */
void net_loop_run_once(struct net_loop *l, bool wait);
/* The loop's clock (monotonic), as of this round. */
uint64_t net_now_ms(struct net_loop *l);
/* From any thread: fn(ctx) runs on the loop soon, in the order of the calls. */
void net_post(struct net_loop *l, void (*fn)(void *ctx), void *ctx);
/* What was posted with this ctx does not run; on the loop's thread. */
void net_unpost(struct net_loop *l, void *ctx);

/* work(ctx) on another thread, then done(ctx) on the loop; also while the loop ends. */
void net_work(struct net_loop *l, void (*work)(void *ctx), void (*done)(void *ctx),
              void *ctx);

struct net_timer;
/* repeat_ms 0: once. The timer frees itself before its only call, or by net_timer_stop.
 */
struct net_timer *net_timer_start(struct net_loop *l, uint64_t first_ms,
                                  uint64_t repeat_ms, void (*fn)(void *ctx), void *ctx);
void net_timer_stop(struct net_timer *t);
/* fn(ctx) once, when the descriptor can be read or is hung up; it stays its owner's, who
 * keeps it open until then or until net_readable_stop. */
struct net_readable;
struct net_readable *net_readable_start(struct net_loop *l, int fd, void (*fn)(void *ctx),
                                        void *ctx);
void net_readable_stop(struct net_readable *r); /* before fn was called; NULL is fine */
/* fn on SIGTERM and SIGINT, each time. */
void net_on_stop_signal(struct net_loop *l, void (*fn)(void *ctx), void *ctx);

/* ---- TLS ---- */

struct net_tls_opts {
    struct str cert_pem, key_pem; /* of the server, a chain if need be */
    /* Client certificates are verified against these; empty: not asked for. A client
     * without one is let in, and one with a bad one too: client_cert_error says why. */
    struct str client_ca_pem;
};

/* For connections to others. */
struct net_tls_client_opts {
    struct str ca_pem;            /* empty: whom the system trusts */
    struct str cert_pem, key_pem; /* what we show; empty: nothing */
    bool insecure;                /* the server's certificate is not verified */
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
    struct str client_cert_hash;  /* SHA-256 in hex */
    struct str client_cert_error; /* one was shown that is not to be trusted: why */
    void *user;                   /* the handler's own */
};

/* STR_NONE: not there. name in lower case. */
struct str net_header_get(const struct net_exchange *x, const char *name);

typedef void net_handler(void *ctx, struct net_exchange *x);
/* Answers, at once, a request that is refused here: 400, 405, 408, 413, 417, 429, 431.
 * It may not be complete. */
typedef void net_refuser(void *ctx, struct net_exchange *x, unsigned status);

struct net_server_opts {
    const struct net_tls_opts *tls; /* NULL: plain, for Unix sockets */
    const char *address;            /* "127.0.0.1:6443", "[::1]:0", or "unix:/path", which
                                     * only its owner may open; NULL: net_server_adopt */
    net_refuser *refuse;            /* NULL: refusals are a line of text */
    size_t max_body;                /* 0: 3 MiB, as upstream */
    size_t max_bodies;              /* of all requests at once (else 429), an eighth of
                                     * it on one connection; 0: 512 MiB */
    size_t max_unsent;              /* per exchange, 0: 64 MiB */
    uint32_t max_connections;       /* 0: 10,000 */
    uint32_t max_streams;           /* per connection, 0: 250 */
    uint64_t idle_ms;               /* connections without a stream, 0: 180,000 */
    uint64_t headers_ms;            /* to send a request's headers, 0: 30,000 */
    uint64_t request_ms;            /* to send all of a request, 0: 60,000 */
    uint64_t stall_ms;              /* bytes wait and none leaves, 0: 60,000 */
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
/* Ends what is left. Handlers whose exchanges still run are told from the loop. */
void net_server_free(struct net_server *s);
uint32_t net_server_connections(const struct net_server *s);
/* Takes a connected Unix socket as a connection of a plain server. */
bool net_server_adopt(struct net_server *s, int fd);

/* ---- responding ---- */

/* The whole response; content-length and date are added. Ends the exchange, as net_done
 * does. The body is copied, taken over (and *body left empty), or shared; HEAD, 204 and
 * 304 send none of it. No limit: max_unsent is for responses in pieces. */
void net_respond(struct net_exchange *x, unsigned status,
                 const struct net_header *headers, uint32_t nheaders, struct str body);
void net_respond_buf(struct net_exchange *x, unsigned status,
                     const struct net_header *headers, uint32_t nheaders,
                     struct strbuf *body);
struct net_shared;
void net_respond_shared(struct net_exchange *x, unsigned status,
                        const struct net_header *headers, uint32_t nheaders,
                        struct net_shared *body);
/* The body as many runs of bytes, none of them empty, that stay where they are until
 * release(ctx). The array too, unless it has one alone. */
struct net_parts {
    const struct str *parts;
    uint32_t n;
    void (*release)(void *ctx);
    void *ctx;
};
void net_respond_parts(struct net_exchange *x, unsigned status,
                       const struct net_header *headers, uint32_t nheaders,
                       const struct net_parts *body);
/* A response in pieces: begin, write..., done. */
void net_begin(struct net_exchange *x, unsigned status, const struct net_header *headers,
               uint32_t nheaders);
/* Copies. False: the client is gone or too slow; the exchange should be ended. Never
 * calls back: on_gone comes from the loop. */
bool net_write(struct net_exchange *x, struct str bytes);
/* Bytes shared by many exchanges, encoded once: referenced, not copied. References may be
 * taken and given back on any thread. */
struct net_shared *net_shared_new(struct str bytes); /* copies once; one reference */
/* Of bytes that live until release(ctx); it may be NULL. */
struct net_shared *net_shared_wrap(struct str bytes, void (*release)(void *ctx),
                                   void *ctx);
struct str net_shared_bytes(const struct net_shared *s);
struct net_shared *net_shared_ref(struct net_shared *s);
void net_shared_unref(struct net_shared *s);
bool net_write_shared(struct net_exchange *x, struct net_shared *s);
/* Bytes handed over and not yet sent. */
size_t net_unsent(const struct net_exchange *x);
/* fn(ctx) each time that net_unsent has been above `below` and is not anymore. NULL: no
 * more calls. */
void net_on_drain(struct net_exchange *x, size_t below, void (*fn)(void *ctx), void *ctx);
/* Ends the response. The exchange must not be touched afterwards. */
void net_done(struct net_exchange *x);
/* The same, with headers behind the body, which HTTP/2 alone has: over HTTP/1.1 they are
 * left out. Copied; names in lower case. */
void net_done_trailers(struct net_exchange *x, const struct net_header *trailers,
                       uint32_t n);
/* Ends it so that the client knows that something is missing. As net_done otherwise. */
void net_abort(struct net_exchange *x);
/* fn(ctx) once when the client goes away, or is cut off as too slow, before net_done. The
 * exchange must still be ended by net_done, then or later. */
void net_on_gone(struct net_exchange *x, void (*fn)(void *ctx), void *ctx);

/* Somebody who is told what becomes of an exchange: logs, limits. */
struct net_observer {
    /* A response in pieces begins, or the connection is handed over (101). */
    void (*begun)(void *ctx, unsigned status);
    /* The response is over, whether the client has got it or not, and nothing of the
     * exchange is freed yet. body: all of it; in pieces, none. */
    void (*done)(void *ctx, unsigned status, struct str body);
    void *ctx;
    /* Nobody works on it anymore: its arena goes next. NULL: need not be told. */
    void (*freed)(void *ctx);
};
/* One at most; copied. */
void net_observe(struct net_exchange *x, const struct net_observer *o);

/* The whole response in the handler's place, which has not begun one: what it sends later
 * is dropped, and it must still end the exchange. The observer hears of this response
 * alone. */
void net_preempt(struct net_exchange *x, unsigned status,
                 const struct net_header *headers, uint32_t nheaders, struct str body);

/* ---- upgrades (HTTP/1.1): after this the connection is a pair of byte streams ---- */

struct net_tunnel;
/* empty: the peer has ended, or the connection is lost; nothing follows, and the tunnel
 * still has to be closed. */
typedef void net_tunnel_data(void *ctx, struct str bytes);
/* Whether the client asks for an upgrade and one is possible (not over HTTP/2). */
bool net_wants_upgrade(const struct net_exchange *x);
/* Answers 101 with the headers ("upgrade: ..." among them; "connection" is added) and
 * takes the connection over; the exchange is ended. NULL: not possible; it goes on. */
struct net_tunnel *net_upgrade(struct net_exchange *x, const struct net_header *headers,
                               uint32_t nheaders, net_tunnel_data *on_data, void *ctx);

struct net_connect_opts {
    const char *ip;
    uint16_t port;
    const struct net_tls_client_opts *tls; /* NULL: plain */
    const char *name; /* that the certificate must be for, NULL: the address */
};
/* A connection to somebody else; what is written before it stands waits. */
struct net_tunnel *net_tunnel_connect(struct net_loop *l,
                                      const struct net_connect_opts *opts,
                                      net_tunnel_data *on_data, void *ctx, struct err *e);

/* Copies. False: the peer is gone, or 8 MiB wait for it already. */
bool net_tunnel_write(struct net_tunnel *t, struct str bytes);
size_t net_tunnel_unsent(const struct net_tunnel *t);
/* Once it has ended: why the connection was lost, or could not be made; without a code
 * when it was closed in order. Of the tunnel. */
const struct err *net_tunnel_why(const struct net_tunnel *t);
/* Whether the connection ever stood. */
bool net_tunnel_stood(const struct net_tunnel *t);
/* Paused: bytes are left with the peer. */
void net_tunnel_pause(struct net_tunnel *t, bool paused);
/* As net_on_drain, with the tunnel's ctx. */
void net_tunnel_on_drain(struct net_tunnel *t, size_t below, void (*fn)(void *ctx));
/* Sends what was written, then ends. The tunnel must not be touched afterwards. */
void net_tunnel_close(struct net_tunnel *t);

#endif
