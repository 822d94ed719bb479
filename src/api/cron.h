/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of CronJobs: five fields, or "@daily" and its like. */
#ifndef DRAY_API_CRON_H
#define DRAY_API_CRON_H

#include "base/arena.h"
#include "base/str.h"

/* false: *why says what upstream's library says of it; it lives in a. */
bool cron_check(struct str schedule, struct arena *a, struct str *why);
/* A name of the tz database, which is looked for on this machine; where there is none,
 * every well-formed name passes. */
bool cron_zone_known(struct str name);

#endif
