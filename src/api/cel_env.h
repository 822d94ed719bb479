/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all expressions of the API server share that look at objects: the environments of
 * the release (spec 4.4), its cost limits, and documents as CEL values. Rules of custom
 * resources and policies add their variables with cel_env_extend.
 */
#ifndef DRAY_API_CEL_ENV_H
#define DRAY_API_CEL_ENV_H

#include "cel/cel.h"
#include "doc/doc.h"

/* Immutable, shared by threads; made once in main, or for one use. */
struct api_cel {
    struct cel_env *fresh;  /* of expressions that a request brings: the release before */
    struct cel_env *stored; /* of those that are stored already: all there is */
};
void api_cel_init(struct api_cel *c);
void api_cel_fini(struct api_cel *c);

enum {
    API_CEL_CALL_LIMIT = 1000000,        /* run-time cost of one expression */
    API_CEL_BUDGET = 10000000,           /* of all rules on one object, or of a binding */
    API_CEL_BUDGET_CONDITIONS = 2500000, /* of the matchConditions for one object */
    API_CEL_MESSAGE_MAX = 5 * 1024,      /* bytes of what a messageExpression makes */
    API_CEL_REQUEST_MAX = 3 * 1024 * 1024, /* that estimates take a request to have */
};

/* "compilation failed: ERROR: <input>:1:5: ..." behind any prefix, in a. */
struct str api_cel_issues(const char *prefix, const struct cel_issues *issues,
                          struct str text, struct arena *a);

/*
 * A document as a value without a schema: maps with string keys, lists, numbers without a
 * fraction or exponent as int where they fit, else as double. Texts are shared with d,
 * the rest is in the arena of run (which need not be the one that evaluates: values are
 * made once for all expressions). NULL is null.
 */
struct cel_value api_cel_value(const struct doc *d, struct cel_run *run);

/* A member's name as an identifier of CEL ("a-b" is a__dash__b, "namespace" is
 * __namespace__). False: it has none. */
bool api_cel_escape(struct str name, struct arena *a, struct str *out);

#endif
