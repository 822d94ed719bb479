/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/why.h"

void why_release(struct why *w)
{
    vec_release(&w->filters);
    vec_release(&w->devices);
    vec_release(&w->needs);
    vec_release(&w->errors);
}

void why_add_filter(struct why *w, const struct sched_reason *reason,
                    const struct view_node *node, bool would_do)
{
    w->nodes++;
    for (size_t i = 0; i < w->filters.n; i++) {
        struct why_filter *f = &w->filters.v[i];
        if (!sched_reason_same(&f->reason, reason))
            continue;
        if (would_do && f->would_do == 0)
            f->example = node;
        f->nodes++;
        f->would_do += would_do;
        return;
    }
    vec_push(&w->filters, (struct why_filter){*reason, 1, would_do, node});
}

void why_add_tied(struct why *w, const struct work_claim *claim)
{
    w->nodes++;
    w->elsewhere++;
    w->tied = claim;
}

static bool same_reason(const struct why_devices *d, const struct work_claim *claim,
                        const struct alloc_reason *r)
{
    const struct alloc_reason *o = &d->reason;
    return d->claim == claim && o->request == r->request &&
           o->alternative == r->alternative && o->rule == r->rule &&
           o->selector == r->selector && o->constraint == r->constraint;
}

static void add_devices(struct why *w, const struct work_claim *claim,
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

static struct why_need *need_of(struct why *w, const struct work_claim *claim,
                                const struct alloc_need *n, const struct view_node *node)
{
    for (size_t i = 0; i < w->needs.n; i++) {
        struct why_need *have = &w->needs.v[i];
        if (have->claim == claim && have->need.request == n->request &&
            have->need.alternative == n->alternative)
            return have;
    }
    vec_push(&w->needs, (struct why_need){claim, *n, node, 0, 0, 0});
    return &w->needs.v[w->needs.n - 1];
}

static void add_need(struct why *w, const struct work_claim *claim,
                     const struct alloc_need *n, const struct view_node *node)
{
    struct why_need *have = need_of(w, claim, n, node);
    have->matching += n->matching;
    have->free += n->free;
    have->matching_nodes += n->matching > 0;
    if (n->free > have->need.free ||
        (n->free == have->need.free && n->matching > have->need.matching)) {
        have->need = *n;
        have->best = node;
    }
}

static void add_error(struct why *w, struct str text, const struct view_node *node)
{
    for (size_t i = 0; i < w->errors.n; i++)
        if (str_eq(w->errors.v[i].text, text)) {
            w->errors.v[i].nodes++;
            return;
        }
    vec_push(&w->errors, (struct why_error){text, 1, node});
}

void why_add_outcome(struct why *w, const struct alloc_outcome *o,
                     const struct work_claim *const *claims, const struct view_node *node)
{
    w->nodes++;
    w->asked++;
    for (uint32_t i = 0; i < o->nreasons; i++)
        add_devices(w, claims[o->reasons[i].claim], &o->reasons[i], node);
    for (uint32_t i = 0; i < o->nneeds; i++)
        add_need(w, claims[o->needs[i].claim], &o->needs[i], node);
    if (o->status == ALLOC_NODE_ERROR)
        add_error(w, o->error, node);
    w->gave_up += o->status == ALLOC_BUDGET;
    if (o->summary.n)
        w->summary = o->summary;
}

static bool is_met(const struct alloc_need *n)
{
    int64_t wanted = n->wanted < 0 ? (int64_t)n->matching : n->wanted;
    return n->matching && (int64_t)n->free >= wanted;
}

/* Whether one of the alternatives that a need belongs to is met. */
static bool has_met_alternative(const struct why *w, const struct why_need *need)
{
    for (size_t i = 0; i < w->needs.n; i++) {
        const struct why_need *n = &w->needs.v[i];
        if (n->claim == need->claim && n->need.request == need->need.request &&
            is_met(&n->need))
            return true;
    }
    return false;
}

const struct why_need *why_unmet(const struct why *w)
{
    for (size_t i = 0; i < w->needs.n; i++)
        if (!has_met_alternative(w, &w->needs.v[i]))
            return &w->needs.v[i];
    return NULL;
}
