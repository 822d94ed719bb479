/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that look at a node by itself: names, cordons, taints, labels, ports, images.
 */
#include "sched/plugins.h"

#include <stdlib.h>

#define REASON(text) static const struct str WHY = {text, sizeof(text) - 1}

void scores_normalize(int64_t *scores, uint32_t n, bool reverse)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    for (uint32_t i = 0; i < n; i++) {
        int64_t s = most ? 100 * scores[i] / most : 0;
        scores[i] = reverse ? 100 - s : s;
    }
}

/* ---- NodeName ---- */

struct sched_status name_pre_filter(struct cycle *c)
{
    return c->info->pod->node_name.n ? status_ok() : status_skip();
}

struct sched_status name_filter(struct cycle *c, const struct node *n)
{
    REASON("node(s) didn't match the requested node name");
    return str_eq(c->info->pod->node_name, n->name) ? status_ok()
                                                    : status_no(SCHED_UNRESOLVABLE, &WHY);
}

/* ---- NodeUnschedulable, TaintToleration ---- */

struct sched_status cordon_filter(struct cycle *c, const struct node *n)
{
    REASON("node(s) were unschedulable");
    return sched_cordon_refuses(c->info->pod, n->info->node)
               ? status_no(SCHED_UNRESOLVABLE, &WHY)
               : status_ok();
}

struct sched_status taints_filter(struct cycle *c, const struct node *n)
{
    REASON("node(s) had untolerated taint(s)");
    const struct view_pod *p = c->info->pod;
    for (uint32_t i = 0; i < n->info->node->ntaints; i++)
        if (sched_taint_refuses(&n->info->node->taints[i], p->tolerations,
                                p->ntolerations))
            return status_no(SCHED_UNRESOLVABLE, &WHY);
    return status_ok();
}

static bool is_tolerated(const struct view_pod *p, const struct view_taint *t)
{
    for (uint32_t i = 0; i < p->ntolerations; i++)
        if (view_tolerates(&p->tolerations[i], t))
            return true;
    return false;
}

int64_t taints_score(struct cycle *c, const struct node *n)
{
    const struct view_node *v = n->info->node;
    int64_t count = 0;
    for (uint32_t i = 0; i < v->ntaints; i++)
        count += str_is(v->taints[i].effect, "PreferNoSchedule") &&
                 !is_tolerated(c->info->pod, &v->taints[i]);
    return count;
}

void taints_normalize(struct cycle *c, int64_t *scores, uint32_t n)
{
    (void)c;
    scores_normalize(scores, n, true);
}

/* ---- NodeAffinity ---- */

/* The node's name that a term asks for, or STR_NONE. */
static struct str named_by(const struct view_term *t)
{
    for (uint32_t i = 0; i < t->nfields; i++)
        if (str_is(t->fields[i].key, "metadata.name") && t->fields[i].op == VIEW_IN &&
            t->fields[i].values.n == 1)
            return t->fields[i].values.v[0];
    return STR_NONE;
}

/* When every term names a node, no other comes into question: pods of a DaemonSet. */
static void tie_to_named(struct cycle *c, const struct view_node_selector *s)
{
    struct view_strs *only = ARENA_NEW(c->a, struct view_strs);
    struct str *v = ARENA_ARRAY(c->a, struct str, s->nterms);
    for (uint32_t i = 0; i < s->nterms; i++) {
        struct str name = named_by(&s->terms[i]);
        bool again = false;
        if (!name.n)
            return;
        for (uint32_t k = 0; k < only->n; k++)
            again = again || str_eq(v[k], name);
        if (!again)
            v[only->n++] = name;
    }
    only->v = v;
    c->only = only->n ? only : NULL;
}

struct sched_status affinity_nodes_pre_filter(struct cycle *c)
{
    const struct view_pod *p = c->info->pod;
    if (!p->required && !p->nnode_selector)
        return status_skip();
    if (p->required)
        tie_to_named(c, p->required);
    return status_ok();
}

struct sched_status affinity_nodes_filter(struct cycle *c, const struct node *n)
{
    REASON("node(s) didn't match Pod's node affinity/selector");
    return sched_selects(c->info->pod, n->info->node)
               ? status_ok()
               : status_no(SCHED_UNRESOLVABLE, &WHY);
}

bool affinity_nodes_pre_score(struct cycle *c)
{
    return c->info->npreferred_nodes > 0;
}

int64_t affinity_nodes_score(struct cycle *c, const struct node *n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->info->npreferred_nodes; i++) {
        const struct preferred_node *p = &c->info->preferred_nodes[i];
        bool bad = false;
        if (view_term_match(&p->term, n->info->node, &bad, NULL))
            sum += p->weight;
    }
    return sum;
}

void affinity_nodes_normalize(struct cycle *c, int64_t *scores, uint32_t n)
{
    (void)c;
    scores_normalize(scores, n, false);
}

/* ---- NodePorts ---- */

bool ports_conflict(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && str_eq(a->protocol, b->protocol) &&
           (str_eq(a->ip, b->ip) || str_is(a->ip, "0.0.0.0") || str_is(b->ip, "0.0.0.0"));
}

struct sched_status ports_pre_filter(struct cycle *c)
{
    return c->info->nports ? status_ok() : status_skip();
}

static bool any_conflict(const struct pod_info *a, const struct pod_info *b)
{
    for (uint32_t i = 0; i < a->nports; i++)
        for (uint32_t k = 0; k < b->nports; k++)
            if (ports_conflict(&a->ports[i], &b->ports[k]))
                return true;
    return false;
}

struct sched_status ports_filter(struct cycle *c, const struct node *n)
{
    REASON("node(s) didn't have free ports for the requested pod ports");
    for (size_t i = 0; n->nports && i < n->pods.n; i++)
        if (any_conflict(c->info, n->pods.v[i]->info))
            return status_no(SCHED_UNSCHEDULABLE, &WHY);
    return status_ok();
}

/* ---- ImageLocality ---- */

static const struct node_image *find_image(const struct node_info *n, struct str name)
{
    uint32_t lo = 0, hi = n->nimages;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        int cmp = str_cmp(n->images[mid].name, name);
        if (cmp == 0)
            return &n->images[mid];
        if (cmp < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* Scaled by how many nodes have it, so that pods do not all go to the one that does. */
int64_t images_score(struct cycle *c, const struct node *n)
{
    enum { MIN = 23 * 1024 * 1024, MAX_EACH = 1000 * 1024 * 1024 };
    const struct cache *cache = &c->world->cache;
    int64_t sum = 0, most = (int64_t)MAX_EACH * c->info->nimages;
    if (!n->info->nimages || !c->info->nimages)
        return 0;
    for (uint32_t i = 0; i < c->info->nimages; i++) {
        const struct node_image *image = find_image(n->info, c->info->images[i]);
        if (!image)
            continue;
        const struct strmap_entry *have = strmap_find(&cache->image_nodes, image->name);
        double spread = (double)(have ? have->value.i : 0) / (double)cache->nodes.n;
        sum += (int64_t)((double)image->size * spread);
    }
    sum = sum < MIN ? MIN : sum > most ? most : sum;
    return 100 * (sum - MIN) / (most - MIN);
}
