/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of ResourceClaims (spec 6.1): makes claims from templates for pods and
 * pod groups, reserves what pods without a scheduler need, and takes back what nobody
 * needs anymore: reservations, allocations, finalizers, and claims made for pods that
 * will not run.
 */
#ifndef DRAY_CONTROL_CLAIMS_H
#define DRAY_CONTROL_CLAIMS_H

#include "client/client.h"

struct claims;

struct claims_opts {
    bool no_admin_access, no_prioritized_list; /* of templates; they are GA */
    bool pod_groups;                           /* GenericWorkload */
    bool group_claims; /* DRAWorkloadResourceClaims, with the one before */
    unsigned workers;  /* claims, pods and groups at once; 0: 50, as upstream */
    /* What goes wrong, for a log; or NULL. */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

/* Works from here on, until claims_free. */
struct claims *claims_new(struct client *c, const struct claims_opts *opts);
void claims_free(struct claims *c);
/* Everything there was at the beginning is known. */
bool claims_synced(const struct claims *c);

#endif
