/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/time.h"

#include "cel/cel.h"

enum { DAY = 86400 };

/* ---- The calendar: days since 1970-01-01, in the proleptic Gregorian calendar. Years
 * begin in March here, so that the leap day is the last of its year. ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = floor_div(year, 400);
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int64_t year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

static void set_date(struct cel_civil *c, int64_t days)
{
    days += 719468;
    int64_t era = floor_div(days, 146097);
    int64_t of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int month = (int)((5 * of_year + 2) / 153);
    c->day = (int)(of_year - (153 * month + 2) / 5) + 1;
    c->month = month < 10 ? month + 3 : month - 9;
    c->year = year + era * 400 + (c->month <= 2);
}

struct cel_civil cel_civil(int64_t unix_seconds, int64_t offset)
{
    int64_t days = floor_div(unix_seconds, DAY);
    int64_t of_day = (unix_seconds % DAY + DAY) % DAY + offset;
    days += floor_div(of_day, DAY);
    int rest = (int)(of_day - floor_div(of_day, DAY) * DAY);
    struct cel_civil c = {
        .hour = rest / 3600,
        .minute = rest / 60 % 60,
        .second = rest % 60,
        .weekday = (int)(((days + 4) % 7 + 7) % 7),
    };
    set_date(&c, days);
    c.yearday = (int)(days - days_from_civil(c.year, 1, 1));
    return c;
}

/* ---- Instants from text ---- */

struct reader {
    const char *p, *end;
    bool ok;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool at_digit(const struct reader *r, size_t ahead)
{
    return (size_t)(r->end - r->p) > ahead && is_digit(r->p[ahead]);
}

/* Exactly n digits. */
static int take_digits(struct reader *r, int n, int min, int max)
{
    int v = 0;
    for (int i = 0; i < n; i++, r->p++) {
        if (!at_digit(r, 0)) {
            r->ok = false;
            return min;
        }
        v = v * 10 + (*r->p - '0');
    }
    if (v < min || v > max)
        r->ok = false;
    return r->ok ? v : min;
}

static bool take(struct reader *r, const char *any)
{
    if (r->p == r->end || strchr(any, *r->p) == NULL || *r->p == 0)
        return false;
    r->p++;
    return true;
}

static void expect(struct reader *r, const char *any)
{
    if (!take(r, any))
        r->ok = false;
}

/* ".5" in nanoseconds; digits beyond the ninth are dropped. */
static uint32_t take_fraction(struct reader *r)
{
    if (!at_digit(r, 1) || !take(r, ".,"))
        return 0;
    uint32_t ns = 0, unit = 100000000;
    for (; at_digit(r, 0); r->p++, unit /= 10)
        ns += (uint32_t)(*r->p - '0') * unit;
    return ns;
}

/* Minutes east of UTC. Go lets people write offsets of 24 hours and 60 minutes. */
static int take_zone(struct reader *r)
{
    if (take(r, "Z"))
        return 0;
    bool west = r->p < r->end && *r->p == '-';
    expect(r, "+-");
    int hours = take_digits(r, 2, 0, 24);
    expect(r, ":");
    int minutes = hours * 60 + take_digits(r, 2, 0, 60);
    return west ? -minutes : minutes;
}

bool cel_time_parse(struct str text, struct cel_value *out)
{
    struct reader r = {text.p, text.p + text.n, true};
    int year = take_digits(&r, 4, 0, 9999);
    expect(&r, "-");
    int month = take_digits(&r, 2, 1, 12);
    expect(&r, "-");
    int day = take_digits(&r, 2, 1, days_in_month(year, month));
    expect(&r, "T");
    int hour = take_digits(&r, at_digit(&r, 1) ? 2 : 1, 0, 23);
    expect(&r, ":");
    int minute = take_digits(&r, 2, 0, 59);
    expect(&r, ":");
    int second = take_digits(&r, 2, 0, 59);
    uint32_t ns = take_fraction(&r);
    int zone = take_zone(&r);
    if (!r.ok || r.p != r.end)
        return false;
    int64_t unix_seconds = days_from_civil(year, month, day) * DAY + hour * 3600 +
                           (minute - zone) * 60 + second;
    *out = cel_timestamp_in(unix_seconds, ns, zone);
    return true;
}

/* ---- Durations from text ---- */

struct unit {
    const char *name;
    uint64_t ns;
};

static const struct unit units[] = {
    {"ns", 1},           {"us", 1000},     {"\xc2\xb5s", 1000}, /* micro sign */
    {"\xce\xbcs", 1000},                                        /* Greek mu */
    {"ms", 1000000},     {"s", CEL_NANOS}, {"m", 60 * CEL_NANOS}, {"h", 3600 * CEL_NANOS},
};

#define DURATION_LIMIT (UINT64_C(1) << 63) /* of the absolute value */

/* Digits in front of the point. */
static uint64_t take_whole(struct reader *r)
{
    uint64_t v = 0;
    for (; at_digit(r, 0); r->p++) {
        if (v > DURATION_LIMIT / 10)
            r->ok = false;
        v = v * 10 + (uint64_t)(*r->p - '0');
        if (v > DURATION_LIMIT)
            r->ok = false;
    }
    return v;
}

/* Digits behind the point as v / scale; those that do not fit are dropped. */
static uint64_t take_part(struct reader *r, double *scale)
{
    uint64_t v = 0;
    bool full = false;
    for (*scale = 1; at_digit(r, 0); r->p++) {
        if (full || v > (DURATION_LIMIT - 1) / 10) {
            full = true;
            continue;
        }
        v = v * 10 + (uint64_t)(*r->p - '0');
        *scale *= 10;
    }
    return v;
}

static uint64_t take_unit(struct reader *r)
{
    struct str name = {r->p, 0};
    while (r->p < r->end && *r->p != '.' && !is_digit(*r->p))
        r->p++;
    name.n = (size_t)(r->p - name.p);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is(name, units[i].name))
            return units[i].ns;
    r->ok = false;
    return 1;
}

/* One number with its unit, in nanoseconds. */
static uint64_t take_term(struct reader *r)
{
    const char *start = r->p;
    uint64_t whole = take_whole(r), part = 0;
    bool digits = r->p != start;
    double scale = 1;
    if (take(r, ".")) {
        start = r->p;
        part = take_part(r, &scale);
        digits = digits || r->p != start;
    }
    if (!digits)
        r->ok = false;
    uint64_t unit = take_unit(r);
    if (whole > DURATION_LIMIT / unit)
        r->ok = false;
    if (!r->ok)
        return 0;
    uint64_t v = whole * unit + (uint64_t)((double)part * ((double)unit / scale));
    r->ok = v <= DURATION_LIMIT;
    return v;
}

bool cel_duration_parse(struct str text, int64_t *out)
{
    struct reader r = {text.p, text.p + text.n, true};
    bool negative = text.n != 0 && *text.p == '-';
    take(&r, "+-");
    if (r.end - r.p == 1 && *r.p == '0') {
        *out = 0;
        return true;
    }
    if (r.p == r.end)
        return false;
    uint64_t sum = 0;
    while (r.ok && r.p < r.end) {
        sum += take_term(&r);
        r.ok = r.ok && sum <= DURATION_LIMIT;
    }
    if (!r.ok || (!negative && sum == DURATION_LIMIT))
        return false;
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* ---- Text from durations ---- */

void cel_print_seconds(int64_t ns, struct strbuf *out)
{
    int64_t whole = ns / CEL_NANOS;
    cel_print_decimal((double)whole + (double)(ns % CEL_NANOS) / 1e9, out);
    strbuf_addc(out, 's');
}

/* value / 10^digits without trailing zeros. */
static void print_fraction(uint64_t value, unsigned digits, struct strbuf *out)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < digits; i++)
        scale *= 10;
    strbuf_addf(out, "%llu", (unsigned long long)(value / scale));
    uint64_t rest = value % scale;
    if (rest == 0)
        return;
    for (; rest % 10 == 0; digits--)
        rest /= 10;
    strbuf_addf(out, ".%0*llu", (int)digits, (unsigned long long)rest);
}

void cel_print_duration(int64_t ns, struct strbuf *out)
{
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        strbuf_addc(out, '-');
    if (v < (uint64_t)CEL_NANOS) {
        static const char *const names[] = {"ns", "\xc2\xb5s", "ms"};
        unsigned step = v == 0 ? 0 : v < 1000 ? 0 : v < 1000000 ? 1 : 2;
        print_fraction(v, step * 3, out);
        strbuf_adds(out, v == 0 ? "s" : names[step]);
        return;
    }
    uint64_t minutes = v / (60 * (uint64_t)CEL_NANOS);
    if (minutes >= 60)
        strbuf_addf(out, "%lluh", (unsigned long long)(minutes / 60));
    if (minutes > 0)
        strbuf_addf(out, "%llum", (unsigned long long)(minutes % 60));
    print_fraction(v % (60 * (uint64_t)CEL_NANOS), 9, out);
    strbuf_addc(out, 's');
}

/* ---- Text from instants ---- */

static int zone_minutes(struct cel_value v)
{
    return (int16_t)v.aux2;
}

static void print_date_time(struct cel_value v, char between, struct strbuf *out)
{
    struct cel_civil c = cel_civil(v.i, zone_minutes(v) * 60);
    strbuf_addf(out, "%04lld-%02d-%02d%c%02d:%02d:%02d", (long long)c.year, c.month,
                c.day, between, c.hour, c.minute, c.second);
    if (v.len == 0)
        return;
    uint32_t fraction = v.len;
    int digits = 9;
    for (; fraction % 10 == 0; digits--)
        fraction /= 10;
    strbuf_addf(out, ".%0*u", digits, fraction);
}

static void print_zone(int minutes, const char *colon, struct strbuf *out)
{
    int abs = minutes < 0 ? -minutes : minutes;
    strbuf_addf(out, "%c%02d%s%02d", minutes < 0 ? '-' : '+', abs / 60, colon, abs % 60);
}

void cel_print_rfc3339(struct cel_value v, struct strbuf *out)
{
    print_date_time(v, 'T', out);
    if (zone_minutes(v) == 0)
        strbuf_addc(out, 'Z');
    else
        print_zone(zone_minutes(v), ":", out);
}

void cel_print_go_time(struct cel_value v, struct strbuf *out)
{
    print_date_time(v, ' ', out);
    for (int i = 0; i < 2; i++) {
        strbuf_addc(out, ' ');
        if (i == 1 && zone_minutes(v) == 0)
            strbuf_adds(out, "UTC");
        else
            print_zone(zone_minutes(v), "", out);
    }
}
