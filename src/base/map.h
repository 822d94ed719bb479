/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps with open addressing. Keys of a strmap are borrowed: the caller keeps their
 * bytes alive. Values are 64-bit words or pointers. Iteration follows insertion order;
 * removal leaves a hole that is skipped, and entries may be removed while iterating, but
 * not added.
 */
#ifndef DRAY_BASE_MAP_H
#define DRAY_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct strmap_entry {
    struct str key; /* key.p is NULL: a removed entry */
    uint64_t hash;
    union {
        void *ptr;
        uint64_t u;
        int64_t i;
    } value;
};

struct strmap {
    struct strmap_entry *entries; /* in insertion order; the slots are behind them */
    uint32_t n, cap;              /* used entries, holes included; room */
    uint32_t live;
    uint32_t *slots; /* entry index + 1, 0 empty */
    uint32_t mask;
};

#define STRMAP_INIT                                                                      \
    {                                                                                    \
        0                                                                                \
    }

void strmap_init(struct strmap *m);
void strmap_release(struct strmap *m);
void strmap_clear(struct strmap *m);
struct strmap_entry *strmap_find(const struct strmap *m, struct str key); /* or NULL */
/* Finds or makes (value zero). *made says which. The pointer is valid until the next put.
 */
struct strmap_entry *strmap_put(struct strmap *m, struct str key, bool *made);
bool strmap_remove(struct strmap *m, struct str key);

#define strmap_each(m, e)                                                                \
    for (struct strmap_entry *e = (m)->entries; e != NULL && e < (m)->entries + (m)->n;  \
         e++)                                                                            \
        if (e->key.p == NULL) {                                                          \
        } else

#endif
