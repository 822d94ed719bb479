/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning of comprehensions. The loops that the macros expand to are recognised: all and
 * exists have code of their own, and what map, filter and transformMap accumulate grows
 * in place. Locals are never shared between comprehensions, since an accumulator's
 * initial value may be computed while later ones are in use.
 */
#include "cel/planner.h"

static void push_var(struct planner *pl, struct str name, uint32_t local,
                     const struct cel_node *init)
{
    vec_push_in(&pl->run.arena, &pl->scope, (struct scope_var){name, local, init});
}

/* ---- Shapes ---- */

static bool is_ident(const struct cel_ast *n, struct str name)
{
    return n->kind == CEL_AST_IDENT && str_eq(n->ident.name, name);
}

static bool is_call(const struct cel_ast *n, const char *function, uint32_t nargs)
{
    return n->kind == CEL_AST_CALL && n->call.target == NULL && n->call.nargs == nargs &&
           str_is(n->call.function, function);
}

static bool mentions(const struct cel_ast *n, struct str name);

static bool any_mentions(struct cel_ast *const *items, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (mentions(items[i], name))
            return true;
    return false;
}

static bool entries_mention(const struct cel_ast *n, struct str name)
{
    for (uint32_t i = 0; i < n->map.n; i++) {
        const struct cel_ast_entry *e = &n->map.entries[i];
        if ((e->key != NULL && mentions(e->key, name)) || mentions(e->value, name))
            return true;
    }
    return false;
}

/* Whether an expression may read the variable; a comprehension with a variable of the
 * same name inside hides it from its own parts only. */
static bool mentions(const struct cel_ast *n, struct str name)
{
    switch ((enum cel_ast_kind)n->kind) {
    case CEL_AST_CONST:
        return false;
    case CEL_AST_IDENT:
        return str_eq(n->ident.name, name);
    case CEL_AST_SELECT:
        return mentions(n->select.operand, name);
    case CEL_AST_CALL:
        return (n->call.target != NULL && mentions(n->call.target, name)) ||
               any_mentions(n->call.args, n->call.nargs, name);
    case CEL_AST_LIST:
        return any_mentions(n->list.items, n->list.n, name);
    case CEL_AST_MAP:
    case CEL_AST_STRUCT:
        return entries_mention(n, name);
    case CEL_AST_COMPREHENSION:
        if (mentions(n->fold.range, name) || mentions(n->fold.init, name))
            return true;
        if (str_eq(n->fold.accu_var, name))
            return false;
        return mentions(n->fold.condition, name) || mentions(n->fold.step, name) ||
               mentions(n->fold.result, name);
    }
    return true;
}

/* all: accu && p while accu; exists: accu || p while !accu. The predicate, or NULL. */
static const struct cel_ast *quantified(const struct cel_ast *ast, bool *exists)
{
    struct str accu = ast->fold.accu_var;
    const struct cel_ast *step = ast->fold.step, *c = ast->fold.condition;
    *exists = is_call(step, "_||_", 2);
    if ((!*exists && !is_call(step, "_&&_", 2)) || !is_ident(step->call.args[0], accu))
        return NULL;
    if (!is_call(c, "@not_strictly_false", 1) || !is_ident(ast->fold.result, accu))
        return NULL;
    c = c->call.args[0];
    if (*exists && !is_call(c, "!_", 1))
        return NULL;
    if (!is_ident(*exists ? c->call.args[0] : c, accu))
        return NULL;
    const struct cel_ast *init = ast->fold.init, *p = step->call.args[1];
    bool start = init->kind == CEL_AST_CONST && init->constant.kind == CEL_BOOL &&
                 init->constant.b == !*exists;
    return start && !mentions(p, accu) ? p : NULL;
}

static bool is_empty_list(const struct cel_ast *n)
{
    return n->kind == CEL_AST_LIST && n->list.n == 0;
}

static bool is_empty_map(const struct cel_ast *n)
{
    return n->kind == CEL_AST_MAP && n->map.n == 0;
}

/* accu + [...] with an accumulator that starts empty and is used nowhere else. */
static bool appends(const struct cel_ast *ast, const struct cel_ast *step)
{
    struct str accu = ast->fold.accu_var;
    return is_empty_list(ast->fold.init) && is_call(step, "_+_", 2) &&
           is_ident(step->call.args[0], accu) &&
           step->call.args[1]->kind == CEL_AST_LIST &&
           !mentions(step->call.args[1], accu);
}

static bool inserts(const struct cel_ast *ast, const struct cel_ast *step)
{
    struct str accu = ast->fold.accu_var;
    if (!is_empty_map(ast->fold.init) ||
        (!is_call(step, "cel.@mapInsert", 3) && !is_call(step, "cel.@mapInsert", 2)))
        return false;
    return is_ident(step->call.args[0], accu) &&
           !any_mentions(step->call.args + 1, step->call.nargs - 1, accu);
}

/* ---- Steps ---- */

static struct cel_node *plan_append(struct planner *pl, const struct cel_ast *step)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_APPEND, step->id);
    n->op2.a = cel_plan(pl, step->call.args[0]);
    struct cel_node *list = cel_plan(pl, step->call.args[1]);
    if (n->op2.a == NULL || list == NULL)
        return NULL;
    n->flag = list->op == CEL_OP_LIST && list->many.n == 1 && list->many.optional == NULL;
    n->op2.b = n->flag ? list->many.items[0] : list;
    return n;
}

static struct cel_node *plan_insert(struct planner *pl, const struct cel_ast *step)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_INSERT, step->id);
    uint32_t nargs = step->call.nargs;
    const struct cel_node **args =
        ARENA_ARRAY(&pl->run.arena, const struct cel_node *, nargs);
    for (uint32_t i = 0; i < nargs; i++)
        if ((args[i] = cel_plan(pl, step->call.args[i])) == NULL)
            return NULL;
    n->flag = nargs == 2;
    n->call.args = args;
    n->call.nargs = nargs;
    return n;
}

/* A step that grows the accumulator in place, perhaps under a condition; or NULL with
 * *plain set: plan it as it stands. */
static struct cel_node *plan_growth(struct planner *pl, const struct cel_ast *ast,
                                    const struct cel_ast *step, bool *plain)
{
    *plain = false;
    if (appends(ast, step))
        return plan_append(pl, step);
    if (inserts(ast, step))
        return plan_insert(pl, step);
    struct str accu = ast->fold.accu_var;
    *plain = true;
    if (!is_call(step, "_?_:_", 3) || !is_ident(step->call.args[2], accu) ||
        mentions(step->call.args[0], accu))
        return NULL;
    const struct cel_ast *yes = step->call.args[1];
    if (!appends(ast, yes) && !inserts(ast, yes))
        return NULL;
    *plain = false;
    struct cel_node *n = cel_plan_node(pl, CEL_OP_CHOICE, step->id);
    struct cel_node *cond = cel_plan(pl, step->call.args[0]);
    struct cel_node *grow = cond ? plan_growth(pl, ast, yes, plain) : NULL;
    struct cel_node *keep = grow ? cel_plan(pl, step->call.args[2]) : NULL;
    if (keep == NULL)
        return NULL;
    cel_plan_uncharge(keep);
    n->choice.cond = cond;
    n->choice.yes = grow;
    n->choice.no = keep;
    return n;
}

static struct cel_node *plan_step(struct planner *pl, const struct cel_ast *ast)
{
    bool plain;
    struct cel_node *n = NULL;
    if (is_ident(ast->fold.result, ast->fold.accu_var))
        n = plan_growth(pl, ast, ast->fold.step, &plain);
    else
        plain = true;
    return plain ? cel_plan(pl, ast->fold.step) : n;
}

static bool is_true(const struct cel_node *n)
{
    return is_const(n) && n->value.kind == CEL_BOOL && n->value.b;
}

/* Condition and step; false on failure. */
static bool plan_loop(struct planner *pl, const struct cel_ast *ast, struct cel_node *n)
{
    struct cel_node *condition = cel_plan(pl, ast->fold.condition);
    if (condition == NULL)
        return false;
    n->fold.condition = is_true(condition) ? NULL : condition;
    n->fold.step = plan_step(pl, ast);
    return n->fold.step != NULL;
}

/* ---- Comprehensions ---- */

static void push_iteration(struct planner *pl, const struct cel_ast *ast,
                           struct cel_node *n)
{
    n->fold.two = ast->fold.iter_var2.n != 0;
    n->fold.iter = cel_plan_local(pl);
    push_var(pl, ast->fold.iter_var, n->fold.iter, NULL);
    if (!n->fold.two)
        return;
    n->fold.iter2 = cel_plan_local(pl);
    push_var(pl, ast->fold.iter_var2, n->fold.iter2, NULL);
}

static struct cel_node *plan_quantified(struct planner *pl, const struct cel_ast *ast,
                                        struct cel_node *n, const struct cel_ast *p)
{
    size_t outer = pl->scope.n;
    push_iteration(pl, ast, n);
    n->fold.step = cel_plan(pl, p);
    pl->scope.n = outer;
    return n->fold.step ? n : NULL;
}

/* cel.bind never loops. */
static bool is_bind(const struct cel_ast *ast)
{
    const struct cel_ast *cond = ast->fold.condition;
    return is_empty_list(ast->fold.range) && cond->kind == CEL_AST_CONST &&
           cond->constant.kind == CEL_BOOL && !cond->constant.b;
}

static struct cel_node *plan_general(struct planner *pl, const struct cel_ast *ast,
                                     struct cel_node *n)
{
    size_t outer = pl->scope.n;
    n->fold.init = cel_plan(pl, ast->fold.init);
    if (n->fold.init == NULL)
        return NULL;
    n->fold.accu = cel_plan_local(pl);
    push_var(pl, ast->fold.accu_var, n->fold.accu, n->fold.init);
    bool ok = true;
    if (!is_bind(ast)) { /* also over nothing: what cannot be planned is an error */
        push_iteration(pl, ast, n);
        ok = plan_loop(pl, ast, n);
        pl->scope.n = outer + 1;
    }
    n->fold.result = ok ? cel_plan(pl, ast->fold.result) : NULL;
    pl->scope.n = outer;
    return n->fold.result ? n : NULL;
}

struct cel_node *cel_plan_fold(struct planner *pl, const struct cel_ast *ast)
{
    bool exists = false;
    const struct cel_ast *predicate = quantified(ast, &exists);
    enum cel_op op = predicate                        ? CEL_OP_ALL
                     : is_empty_list(ast->fold.range) ? CEL_OP_BIND
                                                      : CEL_OP_FOLD;
    struct cel_node *n = cel_plan_node(pl, op, ast->id);
    n->flag = exists;
    n->fold.range = cel_plan(pl, ast->fold.range);
    if (n->fold.range == NULL)
        return NULL;
    return predicate ? plan_quantified(pl, ast, n, predicate) : plan_general(pl, ast, n);
}

/* cel.@block([a, b], expression): @index0 is a, to be evaluated at its first use. */
struct cel_node *cel_plan_block(struct planner *pl, const struct cel_ast *ast)
{
    if (ast->call.nargs != 2 || ast->call.args[0]->kind != CEL_AST_LIST)
        return cel_plan_fail(
            pl, "cel.@block expects a list constructor as the first argument");
    const struct cel_ast *list = ast->call.args[0];
    size_t outer = pl->scope.n;
    struct cel_node *n = cel_plan_node(pl, CEL_OP_BLOCK, ast->id);
    n->block.n = list->list.n;
    n->block.first = pl->p->nlocals;
    pl->p->nlocals += list->list.n;
    for (uint32_t i = 0; i < list->list.n; i++) {
        const struct cel_node *slot = cel_plan(pl, list->list.items[i]);
        if (slot == NULL)
            return NULL;
        push_var(pl, arena_printf(&pl->run.arena, "@index%u", i), n->block.first + i,
                 slot);
    }
    n->block.result = cel_plan(pl, ast->call.args[1]);
    pl->scope.n = outer;
    return n->block.result ? n : NULL;
}
