/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the scheduler: scheduler.c has its life and its turn, watch.c turns what
 * informers tell into the world and events, attempt.c tries a pod and tells why it has no
 * place, bind.c gives it the one it got.
 */
#ifndef DRAY_SCHED_INNER_H
#define DRAY_SCHED_INNER_H

#include "client/events.h"
#include "client/index.h"
#include "client/informer.h"
#include "sched/cycle.h"
#include "sched/measure.h"
#include "sched/preempt.h"
#include "sched/queue.h"
#include "sched/scheduler.h"

/* Pods that are tried in one turn of the loop, and that may be on their way at once. */
enum { SCHED_TURN = 32, SCHED_UNDER_WAY = 512 };

struct attempt { /* of one pod, while the server is asked something */
    struct attempt *next, **link;
    struct scheduler *sched;
    struct queued *queued;
    struct object *pod; /* a reference: as it was tried */
    const struct profile *profile;
    uint64_t begun_ns;
    struct dra_cycle *dra; /* NULL: no devices */
    struct arena a;
    struct str node;     /* STR_NONE: none was found */
    struct str message;  /* why not */
    const char *reason;  /* of the condition: "Unschedulable", "SchedulerError" */
    bool rejected;       /* the plugins of queued->rejected_by refused; else an error */
    struct str nominate; /* a node that victims will leave, or STR_NONE */
    struct object **victims; /* references: who has to go for it */
    uint32_t nvictims;
    const char *preemptor;    /* "pod", "podgroup" */
    struct str preemptor_uid; /* of it */
    struct client_call *call;
    struct net_timer *pause;                  /* until it is asked again */
    struct group_attempt *group;              /* that goes on when the victims are gone */
    void (*after_victims)(struct attempt *a); /* NULL: attempt_free_devices */
    void (*victims_failed)(struct attempt *a, struct str why); /* NULL: attempt_error */
};

struct group_attempt;

struct scheduler {
    struct client *client;
    struct scheduler_opts opts;
    struct sched_config config;
    struct world world;
    struct queue queue;
    struct index pods_by_claim; /* waiting pods, by the claims of devices they name */
    struct informer *pods, *nodes, *lists[WORLD_KINDS];
    struct informer *groups; /* PodGroups; NULL: the gate is off */
    struct events *events;
    struct attempt *attempts; /* under way */
    struct group_attempt *group_attempts;
    uint32_t nattempts;
    struct arena scratch; /* of one cycle */
    struct arena config_arena;
    struct net_timer *turn, *flush, *sync;
    bool synced;
    struct scheduler_counts counts;
    struct sched_measure measure;
};

void sched_log(const struct scheduler *s, const char *text);
uint64_t sched_now(const struct scheduler *s);
/* A turn comes soon. */
void sched_kick(struct scheduler *s);
/* Tells the queue, and kicks. */
void sched_tell(struct scheduler *s, enum sched_event_kind kind, const struct object *old,
                const struct object *now);
/* NULL: the pod is another scheduler's. */
const struct profile *sched_profile_of(const struct scheduler *s, const struct object *p);

/* ---- watch.c ---- */

void watch_start(struct scheduler *s);
void watch_stop(struct scheduler *s);
bool watch_synced(const struct scheduler *s);

/* ---- attempt.c ---- */

void attempt_start(struct scheduler *s, struct queued *q);
struct attempt *attempt_new(struct scheduler *s, struct queued *q);
/* A pod that this scheduler has placed already: the informer is behind. */
bool attempt_is_placed(const struct scheduler *s, const struct object *pod);
void attempt_measure(struct attempt *a, enum sched_result result);
/* Without a word to anybody. */
void attempt_free(struct attempt *a);
/* The pod has no place: its condition and an event say so, and it is queued. */
void attempt_fail(struct attempt *a);
/* The same with an error. */
void attempt_error(struct attempt *a, struct str text);

/* Nothing can be done but to free an idle claim, if there is one; then it fails. */
void attempt_free_devices(struct attempt *a);

/* ---- group_attempt.c ---- */

/* All pods of the group that wait are tried, one of them being in flight already. */
void group_start(struct scheduler *s, struct pod_group *g, struct queued *first);
/* After its attempts. */
void group_attempt_free(struct group_attempt *x);
/* Pods of it that have a place. */
int64_t group_scheduled(const struct scheduler *s, struct str key);

/* ---- group_status.c ---- */

extern const struct client_kind sched_group_kind;
/* group: as it was tried. */
void group_status_write(struct scheduler *s, const struct object *group,
                        enum sched_code code, struct str message);

/* ---- victims.c ---- */

/* They go; then attempt_free_devices, or what the attempt says. */
void victims_start(struct attempt *a, const struct preemption *p);
/* The same for a group, which the attempt stands for: "podgroup" and its UID. */
void victims_start_all(struct attempt *a, struct node_pod *const *v, uint32_t n,
                       const char *what, struct str uid);

/* ---- bind.c ---- */

/* The pod is assumed on its node. */
void bind_start(struct attempt *a);

/* ---- status.c ---- */

/* Writes PodScheduled=False and the nomination, if the pod does not say so already. */
void status_write(struct attempt *a);

#endif
