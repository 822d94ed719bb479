/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object of a server at one version: immutable, counted, in an arena of its own. It
 * crosses threads as it is. Beside the document, or instead of it, it may carry what a
 * part of dray has made of it once for all who look at it (view).
 */
#ifndef DRAY_CLIENT_OBJECT_H
#define DRAY_CLIENT_OBJECT_H

#include "base/arena.h"
#include "doc/doc.h"

struct object {
    uint32_t refs;  /* atomic */
    struct str key; /* "NAMESPACE/NAME", "NAME" where there is no namespace */
    struct str namespace, name, uid, version; /* resourceVersion */
    const struct doc *doc;                    /* NULL: the view is all */
    const void *view;                         /* NULL: there is none */
    struct arena arena;
    /* Another one of the same version, whose document and texts it shares, or NULL. */
    struct object *plain;
    struct object_pool *pool; /* NULL: it is in none */
    struct str pooled_as;
};

/* Makes the view of a document in the arena, where the document is too if it is kept; so
 * a view may point into it then. NULL: an object that makes no sense, *e says why. */
typedef const void *object_view_fn(const struct doc *d, struct arena *a, struct err *e);

/* The same for a view that is made with something of its maker's. */
typedef const void *object_view_with_fn(void *with, const struct doc *d, struct arena *a,
                                        struct err *e);

struct object_opts {
    object_view_fn *view;           /* NULL: none */
    bool drop_doc;                  /* only the view is kept, with texts of its own */
    object_view_with_fn *view_with; /* in place of view, or NULL */
    void *with;
};

/* An arena as object_take wants it: its chunks are small. */
void object_arena_init(struct arena *a);
/* Of a document in an arena, which is the object's from here on and left empty. One
 * reference. NULL: it has no name, or no view; what was in the arena may be gone. */
struct object *object_take(struct arena *a, const struct doc *d,
                           const struct object_opts *opts, struct err *e);
/* The same of a document that is copied, and of JSON text. */
struct object *object_of_doc(const struct doc *d, const struct object_opts *opts,
                             struct err *e);
struct object *object_of_json(struct str json, const struct object_opts *opts,
                              struct err *e);
/* An object with a view beside one without, which it refers to unless the document is to
 * be dropped. */
struct object *object_of_plain(struct object *plain, const struct object_opts *opts,
                               struct err *e);
struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */
/* For object_pool.c: nobody refers to it anymore. */
void object_free(struct object *o);

#endif
