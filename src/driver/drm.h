/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a graphics device: /dev/dri/cardN and renderDM, as sysfs names them below
 * the device (".../drm"). */
#ifndef DRAY_DRIVER_DRM_H
#define DRAY_DRIVER_DRM_H

#include "driver/found.h"

struct drm {
    int64_t card, render; /* -1: there is none */
};

/* device: the directory of the device in sysfs, from / on. */
struct drm drm_find(const struct found *f, struct str device);
void drm_add_nodes(struct found *f, struct found_device *d, struct drm drm);

#endif
