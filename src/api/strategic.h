/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strategic merge patch: a merge patch that knows the types, so that lists of named items
 * are merged item by item. From the columns patchStrategy and patchMergeKey of the
 * tables, and the directives $patch, $retainKeys, $setElementOrder/FIELD and
 * $deleteFromPrimitiveList/FIELD inside the patch.
 *
 * As upstream has it, to the order of items that come out; also where that is odd: a
 * patch in a member that the object lacks is taken over with its $retainKeys and
 * $setElementOrder, which a strict decoder then reports as unknown fields.
 */
#ifndef DRAY_API_STRATEGIC_H
#define DRAY_API_STRATEGIC_H

#include "api/schema.h"
#include "doc/patch.h"

/* Object and patch are maps in the shape of type. PATCH_BAD: a directive is malformed;
 * PATCH_NO_FIT: the patch asks for what cannot be merged. out shares strings and subtrees
 * with the inputs. */
bool strategic_patch(const struct api_type *type, const struct doc *object,
                     const struct doc *patch, struct arena *a, struct doc *out,
                     struct patch_error *e);

#endif
