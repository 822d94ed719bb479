/* SPDX-License-Identifier: Apache-2.0 */
/* Operators, and the functions on text that the core language has. */
#include <math.h>

#include "cel/cel.h"
#include "cel/lib.h"
#include "cel/regex.h"
#include "cel/std.h"
#include "cel/unordered.h"

/*
 * An operand of a kind that the operator is not made for. Upstream looks for a method of
 * that name on kinds that have methods (string, duration, timestamp) and then has another
 * text.
 */
static struct cel_value refuse(struct cel_run *run, struct cel_value v,
                               const char *function)
{
    if (v.kind == CEL_STRING || v.kind == CEL_DURATION || v.kind == CEL_TIMESTAMP)
        return cel_no_overload(run);
    return cel_errorf(run, "no such overload: %s", function);
}

/* ---- Arithmetic ---- */

#define OVERFLOW_INT CEL_ERROR_CONST("integer overflow")
#define OVERFLOW_UINT CEL_ERROR_CONST("unsigned integer overflow")

static struct cel_value add_strings(struct cel_run *run, struct cel_value a,
                                    struct cel_value b)
{
    uint64_t n = (uint64_t)a.len + b.len;
    if (n > CEL_TEXT_MAX)
        return cel_errorf(run, "string of %llu bytes is too long", (unsigned long long)n);
    char *p = arena_alloc(&run->arena, n);
    if (a.len != 0)
        memcpy(p, a.s, a.len);
    if (b.len != 0)
        memcpy(p + a.len, b.s, b.len);
    struct cel_value v = a;
    v.s = p;
    v.len = (uint32_t)n;
    v.aux = a.aux & b.aux;
    v.aux2 = 0;
    return v;
}

static struct cel_value add_lists(struct cel_run *run, struct cel_value a,
                                  struct cel_value b)
{
    if (a.len == 0 || b.len == 0)
        return a.len == 0 ? b : a;
    if ((uint64_t)a.len + b.len > CEL_LIST_MAX)
        return cel_errorf(run, "list is too long");
    if (a.aux2)
        return cel_add_unordered(run, a, b);
    struct cel_value *p = arena_alloc(&run->arena, ((size_t)a.len + b.len) * sizeof *p);
    memcpy(p, a.items, a.len * sizeof *p);
    memcpy(p + a.len, b.items, b.len * sizeof *p);
    return cel_list(p, a.len + b.len);
}

static struct cel_value add_same(struct cel_run *run, struct cel_value a,
                                 struct cel_value b)
{
    struct cel_value v = a;
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        return __builtin_add_overflow(a.i, b.i, &v.i) ? OVERFLOW_INT : v;
    case CEL_UINT:
        return __builtin_add_overflow(a.u, b.u, &v.u) ? OVERFLOW_UINT : v;
    case CEL_DOUBLE:
        return cel_double(a.d + b.d);
    case CEL_STRING:
    case CEL_BYTES:
        return add_strings(run, a, b);
    case CEL_LIST:
        return add_lists(run, a, b);
    case CEL_TIMESTAMP:
        return cel_no_overload(run);
    default:
        return refuse(run, a, "_+_");
    }
}

static bool can_add(struct cel_value v)
{
    return (v.kind >= CEL_INT && v.kind <= CEL_LIST);
}

struct cel_value cel_std_add(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value a = args[0], b = args[1];
    if (a.kind == b.kind)
        return add_same(run, a, b);
    if (a.kind == CEL_TIMESTAMP && b.kind == CEL_DURATION)
        return cel_time_add(a, b.i);
    if (a.kind == CEL_DURATION && b.kind == CEL_TIMESTAMP)
        return cel_time_add(b, a.i);
    return can_add(a) ? cel_no_overload(run) : refuse(run, a, "_+_");
}

static struct cel_value negate_duration(int64_t ns)
{
    return ns == INT64_MIN ? OVERFLOW_INT : cel_duration(-ns);
}

static struct cel_value subtract_duration(struct cel_value t, int64_t ns)
{
    struct cel_value minus = negate_duration(ns);
    return minus.kind == CEL_ERROR ? minus : cel_time_add(t, minus.i);
}

static struct cel_value sub_same(struct cel_run *run, struct cel_value a,
                                 struct cel_value b)
{
    struct cel_value v = a;
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        return __builtin_sub_overflow(a.i, b.i, &v.i) ? OVERFLOW_INT : v;
    case CEL_UINT:
        return __builtin_sub_overflow(a.u, b.u, &v.u) ? OVERFLOW_UINT : v;
    case CEL_DOUBLE:
        return cel_double(a.d - b.d);
    case CEL_TIMESTAMP:
        return cel_time_between(a, b);
    default:
        return refuse(run, a, "_-_");
    }
}

static bool is_number(struct cel_value v)
{
    return v.kind >= CEL_INT && v.kind <= CEL_DOUBLE;
}

struct cel_value cel_std_sub(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value a = args[0], b = args[1];
    if (a.kind == b.kind)
        return sub_same(run, a, b);
    if (a.kind == CEL_TIMESTAMP && b.kind == CEL_DURATION)
        return subtract_duration(a, b.i);
    return is_number(a) ? cel_no_overload(run) : refuse(run, a, "_-_");
}

struct cel_value cel_std_mul(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value a = args[0], b = args[1], v = a;
    if (!is_number(a))
        return refuse(run, a, "_*_");
    if (a.kind != b.kind)
        return cel_no_overload(run);
    if (a.kind == CEL_INT)
        return __builtin_mul_overflow(a.i, b.i, &v.i) ? OVERFLOW_INT : v;
    if (a.kind == CEL_UINT)
        return __builtin_mul_overflow(a.u, b.u, &v.u) ? OVERFLOW_UINT : v;
    return cel_double(a.d * b.d);
}

struct cel_value cel_std_div(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value a = args[0], b = args[1];
    if (!is_number(a))
        return refuse(run, a, "_/_");
    if (a.kind != b.kind)
        return cel_no_overload(run);
    if (a.kind == CEL_DOUBLE)
        return cel_double(a.d / b.d);
    if (b.u == 0)
        return CEL_ERROR_CONST("division by zero");
    if (a.kind == CEL_UINT)
        return cel_uint(a.u / b.u);
    if (a.i == INT64_MIN && b.i == -1)
        return OVERFLOW_INT;
    return cel_int(a.i / b.i);
}

struct cel_value cel_std_mod(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value a = args[0], b = args[1];
    if (a.kind != CEL_INT && a.kind != CEL_UINT)
        return refuse(run, a, "_%_");
    if (a.kind != b.kind)
        return cel_no_overload(run);
    if (b.u == 0)
        return CEL_ERROR_CONST("modulus by zero");
    if (a.kind == CEL_UINT)
        return cel_uint(a.u % b.u);
    if (a.i == INT64_MIN && b.i == -1)
        return OVERFLOW_INT;
    return cel_int(a.i % b.i);
}

struct cel_value cel_std_neg(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    struct cel_value v = args[0];
    switch (v.kind) {
    case CEL_INT:
        return v.i == INT64_MIN ? OVERFLOW_INT : cel_int(-v.i);
    case CEL_DOUBLE:
        return cel_double(-v.d);
    case CEL_DURATION:
        return negate_duration(v.i);
    case CEL_BOOL:
        return cel_no_overload(run);
    default:
        return refuse(run, v, "-_");
    }
}

struct cel_value cel_std_not(struct cel_run *run, const struct cel_value *args,
                             unsigned n)
{
    return args[0].kind == CEL_BOOL ? cel_bool(!args[0].b) : cel_no_overload(run);
}

/* ---- Order ---- */

static bool is_ordered(struct cel_value v)
{
    return v.kind >= CEL_BOOL && v.kind <= CEL_TIMESTAMP;
}

/* The order as an int, or an error. */
static struct cel_value order(struct cel_run *run, const struct cel_value *args,
                              const char *function)
{
    if (!is_ordered(args[0]))
        return refuse(run, args[0], function);
    return cel_compare(run, args[0], args[1]);
}

struct cel_value cel_std_lt(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    struct cel_value v = order(run, args, "_<_");
    return v.kind == CEL_ERROR ? v : cel_bool(v.i < 0);
}

struct cel_value cel_std_le(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    struct cel_value v = order(run, args, "_<=_");
    return v.kind == CEL_ERROR ? v : cel_bool(v.i <= 0);
}

struct cel_value cel_std_gt(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    struct cel_value v = order(run, args, "_>_");
    return v.kind == CEL_ERROR ? v : cel_bool(v.i > 0);
}

struct cel_value cel_std_ge(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    struct cel_value v = order(run, args, "_>=_");
    return v.kind == CEL_ERROR ? v : cel_bool(v.i >= 0);
}

/* ---- Collections ---- */

static bool list_has(struct cel_run *run, struct cel_value list, struct cel_value v)
{
    for (uint32_t i = 0; i < list.len; i++) {
        struct cel_value same = cel_equal(run, v, list.items[i]);
        if (same.kind == CEL_BOOL && same.b)
            return true;
    }
    return false;
}

struct cel_value cel_std_in(struct cel_run *run, const struct cel_value *args, unsigned n)
{
    if (args[1].kind == CEL_LIST)
        return cel_bool(list_has(run, args[1], args[0]));
    if (args[1].kind == CEL_MAP)
        return cel_bool(cel_map_find(args[1].map, args[0]) != NULL);
    return cel_no_overload(run);
}

struct cel_value cel_std_size(struct cel_run *run, const struct cel_value *args,
                              unsigned n)
{
    int64_t size = cel_size(args[0]);
    return size < 0 ? refuse(run, args[0], "size") : cel_int(size);
}

/* ---- Text ---- */

static bool are_strings(const struct cel_value *args)
{
    return args[0].kind == CEL_STRING && args[1].kind == CEL_STRING;
}

struct cel_value cel_std_contains(struct cel_run *run, const struct cel_value *args,
                                  unsigned n)
{
    if (!are_strings(args))
        return cel_no_overload(run);
    return cel_bool(str_find(cel_str(args[0]), cel_str(args[1])) != SIZE_MAX);
}

struct cel_value cel_std_starts_with(struct cel_run *run, const struct cel_value *args,
                                     unsigned n)
{
    if (!are_strings(args))
        return cel_no_overload(run);
    return cel_bool(str_starts(cel_str(args[0]), cel_str(args[1])));
}

struct cel_value cel_std_ends_with(struct cel_run *run, const struct cel_value *args,
                                   unsigned n)
{
    if (!are_strings(args))
        return cel_no_overload(run);
    return cel_bool(str_ends(cel_str(args[0]), cel_str(args[1])));
}

struct cel_value cel_std_matches(struct cel_run *run, const struct cel_value *args,
                                 unsigned n)
{
    if (args[0].kind != CEL_STRING)
        return refuse(run, args[0], "matches");
    if (args[1].kind != CEL_STRING)
        return cel_no_overload(run);
    struct err e = ERR_INIT;
    struct cel_regex *re = cel_regex_new(cel_str(args[1]), &e);
    if (re == NULL)
        return cel_lib_failed(run, "", &e);
    struct cel_value v = cel_bool(cel_regex_match(re, cel_str(args[0])));
    cel_regex_free(re);
    return v;
}
