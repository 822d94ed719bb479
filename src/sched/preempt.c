/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/preempt.h"

#include <stdlib.h>

#include "sched/budgets.h"

/* ---- who may go ---- */

static bool may_go(const struct cycle *c, const struct node_pod *p)
{
    return p->info->priority < c->info->priority;
}

/* Higher priority, then longer running. */
static int by_importance(const void *x, const void *y)
{
    const struct pod_info *a = (*(struct node_pod *const *)x)->info,
                          *b = (*(struct node_pod *const *)y)->info;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    int older = str_cmp(a->started, b->started);
    return older ? older : str_cmp(a->pod->meta.uid, b->pod->meta.uid);
}

static uint32_t collect(const struct cycle *c, const struct node *n, struct node_pod ***v)
{
    uint32_t k = 0;
    *v = ARENA_ARRAY(c->a, struct node_pod *, n->pods.n);
    for (size_t i = 0; i < n->pods.n; i++)
        if (may_go(c, n->pods.v[i]))
            (*v)[k++] = n->pods.v[i];
    if (k > 1)
        qsort(*v, k, sizeof **v, by_importance);
    return k;
}

/* ---- one node ---- */

/* Puts a pod back if the other one still fits beside it. */
static bool spare(struct cycle *c, struct node *n, struct node_pod *p)
{
    plugin_set by;
    cycle_move(c, p, 1);
    struct sched_status st = cycle_filter(c, n, &by);
    if (sched_ok(&st))
        return true;
    cycle_move(c, p, -1);
    return false;
}

/* Those that a budget protects are spared first, then the important ones. */
static void spare_all(struct cycle *c, struct node *n, struct node_pod **v, uint32_t k,
                      const bool *violates, struct preemption *out)
{
    bool *gone = ARENA_ARRAY(c->a, bool, k);
    for (int round = 1; round >= 0; round--)
        for (uint32_t i = 0; i < k; i++) {
            if (violates[i] != (round == 1) || spare(c, n, v[i]))
                continue;
            gone[i] = true;
            out->violations += violates[i];
        }
    out->victims = ARENA_ARRAY(c->a, struct node_pod *, k);
    for (uint32_t i = 0; i < k; i++)
        if (gone[i])
            out->victims[out->nvictims++] = v[i];
}

/* What fits on the node when others go. What filters said of it otherwise is in *why. */
static bool try_node(struct cycle *c, struct node *n, struct preemption *out,
                     struct sched_status *why)
{
    static const struct str NOBODY =
        STR_INIT("No preemption victims found for incoming pod");
    struct node_pod **v;
    plugin_set by;
    uint32_t k = collect(c, n, &v);
    *out = (struct preemption){.node = n};
    *why = status_no(SCHED_UNRESOLVABLE, &NOBODY);
    if (!k)
        return false;
    for (uint32_t i = 0; i < k; i++)
        cycle_move(c, v[i], -1);
    *why = cycle_filter(c, n, &by);
    bool fits = sched_ok(why);
    if (fits)
        spare_all(c, n, v, k, budgets_violated(c->world, v, k, c->a), out);
    for (uint32_t i = 0; i < (fits ? out->nvictims : k); i++)
        cycle_move(c, fits ? out->victims[i] : v[i], 1);
    return fits && out->nvictims;
}

/* ---- which node ---- */

static int64_t sum_of_priorities(const struct preemption *p)
{
    int64_t sum = 0; /* each above 0, so that fewer are less */
    for (uint32_t i = 0; i < p->nvictims; i++)
        sum += p->victims[i]->info->priority + ((int64_t)INT32_MAX + 1);
    return sum;
}

/* When the first of the most important victims began. */
static struct str earliest(const struct preemption *p)
{
    struct str first = p->victims[0]->info->started;
    for (uint32_t i = 1; i < p->nvictims; i++)
        if (p->victims[i]->info->priority == p->victims[0]->info->priority &&
            str_cmp(p->victims[i]->info->started, first) < 0)
            first = p->victims[i]->info->started;
    return first;
}

/* a costs less than b. */
static bool is_better(const struct preemption *a, const struct preemption *b)
{
    if (a->violations != b->violations)
        return a->violations < b->violations;
    int64_t x = a->victims[0]->info->priority, y = b->victims[0]->info->priority;
    if (x != y)
        return x < y;
    x = sum_of_priorities(a);
    y = sum_of_priorities(b);
    if (x != y)
        return x < y;
    if (a->nvictims != b->nvictims)
        return a->nvictims < b->nvictims;
    return str_cmp(earliest(a), earliest(b)) > 0;
}

static uint32_t enough_candidates(const struct cycle *c, uint32_t nodes)
{
    uint32_t n = (uint32_t)((uint64_t)nodes * c->profile->min_candidates_percent / 100);
    return n < c->profile->min_candidates ? c->profile->min_candidates : n;
}

/* ---- whether at all ---- */

static bool victims_are_going(const struct cycle *c, const struct node *n)
{
    for (size_t i = 0; i < n->pods.n; i++)
        if (may_go(c, n->pods.v[i]) && n->pods.v[i]->info->pod->meta.deleting)
            return true;
    return false;
}

static bool is_eligible(const struct cycle *c, struct preemption *out)
{
    struct str name = nominated_node(&c->world->nominated, pod_id(c->pod));
    const struct node *n = name.n ? cache_find_node(&c->world->cache, name) : NULL;
    if (!c->info->may_preempt) {
        out->message = STR("preemption: not eligible due to preemptionPolicy=Never.");
        return false;
    }
    if (!n || c->codes[n->index] == SCHED_UNRESOLVABLE || !victims_are_going(c, n))
        return true;
    out->keeps = true;
    out->message = STR("preemption: not eligible due to a terminating pod on the "
                       "nominated node.");
    return false;
}

static void explain(const struct cycle *c, struct strmap *reasons, uint32_t asked,
                    struct preemption *out)
{
    uint32_t all = (uint32_t)c->world->cache.nodes.n;
    if (asked < all)
        strmap_put(reasons, STR("Preemption is not helpful for scheduling"), NULL)
            ->value.u += all - asked;
    out->message = arena_printf(c->a, "preemption: %.*s",
                                STR_ARG(cycle_message(all, reasons, c->a)));
}

static void note(struct strmap *reasons, const struct sched_status *st)
{
    for (uint32_t i = 0; i < st->reasons.n; i++)
        strmap_put(reasons, st->reasons.v[i], NULL)->value.u++;
}

struct preemption preempt_find(struct cycle *c)
{
    struct cache *cache = &c->world->cache;
    struct preemption best = {0};
    struct strmap reasons = STRMAP_INIT;
    uint32_t all = (uint32_t)cache->nodes.n, asked = 0, found = 0;
    if (!is_eligible(c, &best))
        return best;
    for (uint32_t i = 0; i < all && found < enough_candidates(c, all); i++) {
        struct node *n = cache->nodes.v[(c->world->next_start + i) % all];
        struct preemption one;
        struct sched_status why;
        if (c->codes[n->index] != SCHED_UNSCHEDULABLE)
            continue;
        asked++;
        if (!try_node(c, n, &one, &why)) {
            note(&reasons, &why);
            continue;
        }
        if (!found++ || is_better(&one, &best))
            best = one;
    }
    if (found)
        best.message = arena_printf(c->a,
                                    "preemption: found a potential placement for pod on "
                                    "node %.*s, preempting %u victims",
                                    STR_ARG(best.node->name), best.nvictims);
    else
        explain(c, &reasons, asked, &best);
    strmap_release(&reasons);
    return best;
}
