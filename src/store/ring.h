/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recent events of one resource, oldest first, bounded in number and in the memory of
 * their objects. An event here owns references to its objects.
 */
#ifndef DRAY_STORE_RING_H
#define DRAY_STORE_RING_H

#include "store/cache.h"

struct ring {
    struct cache_event *events; /* a circle of cap, a power of two */
    uint32_t first, n, cap;
    uint64_t bytes;     /* of the objects */
    uint64_t forgotten; /* events after this revision are all here */
};

/* An event is charged for its own object: the previous one is that of an older event, or
 * about to be replaced. */
uint64_t ring_cost(const struct cache_event *e);
void ring_init(struct ring *r, uint64_t forgotten);
void ring_release(struct ring *r);
/* Takes over the references. */
void ring_push(struct ring *r, const struct cache_event *e, uint32_t most,
               uint64_t most_bytes);
void ring_forget(struct ring *r, uint64_t revision); /* up to it */
/* How many events are not after a revision; ring_at counts from the oldest. */
uint32_t ring_seek(const struct ring *r, uint64_t revision);
static inline const struct cache_event *ring_at(const struct ring *r, uint32_t i)
{
    return &r->events[(r->first + i) & (r->cap - 1)];
}

#endif
