/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time as kubectl prints them (spec 6, rule 5). */
#ifndef DRAY_API_AGE_H
#define DRAY_API_AGE_H

#include <stdint.h>

#include "base/arena.h"

/* "42s", "2m5s", "3d4h"; "<invalid>" for what lies more than a second ahead. */
struct str age_print(int64_t nanoseconds, struct arena *a);
/* Of an RFC 3339 time, seen from now (nanoseconds since 1970). "<unknown>": no time. */
struct str age_of(struct str time, int64_t now, struct arena *a);

#endif
