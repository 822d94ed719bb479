/* SPDX-License-Identifier: Apache-2.0 */
#include "property/alloc_ledger.h"

struct ledger {
    const struct live_allocation *live;
    uint32_t n;
};

static bool on_device(const struct alloc_pick *p, const struct view_slice *s,
                      const struct view_device *d)
{
    return !p->admin && str_eq(p->slice->driver, s->driver) &&
           str_eq(p->slice->pool, s->pool) && str_eq(p->device->name, d->name);
}

static void count_holders(const struct ledger *l, const struct view_slice *s,
                          const struct view_device *d, uint32_t *exclusive,
                          uint32_t *shares)
{
    *exclusive = *shares = 0;
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t j = 0; j < l->live[i].result.npicks; j++) {
            const struct alloc_pick *p = &l->live[i].result.picks[j];
            if (on_device(p, s, d))
                ++*(p->share ? shares : exclusive);
        }
}

static int64_t amount_of(const struct view_amount *v, uint32_t n, struct str name)
{
    int64_t whole = 0;
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].name, name))
            quantity_scaled(&v[i].value, 0, &whole);
    return whole;
}

static bool capacity_holds(const struct ledger *l, const struct view_slice *s,
                           const struct view_device *d, const struct device_capacity *c)
{
    int64_t sum = 0, total = 0;
    quantity_scaled(&c->value, 0, &total);
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t j = 0; j < l->live[i].result.npicks; j++) {
            const struct alloc_pick *p = &l->live[i].result.picks[j];
            if (on_device(p, s, d))
                sum += amount_of(p->consumed, p->nconsumed, c->name);
        }
    return sum <= total;
}

static const char *device_problem(const struct ledger *l, const struct view_slice *s,
                                  const struct view_device *d)
{
    uint32_t exclusive, shares;
    count_holders(l, s, d, &exclusive, &shares);
    if (exclusive > 1)
        return "an exclusive device is in two allocations";
    if (exclusive && shares)
        return "a device is shared and exclusive";
    for (uint32_t i = 0; i < d->facts.shape->ncapacities; i++) {
        const struct device_capacity c = device_capacity(&d->facts, i);
        if (!capacity_holds(l, s, d, &c))
            return "more of a capacity is given out than there is";
    }
    return NULL;
}

static int64_t drawn(const struct ledger *l, const struct view_slice *s,
                     const struct view_device *d, struct str set, struct str counter)
{
    uint32_t exclusive, shares;
    count_holders(l, s, d, &exclusive, &shares);
    int64_t sum = 0;
    for (uint32_t i = 0; exclusive + shares && i < d->nconsumes; i++)
        if (str_eq(d->consumes[i].counter_set, set))
            sum += amount_of(d->consumes[i].counters, d->consumes[i].ncounters, counter);
    return sum;
}

static const char *counter_problem(const struct ledger *l,
                                   const struct view_slice *const *slices, uint32_t n,
                                   const struct view_slice *of,
                                   const struct view_counter_set *set,
                                   const struct view_amount *counter)
{
    int64_t total = 0, sum = 0;
    quantity_scaled(&counter->value, 0, &total);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < slices[i]->ndevices; j++)
            if (str_eq(slices[i]->driver, of->driver) &&
                str_eq(slices[i]->pool, of->pool))
                sum +=
                    drawn(l, slices[i], &slices[i]->devices[j], set->name, counter->name);
    return sum <= total ? NULL : "more of a counter is given out than there is";
}

static const char *set_problem(const struct ledger *l,
                               const struct view_slice *const *slices, uint32_t n,
                               const struct view_slice *s)
{
    const char *why = NULL;
    for (uint32_t i = 0; i < s->ncounter_sets && !why; i++)
        for (uint32_t j = 0; j < s->counter_sets[i].ncounters && !why; j++)
            why = counter_problem(l, slices, n, s, &s->counter_sets[i],
                                  &s->counter_sets[i].counters[j]);
    return why;
}

const char *ledger_problem(const struct live_allocation *live, uint32_t n,
                           const struct view_slice *const *slices, uint32_t nslices)
{
    struct ledger l = {live, n};
    const char *why = NULL;
    for (uint32_t i = 0; i < nslices && !why; i++) {
        for (uint32_t j = 0; j < slices[i]->ndevices && !why; j++)
            why = device_problem(&l, slices[i], &slices[i]->devices[j]);
        if (!why)
            why = set_problem(&l, slices, nslices, slices[i]);
    }
    return why;
}
