/* SPDX-License-Identifier: Apache-2.0 */
#include "doc/json_syntax.h"

struct scan {
    struct str text;
    size_t i;
    struct strbuf nest; /* the brackets that are open */
    struct arena *a;
    struct str *why;
};

/* ---- complaints ---- */

/* As strconv.Quote spells it, between single quotes. A byte stands for the character of
 * its number. */
static struct str quoted(struct arena *a, unsigned char c)
{
    static const char ESCAPES[] = "\aa\bb\ff\nn\rr\tt\vv\\\\''";
    for (size_t i = 0; i + 1 < sizeof ESCAPES; i += 2)
        if ((unsigned char)ESCAPES[i] == c)
            return arena_printf(a, "'\\%c'", ESCAPES[i + 1]);
    if (c < 0x20 || c == 0x7f)
        return arena_printf(a, "'\\x%02x'", c);
    if (c < 0x7f)
        return arena_printf(a, "'%c'", c);
    if (c <= 0xa0 || c == 0xad)
        return arena_printf(a, "'\\u%04x'", c);
    return arena_printf(a, "'%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
}

static bool cut_short(struct scan *s)
{
    *s->why = STR("unexpected end of JSON input");
    return false;
}

/* The end counts as a blank: where one may stand, the text is cut short. */
static int here(const struct scan *s)
{
    return s->i < s->text.n ? (unsigned char)s->text.p[s->i] : ' ';
}

static bool bad(struct scan *s, const char *where)
{
    struct str c = quoted(s->a, (unsigned char)here(s));
    *s->why = arena_printf(s->a, "invalid character %.*s %s", STR_ARG(c), where);
    return false;
}

/* Over white space; false: the text ends. */
static bool skip(struct scan *s)
{
    while (s->i < s->text.n && strchr(" \t\r\n", s->text.p[s->i]) && s->text.p[s->i])
        s->i++;
    return s->i < s->text.n || cut_short(s);
}

/* ---- scalars ---- */

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool scan_escape(struct scan *s)
{
    int c = here(s);
    if (c != 'u') {
        if (c == '\0' || c == ' ' || !strchr("\"\\/bfnrt", c))
            return bad(s, "in string escape code");
        s->i++;
        return true;
    }
    s->i++;
    for (int k = 0; k < 4; k++, s->i++)
        if (!is_hex(here(s)))
            return bad(s, "in \\u hexadecimal character escape");
    return true;
}

/* From behind its first quote. */
static bool scan_string(struct scan *s)
{
    while (s->i < s->text.n) {
        int c = here(s);
        if (c < 0x20)
            return bad(s, "in string literal");
        s->i++;
        if (c == '"')
            return true;
        if (c == '\\' && !scan_escape(s))
            return false;
    }
    return cut_short(s);
}

static bool scan_digits(struct scan *s, const char *where)
{
    if (!is_digit(here(s)))
        return bad(s, where);
    while (is_digit(here(s)))
        s->i++;
    return true;
}

static bool scan_number(struct scan *s)
{
    if (here(s) == '-')
        s->i++;
    if (here(s) == '0')
        s->i++;
    else if (!scan_digits(s, "in numeric literal"))
        return false;
    if (here(s) == '.') {
        s->i++;
        if (!scan_digits(s, "after decimal point in numeric literal"))
            return false;
    }
    if (here(s) != 'e' && here(s) != 'E')
        return true;
    s->i++;
    if (here(s) == '+' || here(s) == '-')
        s->i++;
    return scan_digits(s, "in exponent of numeric literal");
}

static bool scan_word(struct scan *s, const char *word)
{
    for (const char *w = word; *w; w++, s->i++)
        if (here(s) != *w)
            return bad(s,
                       arena_printf(s->a, "in literal %s (expecting '%c')", word, *w).p);
    return true;
}

static bool scan_scalar(struct scan *s)
{
    int c = here(s);
    if (c == '"') {
        s->i++;
        return scan_string(s);
    }
    if (c == '-' || is_digit(c))
        return scan_number(s);
    return c == 't'   ? scan_word(s, "true")
           : c == 'f' ? scan_word(s, "false")
           : c == 'n' ? scan_word(s, "null")
                      : bad(s, "looking for beginning of value");
}

/* ---- lists and maps ---- */

/* A key and its colon. */
static bool scan_key(struct scan *s)
{
    if (!skip(s))
        return false;
    if (here(s) != '"')
        return bad(s, "looking for beginning of object key string");
    s->i++;
    if (!scan_string(s) || !skip(s))
        return false;
    if (here(s) != ':')
        return bad(s, "after object key");
    s->i++;
    return true;
}

/* Opens what begins here, up to the first value in it; empty ones are closed again. */
static bool open_one(struct scan *s, bool *empty)
{
    int c = here(s);
    if (s->nest.n >= JSON_SYNTAX_DEPTH)
        return bad(s, "exceeded max depth");
    s->i++;
    if (!skip(s))
        return false;
    *empty = here(s) == (c == '{' ? '}' : ']');
    if (*empty) {
        s->i++;
        return true;
    }
    strbuf_addc(&s->nest, (char)c);
    return c == '[' || scan_key(s);
}

/* Behind a value: up to where the next one begins; more false: there is none. */
static bool close_some(struct scan *s, bool *more)
{
    *more = false;
    while (s->nest.n) {
        bool map = s->nest.p[s->nest.n - 1] == '{';
        if (!skip(s))
            return false;
        int c = here(s);
        *more = c == ',';
        if (!*more && c != (map ? '}' : ']'))
            return bad(s, map ? "after object key:value pair" : "after array element");
        s->i++;
        if (*more)
            return !map || scan_key(s);
        s->nest.n--;
    }
    return true;
}

static bool scan_all(struct scan *s)
{
    for (bool more = true; more;) {
        bool closed = true;
        if (!skip(s))
            return false;
        if (here(s) == '{' || here(s) == '[') {
            if (!open_one(s, &closed))
                return false;
        } else if (!scan_scalar(s)) {
            return false;
        }
        if (closed && !close_some(s, &more))
            return false;
    }
    while (s->i < s->text.n && strchr(" \t\r\n", here(s)) && here(s))
        s->i++;
    return s->i == s->text.n || bad(s, "after top-level value");
}

bool json_syntax_check(struct str text, struct arena *a, struct str *why)
{
    struct scan s = {.text = text, .a = a, .why = why};
    bool ok = scan_all(&s);
    strbuf_release(&s.nest);
    return ok;
}
