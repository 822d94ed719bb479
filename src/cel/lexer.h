/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: the text as tokens (spec 4.6). */
#ifndef DRAY_CEL_LEXER_H
#define DRAY_CEL_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "cel/issues.h"

/* In the order in which upstream's error texts list what was expected. */
enum cel_token_kind {
    CEL_TOK_EOF,
    CEL_TOK_EQ,
    CEL_TOK_NE,
    CEL_TOK_IN,
    CEL_TOK_LT,
    CEL_TOK_LE,
    CEL_TOK_GE,
    CEL_TOK_GT,
    CEL_TOK_AND,
    CEL_TOK_OR,
    CEL_TOK_LBRACKET,
    CEL_TOK_RBRACKET,
    CEL_TOK_LBRACE,
    CEL_TOK_RBRACE,
    CEL_TOK_LPAREN,
    CEL_TOK_RPAREN,
    CEL_TOK_DOT,
    CEL_TOK_COMMA,
    CEL_TOK_MINUS,
    CEL_TOK_NOT,
    CEL_TOK_QUESTION,
    CEL_TOK_COLON,
    CEL_TOK_PLUS,
    CEL_TOK_STAR,
    CEL_TOK_SLASH,
    CEL_TOK_PERCENT,
    CEL_TOK_TRUE,
    CEL_TOK_FALSE,
    CEL_TOK_NULL,
    CEL_TOK_FLOAT,
    CEL_TOK_INT,
    CEL_TOK_UINT,
    CEL_TOK_STRING,
    CEL_TOK_BYTES,
    CEL_TOK_IDENT,
    CEL_TOK_QUOTED_IDENT, /* `a/b`, back quotes included */
    CEL_TOKENS
};

struct cel_token {
    uint8_t kind; /* enum cel_token_kind */
    uint32_t pos, len;
};

struct cel_lexer {
    struct str text;
    uint32_t at;
    struct cel_reporter *report;
    uint32_t errors; /* reported so far */
    bool give_up;    /* too many: only EOF follows */
};

/* The next token. What is no token is reported and skipped. */
struct cel_token cel_lexer_long(struct cel_lexer *l);
/* By character: a token that is that alone where it stands; 0. */
extern const uint8_t cel_lexer_single[256];
static inline struct cel_token cel_lexer_next(struct cel_lexer *l)
{
    uint8_t c = l->at < l->text.n ? (uint8_t)l->text.p[l->at] : 0;
    if (cel_lexer_single[c] == 0 || l->give_up)
        return cel_lexer_long(l);
    return (struct cel_token){cel_lexer_single[c], l->at++, 1};
}

/* "'=='", "IDENTIFIER" */
const char *cel_token_name(enum cel_token_kind kind);

/* "Syntax error: " and the text; the 101st ends the parse (l->give_up). */
void cel_syntax_error(struct cel_lexer *l, uint32_t pos, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The value of a string or bytes token (a bytes token without its b): quotes and escapes
 * removed, line ends as \n. NULL, or what is wrong with it. Escapes that need no decoding
 * are answered with a part of the token.
 */
const char *cel_unquote(struct arena *a, struct str token, bool bytes, struct str *out);

#endif
