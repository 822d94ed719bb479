/* SPDX-License-Identifier: Apache-2.0 */
#include "store/order.h"

#include <stdlib.h>

#include "base/mem.h"

enum { ROOM = 256 };

struct order_block {
    uint32_t n;
    void *things[ROOM];
};

void order_init(struct order *o)
{
    *o = (struct order)ORDER_INIT;
}

void order_release(struct order *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        free(o->blocks[i]);
    free(o->blocks);
    order_init(o);
}

static struct str key_of(const void *thing)
{
    return *(const struct str *)thing;
}

/* What a search looks for: the first thing for which this no longer holds. */
typedef bool is_before(struct str key, struct str sought);

static bool before(struct str key, struct str sought)
{
    return str_cmp(key, sought) < 0;
}

static bool before_or_at(struct str key, struct str sought)
{
    return str_cmp(key, sought) <= 0;
}

/* Before or within all that begin with the prefix. */
static bool before_or_under(struct str key, struct str prefix)
{
    return str_cmp(str_sub(key, 0, prefix.n), prefix) <= 0;
}

/* A place may be the end of a block, so that a thing can be put there. */
static struct order_at seek(const struct order *o, struct str sought, is_before *test)
{
    uint32_t low = 0, high = o->n; /* the last block that begins before */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (test(key_of(o->blocks[middle]->things[0]), sought))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (struct order_at){0, 0};
    const struct order_block *b = o->blocks[low - 1];
    uint32_t from = 0, to = b->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (test(key_of(b->things[middle]), sought))
            from = middle + 1;
        else
            to = middle;
    }
    return (struct order_at){low - 1, from};
}

struct order_at order_seek(const struct order *o, struct str key)
{
    return seek(o, key, before);
}

struct order_at order_seek_after(const struct order *o, struct str key)
{
    return seek(o, key, before_or_at);
}

struct order_at order_seek_past(const struct order *o, struct str prefix)
{
    return seek(o, prefix, before_or_under);
}

/* The end of a block is the beginning of the next. */
static void settle(const struct order *o, struct order_at *at)
{
    if (at->block < o->n && at->index == o->blocks[at->block]->n) {
        at->block++;
        at->index = 0;
    }
}

void *order_next(const struct order *o, struct order_at *at)
{
    settle(o, at);
    return at->block < o->n ? o->blocks[at->block]->things[at->index++] : NULL;
}

uint64_t order_between(const struct order *o, struct order_at from, struct order_at to)
{
    if (from.block > to.block || (from.block == to.block && from.index >= to.index))
        return 0;
    uint64_t n = to.index;
    for (uint32_t i = from.block; i < to.block; i++)
        n += o->blocks[i]->n;
    return n - from.index;
}

void *order_find(const struct order *o, struct str key)
{
    struct order_at at = order_seek(o, key);
    void *thing = order_next(o, &at);
    return thing && str_eq(key_of(thing), key) ? thing : NULL;
}

static struct order_block *block_insert(struct order *o, uint32_t at)
{
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 8;
        o->blocks = mem_resize(o->blocks, o->cap, sizeof(struct order_block *));
    }
    memmove(o->blocks + at + 1, o->blocks + at, (o->n - at) * sizeof *o->blocks);
    o->n++;
    struct order_block *b = o->blocks[at] = mem_alloc(sizeof *b);
    b->n = 0;
    return b;
}

/* Halves a full block; the last one, written at its end, keeps what it has, so that keys
 * that come in order make full blocks. */
static void split(struct order *o, struct order_at *at)
{
    bool append = at->block == o->n - 1 && at->index == ROOM;
    uint32_t keep = append ? ROOM : ROOM / 2;
    struct order_block *next = block_insert(o, at->block + 1);
    struct order_block *b = o->blocks[at->block];
    next->n = b->n - keep;
    memcpy(next->things, b->things + keep, next->n * sizeof *b->things);
    b->n = keep;
    if (at->index > keep || append) {
        at->block++;
        at->index -= keep;
    }
}

/* Where the key belongs: mostly at the end while a store is read, which is in order. */
static struct order_at seek_place(const struct order *o, struct str key)
{
    const struct order_block *last = o->n ? o->blocks[o->n - 1] : NULL;
    if (last && before(key_of(last->things[last->n - 1]), key))
        return (struct order_at){o->n - 1, last->n};
    return order_seek(o, key);
}

void *order_put(struct order *o, void *thing)
{
    struct order_at at = seek_place(o, key_of(thing)), found = at;
    settle(o, &found);
    if (found.block < o->n) {
        void **place = &o->blocks[found.block]->things[found.index];
        if (str_eq(key_of(*place), key_of(thing))) {
            void *old = *place;
            *place = thing;
            return old;
        }
    }
    if (o->n == 0)
        block_insert(o, 0);
    if (o->blocks[at.block]->n == ROOM)
        split(o, &at);
    struct order_block *b = o->blocks[at.block];
    memmove(b->things + at.index + 1, b->things + at.index,
            (b->n - at.index) * sizeof *b->things);
    b->things[at.index] = thing;
    b->n++;
    o->count++;
    return NULL;
}

void *order_remove(struct order *o, struct str key)
{
    struct order_at at = order_seek(o, key);
    settle(o, &at);
    if (at.block == o->n)
        return NULL;
    struct order_block *b = o->blocks[at.block];
    void *thing = b->things[at.index];
    if (!str_eq(key_of(thing), key))
        return NULL;
    b->n--;
    o->count--;
    memmove(b->things + at.index, b->things + at.index + 1,
            (b->n - at.index) * sizeof *b->things);
    if (b->n == 0) {
        free(b);
        o->n--;
        memmove(o->blocks + at.block, o->blocks + at.block + 1,
                (o->n - at.block) * sizeof *o->blocks);
    }
    return thing;
}
