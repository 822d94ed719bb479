/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two halves of the client: the connection (client.c) and its calls (call.c).
 */
#ifndef DRAY_NET_CALL_H
#define DRAY_NET_CALL_H

#include <nghttp2/nghttp2.h>

#include "net/client.h"
#include "net/resolve.h"
#include "net/stream.h"

struct net_call {
    struct net_call *next, **link; /* of the client's */
    struct net_client *client;
    const struct net_call_ops *ops;
    void *ctx;
    int32_t id;
    struct net_timer *timer;
    struct strbuf out; /* of the request's body, sent up to out_at */
    size_t out_at;
    struct strbuf held; /* of the answer's body, while paused */
    bool sent;          /* its headers, to the socket at least */
    bool finished;      /* by us */
    bool headed, ended; /* by the server */
    bool paused;
    struct net_timer *resuming;
    struct arena arena; /* of the headers that are being received */
    VEC(struct net_header) headers;
    size_t header_bytes;
    unsigned status;
};

struct net_client {
    struct net_loop *loop;
    const struct net_client_ops *ops;
    void *ctx;
    char *host, *name, *authority; /* name: of the certificate */
    uint16_t port;
    const char *scheme;
    char *path; /* of a Unix socket, or NULL */
    SSL_CTX *tls;
    struct stream *stream; /* NULL: none yet, or over */
    nghttp2_session *session;
    struct net_call *calls;
    bool open, over, closed;   /* closed: by the owner */
    bool leaving;              /* the server has said so */
    bool busy;                 /* its owner is being told the end */
    struct err why;            /* it ends */
    struct net_lookup *lookup; /* of the host's addresses */
    char *ips[NET_MAX_ADDRESSES];
    uint32_t nips, next_ip;
    struct net_timer *connecting, *beat;
    uint64_t ping_ms;
    bool heard, pinged; /* since the last beat */
};

/* Of call.c. */
nghttp2_session *call_session_new(struct net_client *c);
/* Tells every call that the connection is over. */
void call_end_all(struct net_client *c, const struct err *why);

#endif
