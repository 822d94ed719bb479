/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as sets. */
#include "cel/lib.h"

static bool holds(struct cel_run *run, struct cel_value list, struct cel_value item)
{
    for (uint32_t i = 0; i < list.len; i++)
        if (cel_lib_equal(run, item, list.items[i]))
            return true;
    return false;
}

static bool holds_all(struct cel_run *run, struct cel_value list, struct cel_value items)
{
    for (uint32_t i = 0; i < items.len; i++)
        if (!holds(run, list, items.items[i]))
            return false;
    return true;
}

static struct cel_value contains(struct cel_run *run, const struct cel_value *a,
                                 unsigned n)
{
    return cel_bool(holds_all(run, a[0], a[1]));
}

static struct cel_value equivalent(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    return cel_bool(holds_all(run, a[0], a[1]) && holds_all(run, a[1], a[0]));
}

static struct cel_value intersects(struct cel_run *run, const struct cel_value *a,
                                   unsigned n)
{
    for (uint32_t i = 0; i < a[0].len; i++)
        if (holds(run, a[1], a[0].items[i]))
            return cel_bool(true);
    return cel_bool(false);
}

static const struct cel_overload rows[] = {
    CEL_GLOBAL("list_sets_contains_list", "sets.contains",
               "(list(<T>), list(<T>)) -> bool", 29, contains),
    CEL_GLOBAL("list_sets_equivalent_list", "sets.equivalent",
               "(list(<T>), list(<T>)) -> bool", 29, equivalent),
    CEL_GLOBAL("list_sets_intersects_list", "sets.intersects",
               "(list(<T>), list(<T>)) -> bool", 29, intersects),
};

static uint64_t cost_product(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    return 1 + cel_cost_size(args[0]) * cel_cost_size(args[1]);
}

static uint64_t cost_product_twice(const struct cel_value *args, unsigned n,
                                   struct cel_value result)
{
    return 1 + 2 * cel_cost_size(args[0]) * cel_cost_size(args[1]);
}

static const struct cel_cost_row costs[] = {
    {"list_sets_contains_list", NULL, cost_product},
    {"list_sets_equivalent_list", NULL, cost_product_twice},
    {"list_sets_intersects_list", NULL, cost_product},
};

const struct cel_lib cel_lib_sets = {
    .name = "sets",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .costs = costs,
    .ncosts = CEL_COUNT(costs),
};
