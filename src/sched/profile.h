/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pods of one schedulerName are scheduled: which plugins, what they weigh, and what
 * they are told (KubeSchedulerConfiguration, kubescheduler.config.k8s.io/v1).
 */
#ifndef DRAY_SCHED_PROFILE_H
#define DRAY_SCHED_PROFILE_H

#include "sched/dra.h"
#include "sched/plugin.h"

enum { PROFILE_RESOURCES = 16, PROFILES_MAX = 64 };

struct profile_resource {
    struct str name;
    int64_t weight;
};

enum fit_strategy { FIT_LEAST, FIT_MOST };

struct profile {
    struct str name;          /* schedulerName */
    plugin_set filters;       /* that filter (and gate, and post-filter) */
    int32_t weights[PLUGINS]; /* of scores; 0: it does not score */
    uint32_t percentage;      /* of nodes to score; 0: by their number */
    enum fit_strategy strategy;
    struct profile_resource fit[PROFILE_RESOURCES], balance[PROFILE_RESOURCES];
    uint32_t nfit, nbalance;
    int64_t hard_affinity_weight; /* of required affinity of pods that are there */
    bool ignore_preferred;        /* terms of pods that are there, for pods without any */
    bool default_spread;          /* pods without spread rules get upstream's */
    const struct spread_rule *spread; /* else these, of a List */
    uint32_t nspread;
    uint32_t min_candidates_percent, min_candidates; /* of preemption */
    struct dra_args dra;
};

/* default-scheduler as it is without a file. */
struct profile profile_default(void);

/* What a configuration file says. */
struct sched_config {
    struct profile *profiles;
    uint32_t n;
    uint64_t first_ms, longest_ms; /* back-off; 0: as usual */
    bool elect, has_elect;
    struct str lease_name, lease_namespace; /* or empty */
    uint64_t lease_ms, renew_ms, retry_ms;
};
/* In the arena. Errors name the field: what is not known, and what dray does not do. */
bool sched_config_read(struct str text, const char *file, struct arena *a,
                       struct sched_config *out, struct err *e);
struct sched_config sched_config_default(struct arena *a);

#endif
