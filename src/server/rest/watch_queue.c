/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rest/watch_queue.h"

#include <stdlib.h>

#include "server/custom/conversion.h"
#include "server/custom/custom.h"

struct watch_queue {
    struct request *r;
    const struct custom_version *to;
    const struct watch_queue_ops *ops;
    void *ctx;
    bool before;
    VEC(struct cache_event) events; /* references; those before first were told */
    size_t first;
    struct conversion_call *call; /* NULL: nothing is asked */
    void (*then)(void *ctx);      /* of a state that waits */
    struct arena arena;           /* of the call */
};

struct watch_queue *watch_queue_new(struct request *r, bool before,
                                    const struct watch_queue_ops *ops, void *ctx)
{
    if (!custom_asks(r->res))
        return NULL;
    struct watch_queue *q = mem_zalloc(sizeof *q);
    q->r = r;
    q->to = r->res->custom;
    q->ops = ops;
    q->ctx = ctx;
    q->before = before;
    return q;
}

static void drop_event(struct cache_event *e)
{
    cache_object_unref(e->object);
    cache_object_unref(e->previous);
}

void watch_queue_free(struct watch_queue *q)
{
    if (!q)
        return;
    conversion_cancel(q->call);
    while (q->first < q->events.n)
        drop_event(&q->events.v[q->first++]);
    vec_release(&q->events);
    arena_fini(&q->arena);
    free(q);
}

/* ---- what is known ---- */

struct missing {
    struct str v[CONVERSION_AT_ONCE];
    uint32_t n;
};

/* false: there is no more room. */
static bool add_missing(struct watch_queue *q, struct cache_object *o, struct missing *m)
{
    struct str source;
    if (!o || !custom_source(q->to, o, &q->arena, &source) ||
        conversion_known(q->to->of->conversions, q->to->api_version, source))
        return true;
    if (m->n == CONVERSION_AT_ONCE)
        return false;
    m->v[m->n++] = source;
    return true;
}

static bool add_event(struct watch_queue *q, const struct cache_event *e,
                      struct missing *m)
{
    return add_missing(q, e->object, m) && (!q->before || add_missing(q, e->previous, m));
}

static void on_done(void *ctx, struct str fail);

static void ask(struct watch_queue *q, const struct missing *m)
{
    struct str *sources = ARENA_ARRAY(&q->arena, struct str, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        sources[i] = m->v[i];
    q->call = conversion_start(q->r, &q->arena, q->to->of->conversions,
                               q->to->api_version, sources, m->n, on_done, q);
}

/* ---- events ---- */

/* Up to the first that is not known. */
static void tell(struct watch_queue *q)
{
    while (q->first < q->events.n) {
        struct missing m = {.n = 0};
        struct cache_event *e = &q->events.v[q->first];
        add_event(q, e, &m);
        if (m.n)
            return;
        arena_reset(&q->arena);
        q->first++;
        q->ops->event(q->ctx, e);
        drop_event(e);
    }
    q->first = q->events.n = 0;
}

/* About as many of them as make a review. */
static void ask_for_events(struct watch_queue *q)
{
    struct missing m = {.n = 0};
    arena_reset(&q->arena);
    for (size_t i = q->first; i < q->events.n; i++)
        if (!add_event(q, &q->events.v[i], &m))
            break;
    if (m.n)
        ask(q, &m);
}

static void on_done(void *ctx, struct str fail)
{
    struct watch_queue *q = ctx;
    void (*then)(void *ctx) = q->then;
    q->call = NULL;
    q->then = NULL;
    if (fail.n) {
        q->ops->failed(q->ctx, fail);
        return;
    }
    if (then) {
        then(q->ctx);
        return;
    }
    tell(q);
    ask_for_events(q);
    q->ops->told(q->ctx);
}

bool watch_queue_push(struct watch_queue *q, const struct cache_event *e)
{
    struct cache_event own = *e;
    if (q->events.n - q->first == WATCH_QUEUE_MAX)
        return false;
    if (own.object)
        cache_object_ref(own.object);
    if (own.previous)
        cache_object_ref(own.previous);
    vec_push(&q->events, own);
    if (q->call)
        return true;
    tell(q);
    ask_for_events(q);
    return true;
}

bool watch_queue_ready(struct watch_queue *q, struct cache_object *const *objects,
                       size_t n, void (*then)(void *ctx))
{
    struct missing m = {.n = 0};
    arena_reset(&q->arena);
    for (size_t i = 0; i < n; i++)
        if (!add_missing(q, objects[i], &m))
            break;
    if (m.n == 0)
        return true;
    q->then = then;
    ask(q, &m);
    return false;
}
