/* SPDX-License-Identifier: Apache-2.0 */
/* A world for the scheduler, of manifests: what one attempt finds in it. */
#ifndef DRAY_TESTS_UNIT_SCHED_SITE_H
#define DRAY_TESTS_UNIT_SCHED_SITE_H

#include "sched/cycle.h"

struct site {
    struct world world;
    struct profile profile; /* without plugins of devices */
    struct arena a;
    struct cycle cycle;
    struct object *pod; /* that is tried */
    bool tried;
};

/* Nodes, and pods with their nodeName, as one YAML list. Names are uids too. */
void site_open(struct site *s, const char *objects);
void site_close(struct site *s);
/* Tries the pod: the node's name, or what it is told. */
struct str site_try(struct site *s, const char *pod);

/* A node of 4 CPUs, 8Gi and 10 pods; more: of its metadata, or the spec. */
#define NODE_LIKE(name, labels, more)                                                    \
    "- {kind: Node, metadata: {name: " name ", labels: {kubernetes.io/hostname: " name   \
    ", " labels "}}, status: {allocatable: {cpu: '4', memory: '8Gi', pods: 10}}, " more  \
    "}\n"
#define NODE(name, labels) NODE_LIKE(name, labels, "spec: {}")
#define POD(name, node, labels, spec)                                                    \
    "- {kind: Pod, metadata: {name: " name ", namespace: default, labels: {" labels      \
    "}}, spec: {nodeName: " node ", " spec "}}\n"
#define ASKS(labels, spec)                                                               \
    "{kind: Pod, metadata: {name: new, namespace: default, labels: {" labels             \
    "}}, spec: {" spec "}}"
#define WANTS(amounts)                                                                   \
    "containers: [{name: c, image: i, resources: {requests: {" amounts "}}}]"
#define PLAIN WANTS("cpu: '1'")

#endif
