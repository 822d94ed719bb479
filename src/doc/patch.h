/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON patch (RFC 6902) and JSON merge patch (RFC 7386) with the readings of the library
 * that Kubernetes 1.37 uses, json-patch v4: negative indexes count from the end, replace
 * and copy take a missing member of a map for null, what stands before the first slash of
 * a pointer is not looked at, and two numbers pass a test when their texts are equal.
 *
 * Inputs are never changed. What comes out shares strings and whole subtrees with them:
 * keep them alive, or doc_dup the result.
 */
#ifndef DRAY_DOC_PATCH_H
#define DRAY_DOC_PATCH_H

#include "doc/doc.h"

/* Why a patch was refused, and the class of HTTP status that says so. */
enum patch_status {
    PATCH_BAD = 400,       /* no patch at all */
    PATCH_CONFLICT = 409,  /* others own what it changes */
    PATCH_TOO_LARGE = 413, /* over a limit below */
    PATCH_NO_FIT = 422,    /* a patch, but not for this object */
    PATCH_FAILED = 500,    /* upstream answers this where it has no better word */
};

struct patch_error {
    enum patch_status status;
    struct str text; /* in the arena */
    bool untrue;     /* an operation "test" said no */
};

/* Always false. */
bool patch_refuse(struct patch_error *e, enum patch_status status, struct arena *a,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

enum {
    PATCH_MAX_OPERATIONS = 10000,
    PATCH_MAX_COPIED = 3 << 20, /* bytes of JSON that copy operations may add */
};

/* Whether every operation has the types of one. Members that no operation has are written
 * to unknown (may be NULL) as "[1].frm", a list of strings. */
bool patch_json_check(const struct doc *patch, struct doc *unknown, struct arena *a,
                      struct patch_error *e);
/* All operations or none. The result is nowhere deeper than DOC_MAX_DEPTH. */
bool patch_json(const struct doc *object, const struct doc *patch, struct arena *a,
                struct doc *out, struct patch_error *e);

bool patch_merge(const struct doc *object, const struct doc *patch, struct arena *a,
                 struct doc *out, struct patch_error *e);
/* The smallest merge patch that makes from into to, two maps. A null in to cannot be
 * said by a merge patch: it counts as absent. */
struct doc patch_merge_diff(const struct doc *from, const struct doc *to,
                            struct arena *a);

#endif
