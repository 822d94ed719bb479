/* SPDX-License-Identifier: Apache-2.0 */
/* cel.bind(variable, value, expression): a macro and nothing else. */
#include "cel/func.h"
#include "cel/macros.h"

const struct cel_lib cel_lib_bindings = {
    .name = "cel.bindings",
    .macros = cel_macros_bindings,
    .nmacros = CEL_MACROS_COUNT(cel_macros_bindings),
};
