/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the back ends share: a discovery that grows, device by device and attribute by
 * attribute, and where a device is in the machine. Everything lives in the arena of the
 * discovery.
 */
#ifndef DRAY_DRIVER_FOUND_H
#define DRAY_DRIVER_FOUND_H

#include "base/vec.h"
#include "driver/discover.h"
#include "driver/sysfs.h"

struct found_device { /* under work */
    struct driver_device device;
    VEC(struct driver_attribute) attributes;
    VEC(struct driver_capacity) capacities;
    VEC(struct driver_counter_set) consumes;
    VEC(struct driver_taint) taints;
    VEC(struct cdi_node) nodes;
    VEC(struct str) env;
};
struct found {
    struct arena *a;
    const struct driver_discover_opts *opts;
    struct sysfs sysfs; /* below the root of opts */
    VEC(struct driver_device) devices;
    VEC(struct driver_counter_set) counters;
};

void found_init(struct found *f, const struct driver_discover_opts *o, struct arena *a);
/* Healthy, with nothing else. Texts are borrowed here and below. */
struct found_device found_begin(struct str name, struct str identity);
void found_add(struct found *f, struct found_device *d);
struct driver_inventory found_inventory(const struct found *f);

/* An empty text is not published, nor is a version that is none: "535.104.05" becomes
 * "535.104.5", what has fewer parts is filled with zeros. */
void found_text(struct found *f, struct found_device *d, const char *name, struct str s);
void found_int(struct found *f, struct found_device *d, const char *name, int64_t n);
void found_bool(struct found *f, struct found_device *d, const char *name, bool b);
void found_version(struct found *f, struct found_device *d, const char *name,
                   struct str s);
/* One in each, where lists are wanted; else the first. n > 0. */
void found_ints(struct found *f, struct found_device *d, const char *name,
                const int64_t *v, uint32_t n);
void found_texts(struct found *f, struct found_device *d, const char *name,
                 const struct str *v, uint32_t n);
void found_capacity(struct found *f, struct found_device *d, const char *name,
                    struct str quantity);
void found_capacity_int(struct found *f, struct found_device *d, const char *name,
                        int64_t n);
void found_taint(struct found *f, struct found_device *d, const char *name,
                 struct str value, const char *effect); /* "DRIVER/NAME" */
void found_node(struct found *f, struct found_device *d, const char *path_fmt, ...)
    __attribute__((format(printf, 3, 4)));
void found_env(struct found *f, struct found_device *d, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "189471Mi", or "...Ki" for what is no whole number of these. */
struct str found_bytes(struct found *f, uint64_t n);

/* ---- a back end that looks into sysfs ---- */

struct found_backend {
    struct driver_backend base;
    struct driver_discover_opts opts;
    int watch; /* of the kernel's events; -1: none, as below a root */
};

struct driver_backend *found_backend_new(const struct driver_backend_ops *ops,
                                         const struct driver_discover_opts *o);
/* For its ops. */
void found_backend_free(struct driver_backend *b);
int found_backend_watch(struct driver_backend *b);
/* A discovery begins. */
void found_backend_begin(struct driver_backend *b, struct arena *a, struct found *f);

/* ---- pci_names.c: by the database of PCI names; without it the numbers ("0x10de") ----
 */

void pci_names(const struct found *f, long vendor, long device, struct str *vendor_name,
               struct str *device_name);

/* ---- topology.c: standard attributes (spec 5.11) ---- */

/* "00000000:A1:00.0" and the like as "0000:a1:00.0"; empty: it is none. */
struct str topology_address(struct str text, struct arena *a);
/* pciBusID, pcieRoot and numaNode of resource.kubernetes.io, as far as they are known. */
void topology_pci(struct found *f, struct found_device *d, struct str address);
struct str topology_root(const struct found *f, struct str address); /* "pci0000:10" */
int64_t topology_numa(const struct found *f, struct str address);    /* -1: unknown */
/* The node alone, or as a list it and those nearest to it on its socket. */
void topology_numa_node(struct found *f, struct found_device *d, int64_t node);

#endif
