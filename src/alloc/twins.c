/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal devices are tried once. Two untouched devices that agree on everything the rest
 * of the search can see are the same choice: exchanging them turns a solution with the
 * later one into a solution with the earlier one, whose devices still rise within a
 * request. The same holds for whole blocks: devices on counter sets of their own (a GPU
 * and its partitions), equal place for place.
 */
#include <stdlib.h>

#include "alloc/prover.h"

/* ---- Hashing: two words, so that equal means equal ---- */

struct print {
    uint64_t a, b;
};

static void add(struct print *h, uint64_t v)
{
    h->a = (h->a ^ v) * 0x9fb21c651e98df25u;
    h->a ^= h->a >> 29;
    h->b = (h->b + v) * 0xd6e8feb86659fd93u;
    h->b ^= h->b >> 32;
}

static void add_amount(struct print *h, amount n)
{
    add(h, (uint64_t)n);
    add(h, (uint64_t)((unsigned __int128)n >> 64));
}

static void add_text(struct print *h, struct str s)
{
    add(h, str_hash(s));
    add(h, s.n);
}

/* ---- What the search can see of a device ---- */

static void see_alternatives(const struct solver *s, struct print *h, uint32_t d)
{
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++) {
        const struct alt_state *a = &s->alts.v[alt];
        add(h, (uint64_t)bit_test(a->ok, d) |
                   (uint64_t)(a->trap && bit_test(a->trap, d)) << 1 |
                   (uint64_t)(a->all && bit_test(a->all, d)) << 2);
        for (uint32_t u = 0; u < s->plan->alts[alt].nuses; u++) {
            if (!s->prover->fresh[alt * s->plan->uses + u])
                continue;
            const struct value_set *v = value_of(s, alt, u, d);
            add(h, v->state);
            add(h, v->n);
            for (uint32_t i = 0; i < v->n; i++)
                add(h, v->ids[i]);
        }
    }
}

static void see_groups(struct print *h, const struct view_strs *groups)
{
    add(h, groups->n);
    for (uint32_t i = 0; i < groups->n; i++)
        add_text(h, groups->v[i]);
}

/* Counters and sets by number, less the first of the block's: base 0 is the pool's. */
static void see_counters(const struct solver *s, struct print *h, uint32_t d,
                         uint32_t counter_base, uint32_t set_base)
{
    const struct seat *seat = seat_at(s, d);
    const struct counters *c = seat->view->counters;
    uint32_t i = local(seat, d);
    if (!s->any_consumes || !c)
        return;
    for (uint32_t j = c->use_at[i]; j < c->use_at[i + 1]; j++) {
        add(h, c->uses[j].counter - counter_base);
        add_amount(h, c->uses[j].n);
    }
    for (uint32_t j = c->set_at[i]; j < c->set_at[i + 1]; j++) {
        add(h, c->set_uses[j].set - set_base);
        see_groups(h, c->set_uses[j].groups);
    }
    add(h, bit_test(c->odd, i));
}

static void see_shares(struct solver *s, struct print *h, uint32_t d)
{
    const struct device_facts *f = &device_of(s, d)->facts;
    uint32_t n = f->shape->ncapacities;
    add(h, n);
    for (uint32_t i = 0; i < n; i++) {
        amount limit = 0;
        amount_from(device_amount(f, i), &limit);
        add_amount(h, limit);
        add_amount(h, share_used(s, d)[i]);
    }
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++) {
        const struct consumed *c =
            bit_test(s->alts.v[alt].ok, d) ? consumed_of(s, alt, d) : NULL;
        for (uint32_t i = 0; c && i < n; i++)
            add_amount(h, c->n[i]);
    }
}

static struct print see(struct solver *s, uint32_t d)
{
    struct print h = {1, 2};
    see_alternatives(s, &h, d);
    add(&h, s->any_consumes && bit_test(s->consumes, d));
    add(&h, s->plan->any_admin && bit_test(s->taken, d));
    if (s->any_multi && bit_test(s->multi, d)) {
        const struct seat *seat = seat_at(s, d);
        add(&h, 1 + bit_test(seat->pool->shared, local(seat, d)));
        see_shares(s, &h, d);
    }
    return h;
}

static void see_seat(struct solver *s, struct print *h, uint32_t seat)
{
    const struct pool_view *v = s->seats[seat].view;
    const struct counters *c = v->state == POOL_USABLE ? v->counters : NULL;
    const amount *left = c ? seat_left(s, seat) : NULL;
    add(h, s->seats[seat].base);
    for (uint32_t i = 0; c && i < c->n; i++)
        add_amount(h, left[i]);
    for (uint32_t i = 0; c && i < c->nsets; i++) {
        const struct group_state *g = &s->seat_states.v[seat].groups[i];
        add(h, g->groups ? 1 + g->live : 0);
        if (g->groups)
            see_groups(h, g->groups);
    }
}

/* ---- Numbers for prints ---- */

struct numbering {
    struct print *keys;
    uint32_t *ids, mask, n;
};

static void numbering_init(struct numbering *t, uint32_t room, struct arena *a)
{
    uint32_t size = 16;
    while (size < room * 2)
        size *= 2;
    *t = (struct numbering){.mask = size - 1};
    t->keys = ARENA_ARRAY(a, struct print, size);
    t->ids = ARENA_ARRAY(a, uint32_t, size);
}

static uint32_t number_of(struct numbering *t, struct print h)
{
    for (uint32_t i = (uint32_t)h.a & t->mask;; i = (i + 1) & t->mask) {
        if (!t->ids[i]) {
            t->keys[i] = h;
            t->ids[i] = ++t->n;
        }
        if (t->keys[i].a == h.a && t->keys[i].b == h.b)
            return t->ids[i] - 1;
    }
}

/* Uses of attributes that no use before them is of. */
static void find_fresh(struct solver *s)
{
    const struct alloc_plan *p = s->plan;
    s->prover->fresh = ARENA_ARRAY(&s->prover->mem, bool, p->nalts * p->uses);
    for (uint32_t alt = 0; alt < p->nalts; alt++)
        for (uint32_t u = 0; u < p->alts[alt].nuses; u++) {
            const struct plan_use *use = &p->alts[alt].uses[u];
            bool seen = false;
            for (uint32_t i = 0; i <= alt && !seen; i++)
                for (uint32_t k = 0; k < (i < alt ? p->alts[i].nuses : u) && !seen; k++)
                    seen = p->alts[i].uses[k].attribute == use->attribute &&
                           p->alts[i].uses[k].derived == use->derived;
            s->prover->fresh[alt * p->uses + u] = !seen;
        }
}

/* Devices in order, and what is left of their counters: hosts with equal prints get equal
 * answers, device for device. Errors name devices, so a search that may end in one is not
 * compared. */
static void see_host(struct solver *s, const struct print *plain)
{
    struct print h = {5, 6};
    for (uint32_t d = 0; d < s->words * 64; d++) {
        add(&h, plain[d].a);
        add(&h, plain[d].b);
        add(&h, bit_test(s->taken, d));
        if (plain[d].a && s->any_consumes && bit_test(s->consumes, d))
            see_counters(s, &h, d, 0, 0);
    }
    for (uint32_t i = 0; i < s->nseats; i++)
        see_seat(s, &h, i);
    s->prover->looks[0] = s->horizon == s->plan->nrequests ? h.a | 1 : 0;
    s->prover->looks[1] = h.b;
}

static bool wanted(const struct solver *s, uint32_t word, uint64_t *w)
{
    *w = 0;
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++) {
        const struct alt_state *a = &s->alts.v[alt];
        *w |= a->ok[word] | (a->trap ? a->trap[word] : 0) | (a->all ? a->all[word] : 0);
    }
    return *w != 0;
}

static void find_classes(struct solver *s, struct print *plain)
{
    struct prover *p = s->prover;
    struct numbering classes;
    numbering_init(&classes, s->words * 64, &p->mem);
    for (uint32_t word = 0; word < s->words; word++) {
        uint64_t w;
        if (!wanted(s, word, &w))
            continue;
        for (; w; w &= w - 1) {
            uint32_t d = word * 64 + (uint32_t)__builtin_ctzll(w);
            struct print h = plain[d] = see(s, d);
            if (s->any_consumes && bit_test(s->consumes, d)) {
                add(&h, s->seat_of.v[word]);
                see_counters(s, &h, d, 0, 0);
            }
            p->class_of[d] = number_of(&classes, h);
        }
    }
    p->nclasses = classes.n;
}

/* ---- Blocks: devices joined by the counter sets they draw on ---- */

static uint32_t root(uint32_t *up, uint32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

static void join_sets(const struct counters *c, const struct pool *pool, uint32_t *up)
{
    for (uint32_t i = 0; i < c->nsets; i++)
        up[i] = i;
    for (uint32_t i = 0; i < pool->n; i++)
        for (uint32_t j = c->set_at[i] + 1; j < c->set_at[i + 1]; j++)
            up[root(up, c->set_uses[j].set)] = root(up, c->set_uses[j - 1].set);
}

struct block {
    struct print h;
    uint32_t first, sets; /* of the sets joined: the first, and how many */
    uint32_t devices;
    bool odd; /* its sets are not next to each other, or it is in part held */
};

static void see_sets(const struct solver *s, uint32_t seat, const uint32_t *up,
                     struct block *blocks)
{
    const struct counters *c = s->seats[seat].view->counters;
    const struct seat_state *t = &s->seat_states.v[seat];
    for (uint32_t i = 0; i < c->nsets; i++) {
        struct block *b = &blocks[root((uint32_t *)up, i)];
        if (b->sets++ == 0)
            b->first = i;
        b->odd |= i != b->first + b->sets - 1;
        b->odd |= t->groups[i].groups != NULL;
        add(&b->h, c->sets[i]->ncounters);
        for (uint32_t j = 0; j < c->sets[i]->ncounters; j++)
            add_amount(&b->h, t->left[c->set_first[i] + j]);
    }
}

/* Place of each device in its block, and the block's print over all places. */
static void see_members(const struct solver *s, uint32_t seat, uint32_t *up,
                        struct block *blocks, const struct print *plain)
{
    const struct seat *at = &s->seats[seat];
    const struct counters *c = at->view->counters;
    for (uint32_t i = 0; i < at->pool->n; i++) {
        uint32_t d = at->base * 64 + i;
        if (c->set_at[i] == c->set_at[i + 1])
            continue;
        struct block *b = &blocks[root(up, c->set_uses[c->set_at[i]].set)];
        add(&b->h, plain[d].a);
        add(&b->h, bit_test(s->taken, d));
        see_counters(s, &b->h, d, c->set_first[b->first], b->first);
        s->prover->orbit_of[d] = b->devices++;
    }
}

static void name_orbits(struct solver *s, uint32_t seat, uint32_t *up,
                        const struct block *blocks, struct numbering *kinds)
{
    const struct seat *at = &s->seats[seat];
    const struct counters *c = at->view->counters;
    struct prover *p = s->prover;
    for (uint32_t i = 0; i < at->pool->n; i++) {
        uint32_t d = at->base * 64 + i;
        if (c->set_at[i] == c->set_at[i + 1])
            continue;
        uint32_t r = root(up, c->set_uses[c->set_at[i]].set);
        if (blocks[r].odd) {
            p->orbit_of[d] = NONE;
            continue;
        }
        struct print h = blocks[r].h;
        add(&h, seat);
        add(&h, p->orbit_of[d]);
        p->orbit_of[d] = number_of(kinds, h);
        p->block_of[d] = seat << 16 | r;
    }
}

static void find_blocks(struct solver *s, uint32_t seat, const struct print *plain,
                        struct numbering *kinds)
{
    const struct counters *c = s->seats[seat].view->counters;
    struct arena a;
    arena_init(&a);
    uint32_t *up = ARENA_ARRAY(&a, uint32_t, c->nsets + 1);
    struct block *blocks = ARENA_ARRAY(&a, struct block, c->nsets + 1);
    join_sets(c, s->seats[seat].pool, up);
    for (uint32_t i = 0; i < c->nsets; i++)
        blocks[i].h = (struct print){3, 4};
    see_sets(s, seat, up, blocks);
    see_members(s, seat, up, blocks, plain);
    name_orbits(s, seat, up, blocks, kinds);
    arena_fini(&a);
}

/* Whether any claim can come to ask for more than MAX_RESULTS devices. */
static bool may_overflow(const struct solver *s)
{
    for (uint32_t i = 0; i < s->plan->nclaims; i++) {
        const struct plan_claim *c = &s->plan->claims[i];
        uint64_t sum = 0;
        for (uint32_t r = c->request; r < c->request + c->nrequests; r++) {
            const struct plan_request *req = &s->plan->requests[r];
            uint32_t most = 0;
            for (uint32_t alt = req->alt; alt < req->alt + req->nalts; alt++)
                most = s->alts.v[alt].count > most ? s->alts.v[alt].count : most;
            sum += most;
        }
        if (sum > MAX_RESULTS)
            return true;
    }
    return false;
}

/* An error that one of two twins leads to, the other leads to as well: a request that
 * fails has looked at all its candidates. Not so if it stops halfway: an All request at
 * the first device that is gone, any request when the claim overflows. */
static bool exchangeable(const struct solver *s)
{
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        if (s->plan->alts[alt].request >= s->horizon && s->plan->alts[alt].all)
            return false;
    return s->horizon == s->plan->nrequests || !may_overflow(s);
}

void twins_build(struct solver *s)
{
    struct prover *p = s->prover;
    p->exchangeable = exchangeable(s);
    p->looks[0] = 0;
    if (!p->exchangeable)
        return;
    size_t n = (size_t)s->words * 64;
    struct numbering kinds;
    p->class_of = ARENA_ARRAY(&p->mem, uint32_t, n);
    p->orbit_of = ARENA_ARRAY(&p->mem, uint32_t, n);
    p->block_of = ARENA_ARRAY(&p->mem, uint32_t, n);
    struct print *plain = ARENA_ARRAY(&p->mem, struct print, n);
    memset(p->orbit_of, 0xff, n * sizeof *p->orbit_of);
    memset(p->block_of, 0xff, n * sizeof *p->block_of);
    find_fresh(s);
    find_classes(s, plain);
    see_host(s, plain);
    numbering_init(&kinds, (uint32_t)n, &p->mem);
    /* An exchange of blocks would move errors too. */
    bool traps = s->horizon < s->plan->nrequests;
    for (uint32_t i = 0; i < s->nseats && s->any_consumes && !traps; i++)
        if (s->seats[i].view->counters && s->seats[i].view->state == POOL_USABLE &&
            s->seats[i].view->counters->nsets < 0xffff && seat_left(s, i))
            find_blocks(s, i, plain, &kinds);
    p->norbits = kinds.n;
    p->skip_words = (p->nclasses + p->norbits + 63) / 64;
    p->skips = ARENA_ARRAY(&p->mem, uint64_t,
                           (size_t)p->skip_words * (MAX_RESULTS * s->plan->nclaims + 1));
}

/* ---- During the search ---- */

uint64_t *twins_row(struct solver *s)
{
    struct prover *p = s->prover;
    uint64_t *row = p->skips + s->picks.n * p->skip_words;
    memset(row, 0, p->skip_words * sizeof *row);
    return row;
}

static bool device_untouched(const struct solver *s, uint32_t d)
{
    for (size_t i = 0; i < s->picks.n; i++)
        if (s->picks.v[i].device == d)
            return false;
    return true;
}

static bool block_untouched(const struct solver *s, uint32_t block)
{
    const uint32_t *block_of = s->prover->block_of;
    for (size_t i = 0; i < s->picks.n; i++)
        if (block_of[s->picks.v[i].device] == block)
            return false;
    return true;
}

/* Exclusive devices that can be picked are untouched; others have to be looked up. */
static bool may_be_touched(const struct solver *s, uint32_t d)
{
    return s->plan->any_admin || (s->any_multi && bit_test(s->multi, d));
}

bool twins_skipped(const struct solver *s, const uint64_t *row, uint32_t d)
{
    const struct prover *p = s->prover;
    if (bit_test(row, p->class_of[d]) &&
        (!may_be_touched(s, d) || device_untouched(s, d)))
        return true;
    uint32_t orbit = p->orbit_of[d];
    return orbit != NONE && bit_test(row, p->nclasses + orbit) &&
           block_untouched(s, p->block_of[d]);
}

void twins_failed(const struct solver *s, uint64_t *row, uint32_t d)
{
    const struct prover *p = s->prover;
    if (!may_be_touched(s, d) || device_untouched(s, d))
        bit_set(row, p->class_of[d]);
    if (p->orbit_of[d] != NONE && block_untouched(s, p->block_of[d]))
        bit_set(row, p->nclasses + p->orbit_of[d]);
}
