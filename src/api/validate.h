/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation from the tables: rules/ says for each field of the kinds with full rules
 * what must hold, validate.c walks object and tables together, rules_*.c are the rules.
 * Objects are in the version that is validated (resource.k8s.io: v1; spec 2).
 */
#ifndef DRAY_API_VALIDATE_H
#define DRAY_API_VALIDATE_H

#include "api/gates.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/vec.h"
#include "cel/cel.h"
#include "device/device.h"
#include "doc/doc.h"

enum api_error_type {
    API_ERROR_REQUIRED,
    API_ERROR_INVALID,
    API_ERROR_TYPE, /* as invalid, under a reason of its own */
    API_ERROR_DUPLICATE,
    API_ERROR_TOO_MANY,
    API_ERROR_TOO_LONG,
    API_ERROR_TOO_SHORT,
    API_ERROR_NOT_SUPPORTED,
    API_ERROR_FORBIDDEN,
    API_ERROR_NOT_FOUND,
    API_ERROR_INTERNAL,
};
/* "FieldValueRequired", as causes in a Status name it. */
const char *api_error_reason(enum api_error_type t);

struct api_error {
    enum api_error_type type;
    struct str path;
    struct str bad;          /* the bad value as it is printed, STR_NONE: none is shown */
    struct str detail;       /* may be empty */
    uint32_t pos;            /* of the value in its source; UINT32_MAX: it is absent */
    const struct doc *value; /* NULL: absent */
    const struct cel_issues *issues; /* CEL compile errors with their places, else NULL */
};

struct api_errors {
    VEC(struct api_error) list;
};
void api_errors_release(struct api_errors *errors);
/* "spec.x: Invalid value: \"a\": must be ..." as the API server words it. */
void api_error_print(const struct api_error *e, struct strbuf *out);

enum api_op { API_CREATE, API_UPDATE, API_UPDATE_STATUS };

struct api_validate_opts {
    enum api_op op;
    const struct doc *old; /* what is stored, for updates */
    const struct api_gates *gates;
    /* "status", "ephemeralcontainers", ...; NULL: the object itself. */
    const char *part;
    bool patch;           /* the update comes from a patch */
    bool admin_namespace; /* the namespace allows adminAccess (spec 2.3) */
    /* The version of the request, whose paths declarative errors use (spec 2.9); NULL:
     * that of the kind. */
    const char *requested_version;
    const char *requested_group; /* where it tells more, NULL: the kind's */
};

/* Appends what is wrong, each thing once. Texts live in a; values point into the object.
 * Of a kind without rules the metadata is looked at. */
void api_validate(const struct api_kind *kind, const struct doc *object,
                  const struct api_validate_opts *opts, struct arena *a,
                  struct api_errors *errors);
bool api_kind_has_rules(const struct api_kind *kind);
/* Metadata of an object that no table describes, which stands at path. form says what its
 * name has to be: "subdomain", or "segment" of a path. NULL is empty. */
void api_validate_metadata(const struct doc *meta, const struct doc *old, bool namespaced,
                           const char *form, struct str path,
                           const struct api_validate_opts *opts, struct arena *a,
                           struct api_errors *errors);

#endif
