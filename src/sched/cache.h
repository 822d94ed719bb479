/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and the pods on them, as the scheduler knows them: what informers told, and pods
 * that it has placed itself and that the server is yet to confirm (assumed). Kept by
 * deltas; since attempts run in one turn of the loop, the cache is its own snapshot.
 *
 * A pod counts from cache_assume or from when it is seen with a node until it is gone,
 * finished, or forgotten. It may be on a node that is not known yet: such a node takes
 * no part until it is.
 */
#ifndef DRAY_SCHED_CACHE_H
#define DRAY_SCHED_CACHE_H

#include "base/map.h"
#include "base/vec.h"
#include "sched/filter.h"
#include "sched/node_info.h"
#include "sched/pod_info.h"

struct node;

struct node_pod {          /* a pod on a node */
    struct object *object; /* a reference */
    const struct pod_info *info;
    struct node *node;
    uint32_t at;  /* in node->pods */
    bool assumed; /* by this scheduler; not seen with its node yet */
};

struct node {
    struct sched_node base; /* base.view: what plugins of devices look at */
    struct object *object;  /* a reference; NULL: the node is not known */
    const struct node_info *info;
    struct str name;     /* owned */
    uint32_t index;      /* among cache.nodes, while it is known */
    uint64_t generation; /* of the cache when this node last changed */
    struct usage used;
    int64_t score_cpu, score_memory; /* with defaults, as scores want them */
    VEC(struct node_pod *) pods;
    uint32_t nports, naffine, nanti; /* pods with host ports, with rules about pods, with
                                        required anti-affinity */
};

struct cache {
    VEC(struct node *) nodes;  /* that are known, in no order */
    struct strmap by_name;     /* name -> struct node, unknown ones too */
    struct strmap pods;        /* uid -> struct node_pod */
    struct strmap image_nodes; /* image name -> how many nodes have it */
    uint64_t generation;
    uint32_t naffine, nanti; /* pods with rules about pods; with required anti-affinity */
};

void cache_init(struct cache *c);
void cache_fini(struct cache *c);

/* A node is there, or has changed; a reference is taken. */
void cache_set_node(struct cache *c, struct object *node);
void cache_remove_node(struct cache *c, struct str name);
/* NULL: not known. */
struct node *cache_find_node(const struct cache *c, struct str name);

/* A pod that has a node, new or changed; confirms an assumed one. Takes a reference. */
void cache_set_pod(struct cache *c, struct object *pod);
/* false: there is none. */
bool cache_remove_pod(struct cache *c, struct str uid);
/* Counts the pod on a node from now on. The pod is not in the cache yet. */
void cache_assume(struct cache *c, struct object *pod, struct node *n);
/* NULL: not in the cache. */
struct node_pod *cache_find_pod(const struct cache *c, struct str uid);

/* Takes a pod off its node and puts it back, for questions of what if. Whatever is asked,
 * in the end everything is back. */
void cache_detach(struct cache *c, struct node_pod *p);
void cache_attach(struct cache *c, struct node_pod *p);

#endif
