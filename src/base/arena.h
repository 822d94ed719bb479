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

/* Under AddressSanitizer memory that is free again after a reset, and the gap behind each
 * allocation, are poisoned: dangling pointers and overruns are found as with malloc. */
#ifdef __SANITIZE_ADDRESS__
#define ARENA_POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONED 1
#endif
#endif
#ifdef ARENA_POISONED
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#define ARENA_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define ARENA_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
enum { ARENA_GAP = 0 };
#define ARENA_POISON(p, n) ((void)0)
#define ARENA_UNPOISON(p, n) ((void)0)
#endif

struct arena_chunk;

struct arena {
    char *next, *end;
    struct arena_chunk *chunks; /* newest first */
    size_t chunk_size;          /* of the next chunk */
    size_t size;                /* of all chunks */
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);
/* Forget every allocation, keep the largest chunk for reuse. */
void arena_reset(struct arena *a);
/* Bytes obtained from the system. */
size_t arena_size(const struct arena *a);

void *arena_grow(struct arena *a, size_t size); /* slow path of arena_alloc */

/* What an allocation takes: a multiple of 16, at least 16; zero when that overflows. */
static inline size_t arena_need(size_t size)
{
    size_t need = (size + ARENA_GAP + 15 + !size) & ~(size_t)15;
    return ARENA_GAP > 0 && need < size ? 0 : need;
}

/* Never NULL, whatever the size. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
    size_t need = arena_need(size);
    if (need - 1 >= (size_t)(a->end - a->next)) /* zero fits nowhere */
        return arena_grow(a, size);
    void *p = a->next;
    a->next += need;
    ARENA_UNPOISON(p, size);
    return p;
}

/* Zeroed; inline, since the size is mostly known and small. */
static inline void *arena_zalloc(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

/* A larger copy of the used bytes at p. */
void *arena_more(struct arena *a, const void *p, size_t used, size_t size);
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
