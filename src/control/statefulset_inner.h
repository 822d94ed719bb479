/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the controller of StatefulSets. The set's pods are put in their places
 * (statefulset_plan.c); then each place is worked on, in order, or all at once where the
 * set allows it (statefulset_work.c): its claims (statefulset_claims.c), its pod
 * (statefulset_pods.c), and, once all are as they should be, what is too much and what is
 * old. Revisions of the template are statefulset_history.c's.
 */
#ifndef DRAY_CONTROL_STATEFULSET_INNER_H
#define DRAY_CONTROL_STATEFULSET_INNER_H

#include "control/podwork.h"
#include "control/written.h"

#define STATEFUL_REVISION "controller-revision-hash"
#define STATEFUL_POD_NAME "statefulset.kubernetes.io/pod-name"
#define STATEFUL_POD_INDEX "apps.kubernetes.io/pod-index"

extern const struct owner_kind statefulset_kind;
extern const struct client_kind stateful_claims; /* persistentvolumeclaims */

enum { STATEFUL_PODS, STATEFUL_REVISIONS, STATEFUL_CLAIMS }; /* lists of the sync */

struct statefulsets {
    struct shared *shared;
    const struct shared_kind *sets, *pods, *claims, *revisions;
    struct worker *worker;
    struct events *events;
    struct expect expect;
    struct written written;
};

struct revision { /* of the template; name empty: not known yet */
    struct str name;
    const struct doc *template;
};

struct place { /* of one pod; worked on from round to round */
    int64_t ordinal;
    const struct object *o; /* NULL: it is yet to be made */
    struct doc pod;         /* as it is to be made */
    struct str revision;
    bool unavailable;
    bool over, failed;         /* nothing is left to do for it in this stage */
    bool claims_done;          /* its claims are there */
    bool asked, made, deleted; /* asked to go; by now, by us */
};

struct places {
    struct place *v;
    uint32_t n;
};

struct stateful {
    struct statefulsets *all;
    struct sync *s;
    const struct doc *set;
    int64_t start, replicas, min_ready_s; /* start: the first ordinal */
    bool burst;                           /* podManagementPolicy Parallel */
    struct objects pods;                  /* that are the set's */
    struct revision current, update;
    int64_t collisions;
};

struct stateful_plan {
    struct places replicas;  /* ascending */
    struct places condemned; /* beyond the range, descending */
    const struct place *first_unavailable;
    unsigned stage;         /* places, claims beyond the range, places beyond it */
    struct places outdated; /* once all is as it should be: pods that go for new ones */
    bool rolling;           /* outdated is made */
    int64_t replaced;       /* pods of the current revision that went for new ones */
};

/* ---- places (statefulset_plan.c) ---- */

/* The ordinal at the end of a pod's name; below zero: it is not a name of the set's. */
int64_t stateful_ordinal(struct str set, struct str pod);
struct stateful_plan *stateful_plan(const struct stateful *t);
/* The status as it should be; whether it has to be written. */
bool stateful_status(const struct stateful *t, const struct stateful_plan *p,
                     struct doc *status);
/* Pods of old revisions that may go now, in the order in which they go. */
struct places stateful_outdated(const struct stateful *t, const struct stateful_plan *p);

/* ---- pods (statefulset_pods.c) ---- */

struct doc stateful_make_pod(const struct stateful *t, const struct place *p);
bool stateful_pod_is_right(const struct stateful *t, const struct place *p);
/* The pod with the name's labels, and the volumes that it should have. */
struct doc stateful_mend_pod(const struct stateful *t, const struct place *p);

/* ---- claims (statefulset_claims.c) ---- */

/* All claims of a place are there. */
enum progress stateful_make_claims(const struct stateful *t, struct place *p);
/* One of them is about to go with the pod it was for: no new one may take it. */
bool stateful_claim_is_stale(const struct stateful *t, const struct place *p);
/* Who owns them is as persistentVolumeClaimRetentionPolicy wants it. */
enum progress stateful_own_claims(const struct stateful *t, const struct place *p);

/* ---- revisions (statefulset_history.c) ---- */

/* t->current and t->update; *old: all others. */
enum progress stateful_history(struct stateful *t, struct objects *all);
enum progress stateful_forget_history(const struct stateful *t,
                                      const struct objects *all);

/* ---- all of it (statefulset_work.c) ---- */

enum progress stateful_manage(const struct stateful *t, struct stateful_plan *p);
void stateful_tell(const struct stateful *t, const char *type, const char *reason,
                   struct str message);

#endif
