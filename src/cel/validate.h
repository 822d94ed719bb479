/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of cel: what the API server checks beyond types (spec 4.6): literals of one
 * type, literal arguments that no evaluation could take, format strings that do not fit
 * their literal arguments.
 */
#ifndef DRAY_CEL_VALIDATE_H
#define DRAY_CEL_VALIDATE_H

#include "cel/issues.h"

/* x is checked, without issues. */
void cel_validate(const struct cel_env *env, const struct cel_expr *x,
                  struct cel_reporter *report);

#endif
