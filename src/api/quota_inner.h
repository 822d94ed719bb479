/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of quotas: one evaluator a resource. */
#ifndef DRAY_API_QUOTA_INNER_H
#define DRAY_API_QUOTA_INNER_H

#include "api/quota.h"

/* A scope of a quota, or one term of its selector. */
struct quota_scope {
    struct str name, op; /* "Exists" */
    const struct doc *values;
};

struct quota_evaluator {
    const char *group, *resource;
    bool (*handles)(const struct quota_request *q);
    bool (*counts)(const struct quota_request *q, struct str name);
    void (*usage)(const struct quota_request *q, const struct doc *object,
                  struct amounts *out);
    /* NULL: matches none. */
    bool (*in_scope)(const struct quota_request *q, const struct quota_scope *s,
                     const struct doc *object);
    /* What must be said and is not, of those resources; STR_NONE: all is. NULL: nothing
     * must. */
    struct str (*lacks)(const struct quota_request *q, const struct amounts *required);
};

extern const struct quota_evaluator quota_pods, quota_services, quota_volume_claims,
    quota_claims;
/* NULL: nothing is counted. */
const struct quota_evaluator *quota_evaluator(const char *group, const char *resource);

bool quota_on_create(const struct quota_request *q); /* of the resource itself */
bool quota_on_change(const struct quota_request *q); /* or its update */
/* "requests.example.com/gpu", whatever may serve it. */
bool quota_is_extended(struct str name);
/* In, NotIn, Exists, DoesNotExist of one value; STR_NONE: there is none. */
bool quota_selects(const struct quota_scope *s, struct str value);
/* What a pod uses (also of a pod that is stored). */
void quota_pod_usage(const struct quota_request *q, const struct doc *pod,
                     struct amounts *out);
/* "count/RESOURCE.GROUP" */
struct str quota_count_name(struct arena *a, const char *group, const char *resource);

#endif
