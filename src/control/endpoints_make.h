/* SPDX-License-Identifier: Apache-2.0 */
/* What a service's Endpoints should say of its pods. Pure. */
#ifndef DRAY_CONTROL_ENDPOINTS_MAKE_H
#define DRAY_CONTROL_ENDPOINTS_MAKE_H

#include "control/adopt.h"

#define ENDPOINTS_MANAGER_LABEL "endpoints.kubernetes.io/managed-by"
#define ENDPOINTS_MANAGER "endpoint-controller"

/* Addresses with the same ports in one subset, all of it in a fixed order. *truncated:
 * there were more than a thousand. */
struct doc endpoints_subsets(const struct doc *service, const struct objects *pods,
                             struct arena *a, bool *truncated);
/* Whether an object of Endpoints (NULL: there is none) has to be written, and as what. */
bool endpoints_make(const struct object *service, const struct object *known,
                    const struct objects *pods, struct arena *a, struct doc *out);

#endif
