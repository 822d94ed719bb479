/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group is tried: all its pods that wait, at once (spec 7.12). Enough of them get a
 * node, or none does. Since one turn of the loop decides on all of them, nobody waits for
 * the others between a node and its binding (upstream's Permit).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/group_preempt.h"
#include "sched/inner.h"

struct group_attempt {
    struct group_attempt *next, **link;
    struct scheduler *sched;
    struct str key;
    struct object *object; /* a reference: the group as it was tried */
    struct attempt **pods;
    struct object **objects; /* of pods, as they were tried; borrowed */
    uint32_t n;
    const struct profile *profile;
    struct dra_group *dra;
    bool active; /* some pod of it has a place */
    enum sched_code code;
    struct str message; /* of the group's condition */
    struct arena a;
};

/* ---- life ---- */

static struct group_attempt *group_new(struct scheduler *s, const struct pod_group *g)
{
    struct group_attempt *x = mem_zalloc(sizeof *x);
    *x = (struct group_attempt){.sched = s,
                                .object = object_ref(g->object),
                                .next = s->group_attempts,
                                .link = &s->group_attempts};
    if (x->next)
        x->next->link = &x->next;
    s->group_attempts = x;
    x->key = arena_str(&x->a, g->key);
    x->dra = s->world.dra ? dra_group_new(s->world.dra) : NULL;
    return x;
}

void group_attempt_free(struct group_attempt *x)
{
    *x->link = x->next;
    if (x->next)
        x->next->link = x->link;
    dra_group_free(x->dra);
    object_unref(x->object);
    arena_fini(&x->a);
    free(x);
}

/* ---- who is in it ---- */

/* Upstream's order: who has been tried more often, who has waited longer, the name. */
static int by_turn(const void *x, const void *y)
{
    const struct queued *a = *(struct queued *const *)x, *b = *(struct queued *const *)y;
    if (a->info->priority != b->info->priority)
        return a->info->priority > b->info->priority ? -1 : 1;
    if (a->attempts != b->attempts)
        return a->attempts > b->attempts ? -1 : 1;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return str_cmp(a->object->name, b->object->name);
}

static bool waits(const struct queued *q)
{
    return q->place != QUEUE_IN_FLIGHT && q->place != QUEUE_GATED;
}

/* first is in flight already; its time is put back for the order's sake. */
static struct queued **collect(struct group_attempt *x, const struct pod_group *g,
                               struct queued *first, uint32_t *n)
{
    struct scheduler *s = x->sched;
    struct queued **v = ARENA_ARRAY(&x->a, struct queued *, g->pods.live + 1);
    *n = 0;
    v[(*n)++] = first;
    strmap_each(&g->pods, e)
    {
        struct queued *q = queue_find(&s->queue, e->key);
        if (q && q != first && waits(q))
            v[(*n)++] = q;
    }
    first->attempts--;
    qsort(v, *n, sizeof *v, by_turn);
    first->attempts++;
    return v;
}

static void begin(struct group_attempt *x, const struct pod_group *g,
                  struct queued *first)
{
    struct scheduler *s = x->sched;
    uint32_t n;
    struct queued **v = collect(x, g, first, &n);
    x->pods = ARENA_ARRAY(&x->a, struct attempt *, n);
    x->objects = ARENA_ARRAY(&x->a, struct object *, n);
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] != first)
            queue_take(&s->queue, v[i], sched_now(s));
        if (attempt_is_placed(s, v[i]->object)) {
            queue_done(&s->queue, v[i]);
            continue;
        }
        v[i]->company = n;
        x->pods[x->n] = attempt_new(s, v[i]);
        x->objects[x->n] = x->pods[x->n]->pod;
        x->n++;
        s->counts.attempts++;
    }
}

/* ---- whether they go together ---- */

static bool same_policy(const struct attempt *a, const struct attempt *b)
{
    return pod_info_of(a->pod)->may_preempt == pod_info_of(b->pod)->may_preempt;
}

static bool check_pod(struct group_attempt *x, const struct attempt *a)
{
    static const char *const POLICIES[] = {"Never", "PreemptLowerPriority"};
    const struct pod_info *p = pod_info_of(a->pod), *first = pod_info_of(x->objects[0]);
    long long want = group_info_of(x->object)->priority, have = p->priority;
    if (a->profile != x->profile)
        x->message = arena_printf(
            &x->a,
            "all pods in a single pod group should have the same .spec.schedulerName "
            "set, got: \"%.*s\" and \"%.*s\"",
            STR_ARG(p->scheduler), STR_ARG(first->scheduler));
    else if (have != want)
        x->message = arena_printf(&x->a,
                                  "all pods in a single pod group should have the same "
                                  "priority as the pod group's priority, got %lld and "
                                  "%lld",
                                  have, want);
    else if (!same_policy(a, x->pods[0]))
        x->message = arena_printf(&x->a,
                                  "all pods in a single pod group should have the same "
                                  "preemption policy, got %s and %s",
                                  POLICIES[first->may_preempt], POLICIES[p->may_preempt]);
    return !x->message.n;
}

static bool check(struct group_attempt *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (!check_pod(x, x->pods[i]))
            return false;
    return true;
}

/* ---- the end ---- */

/* Who came while the group was busy may be queued now; who was tried waits for other
 * things. */
static void let_in(struct scheduler *s, const struct pod_group *g)
{
    struct sched_event e = {.kind = EVENT_GROUP, .now = g->object};
    strmap_each(&g->pods, x)
    {
        struct queued *q = g->object ? queue_find(&s->queue, x->key) : NULL;
        if (q && q->place == QUEUE_GATED)
            queue_event_for(&s->queue, q, &e, sched_now(s));
    }
    sched_kick(s);
}

static void finish(struct group_attempt *x)
{
    struct scheduler *s = x->sched;
    struct pod_group *g = groups_find(&s->world.groups, x->key);
    if (g) {
        if (!g->scheduled || x->code == SCHED_SUCCESS)
            group_status_write(s, x->object, x->code, x->message);
        g->scheduled |= x->code == SCHED_SUCCESS;
        g->busy = false;
        let_in(s, g);
        groups_trim(&s->world.groups, g);
    }
    group_attempt_free(x);
}

static void fail_all(struct group_attempt *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        struct attempt *a = x->pods[i];
        if (x->code != SCHED_ERROR)
            attempt_fail(a);
        else
            attempt_error(a, a->reason ? a->message : x->message);
    }
    x->n = 0;
    finish(x);
}

static void fail_with(struct group_attempt *x, struct str why)
{
    x->code = SCHED_ERROR;
    x->message = arena_str(&x->a, why);
    fail_all(x);
}

/* ---- no place ---- */

static const struct str UNSCHEDULABLE = STR_INIT("pod group is unschedulable");

static void add_reason(struct group_attempt *x, struct str why)
{
    if (why.n)
        x->message = x->message.n ? arena_printf(&x->a, "%.*s, %.*s", STR_ARG(x->message),
                                                 STR_ARG(why))
                                  : arena_str(&x->a, why);
}

static void add_reasons(struct group_attempt *x, const struct sched_status *st)
{
    for (uint32_t i = 0; i < st->reasons.n; i++)
        add_reason(x, st->reasons.v[i]);
}

/* Pods that would have had a node are told what became of the group. */
static void word_all(struct group_attempt *x, bool preempts)
{
    struct str why = preempts ? x->message
                              : arena_printf(&x->a, "%.*s, %.*s", STR_ARG(UNSCHEDULABLE),
                                             STR_ARG(x->message));
    for (uint32_t i = 0; i < x->n; i++) {
        struct attempt *a = x->pods[i];
        if (a->rejected)
            continue;
        a->message = arena_str(&a->a, why);
        a->reason = "Unschedulable";
        a->rejected = true;
        a->queued->rejected_by = PLUGIN_BIT(PLUGIN_GANG);
    }
}

static void on_victims_gone(struct attempt *a)
{
    struct group_attempt *x = a->group;
    fail_all(x);
}

static void on_victims_failed(struct attempt *a, struct str why)
{
    struct group_attempt *x = a->group;
    for (uint32_t i = 0; i < x->n; i++) {
        x->pods[i]->nominate = STR_NONE;
        x->pods[i]->reason = NULL;
    }
    fail_with(x, why);
}

static void nominate(struct group_attempt *x, const struct group_preemption *p)
{
    for (uint32_t i = 0; i < x->n; i++) {
        struct attempt *a = x->pods[i];
        if (!p->nodes[i])
            continue;
        a->nominate = arena_str(&a->a, p->nodes[i]->name);
        nominated_set(&x->sched->world.nominated, a->pod, a->nominate);
    }
}

static struct group_trial trial_of(struct group_attempt *x)
{
    return (struct group_trial){.world = &x->sched->world,
                                .profile = x->profile,
                                .group = group_info_of(x->object),
                                .pods = x->objects,
                                .n = x->n,
                                .scheduled = group_scheduled(x->sched, x->key),
                                .dra = x->dra,
                                .a = &x->sched->scratch};
}

/* What was done for devices is told of unless preemption has the last word. */
static void word_preemption(struct group_attempt *x, const struct group_preemption *p,
                            const struct sched_status *devices)
{
    if (!p->found && !p->nobody)
        add_reasons(x, devices);
    if (p->message.n)
        add_reason(
            x, arena_printf(&x->a, "pod group preemption: %.*s", STR_ARG(p->message)));
}

static void preempt(struct group_attempt *x, const struct sched_status *devices)
{
    struct attempt *a = x->pods[0];
    struct group_trial t = trial_of(x);
    arena_reset(&x->sched->scratch);
    struct group_preemption p = group_preempt_find(&t);
    group_trial_fini(&t);
    word_preemption(x, &p, devices);
    word_all(x, p.found);
    if (p.found)
        nominate(x, &p);
    a->group = x;
    a->after_victims = on_victims_gone;
    a->victims_failed = on_victims_failed;
    if (p.nvictims)
        victims_start_all(a, p.victims, p.nvictims, "podgroup", x->object->uid);
    else
        fail_all(x);
}

static void on_devices_freed(void *ctx, const struct sched_status *st)
{
    struct group_attempt *x = ctx;
    if (st->code == SCHED_ERROR) {
        fail_with(x, st->reasons.n ? st->reasons.v[0] : STR(""));
        return;
    }
    if (st->code == SCHED_UNSCHEDULABLE &&
        x->profile->filters & PLUGIN_BIT(PLUGIN_PREEMPTION)) {
        preempt(x, st);
        return;
    }
    add_reasons(x, st);
    word_all(x, false);
    fail_all(x);
}

static void free_devices(struct group_attempt *x)
{
    static const struct sched_status NOTHING = {.code = SCHED_UNSCHEDULABLE};
    if (x->dra)
        dra_group_post_filter(x->dra, x->object, x->active, x->objects, x->n,
                              on_devices_freed, x);
    else
        on_devices_freed(x, &NOTHING);
}

/* ---- what the trial found ---- */

/* A pod that no node takes, in its own words. */
static void refuse(struct attempt *a, const struct cycle *c)
{
    a->message = arena_str(&a->a, c->message);
    a->reason = c->code == SCHED_ERROR ? "SchedulerError" : "Unschedulable";
    a->rejected = c->code != SCHED_ERROR;
    a->queued->rejected_by = c->rejected_by;
}

static void take_over(struct group_attempt *x, struct group_trial *t)
{
    for (uint32_t i = 0; i < t->ntried; i++) {
        struct attempt *a = x->pods[i];
        struct cycle *c = &t->cycles[i];
        if (t->nodes[i])
            a->node = arena_str(&a->a, t->nodes[i]->name);
        if (c->code != SCHED_SUCCESS)
            refuse(a, c);
        a->dra = cycle_take_devices(c);
    }
}

/* Who found no node though the group has enough is tried again soon: it may preempt. */
static void leave_behind(struct attempt *a)
{
    a->queued->refusals = 0;
    a->queued->woken = true;
    attempt_fail(a);
}

static void bind_all(struct group_attempt *x)
{
    dra_group_free(x->dra);
    x->dra = NULL;
    for (uint32_t i = 0; i < x->n; i++) {
        struct attempt *a = x->pods[i];
        if (a->node.n) {
            nominated_remove(&x->sched->world.nominated, pod_id(a->pod));
            bind_start(a);
        } else {
            leave_behind(a);
        }
    }
    x->n = 0;
    finish(x);
}

static void conclude(struct group_attempt *x, struct group_trial *t)
{
    x->code = t->code;
    if (t->code == SCHED_SUCCESS) {
        x->message = STR("");
        take_over(x, t);
        bind_all(x);
        return;
    }
    group_trial_revert(t);
    take_over(x, t);
    for (uint32_t i = 0; i < x->n; i++)
        x->pods[i]->node = STR_NONE;
    if (t->code == SCHED_ERROR) {
        fail_with(x, t->message);
        return;
    }
    x->message = arena_str(&x->a, t->message);
    free_devices(x);
}

static void run(struct group_attempt *x)
{
    arena_reset(&x->sched->scratch);
    struct group_trial t = trial_of(x);
    x->active = t.scheduled > 0;
    group_trial_run(&t);
    conclude(x, &t);
    group_trial_fini(&t);
}

void group_start(struct scheduler *s, struct pod_group *g, struct queued *first)
{
    struct group_attempt *x = group_new(s, g);
    begin(x, g, first);
    g->busy = true;
    x->code = SCHED_UNSCHEDULABLE;
    if (!x->n) {
        g->busy = false;
        group_attempt_free(x);
        return;
    }
    x->profile = x->pods[0]->profile;
    if (check(x))
        run(x);
    else
        fail_with(x, x->message);
}

/* ---- for all ---- */

int64_t group_scheduled(const struct scheduler *s, struct str key)
{
    const struct pod_group *g = groups_find(&s->world.groups, key);
    int64_t n = 0;
    if (!g)
        return 0;
    strmap_each(&g->pods, e) n += cache_find_pod(&s->world.cache, e->key) != NULL;
    return n;
}
