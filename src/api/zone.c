/* SPDX-License-Identifier: Apache-2.0 */
#include "api/zone.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/zone_rule.h"
#include "base/vec.h"

struct span { /* from a moment to the next one's */
    int64_t since;
    int32_t offset;
};

struct zone {
    int32_t first; /* before all spans */
    struct span *v;
    uint32_t n, cap;
};

/* ---- files ---- */

enum { HEAD = 44, TYPE_BYTES = 6, FILE_MAX = 1 << 16 };

struct reader {
    struct str rest;
    bool failed;
};

static const unsigned char *take(struct reader *r, size_t n)
{
    static const unsigned char ZEROS[HEAD];
    const unsigned char *at = (const unsigned char *)r->rest.p;
    if (r->failed || r->rest.n < n) {
        r->failed = true;
        return ZEROS;
    }
    r->rest = (struct str){r->rest.p + n, r->rest.n - n};
    return at;
}

static int64_t big_endian(const unsigned char *p, unsigned n)
{
    uint64_t v = p[0] & 0x80 ? UINT64_MAX : 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

struct head {
    char version;
    uint32_t isut, isstd, leap, time, type, chars;
};

static struct head read_head(struct reader *r)
{
    const unsigned char *p = take(r, HEAD);
    struct head h = {.version = (char)p[4]};
    uint32_t *const counts[] = {&h.isut, &h.isstd, &h.leap, &h.time, &h.type, &h.chars};
    r->failed |= memcmp(p, "TZif", 4) != 0;
    for (int i = 0; i < 6; i++) {
        *counts[i] = (uint32_t)big_endian(p + 20 + 4 * i, 4);
        r->failed |= *counts[i] > FILE_MAX;
    }
    return h;
}

/* width: bytes of a time. */
static size_t body_size(const struct head *h, size_t width)
{
    return h->time * (width + 1) + (size_t)h->type * TYPE_BYTES + h->chars +
           h->leap * (width + 4) + h->isstd + h->isut;
}

static int32_t type_offset(const unsigned char *types, const struct head *h, unsigned i)
{
    return i < h->type ? (int32_t)big_endian(types + (size_t)i * TYPE_BYTES, 4) : 0;
}

static void read_body(struct reader *r, const struct head *h, struct zone *z,
                      struct arena *a)
{
    enum { WIDTH = 8 };
    const unsigned char *times = take(r, (size_t)h->time * WIDTH),
                        *which = take(r, h->time),
                        *types = take(r, (size_t)h->type * TYPE_BYTES);
    take(r, h->chars + (size_t)h->leap * (WIDTH + 4) + h->isstd + h->isut);
    if (r->failed)
        return;
    z->first = type_offset(types, h, 0);
    for (uint32_t i = 0; i < h->time; i++) {
        struct span s = {big_endian(times + (size_t)i * WIDTH, WIDTH),
                         type_offset(types, h, which[i])};
        vec_push_in(a, z, s);
    }
}

/* What comes after the last change that the file has: the rule in its last line. */
static void read_rule(struct reader *r, struct zone *z, struct arena *a)
{
    enum { LAST_YEAR = 2200 };
    struct zone_rule rule;
    struct str line = str_trim(r->rest);
    int64_t from = z->n ? z->v[z->n - 1].since : 0;
    if (!line.n || !zone_rule_parse(line, &rule))
        return;
    if (!rule.changes && !z->n)
        z->first = rule.offset;
    for (int64_t year = 1970; rule.changes && year <= LAST_YEAR; year++) {
        struct zone_change changes[2];
        zone_rule_changes(&rule, year, changes);
        for (int i = 0; i < 2; i++)
            if (changes[i].at > from) {
                struct span s = {changes[i].at, changes[i].offset};
                vec_push_in(a, z, s);
            }
    }
}

const struct zone *zone_read(struct str file, struct arena *a)
{
    struct reader r = {file, false};
    struct zone *z = ARENA_NEW(a, struct zone);
    struct head h = read_head(&r);
    if (r.failed || h.version < '2')
        return NULL;
    take(&r, body_size(&h, 4));
    h = read_head(&r);
    read_body(&r, &h, z, a);
    if (r.failed)
        return NULL;
    read_rule(&r, z, a);
    return z;
}

static const struct zone *load_file(const char *path, struct arena *a)
{
    char *bytes = arena_alloc(a, FILE_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t n = 0;
    for (ssize_t got; n < FILE_MAX && (got = read(fd, bytes + n, FILE_MAX - n)) > 0;)
        n += (size_t)got;
    close(fd);
    return zone_read((struct str){bytes, n}, a);
}

const struct zone *zone_load(struct str name, struct arena *a)
{
    char path[256];
    const struct zone *local;
    if (str_is(name, "UTC"))
        return ARENA_NEW(a, struct zone);
    if (!name.n || str_is(name, "Local")) {
        local = load_file("/etc/localtime", a);
        return local ? local : ARENA_NEW(a, struct zone);
    }
    int n = snprintf(path, sizeof path, "/usr/share/zoneinfo/%.*s", STR_ARG(name));
    if (n < 0 || (size_t)n >= sizeof path || str_find(name, STR("..")) != SIZE_MAX ||
        str_starts(name, STR("/")) || str_starts(name, STR("\\")))
        return NULL;
    return load_file(path, a);
}

/* ---- times ---- */

/* The span of a moment, and where it begins and ends. */
static int32_t lookup(const struct zone *z, int64_t utc, int64_t *start, int64_t *end)
{
    uint32_t low = 0, high = z->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (z->v[mid].since <= utc)
            low = mid + 1;
        else
            high = mid;
    }
    *start = low ? z->v[low - 1].since : INT64_MIN;
    *end = low < z->n ? z->v[low].since : INT64_MAX;
    return low ? z->v[low - 1].offset : z->first;
}

int32_t zone_offset(const struct zone *z, int64_t utc)
{
    int64_t start, end;
    return lookup(z, utc, &start, &end);
}

struct zone_time zone_local(const struct zone *z, int64_t utc)
{
    int64_t t = utc + zone_offset(z, utc), day = t / 86400, left = t % 86400;
    if (left < 0) {
        left += 86400;
        day--;
    }
    struct zone_time out = {.hour = (int)(left / 3600),
                            .minute = (int)(left / 60 % 60),
                            .second = (int)(left % 60)};
    zone_date(day, &out.year, &out.month, &out.day);
    out.weekday = (int)(((day + 4) % 7 + 7) % 7);
    return out;
}

int64_t zone_utc(const struct zone *z, const struct zone_time *local)
{
    int64_t start, end,
        unix_s = zone_days(local->year, local->month, local->day) * 86400 +
                 local->hour * 3600 + local->minute * 60 + local->second;
    int32_t offset = lookup(z, unix_s, &start, &end);
    if (unix_s - offset < start || unix_s - offset >= end)
        offset = lookup(z, unix_s - offset, &start, &end);
    return unix_s - offset;
}
