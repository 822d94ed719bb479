/* SPDX-License-Identifier: Apache-2.0 */
/* One pod is tried: it gets a node, or is told why not (spec 7.0.4, 7.0.6). */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sched/inner.h"

/* ---- life ---- */

struct attempt *attempt_new(struct scheduler *s, struct queued *q)
{
    struct attempt *a = mem_zalloc(sizeof *a);
    *a = (struct attempt){.sched = s,
                          .queued = q,
                          .pod = object_ref(q->object),
                          .profile = sched_profile_of(s, q->object),
                          .begun_ns = clock_mono_ns(),
                          .next = s->attempts,
                          .link = &s->attempts};
    if (a->next)
        a->next->link = &a->next;
    s->attempts = a;
    s->nattempts++;
    return a;
}

void attempt_free(struct attempt *a)
{
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    a->sched->nattempts--;
    if (a->call)
        client_cancel(a->call);
    if (a->pause)
        net_timer_stop(a->pause);
    dra_cycle_free(a->dra);
    while (a->nvictims)
        object_unref(a->victims[--a->nvictims]);
    object_unref(a->pod);
    arena_fini(&a->a);
    free(a);
}

void attempt_measure(struct attempt *a, enum sched_result result)
{
    double seconds = (double)(clock_mono_ns() - a->begun_ns) / 1e9;
    sched_measure_attempt(&a->sched->measure, a->profile, result, seconds);
}

/* ---- no place ---- */

static void tell_failure(struct attempt *a)
{
    enum { MOST = 1024 };
    struct event_about about = {"v1", "Pod", a->pod->doc};
    struct str text = a->message;
    if (text.n > MOST)
        text = arena_printf(&a->a, "%.*s ...", MOST - 4, text.p);
    events_tell(a->sched->events, &about, "Warning", "FailedScheduling", text);
}

void attempt_fail(struct attempt *a)
{
    struct scheduler *s = a->sched;
    struct queued *q = a->queued;
    if (!q->gone) {
        nominated_set(&s->world.nominated, q->object, a->nominate);
        tell_failure(a);
        status_write(a);
    }
    attempt_measure(a, a->rejected ? SCHED_NO_NODE : SCHED_FAILED);
    if (a->rejected) {
        s->counts.unschedulable++;
        queue_reject(&s->queue, q, sched_now(s));
    } else {
        s->counts.errors++;
        queue_fail(&s->queue, q, sched_now(s));
    }
    attempt_free(a);
    sched_kick(s);
}

void attempt_error(struct attempt *a, struct str text)
{
    a->message = text.p == a->message.p ? text : arena_str(&a->a, text);
    a->reason = "SchedulerError";
    a->rejected = false;
    attempt_fail(a);
}

static void add_text(struct attempt *a, const struct sched_status *st)
{
    for (uint32_t i = 0; i < st->reasons.n; i++)
        a->message = arena_printf(&a->a, "%.*s%s%.*s", STR_ARG(a->message),
                                  i ? ", " : " ", STR_ARG(st->reasons.v[i]));
}

static void on_devices_freed(void *ctx, const struct sched_status *st)
{
    struct attempt *a = ctx;
    if (st->code == SCHED_ERROR) {
        attempt_error(a, st->reasons.n ? st->reasons.v[0] : STR(""));
        return;
    }
    add_text(a, st);
    attempt_fail(a);
}

void attempt_free_devices(struct attempt *a)
{
    if (a->dra)
        dra_post_filter(a->dra, on_devices_freed, a);
    else
        attempt_fail(a);
}

static void refuse(struct attempt *a, struct cycle *c)
{
    struct preemption p = {0};
    if (c->profile->filters & PLUGIN_BIT(PLUGIN_PREEMPTION))
        p = preempt_find(c);
    a->message = p.message.n ? arena_printf(&a->a, "%.*s %.*s", STR_ARG(c->message),
                                            STR_ARG(p.message))
                             : arena_str(&a->a, c->message);
    a->reason = "Unschedulable";
    a->rejected = true;
    a->queued->rejected_by = c->rejected_by;
    a->dra = cycle_take_devices(c);
    if (p.keeps)
        a->nominate =
            arena_str(&a->a, nominated_node(&a->sched->world.nominated, pod_id(a->pod)));
    if (p.node)
        victims_start(a, &p);
    else
        attempt_free_devices(a);
}

/* ---- a place ---- */

static void refuse_reserve(struct attempt *a, const struct sched_status *st)
{
    struct str why = st->reasons.n ? st->reasons.v[0] : STR("");
    cache_remove_pod(&a->sched->world.cache, pod_id(a->pod));
    if (st->code == SCHED_ERROR) {
        attempt_error(a, arena_printf(&a->a,
                                      "running Reserve plugin \"DynamicResources\": %.*s",
                                      STR_ARG(why)));
        return;
    }
    a->queued->rejected_by = PLUGIN_BIT(PLUGIN_DEVICES);
    a->message = arena_printf(&a->a, "0/1 nodes are available: 1 %.*s.", STR_ARG(why));
    a->reason = "Unschedulable";
    a->rejected = true;
    attempt_fail(a);
}

static void place(struct attempt *a, struct node *n)
{
    struct scheduler *s = a->sched;
    a->node = arena_str(&a->a, n->name);
    cache_assume(&s->world.cache, a->pod, n);
    nominated_remove(&s->world.nominated, pod_id(a->pod));
    if (a->dra) {
        struct sched_status st = dra_reserve(a->dra, a->node);
        if (!sched_ok(&st)) {
            refuse_reserve(a, &st);
            return;
        }
    }
    bind_start(a);
}

static void conclude(struct attempt *a, struct cycle *c)
{
    switch (c->code) {
    case SCHED_SUCCESS:
        a->dra = cycle_take_devices(c);
        place(a, c->node);
        break;
    case SCHED_ERROR:
        attempt_error(a, c->message);
        break;
    default:
        refuse(a, c);
    }
}

bool attempt_is_placed(const struct scheduler *s, const struct object *pod)
{
    return cache_find_pod(&s->world.cache, pod_id(pod)) != NULL;
}

void attempt_start(struct scheduler *s, struct queued *q)
{
    struct cycle c;
    if (attempt_is_placed(s, q->object)) {
        queue_done(&s->queue, q);
        return;
    }
    struct attempt *a = attempt_new(s, q);
    s->counts.attempts++;
    arena_reset(&s->scratch);
    cycle_init(&c, &s->world, a->profile, a->pod, &s->scratch);
    cycle_run(&c);
    conclude(a, &c);
    cycle_fini(&c);
}
