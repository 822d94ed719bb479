/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a server from within its own process: no socket, no frames, no encryption. A
 * caller is a user whom the server takes at his word, as if he had shown a certificate.
 * Callbacks are those of client.h and come as there: from the loop, never from within a
 * function of this header. All of it on the server's loop.
 */
#ifndef DRAY_NET_INNER_H
#define DRAY_NET_INNER_H

#include "net/client.h"

struct net_inner;
struct net_inner_call;

struct net_inner_opts { /* copied */
    struct str name;    /* of the user */
    const struct str *groups;
    uint32_t ngroups;
};

struct net_inner *net_inner_new(struct net_server *s, const struct net_inner_opts *opts);
/* Calls that are left are told from the loop (ERR_CANCELLED). Before net_server_free. */
void net_inner_free(struct net_inner *n);

/* As net_call_start, but for `more`: a body comes whole. Never NULL. The handler may run
 * at once. */
struct net_inner_call *net_inner_start(struct net_inner *n,
                                       const struct net_call_opts *opts,
                                       const struct net_call_ops *ops, void *ctx);
/* Paused: what the server says waits with it, and it may find us too slow. */
void net_inner_pause(struct net_inner_call *call, bool paused);
/* No callback follows; the call is gone. */
void net_inner_cancel(struct net_inner_call *call);

#endif
