/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things in the order of their keys: an array of sorted blocks. Finding is two binary
 * searches, walking a prefix is walking memory, and a change moves at most a block and,
 * rarely, the list of blocks. Things are borrowed; the first member of each is its key,
 * which must not change while the thing is here.
 */
#ifndef DRAY_STORE_ORDER_H
#define DRAY_STORE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct order_block;

struct order {
    struct order_block **blocks; /* none is empty */
    uint32_t n, cap;
    uint64_t count; /* of things */
};

/* A place between or at things; valid until the order changes. */
struct order_at {
    uint32_t block, index;
};

#define ORDER_INIT                                                                       \
    {                                                                                    \
        0                                                                                \
    }

void order_init(struct order *o);
void order_release(struct order *o);

void *order_find(const struct order *o, struct str key); /* or NULL */
/* Returns what had this key before, or NULL. */
void *order_put(struct order *o, void *thing);
void *order_remove(struct order *o, struct str key); /* what was there, or NULL */

/* The first thing whose key is not before this one; or after it. */
struct order_at order_seek(const struct order *o, struct str key);
struct order_at order_seek_after(const struct order *o, struct str key);
/* The first thing behind all that begin with a prefix. */
struct order_at order_seek_past(const struct order *o, struct str prefix);
/* The thing at a place, which moves on; NULL at the end. */
void *order_next(const struct order *o, struct order_at *at);
/* How many things are in [from, to); 0 when to is before from. */
uint64_t order_between(const struct order *o, struct order_at from, struct order_at to);

#endif
