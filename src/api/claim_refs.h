/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pods, pod groups and claims refer to one another (spec 6.1.18-22). Objects are
 * documents in the shape of v1; what lacks a field that is read counts as having none.
 */
#ifndef DRAY_API_CLAIM_REFS_H
#define DRAY_API_CLAIM_REFS_H

#include "base/arena.h"
#include "doc/doc.h"

enum claim_known {
    CLAIM_NAMED,      /* by the user: anybody's claim will do */
    CLAIM_GENERATED,  /* from a template: it must be the owner's */
    CLAIM_NOT_NEEDED, /* it was decided that there is none */
    CLAIM_NOT_MADE,   /* from a template, and not there yet */
    CLAIM_UNKNOWN,    /* none of the fields that are understood */
};

/* Of an entry of spec.resourceClaims of a pod or a pod group. *name is set for the first
 * two. */
enum claim_known claim_ref_name(const struct doc *owner, const struct doc *entry,
                                struct str *name);

/* The request of the claim that a result's request, "req" or "req/sub", belongs to. */
static inline struct str claim_ref_request_base(struct str request)
{
    return str_sub(request, 0, str_find_byte(request, '/', 0));
}

/* spec.schedulingGroup.podGroupName; empty: none. */
struct str claim_ref_group(const struct doc *pod);
/* Whether an entry of a pod is one of its group's too: then the group has the claim. */
bool claim_ref_is_groups(const struct doc *pod_entry, const struct doc *group);
/* Whether the claim's controller is this pod or group, or (groups) the pod's group. */
bool claim_ref_is_for(const struct doc *claim, const struct doc *owner, bool groups);
/* What to say when it is not: "ResourceClaim ns/c was not created for Pod ns/p (...)". */
struct str claim_ref_not_for(const struct doc *claim, const struct doc *pod, bool groups,
                             struct arena *a);
bool claim_ref_is_reserved(const struct doc *claim, const struct doc *pod, bool groups);
/* The controller of an object among its ownerReferences, or NULL. */
const struct doc *claim_ref_controller(const struct doc *object);
/* Phase Succeeded or Failed; or deleted before it had a node. */
bool claim_ref_pod_is_done(const struct doc *pod);
bool claim_ref_is_deleted(const struct doc *object); /* it has a deletionTimestamp */

#endif
