/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects by something else than their names: under each value the keys of the objects
 * that have it. Kept by whoever is told of changes (informer.h).
 */
#ifndef DRAY_CLIENT_INDEX_H
#define DRAY_CLIENT_INDEX_H

#include "base/map.h"
#include "client/object.h"

struct index;
/* index_emit for each value of an object; the same one twice is one. */
typedef void index_values(struct index *x, const struct object *o);

struct index {
    index_values *values;
    struct strmap sets; /* value -> struct index_set */
    /* While an object is looked at. */
    struct str key;
    bool removing;
};

void index_init(struct index *x, index_values *values);
void index_fini(struct index *x);
void index_emit(struct index *x, struct str value);
/* Before or after the informer's own map, as you like. NULLs as the informer tells. */
void index_change(struct index *x, const struct object *old, const struct object *now);
/* The keys under a value, *n of them, in no order; valid until the next change. */
const struct str *index_find(const struct index *x, struct str value, uint32_t *n);
/* Calls each for every value there is, in no order. */
void index_each(const struct index *x, void (*each)(void *ctx, struct str value),
                void *ctx);

#endif
