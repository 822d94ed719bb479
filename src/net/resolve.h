/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a host's name, without blocking the loop. */
#ifndef DRAY_NET_RESOLVE_H
#define DRAY_NET_RESOLVE_H

#include "net/http.h"

enum { NET_MAX_ADDRESSES = 16 };

struct net_lookup;
/* ips: what net_tunnel_connect takes, in the system's order, valid during the call. n 0:
 * there is none, and why says so. */
typedef void net_lookup_done(void *ctx, const char *const *ips, uint32_t n,
                             const struct err *why);

/* done is called from the loop, once; the lookup is freed with it. An address in text is
 * its own answer. */
struct net_lookup *net_lookup_start(struct net_loop *l, const char *name,
                                    net_lookup_done *done, void *ctx);
/* done will not be called. */
void net_lookup_cancel(struct net_lookup *q);

/* Whether an address is one that others may be sent to: not of this machine, this link,
 * or a group. false for what is no address. */
bool net_ip_is_global(const char *ip);

#endif
