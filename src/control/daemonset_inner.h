/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the daemon set controller: daemonsets.c has its caches and does what was
 * decided, daemonset_nodes.c says which nodes should have a pod and which do,
 * daemonset_plan.c what is to be made and deleted, daemonset_history.c keeps
 * ControllerRevisions.
 */
#ifndef DRAY_CONTROL_DAEMONSET_INNER_H
#define DRAY_CONTROL_DAEMONSET_INNER_H

#include "api/view.h"
#include "base/map.h"
#include "control/daemonsets.h"
#include "control/pods.h"

struct daemonsets {
    struct shared *shared;
    const struct shared_kind *sets, *pods, *nodes, *revisions;
    struct worker *worker;
    struct events *events;
    struct expect expect;
    struct strmap failures; /* "NAMESPACE/NAME/NODE" -> struct daemon_failure */
};

extern const struct owner_kind daemonset_kind;

struct daemon_node { /* one that exists, or that a pod names */
    struct str name;
    bool exists;
    bool should;         /* it should have a pod */
    bool may_stay;       /* one that it has may stay */
    struct objects pods; /* the oldest first */
};

struct daemon {
    struct daemonsets *all;
    struct sync *s;
    struct doc template; /* with the tolerations that all daemon pods have */
    struct objects pods; /* the set's */
    struct daemon_node *nodes;
    uint32_t nnodes;
    struct str hash; /* of the current revision */
};

/* ---- daemonset_nodes.c ---- */

struct doc daemon_template(struct sync *s);
/* From the pods that were claimed and the nodes of a list. */
void daemon_read_nodes(struct daemon *d, uint32_t list);
bool daemon_pod_is_updated(const struct daemon *d, const struct object *pod);

/* ---- daemonset_plan.c ---- */

struct daemon_plan {
    struct objects doomed;
    const struct daemon_node **bare; /* that get a pod */
    uint32_t nbare;
    uint64_t again_ms; /* for pods that failed lately; 0: none did */
};

/* What brings the nodes in order, whatever the template. */
struct daemon_plan *daemon_plan_nodes(struct daemon *d);
/* What brings the template forward. */
struct daemon_plan *daemon_plan_update(struct daemon *d);
void daemon_tell(struct daemon *d, const char *type, const char *reason,
                 struct str message);

/* ---- daemonset_history.c ---- */

/* Finds or makes the revision of the template: d->hash; *old: the others. */
enum progress daemon_sync_history(struct daemon *d, uint32_t list, struct objects *old);
enum progress daemon_clean_history(struct daemon *d, const struct objects *old);

#endif
