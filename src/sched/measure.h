/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler measures, under kube-scheduler's names and with its buckets:
 * attempts by profile and result, how long they took, how many a pod took.
 */
#ifndef DRAY_SCHED_MEASURE_H
#define DRAY_SCHED_MEASURE_H

#include "base/str.h"
#include "sched/profile.h"

enum sched_result { SCHED_SCHEDULED, SCHED_NO_NODE, SCHED_FAILED, SCHED_RESULTS };

enum { SCHED_BUCKETS = 15 };

struct sched_histogram {
    uint64_t counts[SCHED_BUCKETS + 1], n; /* the last one: more than every bound */
    double sum;
};

struct sched_measure {
    const struct sched_config *config;
    struct sched_histogram (*attempts)[SCHED_RESULTS]; /* of each profile; seconds */
    struct sched_histogram tries;                      /* of pods that have a node now */
};

/* The configuration outlives it. */
void sched_measure_init(struct sched_measure *m, const struct sched_config *config);
void sched_measure_fini(struct sched_measure *m);

void sched_measure_attempt(struct sched_measure *m, const struct profile *p,
                           enum sched_result result, double seconds);
/* A pod has its node, after so many attempts. */
void sched_measure_pod(struct sched_measure *m, uint32_t tries);
/* As Prometheus reads it. */
void sched_measure_print(const struct sched_measure *m, struct strbuf *out);

/* "# HELP", "# TYPE": once a metric. */
void sched_print_head(struct strbuf *out, const char *name, const char *type,
                      const char *help);

#endif
