/* SPDX-License-Identifier: Apache-2.0 */
/* How calls get to a server: what remote.c and inner.c offer to client.c. */
#ifndef DRAY_CLIENT_WAY_H
#define DRAY_CLIENT_WAY_H

#include "client/client.h"

struct way {
    /* NULL: it cannot be sent now, *e says why. */
    void *(*start)(void *self, const struct net_call_opts *opts,
                   const struct net_call_ops *ops, void *ctx, struct err *e);
    void (*cancel)(void *call);
    void (*free)(void *self);
    /* What comes before every path. */
    const char *(*prefix)(const void *self);
    /* Of the header; empty: none. In the arena. */
    struct str (*token)(void *self, struct arena *a);
    struct str (*user_agent)(const void *self);
    const struct kubeconfig_as *(*acts_as)(const void *self); /* NULL: as oneself */
    const char *(*address)(const void *self); /* "HOST:PORT"; "": this very process */
};

struct client *client_new(struct net_loop *l, const struct way *way, void *self);

#endif
