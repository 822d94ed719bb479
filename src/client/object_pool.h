/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that several informers of a process are told of in the same words: each text is
 * read once, and its document is one in memory. An object is in the pool for as long as
 * somebody holds it. Objects of other threads may be let go; the rest is the loop's.
 */
#ifndef DRAY_CLIENT_OBJECT_POOL_H
#define DRAY_CLIENT_OBJECT_POOL_H

#include "client/object.h"

struct object_pool;

struct object_pool *object_pool_new(void);
/* Its objects live on. NULL is fine. */
void object_pool_free(struct object_pool *p);
struct object_pool *object_pool_ref(struct object_pool *p);

/* As object_of_json. Objects with views are made anew and share document and texts. */
struct object *object_pool_read(struct object_pool *p, struct str json,
                                const struct object_opts *opts, struct err *e);
/* Documents that it has. */
uint32_t object_pool_count(const struct object_pool *p);

/* For object.c: the last reference may go. */
void object_pool_unref(struct object_pool *p, struct object *o);

#endif
