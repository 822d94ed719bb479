/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans that ask the same have one shape, whatever the names in their claims; what was
 * learned for one holds for all. Two things are remembered: hosts that refused, for as
 * long as nothing changes there, and the ends of long searches, for hosts that look the
 * same to the search.
 */
#ifndef DRAY_ALLOC_SHAPE_H
#define DRAY_ALLOC_SHAPE_H

#include "alloc/search.h"

struct ending {               /* of a search */
    uint64_t a, b;            /* what the host looked like; a 0: free */
    enum alloc_status status; /* OK, NONE or BUDGET */
    uint64_t max_steps;       /* BUDGET: with so many it was not enough */
    uint32_t npicks;
    struct pick *picks; /* devices and alternatives */
};

enum { ENDINGS = 64 };

struct shape {
    VEC(uint64_t) refused; /* per host: its stamp then + 1 */
    struct ending endings[ENDINGS];
};

/* Finds or makes. Valid until inv->profiles_epoch changes. */
struct shape *shape_of(struct alloc_plan *p);
void shapes_drop(struct alloc_inventory *inv);

static inline bool shape_refused(const struct shape *s, const struct host *h,
                                 uint64_t stamp)
{
    return h->index < s->refused.n && s->refused.v[h->index] == stamp + 1;
}
void shape_refuse(struct shape *s, const struct host *h, uint64_t stamp);

/* The end that a search on a host of these looks came to; picks are made again. False:
 * not known. */
bool shape_recall(struct solver *s, const uint64_t *looks, enum verdict *v);
void shape_learn(struct solver *s, const uint64_t *looks, enum verdict v);

#endif
