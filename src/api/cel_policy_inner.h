/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of expressions of admission: as compiled, for cel_policy.c and its evaluation.
 */
#ifndef DRAY_API_CEL_POLICY_INNER_H
#define DRAY_API_CEL_POLICY_INNER_H

#include "api/cel_policy.h"
#include "cel/lib.h"

enum policy_doc {
    POLICY_DOC_OBJECT,
    POLICY_DOC_OLD,
    POLICY_DOC_NAMESPACE,
    POLICY_DOC_REQUEST,
    POLICY_DOC_PARAMS,
    POLICY_DOCS
};

/* In the order of activations: the documents, and then these. */
enum {
    POLICY_VAR_VARIABLES = POLICY_DOCS,
    POLICY_VAR_AUTHORIZER,
    POLICY_VAR_REQUEST_RESOURCE,
    POLICY_VARS
};

enum {
    POLICY_ENVS = 16,   /* by flags, and whether there are patches */
    POLICY_DEPTH = 100, /* of variables that use one another */
};

struct policy_expr {
    struct policy_expr *next;
    struct str text;
    struct cel_program *program;
    const struct cel_type *type;
};

struct policy_variable {
    struct str name;
    struct policy_expr *expr; /* NULL: it is none, */
    struct str why;           /* which is why */
    uint32_t depth;
};

struct policy_exprs {
    struct arena arena;
    const struct policy_cel *cel;
    bool params;
    struct cel_env *envs[POLICY_ENVS];
    struct api_doc_paths paths[POLICY_DOCS];
    struct policy_expr *all;
    VEC(struct policy_variable) variables;
    VEC(struct cel_field) fields;
    struct cel_object_type variables_object; /* it grows with them */
    struct cel_type variables_type;
};

/* Of "request" and "namespaceObject". */
extern const struct cel_type *const policy_request_type, *const policy_namespace_type;
#define POLICY_VARIABLES_NAME "kubernetes.variables" /* the type of "variables" */
/* What others know of a variable's type: scalars, lists and maps. */
const struct cel_type *policy_known_type(const struct cel_type *t, struct arena *a);

/* Of "variables"; the activation is a struct policy_eval. */
extern const struct cel_var_ops policy_variables_ops;

#endif
