/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why devices were not taken: of every device the first rule that refuses it, in the
 * order of spec 3.6, looked at before the first pick. Made only when asked for.
 */
#include <stdlib.h>

#include "alloc/capacity.h"
#include "alloc/result.h"

static const char *const RULES[ALLOC_RULES] = {
    [ALLOC_RULE_IN_USE] = "in use",
    [ALLOC_RULE_BINDING_OFF] = "binding conditions are off",
    [ALLOC_RULE_CLASS_SELECTOR] = "class selector",
    [ALLOC_RULE_SELECTOR] = "selector",
    [ALLOC_RULE_NODE] = "not on this node",
    [ALLOC_RULE_CAPACITY] = "capacity",
    [ALLOC_RULE_NODE_OPERATIONS] = "node operations",
    [ALLOC_RULE_COUNTERS_OFF] = "counters are off",
    [ALLOC_RULE_GROUPS] = "compatibility groups",
    [ALLOC_RULE_COUNTERS] = "counters",
    [ALLOC_RULE_TAINT] = "taint",
    [ALLOC_RULE_CONSTRAINT] = "constraint",
    [ALLOC_RULE_TAKEN] = "taken by other requests",
    [ALLOC_RULE_POOL_INCOMPLETE] = "pool incomplete",
    [ALLOC_RULE_POOL_INVALID] = "pool invalid",
    [ALLOC_RULE_POOL_OBSOLETE] = "pool obsolete",
    [ALLOC_RULE_UNKNOWN_CONSUMPTION] = "consumption unknown",
};

const char *alloc_rule_name(enum alloc_rule r)
{
    return r < ALLOC_RULES ? RULES[r] : "unknown";
}

struct explainer {
    struct solver *s;
    struct arena *a;
    VEC(struct alloc_reason) rows;
    VEC(struct alloc_need) needs;
    uint32_t first_row;   /* of the alternative at hand */
    uint32_t first_joint; /* of what requests want together */
};

/* ---- Rows ---- */

static struct alloc_reason row_of(const struct explainer *x, uint32_t alt,
                                  enum alloc_rule rule)
{
    const struct alloc_plan *p = x->s->plan;
    const struct plan_request *r = &p->requests[p->alts[alt].request];
    return (struct alloc_reason){.claim = r->claim,
                                 .request =
                                     p->alts[alt].request - p->claims[r->claim].request,
                                 .alternative = alt - r->alt,
                                 .rule = rule};
}

static struct alloc_reason *find_row(struct explainer *x, const struct alloc_reason *like)
{
    for (size_t i = x->first_row; i < x->rows.n; i++) {
        struct alloc_reason *r = &x->rows.v[i];
        if (r->rule == like->rule && r->selector == like->selector &&
            r->constraint == like->constraint)
            return r;
    }
    return NULL;
}

/* The verdict on one device. */
struct refusal {
    enum alloc_rule rule; /* ALLOC_RULES: none, it is free */
    uint32_t selector, constraint;
};

static void count_refusal(struct explainer *x, uint32_t alt, const struct seat *seat,
                          uint32_t device, const struct refusal *why, struct str detail)
{
    struct alloc_reason row = row_of(x, alt, why->rule);
    row.selector = why->selector;
    row.constraint = why->constraint;
    struct alloc_reason *have = find_row(x, &row);
    if (have) {
        have->devices++;
        return;
    }
    row.devices = 1;
    row.example = seat->pool->devices[device].v;
    row.example_slice = seat->pool->parts[seat->pool->devices[device].part].v;
    row.detail = detail;
    vec_push(&x->rows, row);
}

/* ---- Amounts ---- */

static struct str amount_text(amount n, enum quantity_format format, struct arena *a)
{
    amount unit = 1000000000, whole = n / unit;
    if (n % unit == 0 && whole <= INT64_MAX && whole >= INT64_MIN) {
        struct quantity q = quantity_from_int64((int64_t)whole, format);
        return quantity_print(&q, a);
    }
    return arena_printf(a, "%lld.%09lld", (long long)whole,
                        (long long)(n % unit < 0 ? -(n % unit) : n % unit));
}

static struct str share_text(struct solver *s, uint32_t alt, uint32_t d, struct arena *a)
{
    const struct device_facts *f = &device_of(s, d)->facts;
    const struct consumed *c = consumed_of(s, alt, d);
    const amount *used = share_used(s, d);
    for (uint32_t i = 0; i < f->shape->ncapacities; i++) {
        const struct device_capacity cap = device_capacity(f, i);
        amount limit = 0;
        amount_from(&cap.value, &limit);
        if (used[i] + c->n[i] <= limit)
            continue;
        struct str want = quantity_print(&c->amounts[i].value, a);
        struct str left = amount_text(limit - used[i], cap.value.format, a);
        struct str has = quantity_print(&cap.value, a);
        return arena_printf(a, "%.*s: wants %.*s, %.*s of %.*s left", STR_ARG(cap.name),
                            STR_ARG(want), STR_ARG(left), STR_ARG(has));
    }
    return STR_NONE;
}

static struct str counters_text(struct solver *s, uint32_t seat, uint32_t device,
                                struct arena *a)
{
    const struct counters *c = s->seats[seat].view->counters;
    const struct view_device *d = s->seats[seat].pool->devices[device].v;
    const amount *left = seat_left(s, seat);
    uint32_t at = c->use_at[device];
    for (uint32_t i = 0; i < d->nconsumes; i++)
        for (uint32_t j = 0; j < d->consumes[i].ncounters; j++, at++) {
            const struct view_amount *take = &d->consumes[i].counters[j];
            if (left[c->uses[at].counter] >= c->uses[at].n)
                continue;
            struct str want = quantity_print(&take->value, a);
            struct str has =
                amount_text(left[c->uses[at].counter], take->value.format, a);
            return arena_printf(a, "%.*s/%.*s: wants %.*s, has %.*s",
                                STR_ARG(d->consumes[i].counter_set), STR_ARG(take->name),
                                STR_ARG(want), STR_ARG(has));
        }
    return STR_NONE;
}

static struct str groups_text(struct solver *s, uint32_t seat, uint32_t device,
                              struct arena *a)
{
    const struct counters *c = s->seats[seat].view->counters;
    seat_left(s, seat);
    for (uint32_t i = c->set_at[device]; i < c->set_at[device + 1]; i++)
        if (!groups_admit(&s->seat_states.v[seat].groups[c->set_uses[i].set],
                          c->set_uses[i].groups))
            return arena_printf(a, "counter set %.*s is used by devices of other groups",
                                STR_ARG(c->sets[c->set_uses[i].set]->name));
    return STR_NONE;
}

/* ---- One device ---- */

static struct refusal refusal(enum alloc_rule rule)
{
    return (struct refusal){.rule = rule};
}

static struct refusal selector_refusal(struct solver *s, const struct plan_alt *pa,
                                       const struct device_facts *facts)
{
    struct refusal r = {.rule = ALLOC_RULES};
    uint32_t which = 0;
    if (profile_match(s->plan->inv, pa->profile, facts, &which) == DEVICE_YES)
        return r;
    bool class = which < pa->profile->nclass;
    r.rule = class ? ALLOC_RULE_CLASS_SELECTOR : ALLOC_RULE_SELECTOR;
    r.selector = class ? which : which - pa->profile->nclass;
    return r;
}

static struct refusal constraint_refusal(const struct solver *s, uint32_t alt, uint32_t d)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    struct refusal r = {.rule = ALLOC_RULES};
    for (uint32_t u = 0; u < pa->nuses; u++) {
        const struct value_set *v = value_of(s, alt, u, d);
        bool odd = v->state == VALUE_ODD && s->plan->inv->features.list_type_attributes;
        if (v->state == VALUE_SET || (v->state == VALUE_ODD && !odd))
            continue;
        r.rule = ALLOC_RULE_CONSTRAINT;
        r.constraint = s->plan->constraints[pa->uses[u].constraint].index;
        return r;
    }
    return r;
}

/* What only a try can tell: shares, groups and counters. */
static struct refusal state_refusal(struct solver *s, uint32_t alt, uint32_t d)
{
    static const enum alloc_rule rules[] = {
        [REFUSED_CAPACITY] = ALLOC_RULE_CAPACITY,
        [REFUSED_GROUPS] = ALLOC_RULE_GROUPS,
        [REFUSED_COUNTERS] = ALLOC_RULE_COUNTERS,
        [REFUSED_CONSTRAINT] = ALLOC_RULE_CONSTRAINT,
        [FAILED] = ALLOC_RULE_CONSTRAINT,
    };
    uint32_t which = 0;
    enum take t = state_take(s, alt, d, &which);
    if (t != TAKEN)
        return refusal(rules[t]);
    state_undo(s);
    return refusal(ALLOC_RULES);
}

static bool is_held(const struct pool *p, uint32_t device)
{
    return bit_test(p->used, device);
}

static struct refusal judge(struct solver *s, uint32_t alt, const struct seat *seat,
                            uint32_t device)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    const struct alloc_features *f = &s->plan->inv->features;
    const struct profile_column *col =
        pool_profile(s->plan->inv, seat->pool, pa->profile);
    const struct pool *p = seat->pool;
    uint32_t d = seat->base * 64 + device;
    bool matches = bit_test(col->match, device);
    if (!pa->admin && is_held(p, device) && matches)
        return refusal(ALLOC_RULE_IN_USE);
    if (!f->device_binding_and_status && bit_test(p->binding, device))
        return refusal(ALLOC_RULE_BINDING_OFF);
    if (!matches)
        return selector_refusal(s, pa, &p->devices[device].v->facts);
    if (!bit_test(seat->view->alive, device))
        return refusal(ALLOC_RULE_NODE);
    if (!bit_test(col->fit, device))
        return refusal(ALLOC_RULE_CAPACITY);
    if (!f->partitionable_devices && bit_test(p->consumes, device))
        return refusal(ALLOC_RULE_COUNTERS_OFF);
    if (f->device_taints && device_taint(p, device, pa->profile))
        return refusal(ALLOC_RULE_TAINT);
    if (!bit_test(s->alts.v[alt].ok, d))
        return refusal(ALLOC_RULE_NODE_OPERATIONS);
    struct refusal r = constraint_refusal(s, alt, d);
    return r.rule == ALLOC_RULES ? state_refusal(s, alt, d) : r;
}

/* ---- Details ---- */

static struct str holder_text(const struct pool *p, uint32_t device, struct arena *a)
{
    const struct held *h = held_find(p, p->devices[device].v->name);
    if (!h || h->holder.n == 0)
        return STR("in use");
    return arena_printf(a, "in use by claim %.*s", STR_ARG(h->holder));
}

static struct str taint_text(const struct view_taint *t, struct arena *a)
{
    if (t->value.n == 0)
        return arena_printf(a, "%.*s:%.*s", STR_ARG(t->key), STR_ARG(t->effect));
    return arena_printf(a, "%.*s=%.*s:%.*s", STR_ARG(t->key), STR_ARG(t->value),
                        STR_ARG(t->effect));
}

static struct str selector_text(struct solver *s, const struct plan_alt *pa,
                                const struct refusal *why,
                                const struct device_facts *facts, struct arena *a)
{
    struct alloc_inventory *inv = s->plan->inv;
    uint32_t which =
        why->selector + (why->rule == ALLOC_RULE_SELECTOR ? pa->profile->nclass : 0);
    struct expression *x = profile_expression(inv, pa->profile, which);
    if (!x->x)
        return x->error;
    if (expression_match(inv, x, facts) == DEVICE_ERROR)
        return expression_why(inv, x, facts, a);
    return x->text;
}

static struct str capacity_text(struct solver *s, uint32_t alt, const struct seat *seat,
                                uint32_t device, struct arena *a)
{
    const struct profile *p = s->plan->alts[alt].profile;
    struct str why = STR_NONE;
    if (capacity_explain(&s->plan->inv->features, p->capacity, p->ncapacity,
                         &seat->pool->devices[device].v->facts, &why, a) == CAPACITY_FITS)
        why = share_text(s, alt, seat->base * 64 + device, a);
    return why;
}

static struct str constraint_text(const struct solver *s, uint32_t alt,
                                  const struct refusal *why, struct arena *a)
{
    const struct plan_alt *pa = &s->plan->alts[alt];
    const struct plan_claim *c = &s->plan->claims[s->plan->requests[pa->request].claim];
    struct str name = s->plan->constraints[c->constraint + why->constraint].name;
    return arena_printf(a, "attribute %.*s is missing or cannot be compared",
                        STR_ARG(name));
}

static struct str detail_of(struct explainer *x, uint32_t alt, const struct seat *seat,
                            uint32_t device, const struct refusal *why)
{
    struct solver *s = x->s;
    const struct plan_alt *pa = &s->plan->alts[alt];
    const struct view_device *d = seat->pool->devices[device].v;
    uint32_t seat_number = (uint32_t)(seat - s->seats);
    switch (why->rule) {
    case ALLOC_RULE_IN_USE:
        return holder_text(seat->pool, device, x->a);
    case ALLOC_RULE_CLASS_SELECTOR:
    case ALLOC_RULE_SELECTOR:
        return selector_text(s, pa, why, &d->facts, x->a);
    case ALLOC_RULE_CAPACITY:
        return capacity_text(s, alt, seat, device, x->a);
    case ALLOC_RULE_GROUPS:
        return groups_text(s, seat_number, device, x->a);
    case ALLOC_RULE_COUNTERS:
        return counters_text(s, seat_number, device, x->a);
    case ALLOC_RULE_TAINT:
        return taint_text(device_taint(seat->pool, device, pa->profile), x->a);
    case ALLOC_RULE_CONSTRAINT:
        return constraint_text(s, alt, why, x->a);
    case ALLOC_RULE_NODE_OPERATIONS:
        return STR("the node does not declare DRAOptionalNodeOperations");
    default:
        return STR_NONE;
    }
}

/* ---- One alternative ---- */

static void explain_device(struct explainer *x, uint32_t alt, const struct seat *seat,
                           uint32_t device, struct alloc_need *need)
{
    const struct plan_alt *pa = &x->s->plan->alts[alt];
    const struct profile_column *col =
        pool_profile(x->s->plan->inv, seat->pool, pa->profile);
    struct refusal why = judge(x->s, alt, seat, device);
    need->matching += bit_test(col->match, device) && bit_test(seat->view->alive, device);
    need->free += why.rule == ALLOC_RULES;
    if (why.rule == ALLOC_RULES)
        return;
    struct alloc_reason row = row_of(x, alt, why.rule);
    row.selector = why.selector;
    row.constraint = why.constraint;
    struct str detail =
        find_row(x, &row) ? STR_NONE : detail_of(x, alt, seat, device, &why);
    count_refusal(x, alt, seat, device, &why, detail);
}

static void explain_seat(struct explainer *x, uint32_t alt, const struct seat *seat,
                         struct alloc_need *need)
{
    const struct pool *p = seat->pool;
    for (uint32_t i = 0; i < p->n; i++)
        if (bit_test(seat->view->rel, i))
            explain_device(x, alt, seat, i, need);
}

static void explain_bad_pool(struct explainer *x, uint32_t alt, const struct seat *seat)
{
    const struct pool *p = seat->pool;
    bool incomplete = seat->view->state == POOL_INCOMPLETE;
    struct alloc_reason row =
        row_of(x, alt, incomplete ? ALLOC_RULE_POOL_INCOMPLETE : ALLOC_RULE_POOL_INVALID);
    row.devices = (uint32_t)bitset_count(seat->view->rel, p->n);
    row.example_slice = p->parts[0].v;
    if (incomplete)
        row.detail = arena_printf(x->a, "pool %.*s/%.*s: %u of %lld slices are there%s",
                                  STR_ARG(p->driver), STR_ARG(p->name), pool_counted(p),
                                  (long long)p->parts[0].v->slice_count,
                                  pool_counted(p) < p->nparts
                                      ? " (those with compatibility groups do not count)"
                                      : "");
    else
        row.detail = arena_printf(x->a, "pool %.*s/%.*s: %.*s", STR_ARG(p->driver),
                                  STR_ARG(p->name), STR_ARG(seat->view->invalid));
    vec_push(&x->rows, row);
}

static bool is_seated(const struct host *h, const struct pool *p)
{
    for (size_t i = 0; i < h->seats.n; i++)
        if (h->seats.v[i].pool == p)
            return true;
    return false;
}

static void explain_obsolete(struct explainer *x, uint32_t alt, struct pool *p)
{
    const struct host *h = x->s->host;
    if (is_seated(h, p) || !pool_obsolete_on(p, h->node))
        return;
    struct alloc_reason row = row_of(x, alt, ALLOC_RULE_POOL_OBSOLETE);
    row.example_slice = p->parts[0].v;
    row.detail =
        arena_printf(x->a,
                     "pool %.*s/%.*s: generation %lld is being published, "
                     "and not for this node yet",
                     STR_ARG(p->driver), STR_ARG(p->name), (long long)p->generation);
    vec_push(&x->rows, row);
}

/* Devices that are allocated, no longer published, and on no record (U2). */
static void explain_unknown(struct explainer *x, uint32_t alt, const struct seat *seat)
{
    const struct pool *p = seat->pool;
    struct alloc_reason row = row_of(x, alt, ALLOC_RULE_UNKNOWN_CONSUMPTION);
    if (!seat->view->counters)
        return;
    strmap_each(&p->held, e)
    {
        const struct held *h = e->value.ptr;
        if (!held_any(h) || h->commits || pool_find(p, h->device) != NONE)
            continue;
        if (row.devices++ == 0)
            row.detail =
                arena_printf(x->a,
                             "%.*s/%.*s/%.*s is allocated but no longer "
                             "published; what it draws is not known",
                             STR_ARG(p->driver), STR_ARG(p->name), STR_ARG(h->device));
    }
    row.example_slice = p->parts[0].v;
    if (row.devices)
        vec_push(&x->rows, row);
}

static void explain_alt(struct explainer *x, uint32_t alt)
{
    struct solver *s = x->s;
    const struct host *h = s->host;
    struct alloc_reason at = row_of(x, alt, ALLOC_RULE_IN_USE);
    struct alloc_need need = {
        .claim = at.claim, .request = at.request, .alternative = at.alternative};
    need.wanted =
        s->plan->alts[alt].all ? -1 : (int64_t)wanted_count(&s->plan->alts[alt]);
    x->first_row = (uint32_t)x->rows.n;
    for (uint32_t i = 0; i < s->nseats; i++) {
        if (s->seats[i].view->state != POOL_USABLE) {
            explain_bad_pool(x, alt, &s->seats[i]);
            continue;
        }
        explain_seat(x, alt, &s->seats[i], &need);
        explain_unknown(x, alt, &s->seats[i]);
    }
    for (size_t i = 0; i < h->pools.n; i++)
        explain_obsolete(x, alt, h->pools.v[i]);
    for (size_t i = 0; i < s->plan->inv->shared.n; i++)
        explain_obsolete(x, alt, s->plan->inv->shared.v[i]);
    vec_push(&x->needs, need);
}

/* ---- What the pod's requests want together ---- */

static uint64_t asked_word(const struct solver *s, uint32_t request, uint32_t word)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint64_t w = 0;
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
        if (!s->plan->alts[alt].admin)
            w |= s->alts.v[alt].ok[word] & ~s->taken[word];
    return w;
}

static uint32_t asked_count(const struct solver *s, uint32_t request)
{
    const struct plan_request *r = &s->plan->requests[request];
    uint32_t n = UINT32_MAX;
    for (uint32_t alt = r->alt; alt < r->alt + r->nalts; alt++)
        if (s->alts.v[alt].count < n)
            n = s->alts.v[alt].count;
    return n;
}

/* Requests that may take none but the devices of this one, and this one itself. */
static uint32_t rivals(const struct solver *s, uint32_t request)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i <= request; i++) {
        bool within = true;
        for (uint32_t w = 0; w < s->words && within; w++)
            within = (asked_word(s, i, w) & ~asked_word(s, request, w)) == 0;
        wanted += within ? asked_count(s, i) : 0;
    }
    return wanted;
}

static void explain_taken(struct explainer *x)
{
    const struct solver *s = x->s;
    for (uint32_t r = 0; r < s->plan->nrequests && !s->any_multi; r++) {
        uint32_t have = 0, wanted = rivals(s, r), own = asked_count(s, r);
        for (uint32_t w = 0; w < s->words; w++)
            have += (uint32_t)__builtin_popcountll(asked_word(s, r, w));
        if (have >= wanted || have < own)
            continue;
        struct alloc_reason row = row_of(x, s->plan->requests[r].alt, ALLOC_RULE_TAKEN);
        row.devices = have;
        row.detail = arena_printf(x->a, "with the requests before it %u are wanted of %u",
                                  wanted, have);
        vec_push(&x->rows, row);
        return;
    }
}

/* ---- What constraints leave ---- */

struct tally { /* of the values that free devices have */
    VEC(uint32_t) ids;
    VEC(uint32_t) counts;
    uint32_t wanted; /* devices that must agree, or differ */
};

static void tally_value(struct tally *t, uint32_t id)
{
    for (size_t i = 0; i < t->ids.n; i++)
        if (t->ids.v[i] == id) {
            t->counts.v[i]++;
            return;
        }
    vec_push(&t->ids, id);
    vec_push(&t->counts, 1);
}

/* Each device once, though several requests may take it. */
static void tally_constraint(const struct solver *s, uint32_t constraint, struct tally *t)
{
    const struct plan_claim *c = &s->plan->claims[s->plan->constraints[constraint].claim];
    uint64_t *seen = ARENA_ARRAY(s->out, uint64_t, s->words + 1);
    for (uint32_t r = c->request; r < c->request + c->nrequests; r++) {
        uint32_t alt = s->plan->requests[r].alt;
        uint32_t use = use_of(&s->plan->alts[alt], constraint);
        if (use == NONE || s->plan->requests[r].nalts > 1)
            continue;
        t->wanted += s->alts.v[alt].count;
        for (uint32_t w = 0; w < s->words; w++) {
            uint64_t open = asked_word(s, r, w) & ~seen[w];
            seen[w] |= open;
            for (; open; open &= open - 1) {
                uint32_t d = w * 64 + (uint32_t)__builtin_ctzll(open);
                const struct value_set *v = value_of(s, alt, use, d);
                for (uint32_t i = 0; i < v->n; i++)
                    tally_value(t, v->ids[i]);
            }
        }
    }
}

static struct str match_text(const struct explainer *x, struct str name,
                             const struct tally *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->ids.n; i++)
        if (t->counts.v[i] > t->counts.v[best])
            best = i;
    if (t->ids.n == 0 || t->counts.v[best] >= t->wanted)
        return STR_NONE;
    struct str value = value_text(x->s->plan->inv, t->ids.v[best], x->a);
    return arena_printf(x->a,
                        "%u devices must have the same %.*s; at most %u have (%.*s)",
                        t->wanted, STR_ARG(name), t->counts.v[best], STR_ARG(value));
}

static struct str distinct_text(const struct explainer *x, struct str name,
                                const struct tally *t)
{
    if (t->ids.n >= t->wanted)
        return STR_NONE;
    return arena_printf(x->a, "%u devices must differ in %.*s; there are %zu values",
                        t->wanted, STR_ARG(name), t->ids.n);
}

static void explain_constraint(struct explainer *x, uint32_t constraint)
{
    const struct plan_constraint *c = &x->s->plan->constraints[constraint];
    const struct plan_claim *claim = &x->s->plan->claims[c->claim];
    struct tally t = {0};
    tally_constraint(x->s, constraint, &t);
    struct str why =
        c->match ? match_text(x, c->name, &t) : distinct_text(x, c->name, &t);
    if (why.n && claim->nrequests) {
        struct alloc_reason row =
            row_of(x, x->s->plan->requests[claim->request].alt, ALLOC_RULE_CONSTRAINT);
        row.constraint = c->index;
        row.detail = why;
        vec_push(&x->rows, row);
    }
    vec_release(&t.ids);
    vec_release(&t.counts);
}

/* ---- In one line ---- */

static bool need_fails(const struct alloc_need *n)
{
    return n->wanted < 0 ? n->free == 0 || n->free < n->matching
                         : (int64_t)n->free < n->wanted;
}

/* The first request of which every alternative fails by itself: its first need. */
static const struct alloc_need *failing_need(const struct explainer *x)
{
    for (size_t i = 0; i < x->needs.n;) {
        size_t end = i;
        bool all = true;
        while (end < x->needs.n && x->needs.v[end].claim == x->needs.v[i].claim &&
               x->needs.v[end].request == x->needs.v[i].request)
            all &= need_fails(&x->needs.v[end++]);
        if (all)
            return &x->needs.v[i];
        i = end;
    }
    return NULL;
}

static void add_name(struct explainer *x, struct strbuf *b, uint32_t claim,
                     uint32_t request)
{
    const struct plan_claim *c = &x->s->plan->claims[claim];
    struct str path = claim_path(c->v, x->a);
    strbuf_addf(b, "claim %.*s, request %.*s: ", STR_ARG(path),
                STR_ARG(c->v->requests[request].name));
}

static void add_rows(struct explainer *x, struct strbuf *b, const struct alloc_need *n)
{
    const char *separator = ": ";
    for (size_t i = 0; i < x->rows.n; i++) {
        const struct alloc_reason *r = &x->rows.v[i];
        if (r->claim != n->claim || r->request != n->request ||
            r->alternative != n->alternative)
            continue;
        strbuf_addf(b, "%s%u %s", separator, r->devices, alloc_rule_name(r->rule));
        if (r->detail.n)
            strbuf_addf(b, " (%.*s)", STR_ARG(r->detail));
        separator = ", ";
    }
}

static void add_need(struct explainer *x, struct strbuf *b, const struct alloc_need *n)
{
    add_name(x, b, n->claim, n->request);
    if (n->wanted < 0)
        strbuf_addf(b, "wants all, %u match, %u free", n->matching, n->free);
    else
        strbuf_addf(b, "wants %lld, %u match, %u free", (long long)n->wanted, n->matching,
                    n->free);
    add_rows(x, b, n);
}

/* The row that says why requests, each fine by itself, cannot be met together. */
static const struct alloc_reason *joint_row(const struct explainer *x)
{
    return x->first_joint < x->rows.n ? &x->rows.v[x->first_joint] : NULL;
}

static const struct alloc_reason *invalid_row(const struct explainer *x)
{
    for (size_t i = 0; i < x->rows.n; i++)
        if (x->rows.v[i].rule == ALLOC_RULE_POOL_INVALID)
            return &x->rows.v[i];
    return NULL;
}

static struct str summary(struct explainer *x, const struct alloc_outcome *out)
{
    const struct alloc_need *n = failing_need(x);
    const struct alloc_reason *joint = joint_row(x), *invalid = invalid_row(x);
    struct strbuf b = STRBUF_INIT;
    if (out->error.n) {
        strbuf_addstr(&b, out->error);
        if (invalid && out->status == ALLOC_NODE_ERROR)
            strbuf_addf(&b, ": %.*s", STR_ARG(invalid->detail));
    } else if (n) {
        add_need(x, &b, n);
    } else if (joint) {
        add_name(x, &b, joint->claim, joint->request);
        strbuf_addstr(&b, joint->detail);
    } else {
        strbuf_adds(&b, "each request can be met, but not all of them together with "
                        "their constraints, counters and capacities");
    }
    struct str s = arena_str(x->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

static void explain_together(struct explainer *x)
{
    explain_taken(x);
    for (uint32_t c = 0; c < x->s->plan->nconstraints; c++)
        explain_constraint(x, c);
}

static void copy_out(struct explainer *x, struct alloc_outcome *out)
{
    struct alloc_reason *rows = ARENA_ARRAY(x->a, struct alloc_reason, x->rows.n);
    struct alloc_need *needs = ARENA_ARRAY(x->a, struct alloc_need, x->needs.n);
    if (x->rows.n)
        memcpy(rows, x->rows.v, x->rows.n * sizeof *rows);
    if (x->needs.n)
        memcpy(needs, x->needs.v, x->needs.n * sizeof *needs);
    out->reasons = rows;
    out->nreasons = (uint32_t)x->rows.n;
    out->needs = needs;
    out->nneeds = (uint32_t)x->needs.n;
}

void reasons_build(struct solver *s, struct alloc_outcome *out, bool ready)
{
    struct explainer x = {.s = s, .a = s->out};
    while (ready && s->picks.n)
        state_undo(s);
    for (uint32_t alt = 0; ready && alt < s->plan->nalts; alt++)
        explain_alt(&x, alt);
    x.first_joint = (uint32_t)x.rows.n;
    if (ready && out->status == ALLOC_NONE)
        explain_together(&x);
    out->summary = summary(&x, out);
    copy_out(&x, out);
    vec_release(&x.rows);
    vec_release(&x.needs);
}
