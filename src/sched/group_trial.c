/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/group_trial.h"

/* ---- whether it can still be done ---- */

/* What is told where no pod has been looked at, or none has a place. */
#define UNSCHEDULABLE "pod group is unschedulable"

/* false: however many more are tried, there are not enough. */
static bool is_feasible(struct group_trial *t)
{
    long long least = t->group->min_count, left = t->n - t->ntried,
              have = t->scheduled + t->nplaced;
    t->code = have < least ? SCHED_UNSCHEDULABLE : SCHED_SUCCESS;
    t->message = STR("");
    if (left + have < least)
        t->message = arena_printf(t->a,
                                  "%sminCount (%lld) cannot be satisfied: %lld "
                                  "scheduled, %lld remaining",
                                  t->ntried ? "" : UNSCHEDULABLE ", ", least, have, left);
    else if (have < least)
        t->message = arena_printf(t->a,
                                  "minCount (%lld) is not yet satisfied: %lld scheduled, "
                                  "%lld remaining",
                                  least, have, left);
    return left + have >= least;
}

static void fail(struct group_trial *t, struct str why)
{
    t->code = SCHED_ERROR;
    t->message = arena_printf(t->a, "failed to schedule other pod from a pod group: %.*s",
                              STR_ARG(why));
}

/* ---- one pod ---- */

static void refuse(struct cycle *c, const struct sched_status *st)
{
    struct str why = st->reasons.n ? st->reasons.v[0] : STR("");
    c->code = st->code;
    c->rejected_by = PLUGIN_BIT(PLUGIN_DEVICES);
    c->message =
        st->code == SCHED_ERROR
            ? arena_printf(c->a, "running Reserve plugin \"DynamicResources\": %.*s",
                           STR_ARG(why))
            : arena_printf(c->a, "0/1 nodes are available: 1 %.*s.", STR_ARG(why));
}

static bool has_devices(const struct cycle *c)
{
    return c->dra && !(c->skip & PLUGIN_BIT(PLUGIN_DEVICES));
}

static void place(struct group_trial *t, uint32_t i)
{
    struct cycle *c = &t->cycles[i];
    cache_assume(&t->world->cache, c->pod, c->node);
    if (has_devices(c)) {
        struct sched_status st = dra_reserve(c->dra, c->node->name);
        if (!sched_ok(&st)) {
            dra_forget(c->dra);
            cache_remove_pod(&t->world->cache, pod_id(c->pod));
            refuse(c, &st);
            return;
        }
    }
    t->nodes[i] = c->node;
    t->nplaced++;
}

static bool try_pod(struct group_trial *t, uint32_t i)
{
    struct cycle *c = &t->cycles[i];
    cycle_init_in(c, t->world, t->profile, t->pods[i], t->dra, t->a);
    t->ntried++;
    cycle_run(c);
    if (c->code == SCHED_SUCCESS)
        place(t, i);
    if (c->code == SCHED_ERROR)
        fail(t, c->message);
    return c->code != SCHED_ERROR;
}

/* ---- all of them ---- */

void group_trial_run(struct group_trial *t)
{
    t->cycles = ARENA_ARRAY(t->a, struct cycle, t->n);
    t->nodes = ARENA_ARRAY(t->a, struct node *, t->n);
    t->ntried = t->nplaced = 0;
    bool on = is_feasible(t);
    for (uint32_t i = 0; on && i < t->n; i++) {
        if (!try_pod(t, i))
            return;
        on = is_feasible(t);
    }
    if (t->code == SCHED_SUCCESS && !t->nplaced) {
        t->code = SCHED_UNSCHEDULABLE;
        t->message = STR(UNSCHEDULABLE);
    }
}

void group_trial_revert(struct group_trial *t)
{
    for (uint32_t i = t->ntried; i-- > 0;) {
        if (!t->nodes[i])
            continue;
        if (has_devices(&t->cycles[i]))
            dra_forget(t->cycles[i].dra);
        cache_remove_pod(&t->world->cache, pod_id(t->pods[i]));
    }
    t->nplaced = 0;
}

void group_trial_fini(struct group_trial *t)
{
    for (uint32_t i = 0; i < t->ntried; i++)
        cycle_fini(&t->cycles[i]);
}
