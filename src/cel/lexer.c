/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lexer.h"

#include "base/utf8.h"

enum char_class {
    LETTER = 1,
    DIGIT = 2,
    HEX = 4,
    SPACE = 8,
    QUOTABLE = 16, /* in a back-quoted name, besides letters and digits */
    ENDS = 32,     /* a short string, or its plain part */
    PREFIX = 64,   /* may stand before a quote */
};

static const uint8_t classes[256] = {
    ['a'] = LETTER | HEX,
    ['b'] = LETTER | HEX | PREFIX,
    ['c' ... 'f'] = LETTER | HEX,
    ['g' ... 'q'] = LETTER,
    ['r'] = LETTER | PREFIX,
    ['s' ... 'z'] = LETTER,
    ['A'] = LETTER | HEX,
    ['B'] = LETTER | HEX | PREFIX,
    ['C' ... 'F'] = LETTER | HEX,
    ['G' ... 'Q'] = LETTER,
    ['R'] = LETTER | PREFIX,
    ['S' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    ['0' ... '9'] = DIGIT | HEX,
    ['\t'] = SPACE,
    ['\n'] = SPACE | ENDS,
    ['\f'] = SPACE,
    ['\r'] = SPACE | ENDS,
    ['"'] = ENDS,
    ['\''] = ENDS,
    ['\\'] = ENDS,
    [' '] = SPACE | QUOTABLE,
    ['.'] = QUOTABLE,
    ['-'] = QUOTABLE,
    ['/'] = QUOTABLE,
};

static const char *const names[CEL_TOKENS] = {
    [CEL_TOK_EOF] = "<EOF>",        [CEL_TOK_EQ] = "'=='",
    [CEL_TOK_NE] = "'!='",          [CEL_TOK_IN] = "'in'",
    [CEL_TOK_LT] = "'<'",           [CEL_TOK_LE] = "'<='",
    [CEL_TOK_GE] = "'>='",          [CEL_TOK_GT] = "'>'",
    [CEL_TOK_AND] = "'&&'",         [CEL_TOK_OR] = "'||'",
    [CEL_TOK_LBRACKET] = "'['",     [CEL_TOK_RBRACKET] = "']'",
    [CEL_TOK_LBRACE] = "'{'",       [CEL_TOK_RBRACE] = "'}'",
    [CEL_TOK_LPAREN] = "'('",       [CEL_TOK_RPAREN] = "')'",
    [CEL_TOK_DOT] = "'.'",          [CEL_TOK_COMMA] = "','",
    [CEL_TOK_MINUS] = "'-'",        [CEL_TOK_NOT] = "'!'",
    [CEL_TOK_QUESTION] = "'?'",     [CEL_TOK_COLON] = "':'",
    [CEL_TOK_PLUS] = "'+'",         [CEL_TOK_STAR] = "'*'",
    [CEL_TOK_SLASH] = "'/'",        [CEL_TOK_PERCENT] = "'%'",
    [CEL_TOK_TRUE] = "'true'",      [CEL_TOK_FALSE] = "'false'",
    [CEL_TOK_NULL] = "'null'",      [CEL_TOK_FLOAT] = "NUM_FLOAT",
    [CEL_TOK_INT] = "NUM_INT",      [CEL_TOK_UINT] = "NUM_UINT",
    [CEL_TOK_STRING] = "STRING",    [CEL_TOK_BYTES] = "BYTES",
    [CEL_TOK_IDENT] = "IDENTIFIER", [CEL_TOK_QUOTED_IDENT] = "ESC_IDENTIFIER",
};

/* Tokens of one character that begin nothing longer... */
const uint8_t cel_lexer_single[256] = {
    ['['] = CEL_TOK_LBRACKET, [']'] = CEL_TOK_RBRACKET, ['{'] = CEL_TOK_LBRACE,
    ['}'] = CEL_TOK_RBRACE,   ['('] = CEL_TOK_LPAREN,   [')'] = CEL_TOK_RPAREN,
    [','] = CEL_TOK_COMMA,    ['-'] = CEL_TOK_MINUS,    ['?'] = CEL_TOK_QUESTION,
    [':'] = CEL_TOK_COLON,    ['+'] = CEL_TOK_PLUS,     ['*'] = CEL_TOK_STAR,
    ['%'] = CEL_TOK_PERCENT,
};

/* Tokens of two characters; alone: what the first one is by itself, 0 for nothing. */
static const struct {
    char first, second;
    uint8_t both, alone;
} doubles[] = {
    {'=', '=', CEL_TOK_EQ, 0},          {'!', '=', CEL_TOK_NE, CEL_TOK_NOT},
    {'<', '=', CEL_TOK_LE, CEL_TOK_LT}, {'>', '=', CEL_TOK_GE, CEL_TOK_GT},
    {'&', '&', CEL_TOK_AND, 0},         {'|', '|', CEL_TOK_OR, 0},
};

const char *cel_token_name(enum cel_token_kind kind)
{
    return names[kind];
}

void cel_syntax_error(struct cel_lexer *l, uint32_t pos, const char *fmt, ...)
{
    if (l->give_up)
        return;
    if (++l->errors > CEL_MAX_ISSUES) {
        cel_report(l->report, pos, "Syntax error: More than %d syntax errors",
                   CEL_MAX_ISSUES);
        l->give_up = true;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(l->report->a, fmt, ap);
    va_end(ap);
    cel_report(l->report, pos, "Syntax error: %.*s", STR_ARG(text));
}

/* The character at i, or -1 at the end. */
static int at(const struct cel_lexer *l, uint32_t i)
{
    return i < l->text.n ? (unsigned char)l->text.p[i] : -1;
}

static bool is(const struct cel_lexer *l, uint32_t i, unsigned class)
{
    return i < l->text.n && (classes[(unsigned char)l->text.p[i]] & class);
}

static uint32_t span(const struct cel_lexer *l, uint32_t i, unsigned class)
{
    while (is(l, i, class))
        i++;
    return i;
}

static void skip_blank(struct cel_lexer *l)
{
    for (;;) {
        l->at = span(l, l->at, SPACE);
        if (at(l, l->at) != '/' || at(l, l->at + 1) != '/')
            return;
        size_t end = str_find_byte(l->text, '\n', l->at);
        l->at = end == SIZE_MAX ? (uint32_t)l->text.n : (uint32_t)end;
    }
}

/* ---- Strings. A scan answers whether the token is complete; *end is behind it, or at
 * the character that fits nowhere. ---- */

/* Behind the escape whose backslash is at i. */
static bool scan_escape(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    int c = at(l, i + 1);
    unsigned hex = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    unsigned octal = c >= '0' && c <= '3' ? 2 : 0;
    *end = i + 1;
    if (!hex && !octal && (c <= 0 || !strchr("abfnrtv\"'\\?`", c)))
        return false;
    for (*end += 1; hex > 0; hex--, ++*end)
        if (!is(l, *end, HEX))
            return false;
    for (; octal > 0; octal--, ++*end)
        if (at(l, *end) < '0' || at(l, *end) > '7')
            return false;
    return true;
}

static bool scan_long(const struct cel_lexer *l, uint32_t i, int quote, bool raw,
                      uint32_t *end)
{
    for (i += 3;; i++) {
        if (at(l, i) == quote && at(l, i + 1) == quote && at(l, i + 2) == quote) {
            *end = i + 3;
            return true;
        }
        if (at(l, i) < 0) {
            *end = i;
            return false;
        }
        if (at(l, i) == '\\' && !raw) {
            if (!scan_escape(l, i, end))
                return false;
            i = *end - 1;
        }
    }
}

static bool scan_short(const struct cel_lexer *l, uint32_t i, int quote, bool raw,
                       uint32_t *end)
{
    for (i++;; i++) {
        while (i < l->text.n && !(classes[(unsigned char)l->text.p[i]] & ENDS))
            i++;
        int c = at(l, i);
        if (c < 0 || c == '\n' || c == '\r') {
            *end = i;
            return false;
        }
        if (c == quote) {
            *end = i + 1;
            return true;
        }
        if (c == '\\' && !raw) {
            if (!scan_escape(l, i, end))
                return false;
            i = *end - 1;
        }
    }
}

/* The string whose first quote is at i. Three quotes that begin no complete long string
 * are an empty short one. */
static bool scan_string(const struct cel_lexer *l, uint32_t i, bool raw, uint32_t *end)
{
    int quote = at(l, i);
    if (at(l, i + 1) == quote && at(l, i + 2) == quote &&
        scan_long(l, i, quote, raw, end))
        return true;
    return scan_short(l, i, quote, raw, end);
}

static bool is_quote(int c)
{
    return c == '"' || c == '\'';
}

/* r"", b"", br"" in both cases of the letters. */
static bool scan_prefixed(const struct cel_lexer *l, uint32_t i, uint8_t *kind,
                          uint32_t *end)
{
    bool bytes = (at(l, i) | 32) == 'b';
    if (bytes)
        i++;
    bool raw = (at(l, i) | 32) == 'r';
    if (raw)
        i++;
    *kind = bytes ? CEL_TOK_BYTES : CEL_TOK_STRING;
    return (bytes || raw) && is_quote(at(l, i)) && scan_string(l, i, raw, end);
}

/* ---- Words and numbers ---- */

static uint8_t keyword(struct str s)
{
    if (s.n == 2 && str_eq(s, STR("in")))
        return CEL_TOK_IN;
    if (s.n == 4 && str_eq(s, STR("true")))
        return CEL_TOK_TRUE;
    if (s.n == 4 && str_eq(s, STR("null")))
        return CEL_TOK_NULL;
    if (s.n == 5 && str_eq(s, STR("false")))
        return CEL_TOK_FALSE;
    return CEL_TOK_IDENT;
}

static uint8_t scan_word(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    uint8_t kind;
    if (is(l, i, PREFIX) && scan_prefixed(l, i, &kind, end))
        return kind;
    *end = span(l, i, LETTER | DIGIT);
    return keyword((struct str){l->text.p + i, *end - i});
}

/* *end goes behind an exponent at i, if there is one. */
static bool scan_exponent(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    if (at(l, i) != 'e' && at(l, i) != 'E')
        return false;
    i++;
    if (at(l, i) == '+' || at(l, i) == '-')
        i++;
    uint32_t to = span(l, i, DIGIT);
    if (to == i)
        return false;
    *end = to;
    return true;
}

static uint8_t scan_number(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    bool hex = at(l, i) == '0' && at(l, i + 1) == 'x' && is(l, i + 2, HEX);
    uint8_t kind = CEL_TOK_INT;
    *end = hex ? span(l, i + 2, HEX) : span(l, i, DIGIT);
    if (!hex && at(l, *end) == '.' && is(l, *end + 1, DIGIT)) {
        *end = span(l, *end + 1, DIGIT);
        kind = CEL_TOK_FLOAT;
    }
    if (!hex && scan_exponent(l, *end, end))
        return CEL_TOK_FLOAT;
    if (kind == CEL_TOK_INT && (at(l, *end) == 'u' || at(l, *end) == 'U')) {
        ++*end;
        return CEL_TOK_UINT;
    }
    return kind;
}

/* ---- */

static uint8_t scan_quoted_ident(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    *end = span(l, i + 1, LETTER | DIGIT | QUOTABLE);
    if (*end == i + 1 || at(l, *end) != '`')
        return CEL_TOKENS;
    ++*end;
    return CEL_TOK_QUOTED_IDENT;
}

static uint8_t scan_sign(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    int c = at(l, i);
    *end = i + 1;
    if (c == '.') /* ... and two that may: a number, a comment */
        return CEL_TOK_DOT;
    if (c == '/')
        return CEL_TOK_SLASH;
    if (cel_lexer_single[c])
        return cel_lexer_single[c];
    for (unsigned k = 0; k < sizeof doubles / sizeof *doubles; k++) {
        if (doubles[k].first != c)
            continue;
        if (at(l, i + 1) == doubles[k].second) {
            *end = i + 2;
            return doubles[k].both;
        }
        return doubles[k].alone ? doubles[k].alone : CEL_TOKENS;
    }
    *end = i;
    return CEL_TOKENS;
}

/* Kind of the token at i; CEL_TOKENS: none, and *end is at the character that is to
 * blame. */
static uint8_t scan(const struct cel_lexer *l, uint32_t i, uint32_t *end)
{
    int c = at(l, i);
    if (classes[c] & LETTER)
        return scan_word(l, i, end);
    if (classes[c] & DIGIT || (c == '.' && is(l, i + 1, DIGIT)))
        return scan_number(l, i, end);
    if (is_quote(c))
        return scan_string(l, i, false, end) ? CEL_TOK_STRING : CEL_TOKENS;
    if (c == '`')
        return scan_quoted_ident(l, i, end);
    return scan_sign(l, i, end);
}

/* Reports l->text[l->at, bad] and goes on behind it. */
static void skip_bad(struct cel_lexer *l, uint32_t bad)
{
    uint32_t cp, from = l->at;
    l->at = bad;
    if (bad < l->text.n) {
        unsigned n = utf8_decode(l->text, bad, &cp);
        l->at += n ? n : 1;
    }
    cel_syntax_error(l, from, "token recognition error at: '%.*s'", (int)(l->at - from),
                     l->text.p + from);
}

struct cel_token cel_lexer_long(struct cel_lexer *l)
{
    for (;;) {
        skip_blank(l);
        if (l->at >= l->text.n || l->give_up)
            return (struct cel_token){CEL_TOK_EOF, (uint32_t)l->text.n, 0};
        uint32_t from = l->at, end = from;
        uint8_t kind = scan(l, from, &end);
        if (kind != CEL_TOKENS) {
            l->at = end;
            return (struct cel_token){kind, from, end - from};
        }
        skip_bad(l, end);
    }
}

/* ---- Values of string tokens ---- */

static const char bad_escape[] = "unable to unescape string";
static const char bad_octal[] = "unable to unescape octal sequence in string";
static const char bad_rune[] = "invalid unicode code point";

static int simple_escape(char c)
{
    static const char from[] = "abfnrtv\\'\"`?", to[] = "\a\b\f\n\r\t\v\\'\"`?";
    const char *at_c = c ? strchr(from, c) : NULL;
    return at_c ? to[at_c - from] : -1;
}

static unsigned digit_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

/* Decodes the escape at s[*i] (a backslash; the lexer has seen to it that it is whole)
 * and appends its value. */
static const char *decode_escape(struct str s, size_t *i, bool bytes, char **out)
{
    char c = s.p[*i + 1];
    int simple = simple_escape(c);
    *i += 2;
    if (simple >= 0) {
        *(*out)++ = (char)simple;
        return NULL;
    }
    bool octal = c >= '0' && c <= '3';
    unsigned n = octal ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 2;
    uint32_t v = octal ? (uint32_t)(c - '0') : 0;
    if (bytes && n > 2)
        return bad_escape;
    if (s.n - *i < n)
        return octal ? bad_octal : bad_escape;
    for (; n > 0; n--)
        v = v * (octal ? 8 : 16) + digit_value(s.p[(*i)++]);
    if (bytes) {
        *(*out)++ = (char)v;
        return NULL;
    }
    char utf8[4];
    unsigned len = utf8_encode(v, utf8);
    if (len == 0)
        return bad_rune;
    memcpy(*out, utf8, len);
    *out += len;
    return NULL;
}

static const char *decode(struct arena *a, struct str s, bool raw, bool bytes,
                          struct str *out)
{
    /* No escape is shorter than what it stands for. */
    char *buf = arena_alloc(a, s.n + 1), *p = buf;
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] == '\r') {
            i += i + 1 < s.n && s.p[i + 1] == '\n' ? 2 : 1;
            *p++ = '\n';
        } else if (s.p[i] == '\\' && !raw) {
            const char *wrong = decode_escape(s, &i, bytes, &p);
            if (wrong)
                return wrong;
        } else {
            *p++ = s.p[i++];
        }
    }
    *out = (struct str){buf, (size_t)(p - buf)};
    return NULL;
}

const char *cel_unquote(struct arena *a, struct str token, bool bytes, struct str *out)
{
    bool raw = token.p[0] == 'r' || token.p[0] == 'R';
    struct str s = str_sub(token, raw, token.n);
    size_t quotes = s.n >= 6 && s.p[0] == s.p[1] && s.p[1] == s.p[2] ? 3 : 1;
    *out = str_sub(s, quotes, s.n - quotes);
    bool plain = memchr(out->p, '\r', out->n) == NULL &&
                 (raw || memchr(out->p, '\\', out->n) == NULL);
    return plain ? NULL : decode(a, *out, raw, bytes, out);
}
