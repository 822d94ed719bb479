/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is there of one kind, kept up to date: a list and a watch behind a map. Whoever
 * made it is told of every change, in order; of a change that was missed (the server was
 * away, its history forgotten) as one from what it last knew to what is there now.
 *
 * The watch asks for its initial state as a stream (spec 8.1); a server that has none of
 * that is asked for a list first.
 */
#ifndef DRAY_CLIENT_INFORMER_H
#define DRAY_CLIENT_INFORMER_H

#include "client/client.h"
#include "client/object.h"

struct informer;

struct informer_ops {
    /* old NULL: it is new; now NULL: it is gone. Borrowed during the call. */
    void (*changed)(void *ctx, const struct object *old, const struct object *now);
    /* Once: all that was there at the beginning has been told. Or NULL. */
    void (*synced)(void *ctx);
    /* Something went wrong, and will be tried again; or NULL. For logs. */
    void (*trouble)(void *ctx, const char *what);
};

struct informer_opts {
    struct client_kind kind;     /* its texts outlive the informer, as do the next two */
    const char *namespace;       /* NULL: all of them */
    const char *labels, *fields; /* selectors; NULL: none */
    bool metadata;               /* of each object only its metadata is asked for */
    struct object_opts objects;
};

/* Starts at once. */
struct informer *informer_new(struct client *c, const struct informer_opts *opts,
                              const struct informer_ops *ops, void *ctx);
/* No callback follows. */
void informer_free(struct informer *i);
bool informer_synced(const struct informer *i);
/* Borrowed until the loop's next round; NULL: there is none. */
const struct object *informer_get(const struct informer *i, struct str key);
/* The same by "NAMESPACE/NAME". */
const struct object *informer_find(const struct informer *i, struct str namespace,
                                   struct str name);
uint32_t informer_count(const struct informer *i);
/* In no order; each must not wait. */
void informer_each(const struct informer *i,
                   void (*each)(void *ctx, const struct object *o), void *ctx);

#endif
