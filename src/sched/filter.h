/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes may take a pod, devices aside: the filters of the scheduler that look at
 * one pod and one node (spec 7). Pure. Host ports, volumes and rules between pods are not
 * looked at.
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
    SCHED_NODE_NAME, /* the pod names another node */
    SCHED_CORDONED,
    SCHED_TAINT,
    SCHED_NODE_SELECTOR, /* nodeSelector */
    SCHED_AFFINITY,      /* required node affinity */
    SCHED_PODS,          /* the node takes no more pods */
    SCHED_RESOURCES,
    SCHED_REFUSALS
};

/* Why a node refuses; what is not of the refusal's kind is empty. */
struct sched_reason {
    enum sched_refusal refusal;
    const struct view_taint *taint;
    const struct view_label *label; /* SCHED_NODE_SELECTOR: the first that is not there */
    const struct str *have;         /* its value on the node, NULL: no such label */
    const struct view_amount *want; /* SCHED_RESOURCES */
    bool none;                      /* the node has none of the resource at all */
    struct quantity total, used;
};
/* "the node is cordoned", "the node has the taint gpu=yes:NoSchedule", ... */
struct str sched_reason_print(const struct sched_reason *r, struct arena *a);
/* Reasons that one change would remove on both nodes. */
bool sched_reason_same(const struct sched_reason *a, const struct sched_reason *b);

/* A pod prepared for many nodes. */
struct sched_pod {
    const struct view_pod *view;
    const struct view_amount *requests; /* view_pod_requests */
    uint32_t nrequests;
};
void sched_pod_init(struct sched_pod *out, const struct view_pod *pod, struct arena *a);

void sched_node_init(struct sched_node *out, const struct view_node *node,
                     struct arena *a);
/* Adds what a pod uses. */
void sched_node_add(struct sched_node *n, const struct sched_pod *p, struct arena *a);

/* The first filter that refuses, in upstream's order. Resources named in ignored (those
 * that claims provide) are not looked at. CPU, memory, ephemeral storage and pods that a
 * node does not state are taken as without limit (files written by hand leave them out);
 * of every other resource it then has none. */
bool sched_filter(const struct sched_pod *p, const struct sched_node *n,
                  const struct view_strs *ignored, struct arena *a,
                  struct sched_reason *why);

/* Whether the taint keeps a pod with these tolerations away (NoSchedule, NoExecute). */
bool sched_taint_refuses(const struct view_taint *taint,
                         const struct view_toleration *tolerations, uint32_t n);

/* Whether a cordoned node refuses it. */
bool sched_cordon_refuses(const struct view_pod *p, const struct view_node *n);
/* nodeSelector and required node affinity. */
bool sched_selects(const struct view_pod *p, const struct view_node *n);

#endif
