/* SPDX-License-Identifier: Apache-2.0 */
/* InterPodAffinity's score: preferences of the pod, and of pods that are there. */
#include "sched/pod_affinity.h"

static void add_terms(struct cycle *c, const struct pod_terms *t,
                      const struct pod_info *owner, const struct pod_info *meant,
                      const struct node *n, int64_t sign)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (term_matches(c->world, &t->v[i], owner->pod->meta.namespace, meant))
            topologies_add(&c->affinity->scores, t->v[i].topology_key, n,
                           sign * t->v[i].weight);
}

/* Required affinity of a pod there draws this one, by a weight of the profile. */
static void add_required(struct cycle *c, const struct pod_info *there,
                         const struct node *n)
{
    const struct pod_terms *t = &there->affinity;
    for (uint32_t i = 0; i < t->n; i++)
        if (term_matches(c->world, &t->v[i], there->pod->meta.namespace, c->info))
            topologies_add(&c->affinity->scores, t->v[i].topology_key, n,
                           c->profile->hard_affinity_weight);
}

static void add_pod(struct cycle *c, const struct pod_info *there, const struct node *n)
{
    const struct pod_info *p = c->info;
    add_terms(c, &p->preferred_affinity, p, there, n, 1);
    add_terms(c, &p->preferred_anti, p, there, n, -1);
    if (c->profile->hard_affinity_weight)
        add_required(c, there, n);
    add_terms(c, &there->preferred_affinity, there, p, n, 1);
    add_terms(c, &there->preferred_anti, there, p, n, -1);
}

bool pod_affinity_pre_score(struct cycle *c)
{
    const struct cache *cache = &c->world->cache;
    bool own = c->info->preferred_affinity.n || c->info->preferred_anti.n;
    if (!own && (c->profile->ignore_preferred || !cache->naffine))
        return false;
    pod_affinity_of(c);
    for (size_t i = 0; i < cache->nodes.n; i++) {
        const struct node *n = cache->nodes.v[i];
        for (size_t k = 0; (own || n->naffine) && k < n->pods.n; k++)
            add_pod(c, n->pods.v[k]->info, n);
    }
    return c->affinity->scores.keys.n > 0;
}

int64_t pod_affinity_score(struct cycle *c, const struct node *n)
{
    return topologies_sum(&c->affinity->scores, n);
}

/* From the least, which may be below 0, to the most. */
void pod_affinity_normalize(struct cycle *c, int64_t *scores, uint32_t n)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    (void)c;
    for (uint32_t i = 0; i < n; i++) {
        least = scores[i] < least ? scores[i] : least;
        most = scores[i] > most ? scores[i] : most;
    }
    for (uint32_t i = 0; i < n; i++)
        scores[i] =
            most > least
                ? (int64_t)(100 * ((double)(scores[i] - least) / (double)(most - least)))
                : 0;
}
