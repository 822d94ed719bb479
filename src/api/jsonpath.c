/* SPDX-License-Identifier: Apache-2.0 */
#include "api/jsonpath.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum step_kind { STEP_MEMBER, STEP_ITEMS, STEP_ALL, STEP_DEEP, STEP_FILTER };

enum comparison { EXISTS, EQUAL, UNEQUAL, LESS, LESS_EQUAL, MORE, MORE_EQUAL };

struct filter {
    struct jsonpath left, right;
    struct doc literal; /* of the right side, where it is no path */
    enum comparison how;
};

struct jsonpath_step {
    enum step_kind kind;
    struct str name;
    /* [from:to:by]; an index alone is from, with `one`. */
    int64_t from, to, by;
    bool one, has_from, has_to;
    const struct filter *filter;
};

typedef VEC(struct jsonpath_step) step_list;

struct parser {
    struct str text;
    size_t at;
    struct arena *a;
    step_list steps;
};

/* ---- parsing ---- */

static char peek(const struct parser *p)
{
    return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

static bool add(struct parser *p, struct jsonpath_step s)
{
    if (p->steps.n == JSONPATH_MAX_STEPS)
        return false;
    vec_push(&p->steps, s);
    return true;
}

static bool ends_name(char c)
{
    return c == '\0' || strchr(".[]() \t,*=!<>|&{}?@$", c) != NULL;
}

/* A name, in which a backslash makes the next byte a part of it. */
static bool parse_name(struct parser *p)
{
    char *name = arena_alloc(p->a, p->text.n - p->at + 1);
    size_t n = 0;
    while (!ends_name(peek(p))) {
        if (peek(p) == '\\' && p->at + 1 < p->text.n)
            p->at++;
        name[n++] = p->text.p[p->at++];
    }
    name[n] = '\0';
    struct jsonpath_step s = {.kind = STEP_MEMBER, .name = {name, n}};
    return n > 0 && add(p, s);
}

static bool parse_member(struct parser *p)
{
    p->at++;
    if (peek(p) == '.') {
        p->at++;
        if (!add(p, (struct jsonpath_step){.kind = STEP_DEEP}))
            return false;
    }
    if (peek(p) == '*') {
        p->at++;
        return add(p, (struct jsonpath_step){.kind = STEP_ALL});
    }
    return peek(p) == '[' || parse_name(p);
}

/* 'a' or "a", with its quotes. */
static bool parse_quoted(struct parser *p, struct str *out)
{
    char quote = peek(p);
    char *text = arena_alloc(p->a, p->text.n - p->at + 1);
    size_t n = 0;
    p->at++;
    while (p->at < p->text.n && peek(p) != quote) {
        if (peek(p) == '\\' && p->at + 1 < p->text.n)
            p->at++;
        text[n++] = p->text.p[p->at++];
    }
    if (peek(p) != quote)
        return false;
    p->at++;
    text[n] = '\0';
    *out = (struct str){text, n};
    return true;
}

static void skip_spaces(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t')
        p->at++;
}

static bool parse_number(struct parser *p, int64_t *out)
{
    size_t start = p->at;
    if (peek(p) == '-' || peek(p) == '+')
        p->at++;
    size_t digits = p->at;
    while (peek(p) >= '0' && peek(p) <= '9')
        p->at++;
    if (p->at == digits || p->at - digits > 9)
        return false;
    *out = strtoll(arena_str(p->a, str_sub(p->text, start, p->at)).p, NULL, 10);
    return true;
}

static bool parse_items(struct parser *p)
{
    struct jsonpath_step s = {.kind = STEP_ITEMS, .by = 1};
    s.has_from = parse_number(p, &s.from);
    s.one = peek(p) != ':';
    if (s.one)
        return s.has_from && add(p, s);
    p->at++;
    s.has_to = parse_number(p, &s.to);
    if (peek(p) == ':') {
        p->at++;
        if (!parse_number(p, &s.by) || s.by < 1)
            return false;
    }
    return add(p, s);
}

static bool parse_path(struct parser *p);

static const struct {
    const char *text;
    enum comparison how;
} COMPARISONS[] = {
    {"==", EQUAL},      {"!=", UNEQUAL}, {"<=", LESS_EQUAL},
    {">=", MORE_EQUAL}, {"<", LESS},     {">", MORE},
};

static enum comparison parse_comparison(struct parser *p)
{
    for (size_t i = 0; i < sizeof COMPARISONS / sizeof *COMPARISONS; i++)
        if (str_starts(str_sub(p->text, p->at, SIZE_MAX),
                       str_from(COMPARISONS[i].text))) {
            p->at += strlen(COMPARISONS[i].text);
            return COMPARISONS[i].how;
        }
    return EXISTS;
}

static struct jsonpath taken(struct parser *p)
{
    struct jsonpath path = {NULL, (uint32_t)p->steps.n};
    struct jsonpath_step *steps = ARENA_ARRAY(p->a, struct jsonpath_step, path.n + 1);
    if (path.n)
        memcpy(steps, p->steps.v, path.n * sizeof *steps);
    path.steps = steps;
    vec_release(&p->steps);
    return path;
}

/* @.a.b, a part of the path around it. */
static bool parse_inner(struct parser *p, struct jsonpath *out)
{
    struct parser inner = {.text = p->text, .at = p->at, .a = p->a};
    bool ok = parse_path(&inner);
    *out = taken(&inner);
    p->at = inner.at;
    return ok;
}

static bool parse_literal(struct parser *p, struct doc *out)
{
    struct str text;
    if (peek(p) == '"' || peek(p) == '\'') {
        if (!parse_quoted(p, &text))
            return false;
        *out = doc_make_string(p->a, text);
        return true;
    }
    size_t start = p->at;
    while (!ends_name(peek(p)) || peek(p) == '.')
        p->at++;
    struct doc_source src = {.name = "", .text = str_sub(p->text, start, p->at)};
    return doc_read_json(&src, p->a, out, NULL) && out->type < DOC_LIST;
}

static bool parse_filter(struct parser *p)
{
    struct filter *f = ARENA_NEW(p->a, struct filter);
    p->at += 2; /* ?( */
    skip_spaces(p);
    if (!parse_inner(p, &f->left))
        return false;
    skip_spaces(p);
    f->how = parse_comparison(p);
    skip_spaces(p);
    bool ok = f->how == EXISTS ||
              (peek(p) == '@' || peek(p) == '.' ? parse_inner(p, &f->right)
                                                : parse_literal(p, &f->literal));
    skip_spaces(p);
    if (!ok || peek(p) != ')')
        return false;
    p->at++;
    return add(p, (struct jsonpath_step){.kind = STEP_FILTER, .filter = f});
}

static bool parse_bracket(struct parser *p)
{
    struct jsonpath_step s = {.kind = STEP_MEMBER};
    bool ok;
    p->at++;
    skip_spaces(p);
    if (peek(p) == '*') {
        p->at++;
        ok = add(p, (struct jsonpath_step){.kind = STEP_ALL});
    } else if (peek(p) == '\'' || peek(p) == '"') {
        ok = parse_quoted(p, &s.name) && add(p, s);
    } else if (peek(p) == '?' && p->at + 1 < p->text.n && p->text.p[p->at + 1] == '(') {
        ok = parse_filter(p);
    } else {
        ok = parse_items(p);
    }
    skip_spaces(p);
    if (!ok || peek(p) != ']')
        return false;
    p->at++;
    return true;
}

/* Up to what cannot belong to a path. */
static bool parse_path(struct parser *p)
{
    if (peek(p) == '$' || peek(p) == '@')
        p->at++;
    for (;;) {
        if (peek(p) == '.' && p->at + 1 == p->text.n && p->at == 0)
            return p->at++, true; /* "." is the whole */
        if (peek(p) == '.' ? !parse_member(p) : peek(p) == '[' && !parse_bracket(p))
            return false;
        if (peek(p) != '.' && peek(p) != '[')
            return true;
    }
}

bool jsonpath_parse(struct str text, struct arena *a, struct jsonpath *out)
{
    struct parser p = {.text = str_trim(text), .a = a};
    bool ok = parse_path(&p) && p.at == p.text.n;
    *out = taken(&p);
    return ok;
}

/* ---- finding ---- */

typedef VEC(const struct doc *) value_list;

static void found(value_list *out, const struct doc *d)
{
    if (d && out->n < JSONPATH_MAX_RESULTS)
        vec_push(out, d);
}

static bool find_items(const struct jsonpath_step *s, const struct doc *d,
                       value_list *out)
{
    if (d->type != DOC_LIST)
        return false;
    int64_t n = d->n, from = s->has_from ? s->from : 0, to = s->has_to ? s->to : n;
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    if (s->one)
        to = from + 1;
    if (from < 0 || to > n)
        return !s->one && n == 0;
    for (int64_t i = from; i < to; i += s->by)
        found(out, &d->items[i]);
    return true;
}

static void find_all(const struct doc *d, value_list *out)
{
    for (uint32_t i = 0; d->type >= DOC_LIST && i < d->n; i++)
        found(out, d->type == DOC_LIST ? &d->items[i] : &d->members[i].value);
}

static void find_deep(const struct doc *d, value_list *out)
{
    found(out, d);
    for (uint32_t i = 0; d->type >= DOC_LIST && i < d->n; i++)
        find_deep(d->type == DOC_LIST ? &d->items[i] : &d->members[i].value, out);
}

static bool find(const struct jsonpath *p, const struct doc *d, value_list *out);

/* false: they cannot be compared. */
static bool compare(const struct doc *l, const struct doc *r, int *out)
{
    double x, y;
    if (l->type == DOC_NUMBER && r->type == DOC_NUMBER && doc_double(l, &x) &&
        doc_double(r, &y))
        *out = (x > y) - (x < y);
    else if (l->type == DOC_STRING && r->type == DOC_STRING)
        *out = str_cmp(doc_str(l), doc_str(r));
    else if (l->type == DOC_BOOL && r->type == DOC_BOOL)
        *out = l->b != r->b;
    else
        return false;
    return true;
}

static bool holds(enum comparison how, int c)
{
    return how == EQUAL        ? c == 0
           : how == UNEQUAL    ? c != 0
           : how == LESS       ? c < 0
           : how == LESS_EQUAL ? c <= 0
           : how == MORE       ? c > 0
                               : c >= 0;
}

/* false: the filter does not fit the item. */
static bool passes(const struct filter *f, const struct doc *item, bool *out)
{
    value_list l = {0}, r = {0};
    bool literal = f->right.n == 0;
    bool fits = find(&f->left, item, &l) && (literal || find(&f->right, item, &r));
    int c = 0;
    *out = f->how == EXISTS && l.n > 0;
    if (fits && f->how != EXISTS && l.n && (literal || r.n)) {
        fits = l.n == 1 && (literal || r.n == 1) &&
               compare(l.v[0], literal ? &f->literal : r.v[0], &c);
        *out = fits && holds(f->how, c);
    }
    vec_release(&l);
    vec_release(&r);
    return fits || f->how == EXISTS;
}

static bool find_filtered(const struct filter *f, const struct doc *d, value_list *out)
{
    bool pass;
    for (uint32_t i = 0; d->type == DOC_LIST && i < d->n; i++) {
        if (!passes(f, &d->items[i], &pass))
            return false;
        if (pass)
            found(out, &d->items[i]);
    }
    return d->type == DOC_LIST;
}

static bool step(const struct jsonpath_step *s, const struct doc *d, value_list *out)
{
    switch (s->kind) {
    case STEP_MEMBER:
        found(out, doc_get_str(d, s->name));
        return true;
    case STEP_ITEMS:
        return find_items(s, d, out);
    case STEP_ALL:
        find_all(d, out);
        return true;
    case STEP_DEEP:
        find_deep(d, out);
        return true;
    case STEP_FILTER:
        return find_filtered(s->filter, d, out);
    }
    return false;
}

static bool find(const struct jsonpath *p, const struct doc *d, value_list *out)
{
    value_list now = {0}, next = {0};
    bool ok = true;
    found(&now, d);
    for (uint32_t i = 0; ok && i < p->n; i++) {
        for (size_t j = 0; ok && j < now.n; j++)
            ok = step(&p->steps[i], now.v[j], &next);
        vec_clear(&now);
        value_list empty = now;
        now = next;
        next = empty;
    }
    for (size_t j = 0; ok && j < now.n; j++)
        found(out, now.v[j]);
    vec_release(&now);
    vec_release(&next);
    return ok;
}

const struct doc *const *jsonpath_find(const struct jsonpath *p, const struct doc *d,
                                       struct arena *a, uint32_t *n)
{
    value_list all = {0};
    bool ok = find(p, d, &all);
    *n = ok ? (uint32_t)all.n : 0;
    const struct doc **kept = ARENA_ARRAY(a, const struct doc *, *n + 1);
    if (*n)
        memcpy(kept, all.v, *n * sizeof *kept);
    vec_release(&all);
    return kept;
}
