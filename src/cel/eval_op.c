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

/* The way of the function itself. Out of line and by value, as equal_slow: so the short
 * ways keep their operands in registers. */
static __attribute__((noinline)) struct cel_value slow(const struct cel_node *n,
                                                       struct cel_frame *f,
                                                       struct cel_value a,
                                                       struct cel_value b)
{
    struct cel_value args[2] = {a, b}, v;
    if (a.kind == CEL_ERROR || b.kind == CEL_ERROR)
        v = a.kind == CEL_ERROR ? a : b;
    else
        v = n->op2.fn(f->run, args, 2);
    return cel_charge_made(f, n->op2.cost ? n->op2.cost(args, 2, v) : 1, v);
}

/* ---- Equality ---- */

static inline uint64_t word_at(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static inline uint32_t half_at(const char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Texts of one length, most of them short: two words that may overlap decide. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    if (n < 4 || n > 16)
        return memcmp(a, b, n) == 0;
    if (n < 8)
        return half_at(a) == half_at(b) && half_at(a + n - 4) == half_at(b + n - 4);
    return ((word_at(a) ^ word_at(b)) | (word_at(a + n - 8) ^ word_at(b + n - 8))) == 0;
}

/* An == that fails is a != that holds, unless an operand is an error. */
static __attribute__((noinline)) struct cel_value equal_slow(const struct cel_node *n,
                                                             struct cel_frame *f,
                                                             struct cel_value a,
                                                             struct cel_value b)
{
    bool negate = n->op == CEL_OP_NE;
    struct cel_value v = cel_equal(f->run, a, b);
    if (negate && a.kind != CEL_ERROR && b.kind != CEL_ERROR)
        v = cel_bool(v.kind != CEL_BOOL || !v.b);
    return cel_charge(f, negate ? cel_cost_smaller(a, b) : cel_cost_equal(a, b), v);
}

static inline __attribute__((always_inline)) struct cel_value
equality(const struct cel_node *n, struct cel_frame *f, bool negate)
{
    struct cel_value a = cel_exec(n->op2.a, f);
    if (__builtin_expect(cel_is_fatal(a), 0))
        return a;
    struct cel_value b = cel_exec(n->op2.b, f);
    if (a.kind == CEL_STRING && b.kind == CEL_STRING &&
        (a.aux & b.aux & CEL_STRING_ASCII)) {
        uint32_t len = a.len < b.len ? a.len : b.len;
        bool same = cel_text_may_equal(a, b) && same_bytes(a.s, b.s, len);
        return cel_charge(f, cel_cost_tenth(len), cel_bool(same != negate));
    }
    if (a.kind == CEL_INT && b.kind == CEL_INT)
        return cel_charge(f, 1, cel_bool((a.i == b.i) != negate));
    return cel_is_fatal(b) ? b : equal_slow(n, f, a, b);
}

struct cel_value cel_code_eq(const struct cel_node *n, struct cel_frame *f)
{
    return equality(n, f, false);
}

struct cel_value cel_code_ne(const struct cel_node *n, struct cel_frame *f)
{
    return equality(n, f, true);
}

/* ---- Order and arithmetic ---- */

/* Evaluates both operands; leaves if the evaluation is over. */
#define LOAD_OPERANDS(n, f, a, b)                                                        \
    struct cel_value a = cel_exec((n)->op2.a, f);                                        \
    if (__builtin_expect(cel_is_fatal(a), 0))                                            \
        return a;                                                                        \
    struct cel_value b = cel_exec((n)->op2.b, f);                                        \
    if (__builtin_expect(cel_is_fatal(b), 0))                                            \
    return b

#define COMPARISON(name, op)                                                             \
    struct cel_value cel_code_##name(const struct cel_node *n, struct cel_frame *f)      \
    {                                                                                    \
        LOAD_OPERANDS(n, f, a, b);                                                       \
        if (a.kind == CEL_INT && b.kind == CEL_INT)                                      \
            return cel_charge(f, 1, cel_bool(a.i op b.i));                               \
        return slow(n, f, a, b);                                                         \
    }

COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

struct cel_value cel_code_add(const struct cel_node *n, struct cel_frame *f)
{
    int64_t sum;
    LOAD_OPERANDS(n, f, a, b);
    if (a.kind == CEL_INT && b.kind == CEL_INT && !__builtin_add_overflow(a.i, b.i, &sum))
        return cel_charge(f, 1, cel_int(sum));
    return slow(n, f, a, b);
}

struct cel_value cel_code_sub(const struct cel_node *n, struct cel_frame *f)
{
    int64_t difference;
    LOAD_OPERANDS(n, f, a, b);
    if (a.kind == CEL_INT && b.kind == CEL_INT &&
        !__builtin_sub_overflow(a.i, b.i, &difference))
        return cel_charge(f, 1, cel_int(difference));
    return slow(n, f, a, b);
}

struct cel_value cel_code_not(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->op2.a, f);
    if (v.kind == CEL_BOOL)
        return cel_charge(f, 1, cel_bool(!v.b));
    if (cel_is_fatal(v))
        return v;
    return cel_charge(f, 1, v.kind == CEL_ERROR ? v : cel_no_overload(f->run));
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
    LOAD_OPERANDS(n, f, a, b);
    return slow(n, f, a, b);
}

static inline bool is_one_of(const struct cel_map *set, struct cel_value text)
{
    for (uint32_t i = 0; i < set->n; i++) {
        struct cel_value key = set->entries[i].key;
        if (key.len == text.len && key.kind == CEL_STRING &&
            same_bytes(key.s, text.s, text.len))
            return true;
    }
    return false;
}

/* `x in [constants]`; costs nothing itself. */
struct cel_value cel_code_in_set(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value v = cel_exec(n->set.arg, f);
    if (v.kind == CEL_STRING && n->set.set->slots == NULL)
        return cel_bool(is_one_of(n->set.set, v));
    if (v.kind == CEL_ERROR)
        return v;
    return cel_bool(cel_map_find(n->set.set, v) != NULL);
}

/* contains, startsWith, endsWith */
struct cel_value cel_code_text_test(const struct cel_node *n, struct cel_frame *f)
{
    LOAD_OPERANDS(n, f, a, b);
    return slow(n, f, a, b);
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

/* Whether the values fit the guards of a target. */
static bool cel_target_fits(const struct cel_target *t, const struct cel_value *args,
                            unsigned n)
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
        strbuf_addf(&b, "%s%s", i ? ", " : "(", cel_kind_name(args[i]));
    }
    strbuf_addc(&b, ')');
    struct cel_value e = cel_errorf(f->run, "no such overload: %s%s", c->function,
                                    c->targets ? strbuf_cstr(&b) : "");
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

static inline struct cel_value call(const struct cel_call *c, struct cel_frame *f,
                                    struct cel_value *args)
{
    struct cel_value v;
    if (!load_args(c, f, args, &v))
        return v;
    if (v.kind == CEL_UNSET)
        v = c->ntargets == 1 && c->targets->guards == NULL
                ? c->targets->fn(f->run, args, c->nargs)
                : dispatch(c, f, args);
    return cel_charge_made(f, c->cost ? c->cost(args, c->nargs, v) : 1, v);
}

struct cel_value cel_code_call(const struct cel_node *n, struct cel_frame *f)
{
    struct cel_value args[ARGS_ON_STACK];
    if (n->call.nargs <= ARGS_ON_STACK)
        return call(&n->call, f, args);
    return call(&n->call, f, arena_alloc(&f->run->arena, n->call.nargs * sizeof *args));
}

static bool is_call_of_two(const struct cel_call *c)
{
    if (c->ntargets != 1 || c->nargs != 2 || c->stops || takes_errors(c) ||
        c->targets->guards == NULL)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (c->targets->guards[i].kind >= CEL_KINDS || c->targets->guards[i].deep)
            return false;
    return true;
}

/* One target with two arguments whose kinds decide, as all comparisons of the libraries
 * have it. */
static struct cel_value code_call_of_two(const struct cel_node *n, struct cel_frame *f)
{
    const struct cel_call *c = &n->call;
    const struct cel_target *t = c->targets;
    struct cel_value args[2], v;
    args[0] = cel_exec(c->args[0], f);
    if (__builtin_expect(cel_is_fatal(args[0]), 0))
        return args[0];
    args[1] = cel_exec(c->args[1], f);
    if (__builtin_expect(cel_is_fatal(args[1]), 0))
        return args[1];
    bool fits = args[0].kind == t->guards[0].kind && args[1].kind == t->guards[1].kind;
    v = __builtin_expect(fits, 1) ? t->fn(f->run, args, 2) : no_target(c, f, args);
    return cel_charge_made(f, c->cost ? c->cost(args, 2, v) : 1, v);
}

cel_code *cel_call_code(const struct cel_call *c)
{
    return is_call_of_two(c) ? code_call_of_two : cel_code_call;
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
    struct cel_value args[3] = {0}, v;
    if (!load_args(&n->call, f, args, &v))
        return v;
    if (v.kind == CEL_UNSET)
        v = apply_regex(&n->call, f, args);
    return cel_charge_made(f, n->call.cost ? n->call.cost(args, n->call.nargs, v) : 1, v);
}
