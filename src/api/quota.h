/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas as kube-apiserver and the controller manager count them (spec 6.4): which
 * requests are looked at, what an object uses, which quotas concern it, and whether a
 * write fits. Pure; what else is in the cluster is asked for through quota_world.
 */
#ifndef DRAY_API_QUOTA_H
#define DRAY_API_QUOTA_H

#include "api/amounts.h"
#include "api/gates.h"

/* What the rules ask about other objects; each may be NULL: there is nothing to know. */
struct quota_world {
    struct arena *a;
    const struct api_gates *gates;
    int64_t now; /* seconds */
    void *ctx;
    /* The extended resource that a DeviceClass names; empty: none. */
    struct str (*extended_of)(void *ctx, struct str class);
    /* Whether a DeviceClass serves an extended resource, by either of its names. */
    bool (*is_served)(void *ctx, struct str resource);
    /* A pod; NULL: there is none. */
    const struct doc *(*pod)(void *ctx, struct str namespace, struct str name);
    /* Calls each for the claims of extended resources that belong to a pod. */
    void (*claims_of)(void *ctx, struct str namespace, struct str pod_uid,
                      void (*each)(void *arg, const struct doc *claim), void *arg);
    /* What must be covered by a quota (ResourceQuotaConfiguration); NULL: nothing. */
    const struct doc *limited;
};

enum quota_verb { QUOTA_CREATE, QUOTA_UPDATE, QUOTA_OTHER };

struct quota_request {
    const struct quota_world *w;
    enum quota_verb verb;
    const char *group, *resource, *sub; /* sub "": the resource itself */
    struct str namespace;
    const struct doc *object, *old; /* in the stored version; old NULL: it is new */
};

/* A quota while requests are checked against it. */
struct quota_state {
    struct str name;
    const struct doc *spec;
    struct amounts hard, used; /* of its status */
    struct amounts paid;       /* what this request is charged for already */
    struct amounts charge;     /* out: what it would be charged now; used grew by it */
};

/* A request that no quota can concern is let through without being counted. */
bool quota_handles(const struct quota_request *q);
/* What the object uses, by names of quotas. */
struct amounts quota_usage(const struct quota_request *q, const struct doc *object);
/* Whether objects of the resource are counted under that name. */
bool quota_counts(const struct quota_request *q, struct str name);
/* Whether the object of a request is in all scopes of a quota's spec. */
bool quota_is_in_scopes(const struct quota_request *q, const struct doc *spec);

enum quota_verdict { QUOTA_OK, QUOTA_FORBIDDEN, QUOTA_FAILED };
/* Charges the request to all quotas that it concerns, or to none. why: upstream's text;
 * of FORBIDDEN without what it begins with, of FAILED the whole. */
enum quota_verdict quota_check(const struct quota_request *q, struct quota_state *quotas,
                               uint32_t n, struct str *why);

#endif
