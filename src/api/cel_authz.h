/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library "authz" of Kubernetes: authorizer.group("apps").resource("deployments")
 * .check("create").allowed(). Expressions may ask what the user of the request may do,
 * or a service account; who answers is the caller's.
 */
#ifndef DRAY_API_CEL_AUTHZ_H
#define DRAY_API_CEL_AUTHZ_H

#include "cel/cel.h"
#include "cel/func.h"

struct api_authz_check {
    struct str account_namespace, account; /* of serviceAccount(); p NULL: the user */
    struct str path;                       /* p set: of a path, not of a resource */
    struct str group, resource, subresource, namespace, name;
    struct str fields, labels; /* selectors, as they were written */
    struct str verb;
};

struct api_authorizer {
    /* Whether it is allowed; *reason may be set, in the arena. */
    bool (*check)(void *ctx, const struct api_authz_check *c, struct arena *a,
                  struct str *reason);
    void *ctx;
    struct api_authz_check request; /* of authorizer.requestResource, without a verb */
};

extern const struct cel_lib api_cel_lib_authz;
extern const struct cel_type api_cel_type_authorizer, api_cel_type_resource_check;

/* The values of the variables; authorizer must stay. */
struct cel_value api_authz_value(const struct api_authorizer *a, struct cel_run *run);
struct cel_value api_authz_request_value(const struct api_authorizer *a,
                                         struct cel_run *run);

#endif
