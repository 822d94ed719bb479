/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: finds nodes for pods that have none, and binds them (spec 7). It watches
 * pods, nodes and what rules about them name, tries one pod after another on what it
 * knows (cycle.h), and counts a pod as placed from then on, while the server is told.
 * Everything runs on the client's loop.
 */
#ifndef DRAY_SCHED_SCHEDULER_H
#define DRAY_SCHED_SCHEDULER_H

#include "api/gates.h"
#include "client/client.h"
#include "sched/profile.h"

struct scheduler;

struct scheduler_opts {
    const struct sched_config *config; /* outlives it; NULL: as without a file */
    struct api_gates gates;
    /* What goes wrong, for a log; or NULL. */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
};

/* Works from here on, until scheduler_free. */
struct scheduler *scheduler_new(struct client *c, const struct scheduler_opts *opts);
/* Bindings under way are not waited for. NULL is fine. */
void scheduler_free(struct scheduler *s);
/* Everything there was at the beginning is known. */
bool scheduler_synced(const struct scheduler *s);

struct scheduler_counts {
    uint64_t attempts, scheduled, unschedulable, errors, preemptions;
    uint32_t active, backoff, parked, gated, in_flight; /* pods, now */
};
struct scheduler_counts scheduler_count(const struct scheduler *s);
/* Under kube-scheduler's names, for Prometheus; on the client's loop. */
void scheduler_print_metrics(const struct scheduler *s, struct strbuf *out);

#endif
