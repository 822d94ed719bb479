/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: planning under way. A function that plans returns NULL when planning has
 * failed and the error is set; nodes live in the program's arena.
 */
#ifndef DRAY_CEL_PLANNER_H
#define DRAY_CEL_PLANNER_H

#include "base/vec.h"
#include "cel/env.h"
#include "cel/plan.h"

/* A variable of a comprehension or a slot of cel.@block, innermost last. */
struct scope_var {
    struct str name;
    uint32_t local;
    const struct cel_node *init; /* lazy initial value, or NULL */
};

struct planner {
    const struct cel_env *env;
    const struct cel_expr *x;
    struct cel_program *p;
    struct err *e;
    bool fold; /* constants, as CEL_ENV_FOLD has it */
    bool strict_keys, strict_presence;
    struct cel_run run; /* evaluates constants; its arena becomes the program's */
    VEC(struct scope_var) scope;
    VEC(struct cel_node *) paths; /* finished once the whole tree is planned */
    VEC(const struct cel_regex *) regexes;
};

/* Functions that are not planned as calls: a number for each, 0 for all others. */
uint8_t cel_plan_special(const char *function);

struct cel_node *cel_plan(struct planner *pl, const struct cel_ast *ast);
struct cel_node *cel_plan_call(struct planner *pl, const struct cel_ast *ast);
struct cel_node *cel_plan_fold(struct planner *pl, const struct cel_ast *ast);
struct cel_node *cel_plan_block(struct planner *pl, const struct cel_ast *ast);

struct cel_node *cel_plan_node(struct planner *pl, enum cel_op op, uint32_t id);
struct cel_node *cel_plan_const(struct planner *pl, uint32_t id, struct cel_value v);
/* Sets the error; returns NULL. */
void *cel_plan_fail(struct planner *pl, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The constant that a node with constant operands is, or NULL if it is an error. */
struct cel_node *cel_plan_folded(struct planner *pl, struct cel_node *n);

static inline bool is_const(const struct cel_node *n)
{
    return n->op == CEL_OP_CONST;
}

/* What the checker knows about a node, or NULL. */
static inline const struct cel_ref *cel_plan_ref(const struct planner *pl, uint32_t id)
{
    return pl->x->refs != NULL && pl->x->type != NULL ? &pl->x->refs[id] : NULL;
}

/* A path that ends in operand. Steps may be added to it. */
struct cel_node *cel_plan_path(struct planner *pl, struct cel_node *operand);
void cel_plan_add_step(struct planner *pl, struct cel_node *path, uint32_t id,
                       struct cel_path_step step);
/* Where a path stands as a branch or as an index its base is free. */
void cel_plan_uncharge(struct cel_node *n);

uint32_t cel_plan_local(struct planner *pl);
/* Tries the names that a name may stand for in the container, until one is accepted. */
typedef bool cel_plan_candidate_fn(void *ctx, struct str name);
bool cel_plan_candidates(struct planner *pl, struct str name,
                         cel_plan_candidate_fn *accept, void *ctx);
/* "a.b.c" of a chain of selects below an identifier, in the planner's arena; false if the
 * tree is anything else. */
bool cel_plan_qualified_name(struct planner *pl, const struct cel_ast *ast,
                             struct str *name);

#endif
