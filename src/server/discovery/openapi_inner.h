/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the OpenAPI documents: what is told of the kinds served (on the loop), and
 * how a document is made of that (on another thread).
 */
#ifndef DRAY_SERVER_DISCOVERY_OPENAPI_INNER_H
#define DRAY_SERVER_DISCOVERY_OPENAPI_INNER_H

#include "api/openapi.h"
#include "server/discovery/openapi.h"
#include "server/inner.h"

/* ---- what a document is of (openapi_docs.c) ---- */

enum openapi_sort {
    OPENAPI_VERSION, /* "apis/apps/v1": a version of a group */
    OPENAPI_GROUP,   /* "apis/apps" */
    OPENAPI_ROOT,    /* "api", "apis" */
    OPENAPI_SERVER,  /* "version", ... */
};

/* One document of form 3. Its strings live in the arena of whoever made it; resources are
 * copies, which refer to what lives as long as the server. */
struct openapi_doc {
    struct str name; /* "apis/apps/v1" */
    struct str group, version;
    enum openapi_sort sort;
    const struct resource *resources;
    uint32_t nresources;
    const struct openapi_kind *kinds;
    uint32_t nkinds;
    uint64_t stamp; /* of the kinds: another one when they change */
};

struct openapi_docs {
    struct openapi_doc *v;
    uint32_t n;
};

/* All documents of what is served now, by name. The schemas of kinds, which are much, are
 * told for the documents of whole alone (NULL: for none). */
struct openapi_docs openapi_docs_list(struct server *s, openapi_kinds_fn *kinds,
                                      const struct openapi_docs *whole, struct arena *a);

/* ---- making one (openapi_writer.c) ---- */

struct openapi_writer {
    enum openapi_form form;
    const struct openapi_doc *docs; /* what is told of */
    uint32_t ndocs;
    bool json, proto; /* which it makes */
    struct openapi_text {
        struct strbuf head, paths, definitions, parameters;
    } as_json, as_proto;
    struct arena a;    /* of one kind, or definition */
    uint64_t *reached; /* definitions that something refers to */
};

/* Makes the document of form 3, or the one of form 2 of all; NULL: that is not wanted.
 * Any thread. */
void openapi_make(enum openapi_form form, const struct openapi_doc *docs, uint32_t ndocs,
                  struct strbuf *json, struct strbuf *proto);

/* Adds a part. */
void openapi_add(struct openapi_writer *w, enum openapi_part part, struct str name,
                 const struct doc *d);
/* {"$ref"} of a definition of the tables, which will be among the definitions. */
struct doc openapi_refer(struct openapi_writer *w, uint32_t definition);

/* ---- paths (openapi_paths.c, openapi_operation.c) ---- */

void openapi_add_paths(struct openapi_writer *w, const struct openapi_doc *doc);
/* The parameters that many operations share, in form 2. */
void openapi_add_parameters(struct openapi_writer *w);

/* Parameters are bits: the rows of a table. */
enum openapi_parameter {
    P_ALLOW_WATCH_BOOKMARKS,
    P_COMMAND,
    P_CONTAINER,
    P_CONTINUE,
    P_DRY_RUN,
    P_FIELD_MANAGER,
    P_FIELD_SELECTOR,
    P_FIELD_VALIDATION,
    P_FOLLOW,
    P_FORCE,
    P_GRACE_PERIOD,
    P_IGNORE_STORE_ERROR,
    P_INSECURE_BACKEND,
    P_LABEL_SELECTOR,
    P_LIMIT,
    P_LIMIT_BYTES,
    P_NAME,
    P_NAMESPACE,
    P_ORPHAN_DEPENDENTS,
    P_PATH_ASKED,
    P_PATH,
    P_PORTS,
    P_PRETTY,
    P_PREVIOUS,
    P_PROPAGATION_POLICY,
    P_RESOURCE_VERSION,
    P_RESOURCE_VERSION_MATCH,
    P_SEND_INITIAL_EVENTS,
    P_SHARD_SELECTOR,
    P_SINCE_SECONDS,
    P_STDERR,
    P_STDIN,
    P_STDOUT,
    P_STREAM,
    P_TAIL_LINES,
    P_TIMEOUT_SECONDS,
    P_TIMESTAMPS,
    P_TTY,
    P_WATCH,
    NPARAMETERS
};
#define P(name) (UINT64_C(1) << P_##name)

enum openapi_media {
    M_NONE,
    M_ANY,
    M_JSON,
    M_KEYS, /* of OpenID */
    M_OBJECT,
    M_LIST,
    M_LOG,
    M_CUSTOM,
    M_PATCH,
    M_CUSTOM_PATCH,
};

enum openapi_body { BODY_NONE, BODY_OBJECT, BODY_DELETE, BODY_PATCH };

struct openapi_operation {
    const char *method; /* "get" */
    const char *action; /* x-kubernetes-action; NULL: none */
    struct str id, tag;
    struct str group, version, kind; /* kind.p NULL: none */
    uint64_t parameters;
    unsigned codes; /* bits: 1 for 200, 2 for 201, 4 for 202 */
    enum openapi_media takes, gives;
    enum openapi_body body;
    struct doc object; /* the schema of a body of that sort */
    struct doc answer;
};

struct openapi_path {
    struct str path;
    uint64_t parameters; /* of the path itself */
    struct openapi_operation operations[8];
    uint32_t n;
};

void openapi_add_path(struct openapi_writer *w, const struct openapi_path *p);

#endif
