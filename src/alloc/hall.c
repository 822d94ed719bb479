/* SPDX-License-Identifier: Apache-2.0 */
/* Hall's condition: the requests still to be met need different devices, and there must
 * be enough of them for all together. */
#include "alloc/prover.h"

enum { MAX_GROUPS = 64, MAX_TRACKED = 64 };

bool hall_tracks(const struct solver *s, uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    return request < s->horizon && !s->plan->alts[r->alt].admin;
}

uint32_t hall_least(const struct solver *s, uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint32_t n = UINT32_MAX;
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
        n = s->alts.v[alt].count < n ? s->alts.v[alt].count : n;
    return n;
}

/* Devices that the request may take, in one word. */
static uint64_t asks_word(const struct solver *s, uint32_t request, uint32_t word)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint64_t w = 0;
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
        w |= s->alts.v[alt].ok[word];
    return w;
}

/* ---- Groups: devices that the same requests may take ---- */

static uint32_t group_for(struct prover *p, uint64_t asks, uint32_t *n)
{
    for (uint32_t g = 0; g < *n; g++)
        if (p->group_asks[g] == asks)
            return g;
    if (*n == MAX_GROUPS) {
        p->group_asks[*n - 1] |= asks; /* a supply too many is no harm */
        return *n - 1;
    }
    p->group_asks[*n] = asks;
    return (*n)++;
}

static void group_word(struct solver *s, uint32_t word)
{
    struct prover *p = s->prover;
    uint64_t any = 0, asks[MAX_TRACKED];
    for (uint32_t r = 0; r < p->ntracked; r++)
        any |= asks[r] = hall_tracks(s, r) ? asks_word(s, r, word) : 0;
    any &= ~s->taken[word] & (s->any_multi ? ~s->multi[word] : ~(uint64_t)0);
    while (any) {
        /* All devices of the word that are asked for by the same requests at once. */
        uint64_t bit = any & -any, same = any, sig = 0;
        for (uint32_t r = 0; r < p->ntracked; r++) {
            bool in = asks[r] & bit; /* NOLINT: the same r were set above */
            sig |= (uint64_t)in << r;
            same &= in ? asks[r] : ~asks[r];
        }
        p->group_bits[(size_t)group_for(p, sig, &p->ngroups) * s->words + word] |= same;
        any &= ~same;
    }
}

void hall_build(struct solver *s)
{
    struct prover *p = s->prover;
    uint32_t n = s->horizon < MAX_TRACKED ? s->horizon : MAX_TRACKED;
    p->ntracked = n;
    p->ngroups = 0;
    p->group_bits = ARENA_ARRAY(&p->mem, uint64_t, (size_t)MAX_GROUPS * s->words + 1);
    p->group_asks = ARENA_ARRAY(&p->mem, uint64_t, MAX_GROUPS);
    for (uint32_t word = 0; word < s->words; word++)
        group_word(s, word);
}

/* ---- The proof ---- */

static uint32_t free_of_group(const struct solver *s, uint32_t group, uint32_t start)
{
    const uint64_t *bits = s->prover->group_bits + (size_t)group * s->words;
    uint32_t n = 0, word = start / 64;
    for (; word < s->words; word++) {
        uint64_t w = bits[word] & ~s->taken[word];
        if (word == start / 64)
            w &= ~(uint64_t)0 << start % 64;
        n += (uint32_t)__builtin_popcountll(w);
    }
    return n;
}

/* Shares are to be had besides, one of each device. */
uint32_t hall_shares(const struct solver *s, uint32_t request)
{
    uint32_t n = 0;
    for (uint32_t w = 0; s->any_multi && w < s->words; w++)
        n += (uint32_t)__builtin_popcountll(asks_word(s, request, w) & s->multi[w] &
                                            ~s->taken[w]);
    return n;
}

static void add_demand(struct solver *s, uint32_t request, uint32_t need, uint32_t start)
{
    struct prover *p = s->prover;
    struct flow *f = &p->flow;
    uint32_t spare = hall_shares(s, request);
    if (need <= spare)
        return;
    uint32_t *cap = f->cap + (size_t)f->nleft * p->ngroups;
    for (uint32_t g = 0; g < p->ngroups; g++)
        cap[g] = p->group_asks[g] >> request & 1
                     ? start ? free_of_group(s, g, start) : f->room[g]
                     : 0;
    f->need[f->nleft++] = need - spare;
}

bool hall_refuses(struct solver *s, const struct standing *t)
{
    struct prover *p = s->prover;
    struct flow *f = &p->flow;
    uint32_t request = standing_request(s, t);
    f->nleft = 0;
    f->nright = p->ngroups;
    for (uint32_t g = 0; g < p->ngroups; g++)
        f->room[g] = free_of_group(s, g, 0);
    if (t->alt != NONE) {
        if (request < p->ntracked && hall_tracks(s, request))
            add_demand(s, request, s->alts.v[t->alt].count - t->k, t->start);
        request++;
    }
    for (; request < p->ntracked; request++)
        if (hall_tracks(s, request))
            add_demand(s, request, hall_least(s, request), 0);
    return f->nleft > 0 && !flow_saturates(f);
}
