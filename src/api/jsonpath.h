/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSONPath as kubectl's library has it, as far as columns of custom resources use it:
 * members (.a, ['a']), items ([0], [-1], [1:3], [*]), .., * and filters
 * ([?(@.type=="Ready")]). No ranges, no text around the path.
 *
 * A parsed path and all that it finds live in the arena, or belong to the document.
 */
#ifndef DRAY_API_JSONPATH_H
#define DRAY_API_JSONPATH_H

#include "doc/doc.h"

struct jsonpath_step;

struct jsonpath {
    const struct jsonpath_step *steps;
    uint32_t n;
};

enum { JSONPATH_MAX_STEPS = 200, JSONPATH_MAX_RESULTS = 10000 };

/* text is what stands between the braces: ".spec.replicas". false: it is no path. */
bool jsonpath_parse(struct str text, struct arena *a, struct jsonpath *out);

/* What the path leads to, in order; *n 0: nothing, or the path does not fit. */
const struct doc *const *jsonpath_find(const struct jsonpath *p, const struct doc *d,
                                       struct arena *a, uint32_t *n);

#endif
