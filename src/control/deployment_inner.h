/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the deployment controller: deployments.c has its caches and says what is to
 * be done, deployment_sets.c finds, makes and scales ReplicaSets, deployment_plan.c
 * decides how many pods each may have, deployment_status.c writes down how far it is.
 */
#ifndef DRAY_CONTROL_DEPLOYMENT_INNER_H
#define DRAY_CONTROL_DEPLOYMENT_INNER_H

#include "control/adopt.h"
#include "control/deployments.h"

struct deployments {
    struct shared *shared;
    const struct shared_kind *deployments, *sets, *pods;
    struct worker *worker;
    struct events *events;
};

extern const struct owner_kind deployment_kind;
extern const struct client_kind deployment_set_kind;

struct replica_set { /* what counts of a ReplicaSet */
    const struct doc *doc;
    struct str name, uid;
    int64_t replicas; /* wanted */
    int64_t actual, ready, available, created;
};

struct rollout { /* one look at a deployment */
    struct deployments *all;
    struct sync *s;
    struct doc d;             /* the deployment as it should be */
    struct replica_set *sets; /* the oldest first */
    uint32_t nsets;
    /* Of sets, or made just now; NULL: there is none for the template. */
    struct replica_set *newest;
    struct replica_set **old; /* the others */
    uint32_t nold;
};

#define DEPLOYMENT_REVISION "deployment.kubernetes.io/revision"

/* ---- the deployment's own fields ---- */

static inline int64_t rollout_wanted(const struct rollout *r);
bool rollout_is_rolling(const struct rollout *r);
int64_t rollout_max_surge(const struct rollout *r);
int64_t rollout_max_unavailable(const struct rollout *r);
bool rollout_has_deadline(const struct rollout *r);
void rollout_tell(struct rollout *r, const char *type, const char *reason,
                  struct str message);

/* ---- sets (deployment_sets.c) ---- */

/* Of the ReplicaSets that are the deployment's. */
void rollout_read_sets(struct rollout *r, const struct objects *sets);
/* Brings the annotations of the newest set up to date; makes it (create) if there is
 * none. */
enum progress rollout_sync_newest(struct rollout *r, bool create);
/* forced: also when only what it is told of the whole has changed. */
enum progress rollout_scale(struct rollout *r, struct replica_set *set, int64_t replicas,
                            bool forced, bool *scaled);
/* 0: none, or none that makes sense. */
int64_t replica_set_revision(const struct doc *set);
bool replica_set_wanted_note(const struct replica_set *set, const char *key,
                             int64_t *out);
bool template_is_same(const struct doc *x, const struct doc *y, struct arena *a);
int by_creation(const struct replica_set *a, const struct replica_set *b);

/* ---- plans (deployment_plan.c) ---- */

int64_t rollout_newest_size(const struct rollout *r, int64_t newest);
enum progress rollout_rolling(struct rollout *r);
enum progress rollout_recreate(struct rollout *r);
/* While it is paused, or was scaled: each set keeps its share. */
enum progress rollout_scale_all(struct rollout *r);
enum progress rollout_clean_up(struct rollout *r);
enum progress rollout_back(struct rollout *r);

/* ---- status (deployment_status.c) ---- */

/* Sends the deployment with the status that it has. */
enum progress rollout_put_status(struct rollout *r);
void rollout_set_condition(struct rollout *r, struct doc *status, const char *type,
                           const char *value, const char *reason, struct str message);
const struct doc *rollout_condition(const struct doc *status, const char *type);
bool rollout_is_complete(const struct rollout *r, const struct doc *status);
/* With and without the progress of a rollout. */
enum progress rollout_sync_status(struct rollout *r, bool progress);

static inline int64_t rollout_wanted(const struct rollout *r)
{
    int64_t n = 1;
    doc_get_int64(doc_get(&r->d, "spec"), "replicas", &n);
    return n;
}

#endif
