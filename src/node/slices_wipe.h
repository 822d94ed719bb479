/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResourceSlices of drivers that are not there are taken away, so that nothing is
 * scheduled onto their devices: those of all drivers when the agent starts, and a
 * driver's when it could not be reached for 30 seconds. Drivers publish anew when they
 * are back.
 *
 * Source: spec 5.7 rule 7.
 */
#ifndef DRAY_NODE_SLICES_WIPE_H
#define DRAY_NODE_SLICES_WIPE_H

#include "client/client.h"

struct slices_wipe;

struct slices_wipe_opts { /* copied; log outlives it */
    struct client *client;
    struct str node;
    uint64_t delay_ms;                        /* 0: 30,000 */
    uint64_t retry_ms;                        /* the first pause; 0: 1,000 */
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *ctx;
};

/* Those of all drivers go at once. */
struct slices_wipe *slices_wipe_new(const struct slices_wipe_opts *o);
void slices_wipe_free(struct slices_wipe *w);
/* As plugins tell it (plugins.h, reached). */
void slices_wipe_reached(struct slices_wipe *w, struct str driver, bool connected);

#endif
