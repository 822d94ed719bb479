/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: run-time costs of the core language (spec 4.7). The rows are part of
 * cel_lib_standard; operators that have code of their own use the inline forms.
 */
#ifndef DRAY_CEL_COST_H
#define DRAY_CEL_COST_H

#include "cel/func.h"
#include "cel/value.h"

/* cel_cost_string without a call: ceil(n * 0.1) as IEEE doubles compute it. */
static inline uint64_t cel_cost_tenth(uint64_t n)
{
    if (n <= 10)
        return n != 0;
    double x = (double)n * 0.1;
    uint64_t whole = (uint64_t)x;
    return whole + ((double)whole < x);
}

/* c(min(size a, size b) * T). Code points are counted only where their number matters. */
uint64_t cel_cost_smaller(struct cel_value a, struct cel_value b);

/* Row of == : 1 on the types of Kubernetes. */
static inline uint64_t cel_cost_equal(struct cel_value a, struct cel_value b)
{
    if (a.kind >= CEL_QUANTITY)
        return 1;
    if (a.kind < CEL_STRING && b.kind < CEL_STRING)
        return 1;
    if (a.kind == CEL_STRING && b.kind == CEL_STRING && a.aux & b.aux & CEL_STRING_ASCII)
        return cel_cost_tenth(a.len < b.len ? a.len : b.len);
    return cel_cost_smaller(a, b);
}

cel_cost_fn cel_cost_row_equal, cel_cost_row_smaller, cel_cost_row_concat,
    cel_cost_row_contains, cel_cost_row_affix, cel_cost_row_convert, cel_cost_row_in_list,
    cel_cost_row_matches;

#endif
