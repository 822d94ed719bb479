/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing array of any type: struct { T *v; size_t n, cap; } made by VEC(T).
 *
 *     VEC(int) xs = {0};
 *     vec_push(&xs, 3);
 *     for (size_t i = 0; i < xs.n; i++) use(xs.v[i]);
 *     vec_release(&xs);
 *
 * vec_push_in takes the memory from an arena instead, to be used with vec_clear alone.
 */
#ifndef DRAY_BASE_VEC_H
#define DRAY_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"

#define VEC(type)                                                                        \
    struct {                                                                             \
        type *v;                                                                         \
        size_t n, cap;                                                                   \
    }

#define vec_reserve(vec, want)                                                           \
    do {                                                                                 \
        size_t want_ = (want);                                                           \
        if (want_ > (vec)->cap) {                                                        \
            size_t cap_ = (vec)->cap ? (vec)->cap * 2 : 8;                               \
            if (cap_ < want_)                                                            \
                cap_ = want_;                                                            \
            (vec)->v = mem_resize((vec)->v, cap_, sizeof *(vec)->v);                     \
            (vec)->cap = cap_;                                                           \
        }                                                                                \
    } while (0)

#define vec_push(vec, ...)                                                               \
    do {                                                                                 \
        vec_reserve((vec), (vec)->n + 1);                                                \
        (vec)->v[(vec)->n++] = (__VA_ARGS__);                                            \
    } while (0)

#define vec_push_in(arena, vec, ...)                                                     \
    do {                                                                                 \
        if ((vec)->n == (vec)->cap) {                                                    \
            (vec)->cap = (vec)->cap ? (vec)->cap * 2 : 8;                                \
            (vec)->v = arena_more((arena), (vec)->v, (vec)->n * sizeof *(vec)->v,        \
                                  (vec)->cap * sizeof *(vec)->v);                        \
        }                                                                                \
        (vec)->v[(vec)->n++] = (__VA_ARGS__);                                            \
    } while (0)

#define vec_pop(vec) ((vec)->v[--(vec)->n])
#define vec_clear(vec) ((void)((vec)->n = 0))
#define vec_release(vec)                                                                 \
    do {                                                                                 \
        free((vec)->v);                                                                  \
        (vec)->v = NULL;                                                                 \
        (vec)->n = (vec)->cap = 0;                                                       \
    } while (0)

#endif
