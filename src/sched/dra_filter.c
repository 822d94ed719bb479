/* SPDX-License-Identifier: Apache-2.0 */
/* One node: whether it can have the pod's claims (spec 7.4), and how good that would be
 * (7.6). */
#include "base/clock.h"
#include "sched/dra_inner.h"

#define NODE_OPERATIONS STR("DRAOptionalNodeOperations")

/* ---- claims that are allocated ---- */

static bool skips_operations(const struct view_allocation *al)
{
    for (uint32_t i = 0; i < al->nresults; i++)
        if (al->results[i].skip_node_operations.n)
            return true;
    return false;
}

static bool lacks_operations(const struct view_allocation *al,
                             const struct view_node *node)
{
    const struct view_strs *f = &node->declared_features;
    if (!skips_operations(al))
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        if (str_eq(f->v[i], NODE_OPERATIONS))
            return false;
    return true;
}

static bool is_elsewhere(const struct view_allocation *al, const struct view_node *node)
{
    return al->node_selector &&
           view_node_selector_match(al->node_selector, node, NULL) != VIEW_MATCH_YES;
}

/* Of a claim that is allocated, or is about to be for another pod of the group. *out: the
 * node is refused whatever else there is. */
static bool check_allocated(struct dra_cycle *c, struct dra_need *need,
                            const struct view_node *node, struct sched_status *out)
{
    const struct object *o = need->pending ? need->pending : need->claim;
    const struct view_allocation *al = dra_view(o)->allocation;
    if (!al)
        return true;
    bool unavailable = is_elsewhere(al, node) || need->stuck ||
                       (!need->pending && lacks_operations(al, node));
    if (!unavailable && dra_gate(c->d, API_GATE_DRANodeAllocatableResources))
        *out = dra_mapped_sharing(c, need);
    need->unavailable |= unavailable;
    return !unavailable;
}

static struct sched_status check_pending(struct dra_cycle *c,
                                         const struct view_node *node)
{
    for (uint32_t i = 0; i < c->nusers; i++) {
        const struct dra_need *n = &c->needs[i];
        if (n->pending && lacks_operations(dra_view(n->pending)->allocation, node))
            return DRA_STATUS(c, SCHED_UNRESOLVABLE,
                              "resource claim %.*s allocation requires "
                              "DRAOptionalNodeOperations feature on the node",
                              STR_ARG(n->claim->key));
    }
    return dra_ok();
}

/* ---- the rest ---- */

struct limit {
    const struct dra_cycle *c;
    uint64_t until; /* 0: none */
};

static uint64_t clock_of(const struct dra_cycle *c)
{
    return c->d->opts.clock_ns ? c->d->opts.clock_ns(c->d->opts.ctx) : clock_mono_ns();
}

static bool is_over(void *ctx)
{
    const struct limit *l = ctx;
    return l->until && clock_of(l->c) >= l->until;
}

static struct sched_status took_too_long(struct dra_cycle *c,
                                         const struct view_node *node)
{
    return DRA_STATUS(c, SCHED_ERROR, "node %.*s: timed out trying to allocate devices",
                      STR_ARG(node->meta.name));
}

static struct sched_status status_of(struct dra_cycle *c, const struct view_node *node,
                                     const struct alloc_outcome *o)
{
    switch (o->status) {
    case ALLOC_OK:
        return dra_ok();
    case ALLOC_ERROR:
        return dra_status(SCHED_ERROR, o->error, &c->arena);
    case ALLOC_BUDGET:
        return took_too_long(c, node);
    default:
        return dra_status(SCHED_UNRESOLVABLE,
                          o->error.n ? o->error : STR("cannot allocate all claims"),
                          &c->arena);
    }
}

static struct sched_status allocate(struct dra_cycle *c, const struct view_node *node,
                                    struct dra_offer *offer)
{
    struct limit limit = {.c = c};
    struct alloc_options options = {
        .policy = c->policy, .cancelled = is_over, .cancel_ctx = &limit};
    if (!offer->variant->plan) {
        offer->outcome.status = ALLOC_OK;
        return dra_ok();
    }
    if (c->args.filter_ms && dra_gate(c->d, API_GATE_DRASchedulerFilterTimeout))
        limit.until = clock_of(c) + c->args.filter_ms * 1000000;
    if (is_over(&limit))
        return took_too_long(c, node);
    /* What was refused before, for this pod or another with the same claims, costs next
     * to nothing as long as nothing has changed there. */
    alloc_find(offer->variant->plan, &node, 1, 0, &options, &c->arena, &offer->outcome);
    return status_of(c, node, &offer->outcome);
}

static void keep(struct dra_cycle *c, struct str node, const struct dra_offer *offer)
{
    struct dra_offer *kept = ARENA_NEW(&c->arena, struct dra_offer);
    *kept = *offer;
    strmap_put(&c->offers, arena_str(&c->arena, node), NULL)->value.ptr = kept;
}

static bool check_users(struct dra_cycle *c, const struct view_node *node,
                        struct sched_status *s)
{
    bool available = true;
    for (uint32_t i = 0; i < c->n && sched_ok(s); i++)
        available &= check_allocated(c, &c->needs[i], node, s);
    return available;
}

struct sched_status dra_filter(struct dra_cycle *c, const struct sched_node *node)
{
    static const struct str NOT_HERE = {"resourceclaim not available on the node", 39};
    struct sched_status s = dra_ok();
    struct dra_offer offer = {0};
    if (!c->ready)
        return s;
    offer.variant = dra_variant_for(c, node->view, &s);
    if (!offer.variant || (c->nusers == 0 && !offer.variant->extended))
        return s; /* refused; or plugins of the node have what is wanted */
    bool available = check_users(c, node->view, &s);
    if (sched_ok(&s) && c->allocates)
        s = check_pending(c, node->view);
    if (sched_ok(&s))
        s = allocate(c, node->view, &offer);
    if (sched_ok(&s) && dra_gate(c->d, API_GATE_DRANodeAllocatableResources))
        s = dra_mapped_check(c, node, &offer);
    if (sched_ok(&s) && !available)
        s = (struct sched_status){SCHED_UNRESOLVABLE, {&NOT_HERE, 1}};
    if (sched_ok(&s))
        keep(c, node->view->meta.name, &offer);
    return s;
}

struct view_strs dra_serves(struct dra_cycle *c, const struct sched_node *node)
{
    struct sched_status ignored;
    const struct dra_variant *v =
        c->ready ? dra_variant_for(c, node->view, &ignored) : NULL;
    return v ? v->names : (struct view_strs){0};
}
