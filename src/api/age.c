/* SPDX-License-Identifier: Apache-2.0 */
#include "api/age.h"

#include "api/timestamp.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

/* Up to a limit a span is printed in one unit, or in that and in what is left in a
 * smaller one. */
static const struct {
    int64_t below, unit, rest;
    char name, rest_name;
} STEPS[] = {
    {2 * MINUTE, 1, 0, 's', 0},          {10 * MINUTE, MINUTE, 1, 'm', 's'},
    {3 * HOUR, MINUTE, 0, 'm', 0},       {8 * HOUR, HOUR, MINUTE, 'h', 'm'},
    {2 * DAY, HOUR, 0, 'h', 0},          {8 * DAY, DAY, HOUR, 'd', 'h'},
    {2 * (int64_t)YEAR, DAY, 0, 'd', 0}, {8 * (int64_t)YEAR, YEAR, DAY, 'y', 'd'},
    {INT64_MAX, YEAR, 0, 'y', 0},
};

struct str age_print(int64_t nanoseconds, struct arena *a)
{
    int64_t seconds = nanoseconds / 1000000000;
    int i = 0;
    if (seconds < -1)
        return STR("<invalid>");
    if (seconds < 0)
        return STR("0s");
    while (seconds >= STEPS[i].below)
        i++;
    long long whole = seconds / STEPS[i].unit, rest = 0;
    if (STEPS[i].rest)
        rest = seconds % STEPS[i].unit / STEPS[i].rest;
    if (rest)
        return arena_printf(a, "%lld%c%lld%c", whole, STEPS[i].name, rest,
                            STEPS[i].rest_name);
    return arena_printf(a, "%lld%c", whole, STEPS[i].name);
}

struct str age_of(struct str time, int64_t now, struct arena *a)
{
    int64_t seconds;
    int32_t nanos;
    if (!timestamp_parse(time, &seconds, &nanos))
        return STR("<unknown>");
    int64_t ahead = now / 1000000000 - seconds;
    if (ahead > INT64_MAX / 1000000000 / 2 || ahead < -10) /* far from overflow */
        return age_print(ahead < 0 ? -10000000000 : INT64_MAX, a);
    return age_print(now - seconds * 1000000000 - nanos, a);
}
