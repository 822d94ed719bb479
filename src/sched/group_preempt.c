/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/group_preempt.h"

#include <stdlib.h>

#include "sched/budgets.h"

struct unit { /* goes or stays as a whole */
    struct node_pod **pods;
    uint32_t n;
    int64_t priority;
    bool group, violates, gone;
};

struct search {
    struct group_trial *t;
    struct unit *units;
    uint32_t n;
};

/* ---- who may go ---- */

static bool is_whole(const struct pod_group *g)
{
    return g && g->object && group_info_of(g->object)->whole;
}

static void add_pod(struct unit *u, struct node_pod *p)
{
    u->pods[u->n++] = p;
    u->priority = p->info->priority;
}

static void add_group(struct search *s, struct unit *u, const struct pod_group *g)
{
    u->group = true;
    u->pods = ARENA_ARRAY(s->t->a, struct node_pod *, g->pods.live);
    strmap_each(&g->pods, e)
    {
        struct node_pod *p = cache_find_pod(&s->t->world->cache, e->key);
        if (p)
            add_pod(u, p);
    }
}

/* A whole group is met at each of its pods, and taken at the first. */
static void add_unit(struct search *s, struct node_pod *p)
{
    struct unit *u = &s->units[s->n];
    struct pod_group *g = groups_of(&s->t->world->groups, p->object);
    if (p->info->priority >= s->t->group->priority)
        return;
    *u = (struct unit){0};
    if (is_whole(g)) {
        add_group(s, u, g);
        if (!u->n || u->pods[0] != p)
            return;
    } else {
        u->pods = ARENA_ARRAY(s->t->a, struct node_pod *, 1);
        add_pod(u, p);
    }
    s->n++;
}

static void collect(struct search *s)
{
    const struct cache *c = &s->t->world->cache;
    s->units = ARENA_ARRAY(s->t->a, struct unit, c->pods.live + 1);
    for (size_t i = 0; i < c->nodes.n; i++)
        for (size_t k = 0; k < c->nodes.v[i]->pods.n; k++)
            add_unit(s, c->nodes.v[i]->pods.v[k]);
}

static struct str earliest(const struct unit *u)
{
    struct str first = u->pods[0]->info->started;
    for (uint32_t i = 1; i < u->n; i++)
        if (str_cmp(u->pods[i]->info->started, first) < 0)
            first = u->pods[i]->info->started;
    return first;
}

/* The most important first: priority, groups, size, age. */
static int by_importance(const void *x, const void *y)
{
    const struct unit *a = x, *b = y;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->group != b->group)
        return a->group ? -1 : 1;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    int older = str_cmp(earliest(a), earliest(b));
    return older ? older
                 : str_cmp(pod_id(a->pods[0]->object), pod_id(b->pods[0]->object));
}

/* ---- going and staying ---- */

static void move_all(struct search *s, struct unit *u, int sign)
{
    struct group_trial *t = s->t;
    for (uint32_t i = 0; i < u->n; i++) {
        for (uint32_t k = 0; k < t->ntried; k++)
            cycle_moved(&t->cycles[k], u->pods[i], sign);
        if (sign > 0)
            cache_attach(&t->world->cache, u->pods[i]);
        else
            cache_detach(&t->world->cache, u->pods[i]);
    }
    u->gone = sign < 0;
}

/* Whether the group's pods still fit where they were, each beside those before it. Their
 * devices are not asked for again: pods that go do not free any (spec 7.0.7). */
static bool still_fits(struct search *s)
{
    struct group_trial *t = s->t;
    uint32_t i = 0;
    bool fits = true;
    for (; fits && i < t->ntried; i++) {
        plugin_set by;
        if (!t->nodes[i])
            continue;
        struct sched_status st = cycle_filter(&t->cycles[i], t->nodes[i], &by);
        fits = sched_ok(&st);
        if (fits)
            cache_assume(&t->world->cache, t->pods[i], t->nodes[i]);
    }
    while (i-- > 0)
        cache_remove_pod(&t->world->cache, pod_id(t->pods[i]));
    return fits;
}

static void mark_violating(struct search *s)
{
    struct group_trial *t = s->t;
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->units[i].n;
    struct node_pod **all = ARENA_ARRAY(t->a, struct node_pod *, n + 1);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->units[i].n; k++)
            all[at++] = s->units[i].pods[k];
    const bool *violates = budgets_violated(t->world, all, n, t->a);
    at = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->units[i].n; k++)
            s->units[i].violates |= violates[at++];
}

/* Those that a budget protects are spared first, then the important ones. */
static void spare_all(struct search *s)
{
    for (uint32_t k = 0; k < s->t->ntried; k++)
        s->t->cycles[k].skip |= PLUGIN_BIT(PLUGIN_DEVICES);
    mark_violating(s);
    for (int round = 1; round >= 0; round--)
        for (uint32_t i = 0; i < s->n; i++) {
            struct unit *u = &s->units[i];
            if (u->violates != (round == 1))
                continue;
            move_all(s, u, 1);
            if (!still_fits(s))
                move_all(s, u, -1);
        }
}

static void list_victims(struct search *s, struct group_preemption *out)
{
    out->victims =
        ARENA_ARRAY(s->t->a, struct node_pod *, s->t->world->cache.pods.live + 1);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; s->units[i].gone && k < s->units[i].n; k++)
            out->victims[out->nvictims++] = s->units[i].pods[k];
}

static void put_back(struct search *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->units[i].gone)
            move_all(s, &s->units[i], 1);
}

/* ---- whether at all ---- */

static bool may_preempt(const struct group_trial *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!pod_info_of(t->pods[i])->may_preempt)
            return false;
    return true;
}

static bool somebody_goes(const struct group_trial *t, const struct node *n)
{
    for (size_t i = 0; i < n->pods.n; i++)
        if (n->pods.v[i]->info->priority < t->group->priority &&
            n->pods.v[i]->info->pod->meta.deleting)
            return true;
    return false;
}

/* Victims of an earlier attempt are on their way; the nodes stay promised. */
static bool is_going_on(struct group_trial *t, struct group_preemption *out)
{
    out->nodes = ARENA_ARRAY(t->a, struct node *, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        struct str name = nominated_node(&t->world->nominated, pod_id(t->pods[i]));
        out->nodes[i] = name.n ? cache_find_node(&t->world->cache, name) : NULL;
        out->going |= out->nodes[i] && somebody_goes(t, out->nodes[i]);
    }
    return out->going;
}

static void find(struct search *s, struct group_preemption *out)
{
    struct group_trial *t = s->t;
    qsort(s->units, s->n, sizeof *s->units, by_importance);
    for (uint32_t i = 0; i < s->n; i++)
        move_all(s, &s->units[i], -1);
    group_trial_run(t);
    group_trial_revert(t);
    out->found = t->code == SCHED_SUCCESS;
    out->message = t->message;
    if (out->found) {
        spare_all(s);
        list_victims(s, out);
        out->message = arena_printf(
            t->a, "found a placement for podgroup, preempting %u victims", out->nvictims);
    }
    put_back(s);
    out->nodes = t->nodes;
}

struct group_preemption group_preempt_find(struct group_trial *t)
{
    struct group_preemption out = {0};
    struct search s = {.t = t};
    if (!may_preempt(t)) {
        out.message = STR("not eligible due to preemptionPolicy=Never.");
        return out;
    }
    if (is_going_on(t, &out)) {
        out.found = true;
        out.message = STR("ongoing preemption on nominated nodes");
        return out;
    }
    collect(&s);
    out.nobody = !s.n;
    if (s.n)
        find(&s, &out);
    else
        out.message = STR("No preemption victims found for incoming preemptor");
    return out;
}
