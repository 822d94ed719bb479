/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of metadata: what its writer and its reader share. */
#ifndef DRAY_DRIVER_METADATA_INNER_H
#define DRAY_DRIVER_METADATA_INNER_H

#include "driver/metadata.h"

#define METADATA_GROUP "metadata.resource.k8s.io"
#define METADATA_KIND "DeviceMetadata"

enum { METADATA_MAX = 4 << 20 }; /* bytes of a file that is read */

bool metadata_version_known(struct str version);

#endif
