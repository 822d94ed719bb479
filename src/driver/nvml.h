/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the back end "nvml": nvml.c finds GPUs and MIG instances, nvml_edits.c says
 * what a container needs of them, nvml_config.c reads the configuration of claims.
 * Names, attributes and configuration are those of NVIDIA's own driver, gpu.nvidia.com.
 */
#ifndef DRAY_DRIVER_NVML_H
#define DRAY_DRIVER_NVML_H

#include "driver/found.h"
#include "driver/nvml_api.h"

struct nvml_mig {
    bool is;
    unsigned gpu_instance, compute_instance;
};

/* ---- nvml_edits.c ---- */

/* The nodes of the device, and those that all of them share; in a MIG instance also its
 * capabilities. */
void nvml_add_nodes(struct found *f, struct found_device *d, unsigned minor,
                    struct nvml_mig mig);
/* The driver's libraries and programs, under the names by which programs ask for them; so
 * that the container needs no cache of its linker. */
void nvml_add_files(struct found *f, struct found_device *d, struct str driver_version);

/* ---- nvml_config.c ---- */

enum nvml_strategy { NVML_EXCLUSIVE, NVML_TIME_SLICING };
struct nvml_config {
    enum nvml_strategy strategy;
    int time_slice; /* 0 default, 1 short, 2 medium, 3 long */
};
/* Of resource.nvidia.com/v1beta1 a GpuConfig, or for a MIG device a MigDeviceConfig; the
 * last one wins. e says field, value, and what would be right. */
bool nvml_config_read(const struct doc *const *configs, uint32_t n, bool mig,
                      struct nvml_config *out, struct err *e);

#endif
