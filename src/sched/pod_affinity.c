/* SPDX-License-Identifier: Apache-2.0 */
/* InterPodAffinity's filter: rules of the pod about pods that are there, and theirs about
 * it (spec 7.0.1; upstream's interpodaffinity). */
#include "sched/pod_affinity.h"
#include "base/mem.h"

static struct str namespace_of(const struct pod_info *p)
{
    return p->pod->meta.namespace;
}

/* One pod that is there comes (sign 1) or goes. */
static void count_pod(struct cycle *c, const struct pod_info *there, const struct node *n,
                      int sign)
{
    const struct pod_info *p = c->info;
    struct pod_affinity *s = c->affinity;
    for (uint32_t i = 0; i < there->anti_affinity.n; i++) {
        const struct pod_term *t = &there->anti_affinity.v[i];
        if (term_matches(c->world, t, namespace_of(there), p))
            topologies_add(&s->against, t->topology_key, n, sign);
    }
    if (terms_match(c->world, &p->affinity, namespace_of(p), there))
        for (uint32_t i = 0; i < p->affinity.n; i++)
            topologies_add(&s->with, p->affinity.v[i].topology_key, n, sign);
    for (uint32_t i = 0; i < p->anti_affinity.n; i++) {
        const struct pod_term *t = &p->anti_affinity.v[i];
        if (term_matches(c->world, t, namespace_of(p), there))
            topologies_add(&s->without, t->topology_key, n, sign);
    }
}

/* Pods that say nothing about others are looked at only if this one does. */
static void count_all(struct cycle *c)
{
    const struct pod_info *p = c->info;
    bool all = p->affinity.n || p->anti_affinity.n;
    const struct cache *cache = &c->world->cache;
    for (size_t i = 0; i < cache->nodes.n; i++) {
        const struct node *n = cache->nodes.v[i];
        for (size_t k = 0; (all || n->nanti) && k < n->pods.n; k++)
            count_pod(c, n->pods.v[k]->info, n, 1);
    }
}

struct pod_affinity *pod_affinity_of(struct cycle *c)
{
    if (!c->affinity)
        c->affinity = mem_zalloc(sizeof *c->affinity);
    return c->affinity;
}

void pod_affinity_free(struct pod_affinity *s)
{
    if (!s)
        return;
    topologies_fini(&s->against);
    topologies_fini(&s->with);
    topologies_fini(&s->without);
    topologies_fini(&s->scores);
    free(s);
}

static bool has_terms(const struct pod_info *p)
{
    return p->affinity.n || p->anti_affinity.n;
}

/* Pods with rules may be nominated, too, and come in what-if questions. */
static bool nominated_has_anti(const struct world *w)
{
    for (size_t i = 0; i < w->nominated.all.n; i++)
        if (pod_info_of(w->nominated.all.v[i].pod)->anti_affinity.n)
            return true;
    return false;
}

struct sched_status pod_affinity_pre_filter(struct cycle *c)
{
    if (!has_terms(c->info) && !c->world->cache.nanti && !nominated_has_anti(c->world))
        return status_skip();
    pod_affinity_of(c);
    count_all(c);
    return status_ok();
}

void pod_affinity_moved(struct cycle *c, const struct object *pod, const struct node *n,
                        int sign)
{
    count_pod(c, pod_info_of(pod), n, sign);
}

/* The first of pods that want to be together has nobody to join: it matches its own
 * rules, and no pod does that is there. */
static bool joins_itself(const struct cycle *c)
{
    return topologies_empty(&c->affinity->with) &&
           terms_match(c->world, &c->info->affinity, namespace_of(c->info), c->info);
}

static bool finds_company(const struct cycle *c, const struct node *n)
{
    const struct pod_terms *t = &c->info->affinity;
    bool found = true;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!node_label(n->info, t->v[i].topology_key))
            return false;
        found = found && topologies_get(&c->affinity->with, t->v[i].topology_key, n) > 0;
    }
    return found || joins_itself(c);
}

static bool finds_foes(const struct cycle *c, const struct node *n)
{
    const struct pod_terms *t = &c->info->anti_affinity;
    for (uint32_t i = 0; i < t->n; i++)
        if (topologies_get(&c->affinity->without, t->v[i].topology_key, n) > 0)
            return true;
    return false;
}

static bool is_unwanted(const struct cycle *c, const struct node *n)
{
    const struct topologies *t = &c->affinity->against;
    for (size_t i = 0; i < t->keys.n; i++)
        if (topologies_get(t, t->keys.v[i].key, n) > 0)
            return true;
    return false;
}

struct sched_status pod_affinity_filter(struct cycle *c, const struct node *n)
{
    static const struct str
        WITH = STR_INIT("node(s) didn't match pod affinity rules"),
        WITHOUT = STR_INIT("node(s) didn't match pod anti-affinity rules"),
        AGAINST = STR_INIT("node(s) didn't satisfy existing pods anti-affinity rules");
    if (!finds_company(c, n))
        return status_no(SCHED_UNRESOLVABLE, &WITH);
    if (finds_foes(c, n))
        return status_no(SCHED_UNSCHEDULABLE, &WITHOUT);
    return is_unwanted(c, n) ? status_no(SCHED_UNSCHEDULABLE, &AGAINST) : status_ok();
}

/* ---- hints ---- */

/* A pod that comes may be the company that is looked for; one that goes may be a foe, or
 * one whose rule was in the way. */
bool hint_pod_affinity(void *ctx, const struct object *pod, const struct sched_event *e)
{
    const struct world *w = ctx;
    const struct pod_info *p = pod_info_of(pod);
    if (e->kind == EVENT_NODE_ADDED || e->kind == EVENT_NODE_LABELS ||
        e->kind == EVENT_NAMESPACE_LABELS)
        return true;
    if (e->now && terms_match(w, &p->affinity, namespace_of(p), pod_info_of(e->now)))
        return true;
    if (!e->old)
        return false;
    const struct pod_info *gone = pod_info_of(e->old);
    for (uint32_t i = 0; i < p->anti_affinity.n; i++)
        if (term_matches(w, &p->anti_affinity.v[i], namespace_of(p), gone))
            return true;
    for (uint32_t i = 0; i < gone->anti_affinity.n; i++)
        if (term_matches(w, &gone->anti_affinity.v[i], namespace_of(gone), p))
            return true;
    /* The first of those that want company may be alone now. */
    return !e->now && terms_match(w, &p->affinity, namespace_of(p), gone);
}
