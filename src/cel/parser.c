/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parser by recursive descent. It accepts what upstream's grammar does and, like that
 * one, finds a syntax error at the first token that no valid text could have there. It
 * leaves out one unexpected token when the text makes sense without it and else gives up;
 * what the lexer cannot read in the rest is still reported.
 *
 * Limits (spec 4.6): rules may be nested max_depth deep ("expression recursion limit
 * exceeded"), and so may calls, selects, indexes and binary operators in the tree ("max
 * recursion depth exceeded"), which is why nodes carry a depth.
 */
#include "cel/parser.h"

#include "base/utf8.h"
#include "cel/float.h"

enum {
    DEFAULT_MAX_TEXT = 100000,
    DEFAULT_MAX_DEPTH = 250,
    MAX_RECOVERIES = 30,
};

/* ---- Tokens ---- */

static struct cel_token peek(struct cel_parser *p)
{
    if (!p->have_ahead) {
        p->ahead = cel_lexer_next(&p->lex);
        p->have_ahead = true;
    }
    return p->ahead;
}

static void advance(struct cel_parser *p)
{
    p->tok = p->have_ahead ? p->ahead : cel_lexer_next(&p->lex);
    p->have_ahead = false;
}

static struct str token_text(const struct cel_parser *p, struct cel_token t)
{
    return (struct str){p->lex.text.p + t.pos, t.len};
}

static bool take(struct cel_parser *p, enum cel_token_kind kind)
{
    if (p->tok.kind != kind)
        return false;
    advance(p);
    return true;
}

#define BIT(kind) (UINT64_C(1) << (kind))

static const uint64_t starts_expr =
    BIT(CEL_TOK_LBRACKET) | BIT(CEL_TOK_LBRACE) | BIT(CEL_TOK_LPAREN) | BIT(CEL_TOK_DOT) |
    BIT(CEL_TOK_MINUS) | BIT(CEL_TOK_NOT) | BIT(CEL_TOK_TRUE) | BIT(CEL_TOK_FALSE) |
    BIT(CEL_TOK_NULL) | BIT(CEL_TOK_FLOAT) | BIT(CEL_TOK_INT) | BIT(CEL_TOK_UINT) |
    BIT(CEL_TOK_STRING) | BIT(CEL_TOK_BYTES) | BIT(CEL_TOK_IDENT);

static const uint64_t starts_member = starts_expr & ~BIT(CEL_TOK_NOT);

/* ---- Errors ---- */

static void print_expected(struct strbuf *b, uint64_t set)
{
    bool several = (set & (set - 1)) != 0;
    const char *sep = several ? "{" : "";
    for (int k = 0; k < CEL_TOKENS; k++) {
        if (!(set & BIT(k)))
            continue;
        strbuf_adds(b, sep);
        strbuf_adds(b, cel_token_name((enum cel_token_kind)k));
        sep = ", ";
    }
    if (several)
        strbuf_addc(b, '}');
}

static void print_token(struct strbuf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\n' || c == '\r' || c == '\t')
            strbuf_addf(b, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else
            strbuf_addc(b, c);
    }
}

/* "WHAT input 'TOKEN' expecting SET" */
static void report_token(struct cel_parser *p, const char *what, uint64_t set)
{
    struct strbuf b = STRBUF_INIT;
    if (p->tok.kind == CEL_TOK_EOF)
        strbuf_adds(&b, "<EOF>");
    else
        print_token(&b, token_text(p, p->tok));
    strbuf_adds(&b, "' expecting ");
    print_expected(&b, set);
    cel_syntax_error(&p->lex, p->tok.pos, "%s input '%s", what, strbuf_cstr(&b));
    strbuf_release(&b);
}

/* Ends the parse. What follows is only searched for what is no token. */
static void *give_up(struct cel_parser *p)
{
    if (!p->dead)
        while (p->tok.kind != CEL_TOK_EOF)
            advance(p);
    p->dead = true;
    return NULL;
}

static void *limit_exceeded(struct cel_parser *p, const char *what, uint32_t limit)
{
    struct cel_reporter *r = &p->report;
    if (!p->dead) {
        /* Upstream finds this before it looks into the meaning of anything. */
        *r->out = (struct cel_issues){0};
        if (limit)
            cel_report(r, CEL_NO_POS, "%s: %u", what, limit);
        else
            cel_report(r, CEL_NO_POS, "%s", what);
    }
    p->dead = true;
    return NULL;
}

static void *no_alternative(struct cel_parser *p, uint32_t from)
{
    struct strbuf b = STRBUF_INIT;
    uint32_t to = p->tok.pos + p->tok.len;
    if (p->tok.kind == CEL_TOK_EOF)
        to = from + 1;
    print_token(&b, str_sub(p->lex.text, from, to));
    cel_syntax_error(&p->lex, p->tok.pos, "no viable alternative at input '%s'",
                     strbuf_cstr(&b));
    strbuf_release(&b);
    return give_up(p);
}

/* Whether a text that ends here lacks this one token and no other. */
static bool only_lacks(const struct cel_parser *p, uint64_t set)
{
    return p->tok.kind == CEL_TOK_EOF && p->exprs == 1 &&
           (set == BIT(CEL_TOK_RPAREN) || set == BIT(CEL_TOK_RBRACKET));
}

/* True if the current token is of the set, be it that one token is left out. */
static bool expect(struct cel_parser *p, uint64_t set)
{
    if (set & BIT(p->tok.kind))
        return true;
    if (only_lacks(p, set)) {
        cel_syntax_error(&p->lex, p->tok.pos, "missing %s at '<EOF>'",
                         set == BIT(CEL_TOK_RPAREN) ? "')'" : "']'");
        return true;
    }
    bool extra = p->tok.kind != CEL_TOK_EOF && (set & BIT(peek(p).kind)) != 0;
    report_token(p, extra ? "extraneous" : "mismatched", set);
    if (extra && p->recoveries++ < MAX_RECOVERIES) {
        advance(p);
        return true;
    }
    if (extra)
        cel_syntax_error(&p->lex, p->tok.pos, "error recovery attempt limit exceeded: %d",
                         MAX_RECOVERIES);
    give_up(p);
    return false;
}

static bool expect_take(struct cel_parser *p, enum cel_token_kind kind)
{
    if (!expect(p, BIT(kind)))
        return false;
    advance(p);
    return true;
}

/* A rule is entered. It is left by decrementing. */
static bool enter(struct cel_parser *p, uint32_t *rules)
{
    if (++*rules <= p->max_depth)
        return true;
    limit_exceeded(p, "expression recursion limit exceeded", p->max_depth);
    return false;
}

/* ---- Items ---- */

static void push(struct cel_parser *p, struct cel_item item)
{
    if (p->nitems == p->room) {
        struct cel_item *more = arena_alloc(p->a, 2 * p->room * sizeof *more);
        memcpy(more, p->items, p->nitems * sizeof *more);
        p->items = more;
        p->room *= 2;
    }
    p->items[p->nitems++] = item;
}

/* The nodes of the items from base on, which are taken off. */
static struct cel_ast **pop_nodes(struct cel_parser *p, uint32_t base,
                                  struct cel_ast *parent)
{
    uint32_t n = p->nitems - base;
    struct cel_ast **out = arena_alloc(p->a, n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = p->items[base + i].node;
        cel_ast_deepen(parent, out[i]);
    }
    p->nitems = base;
    return out;
}

/* ---- Calls and macros ---- */

static void record_macro(struct cel_parser *p, uint32_t id, const struct cel_ast *call)
{
    if (p->nmacros == p->macro_room) {
        uint32_t room = p->macro_room ? 2 * p->macro_room : 4;
        struct cel_macro_call *more = arena_alloc(p->a, room * sizeof *more);
        if (p->nmacros)
            memcpy(more, p->macros, p->nmacros * sizeof *more);
        p->macros = more;
        p->macro_room = room;
    }
    p->macros[p->nmacros++] = (struct cel_macro_call){id, call};
}

static bool target_fits(const struct cel_macro *m, const struct cel_ast *call)
{
    const struct cel_ast *t = call->call.target;
    return !m->target ||
           (t && t->kind == CEL_AST_IDENT && str_is(t->ident.name, m->target));
}

static struct cel_ast *expand(struct cel_parser *p, struct cel_ast *call)
{
    const struct cel_macro *m = cel_env_macro(
        p->env, call->call.function, call->call.target != NULL, call->call.nargs);
    bool failed = false;
    if (!m || !target_fits(m, call))
        return call;
    struct cel_ast *to = m->expand(p, call, &failed);
    if (p->nids > CEL_MAX_NODES)
        return limit_exceeded(p, "expression size limit exceeded", CEL_MAX_NODES);
    if (!to) /* not meant as the macro, or reported */
        return call;
    to->depth = call->depth;
    record_macro(p, to->id, call);
    return to;
}

struct cel_ast *cel_macro_error(struct cel_parser *p, const struct cel_ast *node,
                                bool *failed, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cel_reportv(&p->report, node->pos, fmt, ap);
    va_end(ap);
    *failed = true;
    return NULL;
}

static struct cel_ast *parse_expr(struct cel_parser *p);

/* "a, b)" behind the parenthesis; the items are pushed. */
static bool parse_args(struct cel_parser *p)
{
    if (take(p, CEL_TOK_RPAREN))
        return true;
    if (!expect(p, starts_expr | BIT(CEL_TOK_RPAREN)))
        return false;
    if (take(p, CEL_TOK_RPAREN))
        return true;
    do {
        struct cel_ast *arg = parse_expr(p);
        if (!arg)
            return false;
        push(p, (struct cel_item){.node = arg});
    } while (take(p, CEL_TOK_COMMA));
    return expect_take(p, CEL_TOK_RPAREN);
}

/* The current token is the opening parenthesis. */
static struct cel_ast *parse_call(struct cel_parser *p, struct str function,
                                  struct cel_ast *target)
{
    uint32_t pos = p->tok.pos, base = p->nitems;
    advance(p);
    if (!parse_args(p))
        return NULL;
    struct cel_ast *n = cel_ast_new(p, CEL_AST_CALL, pos);
    n->call.function = function;
    n->call.target = target;
    n->call.nargs = p->nitems - base;
    n->call.args = pop_nodes(p, base, n);
    if (target) {
        cel_ast_deepen(n, target);
        n->depth++;
    }
    return expand(p, n);
}

static struct cel_ast *make_binary(struct cel_parser *p, uint32_t pos, struct str op,
                                   struct cel_ast *left, struct cel_ast *right)
{
    struct cel_ast *args[] = {left, right};
    return cel_ast_call(p, pos, op, NULL, args, 2);
}

/* ---- Literals ---- */

/* The digits from s[from] on; false if they do not fit. */
static bool read_digits(struct str s, size_t from, unsigned base, uint64_t *v)
{
    *v = 0;
    for (size_t i = from; i < s.n; i++) {
        char c = s.p[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
        if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, digit, v))
            return false;
    }
    return true;
}

static bool read_integer(struct str s, uint64_t *v)
{
    bool hex = s.n > 2 && s.p[1] == 'x';
    return read_digits(s, hex ? 2 : 0, hex ? 16 : 10, v);
}

static struct cel_ast *parse_int(struct cel_parser *p, uint32_t pos, bool negative)
{
    uint64_t v;
    if (!read_integer(token_text(p, p->tok), &v) || v > (uint64_t)INT64_MAX + negative)
        cel_report(&p->report, pos, "invalid int literal");
    advance(p);
    return cel_ast_const(p, pos, cel_int((int64_t)(negative ? 0 - v : v)));
}

static struct cel_ast *parse_uint(struct cel_parser *p)
{
    struct str s = token_text(p, p->tok);
    uint32_t pos = p->tok.pos;
    uint64_t v;
    if (!read_integer(str_sub(s, 0, s.n - 1), &v))
        cel_report(&p->report, pos, "invalid uint literal");
    advance(p);
    return cel_ast_const(p, pos, cel_uint(v));
}

static struct cel_ast *parse_double(struct cel_parser *p, uint32_t pos, bool negative)
{
    struct str s = token_text(p, p->tok);
    double d = 0;
    if (cel_float_parse(s.p, s.n, false, &d) != FLOAT_OK)
        cel_report(&p->report, pos, "invalid double literal");
    advance(p);
    return cel_ast_const(p, pos, cel_double(negative ? -d : d));
}

static struct cel_ast *parse_string(struct cel_parser *p)
{
    bool bytes = p->tok.kind == CEL_TOK_BYTES;
    uint32_t pos = p->tok.pos;
    struct str s = token_text(p, p->tok), value = STR("");
    const char *wrong = cel_unquote(p->a, str_sub(s, bytes, s.n), bytes, &value);
    if (wrong)
        cel_report(&p->report, pos, "%s", wrong);
    advance(p);
    return cel_ast_const(p, pos, bytes ? cel_bytes(value) : cel_string(value));
}

/* "-1": the sign of a number belongs to the literal. */
static struct cel_ast *parse_signed(struct cel_parser *p, uint32_t pos)
{
    if (p->tok.kind == CEL_TOK_INT)
        return parse_int(p, pos, true);
    if (p->tok.kind == CEL_TOK_FLOAT)
        return parse_double(p, pos, true);
    return no_alternative(p, pos);
}

/* ---- Lists, maps, messages ---- */

/* "?" before an element or a key. */
static bool parse_optional_mark(struct cel_parser *p)
{
    uint32_t pos = p->tok.pos;
    if (!take(p, CEL_TOK_QUESTION))
        return false;
    if (!p->optional_syntax)
        cel_report(&p->report, pos, "unsupported syntax '?'");
    return true;
}

static const bool *optional_flags(struct cel_parser *p, uint32_t base)
{
    bool *flags = NULL;
    uint32_t n = p->nitems - base;
    for (uint32_t i = 0; i < n; i++) {
        if (!p->items[base + i].optional)
            continue;
        if (!flags)
            flags = ARENA_ARRAY(p->a, bool, n);
        flags[i] = true;
    }
    return flags;
}

/* Elements up to the closing token, which is taken; one comma may stand before it. */
static bool parse_elements(struct cel_parser *p, enum cel_token_kind close,
                           uint64_t starts, bool (*element)(struct cel_parser *p))
{
    if (!expect(p, starts | BIT(close) | BIT(CEL_TOK_COMMA)))
        return false;
    if (take(p, CEL_TOK_COMMA))
        return expect_take(p, close);
    while (p->tok.kind != close) {
        if (!element(p) || !expect(p, BIT(close) | BIT(CEL_TOK_COMMA)))
            return false;
        if (!take(p, CEL_TOK_COMMA) || !(starts & BIT(p->tok.kind)))
            break;
    }
    return expect_take(p, close);
}

static bool parse_item(struct cel_parser *p)
{
    bool optional = parse_optional_mark(p);
    struct cel_ast *n = parse_expr(p);
    push(p, (struct cel_item){.node = n, .optional = optional});
    return n != NULL;
}

static struct cel_ast *parse_list(struct cel_parser *p)
{
    uint32_t pos = p->tok.pos, base = p->nitems;
    advance(p);
    if (!parse_elements(p, CEL_TOK_RBRACKET, starts_expr | BIT(CEL_TOK_QUESTION),
                        parse_item))
        return NULL;
    struct cel_ast *n = cel_ast_new(p, CEL_AST_LIST, pos);
    n->list.n = p->nitems - base;
    n->list.optional = optional_flags(p, base);
    n->list.items = pop_nodes(p, base, n);
    return n;
}

/* The value behind the colon of an entry. */
static bool parse_value(struct cel_parser *p, struct cel_item *entry)
{
    if (!expect(p, BIT(CEL_TOK_COLON)))
        return false;
    entry->pos = p->tok.pos;
    advance(p);
    struct cel_ast *value = parse_expr(p);
    push(p, *entry);
    push(p, (struct cel_item){.node = value});
    return value != NULL;
}

static bool parse_entry(struct cel_parser *p)
{
    struct cel_item key = {.optional = parse_optional_mark(p)};
    key.node = parse_expr(p);
    return key.node && parse_value(p, &key);
}

static struct str parse_field_name(struct cel_parser *p)
{
    struct str name = token_text(p, p->tok);
    if (p->tok.kind == CEL_TOK_QUOTED_IDENT) {
        if (!p->backquotes)
            cel_report(&p->report, p->tok.pos, "unsupported syntax: '`'");
        name = str_sub(name, 1, name.n - 1);
    }
    advance(p);
    return name;
}

static const uint64_t starts_field = BIT(CEL_TOK_IDENT) | BIT(CEL_TOK_QUOTED_IDENT);

static bool parse_field(struct cel_parser *p)
{
    struct cel_item field = {.optional = parse_optional_mark(p)};
    if (!expect(p, starts_field))
        return false;
    field.name = parse_field_name(p);
    return parse_value(p, &field);
}

/* The items from base on, in pairs, as the entries of n. */
static void pop_entries(struct cel_parser *p, uint32_t base, struct cel_ast *n)
{
    n->map.n = (p->nitems - base) / 2;
    n->map.entries = ARENA_ARRAY(p->a, struct cel_ast_entry, n->map.n);
    for (uint32_t i = 0; i < n->map.n; i++) {
        const struct cel_item *key = &p->items[base + 2 * i], *value = key + 1;
        n->map.entries[i] = (struct cel_ast_entry){
            .id = ++p->nids,
            .pos = key->pos,
            .optional = key->optional,
            .field = key->name,
            .key = key->node,
            .value = value->node,
        };
        if (key->node)
            cel_ast_deepen(n, key->node);
        cel_ast_deepen(n, value->node);
    }
    p->nitems = base;
}

static struct cel_ast *parse_map(struct cel_parser *p)
{
    uint32_t pos = p->tok.pos, base = p->nitems;
    advance(p);
    if (!parse_elements(p, CEL_TOK_RBRACE, starts_expr | BIT(CEL_TOK_QUESTION),
                        parse_entry))
        return NULL;
    struct cel_ast *n = cel_ast_new(p, CEL_AST_MAP, pos);
    pop_entries(p, base, n);
    return n;
}

/* "a.b" of an identifier and selects on it; room for all of it was counted. */
static size_t write_name(const struct cel_ast *n, char *out)
{
    bool select = n->kind == CEL_AST_SELECT;
    struct str last = select ? n->select.field : n->ident.name;
    size_t at = select ? write_name(n->select.operand, out) : 0;
    if (select)
        out[at++] = '.';
    memcpy(out + at, last.p, last.n);
    return at + last.n;
}

static struct str dotted_name(struct cel_parser *p, const struct cel_ast *n)
{
    size_t room = 0;
    const struct cel_ast *at = n;
    for (; at->kind == CEL_AST_SELECT; at = at->select.operand)
        room += at->select.field.n + 1;
    char *buf = arena_alloc(p->a, room + at->ident.name.n);
    return (struct str){buf, write_name(n, buf)};
}

/* "name{field: value}"; the current token is the brace. */
static struct cel_ast *parse_message(struct cel_parser *p, const struct cel_ast *name)
{
    uint32_t pos = p->tok.pos, base = p->nitems;
    advance(p);
    if (!parse_elements(p, CEL_TOK_RBRACE, starts_field | BIT(CEL_TOK_QUESTION),
                        parse_field))
        return NULL;
    struct cel_ast *n = cel_ast_new(p, CEL_AST_STRUCT, pos);
    n->map.type_name = dotted_name(p, name);
    pop_entries(p, base, n);
    return n;
}

/* ---- Members ---- */

/* May stand as a field, but not as a variable or function. */
static bool is_reserved(struct str s)
{
    static const char *const words[] = {
        "as",        "break",  "const",  "continue", "else",  "for",
        "function",  "if",     "import", "let",      "loop",  "package",
        "namespace", "return", "var",    "void",     "while",
    };
#define LETTER(c) (1u << ((c) - 'a'))
    static const uint32_t initials = LETTER('a') | LETTER('b') | LETTER('c') |
                                     LETTER('e') | LETTER('f') | LETTER('i') |
                                     LETTER('l') | LETTER('n') | LETTER('p') |
                                     LETTER('r') | LETTER('v') | LETTER('w');
    if (s.n < 2 || s.n > 9 || s.p[0] < 'a' || s.p[0] > 'w')
        return false;
    if (!(initials & LETTER(s.p[0])))
        return false;
#undef LETTER
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (s.p[0] == words[i][0] && str_is(s, words[i]))
            return true;
    return false;
}

static void check_reserved(struct cel_parser *p, uint32_t pos, struct str name)
{
    if (name.p[0] == '.')
        name = str_sub(name, 1, name.n);
    if (is_reserved(name))
        cel_report(&p->report, pos, "reserved identifier: %.*s", STR_ARG(name));
}

/* A name, with the dot before it if there is one. */
static struct cel_ast *parse_name(struct cel_parser *p, bool *chain)
{
    uint32_t pos = p->tok.pos, name_pos;
    bool absolute = take(p, CEL_TOK_DOT);
    if (p->tok.kind != CEL_TOK_IDENT)
        return no_alternative(p, pos);
    struct str name = token_text(p, p->tok);
    name_pos = p->tok.pos;
    advance(p);
    if (absolute)
        name = arena_printf(p->a, ".%.*s", STR_ARG(name));
    if (p->tok.kind == CEL_TOK_LPAREN) {
        check_reserved(p, pos, name);
        return parse_call(p, name, NULL);
    }
    *chain = true;
    return cel_ast_ident(p, name_pos, name);
}

static struct cel_ast *parse_parens(struct cel_parser *p)
{
    advance(p);
    struct cel_ast *n = parse_expr(p);
    return n && expect_take(p, CEL_TOK_RPAREN) ? n : NULL;
}

/* *chain: it is a name, and with what may follow it could become that of a message. */
static struct cel_ast *parse_primary(struct cel_parser *p, bool *chain)
{
    uint32_t pos = p->tok.pos;
    if (!expect(p, starts_member))
        return NULL;
    switch (p->tok.kind) {
    case CEL_TOK_DOT:
    case CEL_TOK_IDENT:
        return parse_name(p, chain);
    case CEL_TOK_LPAREN:
        return parse_parens(p);
    case CEL_TOK_LBRACKET:
        return parse_list(p);
    case CEL_TOK_LBRACE:
        return parse_map(p);
    case CEL_TOK_MINUS:
        advance(p);
        return parse_signed(p, pos);
    case CEL_TOK_INT:
        return parse_int(p, pos, false);
    case CEL_TOK_UINT:
        return parse_uint(p);
    case CEL_TOK_FLOAT:
        return parse_double(p, pos, false);
    case CEL_TOK_STRING:
    case CEL_TOK_BYTES:
        return parse_string(p);
    case CEL_TOK_TRUE:
    case CEL_TOK_FALSE:
        advance(p);
        return cel_ast_const(p, pos, cel_bool(p->lex.text.p[pos] == 't'));
    default:
        advance(p);
        return cel_ast_const(p, pos, cel_null());
    }
}

/* What follows the "." at pos is no field. */
static void *no_field(struct cel_parser *p, uint32_t pos)
{
    if (p->tok.kind != CEL_TOK_TRUE && p->tok.kind != CEL_TOK_FALSE &&
        p->tok.kind != CEL_TOK_NULL)
        return no_alternative(p, pos);
    report_token(p, "mismatched", BIT(CEL_TOK_IDENT));
    return give_up(p);
}

/* Behind ".": a field, an optional field, or a call with left as its receiver. */
static struct cel_ast *parse_dot(struct cel_parser *p, struct cel_ast *left, bool *chain)
{
    uint32_t pos = p->tok.pos;
    advance(p);
    bool optional = take(p, CEL_TOK_QUESTION);
    if (optional && !expect(p, starts_field))
        return NULL;
    if (!(starts_field & BIT(p->tok.kind)))
        return no_field(p, pos);
    uint32_t name_pos = p->tok.pos;
    bool quoted = p->tok.kind == CEL_TOK_QUOTED_IDENT;
    struct str name = parse_field_name(p);
    if (p->tok.kind == CEL_TOK_LPAREN && !optional && !quoted)
        return parse_call(p, name, left);
    if (optional) {
        if (!p->optional_syntax)
            cel_report(&p->report, pos, "unsupported syntax '.?'");
        struct cel_ast *field = cel_ast_const(p, name_pos, cel_string(name));
        struct cel_ast *n = make_binary(p, pos, STR("_?._"), left, field);
        n->depth++;
        return n;
    }
    *chain = !quoted;
    return cel_ast_select(p, pos, left, name);
}

static struct cel_ast *parse_index(struct cel_parser *p, struct cel_ast *left)
{
    uint32_t pos = p->tok.pos;
    advance(p);
    bool optional = take(p, CEL_TOK_QUESTION);
    if (optional && !p->optional_syntax)
        cel_report(&p->report, pos, "unsupported syntax '[?'");
    if (!optional && !expect(p, starts_expr | BIT(CEL_TOK_QUESTION)))
        return NULL;
    struct cel_ast *index = parse_expr(p);
    if (!index || !expect_take(p, CEL_TOK_RBRACKET))
        return NULL;
    struct cel_ast *n =
        make_binary(p, pos, optional ? STR("_[?_]") : STR("_[_]"), left, index);
    n->depth++;
    return n;
}

static struct cel_ast *parse_member(struct cel_parser *p)
{
    uint32_t pos = p->tok.pos;
    bool chain = false;
    struct cel_ast *n = parse_primary(p, &chain);
    struct str first = n && chain ? n->ident.name : STR_NONE;
    while (n) {
        bool was_chain = chain;
        chain = false;
        if (p->tok.kind == CEL_TOK_DOT) {
            n = parse_dot(p, n, &chain);
            chain = chain && was_chain;
        } else if (p->tok.kind == CEL_TOK_LBRACKET) {
            n = parse_index(p, n);
        } else if (p->tok.kind == CEL_TOK_LBRACE && was_chain) {
            n = parse_message(p, n);
            first = STR_NONE;
        } else {
            break;
        }
    }
    if (n && first.p)
        check_reserved(p, pos, first);
    return n;
}

/* ---- Operators ---- */

/* The operand behind "!" or "-"; last: where the last of them stands. */
static struct cel_ast *parse_operand(struct cel_parser *p, enum cel_token_kind op,
                                     uint32_t last)
{
    if (starts_member & BIT(p->tok.kind))
        return parse_member(p);
    if (op == CEL_TOK_MINUS)
        return no_alternative(p, last);
    report_token(p, "extraneous", starts_expr);
    return give_up(p);
}

/* "!" and "-" cancel in pairs. */
static struct cel_ast *parse_unary(struct cel_parser *p)
{
    if (!expect(p, starts_expr))
        return NULL;
    enum cel_token_kind op = p->tok.kind;
    uint32_t pos = p->tok.pos, last = pos, n = 0;
    if (op != CEL_TOK_NOT && op != CEL_TOK_MINUS)
        return parse_member(p);
    if (op == CEL_TOK_MINUS) {
        enum cel_token_kind next = peek(p).kind;
        if (next == CEL_TOK_INT || next == CEL_TOK_FLOAT)
            return parse_member(p);
    }
    for (; p->tok.kind == op; n++) {
        last = p->tok.pos;
        advance(p);
    }
    struct cel_ast *operand = parse_operand(p, op, last);
    if (!operand || n % 2 == 0)
        return operand;
    return cel_ast_call(p, pos, op == CEL_TOK_NOT ? STR("!_") : STR("-_"), NULL, &operand,
                        1);
}

/* Binary operators by token; binding 0: none. */
static const struct binary {
    struct str function;
    uint8_t binding;
} binaries[CEL_TOKENS] = {
    [CEL_TOK_PLUS] = {{"_+_", 3}, 1},    [CEL_TOK_MINUS] = {{"_-_", 3}, 1},
    [CEL_TOK_STAR] = {{"_*_", 3}, 2},    [CEL_TOK_SLASH] = {{"_/_", 3}, 2},
    [CEL_TOK_PERCENT] = {{"_%_", 3}, 2},
};
static const struct str relations[CEL_TOKENS] = {
    [CEL_TOK_EQ] = {"_==_", 4}, [CEL_TOK_NE] = {"_!=_", 4}, [CEL_TOK_LT] = {"_<_", 3},
    [CEL_TOK_LE] = {"_<=_", 4}, [CEL_TOK_GT] = {"_>_", 3},  [CEL_TOK_GE] = {"_>=_", 4},
    [CEL_TOK_IN] = {"@in", 3},
};

/* Operators that bind at least as tightly as min. */
static struct cel_ast *parse_calc(struct cel_parser *p, unsigned min)
{
    if (!enter(p, &p->calcs))
        return NULL;
    struct cel_ast *left = parse_unary(p);
    if (!left)
        return NULL;
    while (binaries[p->tok.kind].binding >= min) {
        const struct binary *op = &binaries[p->tok.kind];
        uint32_t pos = p->tok.pos;
        advance(p);
        struct cel_ast *right = parse_calc(p, op->binding + 1u);
        if (!right)
            return NULL;
        left = make_binary(p, pos, op->function, left, right);
        left->depth++;
    }
    p->calcs--;
    return left;
}

static struct cel_ast *parse_relation(struct cel_parser *p)
{
    if (!enter(p, &p->relations))
        return NULL;
    struct cel_ast *left = parse_calc(p, 1);
    if (!left)
        return NULL;
    while (relations[p->tok.kind].p) {
        struct str function = relations[p->tok.kind];
        uint32_t pos = p->tok.pos;
        advance(p);
        if (!enter(p, &p->relations)) /* the right operand is a relation too */
            return NULL;
        struct cel_ast *right = parse_calc(p, 1);
        if (!right)
            return NULL;
        p->relations--;
        left = make_binary(p, pos, function, left, right);
        left->depth++;
    }
    p->relations--;
    return left;
}

/* The terms lo..hi + 1 of a chain as a balanced tree; term i + 1 has the position of the
 * operator between it and term i. */
static struct cel_ast *balance(struct cel_parser *p, struct str function, uint32_t base,
                               uint32_t lo, uint32_t hi)
{
    uint32_t mid = (lo + hi + 1) / 2;
    const struct cel_item *terms = p->items + base;
    struct cel_ast *left =
        mid == lo ? terms[mid].node : balance(p, function, base, lo, mid - 1);
    struct cel_ast *right =
        mid == hi ? terms[mid + 1].node : balance(p, function, base, mid + 1, hi);
    return make_binary(p, terms[mid + 1].pos, function, left, right);
}

static struct cel_ast *parse_chain(struct cel_parser *p, enum cel_token_kind op,
                                   struct str function,
                                   struct cel_ast *(*term)(struct cel_parser *p))
{
    struct cel_ast *n = term(p);
    uint32_t base = p->nitems;
    if (!n || p->tok.kind != op)
        return n;
    push(p, (struct cel_item){.node = n});
    while (p->tok.kind == op) {
        uint32_t pos = p->tok.pos;
        advance(p);
        n = term(p);
        if (!n)
            return NULL;
        push(p, (struct cel_item){.node = n, .pos = pos});
    }
    n = balance(p, function, base, 0, p->nitems - base - 2);
    p->nitems = base;
    return n;
}

static struct cel_ast *parse_and(struct cel_parser *p)
{
    return parse_chain(p, CEL_TOK_AND, STR("_&&_"), parse_relation);
}

static struct cel_ast *parse_or(struct cel_parser *p)
{
    return parse_chain(p, CEL_TOK_OR, STR("_||_"), parse_and);
}

static struct cel_ast *parse_ternary(struct cel_parser *p, struct cel_ast *condition)
{
    uint32_t pos = p->tok.pos;
    struct cel_ast *args[3] = {condition};
    advance(p);
    args[1] = parse_or(p);
    if (!args[1] || !expect_take(p, CEL_TOK_COLON))
        return NULL;
    args[2] = parse_expr(p);
    if (!args[2])
        return NULL;
    struct cel_ast *n = cel_ast_call(p, pos, STR("_?_:_"), NULL, args, 3);
    n->depth++;
    return n;
}

static struct cel_ast *parse_expr(struct cel_parser *p)
{
    if (!enter(p, &p->exprs))
        return NULL;
    struct cel_ast *n = parse_or(p);
    if (n && p->tok.kind == CEL_TOK_QUESTION)
        n = parse_ternary(p, n);
    p->exprs--;
    return n;
}

/* ---- The whole ---- */

/* The text with U+FFFD for every byte that is no UTF-8, as upstream reads it. */
static struct str repair(struct arena *a, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    uint32_t cp;
    for (size_t i = 0; i < s.n;) {
        unsigned n = utf8_decode(s, i, &cp);
        if (n)
            strbuf_add(&b, s.p + i, n);
        else
            strbuf_adds(&b, "\uFFFD");
        i += n ? n : 1;
    }
    struct str out = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return out;
}

static bool text_fits(struct cel_parser *p, bool ascii)
{
    uint32_t limit = cel_env_opts(p->env)->max_text;
    size_t n = ascii ? p->lex.text.n : utf8_count(p->lex.text);
    if (limit == 0)
        limit = DEFAULT_MAX_TEXT;
    if (n > limit)
        cel_report(&p->report, CEL_NO_POS,
                   "expression code point size exceeds limit: size: %zu, limit %u", n,
                   limit);
    return n <= limit;
}

static struct cel_ast *parse_all(struct cel_parser *p)
{
    advance(p);
    struct cel_ast *n = parse_expr(p);
    if (!n || !expect(p, BIT(CEL_TOK_EOF)))
        return NULL;
    if (n->depth > p->max_depth)
        cel_report(&p->report, CEL_NO_POS, "max recursion depth exceeded");
    return n;
}

static void parser_init(struct cel_parser *p, const struct cel_env *env, struct str text,
                        struct arena *a, struct cel_issues *issues)
{
    const struct cel_env_opts *opts = cel_env_opts(env);
    p->env = env;
    p->a = a;
    p->report = (struct cel_reporter){issues, a, text};
    p->lex = (struct cel_lexer){.text = text, .report = &p->report};
    p->have_ahead = p->dead = false;
    p->optional_syntax = (opts->flags & CEL_ENV_OPTIONAL_SYNTAX) != 0;
    p->backquotes = (opts->flags & CEL_ENV_BACKQUOTES) != 0;
    p->max_depth = opts->max_depth ? opts->max_depth : DEFAULT_MAX_DEPTH;
    p->recoveries = p->exprs = p->relations = p->calcs = p->nids = 0;
    p->items = p->few;
    p->nitems = 0;
    p->room = sizeof p->few / sizeof *p->few;
    p->macros = NULL;
    p->nmacros = p->macro_room = 0;
}

struct cel_expr *cel_parse(const struct cel_env *env, struct str text, struct arena *a,
                           struct cel_issues *issues)
{
    struct cel_parser p;
    bool ascii = utf8_is_ascii(text);
    *issues = (struct cel_issues){0};
    if (!ascii && !utf8_valid(text))
        text = repair(a, text);
    parser_init(&p, env, text, a, issues);
    struct cel_ast *root = text_fits(&p, ascii) ? parse_all(&p) : NULL;
    if (issues->total) {
        cel_issues_sort(issues);
        return NULL;
    }
    struct cel_expr *x = ARENA_NEW(a, struct cel_expr);
    x->text = text;
    x->root = root;
    x->nids = p.nids;
    x->macros = p.macros;
    x->nmacros = p.nmacros;
    return x;
}
