/* SPDX-License-Identifier: Apache-2.0 */
#include "api/zone_rule.h"

/* ---- the calendar: years begin in March, so that the odd day is their last ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t zone_days(int64_t year, int64_t month, int64_t day)
{
    int64_t months = year * 12 + month - 3, y = floor_div(months, 12),
            m = months - y * 12, era = floor_div(y, 400), of_era = y - era * 400;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 +
           day - 1 - 719468;
}

void zone_date(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t z = days + 719468, era = floor_div(z, 146097), of_era = z - era * 146097,
            y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365,
            of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

/* ---- text ---- */

static bool eat(struct str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = (struct str){s->p + 1, s->n - 1};
    return true;
}

static bool is_digit(const struct str *s)
{
    return s->n && s->p[0] >= '0' && s->p[0] <= '9';
}

static bool read_number(struct str *s, int *out)
{
    enum { MOST = 1000 };
    bool any = is_digit(s);
    for (*out = 0; is_digit(s) && *out < MOST; eat(s, s->p[0]))
        *out = *out * 10 + (s->p[0] - '0');
    return any && *out < MOST;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "CET", "<+0330>" */
static bool read_name(struct str *s)
{
    size_t n = 0;
    if (eat(s, '<')) {
        size_t end = str_find_byte(*s, '>', 0);
        *s = str_sub(*s, end == SIZE_MAX ? s->n : end + 1, SIZE_MAX);
        return end != SIZE_MAX;
    }
    while (n < s->n && is_letter(s->p[n]))
        n++;
    *s = str_sub(*s, n, SIZE_MAX);
    return n > 0;
}

/* "3", "-1:30", "+2:00:00" */
static bool read_time(struct str *s, int32_t *out)
{
    bool negative = eat(s, '-');
    int part, scale = 3600;
    if (!negative)
        eat(s, '+');
    *out = 0;
    do {
        if (!read_number(s, &part) || !scale)
            return false;
        *out += part * scale;
        scale = scale == 3600 ? 60 : scale / 60;
    } while (eat(s, ':'));
    *out = negative ? -*out : *out;
    return true;
}

static bool read_month_day(struct str *s, struct zone_day *d)
{
    d->form = 'M';
    return read_number(s, &d->month) && eat(s, '.') && read_number(s, &d->week) &&
           eat(s, '.') && read_number(s, &d->day) && d->month >= 1 && d->month <= 12 &&
           d->week >= 1 && d->week <= 5 && d->day <= 6;
}

static bool read_day(struct str *s, struct zone_day *d)
{
    *d = (struct zone_day){.form = '0', .time_s = 7200};
    if (!eat(s, ','))
        return false;
    if (eat(s, 'M')) {
        if (!read_month_day(s, d))
            return false;
    } else {
        d->form = eat(s, 'J') ? 'J' : '0';
        if (!read_number(s, &d->day) || d->day > 365)
            return false;
    }
    return !eat(s, '/') || read_time(s, &d->time_s);
}

/* Offsets are west of Greenwich there. */
bool zone_rule_parse(struct str text, struct zone_rule *out)
{
    struct zone_rule r = {0};
    int32_t west;
    if (!read_name(&text) || !read_time(&text, &west))
        return false;
    r.offset = -west;
    r.summer = r.offset + 3600;
    r.changes = text.n > 0;
    if (r.changes) {
        if (!read_name(&text))
            return false;
        if (text.n && text.p[0] != ',') {
            if (!read_time(&text, &west))
                return false;
            r.summer = -west;
        }
        if (!read_day(&text, &r.begins) || !read_day(&text, &r.ends) || text.n)
            return false;
    }
    *out = r;
    return true;
}

/* ---- changes ---- */

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* The week-th of its weekday in a month; the fifth: the last. */
static int64_t day_of_month(const struct zone_day *d, int64_t year)
{
    int64_t first = zone_days(year, d->month, 1), next = zone_days(year, d->month + 1, 1),
            weekday = ((first + 4) % 7 + 7) % 7,
            day = first + (d->day - weekday + 7) % 7 + 7 * (d->week - 1);
    return day < next ? day : day - 7;
}

static int64_t moment(const struct zone_day *d, int64_t year, int32_t offset)
{
    int64_t day;
    if (d->form == 'M')
        day = day_of_month(d, year);
    else if (d->form == 'J') /* February 29th has no number */
        day = zone_days(year, 1, 1) + d->day - 1 + (is_leap(year) && d->day >= 60);
    else
        day = zone_days(year, 1, 1) + d->day;
    return day * 86400 + d->time_s - offset;
}

void zone_rule_changes(const struct zone_rule *r, int64_t year, struct zone_change out[2])
{
    struct zone_change on = {moment(&r->begins, year, r->offset), r->summer},
                       off = {moment(&r->ends, year, r->summer), r->offset};
    bool north = on.at <= off.at;
    out[0] = north ? on : off;
    out[1] = north ? off : on;
}
