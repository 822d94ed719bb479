/* SPDX-License-Identifier: Apache-2.0 */
#include "num/semver.h"

#include <inttypes.h>

#include "base/quote.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_identifier_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static inline bool only(struct str s, bool (*allowed)(char))
{
    for (size_t i = 0; i < s.n; i++)
        if (!allowed(s.p[i]))
            return false;
    return true;
}

/* Cuts off what precedes the first c. False, and everything, when there is no c. */
static bool cut(struct str *rest, char c, struct str *head)
{
    size_t at = str_find_byte(*rest, c, 0);
    bool found = at != SIZE_MAX;
    *head = str_sub(*rest, 0, found ? at : rest->n);
    *rest = found ? str_sub(*rest, at + 1, rest->n) : STR_NONE;
    return found;
}

/* "what "s"", with s quoted as upstream quotes. */
static bool refuse(struct err *e, const char *what, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    err_set(e, ERR_INVALID, "%s %s", what, strbuf_cstr(&b));
    strbuf_release(&b);
    return false;
}

static bool parse_uint(struct str s, uint64_t *out, struct err *e)
{
    uint64_t v = 0;
    bool fits = true;
    for (size_t i = 0; i < s.n && fits; i++)
        fits = !__builtin_mul_overflow(v, 10, &v) &&
               !__builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v);
    if (s.n > 0 && fits) {
        *out = v;
        return true;
    }
    return err_set(e, ERR_INVALID, "strconv.ParseUint: parsing \"%.*s\": %s", STR_ARG(s),
                   fits ? "invalid syntax" : "value out of range");
}

static bool has_leading_zero(struct str s)
{
    return s.n > 1 && s.p[0] == '0';
}

/* The three numbers and their two refusals each. */
static const struct {
    const char *strange, *zero;
} number_texts[] = {
    {"Invalid character(s) found in major number",
     "Major number must not contain leading zeroes"},
    {"Invalid character(s) found in minor number",
     "Minor number must not contain leading zeroes"},
    {"Invalid character(s) found in patch number",
     "Patch number must not contain leading zeroes"},
};

static bool parse_number(struct str s, int which, uint64_t *out, struct err *e)
{
    if (!only(s, is_digit))
        return refuse(e, number_texts[which].strange, s);
    if (has_leading_zero(s))
        return refuse(e, number_texts[which].zero, s);
    return parse_uint(s, out, e);
}

static bool check_pre(struct str id, struct err *e)
{
    uint64_t ignored;
    if (id.n == 0)
        return err_set(e, ERR_INVALID, "Prerelease is empty");
    if (!only(id, is_identifier_char))
        return refuse(e, "Invalid character(s) found in prerelease", id);
    if (!only(id, is_digit))
        return true;
    if (has_leading_zero(id))
        return refuse(e, "Numeric PreRelease version must not contain leading zeroes",
                      id);
    return parse_uint(id, &ignored, e);
}

static bool check_build(struct str id, struct err *e)
{
    if (id.n == 0)
        return err_set(e, ERR_INVALID, "Build meta data is empty");
    if (!only(id, is_identifier_char))
        return refuse(e, "Invalid character(s) found in build meta data", id);
    return true;
}

static bool each_identifier(struct str s, bool (*check)(struct str, struct err *),
                            struct err *e)
{
    struct str id;
    bool more;
    do {
        more = cut(&s, '.', &id);
        if (!check(id, e))
            return false;
    } while (more);
    return true;
}

static bool parse_strict(struct str s, struct semver *out, struct err *e)
{
    struct semver v = {0};
    struct str major, minor;
    if (s.n == 0)
        return err_set(e, ERR_INVALID, "Version string empty");
    if (!cut(&s, '.', &major) || !cut(&s, '.', &minor))
        return err_set(e, ERR_INVALID, "No Major.Minor.Patch elements found");
    if (!parse_number(major, 0, &v.major, e) || !parse_number(minor, 1, &v.minor, e))
        return false;
    struct str core, patch;
    bool has_build = cut(&s, '+', &core);
    v.build = s;
    bool has_pre = cut(&core, '-', &patch);
    v.pre = core;
    if (!parse_number(patch, 2, &v.patch, e) ||
        (has_pre && !each_identifier(v.pre, check_pre, e)) ||
        (has_build && !each_identifier(v.build, check_build, e)))
        return false;
    *out = v;
    return true;
}

/* Leading zeros off; a zero in front when no digit is left there. */
static void add_normal_part(struct strbuf *b, struct str part)
{
    if (part.n > 1) {
        while (part.n && part.p[0] == '0')
            part = str_sub(part, 1, part.n);
        if (part.n == 0 || !is_digit(part.p[0]))
            strbuf_addc(b, '0');
    }
    strbuf_addstr(b, part);
}

static bool normalize(struct str s, struct strbuf *b, struct err *e)
{
    if (str_starts(s, STR("v")))
        s = str_sub(s, 1, s.n);
    struct str parts[3];
    int n = 0;
    bool more = true;
    while (more && n < 2)
        more = cut(&s, '.', &parts[n++]);
    if (more)
        parts[n++] = s;
    struct str last = parts[n - 1];
    if (n < 3 && (str_find_byte(last, '+', 0) != SIZE_MAX ||
                  str_find_byte(last, '-', 0) != SIZE_MAX))
        return err_set(e, ERR_INVALID,
                       "short version cannot contain PreRelease/Build meta data");
    for (int i = 0; i < 3; i++) {
        if (i)
            strbuf_addc(b, '.');
        add_normal_part(b, i < n ? parts[i] : STR("0"));
    }
    return true;
}

bool semver_parse(struct str text, bool normal, struct arena *a, struct semver *out,
                  struct err *e)
{
    if (!normal)
        return parse_strict(text, out, e);
    struct strbuf b = STRBUF_INIT;
    bool ok =
        normalize(text, &b, e) && parse_strict(arena_str(a, strbuf_str(&b)), out, e);
    strbuf_release(&b);
    return ok;
}

static int sign_of_difference(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Numbers come before words; numbers have no leading zeros, so the longer is larger. */
static int cmp_identifier(struct str a, struct str b)
{
    bool number = only(a, is_digit), other = only(b, is_digit);
    if (number != other)
        return number ? -1 : 1;
    if (number && a.n != b.n)
        return sign_of_difference(a.n, b.n);
    int r = str_cmp(a, b);
    return (r > 0) - (r < 0);
}

static struct str identifier_at(struct str s, size_t start)
{
    size_t end = start;
    while (end < s.n && s.p[end] != '.')
        end++;
    return (struct str){s.p + start, end - start};
}

/* What is equal at the front does not count: the first identifiers that differ decide,
 * or the longer list. */
static int cmp_pre(struct str a, struct str b)
{
    if (a.n == 0 || b.n == 0)
        return (a.n == 0) - (b.n == 0);
    size_t i = 0, start = 0;
    for (; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
        if (a.p[i] == '.')
            start = i + 1;
    if (i == a.n && (i == b.n || b.p[i] == '.'))
        return i == b.n ? 0 : -1;
    if (i == b.n && a.p[i] == '.')
        return 1;
    return cmp_identifier(identifier_at(a, start), identifier_at(b, start));
}

int semver_cmp(const struct semver *a, const struct semver *b)
{
    int r = sign_of_difference(a->major, b->major);
    if (!r)
        r = sign_of_difference(a->minor, b->minor);
    if (!r)
        r = sign_of_difference(a->patch, b->patch);
    return r ? r : cmp_pre(a->pre, b->pre);
}

struct str semver_print(const struct semver *v, struct arena *a)
{
    return arena_printf(a, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 "%s%.*s%s%.*s", v->major,
                        v->minor, v->patch, v->pre.n ? "-" : "", STR_ARG(v->pre),
                        v->build.n ? "+" : "", STR_ARG(v->build));
}
