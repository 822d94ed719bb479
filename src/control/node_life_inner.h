/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the node life cycle: node_life.c knows who is alive, node_life_status.c
 * writes what that means for conditions and pods, node_life_taints.c for taints.
 */
#ifndef DRAY_CONTROL_NODE_LIFE_INNER_H
#define DRAY_CONTROL_NODE_LIFE_INNER_H

#include "base/map.h"
#include "client/index.h"
#include "control/node_life.h"

enum { NODE_LIFE_NODES, NODE_LIFE_LEASES, NODE_LIFE_PODS };

struct node_health {
    char *name;
    uint64_t seen_ms; /* when it last gave a sign of life */
    char *heartbeat;  /* of its condition Ready, as it was then */
};

struct zone {
    char *name;
    uint64_t next_ms; /* before which no other node of it is tainted */
};

struct node_life {
    struct strmap health; /* node -> struct node_health */
    struct strmap zones;  /* "REGION/ZONE" -> struct zone */
    struct index pods_by_node;
    bool all_down; /* no node was ready when it was last looked */
};

static inline struct node_life *node_life_of(const struct work *w)
{
    return reconciler_state(reconciler_of(w));
}
const struct doc *node_condition(const struct doc *node, const char *type); /* or NULL */
/* "True", "False", "Unknown"; "": the node never said. */
struct str node_ready(const struct doc *node);
/* The same second for all of the work. */
struct str node_life_now(struct work *w);

/* Conditions that a kubelet would post become Unknown. */
enum progress node_life_lose(struct work *w, const struct object *node);
/* The pod is not ready: its node is not. */
enum progress node_life_mark_pod(struct work *w, const struct object *pod);
/* Taints as its conditions say. Sets again_ms when some have to wait. */
enum progress node_life_taint(struct work *w, const struct object *node);

#endif
