/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case of golden/allocator, which is also a question of the oracle, as the allocator
 * takes it: inventory, claims and nodes. Answers in the form of the cases.
 */
#ifndef DRAY_TESTS_ALLOC_CASE_H
#define DRAY_TESTS_ALLOC_CASE_H

#include "alloc/alloc.h"

struct alloc_case {
    struct device_names names;
    struct alloc_inventory *inv;
    const struct view_claim **claims;
    const struct view_node **nodes;
    uint32_t nclaims, nnodes;
};

/* Without "features" all are on. d and the arena must outlive the case. On failure there
 * is nothing to release. */
bool alloc_case_read(struct alloc_case *c, const struct doc *d, struct arena *a,
                     struct err *e);
void alloc_case_fini(struct alloc_case *c);

const char *alloc_case_outcome(enum alloc_status s); /* "allocated", "none", ... */
/* One AllocationResult a claim; shares are share-1, share-2, ... */
struct doc alloc_case_results(const struct alloc_outcome *out, struct arena *a);

#endif
