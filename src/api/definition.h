/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of CustomResourceDefinitions: upstream's rules of spec and status. Schemas
 * are looked at by structural.h. Upstream's form of a definition has what all versions
 * have in common in one place, and errors are told by those paths: of a definition of one
 * version, spec.validation is the place of its schema.
 */
#ifndef DRAY_API_DEFINITION_H
#define DRAY_API_DEFINITION_H

#include "api/structural.h"

struct api_definition_opts {
    const struct api_cel *cel;
    const struct doc *old; /* what is stored; NULL: it is new */
    bool status;           /* the status is written */
};

/* d is canonical and defaulted; its metadata is the caller's, but for the name. */
void api_definition_validate(const struct doc *d, const struct api_definition_opts *opts,
                             struct arena *a, struct api_errors *errors);

#endif
