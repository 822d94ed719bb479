/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/place.h"

#include "cli/shape.h"

/*
 * Pods that are alike (equal needs, equal claims) make one shape. Nothing is ever
 * released here, so a node that refused a shape refuses it for good: each shape keeps a
 * cursor to the first node that may still take it, and one plan of the allocator for each
 * set of extended resources that a node leaves to devices.
 */
struct plan {
    uint64_t mask; /* of the shape's extended names that come from devices */
    struct view_strs names;
    const struct view_claim **views;
    uint32_t nviews;
    struct alloc_plan *alloc;
};

struct shape {
    struct sched_pod needs;
    struct view_strs extended;
    uint32_t cursor;
    bool has_alternatives;
    VEC(struct plan) plans;
    struct why *why;
};

struct placer {
    struct cluster *c;
    const struct place_opts *opts;
    struct placement *out;
    struct alloc_inventory *inv;
    struct alloc_options alloc_opts;
    struct sched_node *nodes;
    struct strmap shapes;
    struct arena scratch; /* of one node */
    uint32_t shares;      /* made so far */
};

struct choice {
    uint32_t node;
    struct plan *plan;
    struct alloc_outcome outcome;
    int64_t score;
};

/* ---- shapes ---- */

static bool offers_alternatives(const struct placed_pod *pod)
{
    for (uint32_t i = 0; i < pod->nclaims; i++)
        for (uint32_t k = 0; k < pod->claims[i]->view->nrequests; k++)
            if (pod->claims[i]->view->requests[k].first_available)
                return true;
    return false;
}

static struct shape *shape_of(struct placer *p, const struct placed_pod *pod)
{
    bool made;
    struct str key = shape_text(&pod->pod, pod->claims, pod->nclaims, &p->c->arena);
    struct strmap_entry *e = strmap_put(&p->shapes, key, &made);
    if (!made)
        return e->value.ptr;
    struct shape *s = ARENA_NEW(&p->c->arena, struct shape);
    e->value.ptr = s;
    sched_pod_init(&s->needs, pod->pod.view, &p->c->arena);
    s->extended = work_extended_names(p->c, &pod->pod);
    s->has_alternatives = offers_alternatives(pod);
    return s;
}

/* ---- plans ---- */

/* Which extended resources this node leaves to devices: those it does not offer itself.
 */
static uint64_t device_mask(const struct shape *s, const struct view_node *node)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < s->extended.n && i < 64; i++) {
        bool offered = false;
        for (uint32_t k = 0; k < node->nallocatable; k++)
            offered = offered || (str_eq(node->allocatable[k].name, s->extended.v[i]) &&
                                  quantity_sign(&node->allocatable[k].value) > 0);
        if (!offered)
            mask |= (uint64_t)1 << i;
    }
    return mask;
}

static struct view_strs masked_names(struct placer *p, const struct shape *s,
                                     uint64_t mask)
{
    struct str *v = ARENA_ARRAY(&p->c->arena, struct str, s->extended.n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->extended.n && i < 64; i++)
        if (mask >> i & 1)
            v[n++] = s->extended.v[i];
    return (struct view_strs){v, n};
}

static bool is_allocated(const struct work_claim *c)
{
    return c->view->allocation || c->result;
}

static struct plan *plan_for(struct placer *p, struct shape *s,
                             const struct placed_pod *pod, const struct view_node *node)
{
    uint64_t mask = device_mask(s, node);
    for (size_t i = 0; i < s->plans.n; i++)
        if (s->plans.v[i].mask == mask)
            return &s->plans.v[i];
    struct plan plan = {.mask = mask, .names = masked_names(p, s, mask)};
    plan.views = ARENA_ARRAY(&p->c->arena, const struct view_claim *, pod->nclaims + 1);
    for (uint32_t i = 0; i < pod->nclaims; i++)
        if (!is_allocated(pod->claims[i]))
            plan.views[plan.nviews++] = pod->claims[i]->view;
    if (plan.names.n)
        plan.views[plan.nviews++] =
            work_claim_extended(&p->out->claims, &pod->pod, &plan.names)->view;
    if (plan.nviews)
        plan.alloc = alloc_plan_new(p->inv, plan.views, plan.nviews);
    vec_push(&s->plans, plan);
    return &s->plans.v[s->plans.n - 1];
}

/* ---- one pod, one node ---- */

/* Claims that are allocated already tie the pod to where their devices are. */
static bool claims_reach(const struct placed_pod *pod, const struct view_node *node)
{
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        const struct work_claim *c = pod->claims[i];
        const struct view_node_selector *s = c->result ? c->result->node_selector
                                             : c->view->allocation
                                                 ? c->view->allocation->node_selector
                                                 : NULL;
        if (s && view_node_selector_match(s, node, NULL) != VIEW_MATCH_YES)
            return false;
    }
    return true;
}

static enum sched_refusal filter(struct placer *p, const struct shape *s,
                                 const struct placed_pod *pod, uint32_t i,
                                 const struct view_strs *ignored, struct str *detail)
{
    const struct sched_node *node = &p->nodes[i];
    *detail = STR("");
    if ((pod->pod.pinned && pod->pod.pinned != node->view) ||
        (p->opts->node.n && !str_eq(p->opts->node, node->view->meta.name)))
        return SCHED_NODE_NAME;
    return sched_filter(&s->needs, node, ignored, &p->scratch, detail);
}

/* Each alternative taken counts 8 less its place (spec 7.6). */
static int64_t score_of(const struct plan *plan, const struct alloc_outcome *o)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < o->nresults; i++) {
        const struct view_claim *claim = plan->views[i];
        for (uint32_t r = 0; r < claim->nrequests; r++) {
            const struct view_request *request = &claim->requests[r];
            for (uint32_t k = 0; request->first_available && k < request->nalternatives;
                 k++)
                for (uint32_t d = 0; d < o->results[i].npicks; d++) {
                    struct str used = o->results[i].picks[d].request;
                    struct str sub = request->alternatives[k].name;
                    if (str_starts(used, request->name) &&
                        used.n == request->name.n + 1 + sub.n && str_ends(used, sub)) {
                        score += 8 - (int64_t)k;
                        break;
                    }
                }
        }
    }
    return score;
}

enum asked { FITS, REFUSES, FAILS };

/* Asks one node for everything. */
static enum asked ask(struct placer *p, struct shape *s, const struct placed_pod *pod,
                      uint32_t i, struct choice *out)
{
    struct str detail;
    arena_reset(&p->scratch);
    struct plan *plan = plan_for(p, s, pod, p->nodes[i].view);
    if (filter(p, s, pod, i, &plan->names, &detail) != SCHED_FITS ||
        !claims_reach(pod, p->nodes[i].view))
        return REFUSES;
    *out = (struct choice){.node = i, .plan = plan};
    if (!plan->alloc)
        return FITS;
    alloc_ask(plan->alloc, p->nodes[i].view, &p->alloc_opts, &p->c->arena, &out->outcome);
    if (out->outcome.status == ALLOC_ERROR)
        return FAILS;
    if (out->outcome.status != ALLOC_OK)
        return REFUSES;
    out->score = score_of(plan, &out->outcome);
    return FITS;
}

/* The best node: highest score, then first. Without alternatives the first one is it. */
static enum asked choose(struct placer *p, struct shape *s, const struct placed_pod *pod,
                         struct choice *best)
{
    bool found = false, refused_so_far = true;
    for (uint32_t i = s->cursor; i < p->c->nodes.n; i++) {
        struct choice one;
        enum asked answer = ask(p, s, pod, i, &one);
        if (answer == FAILS) {
            *best = one;
            return FAILS;
        }
        if (answer == REFUSES) {
            s->cursor = refused_so_far ? i + 1 : s->cursor;
            continue;
        }
        refused_so_far = false;
        if (!found || one.score > best->score)
            *best = one;
        found = true;
        if (!s->has_alternatives)
            break;
    }
    return found ? FITS : REFUSES;
}

/* ---- taking the place ---- */

static uint32_t shares_in(const struct alloc_outcome *o)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < o->nresults; i++)
        for (uint32_t d = 0; d < o->results[i].npicks; d++)
            if (o->results[i].picks[d].share > most)
                most = o->results[i].picks[d].share;
    return most;
}

static void give(struct placer *p, struct work_claim *claim, const struct choice *choice,
                 uint32_t result)
{
    claim->result = &choice->outcome.results[result];
    claim->node = p->nodes[choice->node].view;
    claim->first_share = p->shares;
    alloc_commit(p->inv, claim->view, claim->result);
}

static void reserve(struct work_claim *claim, const struct waiting_pod *pod)
{
    struct str uid = pod->view->meta.uid.n ? pod->view->meta.uid : pod->name;
    vec_push(&claim->reserved, (struct reservation){pod->name, uid});
}

static void settle(struct placer *p, struct shape *s, struct placed_pod *pod,
                   const struct choice *choice)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        if (!is_allocated(pod->claims[i]))
            give(p, pod->claims[i], choice, result++);
        reserve(pod->claims[i], &pod->pod);
        work_claims_keep(&p->out->claims, pod->claims[i]);
    }
    if (choice->plan->names.n) {
        pod->extended =
            work_claim_extended(&p->out->claims, &pod->pod, &choice->plan->names);
        give(p, pod->extended, choice, result);
        reserve(pod->extended, &pod->pod);
        work_claims_keep(&p->out->claims, pod->extended);
    }
    p->shares += shares_in(&choice->outcome);
    sched_node_add(&p->nodes[choice->node], &s->needs, &p->c->arena);
    pod->status = PLACED;
    pod->node = p->nodes[choice->node].view;
}

/* ---- why not ---- */

static void count_filter(struct why *w, enum sched_refusal refusal, struct str detail,
                         const struct view_node *node, struct arena *a)
{
    for (size_t i = 0; i < w->filters.n; i++)
        if (w->filters.v[i].refusal == refusal) {
            w->filters.v[i].nodes++;
            return;
        }
    vec_push(&w->filters, (struct why_filter){refusal, arena_str(a, detail), 1, node});
}

static bool same_reason(const struct why_devices *d, const struct view_claim *claim,
                        const struct alloc_reason *r)
{
    const struct alloc_reason *o = &d->reason;
    return d->claim == claim && o->request == r->request &&
           o->alternative == r->alternative && o->rule == r->rule &&
           o->selector == r->selector && o->constraint == r->constraint;
}

static void count_devices(struct why *w, const struct view_claim *claim,
                          const struct alloc_reason *r, const struct view_node *node)
{
    for (size_t i = 0; i < w->devices.n; i++)
        if (same_reason(&w->devices.v[i], claim, r)) {
            w->devices.v[i].nodes++;
            w->devices.v[i].reason.devices += r->devices;
            return;
        }
    vec_push(&w->devices, (struct why_devices){claim, *r, 1, node});
}

static void count_need(struct why *w, const struct view_claim *claim,
                       const struct alloc_need *n, const struct view_node *node)
{
    for (size_t i = 0; i < w->needs.n; i++) {
        struct why_need *have = &w->needs.v[i];
        if (have->claim != claim || have->need.request != n->request ||
            have->need.alternative != n->alternative)
            continue;
        have->matching += n->matching;
        have->free += n->free;
        if (n->free > have->need.free ||
            (n->free == have->need.free && n->matching > have->need.matching)) {
            have->need = *n;
            have->best = node;
        }
        return;
    }
    vec_push(&w->needs, (struct why_need){claim, *n, node, n->matching, n->free});
}

static void explain_node(struct placer *p, struct why *w, const struct plan *plan,
                         const struct view_node *node)
{
    struct alloc_options options = p->alloc_opts;
    struct alloc_outcome o;
    options.explain = true;
    alloc_ask(plan->alloc, node, &options, &p->c->arena, &o);
    for (uint32_t i = 0; i < o.nreasons; i++)
        count_devices(w, plan->views[o.reasons[i].claim], &o.reasons[i], node);
    for (uint32_t i = 0; i < o.nneeds; i++)
        count_need(w, plan->views[o.needs[i].claim], &o.needs[i], node);
    if (o.summary.n)
        w->summary = o.summary;
}

static struct why *explain(struct placer *p, struct shape *s,
                           const struct placed_pod *pod)
{
    struct why *w = ARENA_NEW(&p->c->arena, struct why);
    for (uint32_t i = 0; i < p->c->nodes.n; i++) {
        const struct view_node *node = p->nodes[i].view;
        struct str detail;
        arena_reset(&p->scratch);
        struct plan *plan = plan_for(p, s, pod, node);
        enum sched_refusal refusal = filter(p, s, pod, i, &plan->names, &detail);
        w->nodes++;
        if (refusal == SCHED_FITS && !claims_reach(pod, node)) {
            refusal = SCHED_NODE_SELECTOR;
            detail = STR("a claim of the pod is allocated elsewhere");
        }
        if (refusal != SCHED_FITS) {
            count_filter(w, refusal, detail, node, &p->c->arena);
            continue;
        }
        w->asked++;
        if (plan->alloc)
            explain_node(p, w, plan, node);
    }
    return w;
}

/* ---- all pods ---- */

static bool too_many_consumers(const struct placed_pod *pod, struct str *error,
                               struct arena *a)
{
    enum { RESERVED_MAX = 256 };
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        const struct work_claim *c = pod->claims[i];
        if (c->view->nreserved_for + c->reserved.n < RESERVED_MAX)
            continue;
        *error = arena_printf(
            a,
            "ResourceClaim \"%.*s/%.*s\" is in use by %d pods, the most "
            "that can share one",
            STR_ARG(c->view->meta.namespace), STR_ARG(c->view->meta.name), RESERVED_MAX);
        return true;
    }
    return false;
}

static void place_pod(struct placer *p, struct placed_pod *pod)
{
    struct choice choice;
    struct err e = ERR_INIT;
    pod->status = UNPLACED_ERROR;
    if (!work_claims_of(&p->out->claims, &pod->pod, &pod->claims, &pod->nclaims, &e)) {
        pod->error = arena_str(&p->c->arena, str_from(err_text(&e)));
        err_release(&e);
        return;
    }
    if (too_many_consumers(pod, &pod->error, &p->c->arena))
        return;
    struct shape *s = shape_of(p, pod);
    switch (choose(p, s, pod, &choice)) {
    case FITS:
        settle(p, s, pod, &choice);
        break;
    case FAILS:
        pod->error = choice.outcome.error;
        break;
    default:
        pod->status = UNPLACED;
        if (!s->why)
            s->why = explain(p, s, pod);
        pod->why = s->why;
    }
}

static void charge_bound_pods(struct placer *p)
{
    for (size_t i = 0; i < p->c->pods.n; i++) {
        const struct view_pod *pod = p->c->pods.v[i];
        const struct strmap_entry *e = strmap_find(&p->c->node_index, pod->node_name);
        if (pod->node_name.n == 0 || view_pod_finished(pod) || !e)
            continue;
        struct sched_pod needs;
        sched_pod_init(&needs, pod, &p->c->arena);
        sched_node_add(&p->nodes[e->value.u], &needs, &p->c->arena);
    }
}

static void fill_inventory(struct placer *p)
{
    struct cluster *c = p->c;
    for (size_t i = 0; i < c->classes.n; i++)
        alloc_inventory_put_class(p->inv, c->classes.v[i]);
    for (size_t i = 0; i < c->slices.n; i++)
        alloc_inventory_put_slice(p->inv, c->slices.v[i]);
    for (size_t i = 0; i < c->taint_rules.n; i++)
        alloc_inventory_put_taint_rule(p->inv, c->taint_rules.v[i]);
    for (size_t i = 0; i < c->claims.n; i++)
        if (c->claims.v[i].view->allocation)
            alloc_charge(p->inv, c->claims.v[i].view);
}

static void placer_init(struct placer *p)
{
    p->alloc_opts.max_steps = p->opts->max_steps;
    p->inv = alloc_inventory_new(p->opts->features, &p->c->names);
    p->nodes = ARENA_ARRAY(&p->c->arena, struct sched_node, p->c->nodes.n);
    for (size_t i = 0; i < p->c->nodes.n; i++)
        sched_node_init(&p->nodes[i], p->c->nodes.v[i], &p->c->arena);
    arena_init(&p->scratch);
    fill_inventory(p);
    charge_bound_pods(p);
}

static void placer_fini(struct placer *p)
{
    strmap_each(&p->shapes, e)
    {
        struct shape *s = e->value.ptr;
        for (size_t i = 0; i < s->plans.n; i++)
            if (s->plans.v[i].alloc)
                alloc_plan_free(s->plans.v[i].alloc);
        vec_release(&s->plans);
    }
    strmap_release(&p->shapes);
    arena_fini(&p->scratch);
}

void place_pods(struct cluster *c, const struct waiting_pods *waiting,
                const struct place_opts *opts, struct placement *out)
{
    struct placer p = {.c = c, .opts = opts, .out = out};
    *out = (struct placement){0};
    work_claims_init(&out->claims, c);
    placer_init(&p);
    for (size_t i = 0; i < waiting->list.n; i++) {
        struct placed_pod pod = {.pod = waiting->list.v[i]};
        place_pod(&p, &pod);
        out->unplaced += pod.status != PLACED;
        vec_push(&out->pods, pod);
    }
    out->inv = p.inv;
    placer_fini(&p);
}

void placement_fini(struct placement *p)
{
    for (size_t i = 0; i < p->pods.n; i++) {
        struct why *w = p->pods.v[i].why;
        if (w) {
            vec_release(&w->filters);
            vec_release(&w->devices);
            vec_release(&w->needs);
        }
    }
    vec_release(&p->pods);
    alloc_inventory_free(p->inv);
    work_claims_fini(&p->claims);
}
