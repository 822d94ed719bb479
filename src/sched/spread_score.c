/* SPDX-License-Identifier: Apache-2.0 */
/* PodTopologySpread's score: nodes of domains with few pods like this one come first. */
#include "sched/spread.h"

#include <math.h>

static bool is_candidate(const struct spread *s, const struct node *n)
{
    return !s->all_keys || spread_has_keys(&s->soft, n);
}

/* Domains that a node which passed the filters is in; others need not be counted. */
static uint32_t find_domains(struct cycle *c, struct spread_count *r,
                             uint32_t *candidates)
{
    *candidates = 0;
    for (uint32_t i = 0; i < c->nfits; i++) {
        const struct node *n = c->fits[i];
        if (!is_candidate(c->spread, n))
            continue;
        ++*candidates;
        const struct str *value = node_label(n->info, r->rule->topology_key);
        if (value && !r->host)
            strmap_put(&r->domains, value->p ? *value : STR(""), NULL);
    }
    return r->domains.live;
}

static void count_domains(struct cycle *c, struct spread_count *r)
{
    const struct cache *cache = &c->world->cache;
    for (size_t i = 0; r->domains.live && i < cache->nodes.n; i++) {
        const struct node *n = cache->nodes.v[i];
        const struct str *value = node_label(n->info, r->rule->topology_key);
        if (!value || !n->pods.n || !is_candidate(c->spread, n))
            continue;
        struct strmap_entry *e = strmap_find(&r->domains, value->p ? *value : STR(""));
        if (e && spread_includes(c, r->rule, n))
            e->value.i += spread_count_pods(c, r, n);
    }
}

bool spread_pre_score(struct cycle *c)
{
    struct spread *s = spread_of(c);
    spread_collect(c, false, &s->soft);
    s->all_keys = c->info->nspread || !c->profile->default_spread;
    for (size_t i = 0; i < s->soft.n; i++) {
        struct spread_count *r = &s->soft.v[i];
        uint32_t candidates, domains = find_domains(c, r, &candidates);
        r->weight = log((r->host ? candidates : domains) + 2);
        count_domains(c, r);
    }
    return s->soft.n > 0;
}

static double score_of(const struct cycle *c, const struct spread_count *r,
                       const struct node *n)
{
    const struct str *value = node_label(n->info, r->rule->topology_key);
    if (!value)
        return 0;
    struct strmap_entry *e = strmap_find(&r->domains, value->p ? *value : STR(""));
    int64_t count = r->host ? spread_count_pods(c, r, n) : e ? e->value.i : 0;
    return (double)count * r->weight + (double)(r->rule->max_skew - 1);
}

/* INT64_MIN: the node is left out. */
int64_t spread_score(struct cycle *c, const struct node *n)
{
    double sum = 0;
    if (!is_candidate(c->spread, n))
        return INT64_MIN;
    for (size_t i = 0; i < c->spread->soft.n; i++)
        sum += score_of(c, &c->spread->soft.v[i], n);
    return (int64_t)round(sum);
}

void spread_normalize(struct cycle *c, int64_t *scores, uint32_t n)
{
    int64_t least = INT64_MAX, most = 0;
    (void)c;
    for (uint32_t i = 0; i < n; i++) {
        if (scores[i] == INT64_MIN)
            continue;
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (scores[i] == INT64_MIN)
            scores[i] = 0;
        else
            scores[i] = most ? 100 * (most + least - scores[i]) / most : 100;
    }
}
