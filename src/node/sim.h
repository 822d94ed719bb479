/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated nodes: they stand in the API as nodes with a kubelet and its drivers do, with
 * leases, status and ResourceSlices, and take the pods that are bound to them through the
 * motions: claims are prepared, containers run and end, pods go when they are deleted.
 * Nothing is executed. For development, tests and load; thousands of them in one process.
 *
 * What happens is said by annotations, of the node:
 *
 *   sim.dray.dev/lost: "true"            nothing is heard of it: no lease, no pod changes
 *   sim.dray.dev/unhealthy: "gpu-0,..."  these devices have a NoExecute taint
 *
 * and of the pod:
 *
 *   sim.dray.dev/run: 30s       its containers end after so long; so they do when their
 *                               command is `sleep 30` (30, 30s, 2m)
 *   sim.dray.dev/exit: "1"      and with which code; 0 when not given
 *   sim.dray.dev/start: 2s      how long it takes to start; 0 when not given
 *   sim.dray.dev/stop: 5s       how long it takes to stop, if its grace period allows
 *
 * Logs of containers, which say where they run and with which devices, are served on the
 * loopback address, so to API servers of the same machine.
 *
 * A node that somebody deletes stays away until the simulation is started again, as with
 * kubelets. All of it through client alone, so beside any API server.
 */
#ifndef DRAY_NODE_SIM_H
#define DRAY_NODE_SIM_H

#include "client/client.h"
#include "node/sim_shape.h"

struct sim;

enum { SIM_MAX_NODES = 20000 };

struct sim_group {
    const struct sim_shape *shape; /* outlives the simulation */
    const char *prefix;            /* nodes are PREFIX-1, PREFIX-2, ... */
    uint32_t n;
};

struct sim_opts { /* copied, but for what pointers lead to */
    const struct sim_group *groups;
    uint32_t ngroups;
    uint64_t renew_ms;        /* of each lease; 0: 10,000, as kubelets */
    bool silent_drivers;      /* drivers do not write the status of claims' devices */
    void (*ready)(void *ctx); /* all nodes stand; once; or NULL */
    void (*log)(void *ctx, const char *text); /* what goes wrong; or NULL */
    void *ctx;                                /* of both */
};

/* Starts at once. Errors: more nodes than SIM_MAX_NODES, names that come twice. */
struct sim *sim_new(struct client *c, const struct sim_opts *opts, struct err *e);
void sim_free(struct sim *s);

#endif
