/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of fields: what every write does to metadata.managedFields, and server-side
 * apply (KEP-555), as kube-apiserver 1.37 does them.
 *
 * Objects are canonical (api/canonical.h) and in the version of the request; they are not
 * changed. Results share strings and subtrees with them.
 */
#ifndef DRAY_API_APPLY_H
#define DRAY_API_APPLY_H

#include "api/managers.h"
#include "api/schema.h"
#include "doc/patch.h"

/* One write by one manager. */
struct apply_write {
    const struct api_kind *kind; /* the resource or subresource that is written to */
    struct str manager;          /* empty: "unknown" */
    struct str now;              /* RFC 3339, whole seconds */
    /* Brings an object of a custom kind into another of its versions, for the owners of
     * fields in that. NULL: versions differ in their names alone. */
    void (*convert)(void *ctx, struct str version, struct doc *d, struct arena *a);
    void *convert_ctx;
};

enum { APPLY_MAX_MANAGER = 128 };

/* The name of a manager: what the request says, else what its user agent has before the
 * first slash. */
struct str apply_manager_name(struct str manager, struct str user_agent, struct arena *a);

/*
 * The managedFields of object, which is created (live is NULL), updated or patched.
 * object has managedFields as the request has them: an empty list, or one empty entry,
 * makes the object owned by nobody, and then nothing is tracked until it is applied.
 * Returns a list, maybe empty.
 */
struct doc apply_update(const struct apply_write *w, const struct doc *live,
                        const struct doc *object, struct arena *a);

/* A field that is applied, with another value, by someone else too. */
struct apply_conflict {
    struct str manager; /* "m1" using v1 */
    struct str field;   /* .spec.replicas */
};

struct apply_result {
    /* Not canonical and without defaults yet, its managedFields set. */
    struct doc object;
    bool unchanged; /* but for managedFields */
    const struct apply_conflict *conflicts;
    size_t nconflicts; /* more than 0 only when it failed with PATCH_CONFLICT */
};

/* config is what the client sent; live is NULL when there is no object yet. false: see
 * e, whose text is the message of the Status. */
bool apply_config(const struct apply_write *w, const struct doc *live,
                  const struct doc *config, bool force, struct arena *a,
                  struct apply_result *out, struct patch_error *e);

/* Whether two versions of an object differ in no more than times in managedFields: then
 * nothing need be written. */
bool apply_same_but_times(const struct doc *x, const struct doc *y, struct arena *a);

/* managedFields of the Scale of an object, and what becomes of the object's when the
 * Scale was written. version is the object's, replicas the place of the number in it
 * ("spec.replicas"). */
struct doc apply_to_scale(const struct doc *entries, struct str version,
                          const char *replicas, struct arena *a);
struct doc apply_from_scale(const struct doc *entries, const struct doc *scale,
                            struct str version, const char *replicas, struct arena *a);

#endif
