/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of field paths as managedFields hold them (FieldsV1). A path is a row of elements,
 * each spelled as there: f:NAME a member, k:{"KEY":VALUE,...} an item of a keyed list,
 * v:VALUE an item of a set, i:N an item by place. A set is a tree; every node that is
 * kept belongs to a path of the set.
 *
 * A zeroed set is empty. Sets are immutable but for fields_insert; results share subtrees
 * with their operands, and everything lives in the arena.
 */
#ifndef DRAY_API_FIELDS_H
#define DRAY_API_FIELDS_H

#include "doc/doc.h"

struct field_node;

struct fields {
    struct field_node *v; /* by name */
    uint32_t n, cap;
};

struct field_node {
    struct str name;     /* canonical: keys sorted */
    bool member;         /* the path that ends here is in the set */
    struct fields below; /* longer paths */
};

/* A path while a tree is walked: from the last element up. NULL is the root. */
struct field_step {
    const struct field_step *up;
    struct str name;
};

struct str field_name(struct arena *a, struct str member); /* f:member */

/* d is FieldsV1 as a document. */
bool fields_decode(const struct doc *d, struct arena *a, struct fields *out,
                   struct str *why);
struct doc fields_encode(const struct fields *s, struct arena *a);

/* The root is in no set. */
void fields_insert(struct fields *s, const struct field_step *path, struct arena *a);
const struct field_node *fields_find(const struct fields *s, struct str name);
bool fields_has(const struct fields *s, const struct field_step *path);
static inline bool fields_empty(const struct fields *s)
{
    return s->n == 0;
}

struct fields fields_union(const struct fields *x, const struct fields *y,
                           struct arena *a);
struct fields fields_intersection(const struct fields *x, const struct fields *y,
                                  struct arena *a);
struct fields fields_difference(const struct fields *x, const struct fields *y,
                                struct arena *a);
/* A path of y takes all longer ones away too. */
struct fields fields_without(const struct fields *x, const struct fields *y,
                             struct arena *a);

/* Calls each with every path as people read it: .spec.ports[port=80].name */
typedef void fields_each_fn(void *ctx, struct str path);
void fields_each(const struct fields *s, struct arena *a, fields_each_fn *each,
                 void *ctx);

/* How Go orders elements where it writes a set: members, items by keys, values, places;
 * numbers in them as numbers. "." comes first. (fields_order.c) */
int fields_compare(struct str x, struct str y);

#endif
