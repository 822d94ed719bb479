/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expressions of a policy against the types of what it is about, as the status of a
 * policy tells: object and oldObject have a type here, which they have not when a policy
 * runs (cel_policy.h). Nothing is evaluated.
 *
 * Source: k8s.io/apiserver pkg/admission/plugin/policy/validating, typechecking.go.
 */
#ifndef DRAY_API_POLICY_CHECK_H
#define DRAY_API_POLICY_CHECK_H

#include "api/cel_env.h"

struct policy_subject_types { /* NULL: anything */
    const struct cel_type *object, *params;
    bool has_params; /* the variable is there */
};

struct policy_check;

/* cel and the types must stay. */
struct policy_check *policy_check_new(const struct api_cel *cel,
                                      const struct policy_subject_types *types);
void policy_check_free(struct policy_check *c);
/* variables.NAME for what follows; one that is no expression may be anything. */
void policy_check_variable(struct policy_check *c, struct str name, struct str text);
/* True: the expression is one, whatever it gives. Else *issues says what is wrong, as
 * upstream words it; in the arena. */
bool policy_check_expr(struct policy_check *c, struct str text, struct arena *a,
                       struct str *issues);

#endif
