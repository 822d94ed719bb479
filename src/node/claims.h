/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of the pods of this node: drivers are asked to prepare them before a pod's
 * containers start, and to take that back when they have ended. What drivers were asked,
 * for which pods, is in a file (checkpoint.h) before they are, so that nothing of it is
 * forgotten, whatever ends the process.
 *
 * All of it on one loop. Callbacks come from the loop.
 *
 * Source: spec 5.5, 5.6 rule 1, 5.7 rules 1 to 6.
 */
#ifndef DRAY_NODE_CLAIMS_H
#define DRAY_NODE_CLAIMS_H

#include "client/client.h"
#include "doc/doc.h"
#include "node/checkpoint.h"
#include "node/plugins.h"

struct node_claims;

struct node_claims_opts { /* all of it outlives the claims */
    struct client *client;
    struct plugins *plugins;
    const char *dir;          /* of the file: "/var/lib/kubelet" */
    bool groups;              /* feature DRAWorkloadResourceClaims */
    bool optional_operations; /* feature DRAOptionalNodeOperations */
    /* Whether this node has a pod of that UID that is to run, or is not over. */
    bool (*is_active)(void *ctx, struct str pod_uid);
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *ctx;                                /* of both */
    uint64_t sweep_ms;                        /* 0: 60,000 */
};

/* A damaged file is set aside and told of: nothing of it is taken for true. Errors: the
 * file can be neither read nor written. */
struct node_claims *node_claims_new(const struct node_claims_opts *o, struct err *e);
/* Tasks are dropped, and nobody is told. */
void node_claims_free(struct node_claims *c);
/* All pods of the node are known by now: from here on what those have left behind that
 * are not active is taken back, every minute. */
void node_claims_sweep(struct node_claims *c);

/* ---- tasks ---- */

struct node_claims_task;
/* why NULL: it is done; else it is to be tried again, and why is a text that users see.
 * The task is gone. */
typedef void node_claims_done(void *ctx, const struct err *why);

/* pod: an object of v1, copied. Every claim of it is prepared, by every driver that has a
 * part in it. Claims that are prepared since this process started are not asked for
 * again. */
struct node_claims_task *node_claims_prepare(struct node_claims *c, const struct doc *pod,
                                             node_claims_done *done, void *ctx);
/* After all containers have ended. What was prepared for the pod is known by its UID;
 * claims that other pods use stay prepared. */
struct node_claims_task *node_claims_unprepare(struct node_claims *c, struct str pod_uid,
                                               node_claims_done *done, void *ctx);
/* No callback follows. What drivers were asked stays written down. */
void node_claims_task_cancel(struct node_claims_task *t);

/* ---- what is known ---- */

/* Drivers may hold something for that pod: it is not over. */
bool node_claims_has_pod(const struct node_claims *c, struct str pod_uid);

struct node_claims_devices {
    const struct str *ids; /* of CDI: "vendor/class=name" */
    uint32_t n;
};
/* What a container of the pod is to be given; in the arena. Errors: a claim that is not
 * prepared. */
bool node_claims_container_devices(const struct node_claims *c, const struct doc *pod,
                                   const struct doc *container, struct arena *a,
                                   struct node_claims_devices *out, struct err *e);

/* A device of a prepared claim, and the UIDs of the pods that use it. */
typedef void node_claims_each_fn(void *ctx, struct str driver,
                                 const struct checkpoint_device *d,
                                 const struct str *pods, uint32_t npods);
/* Every device of a claim, or (name empty) of all claims, which each must not change.
 * False: there is no such claim. */
bool node_claims_each_device(const struct node_claims *c, struct str namespace,
                             struct str name, node_claims_each_fn *each, void *ctx);

#endif
