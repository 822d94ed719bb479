/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of alloc: which of several solutions a policy likes best. */
#ifndef DRAY_ALLOC_POLICY_H
#define DRAY_ALLOC_POLICY_H

#include "alloc/search.h"

/*
 * *out is first-fit's answer, and OK. Looks for a better one in parts of the host, each
 * for a few steps, and takes it; so there is an answer exactly if first-fit has one.
 */
void policy_improve(struct solver *s, const struct alloc_plan *p, struct host *h,
                    const struct alloc_options *options, struct arena *a,
                    struct alloc_outcome *out);

#endif
