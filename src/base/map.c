/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char EMPTY_KEY[1] = "";

void strmap_init(struct strmap *m)
{
    *m = (struct strmap)STRMAP_INIT;
}

void strmap_release(struct strmap *m)
{
    free(m->entries);
    strmap_init(m);
}

void strmap_clear(struct strmap *m)
{
    m->n = m->live = 0;
    if (m->slots)
        memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
}

static uint32_t *probe(const struct strmap *m, struct str key, uint64_t hash)
{
    for (uint32_t i = (uint32_t)hash & m->mask;; i = (i + 1) & m->mask) {
        uint32_t *slot = &m->slots[i];
        if (*slot == 0)
            return slot;
        const struct strmap_entry *e = &m->entries[*slot - 1];
        if (e->hash == hash && e->key.p && str_eq(e->key, key))
            return slot;
    }
}

struct strmap_entry *strmap_find(const struct strmap *m, struct str key)
{
    if (m->live == 0)
        return NULL;
    uint32_t *slot = probe(m, key, str_hash(key));
    return *slot ? &m->entries[*slot - 1] : NULL;
}

static void enlarge(struct strmap *m)
{
    if (m->cap > UINT32_MAX / 4)
        mem_exhausted();
    m->cap = m->cap ? m->cap * 2 : 8;
    m->entries =
        mem_resize(m->entries, m->cap, sizeof *m->entries + 2 * sizeof *m->slots);
    m->slots = (uint32_t *)(m->entries + m->cap);
    m->mask = m->cap * 2 - 1;
}

/* Drops the holes and makes room for at least one more. */
static void rebuild(struct strmap *m)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->entries[i].key.p)
            m->entries[live++] = m->entries[i];
    m->n = live;
    if (m->n * 2 >= m->cap)
        enlarge(m);
    memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t at = (uint32_t)m->entries[i].hash & m->mask;
        while (m->slots[at])
            at = (at + 1) & m->mask;
        m->slots[at] = i + 1;
    }
}

struct strmap_entry *strmap_put(struct strmap *m, struct str key, bool *made)
{
    if (m->n == m->cap)
        rebuild(m);
    uint64_t hash = str_hash(key);
    uint32_t *slot = probe(m, key, hash);
    if (made)
        *made = *slot == 0;
    if (*slot)
        return &m->entries[*slot - 1];
    struct strmap_entry *e = &m->entries[m->n++];
    *e = (struct strmap_entry){.key = key, .hash = hash};
    if (!e->key.p)
        e->key.p = EMPTY_KEY;
    *slot = m->n;
    m->live++;
    return e;
}

bool strmap_remove(struct strmap *m, struct str key)
{
    struct strmap_entry *e = strmap_find(m, key);
    if (!e)
        return false;
    e->key = STR_NONE;
    m->live--;
    return true;
}
