/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of health. */
#ifndef DRAY_NODE_HEALTH_INNER_H
#define DRAY_NODE_HEALTH_INNER_H

#include "node/health.h"
#include "node/health_table.h"

struct health {
    struct health_opts opts;
    const struct node_claims *claims;
    struct arena arena;
    const char *path;
    struct health_table *table;
    struct health_stream *streams;
    struct net_timer *save; /* something is not in the file yet */
};

struct health_now health_now(const struct health *h);

#endif
