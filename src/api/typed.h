/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values with the shape that the tables give them, as server-side apply sees them: what
 * is owned as one (atomic), which lists are keyed, and five operations on that.
 *
 * A value may be absent (NULL) or null; these differ. Documents are maps in the shape of
 * a type, and are not changed.
 */
#ifndef DRAY_API_TYPED_H
#define DRAY_API_TYPED_H

#include "api/fields.h"
#include "api/schema.h"

/* Whether d has the shape of t and every item of a keyed list its own key (unless
 * duplicates are allowed). The text names the first wrong value:
 * ".spec.ports: duplicate entries for key [port=80]". */
bool typed_check(const struct api_type *t, const struct doc *d, bool duplicates,
                 struct arena *a, struct str *why);

/* The lists and maps in d that are owned as one: ".spec.a, .spec.b[0].c"; empty: none. */
struct str typed_atomics(const struct api_type *t, const struct doc *d, struct arena *a);

/* What someone owns who applies d. */
struct fields typed_fields(const struct api_type *t, const struct doc *d,
                           struct arena *a);

struct typed_change {
    struct fields added, removed, modified;
};
struct typed_change typed_compare(const struct api_type *t, const struct doc *from,
                                  const struct doc *to, struct arena *a);

/* old with what config says; items come in an order that keeps both lists' own. */
struct doc typed_merge(const struct api_type *t, const struct doc *old,
                       const struct doc *config, struct arena *a);

/* d without the paths of gone. Maps and lists that get empty become null. */
struct doc typed_remove(const struct api_type *t, const struct doc *d,
                        const struct fields *gone, struct arena *a);

/* Fields of structs that have longer paths in the set become members of it. */
struct fields typed_name_fields(const struct api_type *t, const struct fields *s,
                                struct arena *a);
/* Paths that lead into what is owned as one become the path to it. */
struct fields typed_reconcile(const struct api_type *t, const struct fields *s,
                              struct arena *a);

#endif
