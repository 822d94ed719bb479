/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of several who do the same: whoever holds a Lease works, the others wait. As
 * client-go's leader election, and beside it: a lease that has not changed for as long as
 * it lasts may be taken, by the clock of whoever looks at it.
 */
#ifndef DRAY_CLIENT_LEADER_H
#define DRAY_CLIENT_LEADER_H

#include "client/client.h"

struct leader;

struct leader_opts { /* texts outlive the leader; times as kube-controller-manager's */
    const char *namespace, *name;
    const char *identity; /* of this process, that no other has */
    uint64_t lease_ms;    /* 0: 15,000 */
    uint64_t renew_ms;    /* within which it must be renewed, 0: 10,000 */
    uint64_t retry_ms;    /* between tries, 0: 2,000 */
};

struct leader_ops {
    void (*gained)(void *ctx);
    /* The lease is another's by now, or could not be renewed: work must stop at once.
     * Nothing follows. */
    void (*lost)(void *ctx);
    /* For a log: what goes wrong, and whom it waits for; or NULL. */
    void (*trouble)(void *ctx, const char *what);
};

struct leader *leader_new(struct client *c, const struct leader_opts *opts,
                          const struct leader_ops *ops, void *ctx);
/* Gives the lease up, if it is held, so that another need not wait; done(ctx) when that
 * is over. Nothing else follows. */
void leader_resign(struct leader *l, void (*done)(void *ctx));
void leader_free(struct leader *l);
bool leader_is(const struct leader *l);

#endif
