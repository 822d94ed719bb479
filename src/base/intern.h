/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings as small numbers: equal strings have equal ids, ids count up from 1. The bytes
 * are copied and live as long as the table. Not thread-safe.
 */
#ifndef DRAY_BASE_INTERN_H
#define DRAY_BASE_INTERN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

struct intern {
    struct arena bytes;
    struct strmap ids;
};

void intern_init(struct intern *t);
void intern_fini(struct intern *t);
uint32_t intern_id(struct intern *t, struct str s);         /* finds or adds */
uint32_t intern_find(const struct intern *t, struct str s); /* 0: not there */
struct str intern_str(const struct intern *t, uint32_t id);
static inline uint32_t intern_count(const struct intern *t)
{
    return t->ids.n;
}

#endif
