/* SPDX-License-Identifier: Apache-2.0 */
/* LimitRanges: what they fill in, and what they refuse. */
#ifndef DRAY_API_LIMITS_H
#define DRAY_API_LIMITS_H

#include "doc/doc.h"

/* Fills in what the containers of a new pod do not say, and an annotation that tells. */
void limits_default(const struct doc *range, struct doc *pod, struct arena *a);
/* What of a pod, or of a PersistentVolumeClaim, is outside; STR_NONE: nothing is. In
 * upstream's words; several are in brackets, each list by name. */
struct str limits_check(const struct doc *range, const char *resource,
                        const struct doc *object, struct arena *a);

#endif
