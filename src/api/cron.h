/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of CronJobs: five fields, or "@daily" and its like. */
#ifndef DRAY_API_CRON_H
#define DRAY_API_CRON_H

#include "api/zone.h"

/* false: *why says what upstream's library says of it; it lives in a. */
bool cron_check(struct str schedule, struct arena *a, struct str *why);
/* A schedule that can be asked for its times; a bit for each value of a field. */
struct cron {
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday; /* "*": the other one decides */
    int64_t every_s;           /* "@every": instead of all fields; 0: not */
    const struct zone *zone;
};

/* zone: unless the schedule names its own; empty: the machine's. Lives in a. */
bool cron_parse(struct str schedule, struct str zone, struct arena *a, struct cron *out,
                struct str *why);
/* The first time after one; seconds since 1970. false: there is none within five years.
 */
bool cron_next(const struct cron *c, int64_t after, int64_t *next);

/* A name of the tz database, which is looked for on this machine; where there is none,
 * every well-formed name passes. */
bool cron_zone_known(struct str name);

#endif
