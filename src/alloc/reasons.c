/* SPDX-License-Identifier: Apache-2.0 */
/* Why devices were not taken. */
#include "alloc/result.h"

void reasons_build(struct solver *s, struct alloc_outcome *out)
{
    (void)s;
    (void)out;
}
