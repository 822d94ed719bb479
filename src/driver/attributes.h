/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a device as the API has them (DeviceAttribute). */
#ifndef DRAY_DRIVER_ATTRIBUTES_H
#define DRAY_DRIVER_ATTRIBUTES_H

#include "driver/device.h"

/* {"string": "..."}, {"ints": [...]}, ... */
struct doc driver_value_doc(const struct driver_value *v, struct arena *a);
/* Name -> value, in a; NULL: there are none. */
const struct doc *driver_attributes_doc(const struct driver_device *d, struct arena *a);

#endif
