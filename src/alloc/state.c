/* SPDX-License-Identifier: Apache-2.0 */
/* One pick: everything that is checked and changed by it (spec 3.6 - 3.10). */
#include "alloc/capacity.h"
#include "alloc/prover.h"

/* ---- The trail ---- */

static inline void save(struct solver *s, void *where, uint32_t size)
{
    vec_reserve(&s->trail, s->trail.n + 1);
    struct trail_entry *e = &s->trail.v[s->trail.n++];
    e->where = where;
    e->size = size;
    memcpy(e->old, where, size);
}

#define SAVE(s, what)                                                                    \
    do {                                                                                 \
        _Static_assert(sizeof(what) <= TRAIL_BYTES, "fits a trail entry");               \
        save((s), &(what), sizeof(what));                                                \
    } while (0)

static void unwind(struct solver *s, uint32_t trail, uint32_t ids)
{
    while (s->trail.n > trail) {
        struct trail_entry *e = &vec_pop(&s->trail);
        memcpy(e->where, e->old, e->size);
    }
    s->ids.n = ids;
}

void state_undo(struct solver *s)
{
    struct pick p = vec_pop(&s->picks);
    unwind(s, p.trail, p.ids);
    if (s->hard && s->prover->bounds && !s->plan->alts[p.alt].admin)
        bounds_undo(s->prover->bounds, p.device);
}

/* ---- Seats ---- */

static struct seat_state *seat_state(struct solver *s, uint32_t seat)
{
    struct seat_state *t = &s->seat_states.v[seat];
    struct counters *c = s->seats[seat].view->counters;
    if (t->left || !c)
        return t;
    counters_refresh(s->seats[seat].pool, c);
    t->left = ARENA_ARRAY(&s->scratch, amount, c->n);
    t->groups = ARENA_ARRAY(&s->scratch, struct group_state, c->nsets);
    memcpy(t->left, c->left, c->n * sizeof *t->left);
    memcpy(t->groups, c->groups, c->nsets * sizeof *t->groups);
    return t;
}

amount *seat_left(struct solver *s, uint32_t seat)
{
    return seat_state(s, seat)->left;
}

/* ---- Counters and groups ---- */

static bool take_groups(struct solver *s, uint32_t seat, uint32_t device)
{
    const struct counters *c = s->seats[seat].view->counters;
    struct group_state *groups = seat_state(s, seat)->groups;
    for (uint32_t i = c->set_at[device]; i < c->set_at[device + 1]; i++) {
        struct group_state *g = &groups[c->set_uses[i].set];
        if (!groups_admit(g, c->set_uses[i].groups))
            return false;
        SAVE(s, *g);
        *g = groups_add(g, c->set_uses[i].groups);
    }
    return true;
}

/* Only the counters the device uses count (U6). */
static bool take_counters(struct solver *s, uint32_t seat, uint32_t device)
{
    const struct counters *c = s->seats[seat].view->counters;
    amount *left = seat_state(s, seat)->left;
    if (bit_test(c->odd, device))
        return false;
    for (uint32_t i = c->use_at[device]; i < c->use_at[device + 1]; i++) {
        const struct use *u = &c->uses[i];
        if (left[u->counter] < u->n)
            return false;
        SAVE(s, left[u->counter]);
        left[u->counter] -= u->n;
    }
    return true;
}

static enum take take_shared_parts(struct solver *s, uint32_t seat, uint32_t device)
{
    if (s->plan->inv->features.compatibility_groups && !take_groups(s, seat, device))
        return REFUSED_GROUPS;
    return take_counters(s, seat, device) ? TAKEN : REFUSED_COUNTERS;
}

/* ---- Capacity of devices that may be shared ---- */

/* The amounts that shares recorded so far take of each capacity. */
static amount *recorded(struct solver *s, const struct pool *p,
                        const struct view_device *d)
{
    uint32_t n = d->facts.shape->ncapacities;
    amount *used = ARENA_ARRAY(&s->scratch, amount, n);
    const struct held *h = held_find(p, d->name);
    for (uint32_t i = 0; h && i < n; i++)
        for (size_t j = 0; j < h->consumed.n; j++)
            if (str_eq(h->consumed.v[j].name, device_capacity_name(&d->facts, i)))
                used[i] = h->consumed.v[j].n;
    return used;
}

static struct share_state *share_state(struct solver *s, uint32_t seat, uint32_t device)
{
    const struct pool *p = s->seats[seat].pool;
    uint32_t i = local(&s->seats[seat], device);
    if (!s->shares)
        s->shares = ARENA_ARRAY(&s->scratch, struct share_state *, s->words * 64);
    if (!s->shares[device]) {
        struct share_state *t = ARENA_NEW(&s->scratch, struct share_state);
        t->used = recorded(s, p, p->devices[i].v);
        t->charged = bit_test(p->shared, i);
        s->shares[device] = t;
    }
    return s->shares[device];
}

const amount *share_used(struct solver *s, uint32_t device)
{
    return share_state(s, s->seat_of.v[device / 64], device)->used;
}

static const struct consumed *consumed_make(struct solver *s, struct pool *p,
                                            struct profile_column *col,
                                            const struct profile *profile, uint32_t i)
{
    const struct device_facts *f = &p->devices[i].v->facts;
    struct consumed *c = ARENA_NEW(&p->mem, struct consumed);
    uint32_t ncapacities = f->shape->ncapacities;
    struct view_amount *amounts = ARENA_ARRAY(&p->mem, struct view_amount, ncapacities);
    amount *n = ARENA_ARRAY(&p->mem, amount, ncapacities);
    capacity_amounts(&s->plan->inv->features, profile->capacity, profile->ncapacity, f,
                     amounts);
    for (uint32_t j = 0; j < ncapacities; j++)
        if (!amount_from(&amounts[j].value, &n[j]))
            n[j] = AMOUNT_MAX; /* never fits */
    *c = (struct consumed){amounts, n};
    if (!col->consumed)
        col->consumed = ARENA_ARRAY(&p->mem, const struct consumed *, p->n);
    return col->consumed[i] = c;
}

const struct consumed *consumed_of(struct solver *s, uint32_t alt, uint32_t device)
{
    const struct seat *seat = seat_at(s, device);
    const struct profile *profile = s->plan->alts[alt].profile;
    struct profile_column *col = pool_profile(s->plan->inv, seat->pool, profile);
    uint32_t i = local(seat, device);
    if (col->consumed && col->consumed[i])
        return col->consumed[i];
    return consumed_make(s, seat->pool, col, profile, i);
}

static bool take_capacity(struct solver *s, uint32_t alt, uint32_t device)
{
    uint32_t seat = s->seat_of.v[device / 64];
    const struct device_facts *f = &device_of(s, device)->facts;
    struct share_state *t = share_state(s, seat, device);
    const struct consumed *c = consumed_of(s, alt, device);
    for (uint32_t i = 0; i < f->shape->ncapacities; i++) {
        amount limit, sum = t->used[i];
        if (!amount_from(device_amount(f, i), &limit) || !amount_add(&sum, c->n[i]) ||
            sum > limit)
            return false;
        SAVE(s, t->used[i]);
        t->used[i] = sum;
    }
    return true;
}

/* ---- Constraints ---- */

/* What m and v have in common goes on top of ids. */
static uint32_t intersect(struct solver *s, const struct match_state *m,
                          const struct value_set *v)
{
    uint32_t i = 0, j = 0, n = 0;
    vec_reserve(&s->ids, s->ids.n + v->n);
    const uint32_t *have = s->ids.v + m->at;
    uint32_t *out = s->ids.v + s->ids.n;
    while (i < m->n && j < v->n) {
        uint32_t a = have[i], b = v->ids[j];
        if (a == b)
            out[n++] = a;
        i += a <= b;
        j += b <= a;
    }
    return n;
}

static bool narrow(struct solver *s, struct match_state *m, const struct value_set *v)
{
    uint32_t n = intersect(s, m, v);
    if (n == 0)
        return false;
    SAVE(s, *m);
    m->devices++;
    if (n < m->n) {
        m->at = (uint32_t)s->ids.n;
        m->n = n;
        s->ids.n += n;
    }
    return true;
}

static void first_values(struct solver *s, struct match_state *m,
                         const struct value_set *v)
{
    SAVE(s, *m);
    m->devices = 1;
    m->at = (uint32_t)s->ids.n;
    m->n = v->n;
    m->odd = v->state == VALUE_ODD;
    for (uint32_t i = 0; i < v->n; i++)
        vec_push(&s->ids, v->ids[i]);
}

/* Rules 40, 41. Values of no comparable type are accepted as the first device's, and
 * only while lists are off. */
static bool take_match(struct solver *s, uint32_t constraint, const struct value_set *v)
{
    struct match_state *m = &s->matches.v[constraint];
    bool lists = s->plan->inv->features.list_type_attributes;
    if (v->state == VALUE_ODD && (lists || m->devices))
        return false;
    if (m->devices)
        return !m->odd && narrow(s, m, v);
    first_values(s, m, v);
    return true;
}

static bool values_meet(const struct value_set *a, const struct value_set *b)
{
    for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->ids[i] == b->ids[j])
            return true;
        if (a->ids[i] < b->ids[j])
            i++;
        else
            j++;
    }
    return false;
}

uint32_t use_of(const struct plan_alt *alt, uint32_t constraint)
{
    for (uint32_t i = 0; i < alt->nuses; i++)
        if (alt->uses[i].constraint == constraint)
            return i;
    return NONE;
}

/* Rule 42, 43. */
static bool take_distinct(struct solver *s, uint32_t constraint,
                          const struct value_set *v)
{
    uint32_t claim = s->plan->constraints[constraint].claim;
    for (size_t i = s->claim_picks.v[claim]; i < s->picks.n; i++) {
        const struct pick *p = &s->picks.v[i];
        uint32_t use = use_of(&s->plan->alts[p->alt], constraint);
        if (use == NONE)
            continue;
        if (v->state == VALUE_ODD || values_meet(value_of(s, p->alt, use, p->device), v))
            return false;
    }
    return v->state != VALUE_ODD || !s->plan->inv->features.list_type_attributes;
}

static enum take fail_derived(struct solver *s, const struct plan_use *use,
                              uint32_t device)
{
    const struct seat *seat = seat_at(s, device);
    struct str name = s->plan->constraints[use->constraint].name;
    solver_fail(s, ALLOC_ERROR,
                derived_why(s->plan->inv, use->derived, name, seat->pool,
                            local(seat, device), s->out));
    return FAILED;
}

static enum take take_constraints(struct solver *s, uint32_t alt, uint32_t device,
                                  uint32_t *which)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    for (uint32_t i = 0; i < pa->nuses; i++) {
        const struct value_set *v = value_of(s, alt, i, device);
        uint32_t c = pa->uses[i].constraint;
        *which = i;
        if (v->state == VALUE_ERROR)
            return fail_derived(s, &pa->uses[i], device);
        if (v->state == VALUE_ABSENT ||
            !(s->plan->constraints[c].match ? take_match(s, c, v)
                                            : take_distinct(s, c, v)))
            return REFUSED_CONSTRAINT;
    }
    return TAKEN;
}

/* ---- The pick ---- */

static void mark(struct solver *s, const struct plan_alt *pa, uint32_t device)
{
    uint32_t word = device / 64;
    if (s->own) {
        uint64_t *own = &s->own[s->plan->requests[pa->request].claim * s->words + word];
        SAVE(s, *own);
        bit_set(own, device % 64);
    }
    if (pa->admin)
        return; /* takes nothing from others (U1) */
    SAVE(s, s->taken[word]);
    bit_set(&s->taken[word], device % 64);
}

/* Whether counters and groups are to be charged: not for a further share (rule 53). */
static bool first_share(struct solver *s, uint32_t seat, uint32_t device)
{
    struct share_state *t = share_state(s, seat, device);
    if (t->charged)
        return false;
    SAVE(s, t->charged);
    t->charged = true;
    return true;
}

static enum take take_pool_parts(struct solver *s, uint32_t device, bool multi)
{
    uint32_t seat = s->seat_of.v[device / 64];
    if (!s->any_consumes || !bit_test(s->consumes, device) ||
        !s->seats[seat].view->counters || (multi && !first_share(s, seat, device)))
        return TAKEN;
    return take_shared_parts(s, seat, local(&s->seats[seat], device));
}

/* The devices of an All request are given, and a constraint that forbids one is an error:
 * there capacity comes last. */
static enum take check(struct solver *s, uint32_t alt, uint32_t device, uint32_t *which)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    bool multi = s->any_multi && bit_test(s->multi, device);
    bool shares = multi && !pa->admin;
    if (shares && !pa->all && !take_capacity(s, alt, device))
        return REFUSED_CAPACITY;
    enum take t = pa->admin ? TAKEN : take_pool_parts(s, device, multi);
    if (t == TAKEN)
        t = take_constraints(s, alt, device, which);
    if (t == TAKEN && shares && pa->all && !take_capacity(s, alt, device))
        t = REFUSED_CAPACITY;
    if (t == TAKEN && !multi)
        mark(s, pa, device);
    return t;
}

enum take state_take(struct solver *s, uint32_t alt, uint32_t device, uint32_t *which)
{
    struct pick p = {device, alt, (uint32_t)s->trail.n, (uint32_t)s->ids.n};
    enum take t = check(s, alt, device, which);
    if (t != TAKEN) {
        unwind(s, p.trail, p.ids);
        return t;
    }
    vec_push(&s->picks, p);
    if (s->hard && s->prover->bounds && !s->plan->alts[alt].admin)
        bounds_take(s->prover->bounds, device);
    return t;
}
