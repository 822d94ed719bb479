/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back ends that find devices (device.h has their interface). Each looks below a root
 * of the file system, so that a copied tree of another machine serves as one.
 */
#ifndef DRAY_DRIVER_DISCOVER_H
#define DRAY_DRIVER_DISCOVER_H

#include "driver/device.h"

struct driver_discover_opts { /* texts outlive the back end */
    struct str driver; /* "gpu.example.com": the domain of the taints that are set */
    struct str root;   /* holds /sys, /dev and /proc; empty: those of this machine */
    /* numaNode and pcieRoot as lists: the server's gate DRAListTypeAttributes is on. */
    bool lists;
};

/* Devices that a file describes (dray-devices(5), examples/devices). It is read anew at
 * each discovery; one that has become wrong is an error of that discovery. NULL: it
 * cannot be read; e names line, field and what would be right. */
struct driver_backend *driver_backend_file_new(const char *path,
                                               const struct driver_discover_opts *o,
                                               struct err *e);

/* GPUs of NVIDIA and their MIG instances, named and described as gpu.nvidia.com has them.
 * library NULL: libnvidia-ml.so.1 of the system. NULL: there is no driver of NVIDIA. */
struct driver_backend *driver_backend_nvml_new(const char *library,
                                               const struct driver_discover_opts *o,
                                               struct err *e);

/* By sysfs: network interfaces and RDMA devices as dra.net has them, GPUs of AMD and
 * Intel as gpu.amd.com and gpu.intel.com, TPUs as tpu.google.com. */
struct driver_backend *driver_backend_net_new(const struct driver_discover_opts *o);
struct driver_backend *driver_backend_amd_new(const struct driver_discover_opts *o);
struct driver_backend *driver_backend_intel_new(const struct driver_discover_opts *o);
struct driver_backend *driver_backend_tpu_new(const struct driver_discover_opts *o);

/* Several as one, in their order; they are its own from here on. A device belongs to the
 * back end that found it. Two devices of one name: that of the later back end is an error
 * of the discovery. */
struct driver_backend *driver_backend_all_new(struct driver_backend *const *v,
                                              uint32_t n);
void driver_backend_free(struct driver_backend *b); /* NULL is fine */

/* A file of devices (NULL: none) and back ends by their names, "nvml,net,amd,intel,tpu"
 * (or some of these; NULL: none), as one. */
struct driver_backend *driver_backend_new(const char *names, const char *file,
                                          const struct driver_discover_opts *o,
                                          struct err *e);

#endif
