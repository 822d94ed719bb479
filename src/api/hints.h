/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to write instead: advice for the mistakes that people make in objects. Every
 * function answers with an empty text when it has none. Pure; texts live in a.
 */
#ifndef DRAY_API_HINTS_H
#define DRAY_API_HINTS_H

#include "api/decode.h"
#include "api/validate.h"

/* Unknown fields: a member of a struct beside or below it, of one above, or a near name.
 */
struct str hint_for_issue(const struct api_issue *x, const struct doc *object,
                          struct arena *a);
/* Validation errors other than of CEL. */
struct str hint_for_error(const struct api_error *x, const struct doc *object,
                          struct arena *a);
/* A kind that Kubernetes has in other versions, or a kind that is nearly one. */
struct str hint_for_version(struct str api_version, struct str kind, struct arena *a);

/* The name nearest to one that is not there. */
struct hint_nearest {
    struct str wanted, name; /* name is empty while none is near enough */
    unsigned distance;
};
struct hint_nearest hint_nearest_to(struct str wanted);
void hint_nearest_try(struct hint_nearest *n, struct str name);

#endif
