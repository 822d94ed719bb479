/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt to find a node for a pod (spec 7.0.8-9): every plugin's filter for nodes,
 * then every plugin's score for those that pass. In one turn of the loop; the world does
 * not change meanwhile, but in what-if questions, which leave it as it was.
 */
#ifndef DRAY_SCHED_CYCLE_H
#define DRAY_SCHED_CYCLE_H

#include "sched/plugin.h"
#include "sched/profile.h"
#include "sched/world.h"

struct pod_affinity; /* what PreFilter and PreScore of these plugins found */
struct spread;
struct volumes;

struct cycle {
    struct world *world;
    const struct profile *profile;
    struct object *pod; /* borrowed */
    const struct pod_info *info;
    struct arena *a;       /* of all that the attempt makes */
    struct dra_cycle *dra; /* NULL: without devices */
    plugin_set skip;       /* plugins whose filter has nothing to say */
    /* Nodes that the pod is tied to by name; NULL: any. */
    const struct view_strs *only;
    struct pod_affinity *affinity;
    struct spread *spread;
    struct volumes *volumes;
    struct node **fits; /* that passed all filters */
    uint32_t nfits;

    /* ---- the outcome ---- */

    enum sched_code code;
    struct node *node; /* SUCCESS: the one chosen */
    /* UNSCHEDULABLE, UNRESOLVABLE: who refused, and "0/3 nodes are available: ..."
     * without what PostFilter adds. ERROR: what went wrong. */
    plugin_set rejected_by;
    struct str message;
    uint8_t *codes; /* of enum sched_code: what each node said, by its index */
    uint32_t evaluated;
};

/* pod and w outlive it; the arena too. */
void cycle_init(struct cycle *c, struct world *w, const struct profile *p,
                struct object *pod, struct arena *a);
/* The same of a pod that is tried with its group; NULL: alone. */
void cycle_init_in(struct cycle *c, struct world *w, const struct profile *p,
                   struct object *pod, struct dra_group *group, struct arena *a);
void cycle_fini(struct cycle *c);
/* The devices' part alone lives on, while the pod is bound; NULL: it has none. */
struct dra_cycle *cycle_take_devices(struct cycle *c);

/* Fills the outcome. */
void cycle_run(struct cycle *c);

/* ---- for preemption ---- */

/* All filters for one node, nominated pods of no less priority counted as if there. */
struct sched_status cycle_filter(struct cycle *c, struct node *n, plugin_set *by);
/* Takes a pod off its node, or puts it back, for what filters find. */
void cycle_move(struct cycle *c, struct node_pod *p, int sign);
/* The same where the cache has it already: of what the cycle's plugins found alone. */
void cycle_moved(struct cycle *c, const struct node_pod *p, int sign);

/* "0/3 nodes are available: 1 x, 2 y." of reasons counted by text. */
struct str cycle_message(uint32_t nodes, const struct strmap *reasons, struct arena *a);

#endif
