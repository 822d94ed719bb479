/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the admission plugins that are on by default add to new objects without looking at
 * others: finalizers that guard what is in use, the taint of a node that is not ready
 * yet, the tolerations of short outages, and priorities.
 */
#ifndef DRAY_API_ADMIT_H
#define DRAY_API_ADMIT_H

#include "api/schema.h"
#include "doc/doc.h"

struct api_admit {
    struct arena *a;
    /* Of the object's PriorityClass, or of the default one: 0, "PreemptLowerPriority". */
    int32_t priority;
    const char *preemption; /* NULL: the class has none */
    /* tolerationSeconds of nodes that are not ready, and of unreachable ones; NULL: 300
     */
    const int64_t *outage_seconds;
};

/* What one plugin adds, by upstream's name of it. */
void api_admit(const struct api_admit *p, const char *plugin, const struct api_kind *kind,
               struct doc *object);
/* What all of them add. */
void api_admit_create(const struct api_admit *p, const struct api_kind *kind,
                      struct doc *object);

#endif
