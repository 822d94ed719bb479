/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap allocation that cannot fail: out of memory aborts the process. Whatever an
 * outsider can size is limited before it reaches these. Release with free().
 */
#ifndef DRAY_BASE_MEM_H
#define DRAY_BASE_MEM_H

#include <stddef.h>

/* What the others do when memory ends, for sizes that overflow before they are asked for.
 */
void mem_exhausted(void) __attribute__((noreturn));

void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
/* A multiple of 2 MiB, aligned to that, on huge pages if the system allows. */
void *mem_huge(size_t size);
/* n * size, checked for overflow. */
void *mem_array(size_t n, size_t size);
void *mem_resize(void *p, size_t n, size_t size);
char *mem_dup(const void *p, size_t n); /* n bytes and a final NUL */

#endif
