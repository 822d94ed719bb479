/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the publisher: what has to be written so that the slices that are there
 * become those that are wanted. Nothing is asked or written here.
 *
 * A slice is known by the number that its name begins with, as upstream's publisher has
 * it (spec 5.8.4, 5.8.5): the two can follow one another on a node.
 */
#ifndef DRAY_DRIVER_PUBLISH_PLAN_H
#define DRAY_DRIVER_PUBLISH_PLAN_H

#include "driver/slices.h"

struct publish_want {
    struct str driver, node, pool;
    struct str node_uid;
    const struct slices *slices;
    /* What a server made of a slice when it was written last, without its pool, in the
     * place of what slices has; of a null slices is right. */
    const struct doc *adopted;
};

enum publish_verb { PUBLISH_DELETE, PUBLISH_UPDATE, PUBLISH_CREATE };
struct publish_write { /* in the order in which they are to be done */
    enum publish_verb verb;
    uint32_t index;        /* of the slice; of none when one is deleted */
    const struct doc *old; /* what is there; NULL: it is created */
    struct doc object;     /* what it becomes, resource.k8s.io/v1 */
};
struct publish_plan {
    struct publish_write *writes;
    uint32_t n;
    int64_t generation;
};

/* live: all slices of the driver on the node, resource.k8s.io/v1. */
void publish_plan_make(const struct publish_want *want, const struct doc *live,
                       struct arena *a, struct publish_plan *out);

/* What a server keeps of a slice that was written, to be adopted; false: all of it, and
 * nothing else. Times that it has filled in are no difference. */
bool publish_plan_differs(const struct doc *written, const struct doc *stored,
                          struct arena *a, struct doc *adopt);
/* The fields that are missing, with the features that may be off: for people. */
struct str publish_plan_dropped(const struct doc *written, const struct doc *stored,
                                struct arena *a);

#endif
