/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's plugins as one table, in upstream's order (spec 7.0.1): what each does
 * at the points of an attempt (cycle.h), what it weighs, and which events may help a pod
 * that it rejected.
 */
#ifndef DRAY_SCHED_PLUGIN_H
#define DRAY_SCHED_PLUGIN_H

#include "client/object.h"
#include "sched/status.h"

struct cycle;
struct node;

enum plugin_id {
    PLUGIN_GATES,
    PLUGIN_NODE_NAME,
    PLUGIN_CORDON,
    PLUGIN_TAINTS,
    PLUGIN_NODE_AFFINITY,
    PLUGIN_PORTS,
    PLUGIN_RESOURCES,
    PLUGIN_DISKS,
    PLUGIN_VOLUME_LIMITS,
    PLUGIN_VOLUMES,
    PLUGIN_VOLUME_ZONE,
    PLUGIN_SPREAD,
    PLUGIN_POD_AFFINITY,
    PLUGIN_DEVICES,
    PLUGIN_PREEMPTION,
    PLUGIN_BALANCE,
    PLUGIN_IMAGES,
    PLUGIN_BINDER,
    PLUGIN_GANG,
    PLUGINS
};

/* A bit of enum plugin_id each. */
typedef uint32_t plugin_set;
#define PLUGIN_BIT(id) ((plugin_set)1 << (id))

/* ---- events: what happened that may help ---- */

enum sched_event_kind { /* upstream's ClusterEvent, as far as plugins tell them apart */
                        EVENT_NODE_ADDED,
                        EVENT_NODE_ALLOCATABLE,
                        EVENT_NODE_LABELS,
                        EVENT_NODE_TAINTS, /* and spec.unschedulable */
                        EVENT_NODE_FEATURES,
                        EVENT_NODE_REMOVED,
                        EVENT_POD_WAITS,   /* a pod without a node is new */
                        EVENT_POD_PLACED,  /* a pod with a node is new */
                        EVENT_POD_LABELS,  /* of a pod with a node */
                        EVENT_POD_SCALED,  /* it needs less than it did */
                        EVENT_POD_REMOVED, /* a pod with a node is gone, or has finished,
                                              or was forgotten */
                        EVENT_SELF, /* the waiting pod itself was changed; told to it
                                       alone */
                        EVENT_NAMESPACE_LABELS,
                        EVENT_VOLUME, /* claim, volume, storage class or CSINode: new or
                                         changed */
                        EVENT_CLAIM,  /* of devices; the plugin's own events: dra_hint
                                         decides */
                        EVENT_DEVICE_CLASS,
                        EVENT_SLICE,
                        EVENT_GROUP, /* a PodGroup is new (old NULL), was changed, or may
                                        be tried again (old NULL) */
                        EVENT_TIMEOUT, /* it has waited for five minutes */
                        EVENT_KINDS
};
#define EVENT_BIT(kind) ((uint32_t)1 << (kind))

struct sched_event {
    enum sched_event_kind kind;
    const struct object *old, *now; /* as the informer tells; borrowed */
    const void *more;               /* EVENT_CLAIM and on: a struct dra_event */
};
/* As upstream's metrics call it: "AssignedPodAdd". */
const char *sched_event_name(enum sched_event_kind kind);

/* ---- the table ---- */

/* Whether the event may make this pod schedulable, which the plugin has rejected. */
typedef bool plugin_hint_fn(void *sched, const struct object *pod,
                            const struct sched_event *e);

struct plugin {
    const char *name;     /* upstream's */
    int32_t weight;       /* of its score; 0: it has none */
    uint32_t events;      /* bits that it is asked about; EVENT_TIMEOUT is for all */
    plugin_hint_fn *hint; /* NULL: each of those events may help */
    /* Before all nodes; SKIP: filter need not be called. Or NULL. */
    struct sched_status (*pre_filter)(struct cycle *c);
    struct sched_status (*filter)(struct cycle *c, const struct node *n);
    /* A pod comes to (sign 1) or goes from a node, in what pre_filter found. Or NULL. */
    void (*moved)(struct cycle *c, const struct object *pod, const struct node *n,
                  int sign);
    /* Before all scores; false: it has nothing to say. Or NULL: it always has. */
    bool (*pre_score)(struct cycle *c);
    int64_t (*score)(struct cycle *c, const struct node *n);
    /* Brings all scores to 0 - 100. NULL: they are. */
    void (*normalize)(struct cycle *c, int64_t *scores, uint32_t n);
};
extern const struct plugin plugin_table[PLUGINS];
/* PLUGINS: there is none of that name. */
enum plugin_id plugin_find(struct str name);

/* ---- what statuses are made of ---- */

static inline struct sched_status status_ok(void)
{
    return (struct sched_status){SCHED_SUCCESS, {0}};
}
static inline struct sched_status status_skip(void)
{
    return (struct sched_status){SCHED_SKIP, {0}};
}
/* reason: lives as long as the status. */
static inline struct sched_status status_no(enum sched_code code,
                                            const struct str *reason)
{
    return (struct sched_status){code, {reason, 1}};
}

#endif
