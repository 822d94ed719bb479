/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom resources: rows of kinds that are made at run time, one set for each
 * CustomResourceDefinition whose names are accepted, from what the cache has of it.
 *
 * A set is immutable but for `terminating`, and counted: requests keep the one that they
 * were routed to, so that its memory goes with the last of them. When a definition
 * changes, what is served from then on is a new set, and watches of the old one end, as
 * upstream's do.
 *
 * What was stored under an earlier schema is read as today's says: pruned, defaulted,
 * renamed. Objects that were written since are as they should be, and their bytes serve
 * (custom_fresh).
 */
#ifndef DRAY_SERVER_CUSTOM_CUSTOM_H
#define DRAY_SERVER_CUSTOM_CUSTOM_H

#include "api/columns.h"
#include "api/decode.h"
#include "api/structural.h"
#include "server/rest/write.h"

struct custom;

enum { CUSTOM_MAX_SELECTABLE = 11 };

struct custom_version {
    struct custom *of;
    const char *name;
    bool served, storage, deprecated, has_status, has_scale;
    struct structural *schema;
    struct api_custom like;
    struct api_kind kind, status, scale;
    struct resource rows[3]; /* of these */
    struct str api_version;
    struct api_columns columns;
    struct field_labels labels;
    struct jsonpath selectable[CUSTOM_MAX_SELECTABLE]; /* as in labels */
    struct str deprecation;                            /* STR_NONE: it is not */
    const char *spec_replicas, *status_replicas;       /* "spec.replicas" */
    const char *label_selector;                        /* NULL: none */
};

/* The sets of one definition that live: the one that is served and those that requests
 * still hold. */
struct custom_family {
    struct str name; /* "foos.example.com" */
    unsigned living; /* and one for whom it is listed */
    struct custom *now;
    struct str group;
    struct doc accepted; /* names */
    bool conflicts;      /* it waits for names that others have */
    struct arena arena, names;
};

struct custom {
    struct server *s;
    struct arena arena;
    unsigned refs;
    struct custom_family *family;
    struct custom_version *versions;
    uint32_t nversions;
    struct custom_version *storage;
    const char *group, *plural, *list_kind;
    struct str essence;              /* what all of this is made of */
    uint64_t revision;               /* of the definition */
    uint64_t since;                  /* what was written after it is fresh */
    bool listed;                     /* in discovery: established */
    bool terminating;                /* nothing new is made */
    struct conversions *conversions; /* by a webhook; NULL: by name alone */
};

/* ---- rows (custom_rows.c) ---- */

/* With one reference; NULL: its names are not accepted, or belong to a built-in kind. */
struct custom *custom_new(struct server *s, const struct doc *definition,
                          uint64_t revision);
/* What the rows depend on, as text. */
struct str custom_essence(const struct doc *definition, struct arena *a);
void custom_destroy(struct custom *c);
/* Kubernetes' order of versions: v2, v1, v1beta1, other. >0: x comes first. */
int custom_version_order(const char *x, const char *y);

/* ---- the table (custom.c) ---- */

struct customs;
/* Once the cache is loaded: makes the rows, and follows the definitions. */
void customs_start(struct server *s);
void customs_free(struct server *s);
const struct resource *customs_find(const struct server *s, struct str name);
const struct resource *customs_of_key(const struct server *s, struct str key);
/* All that are listed, in the order of discovery. */
const struct resource *const *customs_listed(const struct server *s, uint32_t *n);
/* Whether another definition of the group has a name: of a kind, or of a resource. */
bool customs_name_taken(const struct server *s, struct str group, struct str definition,
                        bool of_kind, struct str name);
/* Those of the group that wait for names. */
void customs_each_conflict(const struct server *s, struct str group,
                           void (*each)(void *ctx, struct str definition), void *ctx);
void custom_ref(struct custom *c);
void custom_unref(struct custom *c);
/* The request is served by these rows until its memory goes. */
void custom_hold(struct request *r);
/* For definition_control.c: a definition is there, has changed, or is gone. */
void definition_changed(struct server *s, struct str name, const struct doc *definition,
                        bool gone);

/* ---- objects (custom_object.c) ---- */

/* Whether the object's bytes are what its definition says today. */
bool custom_fresh(const struct resource *res, const struct cache_object *o);
/* From whatever it was stored as into the version of res. false: a webhook has to convert
 * it, and r waits for that, or has failed; without r (NULL) what is not known stays as it
 * is. */
bool custom_convert(struct request *r, const struct resource *res, struct doc *d,
                    struct arena *a);
/* The same into the version that is stored. */
bool custom_to_stored(struct request *r, const struct resource *res, struct doc *d,
                      struct arena *a);
/* For apply.h, ctx is the request: when it waits or has failed afterwards, what was made
 * of it is not to be used. NULL: versions differ in their names alone. */
void custom_convert_owned(void *ctx, struct str version, struct doc *d, struct arena *a);
bool custom_asks(const struct resource *res);
/* Whether objects can be shown in the version of the request: all that is not known is
 * asked at once. false: as custom_convert, in the words of a read of one, of a list, or
 * of a write. */
enum custom_reading { CUSTOM_GET, CUSTOM_LIST, CUSTOM_CHANGE };
bool custom_ready(struct request *r, struct cache_object *const *objects, size_t n,
                  enum custom_reading how);
/* The text by which it is known to the webhook (conversion.h). false: it is in the
 * version already. */
bool custom_source(const struct custom_version *to, const struct cache_object *o,
                   struct arena *a, struct str *out);
/* Where fields are selected in another version: of all that may be. */
bool custom_selectable(struct request *r, const struct selection *s,
                       enum custom_reading how);
/* As Go names the type of a value. */
const char *custom_go_type(const struct doc *d);
bool custom_matches(const struct selection *s, const struct cache_object *o);
/* What was read as one of them, in the version of res: unknown fields go, defaults come.
 * Appends what is wrong. false: it cannot be one (*why, or a wrong type). */
bool custom_complete(const struct resource *res, struct doc *d,
                     const struct doc_source *src, struct arena *a,
                     struct api_issues *issues, struct str *why);
/* By a path of maps, "spec.replicas": NULL where it does not lead anywhere. */
void custom_set_path(struct doc *d, const char *path, struct doc value, struct arena *a);
bool custom_finish_create(struct write *w, struct doc *d, struct str given);
bool custom_finish_update(struct write *w, struct doc *d);

#endif
