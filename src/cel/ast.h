/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree after parsing and macro expansion, and what the checker found out about
 * it. All in one arena. Node ids count from 1 and index the checker's arrays; some stand
 * for nothing.
 *
 * The checker resolves names in the tree itself: the selects of a qualified name become
 * one identifier, the receiver of a qualified function becomes part of its name
 * ("sets.contains"), and a global variable that a local one hides gets a leading dot.
 */
#ifndef DRAY_CEL_AST_H
#define DRAY_CEL_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "cel/type.h"
#include "cel/value.h"

enum cel_ast_kind {
    CEL_AST_CONST,
    CEL_AST_IDENT,
    CEL_AST_SELECT,
    CEL_AST_CALL,
    CEL_AST_LIST,
    CEL_AST_MAP,
    CEL_AST_STRUCT,
    CEL_AST_COMPREHENSION,
};

struct cel_ast;

struct cel_ast_entry { /* of a map (key) or a struct (field) */
    uint32_t id, pos;
    bool optional; /* ?key: value */
    struct str field;
    struct cel_ast *key, *value;
};

struct cel_ast {
    uint8_t kind;   /* enum cel_ast_kind */
    uint16_t depth; /* the parser's own */
    uint32_t id;
    uint32_t pos; /* byte offset of the token that error texts point at */
    union {
        struct cel_value constant;
        struct {
            struct str name; /* ".a.b": leading dot kept for absolute names */
        } ident;
        struct {
            struct cel_ast *operand;
            struct str field;
            bool test; /* has(operand.field) */
        } select;
        struct {
            struct str
                function; /* operators by internal name: "_+_", "_?_:_", "_[_]", "@in" */
            struct cel_ast *target; /* NULL: global call */
            struct cel_ast **args;
            uint32_t nargs;
        } call;
        struct {
            struct cel_ast **items;
            uint32_t n;
            const bool *optional; /* per item, NULL if none is optional */
        } list;
        struct {
            struct str type_name; /* struct only */
            struct cel_ast_entry *entries;
            uint32_t n;
        } map; /* CEL_AST_MAP and CEL_AST_STRUCT */
        struct {
            struct str iter_var, iter_var2; /* second empty unless two-variable */
            struct str accu_var;
            struct cel_ast *range, *init, *condition, *step, *result;
        } fold;
    };
};

/* The macro call that a node was expanded from, for error texts and printing. */
struct cel_macro_call {
    uint32_t id;                /* of the node that replaced the call */
    const struct cel_ast *call; /* as written */
};

struct cel_decl;  /* env.h */
struct cel_ident; /* env.h */

struct cel_ref {
    struct str name;               /* resolved variable or type name; empty for calls */
    bool is_const;                 /* name stands for a constant (enum) or type value */
    const struct cel_ident *ident; /* of the environment; NULL: a local variable */
    struct cel_value constant;
    const struct cel_decl *const *overloads; /* candidates left, in declaration order */
    uint32_t noverloads;
};

/* A parsed and, once checked, typed expression. */
struct cel_expr {
    struct str text; /* the source; borrowed */
    struct cel_ast *root;
    uint32_t nids; /* ids are 1..nids */
    const struct cel_macro_call *macros;
    uint32_t nmacros;
    /* set by cel_check, indexed by id; entries of untyped nodes are NULL or empty */
    const struct cel_type **types;
    struct cel_ref *refs;
    const struct cel_type *type; /* of the root; NULL: not checked */
};

#endif
