/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster read from files: the views that placing pods needs, with indexes by name. All
 * views live in its arena until cluster_fini.
 */
#ifndef DRAY_CLI_CLUSTER_H
#define DRAY_CLI_CLUSTER_H

#include "api/view.h"
#include "api/view_pod.h"
#include "base/map.h"
#include "base/vec.h"

struct cluster_claim {
    const struct view_claim *view;
    const struct doc *doc; /* the object in the shape of v1 */
    struct str made_for;   /* entry of the pod it was made for by a template, or empty */
};

struct cluster_template { /* ResourceClaimTemplate */
    struct str namespace, name;
    const struct doc *spec; /* spec.spec */
    const struct doc *meta; /* spec.metadata, NULL: none */
};

enum cluster_workload_kind {
    CLUSTER_DEPLOYMENT,
    CLUSTER_REPLICA_SET,
    CLUSTER_STATEFUL_SET,
    CLUSTER_DAEMON_SET,
    CLUSTER_JOB,
};

struct cluster_workload {
    enum cluster_workload_kind kind;
    struct str kind_name; /* "Deployment" */
    struct view_meta meta;
    struct str owner_kind, owner_name; /* its controller, empty: none */
    int64_t replicas; /* pods that should be there at a time; of a DaemonSet 0 */
    const struct doc *selector; /* spec.selector, NULL: none (Job) */
    const struct view_pod *pod; /* the template */
};

struct cluster_origin { /* where an object was read */
    const char *file;
    uint32_t pos;
};

struct cluster {
    struct arena arena;
    struct device_names names;
    VEC(const struct view_node *) nodes;
    VEC(const struct view_slice *) slices;
    VEC(const struct view_class *) classes;
    VEC(const struct view_taint_rule *) taint_rules;
    VEC(struct cluster_claim) claims;
    VEC(struct cluster_template) templates;
    VEC(const struct view_pod *) pods;
    VEC(struct cluster_workload) workloads;
    struct strmap node_index;     /* name -> index */
    struct strmap class_index;    /* name -> index */
    struct strmap claim_index;    /* "namespace/name" -> index */
    struct strmap template_index; /* "namespace/name" -> index */
    struct strmap made_index;     /* "pod uid/entry" -> claim made for it */
    struct strmap namespaces;     /* name -> 1: allows admin access, 0: does not */
    struct strmap priorities;     /* PriorityClass -> value */
    struct strmap seen;           /* "KIND namespace/name" -> struct cluster_origin */
    int64_t default_priority;
    uint32_t ngenerated; /* names given to objects that have only a generateName */
    uint32_t ndevices;
};

void cluster_init(struct cluster *c);
void cluster_fini(struct cluster *c);

/* "namespace/name" in the cluster's arena. */
struct str cluster_key(struct cluster *c, struct str namespace, struct str name);
const struct view_node *cluster_node(const struct cluster *c, struct str name);
const struct view_class *cluster_class(const struct cluster *c, struct str name);
/* NULL: none. The pointer is valid until a claim is added. */
struct cluster_claim *cluster_claim(struct cluster *c, struct str namespace,
                                    struct str name);
const struct cluster_template *cluster_template(struct cluster *c, struct str namespace,
                                                struct str name);

/* Puts another state of a claim in its place; the object as for cluster_add. false when
 * it cannot be viewed. */
bool cluster_set_claim(struct cluster *c, struct cluster_claim *claim,
                       const struct doc *object);

/* The claim that was made for an entry of a pod's spec.resourceClaims (spec 6.1), by its
 * owner and annotation. NULL: none. */
struct cluster_claim *cluster_claim_made(struct cluster *c, struct str pod_uid,
                                         struct str entry);
/* The priority of a pod (of its class where it has none of its own). false: there is no
 * such PriorityClass among the input; the priority is then 0. */
bool cluster_priority(const struct cluster *c, const struct view_pod *pod, int64_t *out);

/* Where an object of this kind and name was met before; NULL: nowhere, and now it is
 * known. The file's name must stay. */
const struct cluster_origin *cluster_meet(struct cluster *c, struct str kind,
                                          struct str namespace, struct str name,
                                          struct cluster_origin here);
/* Takes over an object that lies in the cluster's arena, in the shape of v1, defaulted,
 * of a kind that cluster_wants; each only once. Of a ResourceSlice, which is large, only
 * a view is kept, the document need not stay. false with an error that names the object
 * when it cannot be viewed. */
bool cluster_add(struct cluster *c, struct str kind, const struct doc *object,
                 struct err *e);
/* Whether cluster_add takes the kind at all. */
bool cluster_wants(struct str group, struct str kind);

#endif
