/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodGroups (scheduling.k8s.io/v1beta1, gate GenericWorkload; spec 7.12): pods that are
 * scheduled together, and of a gang all or none. What is known of each: its object, and
 * its pods, waiting and placed. Either may come first.
 */
#ifndef DRAY_SCHED_GROUPS_H
#define DRAY_SCHED_GROUPS_H

#include "base/map.h"
#include "sched/pod_info.h"

struct group_info { /* a PodGroup: the view of its object */
    bool gang;
    int64_t min_count; /* pods that must have a place, or none gets one; no gang: 1 */
    int64_t priority;
    bool whole; /* its pods are disrupted together or not at all */
};
/* An object_view_fn. */
const void *group_info_new(const struct doc *group, struct arena *a, struct err *e);
static inline const struct group_info *group_info_of(const struct object *group)
{
    return group->view;
}

struct pod_group {
    struct str key;        /* "NAMESPACE/NAME" */
    struct object *object; /* a reference; NULL: there is none (yet) */
    struct strmap pods;    /* id -> struct object, a reference: waiting or placed */
    bool busy;             /* it is being tried: who comes now has to wait */
    bool scheduled;        /* enough of it has had a place once */
};

struct groups {
    struct strmap by_key; /* -> struct pod_group */
};

void groups_fini(struct groups *g);
/* NULL: nothing is known of it. */
struct pod_group *groups_find(const struct groups *g, struct str key);
/* The pod's; NULL: it is in none, or nothing is known of it. */
struct pod_group *groups_of(const struct groups *g, const struct object *pod);
/* now NULL: it is gone. */
void groups_set_object(struct groups *g, const struct object *old,
                       const struct object *now);
/* A pod that waits or has a place, new or changed. Nothing happens to one in no group. */
void groups_set_pod(struct groups *g, struct object *pod);
void groups_remove_pod(struct groups *g, const struct object *pod);

/* It may be forgotten, if there is nothing of it; x may be gone. */
void groups_trim(struct groups *g, struct pod_group *x);

/* Why pods of the group may not be queued, or STR_NONE. */
struct str group_gate(const struct pod_group *g, struct str name, struct arena *a);

#endif
