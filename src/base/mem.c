/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void mem_exhausted(void)
{
    fputs("dray: out of memory\n", stderr);
    abort();
}

static void *check(void *p)
{
    if (p == NULL)
        mem_exhausted();
    return p;
}

static size_t product(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        mem_exhausted();
    return bytes ? bytes : 1;
}

void *mem_alloc(size_t size)
{
    return check(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
    return check(calloc(1, size ? size : 1));
}

void *mem_huge(size_t size)
{
    enum { HUGE_PAGE = 2 << 20 };
    void *p = check(aligned_alloc(HUGE_PAGE, size));
    madvise(p, size, MADV_HUGEPAGE); /* a hint: without it all works as well */
    return p;
}

void *mem_array(size_t n, size_t size)
{
    return check(malloc(product(n, size)));
}

void *mem_resize(void *p, size_t n, size_t size)
{
    return check(realloc(p, product(n, size)));
}

char *mem_dup(const void *p, size_t n)
{
    char *copy = mem_alloc(n + 1);
    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}
