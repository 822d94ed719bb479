/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as Go prints them once they have been stored: fields that are always there are
 * there, empty ones that may be left out are, null and empty lists are the same, unknown
 * fields are gone; quantities, times and bytes have their one spelling.
 *
 * Members come in the order of their names.
 */
#ifndef DRAY_API_CANONICAL_H
#define DRAY_API_CANONICAL_H

#include "api/schema.h"
#include "doc/doc.h"

/* d must be decodable as a t (api/decode.h). */
void api_canonical(const struct api_type *t, struct doc *d, struct arena *a);
/* The same for d's own fields; the values in them are as they should be already. */
void api_canonical_fields(const struct api_type *t, struct doc *d, struct arena *a);

/* Whether d has an empty list anywhere. */
bool api_has_empty_list(const struct doc *d);
/* Gives the canonical object back the empty lists that were sent: validation tells them
 * from absent ones. d must be mutable. */
void api_restore_empty_lists(const struct api_type *t, struct doc *d,
                             const struct doc *sent, struct arena *a);

#endif
