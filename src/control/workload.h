/* SPDX-License-Identifier: Apache-2.0 */
/* What the controllers of workloads are told. */
#ifndef DRAY_CONTROL_WORKLOAD_H
#define DRAY_CONTROL_WORKLOAD_H

#include "control/shared.h"

struct workload_opts {
    unsigned workers; /* owners that are worked on at once; 0: as upstream */
    /* After a failure at first, and in which changes are one piece of work; 0: as the
     * controller has it. For tests. */
    uint64_t pause_ms;
    void (*log)(void *ctx, const char *text); /* what goes wrong; or NULL */
    void *log_ctx;
};

#endif
