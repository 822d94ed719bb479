/* SPDX-License-Identifier: Apache-2.0 */
/* NodeResourcesFit and NodeResourcesBalancedAllocation: what a node has left. */
#include "sched/plugins.h"

#include <math.h>

enum { MAX_SCORE = 100 };

/* ---- Filter ---- */

struct shortages {
    struct arena *a;
    struct str *v;
    uint32_t n, cap;
    bool unresolvable; /* the node is too small when it is empty, too */
};

static void add_reason(struct shortages *s, struct str why)
{
    if (s->n == s->cap) {
        s->v = arena_more(s->a, s->v, s->n * sizeof *s->v, (s->cap + 8) * sizeof *s->v);
        s->cap += 8;
    }
    s->v[s->n++] = why;
}

static void check(struct shortages *s, struct str why, int64_t want, int64_t total,
                  int64_t used)
{
    int64_t left;
    if (want <= 0 || (!__builtin_sub_overflow(total, used, &left) && want <= left))
        return;
    add_reason(s, why);
    s->unresolvable = s->unresolvable || want > total;
}

static bool has_name(const struct view_strs *names, struct str name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], name))
            return true;
    return false;
}

static void check_scalars(struct shortages *s, const struct resources *need,
                          const struct node *n, const struct view_strs *served)
{
    for (uint32_t i = 0; i < need->n; i++) {
        struct str name = need->scalars[i].name;
        int64_t want = need->scalars[i].value,
                total = resources_get(&n->info->allocatable, name),
                used = resources_get(&n->used.sum, name);
        if (want <= 0 || want <= total - used || has_name(served, name))
            continue;
        check(s, arena_printf(s->a, "Insufficient %.*s", STR_ARG(name)), want, total,
              used);
    }
}

struct sched_status fit_filter(struct cycle *c, const struct node *n)
{
    const struct resources *need = &c->info->need, *all = &n->info->allocatable,
                           *used = &n->used.sum;
    struct shortages s = {.a = c->a};
    if ((int64_t)n->pods.n + 1 > n->info->max_pods)
        add_reason(&s, STR("Too many pods"));
    check(&s, STR("Insufficient cpu"), need->cpu, all->cpu, used->cpu);
    check(&s, STR("Insufficient memory"), need->memory, all->memory, used->memory);
    check(&s, STR("Insufficient ephemeral-storage"), need->storage, all->storage,
          used->storage);
    if (need->n) {
        struct view_strs served = {0};
        if (c->dra)
            served = dra_serves(c->dra, &n->base);
        check_scalars(&s, need, n, &served);
    }
    if (!s.n)
        return status_ok();
    return (struct sched_status){
        s.unresolvable ? SCHED_UNRESOLVABLE : SCHED_UNSCHEDULABLE, {s.v, s.n}};
}

/* ---- Score ---- */

struct amount {
    int64_t total, used, with; /* what the node has; what pods there want; this one too */
};

/* usual: pods that say nothing count as if they did, as for the fit. What no node has,
 * and an extended resource that the pod does not want, is not looked at: total 0. */
static struct amount amount_of(const struct cycle *c, const struct node *n,
                               struct str name, bool usual)
{
    const struct pod_info *p = c->info;
    struct amount x = {.total = resources_get(&n->info->allocatable, name),
                       .used = resources_get(&n->used.sum, name)};
    int64_t want = resources_get(&p->need, name);
    if (usual && str_is(name, "cpu")) {
        x.used = n->score_cpu;
        want = p->score_cpu;
    } else if (usual && str_is(name, "memory")) {
        x.used = n->score_memory;
        want = p->score_memory;
    } else if (want == 0 && !str_is(name, "cpu") && !str_is(name, "memory") &&
               !str_is(name, "ephemeral-storage")) {
        x.total = 0;
    }
    x.with = x.used + want;
    return x;
}

static int64_t share(const struct amount *x, enum fit_strategy strategy)
{
    if (x->with > x->total)
        return 0;
    int64_t part = strategy == FIT_MOST ? x->with : x->total - x->with;
    return (int64_t)((__int128)part * MAX_SCORE / x->total);
}

int64_t fit_score(struct cycle *c, const struct node *n)
{
    const struct profile *p = c->profile;
    int64_t sum = 0, weights = 0;
    for (uint32_t i = 0; i < p->nfit; i++) {
        struct amount x = amount_of(c, n, p->fit[i].name, true);
        if (x.total <= 0)
            continue;
        sum += share(&x, p->strategy) * p->fit[i].weight;
        weights += p->fit[i].weight;
    }
    return weights ? sum / weights : 0;
}

/* How alike the parts in use are, 50 - 100. */
static int64_t evenness(const double *parts, uint32_t n)
{
    double sum = 0, square = 0;
    if (n < 2)
        return MAX_SCORE;
    if (n == 2)
        return (int64_t)((1 - fabs((parts[0] - parts[1]) / 2)) * MAX_SCORE);
    for (uint32_t i = 0; i < n; i++)
        sum += parts[i];
    for (uint32_t i = 0; i < n; i++)
        square += (parts[i] - sum / n) * (parts[i] - sum / n);
    return (int64_t)((1 - sqrt(square / n)) * MAX_SCORE);
}

static double part(int64_t used, int64_t total)
{
    double x = (double)used / (double)total;
    return x > 1 ? 1 : x;
}

/* A pod that wants none of it says nothing. */
bool balance_pre_score(struct cycle *c)
{
    const struct profile *p = c->profile;
    for (uint32_t i = 0; i < p->nbalance; i++)
        if (resources_get(&c->info->need, p->balance[i].name))
            return true;
    return false;
}

/* Better than before: up to 100; worse: down to 50. */
int64_t balance_score(struct cycle *c, const struct node *n)
{
    const struct profile *p = c->profile;
    double with[PROFILE_RESOURCES], without[PROFILE_RESOURCES];
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->nbalance; i++) {
        struct amount x = amount_of(c, n, p->balance[i].name, false);
        if (x.total <= 0)
            continue;
        with[k] = part(x.with, x.total);
        without[k++] = part(x.used, x.total);
    }
    return MAX_SCORE / 2 + (MAX_SCORE / 2 + evenness(with, k) - evenness(without, k)) / 2;
}
