/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the ResourceSlices of a driver on a node as its inventory has them. What is there
 * is asked of the server each time (a live list, no cache), and made right: on a new
 * inventory, on whatever somebody else does to the slices, and by the clock, at moments
 * that differ between nodes. So nothing that happens unseen stays so for long: not the
 * kubelet, which removes all slices at its start, and not a slice that is made and
 * deleted faster than a watch tells.
 *
 * What others wrote into the metadata of a slice is kept; its spec is the driver's. A
 * server that drops fields (old, or with a gate off) is told of once and left in peace
 * until the next inventory. Of resource.k8s.io the newest version is spoken that the
 * server has: v1, v1beta2, v1beta1.
 *
 * On the client's loop, as all of its users.
 *
 * Source: spec 5.7.7, 5.8; cases.md C10.
 */
#ifndef DRAY_DRIVER_PUBLISH_H
#define DRAY_DRIVER_PUBLISH_H

#include "client/client.h"
#include "driver/device.h"

struct driver_publish;

struct driver_publish_opts { /* copied */
    struct str driver, node;
    struct str pool;    /* empty: the node's name */
    uint64_t look_ms;   /* by the clock: after one to one and a half times this; 0: 5
                         * minutes */
    uint64_t settle_ms; /* what others do is looked at so long after; 0: 1 second */
    uint64_t seed;      /* of the moments; 0: of the node's name */
    void (*log)(void *ctx, const char *text); /* one line, without its end; or NULL */
    void *log_ctx;
};

/* Does nothing before driver_publish_set. */
struct driver_publish *driver_publish_new(struct client *c,
                                          const struct driver_publish_opts *o);
/* The slices stay where they are. No callback follows. */
void driver_publish_free(struct driver_publish *p);

/* What is there from now on; v is not looked at again. No devices: one empty slice, which
 * says that the driver runs. */
void driver_publish_set(struct driver_publish *p, const struct driver_inventory *v);

struct driver_publish_status {
    const char *version; /* "v1"; "": the server was not reached yet */
    bool settled;        /* at the last look everything was as the inventory has it */
    uint32_t devices, slices; /* that are wanted */
    int64_t generation;       /* of the pool, as last seen or written */
    uint64_t looks, created, updated, deleted, failed; /* since the start */
    uint64_t mended;     /* looks that found the work of others */
    const char *trouble; /* of the last look; "" none */
    const char *dropped; /* fields that the server does not keep: "..."; "" none */
};
/* Texts are valid until the loop's next round. */
struct driver_publish_status driver_publish_status(const struct driver_publish *p);

#endif
