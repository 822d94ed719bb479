/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to one of etcd's members, kept up: when it breaks, the next member is
 * tried, at once the first time round and then ever more slowly.
 */
#ifndef DRAY_STORE_ETCD_LINK_H
#define DRAY_STORE_ETCD_LINK_H

#include "net/client.h"
#include "store/etcd_target.h"

struct etcd_link;
struct etcd_link_ops {
    void (*up)(void *ctx);
    void (*down)(void *ctx); /* the calls have been told */
};

/* tls NULL: plain. target is borrowed. */
struct etcd_link *etcd_link_new(struct net_loop *l, const struct etcd_target *target,
                                const struct net_tls_client_opts *tls,
                                const struct etcd_link_ops *ops, void *ctx,
                                struct err *e);
/* No callback follows, of the link's or of calls. */
void etcd_link_free(struct etcd_link *k);
/* To make calls with; NULL: there is no connection. */
struct net_client *etcd_link_client(const struct etcd_link *k);
/* This member is of no use: on to another. */
void etcd_link_leave(struct etcd_link *k, const char *why);
/* Why there is no connection: "10.0.0.1:2379: connection refused". */
const char *etcd_link_trouble(const struct etcd_link *k);

#endif
