/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones by name: a reader of TZif files (RFC 8536) and of the rule at their end.
 * Times before the first transition and after the last follow Go.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cel/time.h"

enum { HEADER = 44, FILE_MAX = 1 << 20 };

/* The part of a file with 64-bit times, unless the file has only the old one. */
struct zone_file {
    char *bytes;
    size_t n;
    unsigned width; /* bytes of a transition time */
    uint32_t times, types;
    const unsigned char *when, *which, *type; /* type: 6 bytes each */
    struct str rule;
};

static uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t transition(const struct zone_file *f, uint32_t i)
{
    const unsigned char *p = f->when + (size_t)i * f->width;
    if (f->width == 4)
        return (int32_t)big32(p);
    return (int64_t)((uint64_t)big32(p) << 32 | big32(p + 4));
}

static int64_t type_offset(const struct zone_file *f, unsigned type)
{
    return (int32_t)big32(f->type + 6 * (size_t)type);
}

static bool type_is_dst(const struct zone_file *f, unsigned type)
{
    return f->type[6 * (size_t)type + 4] != 0;
}

/* ---- Files ---- */

static bool read_file(const char *path, struct zone_file *f)
{
    FILE *in = fopen(path, "rbe");
    if (in == NULL)
        return false;
    f->bytes = malloc(FILE_MAX);
    f->n = f->bytes ? fread(f->bytes, 1, FILE_MAX, in) : 0;
    fclose(in);
    if (f->n >= HEADER && memcmp(f->bytes, "TZif", 4) == 0)
        return true;
    free(f->bytes);
    f->bytes = NULL;
    return false;
}

/* Bytes of the data block behind the header at p; the counts in the order of the file:
 * UT flags, standard flags, leap seconds, times, types, characters. */
static size_t block_size(const unsigned char *p, unsigned width)
{
    size_t ut = big32(p + 20), std = big32(p + 24), leap = big32(p + 28);
    size_t times = big32(p + 32), types = big32(p + 36), chars = big32(p + 40);
    return times * (width + 1) + types * 6 + chars + leap * (width + 4) + std + ut;
}

static bool parse_file(struct zone_file *f)
{
    const unsigned char *p = (const unsigned char *)f->bytes, *end = p + f->n;
    f->width = 4;
    if (p[4] >= '2') {
        size_t skip = HEADER + block_size(p, 4);
        if (skip + HEADER > f->n)
            return false;
        p += skip;
        f->width = 8;
    }
    f->times = big32(p + 32);
    f->types = big32(p + 36);
    size_t size = block_size(p, f->width);
    p += HEADER;
    if (f->types == 0 || size > (size_t)(end - p))
        return false;
    f->when = p;
    f->which = p + (size_t)f->times * f->width;
    f->type = f->which + f->times;
    p += size;
    if (f->width == 8 && end - p > 2 && *p == '\n') {
        const unsigned char *stop = memchr(p + 1, '\n', (size_t)(end - p - 1));
        if (stop != NULL)
            f->rule = (struct str){(const char *)p + 1, (size_t)(stop - p - 1)};
    }
    for (uint32_t i = 0; i < f->times; i++)
        if (f->which[i] >= f->types)
            return false;
    return true;
}

static bool open_zone(struct str name, struct zone_file *f)
{
    static const char *const roots[] = {"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo",
                                        "/usr/lib/locale/TZ", "/etc/zoneinfo"};
    if (name.n > 200 || memchr(name.p, 0, name.n) != NULL)
        return false;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%.*s", roots[i], STR_ARG(name));
        if (!read_file(path, f))
            continue;
        if (parse_file(f))
            return true;
        free(f->bytes);
    }
    return false;
}

/* ---- The rule for times after the last transition: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

struct rule_reader {
    const char *p, *end;
    bool ok;
};

static bool rule_take(struct rule_reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool rule_name(struct rule_reader *r)
{
    const char *start = r->p;
    if (rule_take(r, '<')) {
        while (r->p < r->end && *r->p != '>')
            r->p++;
        return rule_take(r, '>');
    }
    while (r->p < r->end && ((*r->p | 32) >= 'a' && (*r->p | 32) <= 'z'))
        r->p++;
    return r->p - start >= 3;
}

static int rule_number(struct rule_reader *r, int min, int max)
{
    int v = 0;
    const char *start = r->p;
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9' && v < 10000; r->p++)
        v = v * 10 + (*r->p - '0');
    if (r->p == start || v < min || v > max)
        r->ok = false;
    return v;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static int64_t rule_offset(struct rule_reader *r)
{
    bool negative = rule_take(r, '-');
    if (!negative)
        rule_take(r, '+');
    int64_t v = rule_number(r, 0, 24 * 7) * 3600;
    if (rule_take(r, ':'))
        v += rule_number(r, 0, 59) * 60;
    if (rule_take(r, ':'))
        v += rule_number(r, 0, 59);
    return negative ? -v : v;
}

/* Day of the year (from 0) of the given weekday in the given week of a month. */
static int month_day(int month, int week, int weekday, int64_t year_start, bool leap)
{
    static const int before[] = {0,   31,  59,  90,  120, 151, 181,
                                 212, 243, 273, 304, 334, 365};
    int first = before[month - 1] + (leap && month > 2);
    int next = before[month] + (leap && month >= 2);
    int start = cel_civil(year_start + first * 86400ll, 0).weekday;
    int day = first + (weekday - start + 7) % 7 + (week - 1) * 7;
    return day < next ? day : day - 7;
}

/* Seconds from the start of the year to a change, on the local clock before it. */
static int64_t rule_change(struct rule_reader *r, int64_t year_start, bool leap)
{
    int day;
    if (rule_take(r, 'M')) {
        int month = rule_number(r, 1, 12);
        r->ok = r->ok && rule_take(r, '.');
        int week = rule_number(r, 1, 5);
        r->ok = r->ok && rule_take(r, '.');
        int weekday = rule_number(r, 0, 6);
        day = r->ok ? month_day(month, week, weekday, year_start, leap) : 0;
    } else if (rule_take(r, 'J')) {
        day = rule_number(r, 1, 365) - 1;
        day += leap && day >= 59;
    } else {
        day = rule_number(r, 0, 365);
    }
    int64_t at = 2 * 3600;
    if (rule_take(r, '/'))
        at = rule_offset(r);
    return day * 86400ll + at;
}

static bool rule_zone(struct str rule, int64_t t, int64_t *offset)
{
    struct rule_reader r = {rule.p, rule.p + rule.n, true};
    if (!rule_name(&r))
        return false;
    int64_t std = -rule_offset(&r);
    *offset = std;
    if (r.p == r.end)
        return r.ok;
    if (!rule_name(&r))
        return false;
    int64_t dst = std + 3600;
    if (r.p < r.end && *r.p != ',')
        dst = -rule_offset(&r);
    struct cel_civil c = cel_civil(t, std);
    int64_t year_start =
        t - c.yearday * 86400ll - c.hour * 3600 - c.minute * 60 - c.second;
    year_start += std; /* as a UTC clock would have it */
    bool leap = cel_civil(year_start + 365 * 86400ll, 0).year == c.year;
    r.ok = r.ok && rule_take(&r, ',');
    int64_t begin = rule_change(&r, year_start, leap) - std;
    r.ok = r.ok && rule_take(&r, ',');
    int64_t stop = rule_change(&r, year_start, leap) - dst;
    int64_t now = t - year_start;
    bool summer = begin < stop ? now >= begin && now < stop : now >= begin || now < stop;
    if (summer)
        *offset = dst;
    return r.ok;
}

/* ---- Lookup ---- */

static bool first_type_is_used(const struct zone_file *f)
{
    return memchr(f->which, 0, f->times) != NULL;
}

/* The type before the first transition: the first one if no transition leads to it, else
 * the nearest standard time. */
static unsigned type_before(const struct zone_file *f)
{
    if (f->times == 0 || !first_type_is_used(f))
        return 0;
    if (type_is_dst(f, f->which[0]))
        for (unsigned i = f->which[0]; i-- > 0;)
            if (!type_is_dst(f, i))
                return i;
    for (unsigned i = 0; i < f->types; i++)
        if (!type_is_dst(f, i))
            return i;
    return 0;
}

static int64_t offset_at(const struct zone_file *f, int64_t t)
{
    if (f->times == 0 || t < transition(f, 0)) {
        int64_t offset;
        if (f->times == 0 && f->rule.n != 0 && rule_zone(f->rule, t, &offset))
            return offset;
        return type_offset(f, type_before(f));
    }
    uint32_t lo = 0, hi = f->times;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t < transition(f, mid))
            hi = mid;
        else
            lo = mid;
    }
    int64_t offset;
    if (lo == f->times - 1 && f->rule.n != 0 && rule_zone(f->rule, t, &offset))
        return offset;
    return type_offset(f, f->which[lo]);
}

bool cel_zone_offset(struct str name, int64_t unix_seconds, int64_t *offset)
{
    if (name.n == 0 || str_is(name, "UTC") || str_is(name, "Local")) {
        *offset = 0;
        return true;
    }
    struct zone_file f = {0};
    if (!open_zone(name, &f))
        return false;
    *offset = offset_at(&f, unix_seconds);
    free(f.bytes);
    return true;
}
