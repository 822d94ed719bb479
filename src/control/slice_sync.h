/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller's own EndpointSlices: found by the service that their label names, with
 * what was written and is not seen yet; and a plan carried out.
 */
#ifndef DRAY_CONTROL_SLICE_SYNC_H
#define DRAY_CONTROL_SLICE_SYNC_H

#include "client/index.h"
#include "control/slice_plan.h"
#include "control/written.h"

struct slice_sync {
    const char *manager; /* the label's value of its slices */
    const struct shared_kind *slices;
    struct index by_service; /* "NAMESPACE/SERVICE" */
    struct expect expect;    /* by the same key */
    struct written written;
};

void slice_sync_init(struct slice_sync *x, const char *manager);
void slice_sync_fini(struct slice_sync *x);
/* As informers tell. The service's key when it is one of the controller's, in a; empty:
 * it is not. */
struct str slice_sync_change(struct slice_sync *x, const struct object *old,
                             const struct object *now, struct arena *a);
/* In the first round of a sync whose key is the service's: its slices go to a list.
 * false: what was written is not seen yet; something will wake it. */
bool slice_sync_gather(struct slice_sync *x, struct sync *s, struct str service,
                       uint32_t list, uint64_t now_ms);
/* Those of a list with one type of addresses. */
struct objects slice_sync_of_type(const struct sync *s, uint32_t list, const char *type);
/* Carries a plan out, which is the same each round. making: new ones may come. */
enum progress slice_sync_apply(struct slice_sync *x, struct sync *s, struct str service,
                               const struct slice_plan *plan, bool making);

#endif
