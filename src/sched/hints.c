/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing hints: whether an event may help a pod that a plugin has rejected. What is not
 * looked at closely is taken as help. */
#include "sched/groups.h"
#include "sched/plugins.h"

static const struct node_info *node_of(const struct object *o)
{
    return o ? node_info_of(o) : NULL;
}

static const struct pod_info *pod_of(const struct object *o)
{
    return o ? pod_info_of(o) : NULL;
}

bool hint_self_gates(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w, (void)e;
    return !pod_info_of(pod)->gated;
}

static bool tolerates_all(const struct view_pod *p, const struct view_node *n)
{
    for (uint32_t i = 0; i < n->ntaints; i++)
        if (sched_taint_refuses(&n->taints[i], p->tolerations, p->ntolerations))
            return false;
    return !sched_cordon_refuses(p, n);
}

/* The node takes it now; or the pod tolerates more than it did. */
bool hint_tolerations(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w;
    if (e->kind == EVENT_SELF)
        return pod_of(e->old)->pod->ntolerations != pod_of(e->now)->pod->ntolerations;
    return tolerates_all(pod_info_of(pod)->pod, node_of(e->now)->node);
}

/* Labels by which the node was refused may have come. */
bool hint_node_selected(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w;
    const struct view_pod *p = pod_info_of(pod)->pod;
    return sched_selects(p, node_of(e->now)->node) &&
           !(e->old && sched_selects(p, node_of(e->old)->node));
}

bool hint_ports(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w;
    const struct pod_info *p = pod_info_of(pod), *gone = pod_of(e->old);
    if (e->kind == EVENT_NODE_ADDED)
        return true;
    for (uint32_t i = 0; i < p->nports; i++)
        for (uint32_t k = 0; k < gone->nports; k++)
            if (ports_conflict(&p->ports[i], &gone->ports[k]))
                return true;
    return false;
}

/* ---- resources ---- */

static bool fits_empty(const struct pod_info *p, const struct node_info *n)
{
    if (p->need.cpu > n->allocatable.cpu || p->need.memory > n->allocatable.memory ||
        p->need.storage > n->allocatable.storage || n->max_pods < 1)
        return false;
    return true; /* devices may serve what else it wants */
}

/* Some resource that the pod wants is more than it was. */
static bool has_grown(const struct pod_info *p, const struct node_info *old,
                      const struct node_info *now)
{
    const struct resources *a = &old->allocatable, *b = &now->allocatable;
    if (now->max_pods > old->max_pods || (p->need.cpu && b->cpu > a->cpu) ||
        (p->need.memory && b->memory > a->memory) ||
        (p->need.storage && b->storage > a->storage))
        return true;
    for (uint32_t i = 0; i < p->need.n; i++) {
        struct str name = p->need.scalars[i].name;
        if (resources_get(b, name) != resources_get(a, name))
            return true; /* none left: devices may serve it now */
    }
    return false;
}

static bool wants_less(const struct resources *old, const struct resources *now)
{
    if (now->cpu < old->cpu || now->memory < old->memory || now->storage < old->storage)
        return true;
    for (uint32_t i = 0; i < old->n; i++)
        if (resources_get(now, old->scalars[i].name) < old->scalars[i].value)
            return true;
    return false;
}

bool hint_fit(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w;
    const struct pod_info *p = pod_info_of(pod);
    switch (e->kind) {
    case EVENT_NODE_ADDED:
        return fits_empty(p, node_of(e->now));
    case EVENT_NODE_ALLOCATABLE:
        return fits_empty(p, node_of(e->now)) &&
               has_grown(p, node_of(e->old), node_of(e->now));
    case EVENT_SELF:
        return wants_less(&pod_of(e->old)->need, &pod_of(e->now)->need);
    default:
        return true; /* a place for a pod at least */
    }
}

/* ---- devices ---- */

static bool has_claim_names(const struct sched_event *e)
{
    const struct view_pod *old = pod_of(e->old)->pod, *now = pod_of(e->now)->pod;
    return old->nclaim_statuses != now->nclaim_statuses ||
           !str_eq(old->extended_claim, now->extended_claim);
}

bool hint_devices(void *w, const struct object *pod, const struct sched_event *e)
{
    const struct world *world = w;
    if (!world->dra)
        return false;
    if (e->kind == EVENT_SELF)
        return has_claim_names(e) && dra_hint_pod(world->dra, pod) == DRA_HINT_QUEUE;
    if (!e->more)
        return true;
    return dra_hint(world->dra, pod, e->more) == DRA_HINT_QUEUE;
}

/* A pod that completes its gang; the group itself, when it asks for fewer than before. */
bool hint_gang(void *w, const struct object *pod, const struct sched_event *e)
{
    (void)w;
    const struct object *now = e->now;
    struct str group = pod_info_of(pod)->group;
    if (!str_eq(now->namespace, pod->namespace))
        return false;
    if (e->kind != EVENT_GROUP)
        return group.n && str_eq(pod_info_of(now)->group, group);
    if (!str_eq(now->name, group))
        return false;
    return !e->old || group_info_of(now)->min_count < group_info_of(e->old)->min_count;
}
