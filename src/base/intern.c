/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

void intern_init(struct intern *t)
{
    arena_init(&t->bytes);
    strmap_init(&t->ids);
}

void intern_fini(struct intern *t)
{
    strmap_release(&t->ids);
    arena_fini(&t->bytes);
}

uint32_t intern_id(struct intern *t, struct str s)
{
    bool made;
    struct strmap_entry *e = strmap_put(&t->ids, s, &made);
    if (made) {
        e->key = arena_str(&t->bytes, s);
        e->value.u = (uint64_t)(e - t->ids.entries) + 1;
    }
    return (uint32_t)e->value.u;
}

uint32_t intern_find(const struct intern *t, struct str s)
{
    const struct strmap_entry *e = strmap_find(&t->ids, s);
    return e ? (uint32_t)e->value.u : 0;
}

struct str intern_str(const struct intern *t, uint32_t id)
{
    return t->ids.entries[id - 1].key;
}
