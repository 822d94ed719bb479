/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cron.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/quote.h"
#include "base/str.h"

static const char *const MONTHS[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const DAYS[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

static const struct field {
    int64_t min, max;
    const char *const *names;
    unsigned nnames;
} FIELDS[] = {
    {0, 59, NULL, 0},    {0, 23, NULL, 0}, {1, 31, NULL, 0},
    {1, 12, MONTHS, 12}, {0, 6, DAYS, 7},
};
enum { NFIELDS = sizeof FIELDS / sizeof *FIELDS };

struct reading {
    struct arena *a;
    struct str *why;
    struct cron *out;
};

static bool refuse(struct reading *r, struct str why)
{
    *r->why = why;
    return false;
}

static const char *quoted(struct reading *r, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    const char *text = arena_str(r->a, strbuf_str(&b)).p;
    strbuf_release(&b);
    return text;
}

/* ---- numbers ---- */

static bool read_number(struct reading *r, struct str s, int64_t *out)
{
    enum { DIGITS_MAX = 18 };
    size_t sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool negative = sign && s.p[0] == '-', ok = s.n > sign;
    const char *what = "invalid syntax";
    *out = 0;
    for (size_t i = sign; ok && i < s.n; i++) {
        ok = s.p[i] >= '0' && s.p[i] <= '9';
        if (ok && i - sign < DIGITS_MAX)
            *out = *out * 10 + (s.p[i] - '0');
    }
    if (ok && s.n - sign > DIGITS_MAX) {
        ok = false;
        what = "value out of range";
    }
    if (!ok)
        return refuse(r, arena_printf(r->a,
                                      "failed to parse int from %.*s: strconv.Atoi: "
                                      "parsing %s: %s",
                                      STR_ARG(s), quoted(r, s), what));
    if (negative && *out > 0)
        return refuse(r, arena_printf(r->a, "negative number (-%lld) not allowed: %.*s",
                                      (long long)*out, STR_ARG(s)));
    return true;
}

static bool read_value(struct reading *r, const struct field *f, struct str s,
                       int64_t *out)
{
    for (unsigned i = 0; i < f->nnames; i++)
        if (s.n == 3 && strncasecmp(s.p, f->names[i], 3) == 0) {
            *out = f->min + i;
            return true;
        }
    return read_number(r, s, out);
}

/* ---- ranges ---- */

static unsigned count(struct str s, char c)
{
    unsigned n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

static bool refuse_range(struct reading *r, const char *text, struct str expr)
{
    return refuse(r, arena_printf(r->a, "%s: %.*s", text, STR_ARG(expr)));
}

/* "1", "1-5", "*" */
static bool read_ends(struct reading *r, const struct field *f, struct str expr,
                      struct str span, int64_t *start, int64_t *end)
{
    size_t dash = str_find_byte(span, '-', 0);
    struct str low = str_sub(span, 0, dash);
    *start = f->min;
    *end = f->max;
    if (str_is(low, "*") || str_is(low, "?"))
        return true;
    if (!read_value(r, f, low, start))
        return false;
    *end = *start;
    if (dash == SIZE_MAX)
        return true;
    if (count(span, '-') > 1)
        return refuse_range(r, "too many hyphens", expr);
    return read_value(r, f, str_sub(span, dash + 1, SIZE_MAX), end);
}

static bool check_bounds(struct reading *r, const struct field *f, struct str expr,
                         int64_t start, int64_t end, int64_t step)
{
    struct arena *a = r->a;
    if (start < f->min)
        return refuse(r,
                      arena_printf(a,
                                   "beginning of range (%lld) below minimum (%lld): "
                                   "%.*s",
                                   (long long)start, (long long)f->min, STR_ARG(expr)));
    if (end > f->max)
        return refuse(r, arena_printf(a, "end of range (%lld) above maximum (%lld): %.*s",
                                      (long long)end, (long long)f->max, STR_ARG(expr)));
    if (start > end)
        return refuse(r, arena_printf(a,
                                      "beginning of range (%lld) beyond end of range "
                                      "(%lld): %.*s",
                                      (long long)start, (long long)end, STR_ARG(expr)));
    return step ? true
                : refuse_range(r, "step of range should be a positive number", expr);
}

/* "*" without a step leaves the choice of days to the other field. */
static void add_range(struct reading *r, const struct field *f, struct str span,
                      int64_t start, int64_t end, int64_t step)
{
    struct cron *c = r->out;
    size_t i = (size_t)(f - FIELDS);
    uint64_t *const bits[] = {&c->minutes, &c->hours, &c->days, &c->months, &c->weekdays};
    bool any = step == 1 && (str_is(span, "*") || str_is(span, "?"));
    for (int64_t v = start; v <= end; v += step)
        *bits[i] |= 1ull << v;
    c->any_day |= any && i == 2;
    c->any_weekday |= any && i == 4;
}

static bool check_range(struct reading *r, const struct field *f, struct str expr)
{
    size_t slash = str_find_byte(expr, '/', 0);
    struct str span = str_sub(expr, 0, slash);
    int64_t start, end, step = 1;
    if (!read_ends(r, f, expr, span, &start, &end))
        return false;
    if (count(expr, '/') > 1)
        return refuse_range(r, "too many slashes", expr);
    if (slash != SIZE_MAX) {
        if (!read_number(r, str_sub(expr, slash + 1, SIZE_MAX), &step))
            return false;
        if (str_find_byte(span, '-', 0) == SIZE_MAX)
            end = f->max;
    }
    if (!check_bounds(r, f, expr, start, end, step))
        return false;
    add_range(r, f, span, start, end, step);
    return true;
}

static bool check_field(struct reading *r, const struct field *f, struct str s)
{
    for (size_t from = 0; from < s.n;) {
        size_t comma = str_find_byte(s, ',', from);
        struct str expr = str_sub(s, from, comma);
        if (expr.n && !check_range(r, f, expr))
            return false;
        from = comma == SIZE_MAX ? s.n : comma + 1;
    }
    return true;
}

/* ---- schedules ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool check_fields(struct reading *r, struct str s)
{
    struct str parts[NFIELDS];
    struct strbuf shown = STRBUF_INIT;
    unsigned n = 0;
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && !is_space(s.p[i]))
            i++;
        struct str part = {s.p + from, i - from};
        if (part.n)
            strbuf_addf(&shown, "%s%.*s", n ? " " : "", STR_ARG(part));
        if (part.n && n++ < NFIELDS)
            parts[n - 1] = part;
        i += i < s.n;
    }
    if (n != NFIELDS)
        refuse(r, arena_printf(r->a, "expected exactly 5 fields, found %u: [%s]", n,
                               strbuf_cstr(&shown)));
    strbuf_release(&shown);
    for (unsigned i = 0; n == NFIELDS && i < NFIELDS; i++)
        if (!check_field(r, &FIELDS[i], parts[i]))
            return false;
    return n == NFIELDS;
}

static bool check_descriptor(struct reading *r, struct str s)
{
    static const struct {
        const char *name, *fields;
    } NAMES[] = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"},
    };
    static const struct str EVERY = STR("@every ");
    uint64_t ms;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_is(s, NAMES[i].name))
            return check_fields(r, str_from(NAMES[i].fields));
    if (!str_starts(s, EVERY))
        return refuse(r, arena_printf(r->a, "unrecognized descriptor: %.*s", STR_ARG(s)));
    struct str time = str_sub(s, EVERY.n, SIZE_MAX);
    if (duration_parse(time, &ms)) {
        r->out->every_s = ms < 1000 ? 1 : (int64_t)(ms / 1000);
        return true;
    }
    return refuse(r, arena_printf(r->a,
                                  "failed to parse duration %.*s: time: invalid duration "
                                  "%s",
                                  STR_ARG(s), quoted(r, time)));
}

/* "TZ=Europe/Berlin ..." */
static bool skip_zone(struct reading *r, struct str *s, struct str *named)
{
    if (!str_starts(*s, STR("TZ=")) && !str_starts(*s, STR("CRON_TZ=")))
        return true;
    size_t space = str_find_byte(*s, ' ', 0), eq = str_find_byte(*s, '=', 0);
    if (space == SIZE_MAX)
        return refuse(r,
                      STR("invalid schedule format: runtime error: slice bounds out of "
                          "range [:-1]"));
    struct str zone = {s->p + eq + 1, space - eq - 1};
    if (zone.n && !cron_zone_known(zone))
        return refuse(
            r, arena_printf(r->a, "provided bad location %.*s: unknown time zone %.*s",
                            STR_ARG(zone), STR_ARG(zone)));
    *named = zone.n ? zone : STR("UTC");
    *s = str_trim(str_sub(*s, space, SIZE_MAX));
    return true;
}

static bool read_schedule(struct reading *r, struct str schedule, struct str *zone)
{
    if (schedule.n == 0)
        return refuse(r, STR("empty spec string"));
    if (!skip_zone(r, &schedule, zone))
        return false;
    return str_starts(schedule, STR("@")) ? check_descriptor(r, schedule)
                                          : check_fields(r, schedule);
}

bool cron_check(struct str schedule, struct arena *a, struct str *why)
{
    struct cron c = {0};
    struct reading r = {a, why, &c};
    struct str zone;
    return read_schedule(&r, schedule, &zone);
}

bool cron_parse(struct str schedule, struct str zone, struct arena *a, struct cron *out,
                struct str *why)
{
    struct reading r = {a, why, out};
    *out = (struct cron){0};
    if (!read_schedule(&r, schedule, &zone))
        return false;
    out->zone = zone_load(zone, a);
    if (!out->zone)
        return refuse(&r, arena_printf(a, "unknown time zone %.*s", STR_ARG(zone)));
    return true;
}

bool cron_zone_known(struct str name)
{
    static const char FOLDER[] = "/usr/share/zoneinfo";
    char path[256];
    int n = snprintf(path, sizeof path, "%s/%.*s", FOLDER, STR_ARG(name));
    if (str_is(name, "UTC") || str_is(name, "Local"))
        return true;
    struct stat st;
    if (n < 0 || (size_t)n >= sizeof path || str_find(name, STR("..")) != SIZE_MAX ||
        str_starts(name, STR("/")) || str_starts(name, STR("\\")))
        return false;
    return access(FOLDER, F_OK) != 0 || (stat(path, &st) == 0 && S_ISREG(st.st_mode));
}
