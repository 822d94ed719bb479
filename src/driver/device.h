/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver has to offer, and one interface for whoever finds it. A back end finds
 * devices (discover.h); the publisher makes slices of them (publish.h); prepare asks the
 * back end for what a container needs to use one (prepare.h).
 *
 * An inventory is a value in its arena, made whole at each discovery and never changed
 * after; a device is known by its identity (UUID, PCI address, serial number), which
 * outlives a reboot. Its name in the pool is made of what the vendor's own driver takes.
 */
#ifndef DRAY_DRIVER_DEVICE_H
#define DRAY_DRIVER_DEVICE_H

#include "driver/cdi.h"

enum driver_value_kind {
    DRIVER_STRING,
    DRIVER_INT,
    DRIVER_BOOL,
    DRIVER_VERSION,
    DRIVER_STRINGS, /* lists: with the server's gate DRAListTypeAttributes */
    DRIVER_INTS,
    DRIVER_BOOLS,
    DRIVER_VERSIONS,
};
struct driver_value {
    enum driver_value_kind kind;
    struct str text; /* string, version */
    int64_t number;  /* int, bool as 0 and 1 */
    const struct str *texts;
    const int64_t *numbers;
    uint32_t n; /* of a list */
};
struct driver_attribute {
    struct str name; /* "productName", or "resource.kubernetes.io/pcieRoot" */
    struct driver_value value;
};
struct driver_policy { /* requestPolicy of a consumable capacity; texts are quantities */
    struct str preset; /* default */
    const struct str *values; /* validValues */
    uint32_t nvalues;
    struct str min, max, step; /* validRange, if min is not empty */
};
struct driver_capacity {
    struct str name, quantity;
    const struct driver_policy *policy; /* NULL: none */
};
struct driver_counter {
    struct str name, quantity;
};
struct driver_counter_set { /* shared counters, and what a device consumes of them */
    struct str name;
    const struct driver_counter *counters;
    uint32_t n;
};
struct driver_taint {
    struct str key, value, effect;
    int64_t since_s; /* Unix time; 0: now, or what is published for the same taint */
};
enum driver_health { DRIVER_UNKNOWN, DRIVER_HEALTHY, DRIVER_UNHEALTHY };

struct driver_device {
    struct str name, identity;
    const struct driver_attribute *attributes;
    const struct driver_capacity *capacities;
    const struct driver_counter_set *consumes;
    const struct driver_taint *taints;
    uint32_t nattributes, ncapacities, nconsumes, ntaints;
    bool shared;               /* allowMultipleAllocations */
    enum driver_health health; /* as of discovery */
    struct str health_message;
    struct cdi_edits edits; /* what every container gets that uses it */
    const void *own;        /* the back end's */
};
struct driver_inventory {
    const struct driver_device *devices; /* in the order of their publication */
    const struct driver_counter_set *counters;
    uint32_t ndevices, ncounters;
};
/* NULL: none */
const struct driver_device *driver_inventory_find(const struct driver_inventory *v,
                                                  struct str name);

/* Nothing that is published or watched differs; edits and what is the back ends' own may.
 */
bool driver_inventory_same(const struct driver_inventory *a,
                           const struct driver_inventory *b);

/* ---- use of one device by one claim ---- */

struct driver_use {
    const struct driver_device *device;
    struct str claim_uid, request; /* the request's name, "req" or "req/sub" */
    struct str share_id;           /* "" unless the device is shared */
    bool admin;                    /* adminAccess: beside whoever holds it */
    /* Opaque parameters for this driver and request: of the class first, then of the
     * claim, in their order; the last word wins. */
    const struct doc *const *configs;
    uint32_t nconfigs;
    const struct driver_counter *consumed; /* consumedCapacity */
    uint32_t nconsumed;
};

/* What is taken back: a use that was prepared, or whose preparation was cut short. */
struct driver_undo {
    struct str identity, device; /* the name that it last had */
    struct str claim_uid, share_id, state;
    bool admin;
    bool last; /* no other claim uses the device, administrators aside */
    /* It may have been made in part, or whole with its state unsaid; or not at all. */
    bool cut_short;
};

/* ---- whoever finds devices ---- */

struct driver_backend;
struct driver_backend_ops {
    const char *name; /* "nvml", "file", ... */
    void (*free)(struct driver_backend *b);
    /* All there is now, in a. Order and names are the same for the same hardware. */
    bool (*discover)(struct driver_backend *b, struct arena *a,
                     struct driver_inventory *out, struct err *e);
    /* A descriptor that becomes readable when a new discovery is wanted, until there was
     * one; the same one always, and the back end's. -1, or NULL: there is none. Not all
     * that changes is told; so the caller asks by the clock as well, more rarely. */
    int (*watch)(struct driver_backend *b);
    /* The configuration is good for this device; else e says field, value and what
     * would be right. Nothing is changed. NULL: no configuration is taken. */
    bool (*check)(struct driver_backend *b, const struct driver_use *u, struct err *e);
    /* Makes it true on the device (a partition, a time slice, ...), whether or not it
     * was before, and adds to edits, in a; they begin as the device's own, whose arrays
     * are not written into. *state: what unprepare has to know, kept in
     * the journal (JSON, or empty). NULL: the device's own edits are enough. */
    bool (*prepare)(struct driver_backend *b, const struct driver_use *u, struct arena *a,
                    struct cdi_edits *edits, struct str *state, struct err *e);
    /* Takes it back; yes to what is not so. The device may be gone. */
    bool (*unprepare)(struct driver_backend *b, const struct driver_undo *u,
                      struct err *e);
};
struct driver_backend {
    const struct driver_backend_ops *ops;
};

#endif
