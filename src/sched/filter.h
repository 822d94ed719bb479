/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes may take a pod, devices aside: the filters of the scheduler that look at
 * one pod and one node (spec 7). Pure.
 */
#ifndef DRAY_SCHED_FILTER_H
#define DRAY_SCHED_FILTER_H

#include "api/view.h"
#include "api/view_pod.h"

/* A node with what its pods use up. */
struct sched_node {
    const struct view_node *view;
    uint32_t npods;
    struct view_amount *used; /* same names and order as view->allocatable */
};

enum sched_refusal {
    SCHED_FITS,
    SCHED_CORDONED,
    SCHED_NODE_NAME,     /* the pod names another node */
    SCHED_NODE_SELECTOR, /* nodeSelector or required node affinity */
    SCHED_TAINT,
    SCHED_RESOURCES,
    SCHED_REFUSALS
};
/* "node is cordoned", for messages. */
const char *sched_refusal_text(enum sched_refusal r);

/* A pod prepared for many nodes. */
struct sched_pod {
    const struct view_pod *view;
    const struct view_amount *requests; /* view_pod_requests */
    uint32_t nrequests;
};
void sched_pod_init(struct sched_pod *out, const struct view_pod *pod, struct arena *a);

void sched_node_init(struct sched_node *out, const struct view_node *node,
                     struct arena *a);
/* Adds or removes what a pod uses. */
void sched_node_add(struct sched_node *n, const struct sched_pod *p, struct arena *a);
void sched_node_remove(struct sched_node *n, const struct sched_pod *p, struct arena *a);

/* The first filter that refuses, in upstream's order. *detail says more ("cpu: wants 4, 2
 * of 8 are free", the taint), in a. Resources named in ignored (sorted; those that claims
 * provide) are not looked at. */
enum sched_refusal sched_filter(const struct sched_pod *p, const struct sched_node *n,
                                const struct view_strs *ignored, struct arena *a,
                                struct str *detail);

/* Pod toleration of a node taint. */
bool sched_tolerates(const struct view_toleration *t, const struct view_taint *taint);

#endif
