/* SPDX-License-Identifier: Apache-2.0 */
/* cel-go's list extension, version 3. */
#include "cel/lib.h"
#include "cel/lib_sort.h"
#include "cel/macros.h"

enum { RANGE_MAX = 1000000 };

static struct cel_value slice(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    long long from = a[1].i, to = a[2].i;
    if (from < 0 || to < 0)
        return cel_errorf(run, "cannot slice(%lld, %lld), negative indexes not supported",
                          from, to);
    if (from > to)
        return cel_errorf(run,
                          "cannot slice(%lld, %lld), start index must be less than or "
                          "equal to end index",
                          from, to);
    if (to > a[0].len)
        return cel_errorf(run, "cannot slice(%lld, %lld), list is length %u", from, to,
                          a[0].len);
    return cel_list(a[0].items + from, (uint32_t)(to - from));
}

/* ---- flatten ---- */

/* Stops when there is too much: lists may share their items many times over. */
static void flatten_into(struct cel_run *run, struct cel_list_builder *b,
                         struct cel_value list, int64_t depth)
{
    if (!cel_work(run))
        return;
    for (uint32_t i = 0; i < list.len && b->n <= CEL_LIST_MAX; i++) {
        struct cel_value item = list.items[i];
        if (item.kind == CEL_LIST && depth > 0)
            flatten_into(run, b, item, depth - 1);
        else
            cel_list_push(run, b, item);
    }
}

static struct cel_value flat(struct cel_run *run, const struct cel_list_builder *b)
{
    return b->n > CEL_LIST_MAX ? cel_errorf(run, "list is too long") : cel_list_done(b);
}

static struct cel_value flatten(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    struct cel_list_builder b = {0};
    if (a[0].kind != CEL_LIST)
        return cel_errorf(run, "no such overload: %s.flatten()", cel_kind_name(a[0]));
    flatten_into(run, &b, a[0], 1);
    return flat(run, &b);
}

static struct cel_value flatten_depth(struct cel_run *run, const struct cel_value *a,
                                      unsigned n)
{
    struct cel_list_builder b = {0};
    if (a[0].kind != CEL_LIST || a[1].kind != CEL_INT)
        return cel_errorf(run, "no such overload: %s.flatten(%s)", cel_kind_name(a[0]),
                          cel_kind_name(a[1]));
    if (a[1].i < 0)
        return CEL_ERROR_CONST("level must be non-negative");
    flatten_into(run, &b, a[0], a[1].i);
    return flat(run, &b);
}

/* ---- range, reverse, distinct ---- */

static struct cel_value range(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    if (a[0].i < 0)
        return cel_errorf(run, "lists.range: size must be non-negative, got %lld",
                          (long long)a[0].i);
    if (a[0].i > RANGE_MAX)
        return cel_errorf(run, "lists.range: size %lld exceeds maximum allowed (%d)",
                          (long long)a[0].i, RANGE_MAX);
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, a[0].u);
    for (int64_t i = 0; i < a[0].i; i++)
        items[i] = cel_int(i);
    return cel_list(items, (uint32_t)a[0].i);
}

static struct cel_value reverse(struct cel_run *run, const struct cel_value *a,
                                unsigned n)
{
    uint32_t len = a[0].len;
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, len);
    for (uint32_t i = 0; i < len; i++)
        items[i] = a[0].items[len - 1 - i];
    return cel_list(items, len);
}

/* Kinds that a map takes as keys, and compares as == does. */
static bool all_keys(struct cel_value list)
{
    const unsigned kinds =
        1u << CEL_BOOL | 1u << CEL_INT | 1u << CEL_UINT | 1u << CEL_STRING;
    for (uint32_t i = 0; i < list.len; i++)
        if (!(kinds >> list.items[i].kind & 1))
            return false;
    return true;
}

static struct cel_value distinct_keys(struct cel_run *run, struct cel_value list)
{
    struct cel_list_builder b = {0};
    struct cel_map_builder seen = {0};
    for (uint32_t i = 0; i < list.len; i++) {
        struct cel_value item = list.items[i];
        if (!cel_map_has(&seen, item)) {
            cel_map_put(run, &seen, item, cel_null());
            cel_list_push(run, &b, item);
        }
    }
    return cel_list_done(&b);
}

static bool holds(struct cel_run *run, const struct cel_list_builder *b,
                  struct cel_value item)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (cel_lib_equal(run, item, b->items[i]))
            return true;
    return false;
}

static struct cel_value distinct(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    struct cel_list_builder b = {0};
    if (all_keys(a[0]))
        return distinct_keys(run, a[0]);
    for (uint32_t i = 0; i < a[0].len; i++)
        if (!holds(run, &b, a[0].items[i]))
            cel_list_push(run, &b, a[0].items[i]);
    return cel_list_done(&b);
}

/* ---- sort ---- */

static struct cel_value sort_by(struct cel_run *run, struct cel_value list,
                                struct cel_value keys)
{
    if (list.len != keys.len)
        return cel_errorf(run,
                          "@sortByAssociatedKeys() expected a list of the same size as "
                          "the associated keys list, but got %u and %u elements "
                          "respectively",
                          list.len, keys.len);
    if (list.len == 0)
        return list;
    if (!cel_lib_is_ordered(keys.items[0]))
        return CEL_ERROR_CONST("list elements must be comparable");
    for (uint32_t i = 1; i < keys.len; i++)
        if (keys.items[i].kind != keys.items[0].kind)
            return CEL_ERROR_CONST("list elements must have the same type");
    uint32_t *index = ARENA_ARRAY(&run->arena, uint32_t, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        index[i] = i;
    cel_sort_index(run, keys.items, index, list.len);
    struct cel_value *items = ARENA_ARRAY(&run->arena, struct cel_value, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        items[i] = list.items[index[i]];
    return cel_list(items, list.len);
}

/* Upstream asks values that know methods themselves, and they have another text. */
static struct cel_value no_list(struct cel_run *run, struct cel_value v, const char *name)
{
    if (v.kind == CEL_STRING || v.kind == CEL_DURATION || v.kind == CEL_TIMESTAMP)
        return cel_no_overload(run);
    return cel_errorf(run, "no such overload: %s", name);
}

static struct cel_value sort(struct cel_run *run, const struct cel_value *a, unsigned n)
{
    if (a[0].kind != CEL_LIST)
        return no_list(run, a[0], "sort");
    return sort_by(run, a[0], a[0]);
}

static struct cel_value sort_by_keys(struct cel_run *run, const struct cel_value *a,
                                     unsigned n)
{
    if (a[0].kind != CEL_LIST || a[1].kind != CEL_LIST)
        return no_list(run, a[0], "@sortByAssociatedKeys");
    return sort_by(run, a[0], a[1]);
}

/* ---- The tables ---- */

#define UNGUARDED(id_, name_, type_, fn_)                                                \
    {                                                                                    \
        .id = (id_), .function = (name_), .type = (type_), .member = true, .since = 34,  \
        .fn = (fn_), .unguarded = true                                                   \
    }
#define SORT(type_)                                                                      \
    UNGUARDED("list_" type_ "_sort", "sort", "(list(" type_ ")) -> list(" type_ ")", sort)
#define SORT_BY(type_)                                                                   \
    UNGUARDED("list_" type_ "_sortByAssociatedKeys", "@sortByAssociatedKeys",            \
              "(list(<T>), list(" type_ ")) -> list(<T>)", sort_by_keys)
#define DURATION "google.protobuf.Duration"
#define TIMESTAMP "google.protobuf.Timestamp"
#define ORDERED(row)                                                                     \
    row("int"), row("uint"), row("double"), row("bool"), row(DURATION), row(TIMESTAMP),  \
        row("string"), row("bytes")

static const struct cel_overload rows[] = {
    CEL_MEMBER("list_slice", "slice", "(list(<T>), int, int) -> list(<T>)", 34, slice),
    UNGUARDED("list_flatten", "flatten", "(list(list(<T>))) -> list(<T>)", flatten),
    UNGUARDED("list_flatten_int", "flatten", "(list(dyn), int) -> list(dyn)",
              flatten_depth),
    ORDERED(SORT),
    ORDERED(SORT_BY),
    CEL_GLOBAL("lists_range", "lists.range", "(int) -> list(int)", 34, range),
    CEL_MEMBER("list_reverse", "reverse", "(list(<T>)) -> list(<T>)", 34, reverse),
    CEL_MEMBER("list_distinct", "distinct", "(list(<T>)) -> list(<T>)", 34, distinct),
};

enum { LIST_CALL = 11 };

/* Upstream truncates here; what does not fit is 2^63, as its compiler has it. */
static uint64_t list_cost(double factor, uint64_t size)
{
    double cost = (double)size * (factor < 0 ? 1 : factor);
    return LIST_CALL + (cost < 0x1p64 ? (uint64_t)cost : UINT64_C(1) << 63);
}

static uint64_t cost_result(const struct cel_value *args, unsigned n,
                            struct cel_value result)
{
    return list_cost(1, cel_cost_size(result));
}

static uint64_t cost_flatten(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    bool depth = n == 2 && args[1].kind == CEL_INT;
    return list_cost(depth ? (double)args[1].i : 1, cel_cost_size(args[0]));
}

static uint64_t cost_pairs(struct cel_value list)
{
    uint64_t size = cel_cost_size(list);
    bool text = list.kind == CEL_LIST && list.len > 0 &&
                (list.items[0].kind == CEL_STRING || list.items[0].kind == CEL_BYTES);
    return list_cost(text ? 2.0 + 0.1 : 2.0, size * size);
}

static uint64_t cost_self(const struct cel_value *args, unsigned n,
                          struct cel_value result)
{
    return cost_pairs(args[0]);
}

static uint64_t cost_keys(const struct cel_value *args, unsigned n,
                          struct cel_value result)
{
    return cost_pairs(args[1]);
}

#define COST_SORT(type_)                                                                 \
    {                                                                                    \
        "list_" type_ "_sort", NULL, cost_self                                           \
    }
#define COST_SORT_BY(type_)                                                              \
    {                                                                                    \
        "list_" type_ "_sortByAssociatedKeys", NULL, cost_keys                           \
    }

static const struct cel_cost_row costs[] = {
    {"list_slice", NULL, cost_result},
    {"list_flatten", NULL, cost_flatten},
    {"list_flatten_int", NULL, cost_flatten},
    ORDERED(COST_SORT),
    ORDERED(COST_SORT_BY),
    {"lists_range", NULL, cost_result},
    {"list_reverse", NULL, cost_result},
    {"list_distinct", NULL, cost_self},
};

const struct cel_lib cel_lib_lists = {
    .name = "lists",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .macros = cel_macros_lists,
    .nmacros = CEL_MACROS_COUNT(cel_macros_lists),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
