/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: operators on lists whose aux2 says that they are sets or have keys. */
#ifndef DRAY_CEL_UNORDERED_H
#define DRAY_CEL_UNORDERED_H

#include "cel/value.h"

/* The left list says how. */
struct cel_value cel_equal_unordered(struct cel_run *run, struct cel_value a,
                                     struct cel_value b);
struct cel_value cel_add_unordered(struct cel_run *run, struct cel_value a,
                                   struct cel_value b);

#endif
