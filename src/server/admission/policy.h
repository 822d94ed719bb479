/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of policies: what those that validate and those that mutate share.
 */
#ifndef DRAY_SERVER_ADMISSION_POLICY_H
#define DRAY_SERVER_ADMISSION_POLICY_H

#include "server/admission/hooks.h"
#include "server/admission/review.h"

/* What expressions of a request may ask about: who may do what (policy_subject.c). */
struct policy_asking {
    struct admission *a;
    struct api_authorizer authorizer;
};
void policy_asking_init(struct policy_asking *q, struct admission *a);

/* A request in one version, as expressions see it. */
struct policy_view {
    const struct resource *as;
    struct doc request, object, old, namespace;
    bool has_object, has_old, has_namespace;
};
/* false: failed, since the request's namespace is not there. */
bool policy_view_make(struct policy_view *v, struct admission *a,
                      const struct resource *as);
/* namespace: the variable has a value. */
struct policy_subject policy_subject_of(const struct policy_view *v,
                                        const struct policy_asking *q,
                                        const struct doc *params, bool namespace);

/* The objects that a binding's paramRef means; a null among them: no parameters. */
struct policy_params {
    struct doc *v;
    uint32_t n;
};
/* false: *why says what is wrong with the policy (of_policy), or the binding. */
bool policy_params_find(const struct policy *p, const struct policy_binding *b,
                        struct admission *a, struct policy_params *out, struct str *why);
/* false: there is no such kind, and *why says so. */
bool policy_param_known(const struct policy *p, struct admission *a, struct str *why);

/* A condition's value; POLICY_FAILED also where it did not compile. *why lives as long as
 * the evaluation or the request. */
enum policy_outcome policy_check(struct policy_eval *e, const struct condition *c,
                                 struct arena *a, int64_t *budget, struct cel_value *out,
                                 struct str *why);

enum conditions_answer {
    CONDITIONS_MET,
    CONDITIONS_UNMET, /* or they failed, and failures are ignored */
    CONDITIONS_FAILED /* *why says how */
};
enum conditions_answer policy_conditions(struct policy_eval *e,
                                         const struct conditions *c, bool ignore,
                                         struct arena *a, struct str *why);

#endif
