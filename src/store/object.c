/* SPDX-License-Identifier: Apache-2.0 */
#include "store/object.h"

#include <stdlib.h>

#include "base/mem.h"

struct cache_object *cache_object_ref(struct cache_object *o)
{
    if (o)
        __atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
    return o;
}

void cache_object_unref(struct cache_object *o)
{
    if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (o->encoded_free)
        o->encoded_free(o->encoded);
    arena_fini(&o->arena);
    free(o);
}

static int compare_pairs(const void *a, const void *b)
{
    return str_cmp(((const struct cache_pair *)a)->name,
                   ((const struct cache_pair *)b)->name);
}

/* The arrays are in the object's arena, so that they may be written until it is seen. */
static void sort_pairs(const struct cache_pair *pairs, uint32_t n)
{
    if (n > 1)
        qsort((struct cache_pair *)pairs, n, sizeof *pairs, compare_pairs);
}

/* The first chunk is cut to the object: its bytes and a little for names and labels. */
static void size_arena(struct cache_object *o, size_t bytes)
{
    enum { LITTLE = 256 };
    o->arena.chunk_size = bytes + LITTLE;
    arena_alloc(&o->arena, 1);
    o->arena.chunk_size = LITTLE;
}

struct cache_object *object_new(const struct cache_opts *opts, struct str key,
                                struct str value, uint64_t revision)
{
    struct cache_object *o = mem_zalloc(sizeof *o);
    o->refs = 1;
    o->revision = revision;
    size_arena(o, key.n + value.n);
    o->key = arena_str(&o->arena, key);
    if (!opts->decode(opts->ctx, o->key, value, revision, o)) {
        cache_object_unref(o);
        return NULL;
    }
    sort_pairs(o->labels, o->nlabels);
    sort_pairs(o->fields, o->nfields);
    return o;
}

struct str cache_pair_find(const struct cache_pair *pairs, uint32_t n, struct str name)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_cmp(pairs[middle].name, name);
        if (c == 0)
            return pairs[middle].value;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return STR_NONE;
}
