/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ring.h"

#include <stdlib.h>

#include "base/mem.h"

void ring_init(struct ring *r, uint64_t forgotten)
{
    *r = (struct ring){.forgotten = forgotten};
}

uint64_t ring_cost(const struct cache_event *e)
{
    return sizeof *e + arena_size(&e->object->arena);
}

static void drop_oldest(struct ring *r)
{
    struct cache_event *e = &r->events[r->first];
    r->first = (r->first + 1) & (r->cap - 1);
    r->n--;
    r->bytes -= ring_cost(e);
    r->forgotten = e->revision;
    cache_object_unref(e->object);
    cache_object_unref(e->previous);
}

void ring_release(struct ring *r)
{
    while (r->n > 0)
        drop_oldest(r);
    free(r->events);
    ring_init(r, r->forgotten);
}

static void grow(struct ring *r)
{
    uint32_t cap = r->cap ? r->cap * 2 : 16;
    struct cache_event *events = mem_array(cap, sizeof *events);
    for (uint32_t i = 0; i < r->n; i++)
        events[i] = *ring_at(r, i);
    free(r->events);
    r->events = events;
    r->first = 0;
    r->cap = cap;
}

void ring_push(struct ring *r, const struct cache_event *e, uint32_t most,
               uint64_t most_bytes)
{
    while (r->n > 0 && (r->n >= most || r->bytes + ring_cost(e) > most_bytes))
        drop_oldest(r);
    if (r->n == r->cap)
        grow(r);
    r->events[(r->first + r->n++) & (r->cap - 1)] = *e;
    r->bytes += ring_cost(e);
}

void ring_forget(struct ring *r, uint64_t revision)
{
    while (r->n > 0 && ring_at(r, 0)->revision <= revision)
        drop_oldest(r);
    if (r->forgotten < revision)
        r->forgotten = revision;
}

uint32_t ring_seek(const struct ring *r, uint64_t revision)
{
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ring_at(r, middle)->revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
