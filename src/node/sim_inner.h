/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulation: its nodes, what it keeps of objects, and its parts. */
#ifndef DRAY_NODE_SIM_INNER_H
#define DRAY_NODE_SIM_INNER_H

#include "base/map.h"
#include "client/informer.h"
#include "client/worker.h"
#include "node/sim.h"

struct sim_node {
    struct sim *sim;
    struct str name;
    const struct sim_shape *shape;
    uint32_t number; /* from 0, of all; its addresses come from it */
    bool asked;      /* it was registered, or found: not again */
    bool stands;     /* all of it was written once */
    struct client_call *renewal;
    uint64_t ips[4]; /* last bytes of addresses that pods have */
};

struct sim {
    struct client *client;
    struct sim_opts opts;
    struct arena arena; /* of the names */
    struct sim_node *nodes;
    uint32_t nnodes, nstanding;
    struct strmap by_name;           /* -> struct sim_node */
    struct informer *objects, *pods; /* objects: Nodes */
    struct worker *node_worker, *pod_worker;
    struct net_timer *beat;
    uint32_t next_beat;         /* the node whose lease is renewed next */
    struct net_server *kubelet; /* of all nodes; NULL: there are no logs */
    uint16_t kubelet_port;
    struct sim_log *logs; /* that are asked for at the moment */
};

/* NULL: it is none of ours. */
struct sim_node *sim_find(const struct sim *s, struct str name);
void sim_log(void *ctx, const char *text);
int64_t sim_now(void); /* seconds since 1970 */
struct str sim_time(bool micro, struct arena *a);
/* "10.B.C.D" of a node. */
struct str sim_node_ip(const struct sim_node *n, struct arena *a);

/* ---- what is kept of objects (sim_view.c) ---- */

struct sim_node_view {
    bool ready, lost;
    int64_t port;         /* where its kubelet listens; 0: nowhere */
    struct str unhealthy; /* names of devices with commas between; empty: none */
};

enum sim_phase { SIM_PENDING, SIM_RUNNING, SIM_OVER };

struct sim_container {
    struct str name, image;
    bool sidecar;
};

struct sim_pod_view {
    struct str node;
    enum sim_phase phase;
    bool deleted, node_claims_missing; /* a claim from a template is not made yet */
    int64_t deletion_s;                /* until when it may take, since 1970 */
    int64_t bound_s, started_s;        /* 0: not, or nobody said when */
    int64_t grace_s;                   /* that is granted from deletion_s back */
    int64_t run_s, start_s, stop_s;    /* run_s below zero: until it is deleted */
    int64_t exit_code, restarts;
    enum { SIM_ALWAYS, SIM_ON_FAILURE, SIM_NEVER } restart;
    uint8_t ip_end; /* last byte of its address; 0: it has none of ours */
    const struct sim_container *containers, *init;
    uint32_t ncontainers, ninit;
    const struct str *claims;
    uint32_t nclaims;
};

object_view_fn sim_node_view, sim_pod_view;

/* ---- nodes ---- */

work_fn sim_node_work; /* key: the node's name (sim_node.c) */
/* Slices as the shape has them; devices that are unhealthy have a taint (sim_slices.c).
 */
enum progress sim_publish(struct work *w, struct sim_node *n, const struct object *node);

/* ---- pods ---- */

work_fn sim_pod_work; /* key: "NAMESPACE/NAME" (sim_pod.c) */
/* All claims of the pod are allocated, reserved for it and prepared (sim_claim.c). */
enum progress sim_prepare(struct work *w, const struct object *pod);

/* ---- what API servers ask kubelets for (sim_logs.c) ---- */

/* Listens on a port of the loopback address, and sets it. */
bool sim_logs_open(struct sim *s, struct err *e);
void sim_logs_close(struct sim *s);

/* Bodies of patches of a pod's status (sim_status.c). */
struct doc sim_status_running(const struct object *pod, const struct sim_node *n,
                              uint8_t ip_end, int64_t restarts, struct arena *a);
/* code: with which all containers have ended. */
struct doc sim_status_over(const struct object *pod, int64_t code, struct arena *a);

#endif
