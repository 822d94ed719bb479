/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of changes of our keys, over one connection. */
#ifndef DRAY_STORE_ETCD_WATCH_H
#define DRAY_STORE_ETCD_WATCH_H

#include "net/client.h"
#include "store/etcd_change.h"

struct etcd_watch;
struct etcd_watch_ops {
    /* All changes up to `reached` that did not come before, in order; may be none. The
     * list is the callback's. */
    void (*changes)(void *ctx, struct etcd_changes *l, uint64_t reached);
    /* It is over; why: what etcd says. compacted: not 0 when that is the reason, which
     * revision history begins after. */
    void (*ended)(void *ctx, uint64_t compacted, const char *why);
};

/* Changes after a revision. NULL: the connection takes no more calls. */
struct etcd_watch *etcd_watch_new(struct net_client *c, const struct etcd_target *t,
                                  uint64_t after, const struct etcd_watch_ops *ops,
                                  void *ctx);
/* Not after ended(). */
void etcd_watch_free(struct etcd_watch *w);

#endif
