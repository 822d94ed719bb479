/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: the devices still wanted draw at least so much of each, whichever they are.
 * Besides the counters themselves, sums of counters must hold: of one name over the sets
 * of a pool (partitions of eight equal GPUs), and of all counters of a pool, weighted by
 * what is left of each.
 */
#include <stdlib.h>

#include "alloc/prover.h"

enum {
    SMALL = 1 << 24,  /* the most units a device may draw for a counter to take part */
    PLENTY = 1 << 30, /* more than all devices draw: the counter is no bound */
    WEIGHT = 1 << 20,
    TABLE_ROOM = 1 << 18 /* entries of a table of later devices */
};

/* One counter, or several of one name in a pool, in units that all draws are whole
 * numbers of. */
struct scale {
    amount unit;
    bool fits;
};

struct builder {
    struct solver *s;
    struct bounds *b;
    struct arena tmp;
    uint32_t *base;       /* seat -> its first bound; NONE: no counters */
    uint32_t *name_of;    /* counter bound -> bound of its name's sum, or NONE */
    uint32_t *total_of;   /* seat -> bound of its weighted sum */
    struct scale *scales; /* per counter bound */
    int64_t *weights;     /* per counter bound */
    uint32_t *devices;    /* scratch: candidates of an alternative */
    uint32_t *row_of;     /* bound -> its place among the active; or NONE */
    uint32_t ncounters;
};

static amount gcd(amount a, amount b)
{
    while (b) {
        amount r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static const struct counters *counters_at(const struct solver *s, uint32_t seat)
{
    const struct pool_view *v = s->seats[seat].view;
    return v->state == POOL_USABLE && v->counters && v->counters->n ? v->counters : NULL;
}

/* ---- Units ---- */

static uint32_t same_name(const struct counters *c, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (str_eq(c->names[j], c->names[i]))
            return j;
    return i;
}

/* Counters of one name share their unit, so that they can be added. */
static void find_units(struct builder *t, uint32_t seat, const uint32_t *leader)
{
    const struct counters *c = counters_at(t->s, seat);
    struct scale *scales = t->scales + t->base[seat];
    for (uint32_t i = 0; i < c->n; i++)
        scales[i] = (struct scale){0, true};
    for (uint32_t i = 0; i < c->use_at[t->s->seats[seat].pool->n]; i++) {
        struct scale *u = &scales[leader[c->uses[i].counter]];
        if (c->uses[i].n < 0)
            u->fits = false;
        else
            u->unit = gcd(u->unit, c->uses[i].n);
    }
    for (uint32_t i = 0; i < c->use_at[t->s->seats[seat].pool->n]; i++) {
        struct scale *u = &scales[leader[c->uses[i].counter]];
        u->fits &= u->unit == 0 || c->uses[i].n / u->unit <= SMALL;
    }
    for (uint32_t i = 0; i < c->n; i++)
        scales[i] = scales[leader[i]];
}

static int64_t units(const struct scale *u, amount n)
{
    if (u->unit == 0)
        return n < 0 ? -1 : PLENTY;
    if (n < 0)
        return -1;
    amount v = n / u->unit;
    return v > PLENTY ? PLENTY : (int64_t)v;
}

static void set_left(struct builder *t, uint32_t seat, const uint32_t *leader)
{
    const struct counters *c = counters_at(t->s, seat);
    const amount *left = seat_left(t->s, seat);
    int64_t *out = t->b->left;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t at = t->base[seat] + i;
        bool counts = t->scales[at].fits;
        out[at] = counts ? units(&t->scales[at], left[i]) : PLENTY;
        int64_t positive = out[at] > 0 ? out[at] : 0;
        uint32_t sum = t->base[seat] + c->n + leader[i];
        t->name_of[at] = counts && positive < PLENTY ? sum : NONE;
        out[sum] += positive;
        t->weights[at] = counts && positive && positive < PLENTY ? WEIGHT / positive : 0;
        out[t->total_of[seat]] += t->weights[at] * positive;
    }
}

/* ---- What each device draws ---- */

static void add_take(struct builder *t, uint32_t *n, uint32_t from, uint32_t bound,
                     int64_t units_drawn)
{
    struct bound_take *v = t->b->takes;
    for (uint32_t i = from; i < *n; i++)
        if (v[i].bound == bound) {
            v[i].n += units_drawn;
            return;
        }
    v[(*n)++] = (struct bound_take){bound, units_drawn};
}

static void add_takes(struct builder *t, uint32_t seat, uint32_t device, uint32_t *n)
{
    const struct counters *c = counters_at(t->s, seat);
    uint32_t i = local(&t->s->seats[seat], device), from = *n;
    for (uint32_t j = c->use_at[i]; j < c->use_at[i + 1]; j++) {
        uint32_t at = t->base[seat] + c->uses[j].counter;
        if (!t->scales[at].fits || c->uses[j].n == 0)
            continue;
        int64_t drawn = (int64_t)(c->uses[j].n / t->scales[at].unit);
        add_take(t, n, from, at, drawn);
        if (t->name_of[at] != NONE)
            add_take(t, n, from, t->name_of[at], drawn);
        if (t->weights[at])
            add_take(t, n, from, t->total_of[seat], drawn * t->weights[at]);
    }
}

static bool draws(const struct solver *s, uint32_t device)
{
    return bit_test(s->consumes, device) && !(s->any_multi && bit_test(s->multi, device));
}

static uint32_t count_takes(const struct solver *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nseats; i++)
        if (counters_at(s, i))
            n += 3 * counters_at(s, i)->use_at[s->seats[i].pool->n];
    return n;
}

static void fill_takes(struct builder *t)
{
    const struct solver *s = t->s;
    uint32_t n = 0;
    t->b->takes = ARENA_ARRAY(&s->prover->mem, struct bound_take, count_takes(s));
    t->b->at = ARENA_ARRAY(&s->prover->mem, uint32_t, (size_t)s->words * 64 + 1);
    for (uint32_t d = 0; d < s->words * 64; d++) {
        uint32_t seat = s->seat_of.v[d / 64];
        if (local(&s->seats[seat], d) < s->seats[seat].pool->n && draws(s, d) &&
            counters_at(s, seat))
            add_takes(t, seat, d, &n);
        t->b->at[d + 1] = n;
    }
}

/* ---- The least that k devices draw ---- */

static bool counts_for(const struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    return !pa->admin && pa->request < s->horizon;
}

/* Requests of one profile draw from one list: what all of them want is looked up in the
 * table of the first. */
static uint32_t leader_of(const struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    if (pa->all || s->plan->requests[pa->request].nalts > 1)
        return alt;
    for (uint32_t i = 0; i < alt; i++) {
        const struct plan_alt *other = &s->plan->alts[i];
        if (other->profile == pa->profile && !other->all && !other->admin &&
            s->plan->requests[other->request].nalts == 1)
            return i;
    }
    return alt;
}

static void count_wanted(struct builder *t)
{
    struct solver *s = t->s;
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        if (counts_for(s, alt))
            t->b->tables[leader_of(s, alt)].most += s->alts.v[alt].count;
}

static uint32_t list_candidates(const struct solver *s, uint32_t alt, uint32_t *out)
{
    const struct alt_state *a = &s->alts.v[alt];
    uint32_t n = 0;
    for (uint32_t word = a->low; word < s->words; word++)
        for (uint64_t w = a->ok[word] & ~s->prover->taken[word]; w; w &= w - 1)
            out[n++] = word * 64 + (uint32_t)__builtin_ctzll(w);
    return n;
}

/* Bounds of which a table has something else than zero. */
static void find_active(struct builder *t, uint32_t alt, uint8_t *active)
{
    const struct bounds *b = t->b;
    uint32_t *drawers = ARENA_ARRAY(&t->tmp, uint32_t, b->n);
    uint32_t n = list_candidates(t->s, alt, t->devices);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = b->at[t->devices[k]]; i < b->at[t->devices[k] + 1]; i++)
            drawers[b->takes[i].bound]++;
    for (uint32_t j = 0; j < b->n; j++)
        active[j] |= n - drawers[j] < b->tables[alt].most && drawers[j];
}

static int64_t drawn_by(const struct bounds *b, uint32_t device, uint32_t bound)
{
    for (uint32_t i = b->at[device]; i < b->at[device + 1]; i++)
        if (b->takes[i].bound == bound)
            return b->takes[i].n;
    return 0;
}

static void keep_smallest(int64_t *v, uint32_t *n, uint32_t most, int64_t x)
{
    uint32_t i = *n;
    if (*n == most && (most == 0 || v[most - 1] <= x))
        return;
    if (*n < most)
        ++*n;
    else
        i--;
    for (; i > 0 && v[i - 1] > x; i--)
        v[i] = v[i - 1];
    v[i] = x;
}

/* No k devices are to be had: more than anything is left. */
#define NEVER ((int64_t)1 << 60)

/* Shares draw nothing that is looked at here, and any number of requests may have one. */
static bool has_shares(const struct solver *s, uint32_t alt)
{
    for (uint32_t w = 0; s->any_multi && w < s->words; w++)
        if (s->alts.v[alt].ok[w] & s->multi[w] & ~s->taken[w])
            return true;
    return false;
}

/* Draws of the candidates, a row for each active bound. */
static int64_t *draw_rows(struct builder *t, uint32_t n)
{
    const struct bounds *b = t->b;
    int64_t *rows = ARENA_ARRAY(&t->tmp, int64_t, (size_t)b->nactive * n);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = b->at[t->devices[k]]; i < b->at[t->devices[k] + 1]; i++) {
            uint32_t row = t->row_of[b->takes[i].bound];
            if (row != NONE)
                rows[(size_t)row * n + k] = b->takes[i].n;
        }
    return rows;
}

static void fill_table(struct builder *t, uint32_t alt)
{
    struct bounds *b = t->b;
    struct bound_table *table = &b->tables[alt];
    table->least =
        ARENA_ARRAY(&t->s->prover->mem, int64_t, (size_t)b->nactive * (table->most + 1));
    if (has_shares(t->s, alt))
        return;
    uint32_t n = list_candidates(t->s, alt, t->devices);
    const int64_t *rows = draw_rows(t, n);
    int64_t *smallest = ARENA_ARRAY(&t->tmp, int64_t, table->most + 1);
    for (uint32_t j = 0; j < b->nactive; j++) {
        int64_t *least = table->least + (size_t)j * (table->most + 1);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++)
            keep_smallest(smallest, &kept, table->most, rows[(size_t)j * n + i]);
        for (uint32_t k = 1; k <= table->most; k++)
            least[k] = k <= kept ? least[k - 1] + smallest[k - 1] : NEVER;
    }
}

/* ---- Of devices at or after a position ---- */

static void fill_later(struct solver *s, uint32_t alt, struct arena *tmp)
{
    struct bounds *b = s->prover->bounds;
    struct bound_table *table = &b->tables[alt];
    const struct alt_state *a = &s->alts.v[alt];
    uint32_t most = a->count, nbits = s->words * 64;
    size_t size = (size_t)(nbits + 1) * b->nactive * (most + 1);
    int64_t *smallest = ARENA_ARRAY(tmp, int64_t, most + 1);
    table->later = ARENA_ARRAY(&s->prover->mem, int64_t, size);
    for (uint32_t j = 0; j < b->nactive; j++) {
        uint32_t n = 0;
        for (uint32_t d = nbits + 1; d-- > 0;) {
            if (d < nbits && bit_test(a->ok, d) && !bit_test(s->prover->taken, d))
                keep_smallest(smallest, &n, most, drawn_by(b, d, b->active[j]));
            int64_t *out = table->later + ((size_t)d * b->nactive + j) * (most + 1);
            for (uint32_t k = 1; k <= most; k++)
                out[k] = k <= n ? out[k - 1] + smallest[k - 1] : NEVER;
        }
    }
}

void bounds_deepen(struct solver *s)
{
    struct arena tmp;
    if (!s->prover->bounds)
        return;
    arena_init(&tmp);
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++) {
        uint32_t count = s->alts.v[alt].count;
        uint64_t size =
            (uint64_t)(s->words * 64) * s->prover->bounds->nactive * (count + 1);
        if (counts_for(s, alt) && !s->plan->alts[alt].all && count > 1 &&
            size <= TABLE_ROOM && !has_shares(s, alt))
            fill_later(s, alt, &tmp);
    }
    arena_fini(&tmp);
}

/* ---- What the rest draws ---- */

static int64_t least_of_request(const struct builder *t, uint32_t request, uint32_t j)
{
    const struct plan_request *r = &t->s->plan->requests[request];
    int64_t least = INT64_MAX;
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++) {
        const struct bound_table *table = &t->b->tables[alt];
        int64_t v =
            !counts_for(t->s, alt)
                ? 0
                : table->least[(size_t)j * (table->most + 1) + t->s->alts.v[alt].count];
        least = v < least ? v : least;
    }
    return least;
}

static void fill_rest(struct builder *t)
{
    const struct alloc_plan *p = t->s->plan;
    struct bounds *b = t->b;
    uint32_t *wanted = ARENA_ARRAY(&t->tmp, uint32_t, p->nalts);
    int64_t *other = ARENA_ARRAY(&t->tmp, int64_t, b->nactive);
    b->rest =
        ARENA_ARRAY(&t->s->prover->mem, int64_t, (size_t)(p->nrequests + 1) * b->nactive);
    for (uint32_t r = p->nrequests; r-- > 0;) {
        const struct plan_request *request = &p->requests[r];
        bool alone = request->nalts > 1 || p->alts[request->alt].all;
        if (!alone && counts_for(t->s, request->alt))
            wanted[leader_of(t->s, request->alt)] += t->s->alts.v[request->alt].count;
        for (uint32_t j = 0; j < b->nactive; j++) {
            int64_t *sum = &b->rest[(size_t)r * b->nactive + j];
            if (alone && r < t->s->horizon)
                other[j] += least_of_request(t, r, j);
            *sum = other[j];
            for (uint32_t alt = 0; alt < p->nalts; alt++)
                if (wanted[alt])
                    *sum +=
                        b->tables[alt]
                            .least[(size_t)j * (b->tables[alt].most + 1) + wanted[alt]];
        }
    }
}

/* ---- All of it ---- */

static bool number_bounds(struct builder *t)
{
    const struct solver *s = t->s;
    t->base = ARENA_ARRAY(&t->tmp, uint32_t, s->nseats);
    t->total_of = ARENA_ARRAY(&t->tmp, uint32_t, s->nseats);
    for (uint32_t i = 0; i < s->nseats; i++) {
        const struct counters *c = counters_at(s, i);
        t->base[i] = t->b->n;
        if (c) { /* the counters, sums by name, the total */
            t->b->n += 2 * c->n + 1;
            t->total_of[i] = t->b->n - 1;
        }
    }
    t->b->left = ARENA_ARRAY(&s->prover->mem, int64_t, t->b->n);
    t->scales = ARENA_ARRAY(&t->tmp, struct scale, t->b->n);
    t->weights = ARENA_ARRAY(&t->tmp, int64_t, t->b->n);
    t->name_of = ARENA_ARRAY(&t->tmp, uint32_t, t->b->n);
    return t->b->n > 0;
}

static void scale_seat(struct builder *t, uint32_t seat)
{
    const struct counters *c = counters_at(t->s, seat);
    uint32_t *leader = ARENA_ARRAY(&t->tmp, uint32_t, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        leader[i] = same_name(c, i);
    find_units(t, seat, leader);
    set_left(t, seat, leader);
}

static void fill_tables(struct builder *t)
{
    const struct solver *s = t->s;
    struct bounds *b = t->b;
    uint8_t *active = ARENA_ARRAY(&t->tmp, uint8_t, b->n);
    t->devices = ARENA_ARRAY(&t->tmp, uint32_t, (size_t)s->words * 64);
    b->tables = ARENA_ARRAY(&s->prover->mem, struct bound_table, s->plan->nalts);
    b->active = ARENA_ARRAY(&s->prover->mem, uint32_t, b->n);
    count_wanted(t);
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        if (b->tables[alt].most)
            find_active(t, alt, active);
    t->row_of = ARENA_ARRAY(&t->tmp, uint32_t, b->n);
    for (uint32_t j = 0; j < b->n; j++) {
        t->row_of[j] = active[j] ? b->nactive : NONE;
        if (active[j])
            b->active[b->nactive++] = j;
    }
    for (uint32_t alt = 0; alt < s->plan->nalts; alt++)
        if (leader_of(s, alt) == alt)
            fill_table(t, alt);
}

void bounds_build(struct solver *s)
{
    struct builder t = {.s = s, .b = ARENA_NEW(&s->prover->mem, struct bounds)};
    s->prover->bounds = NULL;
    if (!s->any_consumes)
        return;
    arena_init(&t.tmp);
    if (number_bounds(&t)) {
        for (uint32_t i = 0; i < s->nseats; i++)
            if (counters_at(s, i))
                scale_seat(&t, i);
        fill_takes(&t);
        fill_tables(&t);
        fill_rest(&t);
        if (t.b->nactive)
            s->prover->bounds = t.b;
    }
    arena_fini(&t.tmp);
}

void bounds_take(struct bounds *b, uint32_t device)
{
    for (uint32_t i = b->at[device]; i < b->at[device + 1]; i++)
        b->left[b->takes[i].bound] -= b->takes[i].n;
}

void bounds_undo(struct bounds *b, uint32_t device)
{
    for (uint32_t i = b->at[device]; i < b->at[device + 1]; i++)
        b->left[b->takes[i].bound] += b->takes[i].n;
}

/* ---- The proof ---- */

static const int64_t *current_draws(const struct solver *s, const struct standing *t,
                                    uint32_t *stride)
{
    const struct bounds *b = s->prover->bounds;
    uint32_t want = s->alts.v[t->alt].count - t->k;
    if (!counts_for(s, t->alt))
        return NULL;
    const struct bound_table *table = &b->tables[t->alt];
    if (table->later) {
        *stride = s->alts.v[t->alt].count + 1;
        return table->later + (size_t)t->start * b->nactive * *stride + want;
    }
    table = &b->tables[leader_of(s, t->alt)];
    *stride = table->most + 1;
    return table->least + want;
}

bool bounds_refuse(struct solver *s, const struct standing *t)
{
    const struct bounds *b = s->prover->bounds;
    uint32_t stride = 0, next = t->alt == NONE ? 0 : standing_request(s, t) + 1;
    const int64_t *now = t->alt == NONE ? NULL : current_draws(s, t, &stride);
    const int64_t *rest = b->rest + (size_t)next * b->nactive;
    for (uint32_t j = 0; j < b->nactive; j++)
        if ((now ? now[(size_t)j * stride] : 0) + rest[j] > b->left[b->active[j]])
            return true;
    return false;
}
