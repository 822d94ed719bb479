/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: a value that all devices still wanted can have in common, or enough
 * different values for them. */
#include <stdlib.h>

#include "alloc/prover.h"

/* Words of an index; values that a matching is tried with. */
enum { INDEX_ROOM = 1 << 16, MAX_MATCHED = 512 };

/* ---- Indexes ---- */

struct gathering {
    VEC(uint32_t) ids;
    bool odd; /* a candidate's value compares with nothing, yet it may be picked */
};

static void gather_device(const struct value_set *v, struct gathering *g)
{
    g->odd |= v->state == VALUE_ODD;
    for (uint32_t i = 0; i < v->n; i++)
        vec_push(&g->ids, v->ids[i]);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t unique(uint32_t *ids, size_t n)
{
    uint32_t kept = 0;
    if (n > 1)
        qsort(ids, n, sizeof *ids, by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

static uint32_t place_of(const struct value_index *x, uint32_t id)
{
    uint32_t lo = 0, hi = x->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (x->ids[mid] < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->n && x->ids[lo] == id ? lo : NONE;
}

static const uint64_t *bits_of(const struct solver *s, const struct value_index *x,
                               uint32_t id)
{
    uint32_t i = place_of(x, id);
    return i == NONE ? NULL : x->bits + (size_t)i * s->words;
}

static bool uses_index(const struct solver *s, const struct value_index *x, uint32_t alt,
                       uint32_t *use)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    for (*use = 0; *use < pa->nuses; ++*use)
        if (pa->uses[*use].attribute == x->attribute &&
            pa->uses[*use].derived == x->derived)
            return true;
    return false;
}

/* Candidates of those who use the attribute, and how to look its values up. */
static uint64_t *index_devices(struct solver *s, const struct value_index *x,
                               uint32_t *alt, uint32_t *use)
{
    uint64_t *bits = ARENA_ARRAY(&s->prover->mem, uint64_t, s->words + 1);
    for (uint32_t i = 0; i < s->plan->nalts; i++) {
        uint32_t u;
        if (!uses_index(s, x, i, &u))
            continue;
        *alt = i;
        *use = u;
        for (uint32_t w = 0; w < s->words; w++)
            bits[w] |= s->alts.v[i].ok[w];
    }
    return bits;
}

static void mark_device(const struct solver *s, struct value_index *x, uint32_t d,
                        const struct value_set *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t at = place_of(x, v->ids[i]);
        bit_set(x->bits + (size_t)at * s->words, d);
        x->count[at]++;
    }
}

static void make_index(struct solver *s, struct value_index *x, uint32_t n,
                       const uint32_t *ids)
{
    struct arena *a = &s->prover->mem;
    x->n = n;
    x->ids = ARENA_ARRAY(a, uint32_t, n);
    x->bits = ARENA_ARRAY(a, uint64_t, (size_t)n * s->words);
    x->count = ARENA_ARRAY(a, uint32_t, n);
    if (ids)
        memcpy(x->ids, ids, n * sizeof *x->ids);
}

static void fill_index(struct solver *s, struct value_index *x)
{
    struct gathering g = {0};
    uint32_t alt = 0, use = 0;
    const uint64_t *devices = index_devices(s, x, &alt, &use);
    size_t end = (size_t)s->words * 64;
    for (size_t d = bitset_next(devices, end, 0); d < end;
         d = bitset_next(devices, end, d + 1))
        gather_device(value_of(s, alt, use, (uint32_t)d), &g);
    uint32_t n = unique(g.ids.v, g.ids.n);
    x->known = (uint64_t)n * s->words <= INDEX_ROOM &&
               (!g.odd || s->plan->inv->features.list_type_attributes);
    if (x->known && n) {
        make_index(s, x, n, g.ids.v);
        for (size_t d = bitset_next(devices, end, 0); d < end;
             d = bitset_next(devices, end, d + 1))
            mark_device(s, x, (uint32_t)d, value_of(s, alt, use, (uint32_t)d));
    }
    vec_release(&g.ids);
}

static uint32_t index_for(struct solver *s, const struct plan_use *use)
{
    struct prover *p = s->prover;
    for (uint32_t i = 0; i < p->nindexes; i++)
        if (p->indexes[i].attribute == use->attribute &&
            p->indexes[i].derived == use->derived)
            return i;
    struct value_index *x = &p->indexes[p->nindexes];
    *x = (struct value_index){.attribute = use->attribute, .derived = use->derived};
    fill_index(s, x);
    return p->nindexes++;
}

void values_build(struct solver *s)
{
    struct prover *p = s->prover;
    uint32_t uses = 0;
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        uses += s->plan->alts[alt].nuses;
    p->nindexes = 0;
    p->indexes = ARENA_ARRAY(&p->mem, struct value_index, uses);
    p->index_of = ARENA_ARRAY(&p->mem, uint32_t, s->plan->nalts * s->plan->uses);
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        for (uint32_t u = 0; u < s->plan->alts[alt].nuses; u++)
            p->index_of[alt * s->plan->uses + u] =
                index_for(s, &s->plan->alts[alt].uses[u]);
}

/* ---- What is still wanted of a constraint ---- */

struct demand {           /* of one request, or of several that are alike */
    uint32_t first, last; /* alternatives; just one if it has been chosen */
    uint32_t taken, start;
    uint32_t times;
};

struct question {
    struct solver *s;
    uint32_t constraint;
    uint32_t claim; /* the search is at */
    struct demand demands[MAX_RESULTS * 2];
    uint32_t n;
    uint32_t want;        /* devices of all plain demands */
    bool one_index;       /* all demands look at the same attribute */
    const uint64_t *bits; /* then: of the value in question */
};

/* Requests of the constraint's claim that are to be met yet, before the horizon. */
static void ask_rest(struct question *q, const struct standing *t)
{
    struct solver *s = q->s;
    const struct plan_claim *c =
        &s->plan->claims[s->plan->constraints[q->constraint].claim];
    uint32_t request = standing_request(s, t), end = c->request + c->nrequests;
    q->n = 0;
    if (t->alt != NONE && request >= c->request && request < end && request < s->horizon)
        q->demands[q->n++] = (struct demand){t->alt, t->alt, t->k, t->start, 1};
    request = t->alt == NONE ? 0 : request + 1;
    if (request < c->request)
        request = c->request;
    for (uint32_t first = request; request < end && request < s->horizon; request++) {
        const struct plan_request *r = &s->plan->requests[request];
        if (request > first && r->like == request - 1)
            q->demands[q->n - 1].times++;
        else if (q->n < MAX_RESULTS * 2)
            q->demands[q->n++] = (struct demand){
                .first = r->alt, .last = r->alt + r->nalts - 1, .times = 1};
        else
            break;
    }
}

static const struct value_index *index_of_use(const struct solver *s, uint32_t alt,
                                              uint32_t use)
{
    return &s->prover->indexes[s->prover->index_of[alt * s->plan->uses + use]];
}

/* ---- matchAttribute ---- */

static bool alt_has(const struct question *q, const struct demand *d, uint32_t alt,
                    uint32_t value)
{
    const struct solver *s = q->s;
    uint32_t use = use_of(&s->plan->alts[alt], q->constraint), n = 0;
    uint32_t want = s->alts.v[alt].count - d->taken;
    if (use == NONE || want == 0)
        return true;
    const struct value_index *x = index_of_use(s, alt, use);
    if (!x->known)
        return true;
    const uint64_t *bits = q->one_index ? q->bits : bits_of(s, x, value);
    for (uint32_t w = d->start / 64; bits && n < want && w < s->words; w++)
        n += (uint32_t)__builtin_popcountll(open_word(s, alt, w, d->start) & bits[w]);
    return n >= want;
}

static bool demand_has(const struct question *q, const struct demand *d, uint32_t value)
{
    for (uint32_t alt = d->first; alt <= d->last; alt++)
        if (alt_has(q, d, alt, value))
            return true;
    return false;
}

/* The word's devices that have the value and may be taken for a demand that has no way
 * around the constraint. *all: that they can be told. */
static uint64_t demand_word(const struct question *q, const struct demand *d,
                            uint32_t value, uint32_t word)
{
    const struct solver *s = q->s;
    uint32_t use = use_of(&s->plan->alts[d->first], q->constraint);
    const uint64_t *bits =
        q->one_index ? q->bits : bits_of(s, index_of_use(s, d->first, use), value);
    return bits ? open_word(s, d->first, word, d->start) & bits[word] : 0;
}

static bool plain_demand(const struct question *q, const struct demand *d)
{
    const struct plan_alt *pa = &q->s->plan->alts[d->first];
    uint32_t use = use_of(pa, q->constraint);
    return d->first == d->last && use != NONE && !pa->admin &&
           index_of_use(q->s, d->first, use)->known;
}

static uint32_t still_wanted(const struct question *q, const struct demand *d)
{
    return (q->s->alts.v[d->first].count - d->taken) * d->times;
}

static uint32_t wanted_together(const struct question *q)
{
    uint32_t want = 0;
    for (uint32_t i = 0; i < q->n; i++)
        if (plain_demand(q, &q->demands[i]))
            want += still_wanted(q, &q->demands[i]);
    return want;
}

/* All demands together need as many devices with the value. */
static bool together(const struct question *q, uint32_t value)
{
    const struct solver *s = q->s;
    uint32_t have = 0;
    for (uint32_t w = 0; have < q->want && w < s->words; w++) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < q->n; i++)
            if (plain_demand(q, &q->demands[i]))
                any |= demand_word(q, &q->demands[i], value, w);
        if (s->any_multi && (any & s->multi[w]))
            return true;
        have += (uint32_t)__builtin_popcountll(any);
    }
    return have >= q->want;
}

static bool value_serves(const struct question *q, uint32_t value)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (!demand_has(q, &q->demands[i], value))
            return false;
    return (q->n == 1 && q->demands[0].times == 1) || together(q, value);
}

/* The first demand that must have a value: its index has all that can be. */
static const struct value_index *first_index(const struct question *q)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (plain_demand(q, &q->demands[i]) &&
            q->s->alts.v[q->demands[i].first].count > q->demands[i].taken)
            return index_of_use(
                q->s, q->demands[i].first,
                use_of(&q->s->plan->alts[q->demands[i].first], q->constraint));
    return NULL;
}

static bool same_index(const struct question *q, const struct value_index *x)
{
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t alt = q->demands[i].first; alt <= q->demands[i].last; alt++) {
            uint32_t use = use_of(&q->s->plan->alts[alt], q->constraint);
            if (use != NONE && index_of_use(q->s, alt, use) != x)
                return false;
        }
    return true;
}

/* Looks at the next value; false: too few devices have it at all. */
static bool look_at(struct question *q, const struct value_index *x, uint32_t value)
{
    if (!q->one_index)
        return true;
    uint32_t i = place_of(x, value);
    q->bits = i == NONE ? NULL : x->bits + (size_t)i * q->s->words;
    return q->s->any_multi || (i != NONE && x->count[i] >= q->want);
}

static bool match_refuses(struct question *q)
{
    const struct match_state *m = &q->s->matches.v[q->constraint];
    const struct value_index *x = first_index(q);
    if (!x || m->odd)
        return false;
    const uint32_t *ids = m->devices ? q->s->ids.v + m->at : x->ids;
    uint32_t n = m->devices ? m->n : x->n;
    q->want = wanted_together(q);
    q->one_index = same_index(q, x);
    for (uint32_t i = 0; i < n; i++)
        if (look_at(q, x, ids[i]) && value_serves(q, ids[i]))
            return false;
    return true;
}

/* ---- distinctAttribute ---- */

/* Devices with a value that is used already. */
static void block_used(const struct question *q, const struct value_index *x,
                       uint64_t *blocked)
{
    const struct solver *s = q->s;
    uint32_t claim = s->plan->constraints[q->constraint].claim;
    memset(blocked, 0, s->words * sizeof *blocked);
    if (claim > q->claim)
        return; /* nothing of it is picked yet */
    for (size_t i = s->claim_picks.v[claim]; i < s->picks.n; i++) {
        const struct pick *p = &s->picks.v[i];
        uint32_t use = use_of(&s->plan->alts[p->alt], q->constraint);
        const struct value_set *v =
            use == NONE ? NULL : value_of(s, p->alt, use, p->device);
        for (uint32_t k = 0; v && k < v->n; k++) {
            const uint64_t *bits = bits_of(s, x, v->ids[k]);
            for (uint32_t w = 0; bits && w < s->words; w++)
                blocked[w] |= bits[w];
        }
    }
}

static void offer_values(const struct question *q, const struct value_index *x,
                         const uint64_t *blocked, const struct demand *d)
{
    const struct solver *s = q->s;
    struct flow *f = &s->prover->flow;
    uint32_t *cap = f->cap + (size_t)f->nleft * x->n;
    for (uint32_t v = 0; v < x->n; v++) {
        const uint64_t *bits = x->bits + (size_t)v * s->words;
        cap[v] = 0;
        for (uint32_t w = d->start / 64; !cap[v] && w < s->words; w++)
            cap[v] = (open_word(s, d->first, w, d->start) & bits[w] & ~blocked[w]) != 0;
    }
    f->need[f->nleft++] = still_wanted(q, d);
}

static bool distinct_refuses(struct question *q)
{
    const struct solver *s = q->s;
    const struct value_index *x = first_index(q);
    struct flow *f = &s->prover->flow;
    if (!x || x->n > MAX_MATCHED || !same_index(q, x))
        return false;
    block_used(q, x, s->prover->blocked);
    f->nleft = 0;
    f->nright = x->n;
    for (uint32_t v = 0; v < x->n; v++)
        f->room[v] = 1;
    for (uint32_t i = 0; i < q->n && f->nleft < s->prover->flow_left; i++)
        if (plain_demand(q, &q->demands[i]))
            offer_values(q, x, s->prover->blocked, &q->demands[i]);
    return !flow_saturates(f);
}

uint32_t values_matched(const struct solver *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->prover->nindexes; i++) {
        uint32_t n = s->prover->indexes[i].n;
        if (n <= MAX_MATCHED && n > most)
            most = n;
    }
    return most;
}

bool values_refuse(struct solver *s, const struct standing *t)
{
    struct question q;
    q.s = s;
    uint32_t request = standing_request(s, t);
    uint32_t claim = s->plan->requests[request].claim;
    for (uint32_t c = 0; c < s->plan->nconstraints; c++) {
        if (s->plan->constraints[c].claim < claim)
            continue;
        q.constraint = c;
        q.claim = claim;
        ask_rest(&q, t);
        if (q.n &&
            (s->plan->constraints[c].match ? match_refuses(&q) : distinct_refuses(&q)))
            return true;
    }
    return false;
}
