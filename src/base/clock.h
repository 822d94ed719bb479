/* SPDX-License-Identifier: Apache-2.0 */
/* Time. Only commands and tests read a clock; the engine is handed what it needs. */
#ifndef DRAY_BASE_CLOCK_H
#define DRAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that never goes back. */
static inline uint64_t clock_mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
