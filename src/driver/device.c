/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/device.h"

const struct driver_device *driver_inventory_find(const struct driver_inventory *v,
                                                  struct str name)
{
    for (uint32_t i = 0; i < v->ndevices; i++) {
        if (str_eq(v->devices[i].name, name)) {
            return &v->devices[i];
        }
    }
    return NULL;
}
