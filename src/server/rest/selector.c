/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/selector.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/vec.h"

/* ---- tokens of label selectors ---- */

enum token_kind {
    T_END,
    T_WORD,
    T_COMMA,
    T_OPEN,
    T_CLOSE,
    T_NOT,
    T_EQUAL,
    T_DOUBLE_EQUAL,
    T_NOT_EQUAL,
    T_GREATER,
    T_LESS,
};

struct token {
    enum token_kind kind;
    struct str text;
};

struct parser {
    struct str text;
    size_t at;
    struct token now;
    struct arena *a;
    struct str *why;
};

static bool is_special(char c)
{
    return c && strchr("=!(),><", c);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const struct sign {
    const char *text;
    enum token_kind kind;
} SIGNS[] = {
    {"==", T_DOUBLE_EQUAL}, {"!=", T_NOT_EQUAL}, {"=", T_EQUAL},
    {"!", T_NOT},           {"(", T_OPEN},       {")", T_CLOSE},
    {",", T_COMMA},         {">", T_GREATER},    {"<", T_LESS},
};
enum { NSIGNS = sizeof SIGNS / sizeof *SIGNS };

static struct token scan(struct parser *p)
{
    while (p->at < p->text.n && is_space(p->text.p[p->at]))
        p->at++;
    struct str rest = str_sub(p->text, p->at, SIZE_MAX);
    if (rest.n == 0)
        return (struct token){T_END, STR("")};
    for (int i = 0; i < NSIGNS; i++)
        if (str_starts(rest, str_from(SIGNS[i].text))) {
            struct str s = str_sub(rest, 0, strlen(SIGNS[i].text));
            p->at += s.n;
            return (struct token){SIGNS[i].kind, s};
        }
    size_t n = 0;
    while (n < rest.n && !is_special(rest.p[n]) && !is_space(rest.p[n]))
        n++;
    p->at += n;
    return (struct token){T_WORD, str_sub(rest, 0, n)};
}

static void advance(struct parser *p)
{
    p->now = scan(p);
}

static bool refuse(struct parser *p, const char *expected)
{
    *p->why =
        arena_printf(p->a, "unable to parse requirement: found '%.*s', expected: %s",
                     STR_ARG(p->now.text), expected);
    return false;
}

/* ---- checks of keys and values ---- */

static struct str joined_problems(struct arena *a, const struct str *problems, unsigned n)
{
    struct str all = problems[0];
    for (unsigned i = 1; i < n; i++)
        all = arena_printf(a, "%.*s; %.*s", STR_ARG(all), STR_ARG(problems[i]));
    return all;
}

static bool check_name(struct parser *p, enum name_kind kind, const char *path,
                       struct str s)
{
    struct str problems[NAME_MAX_PROBLEMS];
    unsigned n = name_check(kind, s, p->a, problems);
    if (n == 0)
        return true;
    struct str all = joined_problems(p->a, problems, n);
    *p->why = arena_printf(p->a,
                           "unable to parse requirement: %s: Invalid value: "
                           "\"%.*s\": %.*s",
                           path, STR_ARG(s), STR_ARG(all));
    return false;
}

static bool is_integer(struct str s)
{
    char *end;
    char *text = mem_dup(s.p, s.n);
    strtoll(text, &end, 10);
    bool ok = s.n > 0 && !isspace((unsigned char)*text) && *end == '\0';
    free(text);
    return ok;
}

static bool check_values(struct parser *p, const struct requirement *r)
{
    for (uint32_t i = 0; i < r->nvalues; i++) {
        struct str v = r->values[i];
        struct str path = arena_printf(p->a, "values[%u][%.*s]", i, STR_ARG(r->key));
        bool number = r->op == SELECT_GREATER || r->op == SELECT_LESS;
        if (number && !is_integer(v)) {
            *p->why = arena_printf(p->a,
                                   "unable to parse requirement: values[%u]: Invalid "
                                   "value: \"%.*s\": for 'Gt', 'Lt' operators, the value "
                                   "must be an integer",
                                   i, STR_ARG(v));
            return false;
        }
        if (!check_name(p, NAME_LABEL_VALUE, path.p, v))
            return false;
    }
    return true;
}

/* ---- the grammar ---- */

typedef VEC(struct str) str_list;

static void keep_values(struct parser *p, str_list *list, struct requirement *r)
{
    struct str *values = ARENA_ARRAY(p->a, struct str, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        values[i] = list->v[i];
    r->values = values;
    r->nvalues = (uint32_t)list->n;
}

/* After "in" or "notin": "(a,b)"; an empty place is an empty value. */
static bool parse_set(struct parser *p, str_list *list)
{
    if (p->now.kind != T_OPEN)
        return refuse(p, "'('");
    advance(p);
    bool value = false; /* the place has its value */
    for (;; advance(p)) {
        if (p->now.kind == T_WORD) {
            vec_push(list, p->now.text);
            value = true;
        } else if (p->now.kind == T_COMMA || p->now.kind == T_CLOSE) {
            if (!value)
                vec_push(list, STR(""));
            value = false;
            if (p->now.kind == T_CLOSE)
                break;
        } else {
            return refuse(p, "',' or ')'");
        }
    }
    advance(p);
    return true;
}

static bool parse_one_value(struct parser *p, str_list *list)
{
    struct str value = STR("");
    if (p->now.kind == T_WORD) {
        value = p->now.text;
        advance(p);
    } else if (p->now.kind != T_END && p->now.kind != T_COMMA) {
        return refuse(p, "identifier");
    }
    vec_push(list, value);
    return true;
}

static bool parse_op(struct parser *p, struct requirement *r, bool *set)
{
    static const struct {
        enum token_kind token;
        enum selector_op op;
    } OPS[] = {
        {T_EQUAL, SELECT_IN},         {T_DOUBLE_EQUAL, SELECT_IN},
        {T_NOT_EQUAL, SELECT_NOT_IN}, {T_GREATER, SELECT_GREATER},
        {T_LESS, SELECT_LESS},
    };
    *set = p->now.kind == T_WORD &&
           (str_is(p->now.text, "in") || str_is(p->now.text, "notin"));
    if (*set) {
        r->op = str_is(p->now.text, "in") ? SELECT_IN : SELECT_NOT_IN;
        return true;
    }
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        if (OPS[i].token == p->now.kind) {
            r->op = OPS[i].op;
            return true;
        }
    return refuse(p, "in, notin, =, ==, !=, gt, lt");
}

static bool parse_values(struct parser *p, struct requirement *r)
{
    bool set;
    if (!parse_op(p, r, &set))
        return false;
    advance(p);
    str_list list = {0};
    bool ok = set ? parse_set(p, &list) : parse_one_value(p, &list);
    if (ok)
        keep_values(p, &list, r);
    vec_release(&list);
    return ok && check_values(p, r);
}

static bool parse_requirement(struct parser *p, struct requirement *r)
{
    bool absent = p->now.kind == T_NOT;
    if (absent)
        advance(p);
    if (p->now.kind != T_WORD)
        return refuse(p, "identifier");
    *r = (struct requirement){.key = p->now.text,
                              .op = absent ? SELECT_ABSENT : SELECT_EXISTS};
    if (!check_name(p, NAME_LABEL_KEY, "<nil>", r->key))
        return false;
    advance(p);
    if (absent || p->now.kind == T_END || p->now.kind == T_COMMA)
        return true;
    return parse_values(p, r);
}

typedef VEC(struct requirement) requirement_list;

static bool parse_all(struct parser *p, requirement_list *list)
{
    advance(p);
    while (p->now.kind != T_END) {
        struct requirement r;
        if (p->now.kind != T_WORD && p->now.kind != T_NOT) {
            *p->why = arena_printf(
                p->a, "found '%.*s', expected: !, identifier, or 'end of string'",
                STR_ARG(p->now.text));
            return false;
        }
        if (!parse_requirement(p, &r))
            return false;
        vec_push(list, r);
        if (p->now.kind == T_END)
            break;
        if (p->now.kind != T_COMMA) {
            *p->why = arena_printf(p->a, "found '%.*s', expected: ',' or 'end of string'",
                                   STR_ARG(p->now.text));
            return false;
        }
        advance(p);
        if (p->now.kind != T_WORD && p->now.kind != T_NOT) {
            *p->why = arena_printf(p->a, "found '%.*s', expected: identifier after ','",
                                   STR_ARG(p->now.text));
            return false;
        }
    }
    return true;
}

static void keep(struct arena *a, requirement_list *list, struct selector *out)
{
    struct requirement *all = ARENA_ARRAY(a, struct requirement, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        all[i] = list->v[i];
    *out = (struct selector){all, (uint32_t)list->n};
    vec_release(list);
}

bool selector_parse_labels(struct str text, struct arena *a, struct selector *out,
                           struct str *why)
{
    struct parser p = {.text = text, .a = a, .why = why};
    requirement_list list = {0};
    bool ok = parse_all(&p, &list);
    keep(a, &list, out);
    return ok;
}

/* ---- fields: "a=b,c!=d", with \ before a comma, an equals sign or itself ---- */

static struct str unescape(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n)
            i++;
        p[n++] = s.p[i];
    }
    p[n] = '\0';
    return (struct str){p, n};
}

static size_t term_end(struct str s, size_t at)
{
    for (; at < s.n && s.p[at] != ','; at++)
        if (s.p[at] == '\\')
            at++;
    return at < s.n ? at : s.n;
}

static bool parse_term(struct str term, struct arena *a, struct requirement *r)
{
    for (size_t i = 0; i < term.n; i++) {
        struct str rest = str_sub(term, i, SIZE_MAX);
        bool differs = str_starts(rest, STR("!=")), same = str_starts(rest, STR("=="));
        if (!differs && term.p[i] != '=')
            continue;
        struct str *value = ARENA_NEW(a, struct str);
        *value = unescape(a, str_sub(rest, differs || same ? 2 : 1, SIZE_MAX));
        *r = (struct requirement){.key = arena_str(a, str_sub(term, 0, i)),
                                  .op = differs ? SELECT_NOT_IN : SELECT_IN,
                                  .values = value,
                                  .nvalues = 1};
        return true;
    }
    return false;
}

bool selector_parse_fields(struct str text, struct arena *a, struct selector *out,
                           struct str *why)
{
    requirement_list list = {0};
    bool ok = true;
    for (size_t at = 0; ok && at < text.n;) {
        size_t end = term_end(text, at);
        struct str term = str_sub(text, at, end);
        struct requirement r;
        at = end + 1;
        if (term.n == 0)
            continue;
        ok = parse_term(term, a, &r);
        if (ok)
            vec_push(&list, r);
        else
            *why = arena_printf(a, "invalid selector: '%.*s'; can't understand '%.*s'",
                                STR_ARG(text), STR_ARG(term));
    }
    keep(a, &list, out);
    return ok;
}

/* ---- matching ---- */

static bool is_among(const struct requirement *r, struct str value)
{
    for (uint32_t i = 0; i < r->nvalues; i++)
        if (str_eq(r->values[i], value))
            return true;
    return false;
}

static bool compares(const struct requirement *r, struct str value)
{
    if (!value.p || !is_integer(value))
        return false;
    char *left = mem_dup(value.p, value.n);
    char *right = mem_dup(r->values[0].p, r->values[0].n);
    long long a = strtoll(left, NULL, 10), b = strtoll(right, NULL, 10);
    free(left);
    free(right);
    return r->op == SELECT_GREATER ? a > b : a < b;
}

bool requirement_holds(const struct requirement *r, struct str value)
{
    switch (r->op) {
    case SELECT_EXISTS:
        return value.p != NULL;
    case SELECT_ABSENT:
        return value.p == NULL;
    case SELECT_IN:
        return value.p && is_among(r, value);
    case SELECT_NOT_IN:
        return !value.p || !is_among(r, value);
    case SELECT_GREATER:
    case SELECT_LESS:
        break;
    }
    return compares(r, value);
}

/* ---- LabelSelector ---- */

static bool op_of(struct str name, uint32_t nvalues, enum selector_op *out)
{
    static const struct {
        const char *name;
        enum selector_op op;
        bool values;
    } OPS[] = {{"In", SELECT_IN, true},
               {"NotIn", SELECT_NOT_IN, true},
               {"Exists", SELECT_EXISTS, false},
               {"DoesNotExist", SELECT_ABSENT, false}};
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        if (str_is(name, OPS[i].name)) {
            *out = OPS[i].op;
            return OPS[i].values == (nvalues > 0);
        }
    return false;
}

static bool requirement_of(const struct doc *e, struct arena *a, struct requirement *out)
{
    const struct doc *values = doc_get(e, "values");
    uint32_t n = values && values->type == DOC_LIST ? values->n : 0;
    struct str *texts = ARENA_ARRAY(a, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = doc_str(&values->items[i]);
    *out = (struct requirement){
        .key = doc_get_text(e, "key"), .values = texts, .nvalues = n};
    return op_of(doc_get_text(e, "operator"), n, &out->op);
}

bool selector_of_doc(const struct doc *d, struct arena *a, struct selector *out)
{
    const struct doc *labels = doc_get(d, "matchLabels"),
                     *more = doc_get(d, "matchExpressions");
    uint32_t nlabels = labels && labels->type == DOC_MAP ? labels->n : 0,
             nmore = more && more->type == DOC_LIST ? more->n : 0;
    if (!d || d->type != DOC_MAP)
        return false;
    struct requirement *all = ARENA_ARRAY(a, struct requirement, nlabels + nmore);
    for (uint32_t i = 0; i < nlabels; i++) {
        struct str *value = ARENA_NEW(a, struct str);
        *value = doc_str(&labels->members[i].value);
        all[i] = (struct requirement){doc_key(&labels->members[i]), SELECT_IN, value, 1};
    }
    for (uint32_t i = 0; i < nmore; i++)
        if (!requirement_of(&more->items[i], a, &all[nlabels + i]))
            return false;
    *out = (struct selector){all, nlabels + nmore};
    return true;
}

bool selector_matches_labels(const struct selector *s, const struct cache_object *o)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!requirement_holds(&s->all[i],
                               cache_pair_find(o->labels, o->nlabels, s->all[i].key)))
            return false;
    return true;
}
