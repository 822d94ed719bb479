/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/textproto.h"

#include <ctype.h>

#include "base/utf8.h"

enum { MAX_DEPTH = 100 };

struct reader {
    const char *p, *end;
    struct arena *arena;
    struct err *err;
    unsigned line, depth;
};

static bool fail(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_INVALID, "line %u: %s", r->line, what);
}

static void skip_space(struct reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '#')
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        if (r->p == r->end)
            return;
        if (*r->p == '\n')
            r->line++;
        else if (!isspace((unsigned char)*r->p))
            return;
    }
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+';
}

static bool read_word(struct reader *r, struct str *out)
{
    skip_space(r);
    const char *from = r->p;
    while (r->p < r->end && is_word(*r->p))
        r->p++;
    *out = (struct str){from, (size_t)(r->p - from)};
    return out->n || fail(r, "a name or value is missing");
}

/* ---- Strings ---- */

static int digit_of(char c, int base)
{
    int v = isdigit((unsigned char)c)    ? c - '0'
            : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                         : 99;
    return v < base ? v : -1;
}

/* Up to n digits. */
static uint32_t read_digits(struct reader *r, int base, int n)
{
    uint32_t v = 0;
    for (; n > 0 && r->p < r->end && digit_of(*r->p, base) >= 0; n--)
        v = v * (uint32_t)base + (uint32_t)digit_of(*r->p++, base);
    return v;
}

static void put_rune(struct strbuf *out, uint32_t cp)
{
    char bytes[4];
    strbuf_add(out, bytes, utf8_encode(cp, bytes));
}

static void read_escape(struct reader *r, struct strbuf *out)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char c = *r->p++;
    const char *simple = strchr(from, c);
    if (simple && c)
        strbuf_addc(out, to[simple - from]);
    else if (c == 'x' || c == 'X')
        strbuf_addc(out, (char)read_digits(r, 16, 2));
    else if (c == 'u')
        put_rune(out, read_digits(r, 16, 4));
    else if (c == 'U')
        put_rune(out, read_digits(r, 16, 8));
    else if (digit_of(c, 8) >= 0) {
        r->p--;
        strbuf_addc(out, (char)read_digits(r, 8, 3));
    } else
        strbuf_addc(out, c);
}

static bool read_quoted(struct reader *r, struct strbuf *out)
{
    char quote = *r->p++;
    while (r->p < r->end && *r->p != quote) {
        if (*r->p == '\n')
            return fail(r, "a string ends with its line");
        if (*r->p == '\\' && r->p + 1 < r->end) {
            r->p++;
            read_escape(r, out);
        } else {
            strbuf_addc(out, *r->p++);
        }
    }
    if (r->p == r->end)
        return fail(r, "a string is not closed");
    r->p++;
    return true;
}

static bool at_quote(struct reader *r)
{
    skip_space(r);
    return r->p < r->end && (*r->p == '"' || *r->p == '\'');
}

/* Strings one after another are one. */
static bool read_string(struct reader *r, struct str *out)
{
    struct strbuf b = STRBUF_INIT;
    bool ok = true;
    while (ok && at_quote(r))
        ok = read_quoted(r, &b);
    *out = arena_str(r->arena, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}

/* ---- Messages ---- */

static bool read_fields(struct reader *r, char close, struct tp_message *out);

static bool read_value(struct reader *r, struct tp_field *f)
{
    if (take(r, '{')) {
        struct tp_message *m = ARENA_NEW(r->arena, struct tp_message);
        f->message = m;
        return read_fields(r, '}', m);
    }
    if (at_quote(r)) {
        f->quoted = true;
        return read_string(r, &f->text);
    }
    return read_word(r, &f->text);
}

static bool read_name(struct reader *r, struct str *out)
{
    if (!take(r, '['))
        return read_word(r, out);
    const char *from = r->p;
    while (r->p < r->end && *r->p != ']')
        r->p++;
    *out = (struct str){from, (size_t)(r->p - from)};
    return take(r, ']') || fail(r, "a bracket is not closed");
}

static struct tp_field *add_field(struct reader *r, const struct tp_field ***tail)
{
    struct tp_field *f = ARENA_NEW(r->arena, struct tp_field);
    f->line = r->line;
    **tail = f;
    *tail = &f->next;
    return f;
}

/* "name: [v, v]" is the same as the field given twice. */
static bool read_list(struct reader *r, struct str name, const struct tp_field ***tail)
{
    while (!take(r, ']')) {
        struct tp_field *f = add_field(r, tail);
        f->name = name;
        if (!read_value(r, f))
            return false;
        take(r, ',');
    }
    return true;
}

static bool read_field(struct reader *r, const struct tp_field ***tail)
{
    struct str name;
    if (!read_name(r, &name))
        return false;
    if (take(r, ':') && take(r, '['))
        return read_list(r, name, tail);
    struct tp_field *f = add_field(r, tail);
    f->name = name;
    if (!read_value(r, f))
        return false;
    if (!take(r, ','))
        take(r, ';');
    return true;
}

static bool read_fields(struct reader *r, char close, struct tp_message *out)
{
    const struct tp_field **tail = &out->first;
    if (++r->depth > MAX_DEPTH)
        return fail(r, "messages are nested too deep");
    for (;;) {
        skip_space(r);
        if (r->p == r->end && !close)
            break;
        if (close && take(r, close))
            break;
        if (!read_field(r, &tail))
            return false;
    }
    r->depth--;
    return true;
}

const struct tp_message *tp_parse(struct str text, struct arena *a, struct err *e)
{
    struct reader r = {
        .p = text.p, .end = text.p + text.n, .arena = a, .err = e, .line = 1};
    struct tp_message *m = ARENA_NEW(a, struct tp_message);
    return read_fields(&r, 0, m) ? m : NULL;
}

static const struct tp_field *find_from(const struct tp_field *f, struct str name)
{
    while (f && !str_eq(f->name, name))
        f = f->next;
    return f;
}

const struct tp_field *tp_field(const struct tp_message *m, const char *name)
{
    return m ? find_from(m->first, str_from(name)) : NULL;
}

const struct tp_field *tp_next(const struct tp_field *f)
{
    return find_from(f->next, f->name);
}

const struct tp_message *tp_message(const struct tp_message *m, const char *name)
{
    const struct tp_field *f = tp_field(m, name);
    return f ? f->message : NULL;
}

struct str tp_text(const struct tp_message *m, const char *name)
{
    const struct tp_field *f = tp_field(m, name);
    return f ? f->text : STR_NONE;
}

bool tp_flag(const struct tp_message *m, const char *name)
{
    return str_is(tp_text(m, name), "true");
}
