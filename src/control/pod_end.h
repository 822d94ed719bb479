/* SPDX-License-Identifier: Apache-2.0 */
/* How controllers end pods that are not their own. */
#ifndef DRAY_CONTROL_POD_END_H
#define DRAY_CONTROL_POD_END_H

#include "client/worker.h"

struct pod_end {
    const char *reason, *message; /* of the condition DisruptionTarget; NULL: none */
    bool fail; /* nobody else will: its phase becomes Failed, unless it has ended */
    bool now;  /* without a grace period */
};

/* Marks the pod, and deletes it; one that is gone, or another of that name, is left
 * alone. Uses the work's kept. */
enum progress pod_end(struct work *w, struct str namespace, struct str name,
                      struct str uid, const struct pod_end *how);

#endif
