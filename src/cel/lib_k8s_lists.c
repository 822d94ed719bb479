/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' list functions. Where elements cannot be compared, the comparison is
 * ignored, as upstream does. */
#include "cel/lib.h"

/* ---- Order ---- */

/* Whether a compares with b as -1, 0 or 1. */
static bool compares_as(struct cel_run *run, struct cel_value a, struct cel_value b,
                        int want)
{
    struct cel_value c = cel_compare(run, a, b);
    return c.kind == CEL_INT && c.i == want;
}

static struct cel_value is_sorted(struct cel_run *run, const struct cel_value *a,
                                  unsigned n)
{
    for (uint32_t i = 0; i < a[0].len; i++) {
        if (!cel_lib_is_ordered(a[0].items[i]))
            return cel_no_overload(run);
        if (i > 0 && compares_as(run, a[0].items[i - 1], a[0].items[i], 1))
            return cel_bool(false);
    }
    return cel_bool(true);
}

/* The first item that none compares with as the given order. */
static struct cel_value extreme(struct cel_run *run, struct cel_value list,
                                const char *name, int order)
{
    if (list.len == 0)
        return cel_errorf(run, "%s called on empty list", name);
    struct cel_value best = list.items[0];
    for (uint32_t i = 0; i < list.len; i++) {
        if (!cel_lib_is_ordered(list.items[i]))
            return cel_no_overload(run);
        if (i > 0 && compares_as(run, best, list.items[i], order))
            best = list.items[i];
    }
    return best;
}

static struct cel_value min(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    return extreme(run, a[0], "min", 1);
}

static struct cel_value max(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    return extreme(run, a[0], "max", -1);
}

/* ---- Sums ---- */

static struct cel_value add(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (a.kind != b.kind)
        return cel_no_overload(run);
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        return __builtin_add_overflow(a.i, b.i, &a.i)
                   ? CEL_ERROR_CONST("integer overflow")
                   : a;
    case CEL_UINT:
        return __builtin_add_overflow(a.u, b.u, &a.u)
                   ? CEL_ERROR_CONST("unsigned integer overflow")
                   : a;
    default:
        return cel_double(a.d + b.d);
    }
}

static struct cel_value sum(struct cel_run *run, struct cel_value list,
                            struct cel_value zero)
{
    for (uint32_t i = 0; i < list.len && !cel_is_error(zero); i++)
        zero = add(run, zero, list.items[i]);
    return zero;
}

static struct cel_value sum_int(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    return sum(run, a[0], cel_int(0));
}

static struct cel_value sum_uint(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return sum(run, a[0], cel_uint(0));
}

static struct cel_value sum_double(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    return sum(run, a[0], cel_double(0));
}

static struct cel_value sum_duration(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    return sum(run, a[0], cel_duration(0));
}

/* ---- Search ---- */

static struct cel_value index_of(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    for (uint32_t i = 0; i < a[0].len; i++)
        if (cel_lib_equal(run, a[0].items[i], a[1]))
            return cel_int(i);
    return cel_int(-1);
}

static struct cel_value last_index_of(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    for (uint32_t i = a[0].len; i-- > 0;)
        if (cel_lib_equal(run, a[0].items[i], a[1]))
            return cel_int(i);
    return cel_int(-1);
}

/* Of a list: an item equals the value; of anything else: it equals the value itself. */
static struct cel_value includes(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    if (a[0].kind != CEL_LIST)
        return cel_bool(cel_lib_equal(run, a[0], a[1]));
    return cel_bool(index_of(run, a, n).i >= 0);
}

/* ---- The tables ---- */

#define IS_SORTED(name, type_)                                                           \
    CEL_MEMBER("list_" name "_is_sorted_bool", "isSorted", "(list(" type_ ")) -> bool",  \
               0, is_sorted)
#define MIN(name, type_)                                                                 \
    CEL_MEMBER("list_" name "_min_" name, "min", "(list(" type_ ")) -> " type_, 0, min)
#define MAX(name, type_)                                                                 \
    CEL_MEMBER("list_" name "_max_" name, "max", "(list(" type_ ")) -> " type_, 0, max)
#define SUM(name, type_, fn_)                                                            \
    CEL_MEMBER("list_" name "_sum_" name, "sum", "(list(" type_ ")) -> " type_, 0, fn_)

/* An empty list takes the first row. */
#define ORDERED(row)                                                                     \
    row("int", "int"), row("uint", "uint"), row("double", "double"),                     \
        row("bool", "bool"), row("duration", "google.protobuf.Duration"),                \
        row("timestamp", "google.protobuf.Timestamp"), row("string", "string"),          \
        row("bytes", "bytes")

#define INCLUDES(since_)                                                                 \
    CEL_MEMBER("list_includes_dyn_dyn", "includes", "(dyn, dyn) -> bool", since_,        \
               includes)

static const struct cel_overload rows[] = {
    ORDERED(IS_SORTED),
    SUM("int", "int", sum_int),
    SUM("uint", "uint", sum_uint),
    SUM("double", "double", sum_double),
    SUM("duration", "google.protobuf.Duration", sum_duration),
    ORDERED(MAX),
    ORDERED(MIN),
    CEL_MEMBER("list_a_index_of_int", "indexOf", "(list(<A>), <A>) -> int", 0, index_of),
    CEL_MEMBER("list_a_last_index_of_int", "lastIndexOf", "(list(<A>), <A>) -> int", 0,
               last_index_of),
    INCLUDES(37),
};

static const struct cel_overload includes_rows[] = {INCLUDES(0)};

static const struct cel_cost_row costs[] = {
    {NULL, "isSorted", cel_cost_traverse}, {NULL, "sum", cel_cost_traverse},
    {NULL, "min", cel_cost_traverse},      {NULL, "max", cel_cost_traverse},
    {NULL, "indexOf", cel_cost_traverse},  {NULL, "lastIndexOf", cel_cost_traverse},
    {NULL, "includes", cel_cost_traverse},
};

const struct cel_lib cel_lib_k8s_lists = {
    .name = "kubernetes.lists",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};

const struct cel_lib cel_lib_includes = {
    .name = "kubernetes.lists, includes alone",
    .overloads = includes_rows,
    .noverloads = CEL_COUNT(includes_rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
