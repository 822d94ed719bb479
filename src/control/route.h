/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which owners a change of a dependent is news for: the one that controls it, the one
 * that did before, and, of an orphan, all those in its namespace whose selectors fit.
 */
#ifndef DRAY_CONTROL_ROUTE_H
#define DRAY_CONTROL_ROUTE_H

#include "control/adopt.h"

struct route {
    const struct owner_kind *owners;
    const struct shared_kind *known; /* the owners there are */
    struct worker *worker;           /* its keys are the owners' */
    struct expect *expect;           /* what has come and gone is told; or NULL */
    uint64_t delay_ms;               /* so that several changes are one piece of work */
    /* Told before the owner's key is added; or NULL. */
    void (*changed)(void *ctx, const struct object *owner, const struct object *old,
                    const struct object *now);
    void *ctx;
};

/* As an informer tells it. */
void route_change(const struct route *r, const struct object *old,
                  const struct object *now);
/* The owner that controls an object; NULL: there is none, or not anymore. */
const struct object *route_owner(const struct route *r, const struct object *o);

#endif
