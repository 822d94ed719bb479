/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/estimate.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

enum { COST_LIST = 10, COST_MAP = 30, COST_STRUCT = 40, MAX_STEPS = 64 };

uint64_t cel_sat_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t cel_sat_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t cel_sat_scale(uint64_t a, double factor)
{
    double scaled = ceil((double)a * factor);
    return scaled >= 0x1p64 ? UINT64_MAX : (uint64_t)scaled;
}

struct cel_range cel_range_add(struct cel_range a, struct cel_range b)
{
    return (struct cel_range){cel_sat_add(a.min, b.min), cel_sat_add(a.max, b.max)};
}

struct cel_range cel_range_mul(struct cel_range a, struct cel_range b)
{
    return (struct cel_range){cel_sat_mul(a.min, b.min), cel_sat_mul(a.max, b.max)};
}

struct cel_range cel_range_scale(struct cel_range a, double factor)
{
    return (struct cel_range){cel_sat_scale(a.min, factor), cel_sat_scale(a.max, factor)};
}

struct cel_range cel_range_union(struct cel_range a, struct cel_range b)
{
    return (struct cel_range){a.min < b.min ? a.min : b.min,
                              a.max > b.max ? a.max : b.max};
}

/* The way from a variable down to a value; "@items" and the like are marked special. */
struct estimate_path {
    const struct estimate_path *up; /* NULL: the variable itself */
    const struct cel_var *var;
    struct cel_step step;
    uint32_t depth;
    bool asked, sized; /* whether the variable's owner knows a bound */
    bool lost;         /* there were too many steps: nothing is known */
    uint64_t max;
};

/* Sizes of the keys and values of a container; the key of a list is its index. */
struct entry_size {
    bool list;
    struct cel_range key, value;
};

struct node {
    struct estimate_path *path;
    const struct entry_size *entry;
    struct cel_range size;
    bool sized;
};

/* A variable of a comprehension or of cel.bind; innermost first, on the C stack. */
struct local {
    const struct local *up;
    struct str name;
    struct estimate_path *path;
    const struct entry_size *entry;
    struct cel_range size;
    bool sized;
};

struct estimator {
    const struct cel_env *env;
    const struct cel_expr *x;
    struct arena arena;
    struct node *nodes; /* by node id */
    const struct local *locals;
    const struct cel_var *stray; /* that is asked where there is none; NULL */
};

static struct cel_range cost_of(struct estimator *e, const struct cel_ast *x);

/* ---- Types ---- */

static const struct cel_type *type_of(const struct estimator *e, const struct cel_ast *x)
{
    const struct cel_type *t = e->x->types ? e->x->types[x->id] : NULL;
    return t ? t : &cel_type_dyn;
}

static bool is_scalar(const struct cel_type *t)
{
    switch (t->kind) {
    case CEL_T_BOOL:
    case CEL_T_INT:
    case CEL_T_UINT:
    case CEL_T_DOUBLE:
    case CEL_T_DURATION:
    case CEL_T_TIMESTAMP:
        return true;
    default:
        return cel_type_is_optional(t) && t->nparams == 1 && is_scalar(t->params[0]);
    }
}

/* ---- Paths ---- */

/* Of what begins with no variable the first step is left out. */
static struct estimate_path *path_stray(struct estimator *e)
{
    if (!e->stray)
        return NULL;
    struct estimate_path *p = ARENA_NEW(&e->arena, struct estimate_path);
    p->var = e->stray;
    return p;
}

static struct estimate_path *path_below(struct estimator *e, struct estimate_path *up,
                                        struct str key, bool special)
{
    if (!up)
        return path_stray(e);
    struct estimate_path *p = ARENA_NEW(&e->arena, struct estimate_path);
    if (up->lost || up->depth == MAX_STEPS) {
        p->lost = true;
        return p;
    }
    p->up = up;
    p->var = up->var;
    p->step = (struct cel_step){.key = key, .index = special};
    p->depth = up->depth + 1;
    return p;
}

static struct estimate_path *path_root(struct estimator *e, const struct cel_ast *x)
{
    const struct str name =
        e->x->refs && e->x->refs[x->id].name.n ? e->x->refs[x->id].name : x->ident.name;
    const struct cel_var *var = cel_env_var(e->env, name);
    if (!var)
        return path_stray(e);
    if (!var->size)
        return NULL;
    struct estimate_path *p = ARENA_NEW(&e->arena, struct estimate_path);
    p->var = var;
    return p;
}

static void path_ask(struct estimate_path *p)
{
    struct cel_step steps[MAX_STEPS];
    for (const struct estimate_path *q = p; q->up; q = q->up)
        steps[q->depth - 1] = q->step;
    p->sized = p->var->size(p->var->decl, steps, p->depth, &p->max);
    p->asked = true;
}

static bool path_size(struct estimate_path *p, struct cel_range *size)
{
    if (!p || p->lost)
        return false;
    if (!p->asked)
        path_ask(p);
    if (p->sized)
        *size = (struct cel_range){0, p->max};
    return p->sized;
}

/* ---- What is known of a node ---- */

static const struct local *local_find(const struct estimator *e, const struct cel_ast *x)
{
    if (x->kind != CEL_AST_IDENT)
        return NULL;
    const struct local *l = e->locals;
    while (l && !str_eq(l->name, x->ident.name))
        l = l->up;
    return l;
}

static struct estimate_path *path_of(const struct estimator *e, const struct cel_ast *x)
{
    const struct local *l = local_find(e, x);
    return l ? l->path : e->nodes[x->id].path;
}

static bool const_size(struct cel_value v, uint64_t *size)
{
    switch (v.kind) {
    case CEL_STRING:
        *size = utf8_count(cel_str(v));
        return true;
    case CEL_BYTES:
        *size = v.len;
        return true;
    default:
        *size = 1;
        return true;
    }
}

/* Size of a literal as written. */
static bool literal_size(const struct cel_ast *x, struct cel_range *size)
{
    uint64_t n;
    switch (x->kind) {
    case CEL_AST_CONST:
        if (!const_size(x->constant, &n))
            return false;
        break;
    case CEL_AST_LIST:
        n = x->list.n;
        break;
    case CEL_AST_MAP:
        n = x->map.n;
        break;
    default:
        return false;
    }
    *size = cel_range_fixed(n);
    return true;
}

static void set_size(struct estimator *e, const struct cel_ast *x, struct cel_range size)
{
    e->nodes[x->id].size = size;
    e->nodes[x->id].sized = true;
}

/* The order matters: what was computed, what is written, the bound of the path, the type,
 * the loop variable. */
static bool size_of(struct estimator *e, const struct cel_ast *x, struct cel_range *size)
{
    const struct node *node = &e->nodes[x->id];
    if (node->sized) {
        *size = node->size;
        return true;
    }
    if (literal_size(x, size))
        return true;
    if (path_size(path_of(e, x), size)) {
        set_size(e, x, *size);
        return true;
    }
    if (is_scalar(type_of(e, x))) {
        *size = cel_range_fixed(1);
        return true;
    }
    const struct local *l = local_find(e, x);
    if (!l || !l->sized)
        return false;
    *size = l->size;
    return true;
}

static struct cel_range size_or_unknown(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range size;
    return size_of(e, x, &size) ? size : CEL_RANGE_UNKNOWN;
}

static const struct entry_size *entry_of(const struct estimator *e,
                                         const struct cel_ast *x)
{
    if (e->nodes[x->id].entry)
        return e->nodes[x->id].entry;
    const struct local *l = local_find(e, x);
    return l ? l->entry : NULL;
}

static void set_entry(struct estimator *e, const struct cel_ast *x, bool list,
                      struct cel_range key, struct cel_range value)
{
    struct entry_size *s = ARENA_NEW(&e->arena, struct entry_size);
    *s = (struct entry_size){.list = list, .key = key, .value = value};
    e->nodes[x->id].entry = s;
}

/* dst is src under another name. */
static void copy_sizes(struct estimator *e, const struct cel_ast *dst,
                       const struct cel_ast *src)
{
    struct cel_range size;
    if (size_of(e, src, &size))
        set_size(e, dst, size);
    const struct entry_size *entry = entry_of(e, src);
    if (entry)
        e->nodes[dst->id].entry = entry;
}

/* ---- Nodes ---- */

static struct cel_range cost_ident(struct estimator *e, const struct cel_ast *x)
{
    const struct local *l = local_find(e, x);
    e->nodes[x->id].path = l ? l->path : path_root(e, x);
    return cel_range_fixed(1);
}

static struct cel_range cost_select(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cost_of(e, x->select.operand);
    if (x->select.test)
        return cost;
    unsigned kind = type_of(e, x->select.operand)->kind;
    if (kind == CEL_T_MAP || kind == CEL_T_OBJECT || kind == CEL_T_PARAM)
        cost = cel_range_add(cost, cel_range_fixed(1));
    e->nodes[x->id].path =
        path_below(e, path_of(e, x->select.operand), x->select.field, false);
    return cost;
}

static struct cel_range empty_or_inverted(uint32_t n)
{
    return (struct cel_range){n ? UINT64_MAX : 0, 0};
}

static struct cel_range cost_list(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cel_range_fixed(COST_LIST);
    struct cel_range item = empty_or_inverted(x->list.n);
    for (uint32_t i = 0; i < x->list.n; i++) {
        cost = cel_range_add(cost, cost_of(e, x->list.items[i]));
        item = cel_range_union(item, size_or_unknown(e, x->list.items[i]));
    }
    set_entry(e, x, true, cel_range_fixed(1), item);
    return cost;
}

static struct cel_range cost_map(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cel_range_fixed(COST_MAP);
    struct cel_range key = empty_or_inverted(x->map.n), value = key;
    for (uint32_t i = 0; i < x->map.n; i++) {
        const struct cel_ast_entry *entry = &x->map.entries[i];
        cost = cel_range_add(cost, cost_of(e, entry->key));
        cost = cel_range_add(cost, cost_of(e, entry->value));
        key = cel_range_union(key, size_or_unknown(e, entry->key));
        value = cel_range_union(value, size_or_unknown(e, entry->value));
    }
    set_entry(e, x, false, key, value);
    return cost;
}

static struct cel_range cost_struct(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cel_range_fixed(COST_STRUCT);
    for (uint32_t i = 0; i < x->map.n; i++)
        cost = cel_range_add(cost, cost_of(e, x->map.entries[i].value));
    return cost;
}

/* ---- Comprehensions ---- */

static struct local local_of(struct estimator *e, struct str name,
                             const struct cel_ast *x)
{
    struct local l = {
        .up = e->locals, .name = name, .path = path_of(e, x), .entry = entry_of(e, x)};
    l.sized = size_of(e, x, &l.size);
    return l;
}

enum loop_var { LOOP_KEY, LOOP_VALUE, LOOP_SINGLE };

/* A loop variable over a range: the single one of a list walks its items, that of a map
 * its keys. */
static struct local local_loop(struct estimator *e, struct str name,
                               const struct cel_ast *range, enum loop_var which)
{
    const struct entry_size *entry = entry_of(e, range);
    bool list = entry ? entry->list : type_of(e, range)->kind == CEL_T_LIST;
    bool value = which == LOOP_VALUE || (which == LOOP_SINGLE && list);
    const char *step = value  ? (list ? "@items" : "@values")
                       : list ? "@indices"
                              : "@keys";
    struct local l = {.up = e->locals,
                      .name = name,
                      .path = path_below(e, path_of(e, range), str_from(step), true),
                      .sized = entry != NULL};
    if (entry)
        l.size = value ? entry->value : entry->key;
    return l;
}

/* cel.bind(v, e, r) is a comprehension over nothing that never loops. */
static bool is_bind(const struct cel_ast *x)
{
    const struct cel_ast *cond = x->fold.condition;
    return x->fold.range->kind == CEL_AST_LIST && x->fold.range->list.n == 0 &&
           cond->kind == CEL_AST_CONST && cond->constant.kind == CEL_BOOL &&
           !cond->constant.b && !str_is(x->fold.accu_var, "__result__");
}

static struct cel_range cost_bind(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cost_of(e, x->fold.range);
    cost = cel_range_add(cost, cost_of(e, x->fold.init));
    struct local l = local_of(e, x->fold.accu_var, x->fold.init);
    e->locals = &l;
    cost = cel_range_add(cost, cost_of(e, x->fold.result));
    e->locals = l.up;
    copy_sizes(e, x, x->fold.result); /* of the variable itself nothing is known here */
    return cost;
}

/* One round: condition and step with the loop variables in scope. */
static struct cel_range cost_round(struct estimator *e, const struct cel_ast *x)
{
    const struct local *outer = e->locals;
    bool two = x->fold.iter_var2.n != 0;
    struct local first =
        local_loop(e, x->fold.iter_var, x->fold.range, two ? LOOP_KEY : LOOP_SINGLE);
    struct local second;
    if (two)
        second = local_loop(e, x->fold.iter_var2, x->fold.range, LOOP_VALUE);
    e->locals = &first;
    if (two) {
        second.up = &first;
        e->locals = &second;
    }
    struct cel_range cost = cost_of(e, x->fold.condition);
    cost = cel_range_add(cost, cost_of(e, x->fold.step));
    e->locals = outer;
    return cost;
}

/* A result that starts as a list or map has at most the range's entries; one that starts
 * as a scalar stays one. */
static void size_fold(struct estimator *e, const struct cel_ast *x,
                      struct cel_range rounds)
{
    struct cel_range size;
    switch (x->fold.init->kind) {
    case CEL_AST_CONST:
        if (size_of(e, x->fold.init, &size))
            set_size(e, x, size);
        break;
    case CEL_AST_LIST:
    case CEL_AST_MAP:
        set_size(e, x, rounds);
        e->nodes[x->id].entry = entry_of(e, x->fold.step);
        break;
    default:
        break;
    }
}

static struct cel_range cost_fold(struct estimator *e, const struct cel_ast *x)
{
    if (is_bind(x))
        return cost_bind(e, x);
    struct cel_range cost = cost_of(e, x->fold.range);
    cost = cel_range_add(cost, cost_of(e, x->fold.init));
    struct local accu = local_of(e, x->fold.accu_var, x->fold.init);
    e->locals = &accu;
    struct cel_range round = cost_round(e, x);
    cost = cel_range_add(cost, cost_of(e, x->fold.result));
    e->locals = accu.up;
    struct cel_range rounds = size_or_unknown(e, x->fold.range);
    size_fold(e, x, rounds);
    return cel_range_add(cost, cel_range_mul(rounds, round));
}

/* ---- Calls ---- */

static struct cel_operand operand_of(struct estimator *e, const struct cel_ast *x)
{
    struct cel_operand o = {.ast = x, .type = type_of(e, x), .cost = cost_of(e, x)};
    o.path = path_of(e, x);
    o.size = CEL_RANGE_UNKNOWN;
    o.sized = size_of(e, x, &o.size);
    return o;
}

bool cel_estimate_element(struct cel_estimate_call *c, const struct cel_operand *list,
                          const struct cel_type **type, struct cel_range *size)
{
    if (list->type->nparams == 0)
        return false;
    *type = list->type->params[0];
    struct estimate_path *items = path_below(c->est, list->path, STR("@items"), true);
    if (!path_size(items, size))
        *size = CEL_RANGE_UNKNOWN;
    return true;
}

void cel_estimate_join(struct cel_estimate_call *c, const struct cel_operand *a,
                       const struct cel_operand *b)
{
    const struct entry_size *ea = entry_of(c->est, a->ast),
                            *eb = entry_of(c->est, b->ast);
    if (ea && eb)
        set_entry(c->est, c->ast, ea->list, cel_range_union(ea->key, eb->key),
                  cel_range_union(ea->value, eb->value));
}

void cel_estimate_entry(struct cel_estimate_call *c, const struct cel_operand *of,
                        const char *step)
{
    const struct entry_size *entry = entry_of(c->est, of->ast);
    c->entry = true;
    c->sized = entry != NULL;
    if (entry)
        c->size = entry->value;
    c->est->nodes[c->ast->id].path =
        path_below(c->est, path_of(c->est, of->ast), str_from(step), true);
}

static struct cel_range cost_overload(struct cel_estimate_call *c,
                                      const struct cel_decl *decl, struct cel_range args)
{
    const struct cel_estimate_row *row = decl->estimate;
    struct cel_range cost;
    if (!row || !row->fn(c, &cost))
        return cel_range_add(cel_range_fixed(1), args);
    return row->whole ? cost : cel_range_add(cost, args);
}

/* The cost covers every overload that is left, so does the size of the result. */
static struct cel_range cost_overloads(struct cel_estimate_call *c,
                                       const struct cel_ref *ref)
{
    struct cel_range args = {0, 0}, cost = {UINT64_MAX, 0}, size = {0, 0};
    bool sized = false;
    for (uint32_t i = 0; i < c->nargs; i++)
        args = cel_range_add(args, c->args[i].cost);
    for (uint32_t i = 0; i < ref->noverloads; i++) {
        c->sized = c->entry = false;
        cost = cel_range_union(cost, cost_overload(c, ref->overloads[i], args));
        if (c->entry)
            sized = false;
        if (c->sized) {
            size = sized ? cel_range_union(size, c->size) : c->size;
            sized = true;
        }
        if (!sized)
            sized = size_of(c->est, c->ast, &size);
    }
    if (sized)
        set_size(c->est, c->ast, size);
    return cost;
}

static struct cel_range cost_dyn(struct estimator *e, const struct cel_ast *x)
{
    struct cel_range cost = cost_of(e, x->call.args[0]);
    copy_sizes(e, x, x->call.args[0]);
    return cel_range_add(cel_range_fixed(1), cost);
}

enum { FEW_ARGS = 8 };

static struct cel_range cost_call(struct estimator *e, const struct cel_ast *x)
{
    if (x->call.nargs == 1 && !x->call.target && str_is(x->call.function, "dyn"))
        return cost_dyn(e, x);
    struct cel_operand few[FEW_ARGS], *args = few;
    if (x->call.nargs > FEW_ARGS)
        args = ARENA_ARRAY(&e->arena, struct cel_operand, x->call.nargs);
    for (uint32_t i = 0; i < x->call.nargs; i++)
        args[i] = operand_of(e, x->call.args[i]);
    const struct cel_ref *ref = &e->x->refs[x->id];
    if (ref->noverloads == 0)
        return cel_range_fixed(0);
    struct cel_estimate_call call = {
        .est = e, .ast = x, .args = args, .nargs = x->call.nargs};
    struct cel_operand target;
    struct cel_range cost = {0, 0};
    if (x->call.target) {
        target = operand_of(e, x->call.target);
        call.target = &target;
        cost = target.cost;
    }
    return cel_range_add(cost, cost_overloads(&call, ref));
}

static struct cel_range cost_const(struct estimator *e, const struct cel_ast *x)
{
    return cel_range_fixed(0);
}

typedef struct cel_range cost_fn(struct estimator *e, const struct cel_ast *x);

static cost_fn *const by_kind[] = {
    [CEL_AST_CONST] = cost_const,   [CEL_AST_IDENT] = cost_ident,
    [CEL_AST_SELECT] = cost_select, [CEL_AST_CALL] = cost_call,
    [CEL_AST_LIST] = cost_list,     [CEL_AST_MAP] = cost_map,
    [CEL_AST_STRUCT] = cost_struct, [CEL_AST_COMPREHENSION] = cost_fold,
};

static struct cel_range cost_of(struct estimator *e, const struct cel_ast *x)
{
    return by_kind[x->kind](e, x);
}

struct cel_range cel_estimate(const struct cel_env *env, const struct cel_expr *x)
{
    struct estimator e = {.env = env, .x = x};
    arena_init(&e.arena);
    e.nodes = ARENA_ARRAY(&e.arena, struct node, (size_t)x->nids + 1);
    uint32_t nvars;
    const struct cel_var *vars = cel_env_vars(env, &nvars);
    for (uint32_t i = 0; i < nvars && !e.stray; i++)
        e.stray = vars[i].stray ? &vars[i] : NULL;
    struct cel_range cost = cost_of(&e, x->root);
    arena_fini(&e.arena);
    return cost;
}
