/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan: the claims of a pod, resolved against classes and interned, but not yet against
 * a node. Requests are numbered over all claims, alternatives over all requests, both in
 * the order of the search. What is wrong with a claim in itself is found here; it is
 * reported when the checks before the search reach it (spec 3.5).
 */
#ifndef DRAY_ALLOC_PLAN_H
#define DRAY_ALLOC_PLAN_H

#include "alloc/inner.h"

enum { MAX_RESULTS = 32 }; /* devices of a claim (spec 3.11) */

struct plan_use { /* of a constraint by an alternative */
    uint32_t constraint;
    uint32_t attribute; /* attribute_id */
    uint32_t derived;   /* derived_id: shadows the published attribute; or NONE */
};

struct plan_alt {
    const struct view_alternative *v;
    uint32_t request;
    struct str error; /* the alternative cannot be asked for at all; empty: it can */
    const struct view_class *class;
    const struct profile *profile;
    uint32_t count; /* of ExactCount; capped, as more than MAX_RESULTS is refused */
    bool all, admin;
    const struct plan_use *uses;
    uint32_t nuses;
};

struct plan_request {
    const struct view_request *v;
    uint32_t claim, alt, nalts;
    uint32_t like;   /* an earlier request whose devices could as well be this one's, so
                        that   the first solution has its first device no later; or NONE */
    bool like_claim; /* because the whole claims are alike */
    struct str error;
};

struct plan_constraint {
    struct str name;
    uint32_t claim, index; /* in its claim */
    bool match;            /* else distinct */
};

struct plan_claim {
    const struct view_claim *v;
    uint32_t request, nrequests;
    uint32_t constraint, nconstraints;
    struct str error; /* of a constraint */
};

struct alloc_plan {
    struct alloc_inventory *inv;
    struct arena mem;
    const struct view_claim *const *views;
    uint64_t classes_version, profiles_epoch;
    struct plan_claim *claims;
    struct plan_request *requests;
    struct plan_alt *alts;
    struct plan_constraint *constraints;
    uint32_t nclaims, nrequests, nalts, nconstraints;
    uint32_t uses;       /* the most of an alternative */
    bool any_admin;      /* an alternative has admin access */
    struct shape *shape; /* made when first needed */
    uint64_t shapes_epoch;
};

/* Brings the plan up to date after changes of classes. */
void plan_refresh(struct alloc_plan *p);
static inline bool plan_current(const struct alloc_plan *p)
{
    return p->classes_version == p->inv->classes_version &&
           p->profiles_epoch == p->inv->profiles_epoch;
}
static inline uint64_t wanted_count(const struct plan_alt *alt)
{
    return alt->v->count < 0 ? 0 : (uint64_t)alt->v->count;
}
/* "name" or "parent/sub" */
struct str plan_request_name(const struct alloc_plan *p, uint32_t alt, struct arena *a);

#endif
