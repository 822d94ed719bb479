/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of alloc: from the end of a search to its outcome. */
#ifndef DRAY_ALLOC_RESULT_H
#define DRAY_ALLOC_RESULT_H

#include "alloc/search.h"

/* The picks of the solver as results. False: the node is refused after all (its devices'
 * node selectors cannot be written as one). */
bool result_build(struct solver *s, struct alloc_outcome *out);
/* Reasons, needs and summary of an answer that is not OK. Unless ready, the question was
 * answered before the solver had it all, and the error is all there is to say. */
void reasons_build(struct solver *s, struct alloc_outcome *out, bool ready);

#endif
