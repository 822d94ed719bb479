/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The largest is a huge page, where the system has these. */
enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 2 << 20, HEADER = 32 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* with the header */
};

_Static_assert(sizeof(struct arena_chunk) <= HEADER, "chunk header");

void arena_init(struct arena *a)
{
    *a = (struct arena){.chunk_size = FIRST_CHUNK};
}

static void free_chunks(struct arena_chunk *c)
{
    while (c) {
        struct arena_chunk *older = c->older;
        free(c);
        c = older;
    }
}

void arena_fini(struct arena *a)
{
    free_chunks(a->chunks);
    arena_init(a);
}

static void use_chunk(struct arena *a, struct arena_chunk *c)
{
    a->next = (char *)c + HEADER;
    a->end = (char *)c + c->size;
    ARENA_POISON(a->next, (size_t)(a->end - a->next));
}

static __attribute__((noinline)) void keep_largest(struct arena *a)
{
    struct arena_chunk *keep = a->chunks;
    for (struct arena_chunk *c = keep; c; c = c->older)
        if (c->size > keep->size)
            keep = c;
    struct arena_chunk **link = &a->chunks;
    while (*link != keep)
        link = &(*link)->older;
    *link = keep->older;
    free_chunks(a->chunks);
    keep->older = NULL;
    a->chunks = keep;
    a->size = keep->size;
    use_chunk(a, keep);
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *newest = a->chunks;
    if (!newest)
        return;
    if (newest->older)
        keep_largest(a);
    else if (a->next != (char *)newest + HEADER) /* it was used since the last reset */
        use_chunk(a, newest);
}

size_t arena_size(const struct arena *a)
{
    return a->size;
}

static struct arena_chunk *chunk_new(struct arena *a, size_t size)
{
    struct arena_chunk *c = size == LARGEST_CHUNK ? mem_huge(size) : mem_alloc(size);
    c->size = size;
    c->older = a->chunks;
    a->chunks = c;
    a->size += size;
    return c;
}

void *arena_grow(struct arena *a, size_t size)
{
    size_t need = arena_need(size);
    if (need == 0 || need > SIZE_MAX - HEADER)
        mem_exhausted();
    if (a->chunk_size == 0)
        a->chunk_size = FIRST_CHUNK;
    if (need + HEADER > a->chunk_size / 2 && a->chunks) {
        /* A big one gets a chunk of its own, so that the current one stays in use. */
        struct arena_chunk *own = chunk_new(a, need + HEADER);
        ARENA_POISON((char *)own + HEADER + size, need - size);
        return (char *)own + HEADER;
    }
    size_t want = a->chunk_size;
    if (want < need + HEADER)
        want = need + HEADER;
    if (a->chunk_size < LARGEST_CHUNK)
        a->chunk_size *= 2;
    use_chunk(a, chunk_new(a, want));
    void *p = a->next;
    a->next += need;
    ARENA_UNPOISON(p, size);
    return p;
}

void *arena_more(struct arena *a, const void *p, size_t used, size_t size)
{
    void *more = arena_alloc(a, size);
    return used ? memcpy(more, p, used) : more;
}

void *arena_array_zalloc(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        mem_exhausted();
    return arena_zalloc(a, bytes);
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

char *arena_strdup(struct arena *a, const char *cstr)
{
    return (char *)arena_str(a, str_from(cstr)).p;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    /* Most texts fit into what is left of the chunk and are written there at once. */
    size_t room = ARENA_GAP > 0 ? 0 : (size_t)(a->end - a->next);
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(a->next, room, fmt, ap);
    if (n < 0)
        n = 0;
    char *p = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n >= room)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    p[n] = '\0';
    va_end(again);
    return (struct str){p, (size_t)n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}
