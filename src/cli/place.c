/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/place.h"

#include "cli/claimdoc.h"
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
    const struct view_claim *
        *views; /* of claims: those that the allocator is asked for */
    const struct work_claim **claims;
    uint32_t n;
    struct alloc_plan *alloc;
};

struct shape {
    struct sched_pod needs;
    struct view_strs extended;
    uint32_t cursor;
    uint32_t alternatives; /* requests with firstAvailable */
    int64_t top_score;     /* no node can have more */
    VEC(struct plan *) plans;
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
    struct strmap daemons; /* DaemonSet -> struct why of its pods without a place */
    struct arena scratch;  /* of one node */
    uint32_t shares;       /* made so far */
    uint32_t first, end;   /* the nodes to look at */
};

struct choice {
    uint32_t node;
    struct plan *plan;
    struct alloc_outcome outcome;
    int64_t score;
};

/* ---- shapes ---- */

static uint32_t count_alternatives(const struct placed_pod *pod)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < pod->nclaims; i++)
        for (uint32_t k = 0; k < pod->claims[i]->view->nrequests; k++)
            n += pod->claims[i]->view->requests[k].first_available;
    return n;
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
    s->alternatives = count_alternatives(pod);
    s->top_score = 8 * (int64_t)s->alternatives;
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

static void plan_add(struct plan *plan, const struct work_claim *claim)
{
    plan->claims[plan->n] = claim;
    plan->views[plan->n++] = claim->view;
}

static struct alloc_plan *plan_alloc(struct placer *p, const struct plan *plan)
{
    struct alloc_plan *alloc = alloc_plan_new(p->inv, plan->views, plan->n);
    vec_push(&p->out->plans, alloc);
    return alloc;
}

static struct plan *plan_for(struct placer *p, struct shape *s,
                             const struct placed_pod *pod, const struct view_node *node)
{
    uint64_t mask = device_mask(s, node);
    for (size_t i = 0; i < s->plans.n; i++)
        if (s->plans.v[i]->mask == mask)
            return s->plans.v[i];
    struct plan *plan = ARENA_NEW(&p->c->arena, struct plan);
    plan->mask = mask;
    plan->names = masked_names(p, s, mask);
    plan->views = ARENA_ARRAY(&p->c->arena, const struct view_claim *, pod->nclaims + 1);
    plan->claims = ARENA_ARRAY(&p->c->arena, const struct work_claim *, pod->nclaims + 1);
    for (uint32_t i = 0; i < pod->nclaims; i++)
        if (!is_allocated(pod->claims[i]))
            plan_add(plan, pod->claims[i]);
    if (plan->names.n && !pod->has_extended)
        plan_add(plan, work_claim_extended(&p->out->claims, &pod->pod, &plan->names));
    if (plan->n)
        plan->alloc = plan_alloc(p, plan);
    vec_push(&s->plans, plan);
    return plan;
}

/* ---- one pod, one node ---- */

/* Claims that are allocated already tie the pod to where their devices are. NULL: none
 * keeps it from this node. */
static const struct work_claim *tied_elsewhere(const struct placed_pod *pod,
                                               const struct view_node *node)
{
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        const struct work_claim *c = pod->claims[i];
        const struct view_node_selector *s = c->result ? c->result->node_selector
                                             : c->view->allocation
                                                 ? c->view->allocation->node_selector
                                                 : NULL;
        if (s && view_node_selector_match(s, node, NULL) != VIEW_MATCH_YES)
            return c;
    }
    return NULL;
}

/* 8 less the place of the alternative whose name the picks of "request/sub" carry; 0 if
 * the request has no alternatives. */
static int64_t score_request(const struct view_request *request,
                             const struct alloc_result *result)
{
    for (uint32_t d = 0; request->first_available && d < result->npicks; d++) {
        struct str used = result->picks[d].request;
        if (used.n <= request->name.n || used.p[request->name.n] != '/' ||
            !str_starts(used, request->name))
            continue;
        struct str sub = str_sub(used, request->name.n + 1, SIZE_MAX);
        for (uint32_t k = 0; k < request->nalternatives; k++)
            if (str_eq(request->alternatives[k].name, sub))
                return 8 - (int64_t)k;
    }
    return 0;
}

/* Each request with alternatives counts by the one it got (spec 7.6). */
static int64_t score_of(const struct plan *plan, const struct alloc_outcome *o)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < o->nresults; i++)
        for (uint32_t r = 0; r < plan->views[i]->nrequests; r++)
            score += score_request(&plan->views[i]->requests[r], &o->results[i]);
    return score;
}

enum asked { FITS, REFUSES, FAILS };

/* Asks one node for everything. */
static enum asked ask(struct placer *p, struct shape *s, const struct placed_pod *pod,
                      uint32_t i, struct choice *out)
{
    const struct sched_node *node = &p->nodes[i];
    struct sched_reason reason;
    struct plan *plan = plan_for(p, s, pod, node->view);
    if (!sched_filter(&s->needs, node, &plan->names, &p->scratch, &reason) ||
        tied_elsewhere(pod, node->view))
        return REFUSES;
    *out = (struct choice){.node = i, .plan = plan};
    if (!plan->alloc)
        return FITS;
    alloc_ask(plan->alloc, node->view, &p->alloc_opts, &p->c->arena, &out->outcome);
    if (out->outcome.status == ALLOC_ERROR)
        return FAILS;
    if (out->outcome.status != ALLOC_OK)
        return REFUSES;
    out->score = score_of(plan, &out->outcome);
    return FITS;
}

/* The nodes that come into question at all. */
static void node_range(const struct placer *p, const struct placed_pod *pod,
                       uint32_t *from, uint32_t *to)
{
    *from = p->first;
    *to = p->end;
    if (pod->pod.pinned != WAITING_ANYWHERE) {
        *from = pod->pod.pinned;
        *to = pod->pod.pinned + 1;
    }
}

/* With one request of alternatives a node's score only falls while devices are taken, so
 * none will have more than the best one now. (With several, a later choice of the first
 * may free an earlier one of the second.) */
static void lower_top(struct shape *s, const struct choice *best)
{
    if (s->alternatives == 1)
        s->top_score = best->score;
}

/* The best node: highest score, then first. */
static enum asked choose(struct placer *p, struct shape *s, const struct placed_pod *pod,
                         struct choice *best)
{
    bool found = false, refused_so_far = true;
    uint32_t from, to;
    node_range(p, pod, &from, &to);
    for (uint32_t i = s->cursor > from ? s->cursor : from; i < to; i++) {
        struct choice one;
        arena_reset(&p->scratch);
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
        if (best->score >= s->top_score)
            return FITS;
    }
    if (!found)
        return REFUSES;
    lower_top(s, best);
    return FITS;
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

/* What a pod without a UID is told apart by. */
static struct str uid_of(struct placer *p, const struct waiting_pod *pod)
{
    struct str uid = pod->workload ? STR_NONE : pod->view->meta.uid;
    return uid.n ? uid : claim_pod_uid(pod->namespace, pod->name, &p->c->arena);
}

static void reserve(struct placer *p, struct work_claim *claim,
                    const struct waiting_pod *pod)
{
    struct str uid = uid_of(p, pod);
    for (uint32_t i = 0; i < claim->view->nreserved_for; i++)
        if (str_eq(claim->view->reserved_for[i].uid, uid))
            return;
    vec_push(&claim->reserved, (struct reservation){pod->name, uid});
}

static void settle(struct placer *p, struct shape *s, struct placed_pod *pod,
                   const struct choice *choice)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        if (!is_allocated(pod->claims[i]))
            give(p, pod->claims[i], choice, result++);
        reserve(p, pod->claims[i], &pod->pod);
        work_claims_keep(&p->out->claims, pod->claims[i]);
    }
    if (choice->plan->names.n && !pod->has_extended) {
        pod->extended =
            work_claim_extended(&p->out->claims, &pod->pod, &choice->plan->names);
        give(p, pod->extended, choice, result);
        reserve(p, pod->extended, &pod->pod);
        work_claims_keep(&p->out->claims, pod->extended);
    }
    p->shares += shares_in(&choice->outcome);
    sched_node_add(&p->nodes[choice->node], &s->needs, &p->c->arena);
    pod->status = PLACED;
    pod->node = p->nodes[choice->node].view;
}

/* ---- why not ---- */

static void explain_node(struct placer *p, struct shape *s, const struct placed_pod *pod,
                         uint32_t i, struct why *w)
{
    const struct view_node *node = p->nodes[i].view;
    struct alloc_options options = p->alloc_opts;
    struct alloc_outcome outcome = {0};
    struct sched_reason reason;
    struct plan *plan = plan_for(p, s, pod, node);
    const struct work_claim *tied = tied_elsewhere(pod, node);
    if (!sched_filter(&s->needs, &p->nodes[i], &plan->names, &p->c->arena, &reason)) {
        if (plan->alloc && !tied)
            alloc_ask(plan->alloc, node, &options, &p->c->arena, &outcome);
        why_add_filter(w, &reason, node, !tied && outcome.status == ALLOC_OK);
        return;
    }
    if (tied) {
        why_add_tied(w, tied);
        return;
    }
    options.explain = true;
    if (plan->alloc)
        alloc_ask(plan->alloc, node, &options, &p->c->arena, &outcome);
    why_add_outcome(w, &outcome, plan->claims, node);
}

static struct why *new_why(struct placer *p)
{
    struct why *w = ARENA_NEW(&p->c->arena, struct why);
    vec_push(&p->out->whys, w);
    return w;
}

/* Pods of one DaemonSet, each bound to its node, are told together. */
static struct why *why_for(struct placer *p, const struct placed_pod *pod)
{
    bool made;
    if (pod->pod.pinned == WAITING_ANYWHERE)
        return new_why(p);
    const struct view_meta *m = &pod->pod.workload->meta;
    struct strmap_entry *e =
        strmap_put(&p->daemons, cluster_key(p->c, m->namespace, m->name), &made);
    if (made)
        e->value.ptr = new_why(p);
    return e->value.ptr;
}

static struct why *explain(struct placer *p, struct shape *s,
                           const struct placed_pod *pod)
{
    struct why *w = why_for(p, pod);
    uint32_t from, to;
    node_range(p, pod, &from, &to);
    w->has_claims = pod->nclaims || s->extended.n;
    for (uint32_t i = from; i < to; i++)
        explain_node(p, s, pod, i, w);
    return w;
}

/* ---- all pods ---- */

static bool is_full(struct placer *p, const struct work_claim *c,
                    const struct waiting_pod *pod)
{
    enum { RESERVED_MAX = 256 };
    if (c->view->nreserved_for + c->reserved.n < RESERVED_MAX)
        return false;
    struct str uid = uid_of(p, pod);
    for (uint32_t i = 0; i < c->view->nreserved_for; i++)
        if (str_eq(c->view->reserved_for[i].uid, uid))
            return false;
    return true;
}

static bool too_many_consumers(struct placer *p, struct placed_pod *pod)
{
    for (uint32_t i = 0; i < pod->nclaims; i++) {
        const struct view_meta *m = &pod->claims[i]->view->meta;
        if (!is_full(p, pod->claims[i], &pod->pod))
            continue;
        pod->error =
            arena_printf(&p->c->arena,
                         "ResourceClaim \"%.*s/%.*s\" is in use by 256 pods, the "
                         "most that can share one",
                         STR_ARG(m->namespace), STR_ARG(m->name));
        return true;
    }
    return false;
}

/* The pod's claims, with the one that serves its extended resources if it is there. */
static bool find_claims(struct placer *p, struct placed_pod *pod)
{
    struct work_claim **claims;
    struct err e = ERR_INIT;
    uint32_t n;
    if (!work_claims_of(&p->out->claims, &pod->pod, &claims, &n, &e)) {
        pod->error = arena_str(&p->c->arena, str_from(err_text(&e)));
        err_release(&e);
        return false;
    }
    struct work_claim *before = work_claim_extended_before(&p->out->claims, &pod->pod);
    pod->claims = ARENA_ARRAY(&p->c->arena, struct work_claim *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        pod->claims[i] = claims[i];
    pod->nclaims = n;
    pod->has_extended = before != NULL;
    if (before)
        pod->claims[pod->nclaims++] = before;
    return true;
}

static void place_pod(struct placer *p, struct placed_pod *pod)
{
    struct choice choice;
    pod->status = UNPLACED_ERROR;
    if (!find_claims(p, pod) || too_many_consumers(p, pod))
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
    for (size_t i = 0; p->opts->taint_rules && i < c->taint_rules.n; i++)
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
    p->end = (uint32_t)p->c->nodes.n;
    const struct strmap_entry *only = strmap_find(&p->c->node_index, p->opts->node);
    if (p->opts->node.n && only) {
        p->first = (uint32_t)only->value.u;
        p->end = p->first + 1;
    }
    arena_init(&p->scratch);
    fill_inventory(p);
    charge_bound_pods(p);
}

static void placer_fini(struct placer *p)
{
    strmap_each(&p->shapes, e)
    {
        struct shape *s = e->value.ptr;
        vec_release(&s->plans);
    }
    strmap_release(&p->shapes);
    strmap_release(&p->daemons);
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
        uint32_t pinned = pod.pod.pinned;
        if (pinned != WAITING_ANYWHERE && (pinned < p.first || pinned >= p.end))
            continue;
        place_pod(&p, &pod);
        out->unplaced += pod.status != PLACED;
        vec_push(&out->pods, pod);
    }
    out->inv = p.inv;
    placer_fini(&p);
}

void placement_fini(struct placement *p)
{
    for (size_t i = 0; i < p->whys.n; i++)
        why_release(p->whys.v[i]);
    vec_release(&p->whys);
    for (size_t i = 0; i < p->plans.n; i++)
        alloc_plan_free(p->plans.v[i]);
    vec_release(&p->plans);
    vec_release(&p->pods);
    alloc_inventory_free(p->inv);
    work_claims_fini(&p->claims);
}
