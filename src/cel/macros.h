/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: the macros (spec 4.5), as rows for the tables of the libraries that have
 * them:
 *
 *     .macros = cel_macros_standard,
 *     .nmacros = CEL_MACROS_COUNT(cel_macros_standard),
 *
 * A library with macros of its own writes them with the node makers of parser.h.
 */
#ifndef DRAY_CEL_MACROS_H
#define DRAY_CEL_MACROS_H

#include "cel/func.h"

#define CEL_MACROS_COUNT(rows) (sizeof(rows) / sizeof *(rows))

extern const struct cel_macro cel_macros_standard[7]; /* has all exists exists_one map
                                                         filter */
extern const struct cel_macro cel_macros_two_var[10]; /* all exists exists_one existsOne
                                         transformList transformMap transformMapEntry */
extern const struct cel_macro cel_macros_optional[2]; /* optMap optFlatMap */
extern const struct cel_macro cel_macros_bindings[1]; /* cel.bind */
extern const struct cel_macro cel_macros_lists[1];    /* sortBy */
extern const struct cel_macro cel_macros_block[4]; /* cel.block index iterVar accuVar */

#endif
