/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of calls: operators with code of their own, and functions by their rows. */
#include "cel/cost.h"
#include "cel/planner.h"
#include "cel/regex.h"
#include "cel/std.h"

/* A call whose arguments are planned. */
struct planned {
    const struct cel_ast *ast;
    struct str name;             /* as the environment knows the function */
    const struct cel_decl *decl; /* the only overload possible, or NULL */
    uint8_t special;             /* of the function */
    struct cel_node **args;      /* receiver first */
    uint32_t nargs;
};

static cel_cost_fn *cost_of(const struct planner *pl, const struct planned *c)
{
    return c->decl ? c->decl->cost : cel_env_cost(pl->env, c->name);
}

/* ---- Operators ---- */

static struct cel_node *binary(struct planner *pl, const struct planned *c,
                               enum cel_op op, cel_fn *fn)
{
    struct cel_node *n = cel_plan_node(pl, op, c->ast->id);
    n->op2.a = c->args[0];
    n->op2.b = c->nargs > 1 ? c->args[1] : NULL;
    n->op2.cost = cost_of(pl, c);
    n->op2.fn = fn;
    return n;
}

static uint32_t count_terms(const struct cel_node *n, enum cel_op op)
{
    return n->op == op ? n->many.n : 1;
}

static uint32_t add_terms(const struct cel_node **items, const struct cel_node *n,
                          enum cel_op op)
{
    if (n->op != op) {
        items[0] = n;
        return 1;
    }
    memcpy(items, n->many.items, n->many.n * sizeof *items);
    return n->many.n;
}

/* Nested && (or ||) become one list of terms: the outcome and the costs are the same. */
static struct cel_node *connective(struct planner *pl, const struct planned *c,
                                   enum cel_op op, cel_fn *fn)
{
    struct cel_node *n = cel_plan_node(pl, op, c->ast->id);
    for (uint32_t i = 0; i < c->nargs; i++)
        n->many.n += count_terms(c->args[i], op);
    n->many.items = ARENA_ARRAY(&pl->run.arena, const struct cel_node *, n->many.n);
    uint32_t k = 0;
    for (uint32_t i = 0; i < c->nargs; i++)
        k += add_terms(n->many.items + k, c->args[i], op);
    return n;
}

static struct cel_node *choice(struct planner *pl, const struct planned *c,
                               enum cel_op op, cel_fn *fn)
{
    struct cel_node *n = cel_plan_node(pl, op, c->ast->id);
    n->choice.cond = c->args[0];
    n->choice.yes = c->args[1];
    n->choice.no = c->args[2];
    cel_plan_uncharge(c->args[1]);
    cel_plan_uncharge(c->args[2]);
    return n;
}

static bool is_key(struct cel_value v)
{
    return v.kind >= CEL_BOOL && v.kind <= CEL_STRING;
}

static struct cel_node *add_index(struct planner *pl, const struct planned *c,
                                  bool optional)
{
    struct cel_path_step step = {.optional = optional};
    struct cel_node *key = c->args[1];
    step.index = c->name.n < 2 || c->name.p[1] == '[';
    if (!is_const(key)) {
        cel_plan_uncharge(key);
        step.node = key;
    } else if (is_key(key->value)) {
        step.key = key->value;
    } else {
        return cel_plan_fail(pl, "invalid qualifier type: %s",
                             cel_kind_go_name(key->value));
    }
    struct cel_node *path = cel_plan_path(pl, c->args[0]);
    cel_plan_add_step(pl, path, c->ast->id, step);
    return path;
}

static struct cel_node *index_plain(struct planner *pl, const struct planned *c,
                                    enum cel_op op, cel_fn *fn)
{
    return add_index(pl, c, false);
}

static struct cel_node *index_optional(struct planner *pl, const struct planned *c,
                                       enum cel_op op, cel_fn *fn)
{
    return add_index(pl, c, true);
}

/* ---- x in [constants] ---- */

static bool can_be_in_set(struct cel_value v)
{
    return v.kind >= CEL_BOOL && v.kind <= CEL_STRING;
}

/* A number is in the set as each kind that it can be without loss; an int also as the
 * double next to it, since that is what it is equal to. */
static void add_to_set(struct planner *pl, struct cel_map_builder *b, struct cel_value v)
{
    struct cel_value yes = cel_bool(true);
    cel_map_put(&pl->run, b, v, yes);
    if (v.kind == CEL_INT || v.kind == CEL_UINT) {
        double d = v.kind == CEL_INT ? (double)v.i : (double)v.u;
        cel_map_put(&pl->run, b, cel_double(d), yes);
    } else if (v.kind == CEL_DOUBLE) {
        if (v.d > -0x1p63 && v.d < 0x1p63 && (double)(int64_t)v.d == v.d)
            cel_map_put(&pl->run, b, cel_int((int64_t)v.d), yes);
        if (v.d >= 0 && v.d < 0x1p64 && (double)(uint64_t)v.d == v.d)
            cel_map_put(&pl->run, b, cel_uint((uint64_t)v.d), yes);
    }
}

/* NULL: a list that cannot become a set. */
static const struct cel_map *constant_set(struct planner *pl, struct cel_value list)
{
    for (uint32_t i = 0; i < list.len; i++)
        if (!can_be_in_set(list.items[i]))
            return NULL;
    struct cel_map_builder b = {0};
    for (uint32_t i = 0; i < list.len; i++)
        add_to_set(pl, &b, list.items[i]);
    return cel_map_done(&pl->run, &b).map;
}

static struct cel_node *membership(struct planner *pl, const struct planned *c,
                                   enum cel_op op, cel_fn *fn)
{
    bool in_list = c->decl != NULL && strcmp(c->decl->row->id, "in_list") == 0;
    if (!pl->fold || !in_list || !is_const(c->args[1]) ||
        c->args[1]->value.kind != CEL_LIST)
        return binary(pl, c, op, fn);
    struct cel_value list = c->args[1]->value;
    if (list.len == 0)
        return cel_plan_const(pl, c->ast->id, cel_bool(false));
    const struct cel_map *set = constant_set(pl, list);
    if (set == NULL)
        return binary(pl, c, op, fn);
    struct cel_node *n = cel_plan_node(pl, CEL_OP_IN_SET, c->ast->id);
    n->set.arg = c->args[0];
    n->set.set = set;
    return n;
}

/* ---- Functions by their rows ---- */

static const struct {
    const char *name;
    uint8_t kind;
} opaque_kinds[] = {
    {"optional_type", CEL_OPTIONAL},
    {"kubernetes.Quantity", CEL_QUANTITY},
    {"kubernetes.Semver", CEL_SEMVER},
    {"net.IP", CEL_IP},
    {"net.CIDR", CEL_CIDR},
    {"kubernetes.URL", CEL_URL},
    {"kubernetes.NamedFormat", CEL_FORMAT},
};

static bool is_open(const struct cel_type *t)
{
    return t->kind == CEL_T_DYN || t->kind == CEL_T_ANY || t->kind == CEL_T_PARAM;
}

static struct cel_guard guard_for(const struct cel_type *t)
{
    static const uint8_t kinds[] = {
        [CEL_T_NULL] = CEL_NULL,
        [CEL_T_BOOL] = CEL_BOOL,
        [CEL_T_INT] = CEL_INT,
        [CEL_T_UINT] = CEL_UINT,
        [CEL_T_DOUBLE] = CEL_DOUBLE,
        [CEL_T_STRING] = CEL_STRING,
        [CEL_T_BYTES] = CEL_BYTES,
        [CEL_T_DURATION] = CEL_DURATION,
        [CEL_T_TIMESTAMP] = CEL_TIMESTAMP,
        [CEL_T_TYPE] = CEL_TYPE,
        [CEL_T_LIST] = CEL_LIST,
        [CEL_T_MAP] = CEL_MAP,
    };
    if (is_open(t) || t->kind == CEL_T_ERROR)
        return (struct cel_guard){CEL_KINDS, NULL};
    if (t->kind == CEL_T_LIST)
        return (struct cel_guard){CEL_LIST, is_open(t->params[0]) ? NULL : t};
    if (t->kind == CEL_T_MAP) {
        bool open = is_open(t->params[0]) && is_open(t->params[1]);
        return (struct cel_guard){CEL_MAP, open ? NULL : t};
    }
    if (t->kind < sizeof kinds)
        return (struct cel_guard){kinds[t->kind], NULL};
    for (size_t i = 0;
         t->kind == CEL_T_OPAQUE && i < sizeof opaque_kinds / sizeof *opaque_kinds; i++)
        if (strcmp(t->name, opaque_kinds[i].name) == 0)
            return (struct cel_guard){opaque_kinds[i].kind, NULL};
    return (struct cel_guard){CEL_KINDS, t};
}

static struct cel_target target_for(struct planner *pl, const struct cel_decl *d)
{
    struct cel_target t = {.fn = d->row->fn, .non_strict = d->row->non_strict};
    if (d->row->unguarded)
        return t;
    struct cel_guard *guards = ARENA_ARRAY(&pl->run.arena, struct cel_guard, d->nargs);
    for (uint32_t i = 0; i < d->nargs; i++)
        guards[i] = guard_for(d->args[i]);
    t.guards = guards;
    return t;
}

/* Upstream binds it as a function of any number of arguments. */
static bool is_variadic(const struct cel_decl *d)
{
    return strcmp(d->row->id, "string_format") == 0;
}

/* The rows that a call may mean. Several are tried in turn, which upstream does in a
 * function that stops at the first error among its arguments. */
static void find_targets(struct planner *pl, const struct planned *c,
                         struct cel_call *call)
{
    uint32_t n = 0, bound = 0;
    const struct cel_decl *only = c->decl, *decls = NULL;
    if (only == NULL || only->row->fn == NULL)
        decls = cel_env_function(pl->env, c->name, &n);
    if (only == NULL && n != 0 && decls[0].row->unguarded)
        only = &decls[0];
    call->stops = c->nargs > 2;
    if (only != NULL && only->row->fn != NULL) {
        struct cel_target *t = ARENA_NEW(&pl->run.arena, struct cel_target);
        *t = target_for(pl, only);
        call->targets = t;
        call->ntargets = 1;
        call->stops = call->stops || is_variadic(only);
        return;
    }
    if (n == 0)
        return;
    struct cel_target *targets = ARENA_ARRAY(&pl->run.arena, struct cel_target, n);
    for (uint32_t i = 0; i < n; i++) {
        bound += decls[i].row->fn != NULL;
        if (decls[i].row->fn != NULL && decls[i].nargs == c->nargs)
            targets[call->ntargets++] = target_for(pl, &decls[i]);
    }
    call->targets = targets;
    call->stops = call->stops || bound > 1;
}

static bool converts(struct str function)
{
    static const char *const names[] = {"bool", "bytes", "double", "duration",
                                        "dyn",  "int",   "string", "timestamp",
                                        "type", "uint"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(function, names[i]))
            return true;
    return false;
}

/* quantity("40Gi"), ip("10.0.0.1"), format.uuid(): what it makes depends on nothing else
 * and is small, so once is enough. */
static bool is_lasting(const struct planned *c)
{
    const struct cel_decl *d = c->decl;
    if (d == NULL || d->row->fn == NULL || d->result->kind != CEL_T_OPAQUE ||
        d->result->nparams != 0)
        return false;
    for (uint32_t i = 0; i < c->nargs; i++)
        if (!is_const(c->args[i]) || c->args[i]->value.kind != CEL_STRING)
            return false;
    return true;
}

/* The call as a value with the call's price; an error is left to the evaluation. */
static struct cel_node *priced(struct planner *pl, struct cel_node *call)
{
    struct cel_frame f = {.run = &pl->run, .limit = UINT64_MAX, .memory_end = SIZE_MAX};
    struct cel_value v = cel_exec(call, &f);
    if (v.kind == CEL_ERROR)
        return call;
    struct cel_node *n = cel_plan_node(pl, CEL_OP_PRICED, call->id);
    n->priced.value = v;
    n->priced.cost = f.cost;
    return n;
}

static struct cel_node *function_call(struct planner *pl, const struct planned *c)
{
    struct cel_node *n = cel_plan_node(pl, CEL_OP_CALL, c->ast->id);
    n->call.args = (const struct cel_node *const *)c->args;
    n->call.nargs = c->nargs;
    n->call.function =
        c->decl ? c->decl->row->function : arena_str(&pl->run.arena, c->name).p;
    n->call.cost = cost_of(pl, c);
    find_targets(pl, c, &n->call);
    if (n->call.ntargets == 0 && c->nargs == 0)
        return cel_plan_fail(pl, "no such overload: %.*s()", STR_ARG(c->name));
    if (pl->fold && c->nargs == 1 && is_const(c->args[0]) && converts(c->name))
        return cel_plan_folded(pl, n);
    n->code = cel_call_code(&n->call);
    return is_lasting(c) ? priced(pl, n) : n;
}

/* A constant pattern is compiled once; NULL with the error set if it is none. */
static struct cel_node *with_pattern(struct planner *pl, const struct planned *c)
{
    struct err e = ERR_INIT;
    struct cel_regex *re = cel_regex_new(cel_str(c->args[1]->value), &e);
    if (re == NULL) {
        cel_plan_fail(pl, "%s", err_text(&e));
        err_release(&e);
        return NULL;
    }
    vec_push(&pl->regexes, re);
    struct cel_node *n = function_call(pl, c);
    n->op = CEL_OP_REGEX;
    n->code = cel_codes[CEL_OP_REGEX];
    n->call.regex = re;
    n->call.stops = true;
    return n;
}

static struct cel_node *regex_call(struct planner *pl, const struct planned *c,
                                   enum cel_op op, cel_fn *fn)
{
    bool constant = is_const(c->args[1]) && c->args[1]->value.kind == CEL_STRING;
    return pl->fold && constant ? with_pattern(pl, c) : function_call(pl, c);
}

/* optional.or(): other overloads of these names are ordinary functions. */
static struct cel_node *optional_or(struct planner *pl, const struct planned *c,
                                    enum cel_op op, cel_fn *fn)
{
    if (c->decl != NULL && c->decl->row->fn != NULL)
        return function_call(pl, c);
    return binary(pl, c, op, NULL);
}

typedef struct cel_node *special_fn(struct planner *pl, const struct planned *c,
                                    enum cel_op op, cel_fn *fn);

/* Numbers count from 1. */
static const struct special {
    const char *name;
    uint8_t min, max; /* arguments */
    special_fn *plan;
    enum cel_op op;
    cel_fn *fn;
} specials[] = {
    {"_&&_", 2, 255, connective, CEL_OP_AND, NULL},
    {"_||_", 2, 255, connective, CEL_OP_OR, NULL},
    {"_==_", 2, 2, binary, CEL_OP_EQ, NULL},
    {"_!=_", 2, 2, binary, CEL_OP_NE, NULL},
    {"_[_]", 2, 2, index_plain, CEL_OP_PATH, NULL},
    {"_?_:_", 3, 3, choice, CEL_OP_CHOICE, NULL},
    {"_?._", 2, 2, index_optional, CEL_OP_PATH, NULL},
    {"_[?_]", 2, 2, index_optional, CEL_OP_PATH, NULL},
    {"@in", 2, 2, membership, CEL_OP_IN, cel_std_in},
    {"!_", 1, 1, binary, CEL_OP_NOT, NULL},
    {"@not_strictly_false", 1, 1, binary, CEL_OP_NOT_FALSE, NULL},
    {"__not_strictly_false__", 1, 1, binary, CEL_OP_NOT_FALSE, NULL},
    {"_<_", 2, 2, binary, CEL_OP_LT, cel_std_lt},
    {"_<=_", 2, 2, binary, CEL_OP_LE, cel_std_le},
    {"_>_", 2, 2, binary, CEL_OP_GT, cel_std_gt},
    {"_>=_", 2, 2, binary, CEL_OP_GE, cel_std_ge},
    {"_+_", 2, 2, binary, CEL_OP_ADD, cel_std_add},
    {"_-_", 2, 2, binary, CEL_OP_SUB, cel_std_sub},
    {"contains", 2, 2, binary, CEL_OP_TEXT_TEST, cel_std_contains},
    {"startsWith", 2, 2, binary, CEL_OP_TEXT_TEST, cel_std_starts_with},
    {"endsWith", 2, 2, binary, CEL_OP_TEXT_TEST, cel_std_ends_with},
    {"matches", 2, 2, regex_call, CEL_OP_REGEX, NULL},
    {"find", 2, 2, regex_call, CEL_OP_REGEX, NULL},
    {"findAll", 2, 3, regex_call, CEL_OP_REGEX, NULL},
    {"or", 2, 2, optional_or, CEL_OP_OR_OPTIONAL, NULL},
    {"orValue", 2, 2, optional_or, CEL_OP_OR_VALUE, NULL},
};

uint8_t cel_plan_special(const char *function)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, function) == 0)
            return (uint8_t)(i + 1);
    return 0;
}

static const struct special *find_special(const struct planned *c)
{
    const struct special *s = c->special ? &specials[c->special - 1] : NULL;
    return s && c->nargs >= s->min && c->nargs <= s->max ? s : NULL;
}

/* ---- Which function is meant ---- */

struct function_lookup {
    struct planner *pl;
    struct str found;
};

static bool accept_function(void *ctx, struct str name)
{
    struct function_lookup *l = ctx;
    uint32_t n;
    if (cel_env_function(l->pl->env, name, &n) == NULL)
        return false;
    l->found = name;
    return true;
}

/* Unchecked: a.b.f(x) may be the function "a.b.f" rather than f of a.b. *target says
 * whether there is a receiver. */
static struct str unchecked_name(struct planner *pl, const struct cel_ast *ast,
                                 const struct cel_ast **target)
{
    struct str name = ast->call.function;
    struct function_lookup l = {pl, STR_NONE};
    struct str qualified;
    if (ast->call.target == NULL) {
        if (cel_plan_candidates(pl, name, accept_function, &l))
            return l.found;
        return *name.p == '.' ? str_sub(name, 1, name.n) : name;
    }
    if (cel_plan_qualified_name(pl, ast->call.target, &qualified)) {
        qualified =
            arena_printf(&pl->run.arena, "%.*s.%.*s", STR_ARG(qualified), STR_ARG(name));
        if (cel_plan_candidates(pl, qualified, accept_function, &l)) {
            *target = NULL;
            return l.found;
        }
    }
    return name;
}

static bool plan_args(struct planner *pl, struct planned *c, const struct cel_ast *target)
{
    const struct cel_ast *ast = c->ast;
    c->args = ARENA_ARRAY(&pl->run.arena, struct cel_node *, ast->call.nargs + 1);
    if (target != NULL && (c->args[c->nargs++] = cel_plan(pl, target)) == NULL)
        return false;
    for (uint32_t i = 0; i < ast->call.nargs; i++)
        if ((c->args[c->nargs++] = cel_plan(pl, ast->call.args[i])) == NULL)
            return false;
    return true;
}

struct cel_node *cel_plan_call(struct planner *pl, const struct cel_ast *ast)
{
    struct planned c = {.ast = ast, .name = ast->call.function};
    const struct cel_ast *target = ast->call.target;
    const struct cel_ref *ref = cel_plan_ref(pl, ast->id);
    if (ref == NULL)
        c.name = unchecked_name(pl, ast, &target);
    else if (ref->noverloads == 1)
        c.decl = ref->overloads[0];
    if (ref != NULL && ref->noverloads > 0)
        c.special = ref->overloads[0]->special;
    else
        c.special = cel_plan_special(arena_str(&pl->run.arena, c.name).p);
    if (str_is(c.name, "cel.@block"))
        return cel_plan_block(pl, ast);
    if (!plan_args(pl, &c, target))
        return NULL;
    const struct special *s = find_special(&c);
    return s ? s->plan(pl, &c, s->op, s->fn) : function_call(pl, &c);
}
