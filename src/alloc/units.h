/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host as policies see it (policy.c). A unit is what is whole or in pieces: the devices
 * that share a counter set (the partitions of one GPU), else one device. A grouping puts
 * units together that jobs want together: one value of an attribute, or the whole host.
 * How much of a unit is left is told in thousandths.
 */
#ifndef DRAY_ALLOC_UNITS_H
#define DRAY_ALLOC_UNITS_H

#include "alloc/search.h"

enum { UNIT_WHOLE = 1000 };

struct unit {
    uint32_t seat;
    uint32_t set;              /* of its pool; NONE: it is a device */
    uint32_t device;           /* the first one */
    uint32_t left, after;      /* before the question, and behind its answer */
    uint32_t open, still_open; /* the same of devices that its counters have room for */
};

struct block {                  /* units of one group */
    uint32_t size, left, after; /* sums over its units, size of whole ones */
};

struct grouping {
    uint32_t *of; /* unit -> block, or NONE */
    struct block *blocks;
    uint32_t n;
};

struct units {
    struct unit *v;
    uint32_t n;
    uint32_t *of;   /* device, in the solver's numbers -> unit, or NONE: not the host's */
    uint64_t *used; /* devices that were taken before the question */
    bool pieces;    /* there are units of several devices */
    struct grouping *groupings; /* the last one: the host as one block */
    uint32_t ngroupings;
};

/* Of a question that has been begun, before anything is picked. In the arena. */
void units_read(struct solver *s, struct units *u, struct arena *a);
/* What the picks leave: fills after. */
void units_weigh(struct solver *s, struct units *u);

#endif
