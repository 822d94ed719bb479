/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/template.h"

enum { MAX_NESTED = 32 };

enum part_kind { PART_TEXT, PART_PATH, PART_RANGE };

struct template_part { /* a part, and those behind it */
    enum part_kind kind;
    struct str text;
    struct jsonpath path;
    const struct template_part *inside; /* of a range */
    const struct template_part *next;
};

struct parser {
    struct str text;
    size_t at;
    struct arena *a;
    struct err *e;
    int depth;
};

/* ---- parsing ---- */

static struct template_part *part(struct parser *p, enum part_kind kind)
{
    struct template_part *t = ARENA_NEW(p->a, struct template_part);
    t->kind = kind;
    return t;
}

/* Up to the brace that closes; quotes hide braces. */
static bool take_braces(struct parser *p, struct str *inside)
{
    size_t from = ++p->at;
    for (char quote = 0; p->at < p->text.n; p->at++) {
        char c = p->text.p[p->at];
        if (quote && c == '\\')
            p->at++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '}') {
            *inside = str_trim(str_sub(p->text, from, p->at++));
            return true;
        }
    }
    return err_set(p->e, ERR_INVALID, "unclosed action");
}

static char unescape(char c)
{
    static const char FROM[] = "ntr", TO[] = "\n\t\r";
    for (int i = 0; FROM[i]; i++)
        if (FROM[i] == c)
            return TO[i];
    return c;
}

static struct str unquote(struct str s, struct arena *a)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 1; i + 1 < s.n; i++) {
        bool escaped = s.p[i] == '\\' && i + 2 < s.n;
        p[n++] = escaped ? unescape(s.p[++i]) : s.p[i];
    }
    p[n] = '\0';
    return (struct str){p, n};
}

static const struct template_part *parse_parts(struct parser *p, bool *closed);

static struct template_part *parse_path(struct parser *p, enum part_kind kind,
                                        struct str text)
{
    struct template_part *t = part(p, kind);
    struct str path = str_starts(text, STR("$")) ? str_sub(text, 1, text.n) : text;
    if (str_is(path, "@") || !path.n)
        path = STR("");
    else if (path.p[0] == '@')
        path = str_sub(path, 1, path.n);
    if (path.n && !jsonpath_parse(path, p->a, &t->path)) {
        err_set(p->e, ERR_INVALID, "\"%.*s\" is no path", STR_ARG(text));
        return NULL;
    }
    return t;
}

static struct template_part *parse_range(struct parser *p, struct str text)
{
    bool closed = false;
    struct template_part *t =
        parse_path(p, PART_RANGE, str_trim(str_sub(text, 5, text.n)));
    if (!t)
        return NULL;
    if (++p->depth > MAX_NESTED) {
        err_set(p->e, ERR_LIMIT, "more than %d ranges in one another", MAX_NESTED);
        return NULL;
    }
    t->inside = parse_parts(p, &closed);
    p->depth--;
    if (p->e->code == ERR_NONE && closed)
        return t;
    if (p->e->code == ERR_NONE)
        err_set(p->e, ERR_INVALID, "range without end");
    return NULL;
}

/* *end: it was {end}. NULL: it was, or an error. */
static struct template_part *parse_braces(struct parser *p, bool *end)
{
    struct str inside = STR_NONE;
    if (!take_braces(p, &inside))
        return NULL;
    *end = str_is(inside, "end");
    if (*end)
        return NULL;
    if (str_starts(inside, STR("range ")))
        return parse_range(p, inside);
    if (inside.n >= 2 && (inside.p[0] == '"' || inside.p[0] == '\'')) {
        struct template_part *t = part(p, PART_TEXT);
        t->text = unquote(inside, p->a);
        return t;
    }
    return parse_path(p, PART_PATH, inside);
}

static struct template_part *parse_text(struct parser *p)
{
    size_t brace = str_find_byte(p->text, '{', p->at);
    struct template_part *t = part(p, PART_TEXT);
    t->text = str_sub(p->text, p->at, brace);
    p->at = brace == SIZE_MAX ? p->text.n : brace;
    return t;
}

static const struct template_part *parse_parts(struct parser *p, bool *closed)
{
    const struct template_part *first = NULL, **last = &first;
    while (p->at < p->text.n) {
        bool end = false;
        struct template_part *t =
            p->text.p[p->at] == '{' ? parse_braces(p, &end) : parse_text(p);
        if (end && !p->depth)
            err_set(p->e, ERR_INVALID, "not in range, nothing to end");
        *closed = end;
        if (!t)
            return first;
        *last = t;
        last = &t->next;
    }
    return first;
}

const struct template_part *template_parse(struct str text, struct arena *a,
                                           struct err *e)
{
    struct err own = ERR_INIT;
    struct parser p = {.text = arena_str(a, text), .a = a, .e = &own};
    bool closed;
    const struct template_part *t = parse_parts(&p, &closed);
    if (own.code == ERR_NONE)
        return t ? t : part(&p, PART_TEXT);
    err_set(e, own.code, "error parsing jsonpath %.*s, %s", STR_ARG(text),
            err_text(&own));
    err_release(&own);
    return NULL;
}

bool template_path(struct str text, struct arena *a, struct jsonpath *out, struct err *e)
{
    struct str path = text;
    if (str_starts(path, STR("{")) && str_ends(path, STR("}")))
        path = str_sub(path, 1, path.n - 1);
    if (path.n && path.p[0] != '.' && path.p[0] != '[')
        path = arena_printf(a, ".%.*s", STR_ARG(path));
    return jsonpath_parse(arena_str(a, path), a, out) ||
           err_set(e, ERR_INVALID, "\"%.*s\" is no path", STR_ARG(text));
}

/* ---- printing ---- */

void template_value(const struct doc *d, struct strbuf *out)
{
    if (d->type == DOC_STRING)
        strbuf_addstr(out, doc_str(d));
    else if (d->type != DOC_NULL)
        doc_write_json(d, DOC_JSON_COMPACT | DOC_JSON_SORT | DOC_JSON_HTML, out);
}

static const struct doc *const *find(const struct template_part *t, const struct doc *d,
                                     struct arena *a, uint32_t *n)
{
    if (t->path.n)
        return jsonpath_find(&t->path, d, a, n);
    const struct doc **self = ARENA_NEW(a, const struct doc *);
    *self = d;
    *n = 1;
    return self;
}

static void print_path(const struct template_part *t, const struct doc *d,
                       struct arena *a, struct strbuf *out)
{
    uint32_t n;
    const struct doc *const *found = find(t, d, a, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_addc(out, ' ');
        template_value(found[i], out);
    }
}

/* A list that the path leads to is walked, as its items would be. */
static void print_range(const struct template_part *t, const struct doc *d,
                        struct arena *a, struct strbuf *out)
{
    uint32_t n;
    const struct doc *const *found = find(t, d, a, &n);
    if (n == 1 && found[0]->type == DOC_LIST) {
        for (uint32_t i = 0; i < found[0]->n; i++)
            template_print(t->inside, &found[0]->items[i], a, out);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        template_print(t->inside, found[i], a, out);
}

void template_print(const struct template_part *t, const struct doc *d, struct arena *a,
                    struct strbuf *out)
{
    for (; t; t = t->next) {
        if (t->kind == PART_TEXT)
            strbuf_addstr(out, t->text);
        else if (t->kind == PART_PATH)
            print_path(t, d, a, out);
        else
            print_range(t, d, a, out);
    }
}
