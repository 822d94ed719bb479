/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/format_text.h"

#include "base/utf8.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

static bool is_hex(char c)
{
    return is_digit(c) || (is_letter(c) && (c | 0x20) <= 'f');
}

bool format_is_uuid(struct str s)
{
    static const unsigned groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        if (g > 0 && at < s.n && s.p[at] == '-')
            at++;
        for (unsigned i = 0; i < groups[g]; i++, at++)
            if (at >= s.n || !is_hex(s.p[at]))
                return false;
    }
    return at == s.n;
}

bool format_is_base64(struct str s)
{
    if (s.n == 0 || s.n % 4 != 0)
        return false;
    for (unsigned i = 0; i < 2 && s.p[s.n - 1] == '='; i++)
        s.n--;
    for (size_t i = 0; i < s.n; i++)
        if (!is_letter(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return true;
}

/* The number that n digits at offset at make; -1: they are no digits. */
static int number_at(struct str s, size_t at, unsigned n)
{
    int value = 0;
    for (unsigned i = 0; i < n; i++) {
        if (at + i >= s.n || !is_digit(s.p[at + i]))
            return -1;
        value = value * 10 + (s.p[at + i] - '0');
    }
    return value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

bool format_is_date(struct str s)
{
    int year = number_at(s, 0, 4), month = number_at(s, 5, 2), day = number_at(s, 8, 2);
    return s.n == 10 && s.p[4] == '-' && s.p[7] == '-' && year >= 0 && month >= 1 &&
           month <= 12 && day >= 1 && day <= days_in_month(year, month);
}

/* "Z" or "+01:00", whatever the numbers. */
static bool is_zone(struct str s)
{
    if (s.n == 1)
        return (s.p[0] | 0x20) == 'z';
    return s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') && s.p[3] == ':' &&
           number_at(s, 1, 2) >= 0 && number_at(s, 4, 2) >= 0;
}

/* The fraction may start with any character. */
static bool is_fraction_and_zone(struct str s)
{
    uint32_t cp;
    size_t i = utf8_decode(s, 0, &cp);
    if (is_zone(s) || i == 0 || cp == '\n' || i >= s.n || !is_digit(s.p[i]))
        return is_zone(s);
    while (i < s.n && is_digit(s.p[i]))
        i++;
    return is_zone(str_sub(s, i, s.n));
}

static size_t find_t(struct str s, size_t from)
{
    while (from < s.n && (s.p[from] | 0x20) != 't')
        from++;
    return from;
}

/* Upstream cuts at every t and looks at the first two parts. */
bool format_is_datetime(struct str s)
{
    size_t t = find_t(s, 0);
    if (t == s.n || !format_is_date(str_sub(s, 0, t)))
        return false;
    struct str time = str_sub(s, t + 1, find_t(s, t + 1));
    int hour = number_at(time, 0, 2), minute = number_at(time, 3, 2),
        second = number_at(time, 6, 2);
    return time.n >= 8 && time.p[2] == ':' && time.p[5] == ':' && hour >= 0 &&
           hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 &&
           is_fraction_and_zone(str_sub(time, 8, time.n));
}
