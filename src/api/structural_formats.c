/* SPDX-License-Identifier: Apache-2.0 */
#include "api/structural_formats.h"

#include <stdio.h>

#include "api/rules_ip.h"
#include "cel/regex.h"
#include "cel/time.h"
#include "cel/url.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- Addresses ---- */

static bool is_ipv4(struct str s)
{
    struct rules_ip ip;
    return str_find_byte(s, '.', 0) != SIZE_MAX && rules_ip_read(s, &ip);
}

/* Strict where IPv4 is not: no leading zeros in a part with dots. */
static bool has_leading_zero(struct str s)
{
    for (size_t i = 0; i + 1 < s.n; i++) {
        bool starts = i == 0 || s.p[i - 1] == '.' || s.p[i - 1] == ':';
        if (starts && s.p[i] == '0' && is_digit(s.p[i + 1]))
            return true;
    }
    return false;
}

static bool is_ipv6(struct str s)
{
    struct rules_ip ip;
    size_t last = str_rfind_byte(s, ':');
    if (last == SIZE_MAX || !rules_ip_read(s, &ip))
        return false;
    struct str tail = str_sub(s, last + 1, SIZE_MAX);
    return str_find_byte(tail, '.', 0) == SIZE_MAX || !has_leading_zero(tail);
}

static bool is_cidr(struct str s)
{
    struct rules_ip ip;
    size_t slash = str_find_byte(s, '/', 0);
    if (slash == SIZE_MAX || !rules_ip_read(str_sub(s, 0, slash), &ip))
        return false;
    struct str bits = str_sub(s, slash + 1, SIZE_MAX);
    bool colon = str_find_byte(str_sub(s, 0, slash), ':', 0) != SIZE_MAX;
    unsigned n = 0, max = colon ? 128 : 32;
    for (size_t i = 0; i < bits.n; i++) {
        if (!is_digit(bits.p[i]) || n > max)
            return false;
        n = n * 10 + (unsigned)(bits.p[i] - '0');
    }
    return bits.n && n <= max;
}

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_hex_digit(s.p[i]) < 0)
            return false;
    return true;
}

/* Groups of so many digits with one separator between them. */
static bool is_hex_groups(struct str s, size_t size, char separator)
{
    if ((s.n + 1) % (size + 1))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool between = i % (size + 1) == size;
        if (between ? s.p[i] != separator : str_hex_digit(s.p[i]) < 0)
            return false;
    }
    return true;
}

/* 6, 8 or 20 bytes. */
static bool is_mac(struct str s)
{
    size_t bytes = (s.n + 1) / 3, words = (s.n + 1) / 5;
    if (s.n > 4 && s.p[4] == '.')
        return (words == 3 || words == 4 || words == 10) && is_hex_groups(s, 4, '.');
    if (s.n == 12 || s.n == 16 || s.n == 40)
        return is_hex(s);
    if (s.n < 3 || (bytes != 6 && bytes != 8 && bytes != 20))
        return false;
    return (s.p[2] == ':' || s.p[2] == '-') && is_hex_groups(s, 2, s.p[2]);
}

static bool is_uri(struct str s)
{
    struct err e = ERR_INIT;
    bool ok = url_check(s, &e);
    err_release(&e);
    return ok;
}

/* Behind the pattern: lengths. */
static bool is_hostname(struct str s)
{
    size_t label = 0;
    for (size_t i = 0; i < s.n; i++) {
        label = s.p[i] == '.' ? 0 : label + 1;
        if (label > 63)
            return false;
    }
    return s.n <= 255;
}

/* ---- Numbers with a check digit ---- */

enum { DIGITS_MAX = 20 };

/* The digits alone; 0 when there are too many. */
static size_t digits_of(struct str s, char out[DIGITS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_digit(s.p[i]))
            continue;
        if (n == DIGITS_MAX)
            return 0;
        out[n++] = s.p[i];
    }
    return n;
}

static bool is_luhn(const char *digits, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)(digits[n - 1 - i] - '0') * (i % 2 + 1);
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

static int prefix_of(const char *digits, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++)
        v = v * 10 + digits[i] - '0';
    return v;
}

/* The networks that the format knows, by their first digits and lengths. */
static bool is_card_number(const char *d, size_t n)
{
    int two = prefix_of(d, 2), three = prefix_of(d, 3), four = prefix_of(d, 4);
    if (d[0] == '4')
        return n == 13 || n == 16;
    if (two >= 51 && two <= 55)
        return n == 16;
    if (four == 6011 || (two == 65 && d[0] == '6'))
        return n == 16;
    if (two == 34 || two == 37)
        return n == 15;
    if ((three >= 300 && three <= 305) || two == 36 || two == 38)
        return n == 14;
    if (four == 2131 || four == 1800)
        return n == 15;
    return two == 35 && n == 16;
}

static bool is_credit_card(struct str s)
{
    char d[DIGITS_MAX];
    size_t n = digits_of(s, d);
    return n >= 13 && is_card_number(d, n) && is_luhn(d, n);
}

/* Without white space and dashes; 0 when it is too long. */
static size_t isbn_text(struct str s, char out[DIGITS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] && strchr(" \t\n\f\r-", s.p[i]))
            continue;
        if (n == DIGITS_MAX)
            return 0;
        out[n++] = s.p[i];
    }
    return n;
}

static bool is_isbn10(struct str s)
{
    char d[DIGITS_MAX];
    unsigned sum = 0;
    if (isbn_text(s, d) != 10)
        return false;
    for (unsigned i = 0; i < 10; i++) {
        bool ten = i == 9 && d[i] == 'X';
        if (!ten && !is_digit(d[i]))
            return false;
        sum += (i + 1) * (ten ? 10 : (unsigned)(d[i] - '0'));
    }
    return sum % 11 == 0;
}

static bool is_isbn13(struct str s)
{
    char d[DIGITS_MAX];
    unsigned sum = 0;
    if (isbn_text(s, d) != 13)
        return false;
    for (unsigned i = 0; i < 13; i++) {
        if (!is_digit(d[i]))
            return false;
        sum += (i % 2 ? 3 : 1) * (unsigned)(d[i] - '0');
    }
    return sum % 10 == 0;
}

static bool is_isbn(struct str s)
{
    return is_isbn10(s) || is_isbn13(s);
}

static bool is_ssn(struct str s)
{
    return s.n == 11; /* and the pattern */
}

/* ---- Texts ---- */

static bool is_object_id(struct str s)
{
    return s.n == 24 && is_hex(s);
}

static bool is_base64(struct str s)
{
    size_t data = s.n;
    while (data && s.n - data < 2 && s.p[data - 1] == '=')
        data--;
    for (size_t i = 0; i < data; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !is_digit(c) && c != '+' && c != '/')
            return false;
    }
    return s.n && s.n % 4 == 0;
}

static bool anything(struct str s)
{
    return true;
}

static bool is_short_name(struct str s)
{
    return s.n <= 63;
}

static bool is_long_name(struct str s)
{
    return s.n <= 253;
}

/* ---- Times ---- */

static const struct unit {
    const char *names[3];
    unsigned n;
    int64_t ns;
} UNITS[] = {
    {{"ns", "nano"}, 2, 1},
    {{"us", "\xc2\xb5s", "micro"}, 3, 1000},
    {{"ms", "milli"}, 2, 1000000},
    {{"s", "sec"}, 2, CEL_NANOS},
    {{"m", "min"}, 2, 60 * CEL_NANOS},
    {{"h", "hr", "hour"}, 3, 3600 * CEL_NANOS},
    {{"d", "day"}, 2, 24 * 3600 * CEL_NANOS},
    {{"w", "wk", "week"}, 3, 7 * 24 * 3600 * CEL_NANOS},
};

/* The last name of a unit may go on ("seconds"). */
static bool unit_is(const struct unit *u, struct str word)
{
    for (unsigned i = 0; i < u->n; i++) {
        struct str name = str_from(u->names[i]);
        if (str_eq(word, name) || (i + 1 == u->n && str_starts(word, name)))
            return true;
    }
    return false;
}

static size_t unit_length(struct str s, size_t at)
{
    size_t n = at;
    for (; n < s.n; n++) {
        char c = s.p[n];
        bool micro = c == '\xc2' && n + 1 < s.n && s.p[n + 1] == '\xb5';
        if (!micro && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
            break;
        n += micro;
    }
    return n - at;
}

enum { UNIT_MAX = 32 };

/* The name in lower case. */
static struct str lowered(struct str word, char out[UNIT_MAX])
{
    word = str_sub(word, 0, UNIT_MAX);
    for (size_t i = 0; i < word.n; i++)
        out[i] =
            word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    return (struct str){out, word.n};
}

/* One number with its unit from *at on, which moves behind it; false: none is there. A
 * number that is too big is *over. */
static bool next_part(struct str s, size_t *at, int64_t *ns, bool *known, bool *over)
{
    char buffer[UNIT_MAX];
    for (; *at < s.n; (*at)++) {
        size_t i = *at;
        uint64_t n = 0;
        for (; i < s.n && is_digit(s.p[i]); i++)
            *over |= __builtin_mul_overflow(n, 10, &n) ||
                     __builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n) ||
                     n > INT64_MAX;
        if (i == *at)
            continue;
        size_t unit = i;
        while (unit < s.n && s.p[unit] && strchr(" \t\n\f\r", s.p[unit]))
            unit++;
        size_t length = unit_length(s, unit);
        *at = length ? unit + length : i;
        if (!length) {
            *over = false;
            (*at)--;
            continue;
        }
        struct str word = lowered(str_sub(s, unit, unit + length), buffer);
        for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; k++)
            if (unit_is(&UNITS[k], word)) {
                *known = true;
                *ns = (int64_t)((uint64_t)*ns + n * (uint64_t)UNITS[k].ns);
            }
        return true;
    }
    return false;
}

bool schema_duration(struct str text, int64_t *ns)
{
    bool known = false, over = false;
    size_t at = 0;
    if (cel_duration_parse(text, ns))
        return true;
    *ns = 0;
    while (!over && next_part(text, &at, ns, &known, &over))
        ;
    return known && !over;
}

static bool is_duration(struct str s)
{
    int64_t ns;
    return schema_duration(s, &ns);
}

/* Through RFC 3339: the day's first second. */
bool schema_date(struct str text, int64_t *seconds)
{
    char full[32];
    struct cel_value v;
    if (text.n != 10)
        return false;
    int n = snprintf(full, sizeof full, "%.*sT00:00:00Z", STR_ARG(text));
    if (!cel_time_parse((struct str){full, (size_t)n}, &v))
        return false;
    *seconds = v.i;
    return true;
}

static bool is_date(struct str s)
{
    int64_t seconds;
    return schema_date(s, &seconds);
}

static bool two_digits(struct str s, size_t at, int max)
{
    return at + 2 <= s.n && is_digit(s.p[at]) && is_digit(s.p[at + 1]) &&
           (s.p[at] - '0') * 10 + s.p[at + 1] - '0' <= max;
}

/* hh:mm:ss, any fraction behind any one character, Z or an offset. */
static bool is_clock(struct str s)
{
    size_t at = 8;
    if (s.n < 9 || !two_digits(s, 0, 23) || s.p[2] != ':' || !two_digits(s, 3, 59) ||
        s.p[5] != ':' || !two_digits(s, 6, 59))
        return false;
    bool zone = s.p[8] == 'z' || s.p[8] == 'Z' ||
                ((s.p[8] == '+' || s.p[8] == '-') && s.n == 14 && s.p[11] == ':');
    if (!zone) {
        for (at = 9; at < s.n && is_digit(s.p[at]);)
            at++;
        if (at == 9)
            return false;
    }
    struct str rest = str_sub(s, at, SIZE_MAX);
    if (rest.n == 1)
        return rest.p[0] == 'z' || rest.p[0] == 'Z';
    return rest.n == 6 && (rest.p[0] == '+' || rest.p[0] == '-') &&
           two_digits(rest, 1, 99) && rest.p[3] == ':' && two_digits(rest, 4, 99);
}

/* What comes behind a second T is not looked at. */
static bool is_date_time(struct str s)
{
    int64_t seconds;
    size_t t = 0;
    while (t < s.n && s.p[t] != 'T' && s.p[t] != 't')
        t++;
    if (t == s.n || !schema_date(str_sub(s, 0, t), &seconds))
        return false;
    size_t end = t + 1;
    while (end < s.n && s.p[end] != 'T' && s.p[end] != 't')
        end++;
    return is_clock(str_sub(s, t + 1, end));
}

bool schema_date_time(struct str text, struct cel_value *out)
{
    char zoned[64];
    if (text.n == 0) {
        *out = cel_timestamp(0, 0);
        return true;
    }
    if (cel_time_parse(text, out))
        return true;
    if (text.n + 2 > sizeof zoned)
        return false;
    int n = snprintf(zoned, sizeof zoned, "%.*sZ", STR_ARG(text));
    return cel_time_parse((struct str){zoned, (size_t)n}, out);
}

/* ---- */

#define UUID(version, variant)                                                           \
    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?" version "-?" variant "-?[0-9a-f]{12}$"
#define CHANNEL "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*"
#define NAME "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL "a-zA-Z0-9\\p{S}\\p{L}"

/* Sorted by how often they are met. */
static const struct schema_format FORMATS[] = {
    {"datetime", is_date_time, NULL},
    {"byte", is_base64, NULL},
    {"uri", is_uri, NULL},
    {"duration", is_duration, NULL},
    {"date", is_date, NULL},
    {"hostname", is_hostname,
     "^([" LABEL "]((-?[" LABEL "]{0,62})?)|([" LABEL "](([" LABEL "-]{0,61}[" LABEL
     "])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$"},
    {"ipv4", is_ipv4, NULL},
    {"ipv6", is_ipv6, NULL},
    {"cidr", is_cidr, NULL},
    {"uuid", anything, UUID("[0-9a-f]{4}", "[0-9a-f]{4}")},
    {"uuid3", anything, UUID("3[0-9a-f]{3}", "[0-9a-f]{4}")},
    {"uuid4", anything, UUID("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}")},
    {"uuid5", anything, UUID("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}")},
    {"email", schema_email, NULL},
    {"mac", is_mac, NULL},
    {"password", anything, NULL},
    {"k8sshortname", is_short_name, "^" NAME "$"},
    {"k8slongname", is_long_name, "^" NAME "(\\." NAME ")*$"},
    {"hexcolor", anything, "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"},
    {"rgbcolor", anything, "^rgb\\(" CHANNEL "," CHANNEL "," CHANNEL "\\)$"},
    {"creditcard", is_credit_card, NULL},
    {"isbn", is_isbn, NULL},
    {"isbn10", is_isbn10, NULL},
    {"isbn13", is_isbn13, NULL},
    {"ssn", is_ssn, "^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$"},
    {"bsonobjectid", is_object_id, NULL},
};

/* Equal but for the dashes of a. */
static bool same_name(struct str a, const char *b)
{
    for (size_t i = 0; i < a.n; i++) {
        if (a.p[i] == '-')
            continue;
        if (a.p[i] != *b || !*b)
            return false;
        b++;
    }
    return !*b;
}

const struct schema_format *schema_format_find(struct str name)
{
    for (size_t i = 0; name.n && i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (same_name(name, FORMATS[i].name))
            return &FORMATS[i];
    return NULL;
}

bool schema_format_valid(const struct schema_format *f, const struct cel_regex *re,
                         struct str text)
{
    struct cel_regex *own = NULL;
    bool ok = true;
    if (f->pattern && !re)
        re = own = cel_regex_new(str_from(f->pattern), NULL);
    if (f->pattern)
        ok = re && cel_regex_match(re, text);
    cel_regex_free(own);
    return ok && f->check(text);
}

/* ---- Patterns ---- */

static void init_patterns(void *ctx, struct schema *s)
{
    struct schema_values *v = s->values;
    const struct schema_format *f = schema_format_find(v->format);
    if (v->pattern.n)
        v->regex = cel_regex_new(v->pattern, NULL);
    if (f && f->pattern)
        v->format_regex = cel_regex_new(str_from(f->pattern), NULL);
}

void schema_patterns_init(struct schema *s)
{
    schema_each(s, init_patterns, NULL);
}

static void fini_patterns(void *ctx, struct schema *s)
{
    cel_regex_free(s->values->regex);
    cel_regex_free(s->values->format_regex);
}

void schema_patterns_fini(struct schema *s)
{
    schema_each(s, fini_patterns, NULL);
}
