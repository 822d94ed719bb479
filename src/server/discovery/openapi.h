/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents of what is served, as upstream publishes them: /openapi/v2 and
 * /openapi/v3/... They are made of the tables when they are first asked for, on another
 * thread, and kept compressed; descriptions of fields are left out.
 *
 * Kinds that come and go while the server runs (custom resources) are told by one
 * function, which is asked again after each openapi_invalidate. Documents of versions
 * whose kinds all have the revisions that they had are kept.
 */
#ifndef DRAY_SERVER_DISCOVERY_OPENAPI_H
#define DRAY_SERVER_DISCOVERY_OPENAPI_H

#include "doc/doc.h"

struct request;
struct server;

/* A version of a kind that the tables do not have. */
struct openapi_kind {
    struct str group, version;
    struct str kind, list_kind; /* "Widget", "WidgetList" */
    struct str plural;          /* "widgets" */
    bool namespaced;
    bool status, scale; /* which subresources it has */
    /* openAPIV3Schema as the CustomResourceDefinition has it, defaulted or not; NULL:
     * there is none, and anything goes. The form of version 2 is made of it here. */
    const struct doc *schema;
    const struct doc *selectable; /* its selectableFields, a list; NULL: none */
    /* Another one whenever something above is another: the resource version of the
     * CustomResourceDefinition, for example. */
    uint64_t revision;
};

/* Calls each(ctx, kind) for every version served of every such kind; what a kind refers
 * to need not live longer than the call. Versions of one group need not be neighbours. */
typedef void openapi_kind_fn(void *ctx, const struct openapi_kind *k);
typedef void openapi_kinds_fn(struct server *s, openapi_kind_fn *each, void *ctx);

void openapi_init(struct server *s);
void openapi_free(struct server *s);
/* Once, at the start. */
void openapi_set_kinds(struct server *s, openapi_kinds_fn *kinds);
/* Kinds have come, gone or changed. Cheap: nothing is made before it is asked for. */
void openapi_invalidate(struct server *s);

/* /openapi/...: answers, now or when the documents are there. */
void openapi_serve(struct request *r);

#endif
