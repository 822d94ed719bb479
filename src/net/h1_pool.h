/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that wait for the next call to the same peer (h1_client.h). */
#ifndef DRAY_NET_H1_POOL_H
#define DRAY_NET_H1_POOL_H

#include "net/h1_client.h"

/* The tunnel is the caller's; NULL: none is kept for that peer. */
struct net_tunnel *h1_pool_take(struct net_h1_pool *p, struct str peer);
/* Takes the tunnel. */
void h1_pool_put(struct net_h1_pool *p, struct str peer, struct net_tunnel *t);

#endif
