/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod asks for in all, as quotas and limits count it (KEP-753, KEP-1287,
 * KEP-2837): containers side by side, or those that start one after another, whichever
 * is more; spec.resources in their place where it says so; and the overhead. While a pod
 * is being resized, the largest of what is wanted, promised and in effect counts.
 */
#ifndef DRAY_API_POD_AMOUNTS_H
#define DRAY_API_POD_AMOUNTS_H

#include "api/amounts.h"

/* Amounts that the containers of a pod may name; of a pod with more, nothing is counted.
 */
enum { POD_AMOUNTS_MAX = 4096 };
bool pod_amounts_countable(const struct doc *pod);

struct amounts pod_requests(const struct doc *pod, struct arena *a);
struct amounts pod_limits(const struct doc *pod, struct arena *a);
/* What its specification alone says, "requests" or "limits", as LimitRanges see it: no
 * status, no overhead, and spec.resources for cpu and memory only. */
struct amounts pod_wanted(const struct doc *pod, const char *which, struct arena *a);
/* spec.resources names something that counts for a whole pod. */
bool pod_has_level_resources(const struct doc *pod);

#endif
