/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the services that a driver says to have are called. Texts of errors are those
 * that a kubelet gives to drivers (spec 5.2).
 */
#ifndef DRAY_NODE_PLUGINS_SERVICES_H
#define DRAY_NODE_PLUGINS_SERVICES_H

#include "base/err.h"
#include "base/str.h"

enum plugin_dra { PLUGIN_V1, PLUGIN_V1BETA1 };
enum plugin_health { PLUGIN_HEALTH_NONE, PLUGIN_HEALTH_V1, PLUGIN_HEALTH_V1ALPHA1 };

/* Of DRA the first in the driver's order; of health the newest. Names that are not known
 * are passed over. */
bool plugin_services_choose(const char *const *names, size_t n, enum plugin_dra *dra,
                            enum plugin_health *health, struct err *e);

#endif
