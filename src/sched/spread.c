/* SPDX-License-Identifier: Apache-2.0 */
/* PodTopologySpread's filter: no domain may have more than maxSkew pods above the least.
 */
#include "sched/spread.h"

#include "base/mem.h"

static const struct spread_rule SYSTEM[] = {
    {.max_skew = 3,
     .min_domains = 1,
     .topology_key = STR_INIT("topology.kubernetes.io/zone")},
    {.max_skew = 5, .min_domains = 1, .topology_key = STR_INIT("kubernetes.io/hostname")},
};

struct spread *spread_of(struct cycle *c)
{
    if (!c->spread)
        c->spread = mem_zalloc(sizeof *c->spread);
    return c->spread;
}

static void free_counts(spread_counts *v)
{
    for (size_t i = 0; i < v->n; i++)
        strmap_release(&v->v[i].domains);
    vec_release(v);
}

void spread_free(struct spread *s)
{
    if (!s)
        return;
    free_counts(&s->hard);
    free_counts(&s->soft);
    free(s);
}

/* ---- rules ---- */

static void add_rule(struct cycle *c, const struct spread_rule *r,
                     const struct selector *pods, spread_counts *out)
{
    vec_push(out, (struct spread_count){
                      .rule = r,
                      .pods = *pods,
                      .self = selector_matches(pods, &c->info->labels),
                      .host = str_is(r->topology_key, "kubernetes.io/hostname")});
}

static void add_defaults(struct cycle *c, const struct spread_rule *rules, uint32_t n,
                         bool hard, spread_counts *out)
{
    struct selector pods = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (rules[i].hard != hard)
            continue;
        if (!out->n)
            pods = spread_default_selector(c);
        if (selector_empty(&pods) || pods.nothing)
            return;
        add_rule(c, &rules[i], &pods, out);
    }
}

void spread_collect(struct cycle *c, bool hard, spread_counts *out)
{
    const struct pod_info *p = c->info;
    for (uint32_t i = 0; i < p->nspread; i++)
        if (p->spread[i].hard == hard)
            add_rule(c, &p->spread[i], &p->spread[i].pods, out);
    if (p->nspread)
        return;
    if (c->profile->default_spread)
        add_defaults(c, SYSTEM, 2, hard, out);
    else
        add_defaults(c, c->profile->spread, c->profile->nspread, hard, out);
}

int64_t spread_count_pods(const struct cycle *c, const struct spread_count *r,
                          const struct node *n)
{
    int64_t count = 0;
    if (selector_empty(&r->pods))
        return 0;
    for (size_t i = 0; i < n->pods.n; i++) {
        const struct pod_info *p = n->pods.v[i]->info;
        count += !p->pod->meta.deleting &&
                 str_eq(p->pod->meta.namespace, c->info->pod->meta.namespace) &&
                 selector_matches(&r->pods, &p->labels);
    }
    return count;
}

bool spread_has_keys(const spread_counts *rules, const struct node *n)
{
    for (size_t i = 0; i < rules->n; i++)
        if (!node_label(n->info, rules->v[i].rule->topology_key))
            return false;
    return true;
}

bool spread_includes(const struct cycle *c, const struct spread_rule *r,
                     const struct node *n)
{
    const struct view_pod *p = c->info->pod;
    const struct view_node *v = n->info->node;
    if (!r->any_affinity && !sched_selects(p, v))
        return false;
    for (uint32_t i = 0; r->honor_taints && i < v->ntaints; i++)
        if (sched_taint_refuses(&v->taints[i], p->tolerations, p->ntolerations))
            return false;
    return true;
}

/* ---- the filter ---- */

static struct str domain_of(const struct spread_rule *r, const struct node *n)
{
    const struct str *value = node_label(n->info, r->topology_key);
    return value && value->p ? *value : STR("");
}

static void count_node(struct cycle *c, const struct node *n)
{
    spread_counts *rules = &c->spread->hard;
    if (!spread_has_keys(rules, n))
        return;
    for (size_t i = 0; i < rules->n; i++) {
        struct spread_count *r = &rules->v[i];
        if (spread_includes(c, r->rule, n))
            strmap_put(&r->domains, domain_of(r->rule, n), NULL)->value.i +=
                spread_count_pods(c, r, n);
    }
}

struct sched_status spread_pre_filter(struct cycle *c)
{
    const struct cache *cache = &c->world->cache;
    struct spread *s = spread_of(c);
    spread_collect(c, true, &s->hard);
    if (!s->hard.n)
        return status_skip();
    for (size_t i = 0; i < cache->nodes.n; i++)
        count_node(c, cache->nodes.v[i]);
    return status_ok();
}

void spread_moved(struct cycle *c, const struct object *pod, const struct node *n,
                  int sign)
{
    const struct pod_info *p = pod_info_of(pod);
    spread_counts *rules = &c->spread->hard;
    if (!n->info || p->pod->meta.deleting || !spread_has_keys(rules, n) ||
        !str_eq(p->pod->meta.namespace, c->info->pod->meta.namespace))
        return;
    for (size_t i = 0; i < rules->n; i++) {
        struct spread_count *r = &rules->v[i];
        if (!selector_empty(&r->pods) && selector_matches(&r->pods, &p->labels) &&
            spread_includes(c, r->rule, n))
            strmap_put(&r->domains, domain_of(r->rule, n), NULL)->value.i += sign;
    }
}

/* Where there are fewer domains than there must be, one that is not there has the least.
 */
static int64_t least_of(const struct spread_count *r)
{
    int64_t least = INT32_MAX;
    if ((int64_t)r->domains.live < r->rule->min_domains)
        return 0;
    strmap_each(&r->domains, e) least = e->value.i < least ? e->value.i : least;
    return least;
}

struct sched_status spread_filter(struct cycle *c, const struct node *n)
{
    static const struct str SKEW = STR_INIT(
                                "node(s) didn't match pod topology spread constraints"),
                            LABEL = STR_INIT(
                                "node(s) didn't match pod topology spread constraints "
                                "(missing required label)");
    const spread_counts *rules = &c->spread->hard;
    for (size_t i = 0; i < rules->n; i++) {
        const struct spread_count *r = &rules->v[i];
        if (!node_label(n->info, r->rule->topology_key))
            return status_no(SCHED_UNRESOLVABLE, &LABEL);
        struct strmap_entry *e = strmap_find(&r->domains, domain_of(r->rule, n));
        int64_t here = e ? e->value.i : 0;
        if (here + r->self - least_of(r) > r->rule->max_skew)
            return status_no(SCHED_UNSCHEDULABLE, &SKEW);
    }
    return status_ok();
}

/* ---- hints ---- */

/* Pods that a rule counts have come or gone, or domains have. */
bool hint_spread(void *ctx, const struct object *pod, const struct sched_event *e)
{
    const struct pod_info *p = pod_info_of(pod);
    (void)ctx;
    if (e->kind <= EVENT_NODE_REMOVED)
        return true;
    const struct pod_info *other = pod_info_of(e->now ? e->now : e->old);
    if (!str_eq(p->pod->meta.namespace, other->pod->meta.namespace))
        return false;
    for (uint32_t i = 0; i < p->nspread; i++) {
        const struct selector *s = &p->spread[i].pods;
        if (selector_matches(s, &other->labels) ||
            (e->old && selector_matches(s, &pod_info_of(e->old)->labels)))
            return true;
    }
    return p->nspread == 0; /* by the profile's rules */
}
