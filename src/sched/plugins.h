/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the plugins' table (plugin.h), by the files that have them. */
#ifndef DRAY_SCHED_PLUGINS_H
#define DRAY_SCHED_PLUGINS_H

#include "sched/cycle.h"

typedef struct sched_status plugin_pre_filter_fn(struct cycle *c);
typedef struct sched_status plugin_filter_fn(struct cycle *c, const struct node *n);
typedef void plugin_moved_fn(struct cycle *c, const struct object *pod,
                             const struct node *n, int sign);
typedef bool plugin_pre_score_fn(struct cycle *c);
typedef int64_t plugin_score_fn(struct cycle *c, const struct node *n);
typedef void plugin_normalize_fn(struct cycle *c, int64_t *scores, uint32_t n);

/* nodes.c: what one node says by itself */
plugin_pre_filter_fn name_pre_filter, affinity_nodes_pre_filter, ports_pre_filter;
plugin_filter_fn name_filter, cordon_filter, taints_filter, affinity_nodes_filter,
    ports_filter;
plugin_pre_score_fn affinity_nodes_pre_score;
plugin_score_fn taints_score, affinity_nodes_score, images_score;
plugin_normalize_fn taints_normalize, affinity_nodes_normalize;
/* ports that exclude each other */
bool ports_conflict(const struct host_port *a, const struct host_port *b);

/* fit.c: resources */
plugin_filter_fn fit_filter;
plugin_score_fn fit_score, balance_score;
plugin_pre_score_fn balance_pre_score;

/* spread.c: topologySpreadConstraints */
plugin_pre_filter_fn spread_pre_filter;
plugin_filter_fn spread_filter;
plugin_moved_fn spread_moved;
plugin_pre_score_fn spread_pre_score;
plugin_score_fn spread_score;
plugin_normalize_fn spread_normalize;

/* pod_affinity.c, pod_affinity_score.c: rules between pods */
plugin_pre_filter_fn pod_affinity_pre_filter;
plugin_filter_fn pod_affinity_filter;
plugin_moved_fn pod_affinity_moved;
plugin_pre_score_fn pod_affinity_pre_score;
plugin_score_fn pod_affinity_score;
plugin_normalize_fn pod_affinity_normalize;

/* volumes.c */
plugin_pre_filter_fn disks_pre_filter, volumes_pre_filter;
plugin_filter_fn disks_filter, volumes_filter;

/* hints.c: whether an event may help a pod (struct world *) */
plugin_hint_fn hint_self_gates, hint_tolerations, hint_node_selected, hint_ports,
    hint_fit, hint_pod_affinity, hint_spread, hint_devices, hint_gang;

/* For score functions: to 0 - 100 of the largest; reverse: the largest is 0. */
void scores_normalize(int64_t *scores, uint32_t n, bool reverse);

#endif
