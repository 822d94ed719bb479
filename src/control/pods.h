/* SPDX-License-Identifier: Apache-2.0 */
/* What controllers ask of pods, and how they make them. */
#ifndef DRAY_CONTROL_PODS_H
#define DRAY_CONTROL_PODS_H

#include "control/adopt.h"

extern const struct client_kind pods_kind;

bool pod_is_finished(const struct doc *pod); /* phase Succeeded or Failed */
bool pod_is_active(const struct doc *pod);   /* neither finished nor deleted */
bool pod_is_leaving(const struct doc *pod);  /* deleted, and not finished */
/* *since, unless NULL: seconds since 1970, 0: not known. */
bool pod_is_ready(const struct doc *pod, int64_t *since);
/* Ready for so many seconds. *wait_s, unless NULL: until it will be; 0: no telling. */
bool pod_is_available(const struct doc *pod, int64_t min_ready_s, int64_t now,
                      int64_t *wait_s);

/* A pod of a template: its labels, annotations, finalizers and spec, with a generated
 * name and the owner as its controller. */
struct doc pod_make(const struct doc *template, const struct owner_kind *kind,
                    const struct object *owner, struct arena *a);

/* Sorts so that those come first whose end hurts least, as upstream does: not placed, not
 * running, not ready, cheap (controller.kubernetes.io/pod-deletion-cost), beside most of
 * the related pods on their node, ready for a short time, restarted often, young. */
void pods_sort_for_deletion(struct objects *pods, const struct objects *related,
                            int64_t now_ns, struct arena *a);

/* The same as upstream does for Jobs: no costs, no neighbours, and ages to the second. */
void pods_sort_active(struct objects *pods, struct arena *a);

#endif
