/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that there is no solution below a state, so that nothing is searched there. */
#include <stdlib.h>

#include "alloc/prover.h"

/* Effort after which a search is no longer easy, and after which it is worth more. */
enum { EASY = 64, SHALLOW = 512, PICKED = 8, REFUSED = 1 };

/* At least want candidates from start on. */
static bool enough(const struct solver *s, uint32_t alt, uint32_t start, uint32_t want)
{
    const struct alt_state *a = &s->alts.v[alt];
    uint32_t n = 0, word = start / 64;
    if (word < a->low)
        word = a->low;
    for (; n < want && word < s->words; word++) {
        uint64_t w = a->ok[word] & free_word(s, alt, word);
        if (word == start / 64)
            w &= ~(uint64_t)0 << start % 64;
        n += want == 1 ? w != 0 : (uint32_t)__builtin_popcountll(w);
    }
    return n >= want;
}

static bool request_has_enough(const struct solver *s, uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
        if (enough(s, alt, 0, s->alts.v[alt].count))
            return true;
    return false;
}

/* A request like one of its claim that was looked at asks for the same. */
static bool rest_has_enough(const struct solver *s, uint32_t first)
{
    for (uint32_t r = first; r < s->horizon; r++) {
        const struct plan_request *at = &s->plan->requests[r];
        bool seen = at->like != NONE && at->like >= first && !at->like_claim;
        if (!seen && !request_has_enough(s, r))
            return false;
    }
    return true;
}

static bool refuted(struct solver *s, const struct standing *t)
{
    if (!s->hard)
        return false;
    return (s->prover->bounds && bounds_refuse(s, t)) ||
           (s->prover->nindexes && values_refuse(s, t)) || hall_refuses(s, t) ||
           (s->prover->blocks && blocks_refuse(s, t));
}

bool prove_hopeless(struct solver *s, uint32_t alt, uint32_t k, uint32_t start)
{
    uint32_t request = s->plan->alts[alt].request;
    struct standing t = {alt, k, start};
    if (request >= s->horizon)
        return false;
    if (!s->plan->alts[alt].all && !enough(s, alt, start, s->alts.v[alt].count - k))
        return true;
    return !rest_has_enough(s, request + 1) || refuted(s, &t);
}

bool prove_none(struct solver *s)
{
    struct standing t = {.alt = NONE};
    return !rest_has_enough(s, 0) || (s->horizon > 0 && refuted(s, &t));
}

/* What only a search that goes on is worth. */
static void deepen(struct solver *s)
{
    bounds_deepen(s);
    blocks_build(s);
    if (s->prover->exchangeable)
        memo_start(s);
}

bool prove_failed(struct solver *s, bool picked)
{
    uint32_t before = s->effort;
    s->effort += picked ? PICKED : REFUSED;
    if (s->hard && before < SHALLOW && s->effort >= SHALLOW && !s->prover->deep)
        deepen(s);
    return s->effort > EASY && !s->hard;
}

static void reserve_flow(struct solver *s)
{
    struct prover *p = s->prover;
    struct flow *f = &p->flow;
    uint32_t right = values_matched(s);
    if (right < p->ngroups)
        right = p->ngroups;
    p->flow_left = p->ntracked;
    f->cap = ARENA_ARRAY(&p->mem, uint32_t, (size_t)p->ntracked * right);
    f->x = ARENA_ARRAY(&p->mem, uint32_t, (size_t)p->ntracked * right);
    f->room = ARENA_ARRAY(&p->mem, uint32_t, right);
    f->need = ARENA_ARRAY(&p->mem, uint32_t, p->ntracked);
    f->from = ARENA_ARRAY(&p->mem, uint32_t, p->ntracked);
    f->via = ARENA_ARRAY(&p->mem, uint32_t, p->ntracked);
    f->queue = ARENA_ARRAY(&p->mem, uint32_t, p->ntracked);
    p->blocked = ARENA_ARRAY(&p->mem, uint64_t, s->words + 1);
}

void prover_start(struct solver *s)
{
    if (!s->prover) {
        s->prover = mem_zalloc(sizeof *s->prover);
        arena_init(&s->prover->mem);
    }
    arena_reset(&s->prover->mem);
    s->prover->remembers = false;
    s->prover->blocks = NULL;
    s->prover->taken = ARENA_ARRAY(&s->prover->mem, uint64_t, s->words + 1);
    memcpy(s->prover->taken, s->taken, s->words * sizeof *s->taken);
    twins_build(s);
    hall_build(s);
    values_build(s);
    bounds_build(s);
    reserve_flow(s);
    s->hard = true;
    s->prover->deep = s->options && s->options->prove_first;
    if (s->prover->deep)
        deepen(s);
}

void prover_free(struct prover *p)
{
    if (!p)
        return;
    arena_fini(&p->mem);
    free(p->memo);
    free(p);
}
