/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be written into some objects depends on what the writer may do himself: roles
 * and bindings grant no more than he has, unless he may "escalate" or "bind"; the status
 * of a ResourceClaim is shared by a scheduler and drivers, each with its part.
 */
#ifndef DRAY_SERVER_ACCESS_ESCALATION_H
#define DRAY_SERVER_ACCESS_ESCALATION_H

#include "server/rest/write.h"

/* Roles and bindings, after mutating admission; other kinds: true. live NULL: it is new.
 * false: 403, or 404 where the role is not there. */
bool escalation_check(struct request *r, const struct doc *d, const struct doc *live);
/* The status of a claim; appends errors. */
void escalation_check_claim(struct request *r, const struct doc *d,
                            const struct doc *live, struct api_errors *errors);

#endif
