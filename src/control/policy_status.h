/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the types of a ValidatingAdmissionPolicy's expressions, told in its
 * status.typeChecking: each is checked against every kind that the policy's constraints
 * name without a wildcard, ten at most. It is advice: the policy does what it does.
 *
 * Source: k8s.io/kubernetes pkg/controller/validatingadmissionpolicystatus.
 */
#ifndef DRAY_CONTROL_POLICY_STATUS_H
#define DRAY_CONTROL_POLICY_STATUS_H

#include "client/resources.h"
#include "control/reconciler.h"

extern const struct reconciler_def policy_status;

enum { POLICY_KINDS = 10 }; /* of one rule */

struct policy_kind { /* texts are the policy's or the resources' */
    struct str group, version, kind;
};

struct policy_kinds {
    struct policy_kind *v; /* by group, version, kind; each once; in the arena */
    uint32_t n;
    bool missed; /* a rule names something that nothing serves, as far as is known */
};

/* The kinds that a policy's rules name. A group that is empty is any group, as it is to
 * upstream. */
struct policy_kinds policy_kinds_of(const struct doc *policy, const struct resources *r,
                                    struct arena *a);

#endif
