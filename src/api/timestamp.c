/* SPDX-License-Identifier: Apache-2.0 */
#include "api/timestamp.h"

#include <stdio.h>

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned of_era = (unsigned)(year - era * 400);
    unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + (int64_t)(of_era * 365 + of_era / 4 - of_era / 100 + of_year) -
           719468;
}

static void date_of(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned of_era = (unsigned)(days - era * 146097);
    unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * years + years / 4 - years / 100);
    unsigned m = (5 * of_year + 2) / 153;
    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = (int64_t)years + era * 400 + (*month <= 2);
}

/* Exactly n digits at s[*at]. */
static bool digits(struct str s, size_t *at, unsigned n, unsigned *out)
{
    unsigned v = 0;
    for (unsigned i = 0; i < n; i++, ++*at) {
        if (*at >= s.n || s.p[*at] < '0' || s.p[*at] > '9')
            return false;
        v = v * 10 + (unsigned)(s.p[*at] - '0');
    }
    *out = v;
    return true;
}

static bool skip(struct str s, size_t *at, char c)
{
    if (*at >= s.n || s.p[*at] != c)
        return false;
    ++*at;
    return true;
}

static void fraction(struct str s, size_t *at, int32_t *nanos)
{
    int32_t unit = 100000000;
    for (; *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9'; ++*at, unit /= 10)
        *nanos += (s.p[*at] - '0') * unit;
}

/* Z, or +hh:mm; in seconds east of UTC. */
static bool zone(struct str s, size_t *at, int64_t *east)
{
    unsigned hours, minutes;
    *east = 0;
    if (skip(s, at, 'Z'))
        return true;
    bool minus = *at < s.n && s.p[*at] == '-';
    if (!minus && (*at >= s.n || s.p[*at] != '+'))
        return false;
    ++*at;
    if (!digits(s, at, 2, &hours) || !skip(s, at, ':') || !digits(s, at, 2, &minutes) ||
        hours > 24 || minutes > 60)
        return false;
    *east = (int64_t)(hours * 3600 + minutes * 60) * (minus ? -1 : 1);
    return true;
}

bool timestamp_parse(struct str s, int64_t *seconds, int32_t *nanos)
{
    unsigned year, month, day, hour, minute, second;
    int32_t fine = 0;
    int64_t east;
    size_t at = 0;
    if (!digits(s, &at, 4, &year) || !skip(s, &at, '-') || !digits(s, &at, 2, &month) ||
        !skip(s, &at, '-') || !digits(s, &at, 2, &day) || !skip(s, &at, 'T') ||
        !digits(s, &at, 2, &hour) || !skip(s, &at, ':') || !digits(s, &at, 2, &minute) ||
        !skip(s, &at, ':') || !digits(s, &at, 2, &second))
        return false;
    if (at < s.n && s.p[at] == '.') {
        at++;
        fraction(s, &at, &fine);
    }
    if (!zone(s, &at, &east) || at != s.n || month < 1 || month > 12 || day < 1 ||
        day > 31 || hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds =
        days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - east;
    *nanos = fine;
    return true;
}

struct str timestamp_print(int64_t seconds, int32_t nanos, bool micro, struct arena *a)
{
    int64_t days = seconds / 86400, rest = seconds % 86400, year;
    unsigned month, day;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    date_of(days, &year, &month, &day);
    char fine[16] = "";
    if (micro)
        snprintf(fine, sizeof fine, ".%06d", nanos / 1000);
    return arena_printf(a, "%04lld-%02u-%02uT%02u:%02u:%02u%sZ", (long long)year, month,
                        day, (unsigned)(rest / 3600), (unsigned)(rest / 60 % 60),
                        (unsigned)(rest % 60), fine);
}
