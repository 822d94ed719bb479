/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas of custom resources: openAPIV3Schema of a version of a
 * CustomResourceDefinition, checked, compiled and applied to objects, as
 * apiextensions-apiserver 1.37 does it. No I/O; errors are those of api/validate.h with
 * upstream's types, paths and texts.
 *
 * A definition is checked by structural_check when it is written. structural_new makes
 * what serves its objects: immutable, with memory of its own, shared by threads.
 */
#ifndef DRAY_API_STRUCTURAL_H
#define DRAY_API_STRUCTURAL_H

#include "api/cel_env.h"
#include "api/schema.h"
#include "api/validate.h"

/* ---- Definitions ---- */

struct structural_check_opts {
    const struct api_cel *cel;
    /* Of the schema's parent: "spec.versions[0].schema"; as upstream has it
     * "spec.validation" where all versions have the same schema. */
    const char *path;
    bool status; /* the version has the subresource */
    /* The stored definition's spec, or NULL when it is new: expressions that it has, in
     * whatever version, may use all there is. */
    const struct doc *old_spec;
    bool unchanged; /* the schema of this version is as stored: costs are not limited */
};

/*
 * Reports what is wrong with openAPIV3Schema (schema is that, not its parent): upstream's
 * validateCustomResourceDefinitionValidation. The document is one that api/decode.h has
 * taken. Structures deeper than STRUCTURAL_DEPTH or with more than STRUCTURAL_NODES
 * schemas are refused.
 */
void structural_check(const struct doc *schema, const struct structural_check_opts *opts,
                      struct arena *a, struct api_errors *errors);
enum { STRUCTURAL_DEPTH = 100, STRUCTURAL_NODES = 200000 };

/* The warnings on a definition's spec that the stored one (NULL: it is new) did not give:
 * formats that nobody knows, sets of what is no scalar. */
typedef void structural_warn_fn(void *ctx, struct str text);
void structural_warnings(const struct doc *spec, const struct doc *old_spec,
                         struct arena *a, structural_warn_fn *warn, void *ctx);

/* Whether a path of spec.versions[].selectableFields leads to a field that can be
 * selected; *clean is the path as it is compared with others. False: *why says why not,
 * as upstream does. */
bool structural_selectable(const struct doc *schema, struct str path, struct arena *a,
                           struct str *clean, struct str *why);

/* ---- What serves objects ---- */

struct structural;

struct structural_opts {
    const struct api_cel *cel; /* must stay */
    /* For the type: of the custom resource's kind. May be empty. */
    const char *kind;
    bool preserve_unknown; /* spec.preserveUnknownFields of old definitions */
};

/* Of a definition that was accepted: rules that do not compile any more are reported by
 * objects. A NULL schema takes everything. */
struct structural *structural_new(const struct doc *schema,
                                  const struct structural_opts *opts);
void structural_free(struct structural *s);

/*
 * The tables' view of the objects, for typed_*, apply_* and conversion of patches: struct
 * rows for properties, lists with their keys, ObjectMeta at the root and in embedded
 * resources. Lives as long as s.
 */
const struct api_type *structural_type(const struct structural *s);

/*
 * What decoding does to an object of a request, or of the store: unknown members are
 * taken out, as are nulls that may not be and have no default; metadata of embedded
 * resources is decoded. d is changed, new memory is in a. The root's metadata is left to
 * the caller's decoder of ObjectMeta.
 *
 * Calls unknown, unless it is NULL, with the path of each member that was taken out, in
 * byte order: "spec.foo". False: *why is the text of a bad request (never when stored).
 */
typedef void structural_path_fn(void *ctx, struct str path);
bool structural_prune(const struct structural *s, struct doc *d, bool stored,
                      structural_path_fn *unknown, void *ctx, struct arena *a,
                      struct str *why);
/* Numbers of a request as Go keeps them: 1.50 is 1.5, 1e3 is 1000. d is changed, new
 * memory is in a. False: *why is the text of a bad request. */
bool structural_floats(struct doc *d, struct arena *a, struct str *why);
/* Defaults, after structural_prune. */
void structural_default(const struct structural *s, struct doc *d, struct arena *a);

struct structural_validate_opts {
    const struct doc *old; /* what is stored, with defaults; NULL: a new object */
    bool status;           /* the subresource is written */
    /* What is wrong but was so before (ratcheting): told as warnings. May be NULL. */
    structural_warn_fn *warn;
    void *warn_ctx;
    /* Polled while rules run; true ends validation. May be NULL. */
    bool (*cancelled)(void *ctx);
    void *cancel_ctx;
};

/*
 * Validates an object whose type and metadata the caller has validated: the schema, the
 * embedded resources, list sets and maps, the rules. errors may hold what the caller
 * found before: as upstream has it, rules are not run after certain errors, and one more
 * error says so.
 */
void structural_validate(const struct structural *s, const struct doc *d,
                         const struct structural_validate_opts *opts, struct arena *a,
                         struct api_errors *errors);

#endif
