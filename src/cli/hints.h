/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to write instead: advice for the mistakes that people make. Every function answers
 * with an empty text when it has none. Texts live in a.
 */
#ifndef DRAY_CLI_HINTS_H
#define DRAY_CLI_HINTS_H

#include "api/decode.h"
#include "api/validate.h"
#include "cel/cel.h"
#include "cli/cluster.h"

/* Unknown fields: a near name, a member of a struct beside it, or of the one above. */
struct str hint_for_issue(const struct api_issue *x, const struct doc *object,
                          struct arena *a);
/* A CEL expression that does not compile. Knows the drivers of the cluster's slices. */
struct str hint_for_cel(const struct cluster *c, struct str expression,
                        const struct cel_issue *issue, struct arena *a);
/* Other validation errors (cost limits, formats). */
struct str hint_for_error(const struct cluster *c, const struct api_error *x,
                          struct arena *a);
/* A kind that Kubernetes has in other versions. */
struct str hint_for_version(struct str api_version, struct str kind, struct arena *a);

#endif
