/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/units.h"

#include <string.h>

/* Attributes that tell which devices are near each other, whoever made them; beside those
 * that the claims' own constraints name. */
static const struct str NEARNESS[] = {STR_INIT("resource.kubernetes.io/pcieRoot"),
                                      STR_INIT("resource.kubernetes.io/numaNode")};
enum { NEARNESSES = sizeof NEARNESS / sizeof *NEARNESS, GROUPINGS_MAX = 8 };

/* ---- units ---- */

static const struct counters *counters_at(const struct solver *s, uint32_t seat)
{
    return s->seats[seat].view->counters;
}

/* The first counter set that the device draws on, or NONE. */
static uint32_t set_of(const struct solver *s, uint32_t seat, uint32_t device)
{
    const struct counters *c = counters_at(s, seat);
    if (!c || c->set_at[device] == c->set_at[device + 1])
        return NONE;
    return c->set_uses[c->set_at[device]].set;
}

/* sets: unit of each set of the seat, or NONE. */
static uint32_t unit_of(struct solver *s, struct units *u, uint32_t seat, uint32_t device,
                        uint32_t *sets)
{
    uint32_t set = set_of(s, seat, local(&s->seats[seat], device));
    if (set != NONE && sets[set] != NONE)
        return sets[set];
    u->v[u->n] = (struct unit){.seat = seat, .set = set, .device = device};
    if (set != NONE)
        sets[set] = u->n;
    return u->n++;
}

static void add_seat(struct solver *s, struct units *u, uint32_t seat, struct arena *a)
{
    const struct seat *x = &s->seats[seat];
    const struct counters *c = x->view->counters;
    uint32_t *sets = ARENA_ARRAY(a, uint32_t, c ? c->nsets : 0);
    if (c)
        memset(sets, 0xff, c->nsets * sizeof *sets);
    for (uint32_t i = 0; i < x->pool->n; i++) {
        uint32_t device = x->base * 64 + i;
        if (bit_test(x->view->alive, i))
            u->of[device] = unit_of(s, u, seat, device, sets);
    }
}

/* ---- what is left ---- */

/* A unit is as full as its scarcest counter. */
static uint32_t share_left(const struct counters *c, uint32_t set, const amount *left)
{
    uint32_t end = set + 1 < c->nsets ? c->set_first[set + 1] : c->n;
    uint32_t least = UNIT_WHOLE;
    for (uint32_t i = c->set_first[set]; i < end; i++) {
        amount total = c->total[i];
        if (total <= 0 || total > AMOUNT_MAX / UNIT_WHOLE)
            continue;
        amount share = left[i] > 0 ? left[i] * UNIT_WHOLE / total : 0;
        least = share < least ? (uint32_t)share : least;
    }
    return least;
}

static bool has_room(const struct counters *c, uint32_t device, const amount *left)
{
    for (uint32_t i = c->use_at[device]; i < c->use_at[device + 1]; i++)
        if (left[c->uses[i].counter] < c->uses[i].n)
            return false;
    return true;
}

static void count_open(struct solver *s, struct units *u)
{
    for (uint32_t i = 0; i < u->n; i++)
        u->v[i].still_open = 0;
    for (uint32_t d = 0; d < s->words * 64; d++) {
        struct unit *x = u->of[d] == NONE ? NULL : &u->v[u->of[d]];
        if (x && x->set != NONE && !bit_test(u->used, d))
            x->still_open +=
                has_room(counters_at(s, x->seat), local(&s->seats[x->seat], d),
                         seat_left(s, x->seat));
    }
}

/* A device that may be shared and is, counts as half. */
static uint32_t device_left(const struct solver *s, const struct units *u,
                            const struct unit *x)
{
    const struct seat *seat = &s->seats[x->seat];
    if (bit_test(u->used, x->device))
        return 0;
    return bit_test(seat->pool->shared, local(seat, x->device)) ? UNIT_WHOLE / 2
                                                                : UNIT_WHOLE;
}

static void weigh_units(struct solver *s, struct units *u)
{
    for (uint32_t i = 0; i < u->n; i++) {
        struct unit *x = &u->v[i];
        if (x->set == NONE)
            x->after = device_left(s, u, x);
        else
            x->after = share_left(counters_at(s, x->seat), x->set, seat_left(s, x->seat));
    }
    for (size_t i = 0; i < s->picks.n; i++) {
        uint32_t device = s->picks.v[i].device;
        uint32_t at = u->of[device];
        if (at == NONE || u->v[at].set != NONE || s->plan->alts[s->picks.v[i].alt].admin)
            continue;
        bool shares = s->any_multi && bit_test(s->multi, device);
        u->v[at].after = shares && u->v[at].after ? UNIT_WHOLE / 2 : 0;
    }
}

static void weigh_blocks(const struct units *u, struct grouping *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        g->blocks[i].after = 0;
    for (uint32_t i = 0; i < u->n; i++)
        if (g->of[i] != NONE)
            g->blocks[g->of[i]].after += u->v[i].after;
}

void units_weigh(struct solver *s, struct units *u)
{
    weigh_units(s, u);
    if (u->pieces)
        count_open(s, u);
    for (uint32_t i = 0; i < u->ngroupings; i++)
        weigh_blocks(u, &u->groupings[i]);
}

/* ---- groupings ---- */

static uint32_t value_at(struct solver *s, const struct unit *x, uint32_t attribute)
{
    const struct seat *seat = &s->seats[x->seat];
    const struct value_column *c = pool_values(s->plan->inv, seat->pool, attribute);
    const struct value_set *v = &c->of[local(seat, x->device)];
    return v->state == VALUE_SET ? v->ids[0] : NONE; /* of a list: the first */
}

static uint32_t block_of(struct grouping *g, uint32_t *values, uint32_t value)
{
    uint32_t i = 0;
    while (i < g->n && values[i] != value)
        i++;
    values[i] = value;
    g->n += i == g->n;
    return i;
}

static void put(struct units *u, struct grouping *g)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (g->of[i] != NONE)
            g->blocks[g->of[i]].size += UNIT_WHOLE;
    u->groupings[u->ngroupings++] = *g;
}

static struct grouping new_grouping(const struct units *u, struct arena *a)
{
    return (struct grouping){.of = ARENA_ARRAY(a, uint32_t, u->n),
                             .blocks = ARENA_ARRAY(a, struct block, u->n)};
}

/* Groups of one, and one group of all, tell nothing that units and host do not. */
static void group_by(struct solver *s, struct units *u, struct str name, struct arena *a)
{
    struct grouping g = new_grouping(u, a);
    uint32_t *values = ARENA_ARRAY(a, uint32_t, u->n);
    uint32_t attribute = attribute_id(s->plan->inv, name), with = 0;
    for (uint32_t i = 0; i < u->n; i++) {
        uint32_t value = value_at(s, &u->v[i], attribute);
        g.of[i] = value == NONE ? NONE : block_of(&g, values, value);
        with += value != NONE;
    }
    if (g.n > 1 && g.n < with && u->ngroupings < GROUPINGS_MAX - 2)
        put(u, &g);
}

static void group_pieces(struct units *u, struct arena *a)
{
    struct grouping g = new_grouping(u, a);
    for (uint32_t i = 0; i < u->n; i++)
        g.of[i] = u->v[i].set == NONE ? NONE : g.n++;
    u->pieces = g.n > 0;
    if (u->pieces)
        put(u, &g);
}

static void group_host(struct units *u, struct arena *a)
{
    struct grouping g = new_grouping(u, a);
    g.n = u->n > 0;
    put(u, &g);
}

static bool is_nearness(struct str name)
{
    for (uint32_t i = 0; i < NEARNESSES; i++)
        if (str_eq(NEARNESS[i], name))
            return true;
    return false;
}

static void group_by_constraints(struct solver *s, struct units *u, struct arena *a)
{
    const struct alloc_plan *p = s->plan;
    for (uint32_t i = 0; i < p->nclaims; i++)
        for (uint32_t k = 0; k < p->claims[i].v->nconstraints; k++) {
            struct str name = p->claims[i].v->constraints[k].match;
            if (name.n && !is_nearness(name))
                group_by(s, u, name, a);
        }
}

/* ---- all of it ---- */

void units_read(struct solver *s, struct units *u, struct arena *a)
{
    uint32_t devices = s->words * 64;
    *u = (struct units){.v = ARENA_ARRAY(a, struct unit, devices),
                        .of = ARENA_ARRAY(a, uint32_t, devices),
                        .used = ARENA_ARRAY(a, uint64_t, s->words),
                        .groupings = ARENA_ARRAY(a, struct grouping, GROUPINGS_MAX)};
    memset(u->of, 0xff, devices * sizeof *u->of);
    memcpy(u->used, s->taken, s->words * sizeof *u->used);
    for (uint32_t i = 0; i < s->nseats; i++)
        if (s->seats[i].view->state == POOL_USABLE)
            add_seat(s, u, i, a);
    group_pieces(u, a);
    for (uint32_t i = 0; i < NEARNESSES; i++)
        group_by(s, u, NEARNESS[i], a);
    group_by_constraints(s, u, a);
    group_host(u, a);
    units_weigh(s, u);
    for (uint32_t i = 0; i < u->n; i++) {
        u->v[i].left = u->v[i].after;
        u->v[i].open = u->v[i].still_open;
    }
    for (uint32_t i = 0; i < u->ngroupings; i++)
        for (uint32_t k = 0; k < u->groupings[i].n; k++)
            u->groupings[i].blocks[k].left = u->groupings[i].blocks[k].after;
}
