/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel.@block([...], e): the list's items are named @index0, @index1, ... in the items
 * behind them and in e, and computed at most once. The planner makes code of it.
 */
#include "cel/lib.h"
#include "cel/macros.h"

static const struct cel_overload rows[] = {
    CEL_GLOBAL("cel_block_list", "cel.@block", "(list(dyn), <T>) -> <T>", 0, NULL),
};

const struct cel_lib cel_lib_block = {
    .name = "block",
    .overloads = rows,
    .noverloads = CEL_COUNT(rows),
    .macros = cel_macros_block,
    .nmacros = CEL_MACROS_COUNT(cel_macros_block),
};
