/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns which fields of an object: metadata.managedFields. One manager is one name,
 * operation and subresource, and for updates also one version.
 */
#ifndef DRAY_API_MANAGERS_H
#define DRAY_API_MANAGERS_H

#include "api/fields.h"

struct manager {
    struct str name, version, subresource;
    struct str time; /* RFC 3339; STR_NONE: none */
    bool applied;    /* operation Apply, else Update */
    struct fields fields;
};

struct managers {
    struct manager *v;
    size_t n, cap;
};

enum { MANAGERS_MAX_UPDATERS = 10 };

/* entries: the list, null or NULL. */
bool managers_decode(const struct doc *entries, struct arena *a, struct managers *out,
                     struct str *why);
/* Sorted by operation, time, name, version and subresource. */
struct doc managers_encode(const struct managers *m, struct arena *a);

bool manager_same(const struct manager *x, const struct manager *y);
/* The manager that is the same as who; NULL: none. */
struct manager *managers_find(struct managers *m, const struct manager *who);
struct manager *managers_add(struct managers *m, struct manager who, struct arena *a);
/* Those without a field go. */
void managers_drop_empty(struct managers *m);
/* While more than MANAGERS_MAX_UPDATERS update, the oldest of one version become
 * "ancient-changes". */
void managers_cap(struct managers *m, struct arena *a);
/* "m1", or "m2" with subresource "scale" using autoscaling/v1. */
struct str manager_describe(const struct manager *m, struct arena *a);

#endif
