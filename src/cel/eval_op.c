/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators and calls. Operators have short ways for the kinds they mostly meet and leave
 * the rest to the function of their row. Both operands are evaluated, and the call is
 * charged, even if the left one is an error.
 */
#include "cel/cost.h"
#include "cel/eval.h"
#include "cel/lib.h"
#include "cel/regex.h"
#include "cel/std.h"

struct operands {
    struct cel_value v[2];
};

/* False when the evaluation is over; then v[0] is the result. */
static inline bool load_operands(const struct cel_node *n, struct cel_frame *f,
                                 struct operands *o)
{
    o->v[0] = cel_exec(n->op2.a, f);
    if (cel_is_fatal(o->v[0]))
        return false;
    o->v[1] = cel_exec(n->op2.b, f);
    if (!cel_is_fatal(o->v[1]))
        return true;
    o->v[0] = o->v[1];
    return false;
}

static struct cel_value first_error(const struct operands *o)
{
    return o->v[0].kind == CEL_ERROR ? o->v[0] : o->v[1];
}

static inline bool has_error(const struct operands *o)
{
    return o->v[0].kind == CEL_ERROR || o->v[1].kind == CEL_ERROR;
}

static inline struct cel_value charge_row(const struct cel_node *n, struct cel_frame *f,
                                          const struct operands *o,
                                          struct cel_value result)
{
    uint64_t cost = n->op2.cost ? n->op2.cost(o->v, 2, result) : 1;
    return cel_charge(f, cost, result);
}

/* The way of the function itself. */
static struct cel_value slow(const struct cel_node *n, struct cel_frame *f,
                             const struct operands *o)
{
    struct cel_value v = has_error(o) ? first_error(o) : n->op2.fn(f->run, o->v, 2);
    return charge_row(n, f, o, v);
}

/* ---- Equality ---- */

static inline struct cel_value equal(struct cel_frame *f, const struct operands *o)
{
    struct cel_value a = o->v[0], b = o->v[1];
    if (a.kind == b.kind) {
        if (a.kind == CEL_STRING)
            return cel_bool(a.len == b.len && memcmp(a.s, b.s, a.len) == 0);
        if (a.kind == CEL_INT)
            return cel_bool(a.i == b.i);
        if (a.kind == CEL_BOOL)
            return cel_bool(a.b == b.b);
    }
    return cel_equal(f->run, a, b);
}

struct cel_value cel_code_eq(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    if (!load_operands(n, f, &o))
        return o.v[0];
    struct cel_value v = equal(f, &o);
    return cel_charge(f, cel_cost_equal(o.v[0], o.v[1]), v);
}

/* An == that fails is a != that holds, unless an operand is an error. */
struct cel_value cel_code_ne(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    if (!load_operands(n, f, &o))
        return o.v[0];
    struct cel_value v;
    if (has_error(&o)) {
        v = first_error(&o);
    } else {
        v = equal(f, &o);
        v = cel_bool(v.kind != CEL_BOOL || !v.b);
    }
    return cel_charge(f, cel_cost_smaller(o.v[0], o.v[1]), v);
}

/* ---- Order and arithmetic ---- */

#define COMPARISON(name, op)                                                             \
    struct cel_value cel_code_##name(const struct cel_node *n, struct cel_frame *f)      \
    {                                                                                    \
        struct operands o;                                                               \
        if (!load_operands(n, f, &o))                                                    \
            return o.v[0];                                                               \
        if (o.v[0].kind == CEL_INT && o.v[1].kind == CEL_INT)                            \
            return cel_charge(f, 1, cel_bool(o.v[0].i op o.v[1].i));                     \
        return slow(n, f, &o);                                                           \
    }

COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

struct cel_value cel_code_add(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    int64_t sum;
    if (!load_operands(n, f, &o))
        return o.v[0];
    if (o.v[0].kind == CEL_INT && o.v[1].kind == CEL_INT &&
        !__builtin_add_overflow(o.v[0].i, o.v[1].i, &sum))
        return cel_charge(f, 1, cel_int(sum));
    return slow(n, f, &o);
}

struct cel_value cel_code_sub(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    int64_t difference;
    if (!load_operands(n, f, &o))
        return o.v[0];
    if (o.v[0].kind == CEL_INT && o.v[1].kind == CEL_INT &&
        !__builtin_sub_overflow(o.v[0].i, o.v[1].i, &difference))
        return cel_charge(f, 1, cel_int(difference));
    return slow(n, f, &o);
}

struct cel_value cel_code_not(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->op2.a, f);
    if (v.kind == CEL_BOOL)
        v.b = !v.b;
    else if (v.kind != CEL_ERROR)
        v = cel_no_overload(f->run);
    else if (cel_is_fatal(v))
        return v;
    return cel_charge(f, 1, v);
}

struct cel_value cel_code_not_false(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->op2.a, f);
    if (cel_is_fatal(v))
        return v;
    return cel_charge(f, 1, v.kind == CEL_BOOL ? v : cel_bool(true));
}

/* ---- Membership and tests on text ---- */

struct cel_value cel_code_in(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    if (!load_operands(n, f, &o))
        return o.v[0];
    return slow(n, f, &o);
}

/* `x in [constants]`; costs nothing itself. */
struct cel_value cel_code_in_set(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->set.arg, f);
    if (v.kind == CEL_ERROR)
        return v;
    return cel_bool(cel_map_find(n->set.set, v) != NULL);
}

struct cel_value cel_code_text_test(const struct cel_node *n, struct cel_frame *f)
{
    struct operands o;
    if (!load_operands(n, f, &o))
        return o.v[0];
    return slow(n, f, &o);
}

/* ---- Calls ---- */

static bool deep_fits(const struct cel_type *t, struct cel_value v);

static bool entries_fit(const struct cel_type *t, const struct cel_map *m)
{
    return m->n == 0 || (deep_fits(t->params[0], m->entries[0].key) &&
                         deep_fits(t->params[1], m->entries[0].value));
}

/* Upstream's test of a value against a declared type: by the name of the type, and of a
 * list or map by its first entry. */
static bool deep_fits(const struct cel_type *t, struct cel_value v)
{
    switch (t->kind) {
    case CEL_T_DYN:
    case CEL_T_ANY:
    case CEL_T_PARAM:
    case CEL_T_ERROR:
        return true;
    case CEL_T_LIST:
        return v.kind == CEL_LIST && (v.len == 0 || deep_fits(t->params[0], v.items[0]));
    case CEL_T_MAP:
        return v.kind == CEL_MAP && entries_fit(t, v.map);
    case CEL_T_WRAPPER:
        return deep_fits(t->params[0], v);
    default:
        return strcmp(cel_type_name(t), cel_kind_name(v)) == 0;
    }
}

bool cel_target_fits(const struct cel_target *t, const struct cel_value *args, unsigned n)
{
    if (t->guards == NULL)
        return true;
    for (unsigned i = 0; i < n; i++) {
        const struct cel_guard *g = &t->guards[i];
        if (args[i].kind == CEL_ERROR && t->non_strict)
            continue;
        if (g->kind != args[i].kind && g->kind != CEL_KINDS)
            return false;
        if (g->deep != NULL && !deep_fits(g->deep, args[i]))
            return false;
    }
    return true;
}

/* "no such overload: f(int, string)", or the error among the arguments. */
static struct cel_value no_target(const struct cel_call *c, struct cel_frame *f,
                                  const struct cel_value *args)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < c->nargs; i++) {
        if (args[i].kind == CEL_ERROR) {
            strbuf_release(&b);
            return args[i];
        }
        strbuf_addf(&b, "%s%s", i ? ", " : "", cel_kind_name(args[i]));
    }
    struct cel_value e =
        cel_errorf(f->run, "no such overload: %s(%s)", c->function, strbuf_cstr(&b));
    strbuf_release(&b);
    return e;
}

static struct cel_value dispatch(const struct cel_call *c, struct cel_frame *f,
                                 const struct cel_value *args)
{
    for (uint32_t i = 0; i < c->ntargets; i++)
        if (cel_target_fits(&c->targets[i], args, c->nargs))
            return c->targets[i].fn(f->run, args, c->nargs);
    return no_target(c, f, args);
}

static bool takes_errors(const struct cel_call *c)
{
    return c->ntargets != 0 && c->targets[0].non_strict;
}

/* Evaluates the arguments. *error is the first error among them, or unset; false if the
 * call is over (and free) with it. */
static inline bool load_args(const struct cel_call *c, struct cel_frame *f,
                             struct cel_value *args, struct cel_value *error)
{
    error->kind = CEL_UNSET;
    for (uint32_t i = 0; i < c->nargs; i++) {
        args[i] = cel_exec(c->args[i], f);
        if (args[i].kind != CEL_ERROR || takes_errors(c))
            continue;
        bool last = i + 1 == c->nargs;
        if (cel_is_fatal(args[i]) || (c->stops && !last)) {
            *error = args[i];
            return false;
        }
        if (error->kind == CEL_UNSET)
            *error = args[i];
    }
    return true;
}

enum { ARGS_ON_STACK = 6 };

static struct cel_value call(const struct cel_call *c, struct cel_frame *f,
                             struct cel_value *args)
{
    struct cel_value v;
    if (!load_args(c, f, args, &v))
        return v;
    if (v.kind == CEL_UNSET)
        v = dispatch(c, f, args);
    return cel_charge(f, c->cost ? c->cost(args, c->nargs, v) : 1, v);
}

struct cel_value cel_code_call(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value args[ARGS_ON_STACK];
    if (n->call.nargs <= ARGS_ON_STACK)
        return call(&n->call, f, args);
    return call(&n->call, f, arena_alloc(&f->run->arena, n->call.nargs * sizeof *args));
}

/* ---- Patterns compiled at plan time ---- */

static struct cel_value apply_regex(const struct cel_call *c, struct cel_frame *f,
                                    const struct cel_value *args)
{
    if (args[0].kind != CEL_STRING)
        return cel_no_overload(f->run);
    if (strcmp(c->function, "matches") == 0)
        return cel_bool(cel_regex_match(c->regex, cel_str(args[0])));
    if (strcmp(c->function, "find") == 0)
        return cel_regex_find_value(f->run, c->regex, args[0]);
    if (c->nargs == 3 && args[2].kind != CEL_INT)
        return cel_no_overload(f->run);
    int64_t limit = c->nargs == 3 ? args[2].i : -1;
    return cel_regex_find_all_value(f->run, c->regex, args[0], limit);
}

struct cel_value cel_code_regex(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value args[3], v;
    if (!load_args(&n->call, f, args, &v))
        return v;
    if (v.kind == CEL_UNSET)
        v = apply_regex(&n->call, f, args);
    return cel_charge(f, n->call.cost ? n->call.cost(args, n->call.nargs, v) : 1, v);
}
