/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of time zones as POSIX writes them, "CET-1CEST,M3.5.0,M10.5.0/3", and the
 * calendar beneath them. Pure.
 */
#ifndef DRAY_API_ZONE_RULE_H
#define DRAY_API_ZONE_RULE_H

#include "base/str.h"

struct zone_day { /* of a change, and the time of day at which it comes */
    char form;    /* 'M': month, week, weekday; 'J': day 1-365; '0': day 0-365 */
    int month, week, day;
    int32_t time_s;
};

struct zone_rule {
    bool changes;                 /* there is summer time */
    int32_t offset, summer;       /* seconds east of Greenwich */
    struct zone_day begins, ends; /* summer */
};

struct zone_change {
    int64_t at; /* seconds since 1970 */
    int32_t offset;
};

bool zone_rule_parse(struct str text, struct zone_rule *out);
/* A year's two changes, in their order. */
void zone_rule_changes(const struct zone_rule *r, int64_t year,
                       struct zone_change out[2]);

/* Days since 1970; months and days carry over. */
int64_t zone_days(int64_t year, int64_t month, int64_t day);
void zone_date(int64_t days, int64_t *year, int *month, int *day);

#endif
