/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of podresources: the message of a pod. */
#ifndef DRAY_NODE_PODRESOURCES_MAKE_H
#define DRAY_NODE_PODRESOURCES_MAKE_H

#include "grpc/podresources.pb-c.h"
#include "node/claims.h"

/* In the arena, with all that it points to. claims NULL: its containers' names alone, as
 * v1alpha1 has it. */
Podresources__PodResources *podresources_make(const struct node_claims *claims,
                                              const struct doc *pod, struct arena *a);

#endif
