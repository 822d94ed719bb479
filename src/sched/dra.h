/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in the scheduler: the plugin DynamicResources (spec 7.1-7.12), at upstream's
 * points, for one pod in one attempt.
 *
 * struct dra is one for all profiles. It watches claims, classes, slices and taint rules,
 * knows what of them is allocated or about to be (in flight), and keeps the ledger: a
 * device that no two live allocations may share is in one at most, whatever the API says
 * meanwhile. Everything runs on the client's loop.
 *
 * An attempt is a dra_cycle: pre_filter, filter for nodes, score, reserve in one turn of
 * the loop; then pre_bind, which asks the API. Each cycle that has reserved ends in
 * pre_bind that went well or in unreserve. Points that ask the API call done from the
 * loop, never from within, once; dra_cycle_free stops them.
 */
#ifndef DRAY_SCHED_DRA_H
#define DRAY_SCHED_DRA_H

#include "alloc/alloc.h"
#include "api/gates.h"
#include "client/client.h"
#include "client/index.h"
#include "client/object.h"
#include "sched/filter.h"
#include "sched/status.h"

struct dra;
struct dra_cycle;
struct dra_group;

/* ---- what happens (spec 7.1) ---- */

enum dra_kind { DRA_CLAIM, DRA_CLASS, DRA_SLICE, DRA_KINDS };

/* Of a claim as the scheduler knows it: what it wrote itself counts before its informer
 * tells (the assume cache, spec 7.10). */
struct dra_event {
    enum dra_kind kind;
    const struct object *old, *now; /* NULL: it is new; it is gone; both: it is gone, and
                                       nobody knows what it was last */
    /* May help pods whatever they wait for; else only those of the claim old or now
     * (dra_pod_claims). dra_hint says so for each. */
    bool all_pods;
};

enum dra_hint { DRA_HINT_SKIP, DRA_HINT_QUEUE };

struct dra_opts {
    struct api_gates gates;
    /* An event that may make pods schedulable. Borrowed during the call; may ask dra_hint
     * and not begin cycles. Or NULL. */
    void (*changed)(void *ctx, const struct dra_event *e);
    /* For an Event of a pod: type Normal, action Scheduling. Or NULL. */
    void (*tell)(void *ctx, const struct object *pod, const char *reason,
                 struct str message);
    void (*log)(void *ctx, const char *text); /* or NULL */
    void *ctx;
    int64_t (*now)(void *ctx);       /* seconds since 1970; NULL: time() */
    uint64_t (*clock_ns)(void *ctx); /* that never goes back; NULL: the system's */
};

struct dra *dra_new(struct client *c, const struct dra_opts *opts);
/* After all of its cycles. */
void dra_free(struct dra *d);
/* All there was at the beginning is known. */
bool dra_synced(const struct dra *d);
/* Before a node's view goes away or changes; cycles keep none across turns of the loop.
 */
void dra_forget_node(struct dra *d, struct str name);

/* Whether the event may help a pod that this plugin rejected. */
enum dra_hint dra_hint(struct dra *d, const struct object *pod,
                       const struct dra_event *e);
/* The pod's status got the names of its claims: whether all are there now. */
enum dra_hint dra_hint_pod(struct dra *d, const struct object *pod);
/* Values of an index of pods: "NAMESPACE/NAME" of each claim that they name. */
void dra_pod_claims(struct index *x, const struct object *pod);

/* ---- an attempt ---- */

struct dra_args {        /* of a profile */
    uint64_t filter_ms;  /* for one node, 0: no limit; upstream's default is 10,000 */
    uint64_t binding_ms; /* 0: upstream's default, 600,000 */
    /* How devices, and nodes for their sake, are chosen; first-fit: as upstream, device
     * for device. A DeviceClass may ask for another one by its annotation
     * dray.dev/allocation-policy: the first such class that the pod's claims name. */
    enum alloc_policy policy;
};

/* Whether the pod may be queued at all: its claims are there (spec 7.2). */
struct sched_status dra_pre_enqueue(struct dra *d, const struct object *pod,
                                    struct arena *a);

/* The pod's document is kept, and its view lives in the object. group: of the attempt to
 * schedule its PodGroup, or NULL; it outlives scheduling, not binding. */
struct dra_cycle *dra_cycle_new(struct dra *d, const struct dra_args *args,
                                struct object *pod, const struct view_pod *view,
                                struct dra_group *group);
/* NULL is fine. */
void dra_cycle_free(struct dra_cycle *c);

/* SKIP: no claims, no other point need be asked. */
struct sched_status dra_pre_filter(struct dra_cycle *c);
/* Names of the pod's extended resources that this node leaves to devices: what the filter
 * of resources has to ignore there (spec 7.9.2). */
struct view_strs dra_serves(struct dra_cycle *c, const struct sched_node *node);
/* One node; what it would give is kept for score and reserve. Several together are asked
 * as fast as alloc_find does. */
struct sched_status dra_filter(struct dra_cycle *c, const struct sched_node *node);
/* 0: no preference (spec 7.6). Weight 2. */
int64_t dra_score(const struct dra_cycle *c, struct str node);
/* What a policy makes of a node, 0 to 1000: best-fit likes nodes where few wholes are
 * broken, then full ones; spread empty ones. */
int64_t dra_fit_points(enum alloc_policy policy, const struct alloc_fit *fit);
void dra_normalize(int64_t *scores, uint32_t n); /* to 0..100 */
struct sched_status dra_reserve(struct dra_cycle *c, struct str node);

typedef void dra_done(void *ctx, const struct sched_status *s);
/* No node fits: frees a claim that is in the way, if there is one. Never SUCCESS. */
void dra_post_filter(struct dra_cycle *c, dra_done *done, void *ctx);
/* pre_bind has something to do (PreBindPreFlight). */
bool dra_pre_bind_needed(const struct dra_cycle *c);
void dra_pre_bind(struct dra_cycle *c, dra_done *done, void *ctx);
/* Always goes well: the devices are free at once, the rest is tried. A pre_bind under way
 * is stopped. */
void dra_unreserve(struct dra_cycle *c, dra_done *done, void *ctx);

/* ---- a PodGroup at once (spec 7.12) ---- */

struct dra_group *dra_group_new(struct dra *d);
/* The pods' binding may still go on. */
void dra_group_free(struct dra_group *g);
/* A reservation of which nothing has been asked of the server: its devices are free at
 * once, and the cycle may do no more than dra_group_post_filter and dra_cycle_free. */
void dra_forget(struct dra_cycle *c);
/* No place for the group: as post_filter, for each pod of it that has no node.
 * group NULL: it is not known. active: pods of it are bound or about to be. */
void dra_group_post_filter(struct dra_group *g, const struct object *group, bool active,
                           struct object *const *unscheduled, uint32_t n, dra_done *done,
                           void *ctx);

#endif
