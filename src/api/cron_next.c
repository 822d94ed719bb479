/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next time of a schedule, found as upstream's library finds it: field by field, from
 * the month down; where a field wraps around, all begins again. So times that summer time
 * skips or repeats come out the same.
 */
#include "api/cron.h"

struct search {
    const struct cron *c;
    int64_t at;
    struct zone_time t; /* the same, in the zone */
    bool moved;         /* smaller fields are at their beginnings */
};

static void go(struct search *s, int64_t at)
{
    s->at = at;
    s->t = zone_local(s->c->zone, at);
}

static void go_local(struct search *s, struct zone_time t)
{
    go(s, zone_utc(s->c->zone, &t));
}

static bool has(uint64_t bits, int value)
{
    return bits >> value & 1;
}

static bool fits_day(const struct search *s)
{
    bool day = has(s->c->days, s->t.day), weekday = has(s->c->weekdays, s->t.weekday);
    return s->c->any_day || s->c->any_weekday ? day && weekday : day || weekday;
}

/* The beginning of what a field counts, once. */
static void begin(struct search *s, struct zone_time t)
{
    if (!s->moved)
        go_local(s, t);
    s->moved = true;
}

/* Each: false where its field has wrapped around. */
static bool find_month(struct search *s)
{
    while (!has(s->c->months, s->t.month)) {
        begin(s, (struct zone_time){.year = s->t.year, .month = s->t.month, .day = 1});
        struct zone_time next = s->t;
        next.month++;
        go_local(s, next);
        if (s->t.month == 1)
            return false;
    }
    return true;
}

/* Where there is no midnight the day begins an hour later, or earlier. */
static bool find_day(struct search *s)
{
    while (!fits_day(s)) {
        begin(s, (struct zone_time){
                     .year = s->t.year, .month = s->t.month, .day = s->t.day});
        struct zone_time next = s->t;
        next.day++;
        go_local(s, next);
        if (s->t.hour > 12)
            go(s, s->at + (24 - s->t.hour) * 3600);
        else if (s->t.hour)
            go(s, s->at - s->t.hour * 3600);
        if (s->t.day == 1)
            return false;
    }
    return true;
}

static bool find_hour(struct search *s)
{
    while (!has(s->c->hours, s->t.hour)) {
        begin(s, (struct zone_time){.year = s->t.year,
                                    .month = s->t.month,
                                    .day = s->t.day,
                                    .hour = s->t.hour});
        go(s, s->at + 3600);
        if (s->t.hour == 0)
            return false;
    }
    return true;
}

static bool find_minute(struct search *s)
{
    while (!has(s->c->minutes, s->t.minute)) {
        if (!s->moved)
            go(s, s->at - s->t.second);
        s->moved = true;
        go(s, s->at + 60);
        if (s->t.minute == 0)
            return false;
    }
    return true;
}

static bool find_second(struct search *s)
{
    if (!s->t.second)
        return true;
    go(s, s->at + 60 - s->t.second);
    s->moved = true;
    return false;
}

bool cron_next(const struct cron *c, int64_t after, int64_t *next)
{
    enum { YEARS = 5 };
    struct search s = {.c = c};
    *next = after + c->every_s;
    if (c->every_s)
        return true;
    go(&s, after + 1);
    int64_t last = s.t.year + YEARS;
    while (s.t.year <= last)
        if (find_month(&s) && find_day(&s) && find_hour(&s) && find_minute(&s) &&
            find_second(&s)) {
            *next = s.at;
            return true;
        }
    return false;
}
