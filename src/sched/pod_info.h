/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Pod as the scheduler sees it: the view of its object (client/object.h), made once a
 * version. Immutable, in the object's arena.
 */
#ifndef DRAY_SCHED_POD_INFO_H
#define DRAY_SCHED_POD_INFO_H

#include "api/view_pod.h"
#include "client/object.h"
#include "sched/resources.h"
#include "sched/selector.h"

struct host_port {
    struct str ip; /* "0.0.0.0": all of them */
    struct str protocol;
    int64_t port;
};

/* One rule of pod affinity or anti-affinity. */
struct pod_term {
    struct selector pods;
    struct view_strs namespaces; /* none, and no selector: the pod's own */
    struct selector namespace_selector;
    bool any_namespace; /* namespace_selector is empty: all of them */
    struct str topology_key;
    int64_t weight; /* of a preference */
};
struct pod_terms {
    const struct pod_term *v;
    uint32_t n;
};

struct spread_rule { /* topologySpreadConstraints[] */
    int64_t max_skew, min_domains;
    struct str topology_key;
    struct selector pods; /* matchLabelKeys are in it */
    bool hard;            /* DoNotSchedule */
    bool any_affinity;    /* nodeAffinityPolicy Ignore */
    bool honor_taints;    /* nodeTaintsPolicy Honor */
};

struct preferred_node {
    struct view_term term;
    int64_t weight;
};

struct pod_volume {
    struct str name;
    struct str claim;  /* of persistentVolumeClaim, or made for an ephemeral volume */
    bool ephemeral;    /* the claim must be the pod's own */
    struct str device; /* "gcePersistentDisk NAME" and such: one node's at a time */
    bool read_only;
    bool shareable; /* with read_only: by several nodes */
};

struct pod_info {
    const struct view_pod *pod;
    struct labels labels;
    struct str scheduler; /* schedulerName */
    struct str nominated; /* status.nominatedNodeName */
    struct str group;     /* of scheduling: a PodGroup */
    int64_t priority;
    bool may_preempt; /* preemptionPolicy is not Never */
    bool gated;       /* schedulingGates */
    struct resources need;
    int64_t score_cpu, score_memory; /* with defaults for containers that say nothing */
    const struct host_port *ports;
    uint32_t nports;
    struct pod_terms affinity, anti_affinity;            /* required */
    struct pod_terms preferred_affinity, preferred_anti; /* with weights */
    const struct spread_rule *spread;
    uint32_t nspread;
    const struct preferred_node *preferred_nodes;
    uint32_t npreferred_nodes;
    const struct str *images; /* normalized; one a container, init ones and volumes too */
    uint32_t nimages;
    const struct pod_volume *volumes; /* those that matter to scheduling */
    uint32_t nvolumes;
    struct str started; /* status.startTime, or when it was created */
};

/* An object_view_fn. */
const void *pod_info_new(const struct doc *pod, struct arena *a, struct err *e);
static inline const struct pod_info *pod_info_of(const struct object *pod)
{
    return pod->view;
}
/* topologySpreadConstraints; pod: the labels that matchLabelKeys take values from, NULL:
 * none. */
const struct spread_rule *spread_rules_read(struct view_reader *r, const struct doc *list,
                                            const struct labels *pod, uint32_t *n);
/* What a pod is known by: it outlives the name. */
static inline struct str pod_id(const struct object *pod)
{
    return pod->uid.n ? pod->uid : pod->key;
}
/* It has rules about other pods, of whatever kind. */
bool pod_info_has_affinity(const struct pod_info *p);
/* "image" -> "image:latest" */
struct str image_normalize(struct str image, struct arena *a);

#endif
