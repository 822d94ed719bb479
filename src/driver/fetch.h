/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the claims of one call from the API server, all at once, and holds them to what a
 * driver may rely on: the claim is the one that was meant, and allocated.
 *
 * Of resource.k8s.io the newest version that the server has is asked: v1, v1beta2,
 * v1beta1. What a driver reads of a claim, status.allocation, is the same in all three.
 *
 * Source: spec 5.8.13, 5.9.1.
 */
#ifndef DRAY_DRIVER_FETCH_H
#define DRAY_DRIVER_FETCH_H

#include "base/arena.h"
#include "client/client.h"
#include "doc/doc.h"

struct driver_claim { /* texts outlive the call */
    struct str namespace, name, uid;
};

struct driver_fetch;
/* docs[i] is claim i's, in the arena of the call; why: "" unless one of them failed. */
typedef void driver_fetched(void *ctx, const struct doc *const *docs, struct str why);

/* Which version the server has is remembered in *version, between calls; 0 at first. */
struct driver_fetch *driver_fetch_start(struct client *c, unsigned *version,
                                        const struct driver_claim *claims, uint32_t n,
                                        uint64_t timeout_ms, struct arena *a,
                                        driver_fetched *fetched, void *ctx);
void driver_fetch_cancel(struct driver_fetch *f); /* no callback follows */

#endif
