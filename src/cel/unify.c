/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/unify.h"

enum {
    FUEL = 20 * 1000 * 1000, /* steps; an honest check takes a few thousand */
    MAX_DEPTH = 1000,        /* of types in types, and of variables in a row */
};

void unify_init(struct unify *u, struct arena *a)
{
    *u = (struct unify){.a = a, .fuel = FUEL, .bound = u->few};
    u->var_room = sizeof u->few / sizeof *u->few;
}

static bool burn(struct unify *u)
{
    if (u->fuel > 0) {
        u->fuel--;
        return true;
    }
    u->exhausted = true;
    return false;
}

/* A wrapper is its scalar but for null. */
static const struct cel_type *unwrap(const struct cel_type *t)
{
    return t->kind == CEL_T_WRAPPER ? t->params[0] : t;
}

bool unify_same_name(const struct cel_type *a, const struct cel_type *b)
{
    return a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0);
}

bool unify_exact(struct unify *u, const struct cel_type *a, const struct cel_type *b)
{
    a = unwrap(a);
    b = unwrap(b);
    if (a == b)
        return true;
    if (a->kind != b->kind || a->nparams != b->nparams || !unify_same_name(a, b) ||
        !burn(u))
        return false;
    if (a->kind == CEL_T_PARAM)
        return a->var == b->var;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!unify_exact(u, a->params[i], b->params[i]))
            return false;
    return true;
}

/* ---- Variables ---- */

uint32_t unify_vars(struct unify *u, uint32_t n)
{
    uint32_t had = u->nvars;
    if (had + n > u->var_room) {
        u->var_room = 2 * (had + n);
        u->bound = arena_more(u->a, u->bound, had * sizeof *u->bound,
                              u->var_room * sizeof *u->bound);
    }
    for (uint32_t i = 0; i < n; i++)
        u->bound[had + i] = NULL;
    u->nvars += n;
    return had;
}

const struct cel_type *unify_var(struct unify *u)
{
    return cel_type_param(u->a, NULL, unify_vars(u, 1) + 1);
}

/* Parameters of a variable's declared type are not the checker's: they stay as they are
 * and are bound to nothing. */
static const struct cel_type *binding(const struct unify *u, const struct cel_type *t)
{
    return t->kind == CEL_T_PARAM && !t->name ? u->bound[t->var - 1] : NULL;
}

static void bind(struct unify *u, const struct cel_type *var, const struct cel_type *to)
{
    if (var->name)
        return;
    vec_push_in(u->a, &u->trail, (struct unify_undo){var->var, u->bound[var->var - 1]});
    u->bound[var->var - 1] = to;
}

void unify_unwind(struct unify *u, size_t mark)
{
    while (u->trail.n > mark) {
        struct unify_undo last = vec_pop(&u->trail);
        u->bound[last.var - 1] = last.was;
    }
}

/* t with other parameters. */
static const struct cel_type *rebuild(struct unify *u, const struct cel_type *t,
                                      const struct cel_type *const *params)
{
    switch (t->kind) {
    case CEL_T_LIST:
        return cel_type_list(u->a, params[0]);
    case CEL_T_MAP:
        return cel_type_map(u->a, params[0], params[1]);
    case CEL_T_TYPE:
        return cel_type_of(u->a, params[0]);
    case CEL_T_OPAQUE:
        return cel_type_opaque(u->a, t->name, params, t->nparams);
    default:
        return t;
    }
}

/* The last of a chain of variables that stand for one another; what it stands for, if
 * that is no variable. */
static const struct cel_type *follow(struct unify *u, const struct cel_type *t)
{
    for (;;) {
        const struct cel_type *to = binding(u, t);
        if (!to || !burn(u))
            return t;
        t = to;
    }
}

const struct cel_type *unify_substitute(struct unify *u, const struct cel_type *t,
                                        bool all)
{
    const struct cel_type *params[CEL_TYPE_PARAMS] = {0};
    bool changed = false;
    t = follow(u, t);
    if (!t->var)
        return t;
    if (!burn(u))
        return &cel_type_error;
    if (t->kind == CEL_T_PARAM)
        return all ? &cel_type_dyn : t;
    for (unsigned i = 0; i < t->nparams; i++) {
        params[i] = unify_substitute(u, t->params[i], all);
        changed = changed || params[i] != t->params[i];
    }
    return changed ? rebuild(u, t, params) : t;
}

/* Every variable of the chain from t stands for to. */
static void settle_chain(struct unify *u, const struct cel_type *t,
                         const struct cel_type *to)
{
    while (t->kind == CEL_T_PARAM && !t->name) {
        const struct cel_type *next = u->bound[t->var - 1];
        u->bound[t->var - 1] = to;
        if (!next)
            return;
        t = next;
    }
}

const struct cel_type *unify_settle(struct unify *u, const struct cel_type *t)
{
    const struct cel_type *params[CEL_TYPE_PARAMS] = {0}, *end = follow(u, t),
                          *settled = end;
    if (end->kind == CEL_T_PARAM) {
        settled = &cel_type_dyn;
    } else if (end->var) {
        for (unsigned i = 0; i < end->nparams; i++)
            params[i] = unify_settle(u, end->params[i]);
        settled = rebuild(u, end, params);
    }
    settle_chain(u, t, settled);
    return settled;
}

const struct cel_type *unify_instantiate(struct unify *u, const struct cel_type *t,
                                         uint32_t base)
{
    const struct cel_type *params[CEL_TYPE_PARAMS] = {0};
    if (!t->var)
        return t;
    if (t->kind == CEL_T_PARAM)
        return cel_type_param(u->a, NULL, base + t->var);
    for (unsigned i = 0; i < t->nparams; i++)
        params[i] = unify_instantiate(u, t->params[i], base);
    return rebuild(u, t, params);
}

/* ---- Assignability ---- */

/* Whether a matches b or more (dyn being the least specific). */
static bool less_specific(struct unify *u, const struct cel_type *a,
                          const struct cel_type *b)
{
    if (unify_is_dyn(a) || a->kind == CEL_T_PARAM)
        return true;
    if (unify_is_dyn(b) || b->kind == CEL_T_PARAM || !burn(u))
        return false;
    if (a->kind != CEL_T_OPAQUE && a->kind != CEL_T_LIST && a->kind != CEL_T_MAP)
        return a->kind == CEL_T_TYPE ? b->kind == CEL_T_TYPE : unify_exact(u, a, b);
    if (a->kind != b->kind || !unify_same_name(a, b) || a->nparams != b->nparams)
        return false;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!less_specific(u, a->params[i], b->params[i]))
            return false;
    return true;
}

const struct cel_type *unify_most_general(struct unify *u, const struct cel_type *a,
                                          const struct cel_type *b)
{
    return less_specific(u, a, b) ? a : b;
}

/* False if var occurs in t, be it as a link of a chain, so that t cannot stand for it: a
 * variable never leads back to itself. */
static bool absent(struct unify *u, const struct cel_type *var, const struct cel_type *t)
{
    while (t->kind == CEL_T_PARAM) {
        if (!burn(u) || unify_exact(u, var, t))
            return false;
        const struct cel_type *to = binding(u, t);
        if (!to)
            return true;
        t = to;
    }
    if (!t->var)
        return true;
    if (!burn(u))
        return false;
    for (unsigned i = 0; i < t->nparams; i++)
        if (!absent(u, var, t->params[i]))
            return false;
    return true;
}

/* Whether var is or may be made to stand for t; *bound: it stood for something before. */
static bool stands_for(struct unify *u, const struct cel_type *t,
                       const struct cel_type *var, bool *bound)
{
    *bound = true;
    if (unify_exact(u, t, var))
        return true;
    const struct cel_type *was = binding(u, var);
    if (was) {
        if (unify_exact(u, t, was))
            return true;
        if (!unify_assignable(u, t, was))
            return false;
        const struct cel_type *now = unify_most_general(u, t, was);
        if (absent(u, var, now))
            bind(u, var, now);
        return true;
    }
    *bound = false;
    if (!absent(u, var, t))
        return false;
    bind(u, var, t);
    return true;
}

bool unify_nullable(const struct cel_type *t)
{
    switch (t->kind) {
    case CEL_T_NULL:
    case CEL_T_OPAQUE:
    case CEL_T_OBJECT:
    case CEL_T_DURATION:
    case CEL_T_TIMESTAMP:
    case CEL_T_WRAPPER:
        return true;
    default:
        return false;
    }
}

static bool assignable_kinds(struct unify *u, const struct cel_type *a,
                             const struct cel_type *b)
{
    a = unwrap(a);
    b = unwrap(b);
    if (a->kind != b->kind || !unify_same_name(a, b))
        return false;
    if (a->kind == CEL_T_TYPE)
        return true;
    if (a->nparams != b->nparams)
        return false;
    for (unsigned i = 0; i < a->nparams; i++)
        if (!unify_assignable(u, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool assignable(struct unify *u, const struct cel_type *a,
                       const struct cel_type *b)
{
    bool bound;
    if (b->kind == CEL_T_PARAM) {
        if (stands_for(u, a, b, &bound))
            return true;
        if (bound)
            return false;
    }
    if (a->kind == CEL_T_PARAM)
        return stands_for(u, b, a, &bound);
    if (unify_is_dyn_or_error(a) || unify_is_dyn_or_error(b))
        return true;
    if (a->kind == CEL_T_NULL)
        return unify_nullable(b);
    if (b->kind == CEL_T_NULL)
        return unify_nullable(a);
    return assignable_kinds(u, a, b);
}

bool unify_assignable(struct unify *u, const struct cel_type *a, const struct cel_type *b)
{
    if (a == b && !a->var)
        return true;
    if (u->depth == MAX_DEPTH)
        u->fuel = 0;
    if (!burn(u))
        return true;
    u->depth++;
    bool fits = assignable(u, a, b);
    u->depth--;
    return fits;
}

bool unify_fits(struct unify *u, const struct cel_type *a, const struct cel_type *b)
{
    size_t mark = u->trail.n;
    if (unify_assignable(u, a, b))
        return true;
    unify_unwind(u, mark);
    return false;
}
