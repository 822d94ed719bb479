/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of ResourcePoolStatusRequests (spec 6.3): answers each once, and deletes
 * them when they are old. The API and its gate, DRAResourcePoolStatus, are alpha.
 */
#ifndef DRAY_CONTROL_POOL_REQUESTS_H
#define DRAY_CONTROL_POOL_REQUESTS_H

#include "client/client.h"

struct pool_requests;

struct pool_requests_opts {
    bool taint_rules;     /* DRADeviceTaintRules: rules make devices unavailable too */
    uint64_t cleaning_ms; /* between looks for old requests, 0: 600,000 */
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *log_ctx;
};

struct pool_requests *pool_requests_new(struct client *c,
                                        const struct pool_requests_opts *opts);
void pool_requests_free(struct pool_requests *p);

#endif
