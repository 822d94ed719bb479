/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bump allocator: many allocations, one release. Memory is aligned to 16 bytes and
 * lives until arena_fini or arena_reset. A zeroed struct is a ready one. An arena serves
 * one request, one reconcile, one cycle, or one immutable object. Not thread-safe.
 */
#ifndef DRAY_BASE_ARENA_H
#define DRAY_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena_chunk;

struct arena {
    char *next, *end;
    struct arena_chunk *chunks; /* newest first */
    size_t chunk_size;          /* of the next chunk */
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);
/* Forget every allocation, keep the largest chunk for reuse. */
void arena_reset(struct arena *a);
/* Bytes obtained from the system. */
size_t arena_size(const struct arena *a);

void *arena_grow(struct arena *a, size_t size); /* slow path of arena_alloc */

/* Never NULL, whatever the size. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
    /* A multiple of 16, at least 16; zero when that overflows, which then fits nowhere.
     */
    size_t need = (size + 15 + !size) & ~(size_t)15;
    if (need - 1 >= (size_t)(a->end - a->next))
        return arena_grow(a, size);
    void *p = a->next;
    a->next += need;
    return p;
}

void *arena_zalloc(struct arena *a, size_t size);
void *arena_array_zalloc(struct arena *a, size_t n, size_t size); /* n * size checked */
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated */
char *arena_strdup(struct arena *a, const char *cstr);
struct str arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap);

/* Zeroed. */
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array_zalloc((a), (n), sizeof(type)))

#endif
