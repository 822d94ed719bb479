/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Editing documents in bulk: a place is a pattern of members, "[]" for every item of a
 * list,
 * "{}" for every value of a map: "devices.requests[].exactly". Only what exists is
 * visited.
 */
#ifndef DRAY_API_EDIT_H
#define DRAY_API_EDIT_H

#include "doc/doc.h"

typedef void api_edit_fn(void *ctx, struct doc *d);

/* Calls fn for every non-null document at the place. root must be mutable (doc_dup). */
void api_edit_each(struct doc *root, const char *place, api_edit_fn *fn, void *ctx);
/* Mutable member; NULL if absent or null. */
struct doc *api_edit_get(struct doc *d, const char *key);

#endif
