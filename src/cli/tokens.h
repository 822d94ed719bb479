/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expression as its tokens, for advice about texts that may not even parse: where a
 * path into device stands, where the operands of an operator begin and end.
 */
#ifndef DRAY_CLI_TOKENS_H
#define DRAY_CLI_TOKENS_H

#include "base/arena.h"
#include "cel/lexer.h"

struct tokens {
    struct str text;
    const struct cel_token *v; /* the last is EOF */
    uint32_t n;                /* without it */
};

void tokens_read(struct tokens *t, struct str text, struct arena *a);
struct str tokens_text(const struct tokens *t, uint32_t i);
/* The text from token first to before token end. */
struct str tokens_span(const struct tokens *t, uint32_t first, uint32_t end);
bool tokens_is(const struct tokens *t, uint32_t i, const char *text);
/* The value of a string literal; STR_NONE when the token is none. */
struct str tokens_string(const struct tokens *t, uint32_t i, struct arena *a);

/* device.capacity["gpu.example.com"].memory, device.attributes["x"]["y"], and what people
 * write for them. */
struct tokens_path {
    uint32_t first, end;    /* tokens */
    bool capacity;          /* else attributes */
    struct str domain;      /* the first index; STR_NONE: there is none */
    struct str name;        /* the second index or member; STR_NONE: there is none */
    bool optional, literal; /* reached by .? or [?; indexes are literals or members */
};
/* The next path at or after token from. */
bool tokens_path(const struct tokens *t, uint32_t from, struct tokens_path *out,
                 struct arena *a);

/* The operands beside operator i: [*left, i) and (i, *right). They end at && || ? : , at
 * a bracket that does not close, and at the ends of the text. */
void tokens_operands(const struct tokens *t, uint32_t i, uint32_t *left, uint32_t *right);
/* The next operand of && at the top: [from, *end); false: none is left. */
bool tokens_conjunct(const struct tokens *t, uint32_t from, uint32_t *end);

#endif
