/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's two files about devices: dra_manager_state, which claims of which pods
 * were given to drivers, and dra_health_state, what drivers said about their devices.
 * Texts in, texts out; where they are kept is the caller's. Read with the leniency of
 * the kubelet's own reader, written so that it takes them.
 *
 * Source: spec 5.4 rule 7, 5.7 rules 5 and 6; golden/checkpoint.
 */
#ifndef DRAY_NODE_CHECKPOINT_H
#define DRAY_NODE_CHECKPOINT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct checkpoint_device {
    struct str pool, device;
    bool has_share_id;
    struct str share_id;
    const struct str *requests, *cdi_ids; /* no requests: of all of them */
    uint32_t nrequests, ncdi_ids;
};
struct checkpoint_driver {
    struct str name;
    const struct checkpoint_device *devices;
    const struct str *skipped; /* operations: "NodePrepareResources", "*", ... */
    uint32_t ndevices, nskipped;
};
struct checkpoint_claim {
    struct str uid, namespace, name;
    const struct str *pod_uids;
    const struct checkpoint_driver *drivers;
    uint32_t npods, ndrivers;
};
struct checkpoint {
    const struct checkpoint_claim *claims; /* in the order of the file */
    uint32_t n;
};

/* False: nothing in the file may be taken for true; it is to be set aside and told of
 * (the kubelet does not start). Texts live in a. */
bool checkpoint_read(struct str file, struct arena *a, struct checkpoint *out,
                     struct err *e);
/* Of two claims of one name the last counts; NULL: none. */
const struct checkpoint_claim *checkpoint_find(const struct checkpoint *c,
                                               struct str namespace, struct str name);
struct str checkpoint_print(const struct checkpoint *c, struct arena *a);

enum checkpoint_health { CHECKPOINT_UNKNOWN, CHECKPOINT_HEALTHY, CHECKPOINT_UNHEALTHY };
struct checkpoint_report {
    struct str driver, pool, device, message;
    enum checkpoint_health health;
    int64_t updated_s; /* Unix time, and nanoseconds */
    int32_t updated_ns;
    int64_t timeout_ns;
};
struct checkpoint_reports {
    const struct checkpoint_report *v;
    uint32_t n;
};

/* False: start with nothing, and tell of it. */
bool checkpoint_health_read(struct str file, struct arena *a,
                            struct checkpoint_reports *out, struct err *e);
/* Reports of one driver stand together, by pool and device. */
struct str checkpoint_health_print(const struct checkpoint_reports *r, struct arena *a);

#endif
