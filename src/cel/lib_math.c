/* SPDX-License-Identifier: Apache-2.0 */
/* cel-go's math extension, version 2. */
#include <math.h>

#include "cel/lib.h"
#include "cel/parser.h"

/* ---- least and greatest ---- */

/* order: as which the better one compares with the other: -1 least, 1 greatest. */
static struct cel_value better(struct cel_run *run, struct cel_value a,
                               struct cel_value b, int order, const char *name)
{
    struct cel_value c = cel_compare(run, a, b);
    if (cel_is_error(c))
        return cel_errorf(run, "%.*s: %s", STR_ARG(c.error->text), name);
    return c.i == -order ? b : a;
}

static bool is_number(struct cel_value v)
{
    return v.kind == CEL_INT || v.kind == CEL_UINT || v.kind == CEL_DOUBLE;
}

static struct cel_value best(struct cel_run *run, struct cel_value list, int order,
                             const char *name)
{
    if (list.len == 0)
        return cel_errorf(run, "%s(list) argument must not be empty", name);
    struct cel_value v = list.items[0];
    for (uint32_t i = 1; i < list.len && is_number(v); i++)
        v = better(run, v, list.items[i], order, name);
    return is_number(v) ? v : cel_errorf(run, "no such overload: %s", name);
}

static struct cel_value identity(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return a[0];
}

static struct cel_value min_pair(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return better(run, a[0], a[1], -1, "math.@min");
}

static struct cel_value max_pair(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return better(run, a[0], a[1], 1, "math.@max");
}

static struct cel_value min_list(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return best(run, a[0], -1, "math.@min");
}

static struct cel_value max_list(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return best(run, a[0], 1, "math.@max");
}

/* ---- Doubles ---- */

#define DOUBLE_FUNCTION(name_, result)                                                   \
    static struct cel_value name_##_double(struct cel_run *run,                          \
                                           const struct cel_value *a, unsigned n)        \
    {                                                                                    \
        return result;                                                                   \
    }

DOUBLE_FUNCTION(ceil, cel_double(ceil(a[0].d)))
DOUBLE_FUNCTION(floor, cel_double(floor(a[0].d)))
DOUBLE_FUNCTION(round, cel_double(round(a[0].d)))
DOUBLE_FUNCTION(trunc, cel_double(trunc(a[0].d)))
DOUBLE_FUNCTION(is_inf, cel_bool(isinf(a[0].d)))
DOUBLE_FUNCTION(is_nan, cel_bool(isnan(a[0].d)))
DOUBLE_FUNCTION(is_finite, cel_bool(isfinite(a[0].d)))
DOUBLE_FUNCTION(abs, cel_double(fabs(a[0].d)))
DOUBLE_FUNCTION(sqrt, cel_double(sqrt(a[0].d)))

static struct cel_value sign_double(struct cel_run *run, const struct cel_value *a,
                                    unsigned n)
{
    double d = a[0].d;
    return isnan(d) ? a[0] : cel_double((d > 0) - (d < 0));
}

/* ---- Whole numbers ---- */

static struct cel_value abs_int(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    if (a[0].i == INT64_MIN)
        return CEL_ERROR_CONST("integer overflow");
    return cel_int(a[0].i < 0 ? -a[0].i : a[0].i);
}

static struct cel_value sign_int(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_int((a[0].i > 0) - (a[0].i < 0));
}

static struct cel_value sign_uint(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    return cel_uint(a[0].u > 0);
}

static struct cel_value sqrt_int(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_double(sqrt((double)a[0].i));
}

static struct cel_value sqrt_uint(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    return cel_double(sqrt((double)a[0].u));
}

/* ---- Bits: the same for int and uint ---- */

#define BIT_FUNCTION(name_, result)                                                      \
    static struct cel_value name_(struct cel_run *run, const struct cel_value *a,        \
                                  unsigned n)                                            \
    {                                                                                    \
        struct cel_value v = a[0];                                                       \
        v.u = result;                                                                    \
        return v;                                                                        \
    }

BIT_FUNCTION(bit_and, a[0].u &a[1].u)
BIT_FUNCTION(bit_or, a[0].u | a[1].u)
BIT_FUNCTION(bit_xor, a[0].u ^ a[1].u)
BIT_FUNCTION(bit_not, ~a[0].u)

static struct cel_value shift(struct cel_run *run, const struct cel_value *a, bool left)
{
    struct cel_value v = a[0];
    if (a[1].i < 0)
        return cel_errorf(run, "math.bitShift%s() negative offset: %lld",
                          left ? "Left" : "Right", (long long)a[1].i);
    if (a[1].i >= 64)
        v.u = 0;
    else
        v.u = left ? v.u << a[1].i : v.u >> a[1].i;
    return v;
}

static struct cel_value bit_shift_left(struct cel_run *run, const struct cel_value *a,
                                       unsigned n)
{
    return shift(run, a, true);
}

static struct cel_value bit_shift_right(struct cel_run *run, const struct cel_value *a,
                                        unsigned n)
{
    return shift(run, a, false);
}

/* ---- Macros: math.least(...) and math.greatest(...) of any number of arguments ---- */

static bool may_be_number(const struct cel_ast *node)
{
    switch (node->kind) {
    case CEL_AST_CONST:
        return is_number(node->constant);
    case CEL_AST_LIST:
    case CEL_AST_MAP:
    case CEL_AST_STRUCT:
        return false;
    default:
        return true;
    }
}

static bool is_list_of_numbers(const struct cel_ast *node)
{
    if (node->kind != CEL_AST_LIST || node->list.n == 0)
        return false;
    for (uint32_t i = 0; i < node->list.n; i++)
        if (!may_be_number(node->list.items[i]))
            return false;
    return true;
}

static struct cel_ast *expand(struct cel_parser *p, struct cel_ast *call, bool *failed,
                              const char *name, const char *function)
{
    struct cel_ast **args = call->call.args;
    uint32_t n = call->call.nargs;
    if (n == 0)
        return cel_macro_error(p, call->call.target, failed,
                               "%s() requires at least one argument", name);
    if (n == 1 && !is_list_of_numbers(args[0]) && !may_be_number(args[0]))
        return cel_macro_error(p, args[0], failed, "%s() invalid single argument value",
                               name);
    for (uint32_t i = 0; i < n && n > 1; i++)
        if (!may_be_number(args[i]))
            return cel_macro_error(p, args[i], failed,
                                   "%s() simple literal arguments must be numeric", name);
    if (n <= 2)
        return cel_ast_call(p, call->pos, str_from(function), NULL, args, n);
    struct cel_ast *list = cel_ast_list(p, call->pos, args, n);
    return cel_ast_call(p, call->pos, str_from(function), NULL, &list, 1);
}

static struct cel_ast *expand_least(struct cel_parser *p, struct cel_ast *call,
                                    bool *failed)
{
    return expand(p, call, failed, "math.least", "math.@min");
}

static struct cel_ast *expand_greatest(struct cel_parser *p, struct cel_ast *call,
                                       bool *failed)
{
    return expand(p, call, failed, "math.greatest", "math.@max");
}

static const struct cel_macro macros[] = {
    {"least", true, -1, "math", 0, 0, expand_least},
    {"greatest", true, -1, "math", 0, 0, expand_greatest},
};

/* ---- The tables ---- */

#define F1(name, of, result, fn_)                                                        \
    CEL_GLOBAL("math_" name "_" of, "math." name, "(" of ") -> " result, 0, fn_)
#define F2(name, a, b, result, fn_)                                                      \
    CEL_GLOBAL("math_" name "_" a "_" b, "math." name, "(" a ", " b ") -> " result, 0,   \
               fn_)
#define LIST(name, of, fn_)                                                              \
    CEL_GLOBAL("math_" name "_list_" of, "math." name, "(list(" of ")) -> " of, 0, fn_)

#define EXTREME(name, pair, list)                                                        \
    F1(name, "double", "double", identity), F1(name, "int", "int", identity),            \
        F1(name, "uint", "uint", identity),                                              \
        F2(name, "double", "double", "double", pair),                                    \
        F2(name, "int", "int", "int", pair), F2(name, "uint", "uint", "uint", pair),     \
        F2(name, "int", "uint", "dyn", pair), F2(name, "int", "double", "dyn", pair),    \
        F2(name, "double", "int", "dyn", pair), F2(name, "double", "uint", "dyn", pair), \
        F2(name, "uint", "int", "dyn", pair), F2(name, "uint", "double", "dyn", pair),   \
        LIST(name, "double", list), LIST(name, "int", list), LIST(name, "uint", list)

#define BITS(name, fn_)                                                                  \
    F2(name, "int", "int", "int", fn_), F2(name, "uint", "uint", "uint", fn_)
#define SHIFT(name, fn_)                                                                 \
    F2(name, "int", "int", "int", fn_), F2(name, "uint", "int", "uint", fn_)

static const struct cel_overload rows[] = {
    EXTREME("@min", min_pair, min_list),
    EXTREME("@max", max_pair, max_list),
    F1("ceil", "double", "double", ceil_double),
    F1("floor", "double", "double", floor_double),
    F1("round", "double", "double", round_double),
    F1("trunc", "double", "double", trunc_double),
    F1("isInf", "double", "bool", is_inf_double),
    F1("isNaN", "double", "bool", is_nan_double),
    F1("isFinite", "double", "bool", is_finite_double),
    F1("abs", "double", "double", abs_double),
    F1("abs", "int", "int", abs_int),
    F1("abs", "uint", "uint", identity),
    F1("sign", "double", "double", sign_double),
    F1("sign", "int", "int", sign_int),
    F1("sign", "uint", "uint", sign_uint),
    BITS("bitAnd", bit_and),
    BITS("bitOr", bit_or),
    BITS("bitXor", bit_xor),
    CEL_GLOBAL("math_bitNot_int_int", "math.bitNot", "(int) -> int", 0, bit_not),
    CEL_GLOBAL("math_bitNot_uint_uint", "math.bitNot", "(uint) -> uint", 0, bit_not),
    SHIFT("bitShiftLeft", bit_shift_left),
    SHIFT("bitShiftRight", bit_shift_right),
    F1("sqrt", "double", "double", sqrt_double),
    F1("sqrt", "int", "double", sqrt_int),
    F1("sqrt", "uint", "double", sqrt_uint),
};

const struct cel_lib cel_lib_math = {
    .name = "math",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .macros = macros,
    .nmacros = CEL_COUNT(macros),
};
