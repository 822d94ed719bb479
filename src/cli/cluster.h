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
    struct strmap namespaces;     /* name -> 1: allows admin access, 0: does not */
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

/* Takes over an object that lies in the cluster's arena, in the shape of v1, defaulted.
 * What is none of the kinds above is passed over. false with an error that names the
 * object when it cannot be viewed; or when an object of that kind and name is there
 * already. */
bool cluster_add(struct cluster *c, struct str kind, const struct doc *object,
                 struct err *e);
/* Whether cluster_add takes the kind at all. */
bool cluster_wants(struct str group, struct str kind);
/* Slices are large and many: view alone, the document need not stay. */
bool cluster_add_slice(struct cluster *c, const struct doc *object, struct err *e);

#endif
