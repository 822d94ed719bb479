/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health of devices, as their drivers report it: a stream from each endpoint that offers
 * one, what was said in a file that outlives the process, and from it the entries of pod
 * status. Whoever has a pod with a device that changed is told.
 *
 * Source: spec 5.4, 5.6 rule 2.
 */
#ifndef DRAY_NODE_HEALTH_H
#define DRAY_NODE_HEALTH_H

#include "node/claims.h"
#include "node/plugins.h"

struct health;

struct health_opts { /* all of it outlives the health */
    struct net_loop *loop;
    const char *dir;   /* of the file: "/var/lib/kubelet" */
    bool messages;     /* feature ResourceHealthStatusMessage */
    uint64_t retry_ms; /* after a stream has ended; 0: 5,000 */
    /* The pod's status is to be written anew; from the loop, and it may be told twice. */
    void (*changed)(void *ctx, struct str pod_uid);
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *ctx;                                /* of both */
};

/* A file that makes no sense is told of and counts as empty. */
struct health *health_new(const struct health_opts *o);
/* Before the plugins are freed. */
void health_free(struct health *h);
/* Of which claims; before anything is added. */
void health_use_claims(struct health *h, const struct node_claims *c);

/* As plugins tell it (plugins.h, added and removed); takes plugin_set_user. */
void health_added(struct health *h, struct plugin *p);
void health_removed(struct health *h, struct plugin *p);

/* allocatedResourcesStatus of a container of pod's spec.containers. old: what the status
 * has now (or NULL), which stays for whatever is not prepared. Null: there is nothing to
 * say; in the arena. */
struct doc health_container_status(const struct health *h, const struct doc *pod,
                                   const struct doc *container, const struct doc *old,
                                   struct arena *a);

#endif
