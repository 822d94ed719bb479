/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/queue.h"

#include <math.h>

#include "base/mem.h"

enum { WINDOW_MS = 1000 }; /* back-off ends on whole seconds */

void queue_init(struct queue *q, const struct queue_ops *ops, void *ctx,
                uint64_t first_ms, uint64_t longest_ms)
{
    *q = (struct queue){.ops = ops,
                        .ctx = ctx,
                        .first_ms = first_ms ? first_ms : QUEUE_FIRST_MS,
                        .longest_ms = longest_ms ? longest_ms : QUEUE_LONGEST_MS};
}

/* ---- order ---- */

static bool is_heap(enum queue_place place)
{
    return place == QUEUE_ACTIVE || place == QUEUE_BACKOFF ||
           place == QUEUE_ERROR_BACKOFF;
}

static bool more_urgent(const struct queued *a, const struct queued *b)
{
    if (a->info->priority != b->info->priority)
        return a->info->priority > b->info->priority;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms;
    return a->serial < b->serial;
}

static bool before(const struct queued *a, const struct queued *b)
{
    if (a->place != QUEUE_ACTIVE && a->expires_ms != b->expires_ms)
        return a->expires_ms < b->expires_ms;
    return more_urgent(a, b);
}

/* ---- places ---- */

static void put_at(queued_vec *v, size_t at, struct queued *p)
{
    v->v[at] = p;
    p->at = (uint32_t)at;
}

static void sift_up(queued_vec *v, size_t at)
{
    struct queued *p = v->v[at];
    while (at && before(p, v->v[(at - 1) / 2])) {
        put_at(v, at, v->v[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_at(v, at, p);
}

static void sift_down(queued_vec *v, size_t at)
{
    struct queued *p = v->v[at];
    for (size_t child; (child = 2 * at + 1) < v->n; at = child) {
        if (child + 1 < v->n && before(v->v[child + 1], v->v[child]))
            child++;
        if (!before(v->v[child], p))
            break;
        put_at(v, at, v->v[child]);
    }
    put_at(v, at, p);
}

static void count_rejecters(struct queue *q, const struct queued *p, int sign)
{
    if (p->place != QUEUE_PARKED && p->place != QUEUE_GATED)
        return;
    for (int i = 0; i < PLUGINS; i++)
        if (p->rejected_by & PLUGIN_BIT(i))
            q->rejected[i] += (uint32_t)sign;
}

static void enter(struct queue *q, struct queued *p, enum queue_place place)
{
    queued_vec *v = &q->places[place];
    p->place = place;
    p->at = (uint32_t)v->n;
    vec_push(v, p);
    count_rejecters(q, p, 1);
    if (is_heap(place))
        sift_up(v, p->at);
}

static void leave(struct queue *q, struct queued *p)
{
    queued_vec *v = &q->places[p->place];
    struct queued *last = vec_pop(v);
    count_rejecters(q, p, -1);
    if (last == p)
        return;
    put_at(v, p->at, last);
    if (is_heap(last->place)) {
        sift_up(v, last->at);
        sift_down(v, last->at);
    }
}

static void enter_active(struct queue *q, struct queued *p)
{
    p->serial = ++q->serial;
    enter(q, p, QUEUE_ACTIVE);
}

/* Where it has to go to be tried, unless it is gated. Who gates is asked on the way into
 * a heap, and not again from one to the other (spec 7.0.3). */
static void enter_unless_gated(struct queue *q, struct queued *p, enum queue_place place)
{
    plugin_set gate = q->ops->gate(q->ctx, p->object);
    if (gate)
        p->rejected_by = gate;
    if (!gate && place == QUEUE_ACTIVE)
        enter_active(q, p);
    else
        enter(q, p, gate ? QUEUE_GATED : place);
}

/* ---- back-off ---- */

/* A large group waits longer at most: trying it costs more. */
static uint64_t longest_of(const struct queue *q, const struct queued *p)
{
    if (p->company < 2)
        return q->longest_ms;
    return (uint64_t)((double)q->longest_ms * sqrt((double)p->company));
}

static uint64_t pause_of(const struct queue *q, const struct queued *p)
{
    uint32_t n = p->errors ? p->errors : p->refusals;
    uint64_t ms = q->first_ms, longest = longest_of(q, p);
    if (n == 0)
        return 0;
    while (--n && ms < longest)
        ms *= 2;
    return ms < longest ? ms : longest;
}

static uint64_t window(uint64_t ms)
{
    return ms - ms % WINDOW_MS;
}

static bool is_backing_off(const struct queued *p, uint64_t now_ms)
{
    return p->expires_ms && p->expires_ms >= window(now_ms);
}

static void set_expiry(const struct queue *q, struct queued *p)
{
    uint64_t pause = pause_of(q, p);
    p->expires_ms = pause ? window(p->time_ms + pause) : 0;
}

/* To active, or to wait for its back-off first. */
static void try_again(struct queue *q, struct queued *p, uint64_t now_ms)
{
    enter_unless_gated(q, p, is_backing_off(p, now_ms) ? QUEUE_BACKOFF : QUEUE_ACTIVE);
}

/* ---- pods come and go ---- */

static void drop(struct queue *q, struct queued *p)
{
    if (q->ops->dropped)
        q->ops->dropped(q->ctx, p);
    strmap_remove(&q->pods, pod_id(p->object));
    object_unref(p->object);
    free(p);
}

void queue_fini(struct queue *q)
{
    strmap_each(&q->pods, e)
    {
        struct queued *p = e->value.ptr;
        object_unref(p->object);
        free(p);
    }
    strmap_release(&q->pods);
    for (int i = 0; i < QUEUE_PLACES; i++)
        vec_release(&q->places[i]);
}

struct queued *queue_find(const struct queue *q, struct str id)
{
    struct strmap_entry *e = strmap_find(&q->pods, id);
    return e ? e->value.ptr : NULL;
}

static void add_new(struct queue *q, struct object *pod, uint64_t now_ms)
{
    struct queued *p = mem_zalloc(sizeof *p);
    *p = (struct queued){
        .object = object_ref(pod), .info = pod_info_of(pod), .time_ms = now_ms};
    strmap_put(&q->pods, pod_id(pod), NULL)->value.ptr = p;
    enter_unless_gated(q, p, QUEUE_ACTIVE);
}

/* The map's key is a text of the object. */
static void replace_object(struct queue *q, struct queued *p, struct object *pod)
{
    struct object *old = p->object;
    p->object = object_ref(pod);
    p->info = pod_info_of(pod);
    strmap_remove(&q->pods, pod_id(old));
    strmap_put(&q->pods, pod_id(pod), NULL)->value.ptr = p;
    object_unref(old);
}

void queue_set(struct queue *q, struct object *pod, uint64_t now_ms)
{
    struct queued *p = queue_find(q, pod_id(pod));
    if (!p) {
        add_new(q, pod, now_ms);
        return;
    }
    struct object *old = object_ref(p->object);
    bool ordered = is_heap(p->place);
    enum queue_place place = p->place;
    if (ordered)
        leave(q, p);
    replace_object(q, p, pod);
    if (ordered)
        enter(q, p, place);
    struct sched_event e = {EVENT_SELF, .old = old, .now = pod};
    queue_event_for(q, p, &e, now_ms);
    object_unref(old);
}

void queue_remove(struct queue *q, struct str id)
{
    struct queued *p = queue_find(q, id);
    if (!p)
        return;
    if (p->place == QUEUE_IN_FLIGHT) {
        p->gone = true;
        return;
    }
    leave(q, p);
    drop(q, p);
}

/* ---- attempts ---- */

void queue_take(struct queue *q, struct queued *p, uint64_t now_ms)
{
    leave(q, p);
    p->attempts++;
    p->time_ms = now_ms;
    p->expires_ms = 0;
    p->rejected_by = 0;
    p->company = 0;
    p->happened = 0;
    p->woken = false;
    enter(q, p, QUEUE_IN_FLIGHT);
}

struct queued *queue_pop(struct queue *q, uint64_t now_ms)
{
    enum queue_place from = q->places[QUEUE_ACTIVE].n ? QUEUE_ACTIVE : QUEUE_BACKOFF;
    if (!q->places[from].n)
        return NULL;
    struct queued *p = q->places[from].v[0];
    queue_take(q, p, now_ms);
    return p;
}

void queue_done(struct queue *q, struct queued *p)
{
    leave(q, p);
    drop(q, p);
}

/* Before anybody had refused it nobody could be asked whether it helps. */
static bool missed_something(const struct queued *p)
{
    uint32_t events = 0;
    for (int i = 0; i < PLUGINS; i++)
        if (p->rejected_by & PLUGIN_BIT(i))
            events |= plugin_table[i].events;
    return p->happened & events;
}

void queue_reject(struct queue *q, struct queued *p, uint64_t now_ms)
{
    leave(q, p);
    if (p->gone) {
        drop(q, p);
        return;
    }
    p->refusals++;
    p->errors = 0;
    p->time_ms = now_ms;
    set_expiry(q, p);
    if (p->woken || missed_something(p))
        try_again(q, p, now_ms);
    else
        enter(q, p, QUEUE_PARKED);
}

void queue_fail(struct queue *q, struct queued *p, uint64_t now_ms)
{
    leave(q, p);
    if (p->gone) {
        drop(q, p);
        return;
    }
    p->errors++;
    p->time_ms = now_ms;
    set_expiry(q, p);
    enter_unless_gated(q, p, QUEUE_ERROR_BACKOFF);
}

/* ---- events ---- */

static bool may_help(struct queue *q, const struct queued *p, const struct sched_event *e)
{
    if (e->kind == EVENT_TIMEOUT)
        return true;
    for (int i = 0; i < PLUGINS; i++)
        if (p->rejected_by & PLUGIN_BIT(i) &&
            plugin_table[i].events & EVENT_BIT(e->kind) &&
            q->ops->hint(q->ctx, (enum plugin_id)i, p->object, e))
            return true;
    return false;
}

bool queue_event_for(struct queue *q, struct queued *p, const struct sched_event *e,
                     uint64_t now_ms)
{
    if (is_heap(p->place))
        return false;
    if (p->place == QUEUE_IN_FLIGHT && !p->rejected_by) {
        p->happened |= EVENT_BIT(e->kind);
        return false;
    }
    if (!may_help(q, p, e))
        return false;
    if (p->place == QUEUE_IN_FLIGHT) {
        p->woken = true;
        return true;
    }
    leave(q, p);
    try_again(q, p, now_ms);
    return true;
}

static bool anybody_waits(const struct queue *q, const struct sched_event *e)
{
    for (int i = 0; i < PLUGINS; i++)
        if (q->rejected[i] && plugin_table[i].events & EVENT_BIT(e->kind))
            return true;
    return q->places[QUEUE_IN_FLIGHT].n || e->kind == EVENT_TIMEOUT;
}

/* A pod that moves is replaced by the last one, so from the end; one that is gated again
 * comes to the end and is not looked at twice. */
static void tell_all(struct queue *q, enum queue_place place, const struct sched_event *e,
                     uint64_t now_ms)
{
    for (size_t i = q->places[place].n; i-- > 0;)
        queue_event_for(q, q->places[place].v[i], e, now_ms);
}

void queue_event(struct queue *q, const struct sched_event *e, uint64_t now_ms)
{
    if (!anybody_waits(q, e))
        return;
    tell_all(q, QUEUE_GATED, e, now_ms);
    tell_all(q, QUEUE_PARKED, e, now_ms);
    tell_all(q, QUEUE_IN_FLIGHT, e, now_ms);
}

void queue_activate(struct queue *q, struct queued *p, uint64_t now_ms)
{
    (void)now_ms;
    if (p->place == QUEUE_IN_FLIGHT) {
        p->woken = true;
        return;
    }
    if (p->place == QUEUE_ACTIVE)
        return;
    bool asked = is_heap(p->place);
    leave(q, p);
    if (asked)
        enter_active(q, p);
    else
        enter_unless_gated(q, p, QUEUE_ACTIVE);
}

static void flush_backoff(struct queue *q, enum queue_place place, uint64_t now_ms)
{
    queued_vec *v = &q->places[place];
    while (v->n && !is_backing_off(v->v[0], now_ms)) {
        struct queued *p = v->v[0];
        leave(q, p);
        enter_active(q, p);
    }
}

void queue_flush(struct queue *q, uint64_t now_ms)
{
    static const struct sched_event TIMEOUT = {.kind = EVENT_TIMEOUT};
    flush_backoff(q, QUEUE_BACKOFF, now_ms);
    flush_backoff(q, QUEUE_ERROR_BACKOFF, now_ms);
    queued_vec *parked = &q->places[QUEUE_PARKED];
    for (size_t i = parked->n; i-- > 0;)
        if (now_ms - parked->v[i]->time_ms > QUEUE_FORGOTTEN_MS)
            queue_event_for(q, parked->v[i], &TIMEOUT, now_ms);
}

uint32_t queue_length(const struct queue *q, enum queue_place place)
{
    return (uint32_t)q->places[place].n;
}
