/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of admission: of policies, and the matchConditions of webhooks. Those of
 * one policy belong together: they share its variables, and on one request each variable
 * is evaluated once, when an expression first needs it.
 *
 * The variables that all have: object, oldObject, request, namespaceObject; params where
 * the policy has a paramKind; authorizer; variables.NAME.
 */
#ifndef DRAY_API_CEL_POLICY_H
#define DRAY_API_CEL_POLICY_H

#include "api/cel_authz.h"
#include "api/cel_doc.h"
#include "api/cel_env.h"

/* What an expression must give. */
enum policy_result {
    POLICY_ANY,
    POLICY_BOOL,
    POLICY_STRING,
    POLICY_TEXT_OR_NULL,
    POLICY_OBJECT,  /* Object{...} */
    POLICY_PATCHES, /* list of JSONPatch{...} */
};

enum policy_flags {
    POLICY_STORED = 1 << 0,     /* was accepted before: may use all there is */
    POLICY_AUTHORIZER = 1 << 1, /* has the variable */
    POLICY_VARIABLES = 1 << 2,  /* has those added before */
};

/* The environments that make objects and patches, besides those of api_cel. */
struct policy_cel {
    const struct api_cel *base;
    struct cel_env *fresh, *stored;
};
/* base must stay. */
void policy_cel_init(struct policy_cel *c, const struct api_cel *base);
void policy_cel_fini(struct policy_cel *c);

struct policy_exprs;
struct policy_expr;

/* cel must stay; params: the variable is there. */
struct policy_exprs *policy_exprs_new(const struct policy_cel *cel, bool params);
void policy_exprs_free(struct policy_exprs *x);

/* Why an expression is none; the text is in the arena given. */
struct policy_error {
    bool internal;
    struct str text;
};
/* text is copied. NULL: *error says why. It goes with x. */
struct policy_expr *policy_expr_new(struct policy_exprs *x, struct str text,
                                    enum policy_result result, unsigned flags,
                                    struct arena *a, struct policy_error *error);
/* Adds variables.NAME for the expressions that follow, also when it is none: then it
 * fails where it is used. */
bool policy_variable_add(struct policy_exprs *x, struct str name, struct str text,
                         unsigned flags, struct arena *a, struct policy_error *error);

/* A copy that lives as long as the expressions. */
struct str policy_text_keep(struct policy_exprs *x, struct str text);

/* ---- On a request ---- */

struct policy_subject { /* documents may be NULL: null */
    const struct doc *object, *old, *params, *namespace, *request;
    const struct api_authorizer *authorizer; /* never NULL */
};

/* No expression may be compiled anymore. Values live until policy_eval_fini. */
struct policy_eval;
struct policy_eval *policy_eval_new(const struct policy_exprs *x,
                                    const struct policy_subject *s);
void policy_eval_free(struct policy_eval *e);

enum policy_outcome {
    POLICY_VALUE,
    POLICY_FAILED, /* this expression: *why is upstream's text */
    POLICY_SPENT,  /* the budget is: no more of them */
};
enum policy_outcome policy_eval(struct policy_eval *e, const struct policy_expr *x,
                                int64_t *budget, struct cel_value *out, struct str *why);

/* A value as a document, in the arena: of a field of Object{...}, or of a patch. False:
 * it cannot be one, and *why says why. */
bool policy_value_doc(struct cel_value v, struct arena *a, struct doc *out,
                      struct str *why);
/* Whether objects inside are of the types that their fields' names say. */
bool policy_object_check(struct cel_value v, struct arena *a, struct str *why);

#endif
