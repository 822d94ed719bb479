/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View of Pod (also of the pod template of a workload): what placing it needs. As the
 * other views (view.h): made once, immutable, in the maker's arena, no validation, no
 * defaults.
 */
#ifndef DRAY_API_VIEW_POD_H
#define DRAY_API_VIEW_POD_H

#include "api/view.h"

struct view_container_claim { /* resources.claims[] */
    struct str name, request; /* request empty: all of the claim */
};

struct view_container {
    struct str name;
    bool restarts; /* an init container with restartPolicy Always: a sidecar */
    const struct view_amount *requests; /* sorted by name */
    uint32_t nrequests;
    const struct view_container_claim *claims;
    uint32_t nclaims;
};

struct view_pod_claim { /* spec.resourceClaims[] */
    struct str name;
    struct str claim, template; /* one of the two is set */
};

struct view_pod_claim_status { /* status.resourceClaimStatuses[] */
    struct str name, claim;    /* claim empty: none is needed */
};

struct view_pod {
    struct view_meta meta;
    const struct view_label *labels;
    uint32_t nlabels;
    struct str owner_kind, owner_name, owner_uid; /* of the controller */
    struct str node_name, phase;
    struct str priority_class; /* what priority comes from when it is not set */
    bool has_priority;
    int64_t priority;
    uint32_t ngates;                        /* schedulingGates */
    const struct view_label *node_selector; /* sorted by key */
    uint32_t nnode_selector;
    const struct view_node_selector *required; /* node affinity; NULL: none */
    const struct view_toleration *tolerations;
    uint32_t ntolerations;
    const struct view_container *containers, *init_containers;
    uint32_t ncontainers, ninit_containers;
    const struct view_amount *overhead, *pod_requests; /* spec.overhead, spec.resources */
    uint32_t noverhead, npod_requests;
    const struct view_pod_claim *claims;
    uint32_t nclaims;
    const struct view_pod_claim_status *claim_statuses;
    uint32_t nclaim_statuses;
    struct str extended_claim; /* status.extendedResourceClaimStatus.resourceClaimName */
};

struct view_pod *view_pod_new(const struct doc *pod, struct arena *a, struct err *e);
/* From a PodTemplateSpec (metadata and spec); name and namespace are the caller's to set.
 */
struct view_pod *view_pod_from_template(const struct doc *template, struct arena *a,
                                        struct err *e);

/* Succeeded or Failed. */
bool view_pod_finished(const struct view_pod *p);
/* Waits for a scheduler: no node yet, not finished, not being deleted. */
bool view_pod_pending(const struct view_pod *p);

/* What the pod needs of a node, per resource (KEP-753): the larger of what runs and what
 * starts, spec.resources first where it says so, plus overhead. Sorted by name. */
const struct view_amount *view_pod_requests(const struct view_pod *p, struct arena *a,
                                            uint32_t *n);

#endif
