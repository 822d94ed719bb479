/* SPDX-License-Identifier: Apache-2.0 */
/* The search in upstream's order (spec 3.4): requests in turn, alternatives in turn,
 * devices of a request at rising positions. The first solution ends it. */
#include "alloc/prover.h"
#include "alloc/shape.h"

/* Steps of a search whose end is worth remembering. */
enum { LONG_SEARCH = 200 };

/* A step of a probe is a fraction of one of the search. */
enum { PROBE_SHARE = 8, PROBE_STEPS = 64, FEW_PROBES = 500, PROBE_WORTH = 16 };

static bool step(struct solver *s)
{
    const struct alloc_options *o = s->options;
    if (s->probing)
        return s->probe_steps++ < s->probe_limit;
    s->exhausted = ++s->steps + s->probe_steps / PROBE_SHARE > s->max_steps;
    if (s->exhausted)
        return solver_fail(s, ALLOC_BUDGET, STR("gave up after the step budget"));
    if (o && o->cancelled && s->steps % 256 == 0 && o->cancelled(o->cancel_ctx))
        return solver_fail(s, ALLOC_BUDGET, STR("cancelled"));
    return true;
}

static enum verdict slot(struct solver *s, uint32_t alt, uint32_t k, uint32_t start);

/* ---- Requests ---- */

static enum verdict enter(struct solver *s, uint32_t claim, uint32_t request);

/* Rule 24: alternatives that overflow the claim whatever is picked are passed over; if
 * all do, no other device of an earlier request can help. */
static enum verdict try_alternatives(struct solver *s, const struct plan_request *r)
{
    bool all_overflowed = true;
    for (uint32_t i = 0; i < r->nalts; i++) {
        s->chosen.v[r - s->plan->requests] = r->alt + i;
        enum verdict v = step(s) ? slot(s, r->alt + i, 0, 0) : ENDED;
        if (v == FOUND || v == ENDED || v == HARDEN)
            return v;
        all_overflowed &= v == OVERFLOWED;
    }
    return all_overflowed ? OVERFLOWED : NOTHING;
}

static enum verdict leave_claim(struct solver *s, uint32_t claim, uint32_t request)
{
    s->claim_picks.v[claim + 1] = (uint32_t)s->picks.n;
    enum verdict v = enter(s, claim + 1, request);
    return v == OVERFLOWED ? NOTHING : v;
}

static enum verdict enter_request(struct solver *s, uint32_t claim, uint32_t request)
{
    const struct alloc_plan *p = s->plan;
    if (request == p->claims[claim].request + p->claims[claim].nrequests)
        return leave_claim(s, claim, request);
    const struct plan_request *r = &p->requests[request];
    if (r->v->first_available)
        return try_alternatives(s, r);
    s->chosen.v[request] = r->alt;
    return slot(s, r->alt, 0, 0);
}

/* ---- Later claims by themselves ---- */

static void undo_to(struct solver *s, size_t picks)
{
    while (s->picks.n > picks)
        state_undo(s);
}

/* The claim cannot be met even if nothing else is wanted. */
static bool probe_refuses(struct solver *s, uint32_t claim)
{
    size_t picks = s->picks.n;
    uint32_t effort = s->effort;
    s->probing = true;
    s->stop = claim + 1;
    s->probe_limit = s->probe_steps + PROBE_STEPS;
    s->claim_picks.v[claim] = (uint32_t)picks;
    enum verdict v = enter_request(s, claim, s->plan->claims[claim].request);
    undo_to(s, picks);
    s->probing = false;
    s->stop = s->plan->nclaims;
    s->effort = effort;
    return v == NOTHING || v == OVERFLOWED;
}

/* Claims that are alike are tried once. */
static bool later_claim_refuses(struct solver *s, uint32_t claim)
{
    const struct alloc_plan *p = s->plan;
    for (uint32_t i = claim + 1; i < p->nclaims; i++) {
        const struct plan_claim *c = &p->claims[i];
        if (c->nrequests == 0)
            continue;
        const struct plan_request *first = &p->requests[c->request];
        bool again = first->like_claim && p->requests[first->like].claim >= claim;
        if (!again && probe_refuses(s, i))
            return true;
    }
    return false;
}

/* Probes go on as long as they are worth it. */
static bool probe_later(struct solver *s, uint32_t claim, uint32_t request)
{
    if (request != s->plan->claims[claim].request || s->horizon < s->plan->nrequests ||
        (s->probes > FEW_PROBES && s->probe_hits * PROBE_WORTH < s->probes))
        return false;
    bool refuses = later_claim_refuses(s, claim);
    s->probes++;
    s->probe_hits += refuses;
    return refuses;
}

static enum verdict enter_remembering(struct solver *s, uint32_t claim, uint32_t request)
{
    struct memo_key key = memo_key(s, claim, request);
    if (memo_has(s, &key))
        return NOTHING;
    enum verdict v = NOTHING;
    if (!probe_later(s, claim, request))
        v = enter_request(s, claim, request);
    if (v == NOTHING)
        memo_add(s, &key);
    return v;
}

static enum verdict enter(struct solver *s, uint32_t claim, uint32_t request)
{
    if (!step(s))
        return ENDED;
    if (claim == s->stop)
        return FOUND;
    if (!s->hard || !s->prover->remembers || s->probing)
        return enter_request(s, claim, request);
    return enter_remembering(s, claim, request);
}

/* ---- Devices ---- */

static enum verdict try_device(struct solver *s, uint32_t alt, uint32_t k,
                               uint32_t device)
{
    uint32_t which;
    enum take t = state_take(s, alt, device, &which);
    if (t == FAILED)
        return ENDED;
    if (t != TAKEN)
        return prove_failed(s, false) ? HARDEN : NOTHING;
    enum verdict v = NOTHING;
    if (!prove_hopeless(s, alt, k + 1, device + 1))
        v = step(s) ? slot(s, alt, k + 1, device + 1) : ENDED;
    if (v != FOUND && v != ENDED)
        state_undo(s);
    return v == NOTHING && prove_failed(s, true) ? HARDEN : v;
}

/* The word's candidates, also those that are traps, from start on. */
static uint64_t candidates(const struct solver *s, uint32_t alt, uint32_t word,
                           uint32_t start)
{
    const struct alt_state *a = &s->alts.v[alt];
    uint64_t w = a->ok[word] | (a->trap ? a->trap[word] : 0);
    w &= free_word(s, alt, word);
    return word == start / 64 ? w & ~(uint64_t)0 << start % 64 : w;
}

/* Requests that are alike are met in order. */
static uint32_t first_start(struct solver *s, uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint32_t last =
        r->like_claim ? request + s->plan->claims[r->claim].nrequests - 1 : request;
    s->first_picks.v[request] = (uint32_t)s->picks.n;
    if (r->like == NONE || last >= s->horizon || s->probing)
        return 0;
    return s->picks.v[s->first_picks.v[r->like]].device;
}

static enum verdict slot_any(struct solver *s, uint32_t alt, uint32_t k, uint32_t start)
{
    const struct alt_state *a = &s->alts.v[alt];
    uint64_t *row = s->hard && s->prover->exchangeable ? twins_row(s) : NULL;
    if (k == 0)
        start = first_start(s, s->plan->alts[alt].request);
    if (start < a->low * 64)
        start = a->low * 64;
    for (uint32_t word = start / 64; word < s->words; word++) {
        uint64_t w = candidates(s, alt, word, start);
        for (; w; w &= w - 1) {
            uint32_t device = word * 64 + (uint32_t)__builtin_ctzll(w);
            if (a->trap && bit_test(a->trap, device))
                return solver_trap(s, alt, device);
            if (row && twins_skipped(s, row, device))
                continue;
            enum verdict v = try_device(s, alt, k, device);
            if (v != NOTHING)
                return v;
            if (row)
                twins_failed(s, row, device);
        }
    }
    return NOTHING;
}

/* All: the next device is given; that it cannot be had ends the request, that a
 * constraint forbids it is an error (rule 36). */
static enum verdict slot_all(struct solver *s, uint32_t alt, uint32_t k, uint32_t start)
{
    const struct alt_state *a = &s->alts.v[alt];
    uint32_t which, device = (uint32_t)bitset_next(a->all, s->words * 64, start);
    if (!(a->ok[device / 64] & free_word(s, alt, device / 64) &
          (uint64_t)1 << device % 64))
        return NOTHING;
    enum take t = state_take(s, alt, device, &which);
    if (t == REFUSED_CONSTRAINT)
        return solver_constraint_error(s, alt, device);
    if (t != TAKEN)
        return t == FAILED ? ENDED : NOTHING;
    enum verdict v = step(s) ? slot(s, alt, k + 1, device + 1) : ENDED;
    if (v != FOUND && v != ENDED)
        state_undo(s);
    return v;
}

static enum verdict slot(struct solver *s, uint32_t alt, uint32_t k, uint32_t start)
{
    uint32_t request = s->plan->alts[alt].request, count = s->alts.v[alt].count;
    uint32_t claim = s->plan->requests[request].claim;
    bool all = s->plan->alts[alt].all;
    if (all && count == 0)
        return NOTHING;
    if (k >= count)
        return enter(s, claim, request + 1);
    if (count - k > MAX_RESULTS - (s->picks.n - s->claim_picks.v[claim]))
        return OVERFLOWED;
    return all ? slot_all(s, alt, k, start) : slot_any(s, alt, k, start);
}

/* A host that looks the same as one searched before takes its answer. */
static enum verdict search_hard(struct solver *s)
{
    prover_start(s);
    const uint64_t *looks = s->prover->looks;
    enum verdict v;
    s->steps = 0;
    if (looks[0] && shape_recall(s, looks, &v))
        return v;
    v = prove_none(s) ? NOTHING : enter(s, 0, 0);
    if (looks[0] && s->steps > LONG_SEARCH)
        shape_learn(s, looks, v == OVERFLOWED ? NOTHING : v);
    return v;
}

enum verdict solver_search(struct solver *s)
{
    s->claim_picks.v[0] = 0;
    if (s->partial)
        return enter(s, 0, 0);
    if (s->options && s->options->prove_first)
        return search_hard(s);
    enum verdict v = enter(s, 0, 0);
    return v == HARDEN ? search_hard(s) : v;
}
