/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: whether a type fits where another is wanted, and what the type variables
 * in them stand for. Parameters of signatures are replaced by fresh variables at every
 * call; what a variable was found to stand for can be taken back to a mark.
 *
 * The rules are upstream's, order of questions included: the first answer binds. The work
 * is bounded: after too many steps, exhausted is set and the answers mean nothing.
 */
#ifndef DRAY_CEL_UNIFY_H
#define DRAY_CEL_UNIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "cel/type.h"

struct unify_undo {
    uint32_t var;
    const struct cel_type *was;
};

struct unify {
    struct arena *a;
    const struct cel_type **bound; /* by variable - 1; NULL: free */
    uint32_t nvars, var_room;
    const struct cel_type *few[16]; /* room for the first */
    VEC(struct unify_undo) trail;   /* in the arena */
    uint64_t fuel;
    uint32_t depth;
    bool exhausted;
};

void unify_init(struct unify *u, struct arena *a);

/* Makes n variables and answers with how many there were. */
uint32_t unify_vars(struct unify *u, uint32_t n);
const struct cel_type *unify_var(struct unify *u);
/* The type of a signature, its parameter k as variable base + k. */
const struct cel_type *unify_instantiate(struct unify *u, const struct cel_type *t,
                                         uint32_t base);
/* t with bound variables replaced, free ones too (by dyn) if all is set. */
const struct cel_type *unify_substitute(struct unify *u, const struct cel_type *t,
                                        bool all);

/* The same when nothing more will be asked: quick, whatever was asked before. */
const struct cel_type *unify_settle(struct unify *u, const struct cel_type *t);

/* Whether a fits where b is wanted. May bind variables, also when it fails. */
bool unify_assignable(struct unify *u, const struct cel_type *a,
                      const struct cel_type *b);
/* The same, but on failure nothing is bound. */
bool unify_fits(struct unify *u, const struct cel_type *a, const struct cel_type *b);

static inline size_t unify_mark(const struct unify *u)
{
    return u->trail.n;
}
void unify_unwind(struct unify *u, size_t mark);

/* Equal, taking wrappers for their scalars. */
bool unify_exact(struct unify *u, const struct cel_type *a, const struct cel_type *b);
/* Of two types that fit each other. */
const struct cel_type *unify_most_general(struct unify *u, const struct cel_type *a,
                                          const struct cel_type *b);

static inline bool unify_is_dyn(const struct cel_type *t)
{
    return t->kind == CEL_T_DYN || t->kind == CEL_T_ANY;
}
static inline bool unify_is_dyn_or_error(const struct cel_type *t)
{
    return t->kind <= CEL_T_ANY; /* ERROR, DYN, ANY */
}
bool unify_nullable(const struct cel_type *t); /* null itself included */
bool unify_same_name(const struct cel_type *a, const struct cel_type *b);

#endif
