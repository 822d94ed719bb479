/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found of each GPU when it was last looked at, so that one that has fallen off
 * the bus is still there, with a taint: whoever uses it is told, and nobody gets it.
 */
#ifndef DRAY_DRIVER_NVML_KNOWN_H
#define DRAY_DRIVER_NVML_KNOWN_H

#include "driver/nvml.h"

struct nvml_known_device {
    unsigned gpu; /* its index */
    bool mig;
    char name[64], uuid[NVML_TEXT];
};
struct nvml_known {
    VEC(struct nvml_known_device) devices;
};

void nvml_known_fini(struct nvml_known *k);
void nvml_known_forget(struct nvml_known *k, unsigned gpu);
void nvml_known_add(struct nvml_known *k, unsigned gpu, bool mig,
                    const struct driver_device *d);
/* The devices of a GPU that is lost; false: none are known. own gives each its own. */
bool nvml_known_lost(const struct nvml_known *k, unsigned gpu, struct found *f,
                     const void *(*own)(struct arena *a, bool mig, struct str uuid));

#endif
