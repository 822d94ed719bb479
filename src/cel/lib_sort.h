/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cel: sorting lists by keys. */
#ifndef DRAY_CEL_LIB_SORT_H
#define DRAY_CEL_LIB_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cel/value.h"

/* Orders the numbers 0..n-1 in index by their keys, which are all of one ordered kind. */
void cel_sort_index(struct cel_run *run, const struct cel_value *keys, uint32_t *index,
                    uint32_t n);

#endif
