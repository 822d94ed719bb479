/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/names.h"

#include "base/utf8.h"

enum { DNS_LABEL_MAX = 63, DNS_SUBDOMAIN_MAX = 253, LABEL_MAX = 63 };

/* ---- Messages ---- */

#define LABEL_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_RE LABEL_RE "(\\." LABEL_RE ")*"
#define LABEL1035_RE "[a-z]([-a-z0-9]*[a-z0-9])?"
#define KEY_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

#define MATCHES(text, examples, re)                                                      \
    text " (e.g. " examples ", regex used for validation is '" re "')"

#define BAD_LABEL                                                                        \
    MATCHES("a lowercase RFC 1123 label must consist of lower case alphanumeric "        \
            "characters or '-', and must start and end with an alphanumeric character",  \
            "'my-name',  or '123-abc'", LABEL_RE)
#define BAD_SUBDOMAIN                                                                    \
    MATCHES("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "    \
            "characters, '-' or '.', and must start and end with an alphanumeric "       \
            "character",                                                                 \
            "'example.com'", SUBDOMAIN_RE)
#define BAD_LABEL1035                                                                    \
    MATCHES("a DNS-1035 label must consist of lower case alphanumeric characters or "    \
            "'-', start with an alphabetic character, and end with an alphanumeric "     \
            "character",                                                                 \
            "'my-name',  or 'abc-123'", LABEL1035_RE)
#define BAD_KEY                                                                          \
    MATCHES("must consist of alphanumeric characters, '-', '_' or '.', and must start "  \
            "and end with an alphanumeric character",                                    \
            "'MyName',  or 'my.name',  or '123-abc'", KEY_RE)
#define BAD_VALUE                                                                        \
    MATCHES("a valid label must be an empty string or consist of alphanumeric "          \
            "characters, '-', '_' or '.', and must start and end with an alphanumeric "  \
            "character",                                                                 \
            "'MyValue',  or 'my_value',  or '12345'", "(" KEY_RE ")?")

static void complain(struct name_check *out, const char *message)
{
    out->messages[out->n++] = message;
}

/* ---- Characters ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c)
{
    return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    c |= c >= 'A' ? 0x20 : 0;
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* ---- DNS ---- */

static bool is_dns_label(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool inner = i > 0 && i + 1 < s.n;
        if (!is_lower(s.p[i]) && !is_digit(s.p[i]) && !(inner && s.p[i] == '-'))
            return false;
    }
    return s.n > 0;
}

static bool is_dns_subdomain(struct str s)
{
    for (;;) {
        size_t dot = str_find_byte(s, '.', 0);
        if (!is_dns_label(str_sub(s, 0, dot)))
            return false;
        if (dot == SIZE_MAX)
            return true;
        s = str_sub(s, dot + 1, s.n);
    }
}

void name_dns_label(struct str s, struct name_check *out)
{
    out->n = 0;
    if (s.n > DNS_LABEL_MAX)
        complain(out, "must be no more than 63 characters");
    if (is_dns_label(s))
        return;
    complain(out, is_dns_subdomain(s) ? "must not contain dots" : BAD_LABEL);
}

void name_dns_subdomain(struct str s, struct name_check *out)
{
    out->n = 0;
    if (s.n > DNS_SUBDOMAIN_MAX)
        complain(out, "must be no more than 253 characters");
    if (!is_dns_subdomain(s))
        complain(out, BAD_SUBDOMAIN);
}

void name_dns1035_label(struct str s, struct name_check *out)
{
    out->n = 0;
    if (s.n > DNS_LABEL_MAX)
        complain(out, "must be no more than 63 characters");
    if (!is_dns_label(s) || !is_lower(s.p[0]))
        complain(out, BAD_LABEL1035);
}

/* ---- Labels ---- */

static bool is_label_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool inner = i > 0 && i + 1 < s.n;
        if (!is_alnum(c) && !(inner && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return s.n > 0;
}

static void check_prefix(struct str s, struct name_check *out)
{
    if (s.n == 0) {
        complain(out, "prefix part must be non-empty");
        return;
    }
    if (s.n > DNS_SUBDOMAIN_MAX)
        complain(out, "prefix part must be no more than 253 bytes");
    if (!is_dns_subdomain(s))
        complain(out, "prefix part " BAD_SUBDOMAIN);
}

void name_label_key(struct str s, struct name_check *out)
{
    size_t slash = str_find_byte(s, '/', 0);
    struct str name = slash == SIZE_MAX ? s : str_sub(s, slash + 1, s.n);
    out->n = 0;
    if (str_find_byte(name, '/', 0) != SIZE_MAX) {
        complain(out, "a valid label key " BAD_KEY " with an optional DNS subdomain "
                      "prefix and '/' (e.g. 'example.com/MyName')");
        return;
    }
    if (slash != SIZE_MAX)
        check_prefix(str_sub(s, 0, slash), out);
    if (name.n == 0)
        complain(out, "name part must be non-empty");
    else if (name.n > LABEL_MAX)
        complain(out, "name part must be no more than 63 bytes");
    if (!is_label_name(name))
        complain(out, "name part " BAD_KEY);
}

void name_label_value(struct str s, struct name_check *out)
{
    out->n = 0;
    if (s.n > LABEL_MAX)
        complain(out, "must be no more than 63 bytes");
    if (s.n > 0 && !is_label_name(s))
        complain(out, BAD_VALUE);
}

/* ---- Formats of other specifications ---- */

bool name_is_uuid(struct str s)
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

bool name_is_base64(struct str s)
{
    if (s.n == 0 || s.n % 4 != 0)
        return false;
    for (unsigned i = 0; i < 2 && s.p[s.n - 1] == '='; i++)
        s.n--;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
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

bool name_is_date(struct str s)
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
bool name_is_datetime(struct str s)
{
    size_t t = find_t(s, 0);
    if (t == s.n || !name_is_date(str_sub(s, 0, t)))
        return false;
    struct str time = str_sub(s, t + 1, find_t(s, t + 1));
    int hour = number_at(time, 0, 2), minute = number_at(time, 3, 2),
        second = number_at(time, 6, 2);
    return time.n >= 8 && time.p[2] == ':' && time.p[5] == ':' && hour >= 0 &&
           hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 &&
           is_fraction_and_zone(str_sub(time, 8, time.n));
}
