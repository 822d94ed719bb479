/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to fields as rules and definitions write them: .spec.map['key'].x. */
#include "api/structural_inner.h"

struct reader {
    struct arena *a;
    struct str text;
    size_t at;
    const char *why;
};

/* A delimiter, a quoted text, or what stands before the next delimiter. */
static bool next(struct reader *r, struct str *tok)
{
    size_t from = r->at, to = from;
    if (from == r->text.n)
        return false;
    char first = r->text.p[from];
    if (first == '\'') {
        for (to++; to < r->text.n; to++)
            if (r->text.p[to] == '\'' && r->text.p[to - 1] != '\\')
                break;
        to += to < r->text.n;
    } else if (strchr(".[]", first)) {
        to++;
    } else {
        while (to < r->text.n && !strchr(".[]", r->text.p[to]))
            to++;
    }
    *tok = str_sub(r->text, from, to);
    r->at = to;
    return true;
}

static bool wrong(struct reader *r, const char *why)
{
    r->why = why;
    return false;
}

static bool unescape(struct reader *r, struct str quoted, struct str *out)
{
    static const char from[] = "abfnrtv'\\", to[] = "\a\b\f\n\r\t\v'\\";
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < quoted.n; i++) {
        if (quoted.p[i] != '\\' || i + 1 == quoted.n || quoted.p[i + 1] == '\n') {
            strbuf_addc(&b, quoted.p[i]);
            continue;
        }
        const char *c = quoted.p[++i] ? strchr(from, quoted.p[i]) : NULL;
        if (!c) {
            strbuf_release(&b);
            return wrong(r, arena_printf(r->a,
                                         "invalid string literal: invalid escape char "
                                         "\\%c",
                                         quoted.p[i])
                                .p);
        }
        strbuf_addc(&b, to[c - from]);
    }
    *out = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return true;
}

/* ['name'], behind the opening bracket. */
static bool bracket(struct reader *r, struct str *name)
{
    struct str tok;
    if (!next(r, &tok))
        return wrong(r, "unexpected end of JSON path");
    if (tok.n < 2 || tok.p[0] != '\'' || tok.p[tok.n - 1] != '\'')
        return wrong(r, arena_printf(r->a, "expected single quoted string but got %.*s",
                                     STR_ARG(tok))
                            .p);
    return unescape(r, str_sub(tok, 1, tok.n - 1), name);
}

static bool close_bracket(struct reader *r)
{
    struct str tok;
    if (!next(r, &tok))
        return wrong(r, "unexpected end of JSON path");
    if (!str_is(tok, "]"))
        return wrong(r, arena_printf(r->a, "expected ] but got %.*s", STR_ARG(tok)).p);
    return true;
}

static bool enter(struct reader *r, struct str name, struct strbuf *clean,
                  const struct schema **s)
{
    if (!*s || (!(*s)->has_props && !(*s)->additional))
        return wrong(r, "does not refer to a valid field");
    if ((*s)->has_props) {
        schema_path_child(clean, name);
        *s = schema_prop(*s, name);
        return *s || wrong(r, "does not refer to a valid field");
    }
    schema_path_key(clean, name);
    *s = (*s)->extra;
    return true;
}

static bool step(struct reader *r, struct str tok, bool brackets, struct strbuf *clean,
                 const struct schema **s)
{
    struct str name;
    bool open = str_is(tok, "[");
    if (open && !brackets)
        return wrong(r, "array notation is not allowed");
    if (!open && !str_is(tok, "."))
        return wrong(r,
                     arena_printf(r->a, "expected [ or . but got: %.*s", STR_ARG(tok)).p);
    if (open)
        return bracket(r, &name) && enter(r, name, clean, s) && close_bracket(r);
    if (!next(r, &name))
        return wrong(r, "unexpected end of JSON path");
    return enter(r, name, clean, s);
}

const char *schema_field_path(const struct schema *s, struct str path, bool brackets,
                              struct arena *a, struct str *clean,
                              const struct schema **found)
{
    struct reader r = {.a = a, .text = path};
    struct strbuf b = STRBUF_INIT;
    struct str tok;
    while (!r.why && next(&r, &tok))
        step(&r, tok, brackets, &b, &s);
    *clean = arena_str(a, strbuf_str(&b));
    *found = s;
    strbuf_release(&b);
    return r.why;
}
