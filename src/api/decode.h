/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict decoding: does a document have the shape of its kind? Finds every unknown field,
 * duplicate field and wrong type at once, each with its path and place. null stands for
 * an absent value everywhere, as in Kubernetes.
 */
#ifndef DRAY_API_DECODE_H
#define DRAY_API_DECODE_H

#include "api/schema.h"
#include "base/arena.h"
#include "base/vec.h"
#include "doc/doc.h"

enum api_issue_kind {
    API_UNKNOWN_FIELD,
    API_DUPLICATE_FIELD,
    API_WRONG_TYPE, /* never decodable, whatever fieldValidation says */
};

struct api_issue {
    enum api_issue_kind kind;
    struct str path; /* "spec.devices[0].basic" */
    uint32_t pos;    /* of the key or value in its source */
    struct str text; /* "expected a string, got a number (5); write it in quotes" */
    const struct api_type *in; /* the type that lacks an unknown field */
    const struct doc *value;   /* the value in question */
};

struct api_issues {
    VEC(struct api_issue) list;
};

void api_issues_release(struct api_issues *issues);

/* Appends what is wrong with d as a t (paths start at prefix) and returns whether it can
 * be decoded at all (no wrong type). Texts and paths live in a. */
bool api_check_shape(const struct api_type *t, const struct doc *d, struct str prefix,
                     struct arena *a, struct api_issues *issues);
/* The same for a whole object, duplicates that the reader found included (src may be
 * NULL). */
bool api_check_object(const struct api_kind *k, const struct doc *object,
                      const struct doc_source *src, struct arena *a,
                      struct api_issues *issues);

#endif
