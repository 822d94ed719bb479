/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a cluster of an API server: controllers, scheduler, simulated nodes, at work
 * together in the process of the server. Where several processes share one store, those
 * of one of them work.
 */
#ifndef DRAY_CLI_CLUSTER_PARTS_H
#define DRAY_CLI_CLUSTER_PARTS_H

#include "cli/simulated.h"
#include "control/controllers.h"
#include "server/server.h"

struct cluster_parts;

struct cluster_lease { /* of the one that works; 0: as leader.h has it */
    uint64_t lease_ms, renew_ms, retry_ms;
};

struct cluster_parts_opts { /* copied; what pointers lead to outlives the parts */
    const struct api_gates *gates;
    const char *controllers;   /* names; NULL: all; "": none */
    struct str root_ca;        /* for pods, PEM; empty: none */
    struct pki_pair authority; /* signs certificates; empty: nobody does */
    const struct simulated *nodes;
    bool silent_drivers; /* sim.h */
    uint64_t grace_ms;   /* for which a node may be silent; 0: 50 s, as upstream */
    bool elect; /* several servers share the store: only the leader's parts work */
    struct cluster_lease lease;
    void (*ready)(void *ctx); /* all nodes stand, or others work; once */
    void (*log)(void *ctx, const char *text);
    void *ctx; /* of both */
};

struct cluster_parts *cluster_parts_new(struct net_loop *l, struct server *s,
                                        const struct cluster_parts_opts *opts);
/* They stop at once; done(ctx) when nothing of them is left to be asked. */
void cluster_parts_stop(struct cluster_parts *p, void (*done)(void *ctx), void *ctx);
void cluster_parts_free(struct cluster_parts *p);

#endif
