/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a plan on a host: columns into the numbering, and the checks that come before the
 * search (spec 3.5). */
#include "alloc/capacity.h"
#include "alloc/search.h"

#include <stddef.h>
#include <stdlib.h>

enum { DEFAULT_STEPS = 1000000 };

bool solver_fail(struct solver *s, enum alloc_status status, struct str error)
{
    s->status = status;
    s->error = error;
    return false;
}

/* ---- Errors of devices ---- */

static struct str selector_owner(const struct solver *s, const struct plan_alt *pa,
                                 uint32_t *which)
{
    const struct plan_claim *c = &s->plan->claims[s->plan->requests[pa->request].claim];
    if (*which < pa->profile->nclass)
        return arena_printf(s->out, "class %.*s", STR_ARG(pa->class->meta.name));
    *which -= pa->profile->nclass;
    struct str path = claim_path(c->v, s->out);
    return arena_printf(s->out, "claim %.*s", STR_ARG(path));
}

static struct str selector_error(struct solver *s, const struct plan_alt *pa,
                                 uint32_t device, uint32_t which)
{
    struct alloc_inventory *inv = s->plan->inv;
    const struct seat *seat = seat_at(s, device);
    struct expression *x = profile_expression(inv, pa->profile, which);
    struct str owner = selector_owner(s, pa, &which);
    if (!x->x)
        return arena_printf(s->out, "%.*s: selector #%u: CEL compile error: %.*s",
                            STR_ARG(owner), which, STR_ARG(x->error));
    struct str path = device_path(seat->pool, local(seat, device), s->out);
    struct str why = expression_why(inv, x, &device_of(s, device)->facts, s->out);
    return arena_printf(s->out,
                        "%.*s: selector #%u on device %.*s: CEL runtime error: %.*s",
                        STR_ARG(owner), which, STR_ARG(path), STR_ARG(why));
}

/* The name a request has in errors: of a subrequest its own. */
static struct str short_name(const struct solver *s, const struct plan_alt *pa)
{
    const struct view_request *r = s->plan->requests[pa->request].v;
    return r->first_available ? pa->v->name : r->name;
}

static struct str request_error(struct solver *s, const struct plan_alt *pa,
                                const char *what, struct str of, struct str why)
{
    const struct plan_claim *c = &s->plan->claims[s->plan->requests[pa->request].claim];
    struct str path = claim_path(c->v, s->out), name = short_name(s, pa);
    return arena_printf(s->out, "claim %.*s, request %.*s: %s %.*s%.*s", STR_ARG(path),
                        STR_ARG(name), what, STR_ARG(of), STR_ARG(why));
}

static struct str capacity_error(struct solver *s, const struct plan_alt *pa,
                                 uint32_t device)
{
    const struct seat *seat = seat_at(s, device);
    struct str path = device_path(seat->pool, local(seat, device), s->out), why;
    capacity_explain(&s->plan->inv->features, pa->profile->capacity,
                     pa->profile->ncapacity, &device_of(s, device)->facts, &why, s->out);
    why = arena_printf(s->out, ": %.*s", STR_ARG(why));
    return request_error(s, pa, "checking capacity for device", path, why);
}

enum verdict solver_trap(struct solver *s, uint32_t alt, uint32_t device)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    const struct seat *seat = seat_at(s, device);
    uint32_t which = 0;
    enum device_verdict v =
        profile_match(s->plan->inv, pa->profile, &device_of(s, device)->facts, &which);
    if (v == DEVICE_ERROR) {
        solver_fail(s, ALLOC_ERROR, selector_error(s, pa, device, which));
    } else if (bit_test(seat->view->bad, local(seat, device))) {
        struct str path = device_path(seat->pool, local(seat, device), s->out);
        solver_fail(s, ALLOC_NODE_ERROR,
                    arena_printf(s->out,
                                 "the node selector of device %.*s cannot be parsed",
                                 STR_ARG(path)));
    } else {
        solver_fail(s, ALLOC_ERROR, capacity_error(s, pa, device));
    }
    return ENDED;
}

enum verdict solver_constraint_error(struct solver *s, uint32_t alt, uint32_t device)
{
    const struct seat *seat = seat_at(s, device);
    struct str path = device_path(seat->pool, local(seat, device), s->out);
    solver_fail(s, ALLOC_ERROR,
                request_error(s, &s->plan->alts[alt], "cannot add device", path,
                              STR(" because a claim constraint would not be satisfied")));
    return ENDED;
}

/* ---- The numbering ---- */

static uint32_t usable_words(const struct seat *seat)
{
    return seat->view->state == POOL_USABLE ? seat->pool->words : 0;
}

static void number_seats(struct solver *s)
{
    s->any_multi = s->any_consumes = false;
    vec_reserve(&s->seat_of, s->words + 1);
    vec_reserve(&s->seat_states, s->nseats);
    for (uint32_t i = 0; i < s->nseats; i++) {
        const struct seat *seat = &s->seats[i];
        for (uint32_t w = 0; w < usable_words(seat); w++)
            s->seat_of.v[seat->base + w] = i;
        s->seat_states.v[i] = (struct seat_state){0};
        s->any_multi |= seat->pool->any_multi;
        s->any_consumes |= seat->pool->any_consumes;
    }
}

static uint64_t *take_words(struct solver *s, uint32_t n)
{
    uint64_t *w = s->bits.v + s->bits.n;
    s->bits.n += n;
    return w;
}

static void reserve_bits(struct solver *s)
{
    const struct alloc_plan *p = s->plan;
    size_t sets = 3 + (p->any_admin ? p->nclaims : 0) + 3 * (size_t)p->nalts;
    vec_reserve(&s->bits, sets * s->words + 1);
    s->bits.n = 0;
}

static void copy_pool_bits(struct solver *s, uint64_t *to, size_t member)
{
    for (uint32_t i = 0; i < s->nseats; i++) {
        const struct seat *seat = &s->seats[i];
        const uint64_t *from = *(uint64_t *const *)((const char *)seat->pool + member);
        for (uint32_t w = 0; w < usable_words(seat); w++)
            to[seat->base + w] = from[w];
    }
}

static uint64_t *pool_bits(struct solver *s, size_t member)
{
    uint64_t *w = take_words(s, s->words);
    copy_pool_bits(s, w, member);
    return w;
}

static void set_state(struct solver *s)
{
    const struct alloc_plan *p = s->plan;
    s->taken = pool_bits(s, offsetof(struct pool, used));
    s->multi = s->any_multi ? pool_bits(s, offsetof(struct pool, multi)) : NULL;
    s->consumes = s->any_consumes ? pool_bits(s, offsetof(struct pool, consumes)) : NULL;
    s->own = NULL;
    if (p->any_admin) {
        s->own = take_words(s, p->nclaims * s->words);
        memset(s->own, 0, (size_t)p->nclaims * s->words * sizeof *s->own);
    }
    vec_clear(&s->picks);
    vec_clear(&s->trail);
    vec_clear(&s->ids);
    vec_reserve(&s->claim_picks, p->nclaims + 1);
    vec_reserve(&s->chosen, p->nrequests);
    vec_reserve(&s->first_picks, p->nrequests);
    vec_reserve(&s->alts, p->nalts);
    vec_reserve(&s->matches, p->nconstraints);
    if (p->nconstraints)
        memset(s->matches.v, 0, p->nconstraints * sizeof *s->matches.v);
}

/* ---- Alternatives ---- */

static bool node_lacks_operations(const struct solver *s)
{
    const struct view_strs *have = &s->host->node->declared_features;
    for (uint32_t i = 0; i < have->n; i++)
        if (str_is(have->v[i], "DRAOptionalNodeOperations"))
            return false;
    return true;
}

struct seat_columns {
    const struct seat *seat;
    const struct profile_column *col;
    bool lacks; /* the node cannot skip operations */
};

static void copy_ok(struct alt_state *a, const struct seat_columns *c)
{
    uint64_t *to = a->ok + c->seat->base;
    for (uint32_t w = 0; w < c->seat->pool->words; w++) {
        to[w] = c->col->ok[w] & c->seat->view->alive[w];
        if (c->lacks)
            to[w] &= ~c->seat->pool->skips[w];
    }
}

static void copy_traps(struct solver *s, struct alt_state *a,
                       const struct seat_columns *c)
{
    const struct pool_view *v = c->seat->view;
    if (!c->col->errs && !v->has_bad)
        return;
    if (!a->trap) {
        a->trap = take_words(s, s->words);
        memset(a->trap, 0, s->words * sizeof *a->trap);
    }
    for (uint32_t w = 0; w < c->seat->pool->words; w++)
        a->trap[c->seat->base + w] = (c->col->err[w] & v->rel[w]) |
                                     (c->col->caperr[w] & v->alive[w]) |
                                     (c->col->match[w] & v->bad[w]);
}

static void copy_all(struct alt_state *a, const struct seat_columns *c)
{
    for (uint32_t w = 0; w < c->seat->pool->words; w++)
        a->all[c->seat->base + w] = c->col->fit[w] & c->seat->view->alive[w];
}

static struct seat_columns columns_of(struct solver *s, const struct plan_alt *pa,
                                      const struct seat *seat)
{
    struct seat_columns c = {.seat = seat};
    c.col = pool_profile(s->plan->inv, seat->pool, pa->profile);
    c.lacks = seat->pool->any_skips && node_lacks_operations(s);
    return c;
}

static void fill_alt(struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    struct alt_state *a = &s->alts.v[alt];
    *a = (struct alt_state){.ok = take_words(s, s->words), .count = pa->count};
    if (pa->all)
        a->all = take_words(s, s->words);
    for (uint32_t i = 0; i < s->nseats; i++) {
        if (s->seats[i].view->state != POOL_USABLE)
            continue;
        struct seat_columns c = columns_of(s, pa, &s->seats[i]);
        copy_ok(a, &c);
        copy_traps(s, a, &c);
        if (pa->all)
            copy_all(a, &c);
    }
}

/* Words without any candidate are passed over; traps of devices in use never spring. */
static void trim_alt(struct solver *s, uint32_t alt)
{
    struct alt_state *a = &s->alts.v[alt];
    bool admin = s->plan->alts[alt].admin;
    bool traps = false;
    a->low = s->words;
    for (uint32_t w = s->words; w-- > 0;) {
        uint64_t open = admin ? ~(uint64_t)0 : ~s->taken[w];
        if (a->trap)
            traps |= (a->trap[w] &= open) != 0;
        if ((a->ok[w] | (a->trap ? a->trap[w] : 0)) & open)
            a->low = w;
    }
    if (!traps)
        a->trap = NULL;
}

/* ---- Constraints ---- */

static const struct value_set *seat_values(struct solver *s, const struct plan_use *use,
                                           const struct seat *seat)
{
    struct alloc_inventory *inv = s->plan->inv;
    if (seat->view->state != POOL_USABLE)
        return NULL;
    if (use->derived != NONE)
        return pool_derived(inv, seat->pool, use->derived)->of;
    return pool_values(inv, seat->pool, use->attribute)->of;
}

static void fill_values(struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    const struct value_set **to = s->values.v + (size_t)alt * s->plan->uses * s->nseats;
    for (uint32_t u = 0; u < pa->nuses; u++)
        for (uint32_t i = 0; i < s->nseats; i++)
            to[u * s->nseats + i] = seat_values(s, &pa->uses[u], &s->seats[i]);
}

static bool derived_fails(const struct solver *s, uint32_t alt, uint32_t use)
{
    const uint64_t *ok = s->alts.v[alt].ok;
    for (size_t d = bitset_next(ok, s->words * 64, 0); d != SIZE_MAX;
         d = bitset_next(ok, s->words * 64, d + 1))
        if (value_of(s, alt, use, (uint32_t)d)->state == VALUE_ERROR)
            return true;
    return false;
}

/* Whether picking for the alternative may end in an error. */
static bool may_fail(const struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    if (s->alts.v[alt].trap || (pa->all && pa->nuses))
        return true;
    for (uint32_t u = 0; u < pa->nuses; u++)
        if (pa->uses[u].derived != NONE && derived_fails(s, alt, u))
            return true;
    return false;
}

/* ---- The checks before the search ---- */

/* Rules 15, 26: every device is looked at, in order; U5: trouble of this node's pools
 * refuses this node alone. */
static bool collect_all(struct solver *s, uint32_t alt)
{
    struct alt_state *a = &s->alts.v[alt];
    const struct plan_alt *pa = &s->plan->alts[alt];
    for (uint32_t i = 0; i < s->nseats; i++) {
        const struct seat *seat = &s->seats[i];
        if (seat->view->state != POOL_USABLE) {
            struct str path =
                arena_printf(s->out, "%.*s/%.*s", STR_ARG(seat->pool->driver),
                             STR_ARG(seat->pool->name));
            struct str why = seat->view->state == POOL_INCOMPLETE
                                 ? STR(" is currently being updated")
                                 : STR(" is currently invalid");
            return solver_fail(s, ALLOC_NODE_ERROR,
                               request_error(s, pa,
                                             "asks for all devices, but resource pool",
                                             path, why));
        }
        size_t from = (size_t)seat->base * 64, to = from + seat->pool->n;
        size_t trap = a->trap ? bitset_next(a->trap, to, from) : SIZE_MAX;
        if (trap != SIZE_MAX)
            return solver_trap(s, alt, (uint32_t)trap) != ENDED;
    }
    a->count = (uint32_t)bitset_count(a->all, s->words * 64);
    return true;
}

struct total {
    uint64_t sum, exact; /* devices at least; those counted on any node */
};

/* Rule 24. Too many because of what one node has is that node's trouble (U5). */
static bool add_request(struct solver *s, const struct plan_request *r, struct total *t,
                        uint64_t least, uint64_t exact)
{
    if (least <= MAX_RESULTS && t->sum + least <= MAX_RESULTS) {
        t->sum += least;
        t->exact += exact;
        return true;
    }
    struct str path = claim_path(s->plan->claims[r->claim].v, s->out);
    bool everywhere = t->exact + exact > MAX_RESULTS;
    return solver_fail(
        s, everywhere ? ALLOC_ERROR : ALLOC_NODE_ERROR,
        arena_printf(
            s->out,
            "claim %.*s, request %.*s: adding %llu devices exceeds the claim limit "
            "of %d, with %llu already accounted for",
            STR_ARG(path), STR_ARG(r->v->name), (unsigned long long)least, MAX_RESULTS,
            (unsigned long long)t->sum));
}

static bool begin_alt(struct solver *s, uint32_t alt)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    if (pa->error.n)
        return solver_fail(s, ALLOC_ERROR, pa->error);
    fill_alt(s, alt);
    if (pa->all && !collect_all(s, alt))
        return false;
    trim_alt(s, alt);
    if (pa->nuses)
        fill_values(s, alt);
    return true;
}

static bool begin_request(struct solver *s, uint32_t request, struct total *t)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint64_t least = UINT64_MAX, exact = UINT64_MAX;
    bool fails = false;
    if (r->error.n)
        return solver_fail(s, ALLOC_ERROR, r->error);
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++) {
        if (!begin_alt(s, alt))
            return false;
        const struct plan_alt *pa = &s->plan->alts[alt];
        uint64_t n = pa->all ? s->alts.v[alt].count : wanted_count(pa);
        least = n < least ? n : least;
        n = pa->all ? 0 : n;
        exact = n < exact ? n : exact;
        fails |= may_fail(s, alt);
    }
    if (fails && request < s->horizon)
        s->horizon = request;
    return add_request(s, r, t, least, exact);
}

static bool begin_claim(struct solver *s, const struct plan_claim *c)
{
    struct total t = {0};
    for (uint32_t i = 0; i < c->nrequests; i++)
        if (!begin_request(s, c->request + i, &t))
            return false;
    return c->error.n == 0 || solver_fail(s, ALLOC_ERROR, c->error);
}

bool solver_begin(struct solver *s, const struct alloc_plan *plan, struct host *host,
                  const struct alloc_options *options, struct arena *out)
{
    s->plan = plan;
    s->host = host;
    s->options = options;
    s->out = out;
    s->max_steps = options && options->max_steps ? options->max_steps : DEFAULT_STEPS;
    s->steps = 0;
    s->words = host->words;
    s->seats = host->seats.v;
    s->nseats = (uint32_t)host->seats.n;
    s->horizon = plan->nrequests;
    s->hard = false;
    s->effort = 0;
    s->probing = false;
    s->exhausted = false;
    s->stop = plan->nclaims;
    s->probe_steps = 0;
    s->probes = s->probe_hits = 0;
    s->shares = NULL;
    if (s->scratch.chunks)
        arena_reset(&s->scratch);
    number_seats(s);
    reserve_bits(s);
    set_state(s);
    if (plan->uses)
        vec_reserve(&s->values, (size_t)plan->nalts * plan->uses * s->nseats);
    for (uint32_t i = 0; i < plan->nclaims; i++)
        if (!begin_claim(s, &plan->claims[i]))
            return false;
    return true;
}

void solver_free(struct solver *s)
{
    if (!s)
        return;
    prover_free(s->prover);
    vec_release(&s->seat_of);
    vec_release(&s->bits);
    vec_release(&s->alts);
    vec_release(&s->values);
    vec_release(&s->picks);
    vec_release(&s->claim_picks);
    vec_release(&s->trail);
    vec_release(&s->ids);
    vec_release(&s->matches);
    vec_release(&s->chosen);
    vec_release(&s->first_picks);
    vec_release(&s->seat_states);
    arena_fini(&s->scratch);
    free(s);
}
