/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claims of waiting pods: those they name, those made from templates, and the one
 * that stands for extended resources which a DeviceClass serves (spec 6.1, 7.9).
 */
#ifndef DRAY_CLI_PODCLAIMS_H
#define DRAY_CLI_PODCLAIMS_H

#include "alloc/alloc.h"
#include "cli/cluster.h"
#include "cli/expand.h"

struct reservation {
    struct str name, uid; /* of the pod */
};

/* A claim at work: of the input or made here, and what becomes of it. */
struct work_claim {
    const struct view_claim *view;
    const struct doc *doc; /* of the input; NULL: made here */
    /* made here */
    struct str pod, pod_uid;                 /* for which pod; the UID may be empty */
    struct str pod_claim;                    /* its spec.resourceClaims[].name */
    struct str name_base;                    /* generateName */
    const struct cluster_template *template; /* NULL for extended resources */
    bool extended;
    /* what becomes of it */
    const struct alloc_result *result; /* allocated by this run; NULL: not */
    const struct view_node *node;      /* where */
    uint32_t first_share;              /* number of the shares made before in this run */
    VEC(struct reservation) reserved;  /* by this run */
};

struct work_claims {
    struct cluster *c;
    VEC(struct work_claim *) list; /* in the order of first use */
    struct strmap index;           /* "namespace/name" */
};

void work_claims_init(struct work_claims *w, struct cluster *c);
void work_claims_fini(struct work_claims *w);

/* The claims of the pod in the order of its spec, each once. false with an error for
 * people ("ResourceClaimTemplate ... is not among the input") when one cannot be had. */
bool work_claims_of(struct work_claims *w, const struct waiting_pod *pod,
                    struct work_claim ***out, uint32_t *n, struct err *e);

/* Names of the pod's requests that some DeviceClass serves, sorted. */
struct view_strs work_extended_names(struct cluster *c, const struct waiting_pod *pod);
/* The allocated claim that stands for the pod's extended resources already; NULL: none.
 */
struct work_claim *work_claim_extended_before(struct work_claims *w,
                                              const struct waiting_pod *pod);
/* A claim for those of the pod's resources that are in names. */
struct work_claim *work_claim_extended(struct work_claims *w,
                                       const struct waiting_pod *pod,
                                       const struct view_strs *names);
/* Adds a claim that was made here to the list, once it is used. */
void work_claims_keep(struct work_claims *w, struct work_claim *claim);

#endif
