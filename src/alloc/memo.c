/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States that failed, so that none is searched twice. A state at the start of a request
 * is what the picks before it left: how many devices of each class are taken (all of a
 * class are alike to what follows), of shares which devices by whom, and within the claim
 * who took what, as constraints remember it. Keys are 128 bits of hash; the table
 * forgets.
 */
#include <stdlib.h>

#include "alloc/prover.h"

enum { MEMO_SLOTS = 1 << 14 };

static uint64_t mix(uint64_t v)
{
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93u;
    v ^= v >> 29;
    v *= 0x9fb21c651e98df25u;
    return v ^ v >> 32;
}

/* Requests to come may not begin before the first device of one they are like. */
static uint64_t order_key(const struct solver *s, uint32_t request)
{
    uint64_t h = 0;
    for (uint32_t r = request; r < s->plan->nrequests; r++) {
        uint32_t like = s->plan->requests[r].like;
        if (like < request)
            h = mix(h + r) + s->picks.v[s->first_picks.v[like]].device;
    }
    return h;
}

static uint64_t pick_key(const struct solver *s, const struct pick *p, bool of_claim)
{
    bool shared = s->any_multi && bit_test(s->multi, p->device);
    bool admin = s->plan->alts[p->alt].admin;
    uint64_t key = shared || s->plan->any_admin ? (uint64_t)p->device | (uint64_t)1 << 32
                                                : s->prover->class_of[p->device];
    if (shared || admin || of_claim)
        key |= (uint64_t)(p->alt + 1) << 33;
    return key | (uint64_t)of_claim << 63;
}

/* Picks in any order: their keys are added up. */
struct memo_key memo_key(const struct solver *s, uint32_t claim, uint32_t request)
{
    uint32_t first = claim < s->plan->nclaims ? s->claim_picks.v[claim] : 0;
    struct memo_key k = {mix(s->prover->search + request),
                         mix(request ^ ~(uint64_t)claim)};
    uint64_t order = order_key(s, request);
    for (size_t i = 0; i < s->picks.n; i++) {
        uint64_t v = pick_key(s, &s->picks.v[i], i >= first);
        k.a += mix(v);
        k.b += mix(v * 3 + 1);
    }
    k.a += order;
    k.b += mix(order);
    return k;
}

bool memo_has(const struct solver *s, const struct memo_key *k)
{
    const struct memo_key *e = &s->prover->memo[k->a % MEMO_SLOTS];
    return e->a == k->a && e->b == k->b;
}

void memo_add(struct solver *s, const struct memo_key *k)
{
    s->prover->memo[k->a % MEMO_SLOTS] = *k;
}

/* Keys of other searches are told apart by the number of the search. */
void memo_start(struct solver *s)
{
    if (!s->prover->memo)
        s->prover->memo = mem_zalloc(MEMO_SLOTS * sizeof *s->prover->memo);
    s->prover->search += (uint64_t)1 << 32;
    s->prover->remembers = true;
}
