/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cycle.h"

#include <stdlib.h>

#include "sched/pod_affinity.h"
#include "sched/spread.h"

enum { MIN_FEASIBLE = 100, MIN_PERCENT = 5, MAX_SCORE = 100 };

void cycle_init_in(struct cycle *c, struct world *w, const struct profile *p,
                   struct object *pod, struct dra_group *group, struct arena *a)
{
    *c = (struct cycle){
        .world = w, .profile = p, .pod = pod, .info = pod_info_of(pod), .a = a};
    c->skip = ~p->filters;
    c->codes = ARENA_ARRAY(a, uint8_t, w->cache.nodes.n);
    if (w->dra && p->filters & PLUGIN_BIT(PLUGIN_DEVICES))
        c->dra = dra_cycle_new(w->dra, &p->dra, pod, c->info->pod, group);
}

void cycle_init(struct cycle *c, struct world *w, const struct profile *p,
                struct object *pod, struct arena *a)
{
    cycle_init_in(c, w, p, pod, NULL, a);
}

void cycle_fini(struct cycle *c)
{
    dra_cycle_free(c->dra);
    pod_affinity_free(c->affinity);
    spread_free(c->spread);
}

struct dra_cycle *cycle_take_devices(struct cycle *c)
{
    struct dra_cycle *d = c->dra;
    if (c->skip & PLUGIN_BIT(PLUGIN_DEVICES))
        return NULL;
    c->dra = NULL;
    return d;
}

/* ---- words ---- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str join(struct str *v, uint32_t n, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < n; i++) {
        strbuf_adds(&b, i ? ", " : "");
        strbuf_addstr(&b, v[i]);
    }
    struct str s = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

struct str cycle_message(uint32_t nodes, const struct strmap *reasons, struct arena *a)
{
    struct str *v = ARENA_ARRAY(a, struct str, reasons->live);
    uint32_t n = 0;
    strmap_each(reasons, e) v[n++] =
        arena_printf(a, "%llu %.*s", (unsigned long long)e->value.u, STR_ARG(e->key));
    if (n > 1)
        qsort(v, n, sizeof *v, by_text);
    return arena_printf(a, "0/%u nodes are available: %.*s.", nodes,
                        STR_ARG(join(v, n, a)));
}

static void fail(struct cycle *c, struct str text)
{
    c->code = SCHED_ERROR;
    c->message = text;
}

static struct str reasons_text(const struct sched_status *s, struct arena *a)
{
    return join((struct str *)s->reasons.v, s->reasons.n, a);
}

/* ---- before all nodes ---- */

static bool is_on(const struct cycle *c, int plugin)
{
    return !(c->skip & PLUGIN_BIT(plugin));
}

static void refuse_all(struct cycle *c, int plugin, const struct sched_status *s)
{
    c->code = s->code;
    c->rejected_by = PLUGIN_BIT(plugin);
    memset(c->codes, s->code, c->world->cache.nodes.n);
    c->message =
        arena_printf(c->a, "0/%u nodes are available: %.*s.",
                     (unsigned)c->world->cache.nodes.n, STR_ARG(reasons_text(s, c->a)));
}

/* A plugin that was not asked has no part in what follows. */
static bool stop_before(struct cycle *c, int plugin)
{
    c->skip |= ~(PLUGIN_BIT(plugin + 1) - 1);
    return false;
}

static bool pre_filter(struct cycle *c)
{
    for (int i = 0; i < PLUGINS; i++) {
        const struct plugin *p = &plugin_table[i];
        if (!is_on(c, i) || !p->pre_filter)
            continue;
        struct sched_status s = p->pre_filter(c);
        if (s.code == SCHED_SUCCESS)
            continue;
        if (s.code == SCHED_SKIP) {
            c->skip |= PLUGIN_BIT(i);
            continue;
        }
        if (s.code == SCHED_ERROR)
            fail(c, arena_printf(c->a, "running PreFilter plugin \"%s\": %.*s", p->name,
                                 STR_ARG(reasons_text(&s, c->a))));
        else
            refuse_all(c, i, &s);
        return stop_before(c, i);
    }
    return true;
}

/* ---- one node ---- */

static struct sched_status run_filters(struct cycle *c, const struct node *n,
                                       plugin_set *by)
{
    for (int i = 0; i < PLUGINS; i++) {
        const struct plugin *p = &plugin_table[i];
        if (!is_on(c, i) || !p->filter)
            continue;
        struct sched_status s = p->filter(c, n);
        if (s.code == SCHED_SUCCESS)
            continue;
        *by = PLUGIN_BIT(i);
        return s;
    }
    *by = 0;
    return status_ok();
}

void cycle_moved(struct cycle *c, const struct node_pod *p, int sign)
{
    for (int i = 0; i < PLUGINS; i++)
        if (is_on(c, i) && plugin_table[i].moved)
            plugin_table[i].moved(c, p->object, p->node, sign);
}

void cycle_move(struct cycle *c, struct node_pod *p, int sign)
{
    cycle_moved(c, p, sign);
    if (sign > 0)
        cache_attach(&c->world->cache, p);
    else
        cache_detach(&c->world->cache, p);
}

static bool goes_before(const struct cycle *c, const struct nomination *x,
                        const struct node *n)
{
    return str_is(n->name, x->node) && !str_eq(pod_id(x->pod), pod_id(c->pod)) &&
           pod_info_of(x->pod)->priority >= c->info->priority &&
           !cache_find_pod(&c->world->cache, pod_id(x->pod)); /* tried with its group */
}

/* Pods that the node is promised to, as if they were there; *v of them. */
static uint32_t add_nominated(struct cycle *c, struct node *n, struct node_pod **v)
{
    const struct nominated *all = &c->world->nominated;
    uint32_t found = 0;
    *v = NULL;
    for (size_t i = 0; i < all->all.n; i++)
        found += goes_before(c, &all->all.v[i], n);
    if (!found)
        return 0;
    *v = ARENA_ARRAY(c->a, struct node_pod, found);
    found = 0;
    for (size_t i = 0; i < all->all.n; i++) {
        if (!goes_before(c, &all->all.v[i], n))
            continue;
        struct object *pod = all->all.v[i].pod;
        struct node_pod *p = &(*v)[found++];
        *p = (struct node_pod){.object = pod, .info = pod_info_of(pod), .node = n};
        cycle_move(c, p, 1);
    }
    return found;
}

/* What fits beside them must fit without them too, since they may not come: rules of
 * affinity could count on them. */
struct sched_status cycle_filter(struct cycle *c, struct node *n, plugin_set *by)
{
    struct node_pod *promised = NULL;
    uint32_t k = c->world->nominated.all.n ? add_nominated(c, n, &promised) : 0;
    struct sched_status s = run_filters(c, n, by);
    if (!k)
        return s;
    while (k)
        cycle_move(c, &promised[--k], -1);
    return sched_ok(&s) ? run_filters(c, n, by) : s;
}

/* ---- all nodes ---- */

struct search {
    uint32_t wanted;
    struct strmap reasons;
};

/* How many nodes that take the pod are enough (spec 7.0.8). */
static uint32_t enough(const struct cycle *c, uint32_t nodes)
{
    uint32_t percent = c->profile->percentage;
    if (nodes < MIN_FEASIBLE || percent >= 100)
        return nodes;
    if (!percent)
        percent = nodes / 125 < 50 - MIN_PERCENT ? 50 - nodes / 125 : MIN_PERCENT;
    uint32_t n = (uint32_t)((uint64_t)nodes * percent / 100);
    return n < MIN_FEASIBLE ? MIN_FEASIBLE : n;
}

static void note(struct cycle *c, struct search *s, const struct node *n,
                 const struct sched_status *st)
{
    c->codes[n->index] = (uint8_t)st->code;
    for (uint32_t i = 0; i < st->reasons.n; i++)
        strmap_put(&s->reasons, st->reasons.v[i], NULL)->value.u++;
}

/* false: the attempt is over. */
static bool look_at(struct cycle *c, struct search *s, struct node *n)
{
    plugin_set by;
    struct sched_status st = cycle_filter(c, n, &by);
    c->evaluated++;
    if (sched_ok(&st)) {
        c->fits[c->nfits++] = n;
        return true;
    }
    if (st.code == SCHED_ERROR) {
        int i = __builtin_ctz(by);
        fail(c, arena_printf(c->a, "running \"%s\" filter plugin: %.*s",
                             plugin_table[i].name, STR_ARG(reasons_text(&st, c->a))));
        return false;
    }
    c->rejected_by |= by;
    note(c, s, n, &st);
    return true;
}

/* What the pod is tied to by name; all others are told so at once. */
static bool look_at_named(struct cycle *c, struct search *s)
{
    static const struct str OTHERS =
        STR_INIT("node(s) didn't satisfy plugin(s) [NodeAffinity]");
    uint32_t all = (uint32_t)c->world->cache.nodes.n, here = 0;
    memset(c->codes, SCHED_UNRESOLVABLE, all);
    for (uint32_t i = 0; i < c->only->n; i++) {
        struct node *n = cache_find_node(&c->world->cache, c->only->v[i]);
        if (!n)
            continue;
        here++;
        if (!look_at(c, s, n))
            return false;
    }
    if (here < all)
        strmap_put(&s->reasons, OTHERS, NULL)->value.u += all - here;
    c->rejected_by |= PLUGIN_BIT(PLUGIN_NODE_AFFINITY);
    return true;
}

static bool look_at_all(struct cycle *c, struct search *s)
{
    struct world *w = c->world;
    uint32_t all = (uint32_t)w->cache.nodes.n, start = w->next_start % all;
    for (uint32_t i = 0; i < all && c->nfits < s->wanted; i++) {
        uint32_t at = start + i < all ? start + i : start + i - all;
        if (!look_at(c, s, w->cache.nodes.v[at]))
            return false;
    }
    w->next_start = (start + c->evaluated) % all;
    return true;
}

/* The node that was made free for the pod, alone. */
static bool look_at_nominated(struct cycle *c, struct search *s)
{
    struct str name = nominated_node(&c->world->nominated, pod_id(c->pod));
    struct node *n = name.n ? cache_find_node(&c->world->cache, name) : NULL;
    plugin_set by;
    if (!n)
        return false;
    struct sched_status st = cycle_filter(c, n, &by);
    if (!sched_ok(&st))
        return false;
    c->fits[c->nfits++] = n;
    return true;
}

/* ---- scores ---- */

static void add_scores(struct cycle *c, int plugin, int64_t *one, int64_t *total)
{
    const struct plugin *p = &plugin_table[plugin];
    for (uint32_t i = 0; i < c->nfits; i++)
        one[i] = p->score(c, c->fits[i]);
    if (p->normalize)
        p->normalize(c, one, c->nfits);
    for (uint32_t i = 0; i < c->nfits; i++)
        total[i] += one[i] * c->profile->weights[plugin];
}

/* The best; of equal ones the first, and who is first changes with each attempt. */
static struct node *choose(struct cycle *c)
{
    int64_t *one = ARENA_ARRAY(c->a, int64_t, c->nfits),
            *total = ARENA_ARRAY(c->a, int64_t, c->nfits);
    uint32_t best = 0;
    for (int i = 0; i < PLUGINS; i++) {
        const struct plugin *p = &plugin_table[i];
        if (c->profile->weights[i] && p->score && (!p->pre_score || p->pre_score(c)))
            add_scores(c, i, one, total);
    }
    for (uint32_t i = 1; i < c->nfits; i++)
        if (total[i] > total[best])
            best = i;
    return c->fits[best];
}

/* ---- the attempt ---- */

static void conclude(struct cycle *c, struct search *s)
{
    uint32_t all = (uint32_t)c->world->cache.nodes.n;
    if (c->nfits) {
        c->code = SCHED_SUCCESS;
        c->rejected_by = 0;
        c->node = c->nfits == 1 ? c->fits[0] : choose(c);
        return;
    }
    c->code = SCHED_UNSCHEDULABLE;
    c->message = cycle_message(all, &s->reasons, c->a);
}

void cycle_run(struct cycle *c)
{
    uint32_t all = (uint32_t)c->world->cache.nodes.n;
    if (all == 0) { /* whoever wants resources of a node waits for the first one */
        c->code = SCHED_UNRESOLVABLE;
        c->rejected_by = PLUGIN_BIT(PLUGIN_RESOURCES);
        c->message = STR("no nodes available to schedule pods");
        stop_before(c, -1);
        return;
    }
    if (!pre_filter(c))
        return;
    struct search s = {.wanted = enough(c, all)};
    c->fits = ARENA_ARRAY(c->a, struct node *, all + 1);
    if (look_at_nominated(c, &s) || (c->only ? look_at_named(c, &s) : look_at_all(c, &s)))
        conclude(c, &s);
    strmap_release(&s.reasons);
}
