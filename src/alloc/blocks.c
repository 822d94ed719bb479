/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hall's condition over counter sets: of the devices that draw on one set only so many
 * can be taken together as what is left of each counter allows, whoever takes them.
 */
#include <stdlib.h>

#include "alloc/prover.h"

enum { MAX_BLOCKS = 128 };

/* A device and what it draws of one counter. */
struct draw {
    amount n;
    uint32_t device;
};

/* The devices whose first set this is; the last block: those without any set. */
struct draw_block {
    uint32_t seat, set;
    uint64_t *members; /* words */
    uint32_t nmembers;
    struct draw *draws; /* [counter of the set * nmembers], the smallest first */
    uint32_t ncounters, first_counter;
};

struct blocks {
    struct draw_block v[MAX_BLOCKS + 1];
    uint32_t n;
    uint32_t last; /* request that was asked about, for those like it; or NONE */
    struct flow flow;
};

static int by_draw(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    return x->n != y->n ? (x->n > y->n) - (x->n < y->n)
                        : (x->device > y->device) - (x->device < y->device);
}

static const struct counters *counters_at(const struct solver *s, uint32_t seat)
{
    const struct pool_view *v = s->seats[seat].view;
    return v->state == POOL_USABLE ? v->counters : NULL;
}

/* ---- Making them ---- */

static uint64_t candidate_word(const struct solver *s, uint32_t word)
{
    uint64_t w = 0;
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        if (!s->plan->alts[alt].admin)
            w |= s->alts.v[alt].ok[word];
    if (s->any_multi)
        w &= ~s->multi[word];
    return w & ~s->prover->taken[word];
}

static amount drawn_of(const struct counters *c, uint32_t device, uint32_t counter)
{
    amount n = 0;
    for (uint32_t i = c->use_at[device]; i < c->use_at[device + 1]; i++)
        if (c->uses[i].counter == counter)
            n += c->uses[i].n;
    return n;
}

static void list_draws(struct solver *s, struct draw_block *b)
{
    const struct seat *seat = &s->seats[b->seat];
    const struct counters *c = counters_at(s, b->seat);
    b->ncounters = c->sets[b->set]->ncounters;
    b->first_counter = c->set_first[b->set];
    b->draws = ARENA_ARRAY(&s->prover->mem, struct draw, b->ncounters * b->nmembers);
    for (uint32_t j = 0; j < b->ncounters; j++) {
        struct draw *v = b->draws + (size_t)j * b->nmembers;
        uint32_t n = 0;
        for (size_t d = bitset_next(b->members, s->words * 64, 0); d != SIZE_MAX;
             d = bitset_next(b->members, s->words * 64, d + 1))
            v[n++] = (struct draw){
                drawn_of(c, local(seat, (uint32_t)d), b->first_counter + j), (uint32_t)d};
        qsort(v, n, sizeof *v, by_draw);
    }
}

static struct draw_block *block_for(struct solver *s, struct blocks *t, uint32_t seat,
                                    uint32_t set)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].seat == seat && t->v[i].set == set)
            return &t->v[i];
    if (t->n > MAX_BLOCKS)
        return NULL;
    struct draw_block *b = &t->v[t->n++];
    *b = (struct draw_block){.seat = seat, .set = set};
    b->members = ARENA_ARRAY(&s->prover->mem, uint64_t, s->words + 1);
    return b;
}

static bool place(struct solver *s, struct blocks *t, uint32_t d)
{
    uint32_t seat = s->seat_of.v[d / 64], i = local(&s->seats[seat], d);
    const struct counters *c = counters_at(s, seat);
    bool draws = c && c->set_at[i] < c->set_at[i + 1];
    struct draw_block *b = draws ? block_for(s, t, seat, c->set_uses[c->set_at[i]].set)
                                 : block_for(s, t, NONE, NONE);
    if (!b)
        return false;
    bit_set(b->members, d);
    b->nmembers++;
    return true;
}

static bool place_all(struct solver *s, struct blocks *t)
{
    for (uint32_t word = 0; word < s->words; word++)
        for (uint64_t w = candidate_word(s, word); w; w &= w - 1)
            if (!place(s, t, word * 64 + (uint32_t)__builtin_ctzll(w)))
                return false;
    return true;
}

static void reserve_flow(struct solver *s, struct flow *f, uint32_t nright)
{
    struct arena *a = &s->prover->mem;
    uint32_t n = s->prover->ntracked;
    f->nright = nright;
    f->cap = ARENA_ARRAY(a, uint32_t, (size_t)n * nright);
    f->x = ARENA_ARRAY(a, uint32_t, (size_t)n * nright);
    f->need = ARENA_ARRAY(a, uint32_t, n);
    f->room = ARENA_ARRAY(a, uint32_t, nright);
    f->from = ARENA_ARRAY(a, uint32_t, n);
    f->via = ARENA_ARRAY(a, uint32_t, n);
    f->queue = ARENA_ARRAY(a, uint32_t, n);
}

void blocks_build(struct solver *s)
{
    struct blocks *t = ARENA_NEW(&s->prover->mem, struct blocks);
    if (!s->any_consumes || !place_all(s, t))
        return;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].seat != NONE)
            list_draws(s, &t->v[i]);
    reserve_flow(s, &t->flow, t->n);
    s->prover->blocks = t;
}

/* ---- How many of a block fit ---- */

/* Of its free members that may be had, at most so many as one counter allows. */
static uint32_t fit_counter(const struct solver *s, const struct draw_block *b,
                            uint32_t counter, const uint64_t *may)
{
    const struct draw *v = b->draws + (size_t)counter * b->nmembers;
    amount left = s->seat_states.v[b->seat].left[b->first_counter + counter];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nmembers; i++) {
        if (!bit_test(may, v[i].device))
            continue;
        left -= v[i].n;
        if (left < 0 && v[i].n > 0)
            break;
        n++;
    }
    return n;
}

static uint32_t fit_block(struct solver *s, const struct draw_block *b,
                          const uint64_t *may)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < s->words; w++)
        n += (uint32_t)__builtin_popcountll(b->members[w] & may[w]);
    if (n == 0 || b->seat == NONE)
        return n;
    seat_left(s, b->seat);
    for (uint32_t j = 0; j < b->ncounters && n; j++) {
        uint32_t m = fit_counter(s, b, j, may);
        n = m < n ? m : n;
    }
    return n;
}

/* ---- The proof ---- */

static void may_take(const struct solver *s, uint32_t request, uint32_t start,
                     uint64_t *out)
{
    const struct plan_request *r = &s->plan->requests[request];
    for (uint32_t w = 0; w < s->words; w++) {
        out[w] = 0;
        for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
            out[w] |= open_word(s, alt, w, start);
        if (s->any_multi)
            out[w] &= ~s->multi[w];
    }
}

static bool same_wants(const struct solver *s, uint32_t a, uint32_t b)
{
    const struct plan_request *x = &s->plan->requests[a], *y = &s->plan->requests[b];
    if (x->nalts != y->nalts)
        return false;
    for (uint32_t i = 0; i < x->nalts; i++)
        if (s->plan->alts[x->alt + i].profile != s->plan->alts[y->alt + i].profile ||
            s->plan->alts[x->alt + i].all != s->plan->alts[y->alt + i].all)
            return false;
    return true;
}

static void add_demand(struct solver *s, struct blocks *t, uint32_t request,
                       uint32_t start, uint32_t need)
{
    struct flow *f = &t->flow;
    uint32_t *cap = f->cap + (size_t)f->nleft * f->nright;
    uint32_t spare = hall_shares(s, request);
    if (need <= spare)
        return;
    bool repeat =
        start == 0 && f->nleft && t->last != NONE && same_wants(s, t->last, request);
    if (!repeat)
        may_take(s, request, start, s->prover->blocked);
    for (uint32_t i = 0; i < t->n; i++)
        cap[i] = repeat ? cap[(ptrdiff_t)i - f->nright]
                        : fit_block(s, &t->v[i], s->prover->blocked);
    t->last = start ? NONE : request;
    f->need[f->nleft++] = need - spare;
}

bool blocks_refuse(struct solver *s, const struct standing *at)
{
    struct blocks *t = s->prover->blocks;
    uint32_t request = standing_request(s, at);
    t->flow.nleft = 0;
    t->last = NONE;
    for (uint32_t w = 0; w < s->words; w++)
        s->prover->blocked[w] = ~s->taken[w];
    for (uint32_t i = 0; i < t->n; i++)
        t->flow.room[i] = fit_block(s, &t->v[i], s->prover->blocked);
    if (at->alt != NONE) {
        if (request < s->prover->ntracked && hall_tracks(s, request))
            add_demand(s, t, request, at->start, s->alts.v[at->alt].count - at->k);
        request++;
    }
    for (; request < s->prover->ntracked; request++)
        if (hall_tracks(s, request))
            add_demand(s, t, request, 0, hall_least(s, request));
    return t->flow.nleft > 0 && !flow_saturates(&t->flow);
}
