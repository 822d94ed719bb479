/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies beyond first-fit. best-fit: what is whole (a GPU that can be partitioned, the
 * devices on one PCIe root or NUMA node, a host) stays whole as long as there is room in
 * what is in pieces already; then the least is left over. spread: the load is even.
 *
 * A policy is an order of solutions; those that it compares are the first ones, in the
 * search's own order, within parts of the host: a block, or several of them together.
 */
#include "alloc/policy.h"

#include <stdlib.h>

#include "alloc/result.h"
#include "alloc/units.h"

enum { PART_STEPS = 2000, PARTS_MAX = 128, PARTS_OF_ONE = 16 };

struct cost { /* less is better, in this order */
    uint64_t broken, touched, closed, left;
};

struct choice {
    struct solver *s;
    const struct alloc_plan *plan;
    struct host *host;
    struct alloc_options options;
    struct arena *out;
    struct alloc_outcome *outcome;
    struct arena a;
    struct units units;
    uint64_t *part; /* devices that may be picked */
    uint32_t tried;
    struct cost best;
};

/* ---- what a solution costs ---- */

static void add_block(struct cost *c, const struct block *b)
{
    if (b->after == b->left)
        return;
    c->touched += b->left == b->size;
    c->broken += b->left == b->size && b->after > 0;
    c->left += b->after;
}

static struct cost cost_of_waste(const struct units *u)
{
    struct cost c = {0};
    for (uint32_t i = 0; i < u->n; i++)
        c.closed += u->v[i].open - u->v[i].still_open;
    for (uint32_t i = 0; i < u->ngroupings; i++)
        for (uint32_t k = 0; k < u->groupings[i].n; k++)
            add_block(&c, &u->groupings[i].blocks[k]);
    return c;
}

/* The sum of squares is least where blocks are equally full. */
static struct cost cost_of_load(const struct units *u)
{
    struct cost c = {0};
    for (uint32_t i = 0; i < u->ngroupings; i++)
        for (uint32_t k = 0; k < u->groupings[i].n; k++) {
            const struct block *b = &u->groupings[i].blocks[k];
            uint64_t full = (uint64_t)(b->size - b->after) * UNIT_WHOLE / b->size;
            c.left += full * full;
        }
    return c;
}

static struct cost weigh(struct choice *c)
{
    units_weigh(c->s, &c->units);
    return c->options.policy == ALLOC_SPREAD ? cost_of_load(&c->units)
                                             : cost_of_waste(&c->units);
}

static bool is_less(const struct cost *a, const struct cost *b)
{
    if (a->broken != b->broken)
        return a->broken < b->broken;
    if (a->touched != b->touched)
        return a->touched < b->touched;
    if (a->closed != b->closed)
        return a->closed < b->closed;
    return a->left < b->left;
}

static void note_fit(struct choice *c)
{
    const struct grouping *host = &c->units.groupings[c->units.ngroupings - 1];
    c->outcome->fit = (struct alloc_fit){
        .broken = (uint32_t)c->best.broken,
        .closed = (uint32_t)c->best.closed,
        .left = host->n ? host->blocks[0].after : 0,
        .size = host->n ? host->blocks[0].size : 0,
    };
}

/* ---- parts ---- */

/* The question, of the part alone; nothing is proved or remembered. */
static bool solve_part(struct choice *c)
{
    struct solver *s = c->s;
    s->out = c->out;
    if (!solver_begin(s, c->plan, c->host, &c->options, c->out))
        return false;
    for (uint32_t w = 0; w < s->words; w++)
        s->taken[w] |= ~c->part[w];
    s->partial = true;
    enum verdict v = solver_search(s);
    s->partial = false;
    return v == FOUND;
}

static void try_part(struct choice *c)
{
    struct alloc_outcome found = {0};
    if (c->tried++ >= PARTS_MAX || !solve_part(c))
        return;
    struct cost cost = weigh(c);
    if (!is_less(&cost, &c->best) || !result_build(c->s, &found))
        return;
    c->best = cost;
    c->outcome->results = found.results;
    note_fit(c);
}

static void clear_part(struct choice *c)
{
    memset(c->part, 0, c->s->words * sizeof *c->part);
}

static void add_to_part(struct choice *c, const struct grouping *g, uint32_t block)
{
    const struct units *u = &c->units;
    for (uint32_t d = 0; d < c->s->words * 64; d++)
        if (u->of[d] != NONE && g->of[u->of[d]] == block)
            bit_set(c->part, d);
}

/* ---- best-fit: the fullest blocks, one by one and together ---- */

struct ranked {
    uint32_t block, left;
};

static int by_left(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

static uint32_t rank(struct choice *c, const struct grouping *g, struct ranked **v)
{
    uint32_t n = 0;
    *v = ARENA_ARRAY(&c->a, struct ranked, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->blocks[i].left)
            (*v)[n++] = (struct ranked){i, g->blocks[i].left};
    if (n > 1)
        qsort(*v, n, sizeof **v, by_left);
    return n;
}

static void try_blocks(struct choice *c, const struct grouping *g)
{
    struct ranked *v;
    uint32_t n = rank(c, g, &v);
    uint32_t few = n < PARTS_OF_ONE ? n : PARTS_OF_ONE;
    for (uint32_t i = 0; i < few; i++) {
        clear_part(c);
        add_to_part(c, g, v[i].block);
        try_part(c);
    }
    clear_part(c);
    for (uint32_t i = 0; i < few; i++) {
        add_to_part(c, g, v[i].block);
        if (i)
            try_part(c);
    }
}

/* Of one GPU in pieces: each of its partitions, since the first that is free may not be
 * the one that shuts out the fewest others. */
static void try_pieces(struct choice *c, uint32_t unit)
{
    for (uint32_t d = c->units.v[unit].device; d < c->s->words * 64; d++) {
        if (c->units.of[d] != unit)
            continue;
        clear_part(c);
        bit_set(c->part, d);
        try_part(c);
    }
}

static bool wants_one(const struct alloc_plan *p)
{
    return p->nclaims == 1 && p->nrequests == 1 && p->nalts == 1 && p->alts[0].count == 1;
}

static void try_all_pieces(struct choice *c)
{
    const struct units *u = &c->units;
    for (uint32_t i = 0; i < u->n; i++)
        if (u->v[i].set != NONE && u->v[i].left && u->v[i].left < UNIT_WHOLE)
            try_pieces(c, i);
}

/* ---- spread: of each block what lies below a level ---- */

/* Units of a block are counted from those that are used up; so the emptiest blocks are
 * the first to have a part in it. false: none has. */
static bool mark_layer(struct choice *c, const struct grouping *g, uint32_t level,
                       bool *in)
{
    const struct units *u = &c->units;
    uint32_t *filled = ARENA_ARRAY(&c->a, uint32_t, g->n);
    bool any = false;
    for (uint32_t i = 0; i < g->n; i++)
        filled[i] = (g->blocks[i].size - g->blocks[i].left) / UNIT_WHOLE;
    for (uint32_t i = 0; i < u->n; i++) {
        uint32_t block = g->of[i];
        in[i] = block != NONE && u->v[i].left && filled[block]++ <= level;
        any |= in[i];
    }
    return any;
}

static void add_units(struct choice *c, const bool *in)
{
    const struct units *u = &c->units;
    for (uint32_t d = 0; d < c->s->words * 64; d++)
        if (u->of[d] != NONE && in[u->of[d]])
            bit_set(c->part, d);
}

static void try_layers(struct choice *c, const struct grouping *g)
{
    bool *in = ARENA_ARRAY(&c->a, bool, c->units.n);
    for (uint32_t level = 0; level < PARTS_OF_ONE; level++) {
        clear_part(c);
        if (!mark_layer(c, g, level, in))
            continue;
        add_units(c, in);
        try_part(c);
    }
}

/* ---- the choice ---- */

/* Requests for all devices leave no choice. */
static bool has_choice(const struct alloc_plan *p)
{
    for (uint32_t i = 0; i < p->nalts; i++)
        if (p->alts[i].all)
            return false;
    return p->nalts > 0;
}

/* first-fit's own solution is in the solver still: it is what others are held against. */
static void weigh_first(struct choice *c, const struct pick *picks, uint32_t n)
{
    solver_begin(c->s, c->plan, c->host, &c->options, c->out);
    units_read(c->s, &c->units, &c->a);
    uint32_t which;
    for (uint32_t i = 0; i < n; i++)
        state_take(c->s, picks[i].alt, picks[i].device, &which);
    c->best = weigh(c);
    note_fit(c);
}

static void look_around(struct choice *c)
{
    c->part = ARENA_ARRAY(&c->a, uint64_t, c->s->words);
    for (uint32_t i = 0; i < c->units.ngroupings; i++) {
        const struct grouping *g = &c->units.groupings[i];
        if (c->options.policy == ALLOC_SPREAD)
            try_layers(c, g);
        else if (g->n > 1)
            try_blocks(c, g);
    }
    if (c->options.policy == ALLOC_BEST_FIT && wants_one(c->plan))
        try_all_pieces(c);
}

void policy_improve(struct solver *s, const struct alloc_plan *p, struct host *h,
                    const struct alloc_options *options, struct arena *a,
                    struct alloc_outcome *out)
{
    struct choice c = {
        .s = s, .plan = p, .host = h, .options = *options, .out = a, .outcome = out};
    uint32_t n = (uint32_t)s->picks.n;
    uint64_t steps = s->steps;
    c.options.max_steps = PART_STEPS;
    arena_init(&c.a);
    struct pick *picks = ARENA_ARRAY(&c.a, struct pick, n);
    if (n)
        memcpy(picks, s->picks.v, n * sizeof *picks);
    weigh_first(&c, picks, n);
    if (has_choice(p))
        look_around(&c);
    s->steps = steps;
    s->status = ALLOC_OK;
    s->error = STR_NONE;
    arena_fini(&c.a);
}

/* ---- names ---- */

static const char *const NAMES[ALLOC_POLICIES] = {[ALLOC_FIRST_FIT] = "first-fit",
                                                  [ALLOC_BEST_FIT] = "best-fit",
                                                  [ALLOC_SPREAD] = "spread"};

const char *alloc_policy_name(enum alloc_policy p)
{
    return NAMES[p];
}

bool alloc_policy_find(struct str name, enum alloc_policy *out)
{
    for (int i = 0; i < ALLOC_POLICIES; i++)
        if (str_is(name, NAMES[i])) {
            *out = (enum alloc_policy)i;
            return true;
        }
    return false;
}
