/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device driver whole: it finds devices, publishes them as ResourceSlices of its node,
 * prepares claims when a kubelet asks, and tells of the devices' health.
 *
 * The order of a start: the journal, the first discovery, recovery of what was prepared,
 * then the sockets; so a kubelet never meets a driver that does not know what it has. A
 * discovery that fails leaves what was found before as it is, and is tried again.
 */
#ifndef DRAY_DRIVER_DRIVER_H
#define DRAY_DRIVER_DRIVER_H

#include "driver/calls.h"
#include "driver/prepare.h"
#include "driver/publish.h"

struct driver;

struct driver_opts { /* texts outlive the driver; folders are whole paths */
    struct str driver, node;
    struct str kubelet_dir; /* "/var/lib/kubelet" */
    struct str cdi_dir;     /* "/var/run/cdi" */
    struct str instance;    /* UID of the pod it runs in, for rolling updates; or empty */
    const struct str *metadata_versions; /* none: no metadata files */
    uint32_t nmetadata_versions;
    uint64_t discover_ms; /* between looks by the clock; 0: 10 seconds */
    void (*log)(void *ctx, const char *text);
    void *log_ctx;
    void (*failed)(void *ctx); /* it cannot go on, as log has said; free it then */
    void *failed_ctx;
};

/* The back end is the driver's from here on, also when it is not to be had: NULL, and e
 * says why. */
struct driver *driver_new(struct client *c, struct driver_backend *b,
                          const struct driver_opts *o, struct err *e);
/* Containers keep what they have; slices stay; the sockets are removed. */
void driver_free(struct driver *d);

struct driver_state { /* for metrics and tests */
    bool serving, registered;
    struct driver_publish_status publish;
    struct driver_calls_count calls;
    uint64_t discoveries, discovery_failures;
};
struct driver_state driver_state(const struct driver *d);

#endif
