/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that wait for a node (spec 7.0.2-5). A pod is in one place: active (next to be
 * tried, by priority and then by time), backing off until a time, parked until something
 * happens that may help it, gated, or in flight between queue_pop and what became of it.
 * Pure: times are given, milliseconds of one clock that does not go back.
 */
#ifndef DRAY_SCHED_QUEUE_H
#define DRAY_SCHED_QUEUE_H

#include "base/map.h"
#include "base/vec.h"
#include "sched/plugin.h"
#include "sched/pod_info.h"

enum queue_place {
    QUEUE_IN_FLIGHT,
    QUEUE_ACTIVE,
    QUEUE_BACKOFF,       /* tried before its time when nothing else is left */
    QUEUE_ERROR_BACKOFF, /* not so: its last attempt was an error */
    QUEUE_PARKED,
    QUEUE_GATED,
    QUEUE_PLACES
};

struct queued {            /* a pod */
    struct object *object; /* a reference */
    const struct pod_info *info;
    enum queue_place place;
    uint32_t at;      /* in its place's array */
    uint64_t serial;  /* of additions to active: who came first, at equal times */
    uint64_t time_ms; /* when it was added, or last tried */
    uint64_t expires_ms;
    uint32_t attempts, refusals, errors; /* tries; refused; errors in a row */
    uint32_t company;       /* pods of its group that were tried with it, or 0 */
    plugin_set rejected_by; /* by whom, the last time; of a gated pod: who gates it */
    uint32_t happened;      /* in flight, not refused yet: kinds of events meanwhile */
    bool woken; /* in flight: something has happened that may help it already */
    bool gone;  /* in flight: the pod is not for this scheduler anymore */
};

typedef VEC(struct queued *) queued_vec;

struct queue_ops {
    /* Who keeps the pod out of the queue, or 0. */
    plugin_set (*gate)(void *ctx, const struct object *pod);
    /* Whether the event may help the pod, asked for one plugin that rejected it. */
    bool (*hint)(void *ctx, enum plugin_id plugin, const struct object *pod,
                 const struct sched_event *e);
    /* It has left the queue for good; or NULL. */
    void (*dropped)(void *ctx, const struct queued *p);
};

struct queue {
    const struct queue_ops *ops;
    void *ctx;
    uint64_t first_ms, longest_ms;   /* back-off */
    queued_vec places[QUEUE_PLACES]; /* of ACTIVE and both BACKOFFs: heaps */
    struct strmap pods;              /* id -> struct queued */
    uint32_t rejected[PLUGINS];      /* parked and gated pods that it has rejected */
    uint64_t serial;
};

enum { QUEUE_FIRST_MS = 1000, QUEUE_LONGEST_MS = 10000, QUEUE_FORGOTTEN_MS = 300000 };

/* first_ms, longest_ms 0: as above. */
void queue_init(struct queue *q, const struct queue_ops *ops, void *ctx,
                uint64_t first_ms, uint64_t longest_ms);
void queue_fini(struct queue *q);

/* A pod without a node, new or changed. A reference is taken. */
void queue_set(struct queue *q, struct object *pod, uint64_t now_ms);
/* The pod is gone, has a node, or is another scheduler's. One in flight is told of by
 * gone, and dropped when it is done. */
void queue_remove(struct queue *q, struct str id);
struct queued *queue_find(const struct queue *q, struct str id); /* or NULL */

/* The next one to try, in flight from here on; NULL: nobody. */
struct queued *queue_pop(struct queue *q, uint64_t now_ms);
/* The same of a pod that is chosen, for the sake of its group: it is neither gated nor in
 * flight. */
void queue_take(struct queue *q, struct queued *p, uint64_t now_ms);
/* A pod in flight comes to one of these ends, and p is invalid or queued again: */
void queue_done(struct queue *q, struct queued *p); /* it has its node */
void queue_reject(struct queue *q, struct queued *p,
                  uint64_t now_ms);                                  /* p->rejected_by */
void queue_fail(struct queue *q, struct queued *p, uint64_t now_ms); /* an error */

/* Something happened: whom it may help is tried again, after its back-off. */
void queue_event(struct queue *q, const struct sched_event *e, uint64_t now_ms);
/* The same of one pod alone; false: it does not help. */
bool queue_event_for(struct queue *q, struct queued *p, const struct sched_event *e,
                     uint64_t now_ms);
/* Tried next, whatever it waits for. */
void queue_activate(struct queue *q, struct queued *p, uint64_t now_ms);
/* Whose back-off is over becomes active; who has been parked for too long, too. To be
 * called each second. */
void queue_flush(struct queue *q, uint64_t now_ms);
uint32_t queue_length(const struct queue *q, enum queue_place place);

#endif
