/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors as lists, watches and deletions of collections take them.
 * Pure; what is parsed lives in the arena.
 */
#ifndef DRAY_SERVER_REST_SELECTOR_H
#define DRAY_SERVER_REST_SELECTOR_H

#include "doc/doc.h"
#include "store/cache.h"

enum selector_op {
    SELECT_EXISTS,
    SELECT_ABSENT,
    SELECT_IN,     /* "=", "==" too */
    SELECT_NOT_IN, /* "!=" too: also true of objects without the key */
    SELECT_GREATER,
    SELECT_LESS,
};

struct requirement {
    struct str key;
    enum selector_op op;
    const struct str *values;
    uint32_t nvalues;
};

struct selector {
    const struct requirement *all; /* must all hold */
    uint32_t n;
};

/* false: no such selector; why is the text that upstream gives. */
bool selector_parse_labels(struct str text, struct arena *a, struct selector *out,
                           struct str *why);
bool selector_parse_fields(struct str text, struct arena *a, struct selector *out,
                           struct str *why);
/* Of a LabelSelector, whose texts it borrows. false: it selects nothing, being absent or
 * none that is valid. */
bool selector_of_doc(const struct doc *d, struct arena *a, struct selector *out);
bool requirement_holds(const struct requirement *r, struct str value);
bool selector_matches_labels(const struct selector *s, const struct cache_object *o);

#endif
