/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kinds an API server serves, custom ones too: its discovery, all of it in one
 * document (apidiscovery.k8s.io/v2), looked at again every half a minute. For whoever
 * works on objects of any kind.
 */
#ifndef DRAY_CLIENT_RESOURCES_H
#define DRAY_CLIENT_RESOURCES_H

#include "client/worker.h"

struct resources;

enum resource_verbs {
    RESOURCE_DELETE = 1,
    RESOURCE_DELETE_COLLECTION = 2,
    RESOURCE_LIST = 4,
    RESOURCE_WATCH = 8,
};

/* Stays where it is as long as the resources do, also when it is served no longer. */
struct resource {
    struct client_kind kind;
    struct str api_version; /* "apps/v1" */
    struct str name;        /* of its objects: "Deployment" */
    struct str singular;    /* of the resource: "deployment" */
    unsigned verbs;         /* enum resource_verbs */
    bool served;
    /* Of the versions of its group that have it the one that the server prefers: by these
     * each object is seen once. */
    bool preferred;
    uint32_t round; /* of the look that saw it last */
};

struct resources_ops {
    void (*changed)(void *ctx); /* what is served, or preferred; or NULL */
    /* Something went wrong, and will be tried again; or NULL. For logs. */
    void (*trouble)(void *ctx, const char *what);
};

/* Looks at once. */
struct resources *resources_new(struct client *c, const struct resources_ops *ops,
                                void *ctx);
void resources_free(struct resources *r);        /* NULL is fine */
bool resources_known(const struct resources *r); /* it has been looked once */
uint32_t resources_count(const struct resources *r);
const struct resource *resources_at(const struct resources *r, uint32_t i);
/* Among those served; NULL: there is none. */
const struct resource *resources_find(const struct resources *r, struct str api_version,
                                      struct str name);
/* Groups whose part of the discovery could not be had ("" if there is none): what they
 * have may be out of date. */
const char *resources_stale(const struct resources *r);
/* Does not wait for the half a minute, but for a second since the last look. */
void resources_look(struct resources *r);
/* For work that must know of everything there is by now. Fails with an error. */
enum progress resources_renew(struct resources *r, struct work *w);

#endif
