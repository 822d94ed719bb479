/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods that wait for a place: pending ones of the input, then those that workloads
 * still lack. Highest priority first, then in the order of the input.
 */
#ifndef DRAY_CLI_EXPAND_H
#define DRAY_CLI_EXPAND_H

#include "cli/cluster.h"
#include "cli/diag.h"

struct waiting_pod {
    struct str namespace, name;
    const struct view_pod *view; /* of a workload: its template, without a name */
    const struct cluster_workload *workload; /* NULL: a pod of the input */
    uint32_t pinned; /* the node of a DaemonSet's pod by index, else WAITING_ANYWHERE */
    int64_t priority;
};
enum { WAITING_ANYWHERE = UINT32_MAX };

struct waiting_pods {
    VEC(struct waiting_pod) list;
};

/* Names live in the cluster's arena. Pods held back by scheduling gates are noted in
 * diags and left out. */
void expand_pods(struct cluster *c, struct waiting_pods *out, struct diags *diags);
void waiting_pods_release(struct waiting_pods *w);

/* Label selector of a workload on a pod's labels. */
bool expand_selects(const struct doc *selector, const struct view_pod *pod);

#endif
