/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The namespace controller: what a deleted namespace has, of all kinds, is deleted, pods
 * first; its conditions say what is left; and when nothing is, the namespace goes
 * (pkg/controller/namespace).
 */
#ifndef DRAY_CONTROL_NAMESPACES_H
#define DRAY_CONTROL_NAMESPACES_H

#include "client/client.h"

struct namespaces;

struct namespaces_opts {
    unsigned workers; /* 0: 10, as upstream */
    /* After a deletion, so that all of several API servers know of it and nobody makes
     * anything there; 0: 5,000, as upstream. */
    uint64_t grace_ms;
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

/* Works from here on, until namespaces_free. */
struct namespaces *namespaces_new(struct client *c, const struct namespaces_opts *opts);
void namespaces_free(struct namespaces *n); /* NULL is fine */

#endif
