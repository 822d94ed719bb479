/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/cost.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Least number of code points in a string: malformed bytes count each, others take four
 * bytes at most. */
static uint64_t least_points(struct cel_value s)
{
    return s.aux & CEL_STRING_ASCII ? s.len : (s.len + UINT64_C(3)) / 4;
}

uint64_t cel_cost_smaller(struct cel_value a, struct cel_value b)
{
    if (a.kind == CEL_STRING && b.kind == CEL_STRING) {
        uint64_t low = cel_cost_tenth(smaller(least_points(a), least_points(b)));
        if (low == cel_cost_tenth(smaller(a.len, b.len)))
            return low;
    }
    return cel_cost_tenth(smaller(cel_cost_size(a), cel_cost_size(b)));
}

uint64_t cel_cost_row_equal(const struct cel_value *args, unsigned n,
                            struct cel_value result)
{
    return cel_cost_equal(args[0], args[1]);
}

uint64_t cel_cost_row_smaller(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    return cel_cost_smaller(args[0], args[1]);
}

uint64_t cel_cost_row_concat(const struct cel_value *args, unsigned n,
                             struct cel_value result)
{
    return cel_cost_tenth(cel_cost_size(args[0]) + cel_cost_size(args[1]));
}

uint64_t cel_cost_row_contains(const struct cel_value *args, unsigned n,
                               struct cel_value result)
{
    return cel_cost_tenth(cel_cost_size(args[0])) *
           cel_cost_tenth(cel_cost_size(args[1]));
}

/* Of startsWith and endsWith. */
uint64_t cel_cost_row_affix(const struct cel_value *args, unsigned n,
                            struct cel_value result)
{
    return cel_cost_tenth(cel_cost_size(args[1]));
}

/* Between strings and bytes. */
uint64_t cel_cost_row_convert(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    return cel_cost_tenth(cel_cost_size(args[0]));
}

uint64_t cel_cost_row_in_list(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    return cel_cost_size(args[1]);
}

uint64_t cel_cost_row_matches(const struct cel_value *args, unsigned n,
                              struct cel_value result)
{
    return cel_cost_tenth(1 + cel_cost_size(args[0])) *
           cel_cost_regex(cel_cost_size(args[1]));
}
