/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 client: many calls at once over one connection, by TLS (ALPN must choose h2),
 * TCP or a Unix socket (both with prior knowledge). A client is one connection: made
 * once, over once; whoever wants another makes another. All of it on one loop's thread.
 *
 * A call is a request and its answer, each whole or in pieces. Its callbacks come from
 * the loop, never from within a function of this header: head once, data as often as
 * there is some, done last and once. They may start, cancel and send calls, and close the
 * client.
 */
#ifndef DRAY_NET_CLIENT_H
#define DRAY_NET_CLIENT_H

#include "net/http.h"

struct net_client;
struct net_call;

struct net_client_opts {
    /* "10.0.0.1:2379", "[::1]:2379", "name:2379" (its addresses are tried in turn),
     * "unix:/path". */
    const char *address;
    const struct net_tls_client_opts *tls; /* NULL: plain */
    /* Whom the certificate must name, and :authority; NULL: the host of the address. */
    const char *name;
    uint64_t connect_ms; /* until calls can be sent, 0: 10,000 */
    /* While there are calls: when nothing was heard for so long, the server is asked for
     * a sign, and given up when none comes in as much again. 0: 20,000. */
    uint64_t ping_ms;
};

struct net_client_ops {
    void (*opened)(void *ctx); /* or NULL */
    /* The connection is over, or never was; every call has been told. What remains is
     * net_client_close. */
    void (*closed)(void *ctx, const struct err *why);
};

/* NULL: the address or the certificates are unusable. */
struct net_client *net_client_new(struct net_loop *l, const struct net_client_opts *opts,
                                  const struct net_client_ops *ops, void *ctx,
                                  struct err *e);
/* Calls that are left are told from the loop (ERR_CANCELLED); closed() is not called. */
void net_client_close(struct net_client *c);
/* Gives the connection up: calls are told, closed() follows, both from the loop. */
void net_client_abort(struct net_client *c, const char *why);
bool net_client_is_open(const struct net_client *c);

/* ---- calls ---- */

struct net_call_end {
    const struct err *err; /* NULL: the answer is complete */
    /* The server has not acted on the call, and never will. */
    bool untouched;
    uint32_t reset; /* the HTTP/2 code when the server has reset the call, else 0 */
    const struct net_header *trailers;
    uint32_t ntrailers;
};

struct net_call_ops {
    /* Not of 1xx. last: there is no body, and no trailers. */
    void (*head)(void *ctx, unsigned status, const struct net_header *headers, uint32_t n,
                 bool last);
    void (*data)(void *ctx, struct str bytes);
    /* ERR_IO: reset, or the connection broke; ERR_TIMEOUT; ERR_LIMIT: headers above 64
     * KiB; ERR_CANCELLED: by net_client_close. The call is gone afterwards. */
    void (*done)(void *ctx, const struct net_call_end *end);
};

struct net_call_opts {
    struct str method, path; /* path with its query, encoded */
    const struct net_header *headers;
    uint32_t nheaders;
    struct str body;     /* of any size; or its beginning */
    bool more;           /* net_call_send and net_call_finish follow */
    uint64_t timeout_ms; /* for all of it, 0: none */
};

/* All is copied. Calls above what the server allows at once wait here. NULL: the
 * connection takes no more (broken, or the server is leaving it). */
struct net_call *net_call_start(struct net_client *c, const struct net_call_opts *opts,
                                const struct net_call_ops *ops, void *ctx);
/* Copies. */
void net_call_send(struct net_call *call, struct str bytes);
void net_call_finish(struct net_call *call); /* the request is complete */
/* Handed over and not yet on its way. */
size_t net_call_unsent(const struct net_call *call);
/* Paused: data stops, and soon the server has to wait, for this call alone. */
void net_call_pause(struct net_call *call, bool paused);
/* No callback follows; the call is gone. */
void net_call_cancel(struct net_call *call);

#endif
