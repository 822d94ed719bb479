/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps. Up to LINEAR entries are searched one by one; above, slots is an open hash index
 * of entry numbers + 1, at most half full. A builder's map and the values made of it
 * share entries and slots: a value ignores slots that point behind its last entry.
 */
#include "cel/cel.h"
#include "cel/value.h"

enum { LINEAR = 8 };

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* Equal keys of one kind have equal hashes. Kinds that are rare as keys share one. */
static uint64_t key_hash(struct cel_value k)
{
    switch (k.kind) {
    case CEL_STRING:
        return str_hash(cel_str(k));
    case CEL_BOOL:
        return mix(k.b + 1u);
    case CEL_INT:
    case CEL_UINT:
        return mix(k.u * 16 + k.kind);
    case CEL_DOUBLE: /* 0.0 == -0.0 */
        return mix(k.d == 0 ? 0 : k.u);
    default:
        return k.kind;
    }
}

static bool key_equal(struct cel_value a, struct cel_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_STRING:
        return cel_text_equal(a, b);
    case CEL_INT:
    case CEL_UINT:
        return a.u == b.u;
    default: {
        struct cel_value v = cel_equal(NULL, a, b);
        return v.kind == CEL_BOOL && v.b;
    }
    }
}

/* Number of the entry whose key is of the same kind and equal, or n. */
static uint32_t find_exact(const struct cel_map *m, struct cel_value key)
{
    if (m->slots == NULL) {
        uint32_t i = 0;
        while (i < m->n && !key_equal(m->entries[i].key, key))
            i++;
        return i;
    }
    for (uint32_t at = (uint32_t)key_hash(key) & m->mask;; at = (at + 1) & m->mask) {
        uint32_t i = m->slots[at];
        if (i == 0)
            return m->n;
        if (i <= m->n && key_equal(m->entries[i - 1].key, key))
            return i - 1;
    }
}

static const struct cel_value *value_at(const struct cel_map *m, struct cel_value key)
{
    uint32_t i = find_exact(m, key);
    return i < m->n ? &m->entries[i].value : NULL;
}

/* The whole number that a double is, as an int or a uint. */
static const struct cel_value *find_double(const struct cel_map *m, double d)
{
    const struct cel_value *v = NULL;
    if (d > -0x1p63 && d < 0x1p63 && (double)(int64_t)d == d)
        v = value_at(m, cel_int((int64_t)d));
    if (v == NULL && d >= 0 && d < 0x1p64 && (double)(uint64_t)d == d)
        v = value_at(m, cel_uint((uint64_t)d));
    return v;
}

const struct cel_value *cel_map_find(const struct cel_map *m, struct cel_value key)
{
    const struct cel_value *v = value_at(m, key);
    if (v != NULL || m->n == 0)
        return v;
    switch (key.kind) {
    case CEL_INT:
        return key.i < 0 ? NULL : value_at(m, cel_uint(key.u));
    case CEL_UINT:
        return key.i < 0 ? NULL : value_at(m, cel_int(key.i));
    case CEL_DOUBLE:
        return find_double(m, key.d);
    default:
        return NULL;
    }
}

static void index_entry(struct cel_map *m, uint32_t i)
{
    uint32_t at = (uint32_t)key_hash(m->entries[i].key) & m->mask;
    while (m->slots[at] != 0)
        at = (at + 1) & m->mask;
    m->slots[at] = i + 1;
}

/* A new index with room for so many entries. */
static void index_all(struct cel_run *run, struct cel_map *m, uint32_t room)
{
    uint32_t size = 4 * LINEAR;
    while (size < 2 * (uint64_t)room)
        size *= 2;
    m->slots = ARENA_ARRAY(&run->arena, uint32_t, size);
    m->mask = size - 1;
    for (uint32_t i = 0; i < m->n; i++)
        index_entry(m, i);
}

static void grow(struct cel_run *run, struct cel_map_builder *b)
{
    uint32_t cap = b->cap ? b->cap * 2 : 4;
    struct cel_entry *entries = arena_alloc(&run->arena, cap * sizeof *entries);
    if (b->map.n != 0)
        memcpy(entries, b->map.entries, b->map.n * sizeof *entries);
    b->map.entries = entries;
    b->cap = cap;
    if (cap > LINEAR)
        index_all(run, &b->map, cap);
}

void cel_map_put(struct cel_run *run, struct cel_map_builder *b, struct cel_value key,
                 struct cel_value value)
{
    uint32_t i = find_exact(&b->map, key);
    if (i < b->map.n) {
        b->map.entries[i].value = value;
        return;
    }
    if (b->map.n == b->cap)
        grow(run, b);
    b->map.entries[b->map.n++] = (struct cel_entry){key, value};
    if (b->map.slots != NULL)
        index_entry(&b->map, b->map.n - 1);
}

struct cel_value cel_map_done(struct cel_run *run, const struct cel_map_builder *b)
{
    struct cel_map *m = arena_alloc(&run->arena, sizeof *m);
    *m = b->map;
    return cel_map_value(m);
}

struct cel_value cel_map_make(struct cel_run *run, struct cel_entry *entries, uint32_t n)
{
    struct cel_map_builder b = {.map = {.entries = entries}, .cap = n};
    if (n > LINEAR)
        index_all(run, &b.map, n);
    for (uint32_t i = 0; i < n; i++)
        cel_map_put(run, &b, entries[i].key, entries[i].value);
    return cel_map_done(run, &b);
}
