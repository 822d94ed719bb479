/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of all live allocations, whatever led to them. */
#ifndef DRAY_TESTS_ALLOC_LEDGER_H
#define DRAY_TESTS_ALLOC_LEDGER_H

#include "alloc/alloc.h"

struct live_allocation {
    const struct view_claim *claim;
    struct alloc_result result;
};

/* No exclusive device in two allocations, none both shared and exclusive, no capacity and
 * no counter of the slices above its total. NULL: all holds; else what does not. */
const char *ledger_problem(const struct live_allocation *live, uint32_t n,
                           const struct view_slice *const *slices, uint32_t nslices);

#endif
