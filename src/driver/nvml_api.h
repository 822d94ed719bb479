/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVIDIA's management library that is used here, as its public documentation
 * declares it. The library belongs to the installed kernel driver, so it is opened at run
 * time. Functions return 0, or an error that error_string explains.
 */
#ifndef DRAY_DRIVER_NVML_API_H
#define DRAY_DRIVER_NVML_API_H

#include <stdint.h>

#include "base/err.h"

typedef struct nvml_device_private *nvml_device;
typedef struct nvml_instance_private *nvml_instance; /* a GPU instance of MIG */
typedef struct nvml_events_private *nvml_events;

enum nvml_result {
    NVML_OK = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NOT_FOUND = 6,
    NVML_TIMEOUT = 10,
    NVML_GPU_IS_LOST = 15,
};
enum {
    NVML_TEXT = 96, /* room for any of its texts */
    NVML_COMPUTE_DEFAULT = 0,
    NVML_EVENT_XID = 8,
};

struct nvml_pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_attributes { /* of a MIG device */
    unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
    unsigned gpu_slices, compute_slices;
    unsigned long long memory_mb;
};
struct nvml_placement {
    unsigned start, size;
};
struct nvml_instance_info {
    nvml_device device;
    unsigned id, profile_id;
    struct nvml_placement placement;
};
struct nvml_event {
    nvml_device device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

struct nvml_api {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*driver_version)(char *text, unsigned room);
    int (*cuda_version)(int *version); /* 13000 is 13.0 */
    int (*count)(unsigned *n);
    int (*by_index)(unsigned i, nvml_device *d);
    int (*by_uuid)(const char *uuid, nvml_device *d);
    int (*uuid)(nvml_device d, char *text, unsigned room);
    int (*name)(nvml_device d, char *text, unsigned room);
    int (*minor)(nvml_device d, unsigned *n);
    int (*brand)(nvml_device d, int *brand);
    int (*architecture)(nvml_device d, unsigned *architecture);
    int (*compute_capability)(nvml_device d, int *major, int *minor);
    int (*memory)(nvml_device d, struct nvml_memory *m);
    int (*pci_info)(nvml_device d, struct nvml_pci_info *p);
    int (*set_compute_mode)(nvml_device d, int mode);
    /* MIG */
    int (*mig_mode)(nvml_device d, unsigned *current, unsigned *pending);
    int (*mig_max)(nvml_device d, unsigned *n);
    int (*mig_by_index)(nvml_device d, unsigned i, nvml_device *mig);
    int (*attributes)(nvml_device mig, struct nvml_attributes *a);
    int (*gpu_instance_id)(nvml_device mig, unsigned *id);
    int (*compute_instance_id)(nvml_device mig, unsigned *id);
    int (*instance_by_id)(nvml_device d, unsigned id, nvml_instance *i);
    int (*instance_info)(nvml_instance i, struct nvml_instance_info *info);
    /* events */
    int (*events_new)(nvml_events *e);
    int (*events_register)(nvml_device d, unsigned long long types, nvml_events e);
    int (*events_wait)(nvml_events e, struct nvml_event *event, unsigned ms);
    int (*events_free)(nvml_events e);
};

/* path NULL: where the system has it. It is initialised. */
bool nvml_open(struct nvml_api *api, const char *path, struct err *e);
void nvml_close(struct nvml_api *api);

#endif
