/* SPDX-License-Identifier: Apache-2.0 */
/* The first thing to change for a pod that fits nowhere. */
#ifndef DRAY_CLI_ADVICE_H
#define DRAY_CLI_ADVICE_H

#include "cli/place.h"

/* A sentence without a period for the pod and count - 1 more like it; empty: none. */
struct str advice_for(struct cluster *c, const struct placement *p,
                      const struct placed_pod *pod, size_t count, struct arena *a);
/* "request gpu (template one-gpu)": how people know a request of a claim. */
struct str advice_request_name(const struct work_claim *claim, uint32_t request,
                               uint32_t alternative, struct arena *a);

#endif
