/* SPDX-License-Identifier: Apache-2.0 */
/* --feature-gates, as every Kubernetes program has it. */
#ifndef DRAY_CLI_GATES_H
#define DRAY_CLI_GATES_H

#include "api/gates.h"

/* "NAME=BOOL,...", AllAlpha and AllBeta among them. Errors: no such gate, a locked one,
 * one that cannot be on without another. */
bool gates_read(struct api_gates *g, const char *list, struct err *e);
/* Whether gates that are on have what they need, where one of the two has no effect here;
 * list: as it was read. */
bool gates_check_others(const struct api_gates *g, const char *list, struct err *e);

#endif
