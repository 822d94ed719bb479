/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of instants and durations, and the accessors getFullYear() ... */
#include "base/quote.h"
#include "cel/cel.h"
#include "cel/std.h"
#include "cel/time.h"

struct cel_value cel_time_add(struct cel_value t, int64_t ns)
{
    int64_t nanos = (int64_t)t.len + ns % CEL_NANOS;
    int64_t sec = ns / CEL_NANOS;
    if (nanos < 0 || nanos >= CEL_NANOS) {
        sec += nanos < 0 ? -1 : 1;
        nanos += nanos < 0 ? CEL_NANOS : -CEL_NANOS;
    }
    /* Messages hold instants far beyond the years of the language. */
    if (__builtin_add_overflow(t.i, sec, &sec))
        return CEL_ERROR_CONST("integer overflow");
    if (sec < CEL_TIME_MIN || sec > CEL_TIME_MAX)
        return CEL_ERROR_CONST("timestamp overflow");
    return cel_timestamp_in(sec, (uint32_t)nanos, (int16_t)t.aux2);
}

struct cel_value cel_time_between(struct cel_value a, struct cel_value b)
{
    int64_t ns;
    if (__builtin_sub_overflow(a.i, b.i, &ns) ||
        __builtin_mul_overflow(ns, CEL_NANOS, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a.len - (int64_t)b.len, &ns))
        return CEL_ERROR_CONST("integer overflow");
    return cel_duration(ns);
}

/* ---- Zones ---- */

/* Go's strconv.Atoi; an error value or an int. */
static struct cel_value parse_number(struct cel_run *run, struct str s)
{
    bool negative = s.n != 0 && *s.p == '-';
    size_t i = s.n != 0 && (*s.p == '-' || *s.p == '+');
    const char *why = i < s.n ? NULL : "invalid syntax";
    int64_t v = 0;
    for (; i < s.n && (why == NULL || *why == 'v'); i++) {
        int digit = s.p[i] - '0';
        if (digit < 0 || digit > 9)
            why = "invalid syntax";
        else if (__builtin_mul_overflow(v, 10, &v) ||
                 __builtin_add_overflow(v, negative ? -digit : digit, &v))
            why = "value out of range";
    }
    if (why == NULL)
        return cel_int(v);
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    struct cel_value e =
        cel_errorf(run, "strconv.Atoi: parsing %s: %s", strbuf_cstr(&b), why);
    strbuf_release(&b);
    return e;
}

/* "+02:00" in seconds, or an error. */
static struct cel_value fixed_offset(struct cel_run *run, struct str zone, size_t colon)
{
    struct cel_value hours = parse_number(run, str_sub(zone, 0, colon));
    if (hours.kind == CEL_ERROR)
        return hours;
    struct cel_value minutes = parse_number(run, str_sub(zone, colon + 1, zone.n));
    if (minutes.kind == CEL_ERROR)
        return minutes;
    /* Offsets that no clock has wrap in upstream; here they stay below a century. */
    int64_t limit = INT64_C(100) * 366 * 24 * 60;
    int64_t h = hours.i % limit, m = minutes.i % limit;
    return cel_int((*zone.p == '-' ? h * 60 - m : h * 60 + m) * 60);
}

static bool is_bad_location(struct str zone)
{
    return zone.n != 0 &&
           (*zone.p == '/' || *zone.p == '\\' || str_find(zone, STR("..")) != SIZE_MAX);
}

/* Zones are files, and so is what is wrong with a name. */
static bool is_too_long(struct str zone)
{
    enum { NAME_LONGEST = 255 };
    size_t from = 0, slash;
    while ((slash = str_find_byte(zone, '/', from)) != SIZE_MAX &&
           slash - from <= NAME_LONGEST)
        from = slash + 1;
    return (slash == SIZE_MAX ? zone.n : slash) - from > NAME_LONGEST;
}

/* Seconds east of UTC at the instant t. */
static struct cel_value zone_offset(struct cel_run *run, struct cel_value t,
                                    struct str zone)
{
    size_t colon = str_find_byte(zone, ':', 0);
    if (colon != SIZE_MAX)
        return fixed_offset(run, zone, colon);
    if (is_bad_location(zone))
        return CEL_ERROR_CONST("time: invalid location name");
    if (is_too_long(zone))
        return CEL_ERROR_CONST("file name too long");
    int64_t offset;
    if (!cel_zone_offset(zone, t.i, &offset))
        return cel_errorf(run, "unknown time zone %.*s", STR_ARG(zone));
    return cel_int(offset);
}

/* ---- Accessors ---- */

/* The time on the clock that the arguments ask for; false with *error set. */
static bool clock_of(struct cel_run *run, const struct cel_value *args, unsigned n,
                     struct cel_civil *out, struct cel_value *error)
{
    struct cel_value offset = cel_int(0);
    if (n > 1)
        offset = zone_offset(run, args[0], cel_str(args[1]));
    if (offset.kind == CEL_ERROR) {
        *error = offset;
        return false;
    }
    *out = cel_civil(args[0].i, offset.i);
    return true;
}

#define ACCESSOR(name, value)                                                            \
    struct cel_value cel_std_##name(struct cel_run *run, const struct cel_value *args,   \
                                    unsigned n)                                          \
    {                                                                                    \
        struct cel_civil c;                                                              \
        struct cel_value error;                                                          \
        return clock_of(run, args, n, &c, &error) ? cel_int(value) : error;              \
    }

ACCESSOR(year, c.year)
ACCESSOR(month, c.month - 1)
ACCESSOR(day_of_year, c.yearday)
ACCESSOR(day_of_month, c.day - 1)
ACCESSOR(date, c.day)
ACCESSOR(day_of_week, c.weekday)
ACCESSOR(hours, c.hour)
ACCESSOR(minutes, c.minute)
ACCESSOR(seconds, c.second)
ACCESSOR(milliseconds, args[0].len / 1000000)

/* Whole units in a duration, by way of a double as Go has it. */
static struct cel_value whole_units(int64_t ns, int64_t unit)
{
    int64_t whole = ns / unit;
    return cel_int((int64_t)((double)whole + (double)(ns % unit) / (double)unit));
}

struct cel_value cel_std_duration_hours(struct cel_run *run, const struct cel_value *args,
                                        unsigned n)
{
    return whole_units(args[0].i, 3600 * CEL_NANOS);
}

struct cel_value cel_std_duration_minutes(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    return whole_units(args[0].i, 60 * CEL_NANOS);
}

struct cel_value cel_std_duration_seconds(struct cel_run *run,
                                          const struct cel_value *args, unsigned n)
{
    return whole_units(args[0].i, CEL_NANOS);
}

struct cel_value cel_std_duration_milliseconds(struct cel_run *run,
                                               const struct cel_value *args, unsigned n)
{
    return cel_int(args[0].i / 1000000);
}
