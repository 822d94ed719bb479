/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: a parse under way, and the making of nodes. Macros (func.h) get the
 * parser to make nodes with; a node's position is a byte offset, in an expansion that of
 * the macro call.
 */
#ifndef DRAY_CEL_PARSER_H
#define DRAY_CEL_PARSER_H

#include "cel/cel.h"
#include "cel/lexer.h"

enum {
    CEL_MAX_NODES = 1 << 20, /* macros that copy could go on for ever */
};

/* A part of a list, a chain or a map, between its parse and its place in a node. */
struct cel_item {
    struct cel_ast *node;
    struct str name; /* of a field */
    uint32_t pos;    /* of the operator or colon */
    bool optional;
};

struct cel_parser {
    const struct cel_env *env;
    struct arena *a;
    struct cel_reporter report;
    struct cel_lexer lex;
    struct cel_token tok, ahead; /* the current token; the next if have_ahead */
    bool have_ahead;
    bool optional_syntax, backquotes;
    bool dead;           /* no way to go on after a syntax error or a limit */
    uint32_t recoveries; /* after syntax errors */
    uint32_t max_depth;
    uint32_t exprs, relations, calcs; /* rules under way, each within max_depth */
    uint32_t nids;
    struct cel_item *items; /* a stack; starts as few */
    uint32_t nitems, room;
    struct cel_item few[48];
    struct cel_macro_call *macros;
    uint32_t nmacros, macro_room;
};

/* ---- Nodes (nodes.c), all with a new id ---- */

struct cel_ast *cel_ast_new(struct cel_parser *p, enum cel_ast_kind kind, uint32_t pos);
struct cel_ast *cel_ast_const(struct cel_parser *p, uint32_t pos, struct cel_value v);
struct cel_ast *cel_ast_ident(struct cel_parser *p, uint32_t pos, struct str name);
struct cel_ast *cel_ast_select(struct cel_parser *p, uint32_t pos,
                               struct cel_ast *operand, struct str field);
/* args are copied. */
struct cel_ast *cel_ast_call(struct cel_parser *p, uint32_t pos, struct str function,
                             struct cel_ast *target, struct cel_ast *const *args,
                             uint32_t nargs);
struct cel_ast *cel_ast_list(struct cel_parser *p, uint32_t pos,
                             struct cel_ast *const *items, uint32_t n);
/* n is at least as deep as its child. */
static inline void cel_ast_deepen(struct cel_ast *n, const struct cel_ast *child)
{
    if (n->depth < child->depth)
        n->depth = child->depth;
}
/* Copies n with all below it, every node with an id of its own at its own position. */
struct cel_ast *cel_ast_copy(struct cel_parser *p, const struct cel_ast *n);

/* Reports at a node, for a macro to return: sets *failed, gives NULL. */
struct cel_ast *cel_macro_error(struct cel_parser *p, const struct cel_ast *node,
                                bool *failed, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
