/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors that GPUs tell of (XIDs), heard by a thread of its own, since the library only
 * waits. Those that are a program's fault and not the GPU's are passed over. A GPU that
 * has told of one is sick until the driver starts anew.
 */
#ifndef DRAY_DRIVER_NVML_HEALTH_H
#define DRAY_DRIVER_NVML_HEALTH_H

#include "base/str.h"
#include "driver/nvml_api.h"

enum { NVML_WHOLE_GPU = 0xffffffff }; /* in the place of a GPU instance's number */

struct nvml_health;

/* api outlives it. Never NULL: a GPU that tells of nothing stays healthy. */
struct nvml_health *nvml_health_new(const struct nvml_api *api);
void nvml_health_free(struct nvml_health *h);
/* Readable when something was heard, until nvml_health_drain. -1: nothing ever will. */
int nvml_health_fd(const struct nvml_health *h);
void nvml_health_drain(struct nvml_health *h);
/* The last XID of the GPU, or of all of it or this instance; 0: none. */
unsigned long long nvml_health_xid(struct nvml_health *h, struct str uuid,
                                   unsigned gpu_instance);

#endif
