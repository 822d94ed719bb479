/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tokens.h"

#include "base/vec.h"

void tokens_read(struct tokens *t, struct str text, struct arena *a)
{
    VEC(struct cel_token) list = {0};
    struct cel_issues issues = {0};
    struct cel_reporter report = {&issues, a, text};
    struct cel_lexer lexer = {.text = text, .report = &report};
    struct cel_token token;
    do {
        token = cel_lexer_next(&lexer);
        vec_push(&list, token);
    } while (token.kind != CEL_TOK_EOF);
    struct cel_token *v = ARENA_ARRAY(a, struct cel_token, list.n);
    memcpy(v, list.v, list.n * sizeof *v);
    *t = (struct tokens){text, v, (uint32_t)list.n - 1};
    vec_release(&list);
}

struct str tokens_text(const struct tokens *t, uint32_t i)
{
    return i < t->n ? str_sub(t->text, t->v[i].pos, t->v[i].pos + t->v[i].len) : STR_NONE;
}

struct str tokens_span(const struct tokens *t, uint32_t first, uint32_t end)
{
    if (first >= end)
        return STR_NONE;
    const struct cel_token *last = &t->v[end - 1];
    return str_sub(t->text, t->v[first].pos, last->pos + last->len);
}

bool tokens_is(const struct tokens *t, uint32_t i, const char *text)
{
    return str_is(tokens_text(t, i), text);
}

struct str tokens_string(const struct tokens *t, uint32_t i, struct arena *a)
{
    struct str out;
    if (i >= t->n || t->v[i].kind != CEL_TOK_STRING ||
        cel_unquote(a, tokens_text(t, i), false, &out) != NULL)
        return STR_NONE;
    return out;
}

/* ---- paths ---- */

/* .x, .?x, ["x"] or [?"x"] at token i: the token behind it, or i if it is none. A call
 * (.contains(...)) is no member. */
static uint32_t step(const struct tokens *t, uint32_t i, struct str *name,
                     struct tokens_path *path, struct arena *a)
{
    bool bracket = tokens_is(t, i, "[");
    if (!bracket && !tokens_is(t, i, "."))
        return i;
    uint32_t at = i + 1;
    if (tokens_is(t, at, "?")) {
        path->optional = true;
        at++;
    }
    if (!bracket) {
        if (at >= t->n || t->v[at].kind != CEL_TOK_IDENT || tokens_is(t, at + 1, "("))
            return i;
        *name = tokens_text(t, at);
        return at + 1;
    }
    *name = tokens_string(t, at, a);
    if (!name->p)
        path->literal = false;
    while (at < t->n && !tokens_is(t, at, "]"))
        at++;
    return at < t->n ? at + 1 : i;
}

static bool path_at(const struct tokens *t, uint32_t i, struct tokens_path *out,
                    struct arena *a)
{
    if (!tokens_is(t, i, "device") || !tokens_is(t, i + 1, ".") ||
        (i > 0 && tokens_is(t, i - 1, ".")))
        return false;
    *out = (struct tokens_path){.first = i, .literal = true};
    out->capacity = tokens_is(t, i + 2, "capacity");
    if (!out->capacity && !tokens_is(t, i + 2, "attributes"))
        return false;
    out->end = step(t, i + 3, &out->domain, out, a);
    if (out->end > i + 3)
        out->end = step(t, out->end, &out->name, out, a);
    return true;
}

bool tokens_path(const struct tokens *t, uint32_t from, struct tokens_path *out,
                 struct arena *a)
{
    for (uint32_t i = from; i < t->n; i++)
        if (path_at(t, i, out, a))
            return true;
    return false;
}

/* ---- operands ---- */

/* +1 opens, -1 closes. */
static int bracket(const struct tokens *t, uint32_t i)
{
    switch (t->v[i].kind) {
    case CEL_TOK_LPAREN:
    case CEL_TOK_LBRACKET:
    case CEL_TOK_LBRACE:
        return 1;
    case CEL_TOK_RPAREN:
    case CEL_TOK_RBRACKET:
    case CEL_TOK_RBRACE:
        return -1;
    default:
        return 0;
    }
}

static bool parts(const struct tokens *t, uint32_t i)
{
    switch (t->v[i].kind) {
    case CEL_TOK_AND:
    case CEL_TOK_OR:
    case CEL_TOK_COMMA:
    case CEL_TOK_COLON:
        return true;
    case CEL_TOK_QUESTION:
        return i == 0 ||
               (t->v[i - 1].kind != CEL_TOK_DOT && t->v[i - 1].kind != CEL_TOK_LBRACKET);
    default:
        return false;
    }
}

void tokens_operands(const struct tokens *t, uint32_t i, uint32_t *left, uint32_t *right)
{
    int depth = 0;
    uint32_t at = i;
    for (; at > 0; at--) {
        depth -= bracket(t, at - 1);
        if (depth < 0 || (depth == 0 && parts(t, at - 1)))
            break;
    }
    *left = at;
    depth = 0;
    for (at = i + 1; at < t->n; at++) {
        depth += bracket(t, at);
        if (depth < 0 || (depth == 0 && parts(t, at)))
            break;
    }
    *right = at;
}

/* Where && is not the weakest operator of the text, it is one part. */
static bool is_and(const struct tokens *t)
{
    int depth = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        depth += bracket(t, i);
        if (depth == 0 && parts(t, i) && t->v[i].kind != CEL_TOK_AND)
            return false;
    }
    return true;
}

bool tokens_conjunct(const struct tokens *t, uint32_t from, uint32_t *end)
{
    int depth = 0;
    uint32_t at = from;
    bool several = is_and(t);
    for (; at < t->n; at++) {
        depth += bracket(t, at);
        if (several && depth == 0 && t->v[at].kind == CEL_TOK_AND)
            break;
    }
    *end = at;
    return from < at;
}
