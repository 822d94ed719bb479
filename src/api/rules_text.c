/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of single texts and numbers, with what upstream says of others. */
#include <stdlib.h>

#include "api/rules_text.h"

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

/* Every character is one of these, and there is one. */
static bool made_of(struct str s, bool (*fits)(char c))
{
    for (size_t i = 0; i < s.n; i++)
        if (!fits(s.p[i]))
            return false;
    return s.n > 0;
}

bool rules_among(struct str s, const char *choices)
{
    struct str left = str_from(choices);
    for (;;) {
        size_t bar = str_find_byte(left, '|', 0);
        if (str_eq(str_sub(left, 0, bar), s))
            return true;
        if (bar == SIZE_MAX)
            return false;
        left = str_sub(left, bar + 1, SIZE_MAX);
    }
}

/* ---- numbers ---- */

int64_t rules_int(const struct doc *d, int64_t otherwise)
{
    int64_t v;
    return d && doc_int64(d, &v) ? v : otherwise;
}

static void check_range(struct api_at *at, const char *suffix, const struct doc *value,
                        int64_t min, int64_t max)
{
    int64_t v = rules_int(value, 0);
    if (v < min || v > max)
        api_report_at(at, suffix, value, API_ERROR_INVALID,
                      "must be between %lld and %lld, inclusive", (long long)min,
                      (long long)max);
}

/* arg "MIN|MAX" */
API_RULE(in_range)
{
    char *bar;
    int64_t min = strtoll(arg, &bar, 10);
    check_range(at, "", at->value, min, strtoll(bar + 1, NULL, 10));
    return true;
}

/* arg "MIN|MAX|text" */
API_RULE(range_text)
{
    char *rest;
    int64_t min = strtoll(arg, &rest, 10), max = strtoll(rest + 1, &rest, 10);
    int64_t v = rules_int(at->value, 0);
    if (v < min || v > max)
        api_fail(at, API_ERROR_INVALID, rest + 1);
    return true;
}

API_RULE(each_in_range)
{
    api_each(at, rule_in_range, arg);
    return true;
}

API_RULE(exactly_1)
{
    if (rules_int(at->value, 0) != 1)
        api_fail(at, API_ERROR_INVALID, "must be 1");
    return true;
}

API_RULE(file_mode)
{
    int64_t v = rules_int(at->value, 0);
    if (v < 0 || v > 0777)
        api_fail(at, API_ERROR_INVALID,
                 "must be a number between 0 and 0777 (octal), both inclusive");
    return true;
}

/* ---- ports ---- */

static bool is_port_char(char c)
{
    return is_lower(c) || is_digit(c) || c == '-';
}

static unsigned port_name_problems(struct str s, const char *problems[5])
{
    unsigned n = 0;
    bool letter = false;
    for (size_t i = 0; i < s.n; i++)
        letter = letter || is_lower(s.p[i]);
    if (s.n > 15)
        problems[n++] = "must be no more than 15 characters";
    if (!made_of(s, is_port_char))
        problems[n++] =
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
    if (!letter)
        problems[n++] = "must contain at least one letter (a-z)";
    if (str_find(s, STR("--")) != SIZE_MAX)
        problems[n++] = "must not contain consecutive hyphens";
    if (s.n && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
        problems[n++] = "must not begin or end with a hyphen";
    return n;
}

bool rules_port_name(struct api_at *at, const char *suffix, const struct doc *value)
{
    const char *problems[5];
    unsigned n = port_name_problems(api_text(value), problems);
    for (unsigned i = 0; i < n; i++)
        api_report_at(at, suffix, value, API_ERROR_INVALID, "%s", problems[i]);
    return n == 0;
}

API_RULE(port_number)
{
    check_range(at, "", at->value, 1, 65535);
    return true;
}

API_RULE(port_number_or_name)
{
    if (at->value && at->value->type == DOC_STRING)
        rules_port_name(at, "", at->value);
    else
        check_range(at, "", at->value, 1, 65535);
    return true;
}

/* ---- names ---- */

static void check_dots(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str s = api_text(value);
    if (str_is(s, ".") || str_is(s, ".."))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must not be '%s'", s.p);
    else if (str_starts(s, STR("..")))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must not start with '..'");
}

static bool is_key_char(char c)
{
    return is_alnum(c) || c == '-' || c == '_' || c == '.';
}

void rules_config_key(struct api_at *at, const char *suffix, const struct doc *key)
{
    struct str s = api_text(key);
    if (s.n > 253)
        api_report_at(at, suffix, key, API_ERROR_INVALID,
                      "must be no more than 253 characters");
    if (!made_of(s, is_key_char))
        api_report_at(
            at, suffix, key, API_ERROR_INVALID,
            "a valid config key must consist of alphanumeric characters, '-', "
            "'_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
            "used for validation is '[-._a-zA-Z0-9]+')");
    check_dots(at, suffix, key);
}

API_RULE(config_key)
{
    rules_config_key(at, "", at->value);
    return true;
}

/* Of environment variables: printable ASCII without the equals sign. */
API_RULE(env_name)
{
    struct str s = api_text(at->value);
    if (s.n == 0)
        api_fail(at, API_ERROR_INVALID, "environment variable name must be non-empty");
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '=') {
            api_fail(at, API_ERROR_INVALID,
                     "a valid environment variable name must consist only of printable "
                     "ASCII characters other than '='");
            break;
        }
    return true;
}

static bool is_header_char(char c)
{
    return is_alnum(c) || c == '-';
}

/* Reported at the list. */
API_RULE(header_names)
{
    for (uint32_t i = 0; at->value && i < at->value->n; i++) {
        struct str s = doc_get_text(&at->value->items[i], "name");
        if (!made_of(s, is_header_char))
            api_report_shown(at, "", api_shown_text(at->w->a, s), API_ERROR_INVALID,
                             "a valid HTTP header must consist of alphanumeric "
                             "characters or '-' (e.g. 'X-Header-Name', regex used for "
                             "validation is '[-A-Za-z0-9]+')");
    }
    return true;
}

/* ---- several at once ---- */

API_RULE(each_subdomain)
{
    api_each(at, rule_dns_subdomain, "");
    return true;
}

API_RULE(each_label_value)
{
    api_each(at, rule_label_value, "");
    return true;
}

API_RULE(labels)
{
    rules_labels(at, "", at->value);
    return true;
}

/* A value for labels whose problems come in one text. */
API_RULE(label_value_joined)
{
    struct str problems[NAME_MAX_PROBLEMS];
    struct strbuf b = STRBUF_INIT;
    unsigned n = name_check(NAME_LABEL_VALUE, api_text(at->value), at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        strbuf_addf(&b, "%s%.*s", i ? ";" : "", STR_ARG(problems[i]));
    if (n)
        api_report(at, API_ERROR_INVALID, "%s", strbuf_cstr(&b));
    strbuf_release(&b);
    return true;
}

/* A prefix of names: a dash at its end is fine. */
API_RULE(subdomain_prefix)
{
    struct str s = api_text(at->value), problems[NAME_MAX_PROBLEMS];
    if (s.n > 1 && s.p[s.n - 1] == '-')
        s = arena_printf(at->w->a, "%.*sa", (int)s.n - 2, s.p);
    unsigned n = name_check(NAME_DNS1123_SUBDOMAIN, s, at->w->a, problems);
    for (unsigned i = 0; i < n; i++)
        api_report(at, API_ERROR_INVALID, "%.*s", STR_ARG(problems[i]));
    return true;
}

/* ---- paths ---- */

static bool has_backstep(struct str s)
{
    for (size_t from = 0;;) {
        size_t slash = str_find_byte(s, '/', from);
        if (str_is(str_sub(s, from, slash), ".."))
            return true;
        if (slash == SIZE_MAX)
            return false;
        from = slash + 1;
    }
}

void rules_no_backsteps(struct api_at *at, const char *suffix, const struct doc *value)
{
    if (has_backstep(api_text(value)))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must not contain '..'");
}

void rules_descending(struct api_at *at, const char *suffix, const struct doc *value)
{
    if (str_starts(api_text(value), STR("/")))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must be a relative path");
    rules_no_backsteps(at, suffix, value);
}

void rules_local_path(struct api_at *at, const char *suffix, const struct doc *value)
{
    struct str s = api_text(value);
    rules_descending(at, suffix, value);
    if (str_starts(s, STR("..")) && !str_starts(s, STR("../")))
        api_report_at(at, suffix, value, API_ERROR_INVALID, "must not start with '..'");
}

API_RULE(no_backsteps)
{
    rules_no_backsteps(at, "", at->value);
    return true;
}

API_RULE(descending_path)
{
    rules_descending(at, "", at->value);
    return true;
}

API_RULE(local_path)
{
    rules_local_path(at, "", at->value);
    return true;
}

/* ---- numbers or shares ---- */

static bool is_percent(const struct doc *d)
{
    struct str s = api_text(d);
    return s.n > 1 && s.p[s.n - 1] == '%' && made_of(str_sub(s, 0, s.n - 1), is_digit);
}

int64_t rules_share(const struct doc *d)
{
    struct str s = api_text(d);
    int64_t v = 0;
    if (!d || d->type != DOC_STRING)
        return rules_int(d, 0);
    for (size_t i = 0; i < s.n && is_digit(s.p[i]) && v < INT32_MAX; i++)
        v = v * 10 + (s.p[i] - '0');
    return v;
}

bool rules_is_zero_share(const struct doc *d)
{
    return (!d || d->type != DOC_STRING || is_percent(d)) && rules_share(d) == 0;
}

/* A count or a percentage, neither below zero. */
API_RULE(count_or_percent)
{
    if (at->value->type == DOC_STRING && !is_percent(at->value))
        api_fail(at, API_ERROR_INVALID,
                 "a valid percent string must be a numeric string followed by an ending "
                 "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
    else if (at->value->type != DOC_STRING && rules_int(at->value, 0) < 0)
        api_fail(at, API_ERROR_INVALID, "must be greater than or equal to 0");
    return true;
}

API_RULE(at_most_100_percent)
{
    if (is_percent(at->value) && rules_share(at->value) > 100)
        api_fail(at, API_ERROR_INVALID, "must not be greater than 100%");
    return true;
}
