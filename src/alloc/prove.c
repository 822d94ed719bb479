/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that there is no solution below a state, so that nothing is searched there. */
#include "alloc/search.h"

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
        n += (uint32_t)__builtin_popcountll(w);
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

static bool rest_has_enough(const struct solver *s, uint32_t request)
{
    for (; request < s->horizon; request++)
        if (!request_has_enough(s, request))
            return false;
    return true;
}

bool prove_hopeless(struct solver *s, uint32_t alt, uint32_t k, uint32_t start)
{
    uint32_t request = s->plan->alts[alt].request;
    if (request >= s->horizon)
        return false;
    if (!s->plan->alts[alt].all && !enough(s, alt, start, s->alts.v[alt].count - k))
        return true;
    return !rest_has_enough(s, request + 1);
}

bool prove_none(struct solver *s)
{
    return !rest_has_enough(s, 0);
}

void prover_free(struct prover *p)
{
    (void)p;
}
