/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: instants, durations and time zones as Go has them. A zone by name is
 * read from the system's time zone database; neither the process's zone nor its
 * environment is looked at, and nothing is kept.
 */
#ifndef DRAY_CEL_TIME_H
#define DRAY_CEL_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "cel/value.h"

#define CEL_NANOS INT64_C(1000000000)

/* Seconds since 1970 of 0001-01-01T00:00:00Z and of the last second of 9999. */
#define CEL_TIME_MIN INT64_C(-62135596800)
#define CEL_TIME_MAX INT64_C(253402300799)

struct cel_civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second;
    int weekday; /* 0 Sunday */
    int yearday; /* from 0 */
};

/* Of an instant as a clock that is offset seconds east of UTC shows it. */
struct cel_civil cel_civil(int64_t unix_seconds, int64_t offset);

/* RFC 3339 as Go's time.Parse takes it; no range check. */
bool cel_time_parse(struct str text, struct cel_value *out);
/* "1h30m", "-1.5s", "0": Go's time.ParseDuration. */
bool cel_duration_parse(struct str text, int64_t *out);

/* "90s", "1.5s" */
void cel_print_seconds(int64_t ns, struct strbuf *out);
/* "1m30s": Go's Duration.String */
void cel_print_duration(int64_t ns, struct strbuf *out);
/* "2024-01-01T01:00:00.5+01:00" */
void cel_print_rfc3339(struct cel_value v, struct strbuf *out);
/* "2024-01-01 01:00:00.5 +0100 +0100": Go's Time.String */
void cel_print_go_time(struct cel_value v, struct strbuf *out);

/* Seconds east of UTC in a zone ("Europe/Berlin", "UTC", "", "Local") at an instant.
 * False: no such zone. */
bool cel_zone_offset(struct str name, int64_t unix_seconds, int64_t *offset);

#endif
