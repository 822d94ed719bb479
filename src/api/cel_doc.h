/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that are documents without a schema. An expression's constant paths
 * ("object.spec.replicas") become slots when it is compiled, and reading one makes a
 * value of what stands there alone, once for all expressions on the document.
 */
#ifndef DRAY_API_CEL_DOC_H
#define DRAY_API_CEL_DOC_H

#include "base/vec.h"
#include "cel/cel.h"
#include "doc/doc.h"

/* The paths that the expressions of an environment have. They grow as those compile. */
struct api_doc_path {
    const struct str *keys;
    uint32_t n;
    bool optional; /* the last step */
};
struct api_doc_paths {
    struct arena *arena;
    VEC(struct api_doc_path) all;
};
void api_doc_paths_release(struct api_doc_paths *p);

/* Of a struct cel_var whose decl is a struct api_doc_paths, and its activation. */
extern const struct cel_var_ops api_doc_ops;
struct api_doc_binding {
    const struct api_doc_paths *paths;
    const struct doc *doc;  /* NULL: null */
    struct cel_run *values; /* where values are made, and stay */
    struct cel_value *made; /* of the paths, CEL_KINDS: not yet; one more for the whole */
};
/* When all expressions have been compiled. */
void api_doc_bind(struct api_doc_binding *b, const struct api_doc_paths *paths,
                  const struct doc *doc, struct cel_run *values);

#endif
