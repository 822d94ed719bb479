/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: the entry, names and paths, literals. */
#include "cel/planner.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cel/construct.h"
#include "cel/eval.h"
#include "cel/regex.h"

cel_code *const cel_codes[CEL_OPS] = {
    [CEL_OP_CONST] = cel_code_const,
    [CEL_OP_PRICED] = cel_code_priced,
    [CEL_OP_SLOT] = cel_code_slot,
    [CEL_OP_PATH] = cel_code_path,
    [CEL_OP_CHOICE] = cel_code_choice,
    [CEL_OP_AND] = cel_code_and,
    [CEL_OP_OR] = cel_code_or,
    [CEL_OP_LIST] = cel_code_list,
    [CEL_OP_MAP] = cel_code_map,
    [CEL_OP_STRUCT] = cel_code_struct,
    [CEL_OP_EQ] = cel_code_eq,
    [CEL_OP_NE] = cel_code_ne,
    [CEL_OP_LT] = cel_code_lt,
    [CEL_OP_LE] = cel_code_le,
    [CEL_OP_GT] = cel_code_gt,
    [CEL_OP_GE] = cel_code_ge,
    [CEL_OP_ADD] = cel_code_add,
    [CEL_OP_SUB] = cel_code_sub,
    [CEL_OP_NOT] = cel_code_not,
    [CEL_OP_NOT_FALSE] = cel_code_not_false,
    [CEL_OP_IN] = cel_code_in,
    [CEL_OP_IN_SET] = cel_code_in_set,
    [CEL_OP_TEXT_TEST] = cel_code_text_test,
    [CEL_OP_OR_OPTIONAL] = cel_code_or_optional,
    [CEL_OP_OR_VALUE] = cel_code_or_value,
    [CEL_OP_CALL] = cel_code_call,
    [CEL_OP_REGEX] = cel_code_regex,
    [CEL_OP_FOLD] = cel_code_fold,
    [CEL_OP_ALL] = cel_code_all,
    [CEL_OP_BIND] = cel_code_bind,
    [CEL_OP_APPEND] = cel_code_append,
    [CEL_OP_INSERT] = cel_code_insert,
    [CEL_OP_BLOCK] = cel_code_block,
};

/* ---- Nodes ---- */

struct cel_node *cel_plan_node(struct planner *pl, enum cel_op op, uint32_t id)
{
    struct cel_node *n = ARENA_NEW(&pl->run.arena, struct cel_node);
    n->op = (uint16_t)op;
    n->code = cel_codes[op];
    n->id = id;
    return n;
}

struct cel_node *cel_plan_const(struct planner *pl, uint32_t id, struct cel_value v)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_CONST, id);
    n->value = v.kind == CEL_STRING ? cel_string_marked(cel_str(v)) : v;
    return n;
}

void *cel_plan_fail(struct planner *pl, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(pl->e, ERR_INVALID, fmt, ap);
    va_end(ap);
    return NULL;
}

struct cel_node *cel_plan_folded(struct planner *pl, struct cel_node *n)
{
    struct cel_frame f = {.run = &pl->run, .limit = UINT64_MAX, .memory_end = SIZE_MAX};
    struct cel_value v = cel_exec(n, &f);
    if (v.kind == CEL_ERROR)
        return cel_plan_fail(pl, "%.*s", STR_ARG(v.error->text));
    return cel_plan_const(pl, n->id, v);
}

uint32_t cel_plan_local(struct planner *pl)
{
    return pl->p->nlocals++;
}

/* ---- Names ---- */

bool cel_plan_candidates(struct planner *pl, struct str name,
                         cel_plan_candidate_fn *accept, void *ctx)
{
    if (name.n != 0 && *name.p == '.')
        return accept(ctx, str_sub(name, 1, name.n));
    const char *container = cel_env_container(pl->env);
    struct str prefix = str_from(container ? container : "");
    while (prefix.n != 0) {
        struct str full =
            arena_printf(&pl->run.arena, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(name));
        if (accept(ctx, full))
            return true;
        while (prefix.n != 0 && prefix.p[prefix.n - 1] != '.')
            prefix.n--;
        prefix.n -= prefix.n != 0; /* the dot */
    }
    return accept(ctx, name);
}

bool cel_plan_qualified_name(struct planner *pl, const struct cel_ast *ast,
                             struct str *name)
{
    if (ast->kind == CEL_AST_IDENT) {
        *name = ast->ident.name;
        return true;
    }
    if (ast->kind != CEL_AST_SELECT || ast->select.test)
        return false;
    struct str operand;
    if (!cel_plan_qualified_name(pl, ast->select.operand, &operand))
        return false;
    *name = arena_printf(&pl->run.arena, "%.*s.%.*s", STR_ARG(operand),
                         STR_ARG(ast->select.field));
    return true;
}

static const struct scope_var *find_local(const struct planner *pl, struct str name)
{
    for (size_t i = pl->scope.n; i-- > 0;)
        if (str_eq(pl->scope.v[i].name, name))
            return &pl->scope.v[i];
    return NULL;
}

static struct cel_node *new_path(struct planner *pl, uint32_t id, enum cel_path_root root)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_PATH, id);
    n->path.root = (uint8_t)root;
    n->path.charged = true;
    n->path.strict = pl->strict_presence;
    vec_push_in(&pl->run.arena, &pl->paths, n);
    return n;
}

static struct cel_node *local_path(struct planner *pl, uint32_t id,
                                   const struct scope_var *v)
{
    struct cel_node *n = new_path(pl, id, CEL_PATH_LOCAL);
    n->path.var = v->local;
    n->path.base = v->init;
    return n;
}

static struct cel_node *variable_path(struct planner *pl, uint32_t id,
                                      const struct cel_var *v)
{
    uint32_t n;
    struct cel_node *node = new_path(pl, id, CEL_PATH_VARIABLE);
    node->path.var = (uint32_t)(v - cel_env_vars(pl->env, &n));
    node->path.ops = v->ops;
    return node;
}

/* A name that may stand for a variable or a type of the environment. */
struct lookup {
    struct planner *pl;
    uint32_t id;
    bool whole; /* nothing is selected below it: types count too */
    struct cel_node *found;
};

static bool look_up(void *ctx, struct str name)
{
    struct lookup *l = ctx;
    const struct cel_var *var = cel_env_var(l->pl->env, name);
    const struct cel_type *type = l->whole ? cel_env_type(l->pl->env, name) : NULL;
    if (var != NULL)
        l->found = variable_path(l->pl, l->id, var);
    else if (type != NULL)
        l->found = cel_plan_const(l->pl, l->id, cel_type_value(type));
    return l->found != NULL;
}

/* A name that the checker resolved. */
static struct cel_node *plan_resolved(struct planner *pl, uint32_t id,
                                      const struct cel_ref *ref)
{
    if (ref->is_const)
        return cel_plan_const(pl, id, cel_dup(ref->constant, &pl->run.arena));
    const struct scope_var *local = find_local(pl, ref->name);
    if (local != NULL) /* cel.@block's slots are variables of the environment too */
        return local_path(pl, id, local);
    if (ref->ident != NULL)
        return variable_path(pl, id, ref->ident->var);
    return cel_plan_fail(pl, "no such attribute(s): %.*s", STR_ARG(ref->name));
}

/* An unchecked name without a meaning fails when it is evaluated. */
static struct cel_node *unknown_name(struct planner *pl, uint32_t id, struct str name)
{
    struct cel_value e =
        cel_errorf(&pl->run, "no such attribute(s): %.*s", STR_ARG(name));
    struct cel_node *n = new_path(pl, id, CEL_PATH_NODE);
    n->path.base = cel_plan_const(pl, id, e);
    return n;
}

static struct cel_node *plan_ident(struct planner *pl, const struct cel_ast *ast)
{
    const struct cel_ref *ref = cel_plan_ref(pl, ast->id);
    if (ref != NULL && (ref->name.n != 0 || ref->is_const))
        return plan_resolved(pl, ast->id, ref);
    struct str name = ast->ident.name;
    const struct scope_var *local = find_local(pl, name);
    if (local != NULL)
        return local_path(pl, ast->id, local);
    struct lookup l = {pl, ast->id, true, NULL};
    if (cel_plan_candidates(pl, name, look_up, &l))
        return l.found;
    return unknown_name(pl, ast->id, name);
}

static const struct cel_ast *root_of(const struct cel_ast *ast)
{
    while (ast->kind == CEL_AST_SELECT)
        ast = ast->select.operand;
    return ast;
}

/* An unchecked a.b.c may be a variable of that name; NULL: it is a field of a.b. */
static struct cel_node *plan_qualified(struct planner *pl, const struct cel_ast *ast)
{
    struct str name;
    if (ast->select.test || !cel_plan_qualified_name(pl, ast, &name))
        return NULL;
    if (find_local(pl, root_of(ast)->ident.name) != NULL)
        return NULL;
    struct lookup l = {pl, ast->id, true, NULL};
    return cel_plan_candidates(pl, name, look_up, &l) ? l.found : NULL;
}

/* ---- Paths ---- */

void cel_plan_uncharge(struct cel_node *n)
{
    if (n->op == CEL_OP_PATH)
        n->path.charged = false;
}

struct cel_node *cel_plan_path(struct planner *pl, struct cel_node *operand)
{
    if (operand->op == CEL_OP_PATH)
        return operand;
    struct cel_node *n = new_path(pl, operand->id, CEL_PATH_NODE);
    n->path.base = operand;
    n->path.charged = operand->op != CEL_OP_CHOICE;
    return n;
}

void cel_plan_add_step(struct planner *pl, struct cel_node *path, uint32_t id,
                       struct cel_path_step step)
{
    struct cel_path *p = &path->path;
    unsigned n = p->nsteps;
    if (n % 4 == 0 && (n & (n - 1)) == 0) /* full: room for 4, 8, 16 ... */
        p->steps = arena_more(&pl->run.arena, p->steps, n * sizeof step,
                              (n ? 2 * n : 4) * sizeof step);
    p->steps[p->nsteps++] = step;
    path->id = id;
    if (step.test)
        p->charged = false;
}

static struct cel_node *plan_select(struct planner *pl, const struct cel_ast *ast)
{
    const struct cel_ref *ref = cel_plan_ref(pl, ast->id);
    if (ref != NULL && (ref->name.n != 0 || ref->is_const))
        return plan_resolved(pl, ast->id, ref);
    struct cel_node *named = ref == NULL ? plan_qualified(pl, ast) : NULL;
    if (named != NULL)
        return named;
    struct cel_node *operand = cel_plan(pl, ast->select.operand);
    if (operand == NULL)
        return NULL;
    struct cel_node *path = cel_plan_path(pl, operand);
    struct str field = arena_str(&pl->run.arena, ast->select.field);
    cel_plan_add_step(pl, path, ast->id,
                      (struct cel_path_step){.key = cel_string_marked(field),
                                             .test = ast->select.test});
    return path;
}

enum { SLOT_STEPS = 16 };

/* The first steps of a path as the variable is asked about them: constant texts, up to
 * the first that is optional. */
static unsigned slot_steps(const struct cel_path *p, struct cel_step *out)
{
    unsigned n = 0;
    while (n < p->nsteps && n < SLOT_STEPS) {
        const struct cel_path_step *s = &p->steps[n];
        if (s->node != NULL || s->key.kind != CEL_STRING)
            break;
        out[n++] = (struct cel_step){cel_str(s->key), s->index, s->optional || s->test};
        if (s->optional || s->test)
            break;
    }
    return n;
}

static void note_slot(struct planner *pl, struct cel_program_var *v, int slot)
{
    for (uint32_t i = 0; i < v->nslots; i++)
        if (v->slots[i] == slot)
            return;
    if (v->nslots == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 4;
        int *slots = ARENA_ARRAY(&pl->run.arena, int, v->cap);
        if (v->nslots)
            memcpy(slots, v->slots, v->nslots * sizeof *slots);
        v->slots = slots;
    }
    v->slots[v->nslots++] = slot;
}

/* Lets the variable load as much of the path as it can at once. */
static void use_slot(struct planner *pl, struct cel_path *p)
{
    uint32_t nvars;
    const struct cel_var *var = &cel_env_vars(pl->env, &nvars)[p->var];
    struct cel_program_var *use = &pl->p->vars[p->var];
    struct cel_step steps[SLOT_STEPS];
    unsigned n = slot_steps(p, steps), used = 0;
    int slot = -1;
    if (p->ops != NULL && p->ops->slot != NULL)
        slot = p->ops->slot(var->decl, steps, n, &used);
    if (slot < 0) {
        use->whole = true;
        return;
    }
    note_slot(pl, use, slot);
    p->root = CEL_PATH_SLOT;
    p->slot = slot;
    p->covered = (uint16_t)used;
    if (used != 0) {
        p->covered_optional = p->steps[used - 1].optional;
        p->covered_test = p->steps[used - 1].test;
    }
    p->steps += used;
    p->nsteps = (uint16_t)(p->nsteps - used);
}

static void finish_path(struct planner *pl, struct cel_node *n)
{
    if (n->path.root == CEL_PATH_VARIABLE)
        use_slot(pl, &n->path);
    n->code = cel_path_code(&n->path);
}

/* ---- Literals ---- */

static bool all_const(const struct cel_node *const *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_const(items[i]))
            return false;
    return true;
}

/* An error in a constant literal is a value like others: it fails when evaluated. */
static struct cel_node *fold_literal(struct planner *pl, struct cel_node *n,
                                     uint32_t nitems)
{
    if (!pl->fold || !all_const(n->many.items, nitems))
        return n;
    struct cel_frame f = {.run = &pl->run, .limit = UINT64_MAX, .memory_end = SIZE_MAX};
    return cel_plan_const(pl, n->id, cel_exec(n, &f));
}

static struct cel_node *plan_list(struct planner *pl, const struct cel_ast *ast)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_LIST, ast->id);
    n->many.n = ast->list.n;
    n->many.items = ARENA_ARRAY(&pl->run.arena, const struct cel_node *, ast->list.n);
    for (uint32_t i = 0; i < ast->list.n; i++)
        if ((n->many.items[i] = cel_plan(pl, ast->list.items[i])) == NULL)
            return NULL;
    if (ast->list.optional != NULL) {
        bool *optional = arena_alloc(&pl->run.arena, ast->list.n);
        n->many.optional = memcpy(optional, ast->list.optional, ast->list.n);
    }
    return fold_literal(pl, n, n->many.n);
}

static struct cel_node *plan_map(struct planner *pl, const struct cel_ast *ast)
{
    uint32_t n = ast->map.n;
    struct cel_node *node = cel_plan_node(pl, CEL_OP_MAP, ast->id);
    node->flag = pl->strict_keys;
    node->many.n = n;
    node->many.items = ARENA_ARRAY(&pl->run.arena, const struct cel_node *, 2 * n);
    bool *optional = arena_zalloc(&pl->run.arena, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct cel_ast_entry *e = &ast->map.entries[i];
        if ((node->many.items[2 * i] = cel_plan(pl, e->key)) == NULL ||
            (node->many.items[2 * i + 1] = cel_plan(pl, e->value)) == NULL)
            return NULL;
        optional[i] = e->optional;
        if (e->optional)
            node->many.optional = optional;
    }
    return fold_literal(pl, node, 2 * n);
}

struct type_lookup {
    struct planner *pl;
    struct str found;
};

static bool is_type(void *ctx, struct str name)
{
    struct type_lookup *l = ctx;
    if (cel_message_find(name) == NULL && cel_env_type(l->pl->env, name) == NULL &&
        cel_env_record(l->pl->env, name) == NULL)
        return false;
    l->found = name;
    return true;
}

/* NULL: the name is none of a host's types. */
static const struct cel_type *record_type(struct planner *pl, struct str name)
{
    const struct cel_record_type *r = cel_env_record(pl->env, name);
    if (r == NULL)
        return NULL;
    struct cel_object_type *o = ARENA_NEW(&pl->run.arena, struct cel_object_type);
    *o = r->type;
    o->name = arena_str(&pl->run.arena, name).p;
    return cel_type_object(&pl->run.arena, o);
}

static struct cel_node *plan_struct(struct planner *pl, const struct cel_ast *ast)
{
    struct type_lookup l = {pl, STR_NONE};
    if (!cel_plan_candidates(pl, ast->map.type_name, is_type, &l))
        return cel_plan_fail(pl, "unknown type: %.*s", STR_ARG(ast->map.type_name));
    uint32_t n = ast->map.n;
    struct arena *a = &pl->run.arena;
    struct cel_node *node = cel_plan_node(pl, CEL_OP_STRUCT, ast->id);
    struct str *fields = ARENA_ARRAY(a, struct str, n);
    bool *optional = arena_zalloc(a, n);
    node->many.n = n;
    node->many.items = ARENA_ARRAY(a, const struct cel_node *, n);
    node->many.fields = fields;
    node->many.message = cel_message_find(l.found);
    node->many.record = record_type(pl, l.found);
    node->many.type_name = arena_str(a, l.found);
    for (uint32_t i = 0; i < n; i++) {
        const struct cel_ast_entry *e = &ast->map.entries[i];
        if ((node->many.items[i] = cel_plan(pl, e->value)) == NULL)
            return NULL;
        fields[i] = arena_str(a, e->field);
        optional[i] = e->optional;
        if (e->optional)
            node->many.optional = optional;
    }
    return node;
}

struct cel_node *cel_plan(struct planner *pl, const struct cel_ast *ast)
{
    switch ((enum cel_ast_kind)ast->kind) {
    case CEL_AST_CONST:
        return cel_plan_const(pl, ast->id, cel_dup(ast->constant, &pl->run.arena));
    case CEL_AST_IDENT:
        return plan_ident(pl, ast);
    case CEL_AST_SELECT:
        return plan_select(pl, ast);
    case CEL_AST_CALL:
        return cel_plan_call(pl, ast);
    case CEL_AST_LIST:
        return plan_list(pl, ast);
    case CEL_AST_MAP:
        return plan_map(pl, ast);
    case CEL_AST_STRUCT:
        return plan_struct(pl, ast);
    case CEL_AST_COMPREHENSION:
        return cel_plan_fold(pl, ast);
    }
    return cel_plan_fail(pl, "unsupported expr");
}

/* ---- The whole ---- */

static void planner_init(struct planner *pl, const struct cel_env *env,
                         const struct cel_expr *x, const struct cel_program_opts *opts,
                         struct err *e)
{
    unsigned flags = cel_env_flags(env);
    *pl = (struct planner){
        .env = env,
        .x = x,
        .e = e,
        .fold = (flags & CEL_ENV_FOLD) != 0,
        .strict_keys = (flags & CEL_ENV_STRICT_KEYS) != 0,
        .strict_presence = (flags & CEL_ENV_STRICT_PRESENCE) != 0,
    };
    cel_run_init(&pl->run);
    if (opts->arena)
        pl->run.arena = *opts->arena;
    pl->p = ARENA_NEW(&pl->run.arena, struct cel_program);
    pl->p->track_cost = opts->track_cost;
    cel_env_vars(env, &pl->p->nvars);
    pl->p->vars = ARENA_ARRAY(&pl->run.arena, struct cel_program_var, pl->p->nvars);
}

struct cel_program *cel_program_new(const struct cel_env *env, const struct cel_expr *x,
                                    const struct cel_program_opts *opts, struct err *e)
{
    struct planner pl;
    planner_init(&pl, env, x, opts, e);
    struct cel_program *p = pl.p;
    struct cel_node *root = cel_plan(&pl, x->root);
    for (size_t i = 0; root != NULL && i < pl.paths.n; i++)
        finish_path(&pl, pl.paths.v[i]);
    p->root = root;
    *(opts->arena ? opts->arena : &p->arena) = pl.run.arena;
    p->regexes = pl.regexes.v;
    p->nregexes = (uint32_t)pl.regexes.n;
    if (root != NULL)
        return p;
    err_wrap(e, "program instantiation failed");
    cel_program_free(p);
    return NULL;
}

void cel_program_free(struct cel_program *p)
{
    if (p == NULL)
        return;
    for (uint32_t i = 0; i < p->nregexes; i++)
        cel_regex_free((struct cel_regex *)p->regexes[i]);
    free(p->regexes);
    struct arena a = p->arena;
    arena_fini(&a);
}

uint32_t cel_program_slots(const struct cel_program *p, uint32_t var, int *out,
                           uint32_t max, bool *whole)
{
    const struct cel_program_var *v = &p->vars[var];
    *whole = v->whole;
    for (uint32_t i = 0; i < v->nslots && i < max; i++)
        out[i] = v->slots[i];
    return v->nslots;
}
