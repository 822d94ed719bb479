/* SPDX-License-Identifier: Apache-2.0 */
/* How good what a node would give is: each request with alternatives counts by the one it
 * got (spec 7.6). */
#include "sched/dra_inner.h"

enum { BEST_ALTERNATIVE = 8, BEST_SCORE = 100 };

/* What a policy adds at most: less than a better alternative does. */
enum { POLICY_POINTS = 1000, WHOLE_POINTS = 500, OPEN_POINTS = 250 };

/* Requests of results, wherever they are. */
struct picked {
    const struct alloc_result *fresh;
    const struct view_allocation *stored;
};

static uint32_t npicked(const struct picked *p)
{
    return p->fresh ? p->fresh->npicks : p->stored ? p->stored->nresults : 0;
}

static struct str picked_at(const struct picked *p, uint32_t i)
{
    return p->fresh ? p->fresh->picks[i].request : p->stored->results[i].request;
}

static bool is_sub(struct str picked, struct str parent, struct str sub)
{
    return picked.n == parent.n + 1 + sub.n && str_starts(picked, parent) &&
           picked.p[parent.n] == '/' &&
           str_eq(str_sub(picked, parent.n + 1, SIZE_MAX), sub);
}

static bool has(const struct picked *p, struct str parent, struct str sub)
{
    for (uint32_t i = 0; i < npicked(p); i++)
        if (is_sub(picked_at(p, i), parent, sub))
            return true;
    return false;
}

static int64_t score_claim(const struct view_claim *claim, const struct picked *p)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < claim->nrequests; i++) {
        const struct view_request *r = &claim->requests[i];
        for (uint32_t k = 0; r->first_available && k < r->nalternatives; k++)
            if (has(p, r->name, r->alternatives[k].name))
                score += BEST_ALTERNATIVE - (int64_t)k;
    }
    return score;
}

int64_t dra_score_claim(const struct view_claim *claim, const struct view_allocation *al)
{
    struct picked p = {.stored = al};
    return score_claim(claim, &p);
}

int64_t dra_fit_points(enum alloc_policy policy, const struct alloc_fit *fit)
{
    if (!fit->size)
        return 0;
    int64_t left = (int64_t)POLICY_POINTS * fit->left / fit->size;
    if (policy == ALLOC_SPREAD)
        return left;
    return WHOLE_POINTS / (1 + (int64_t)fit->broken) +
           OPEN_POINTS / (1 + (int64_t)fit->closed) +
           (POLICY_POINTS - WHOLE_POINTS - OPEN_POINTS) * (POLICY_POINTS - left) /
               POLICY_POINTS;
}

static int64_t score_alternatives(const struct dra_cycle *c,
                                  const struct dra_offer *offer)
{
    uint32_t fresh = 0;
    int64_t score = 0;
    if (!dra_gate(c->d, API_GATE_DRAPrioritizedList))
        return 0;
    for (uint32_t i = 0; i < c->nusers; i++) {
        const struct dra_need *n = &c->needs[i];
        const struct object *o = n->pending ? n->pending : n->claim;
        struct picked p = {.stored = dra_view(o)->allocation};
        if (!p.stored && fresh < offer->outcome.nresults)
            p.fresh = &offer->outcome.results[fresh++];
        score += score_claim(dra_view(n->claim), &p);
    }
    return score;
}

int64_t dra_score(const struct dra_cycle *c, struct str node)
{
    const struct strmap_entry *e = strmap_find(&c->offers, node);
    const struct dra_offer *offer = e ? e->value.ptr : NULL;
    if (!offer)
        return 0;
    int64_t score = score_alternatives(c, offer);
    if (c->policy == ALLOC_FIRST_FIT)
        return score;
    return score * (POLICY_POINTS + 1) + dra_fit_points(c->policy, &offer->outcome.fit);
}

void dra_normalize(int64_t *scores, uint32_t n)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    for (uint32_t i = 0; i < n && most > 0; i++)
        scores[i] = scores[i] * BEST_SCORE / most;
}
