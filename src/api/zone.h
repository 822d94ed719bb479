/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones of the machine's tz database (RFC 8536), without the process's own zone, so
 * that several can be in use at once.
 */
#ifndef DRAY_API_ZONE_H
#define DRAY_API_ZONE_H

#include "base/arena.h"
#include "base/str.h"

struct zone;

/* "Europe/Berlin", "UTC"; empty or "Local": the machine's own, UTC where it has none.
 * NULL: unknown, or the file makes no sense. */
const struct zone *zone_load(struct str name, struct arena *a);
/* The same of the bytes of a file. */
const struct zone *zone_read(struct str file, struct arena *a);

/* Fields as people have them: months and days from 1, weekday 0 is Sunday. */
struct zone_time {
    int64_t year;
    int month, day, hour, minute, second, weekday;
};

/* Seconds since 1970. */
struct zone_time zone_local(const struct zone *z, int64_t utc);
/* Fields beyond their ranges carry over. Of a time that a clock shows twice, or never, as
 * Go has it. */
int64_t zone_utc(const struct zone *z, const struct zone_time *local);
/* Seconds east of Greenwich. */
int32_t zone_offset(const struct zone *z, int64_t utc);

#endif
