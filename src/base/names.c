/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

/* ---- shapes ---- */

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_lower_or_dash(char c)
{
    return is_lower_alnum(c) || c == '-';
}

static bool is_any_or_dash(char c)
{
    return is_alnum(c) || c == '-';
}

static bool is_label_char(char c)
{
    return is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* s starts and ends with a character of edge, and has only those of inner between. */
static bool framed(struct str s, bool (*edge)(char), bool (*inner)(char))
{
    if (s.n == 0 || !edge(s.p[0]) || !edge(s.p[s.n - 1]))
        return false;
    for (size_t i = 1; i + 1 < s.n; i++)
        if (!inner(s.p[i]))
            return false;
    return true;
}

static bool dns1123_label(struct str s)
{
    return framed(s, is_lower_alnum, is_lower_or_dash);
}

static bool caseless_label(struct str s)
{
    return framed(s, is_alnum, is_any_or_dash);
}

static bool dotted(struct str s, bool (*label)(struct str))
{
    size_t from = 0;
    for (;;) {
        size_t dot = str_find_byte(s, '.', from);
        if (!label(str_sub(s, from, dot)))
            return false;
        if (dot == SIZE_MAX)
            return true;
        from = dot + 1;
    }
}

static bool dns1123_subdomain(struct str s)
{
    return dotted(s, dns1123_label);
}

static bool caseless_subdomain(struct str s)
{
    return dotted(s, caseless_label);
}

static bool dns1035_label(struct str s)
{
    return dns1123_label(s) && s.p[0] >= 'a';
}

static bool label_name(struct str s)
{
    return framed(s, is_alnum, is_label_char);
}

static bool label_value(struct str s)
{
    return s.n == 0 || label_name(s);
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_';
}

static bool c_identifier(struct str s)
{
    return framed(s, is_word, is_word) && !(s.p[0] >= '0' && s.p[0] <= '9');
}

/* ---- what is said ---- */

#define LABEL_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_RE LABEL_RE "(\\." LABEL_RE ")*"
#define KEY_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define KEY_TEXT                                                                         \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "      \
    "regex "                                                                             \
    "used for validation is '" KEY_RE "')"

struct name_rule {
    bool (*shape)(struct str s);
    size_t max; /* bytes, 0: no limit */
    const char *text;
};

static const struct name_rule RULES[] = {
    [NAME_DNS1123_LABEL] = {dns1123_label, LABEL_MAX,
                            "a lowercase RFC 1123 label must consist of lower case "
                            "alphanumeric characters or "
                            "'-', and must start and end with an alphanumeric character "
                            "(e.g. 'my-name',  or "
                            "'123-abc', regex used for validation is '" LABEL_RE "')"},
    [NAME_DNS1123_SUBDOMAIN] =
        {dns1123_subdomain, SUBDOMAIN_MAX,
         "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
         "characters, "
         "'-' or '.', and must start and end with an alphanumeric character (e.g. "
         "'example.com', regex used for validation is '" SUBDOMAIN_RE "')"},
    [NAME_DNS1123_SUBDOMAIN_CASELESS] = {caseless_subdomain, SUBDOMAIN_MAX,
                                         "an RFC 1123 subdomain must consist of "
                                         "alphanumeric characters, '-' or '.', and must "
                                         "start and end with an alphanumeric character "
                                         "(e.g. 'Example.com', regex used for "
                                         "validation is '" SUBDOMAIN_RE "')"},
    [NAME_DNS1035_LABEL] =
        {dns1035_label, LABEL_MAX,
         "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
         "start "
         "with an alphabetic character, and end with an alphanumeric character (e.g. "
         "'my-name',  or 'abc-123', regex used for validation is "
         "'[a-z]([-a-z0-9]*[a-z0-9])?')"},
    [NAME_LABEL_VALUE] =
        {label_value, LABEL_MAX,
         "a valid label must be an empty string or consist of alphanumeric characters, "
         "'-', "
         "'_' or '.', and must start and end with an alphanumeric character (e.g. "
         "'MyValue', "
         " or 'my_value',  or '12345', regex used for validation is '(" KEY_RE ")?')"},
    [NAME_C_IDENTIFIER] =
        {c_identifier, 0,
         "a valid C identifier must start with alphabetic character or '_', followed by "
         "a "
         "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
         "'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"},
};

struct problems {
    struct arena *a; /* NULL: only count */
    struct str *v;
    unsigned n;
};

static void problem(struct problems *p, const char *prefix, const char *text)
{
    if (p->a)
        p->v[p->n] = arena_printf(p->a, "%s%s", prefix, text);
    p->n++;
}

static void too_long(struct problems *p, const char *prefix, size_t max, const char *unit)
{
    if (p->a)
        p->v[p->n] =
            arena_printf(p->a, "%smust be no more than %zu %s", prefix, max, unit);
    p->n++;
}

/* Upstream has two packages; the one for DNS names by themselves counts characters. */
static const char *unit_of(enum name_kind kind, const char *prefix)
{
    bool dns = kind == NAME_DNS1123_LABEL || kind == NAME_DNS1123_SUBDOMAIN ||
               kind == NAME_DNS1035_LABEL;
    return dns && prefix[0] == '\0' ? "characters" : "bytes";
}

static void check_rule(enum name_kind kind, struct str s, const char *prefix,
                       struct problems *p)
{
    const struct name_rule *r = &RULES[kind];
    if (r->max && s.n > r->max)
        too_long(p, prefix, r->max, unit_of(kind, prefix));
    if (r->shape(s))
        return;
    if (kind == NAME_DNS1123_LABEL && dns1123_subdomain(s))
        problem(p, prefix, "must not contain dots");
    else
        problem(p, prefix, r->text);
}

static void check_key(struct str s, struct problems *p)
{
    size_t slash = str_find_byte(s, '/', 0);
    struct str name = s;
    if (slash != SIZE_MAX) {
        struct str prefix = str_sub(s, 0, slash);
        name = str_sub(s, slash + 1, SIZE_MAX);
        if (str_find_byte(name, '/', 0) != SIZE_MAX) {
            problem(p, "a valid label key ",
                    KEY_TEXT " with an optional DNS subdomain prefix and '/' (e.g. "
                             "'example.com/MyName')");
            return;
        }
        if (prefix.n == 0)
            problem(p, "prefix part ", "must be non-empty");
        else
            check_rule(NAME_DNS1123_SUBDOMAIN, prefix, "prefix part ", p);
    }
    if (name.n == 0)
        problem(p, "name part ", "must be non-empty");
    else if (name.n > LABEL_MAX)
        too_long(p, "name part ", LABEL_MAX, "bytes");
    if (!label_name(name))
        problem(p, "name part ", KEY_TEXT);
}

unsigned name_check(enum name_kind kind, struct str s, struct arena *a,
                    struct str problems[NAME_MAX_PROBLEMS])
{
    struct problems p = {.a = a, .v = problems};
    if (kind == NAME_LABEL_KEY)
        check_key(s, &p);
    else
        check_rule(kind, s, "", &p);
    return p.n;
}

bool name_valid(enum name_kind kind, struct str s)
{
    return name_check(kind, s, NULL, NULL) == 0;
}
