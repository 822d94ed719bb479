/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller that evicts pods from devices with a NoExecute taint (spec 6.2), of
 * ResourceSlices and of DeviceTaintRules, and says in each rule's status how far it is.
 */
#ifndef DRAY_CONTROL_EVICTION_H
#define DRAY_CONTROL_EVICTION_H

#include "client/client.h"

struct eviction;

struct eviction_opts {
    bool rules;        /* DRADeviceTaintRules: they are watched too */
    bool group_claims; /* DRAWorkloadResourceClaims */
    unsigned workers;  /* 0: 8, as upstream */
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *log_ctx;
};

/* Works from here on. */
struct eviction *eviction_new(struct client *c, const struct eviction_opts *opts);
void eviction_free(struct eviction *e);

#endif
