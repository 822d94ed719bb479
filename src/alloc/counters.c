/* SPDX-License-Identifier: Apache-2.0 */
/* Shared counters and compatibility groups of a pool (spec 3.9). */
#include "alloc/inner.h"

#include <stdlib.h>

/* ---- Sets ---- */

static bool takes_part(const struct counters *c, const struct pool *p, uint32_t part)
{
    return bit_test(c->parts, part) && !p->parts[part].uncounted;
}

static uint32_t count_sets(const struct counters *c, const struct pool *p, uint32_t *n)
{
    uint32_t sets = 0;
    *n = 0;
    for (uint32_t i = 0; i < p->nparts; i++) {
        const struct view_slice *s = p->parts[i].v;
        if (!p->parts[i].holds_sets || !takes_part(c, p, i))
            continue;
        sets += s->ncounter_sets;
        for (uint32_t j = 0; j < s->ncounter_sets; j++)
            *n += s->counter_sets[j].ncounters;
    }
    return sets;
}

static bool set_invalid(struct counters *c, struct str why)
{
    c->invalid = why;
    return false;
}

static bool add_set(struct counters *c, struct pool *p, struct strmap *by_name,
                    const struct view_counter_set *set)
{
    bool made;
    struct strmap_entry *e = strmap_put(by_name, set->name, &made);
    if (!made)
        return set_invalid(c, arena_printf(&p->mem, "duplicate counter set name %.*s",
                                           STR_ARG(set->name)));
    e->value.u = c->nsets;
    for (uint32_t i = 0; i < set->ncounters; i++) {
        c->names[c->n] = set->counters[i].name;
        c->set_of[c->n] = c->nsets;
        if (!amount_from(&set->counters[i].value, &c->total[c->n]))
            c->total[c->n] = -1; /* too large to compute with: nothing fits */
        c->n++;
    }
    c->set_first[c->nsets] = c->n - set->ncounters;
    c->sets[c->nsets++] = set;
    return true;
}

static bool add_sets(struct counters *c, struct pool *p, struct strmap *by_name)
{
    uint32_t n, nsets = count_sets(c, p, &n);
    c->sets = ARENA_ARRAY(&p->mem, const struct view_counter_set *, nsets);
    c->set_first = ARENA_ARRAY(&p->mem, uint32_t, nsets);
    c->groups = ARENA_ARRAY(&p->mem, struct group_state, nsets);
    c->names = ARENA_ARRAY(&p->mem, struct str, n);
    c->set_of = ARENA_ARRAY(&p->mem, uint32_t, n);
    c->total = ARENA_ARRAY(&p->mem, amount, n);
    c->left = ARENA_ARRAY(&p->mem, amount, n);
    for (uint32_t i = 0; i < p->nparts; i++) {
        const struct view_slice *s = p->parts[i].v;
        if (!p->parts[i].holds_sets || !takes_part(c, p, i))
            continue;
        for (uint32_t j = 0; j < s->ncounter_sets; j++)
            if (!add_set(c, p, by_name, &s->counter_sets[j]))
                return false;
    }
    return true;
}

/* ---- Uses ---- */

static uint32_t counters_find(const struct counters *c, uint32_t set, struct str name)
{
    const struct view_counter_set *s = c->sets[set];
    for (uint32_t i = 0; i < s->ncounters; i++)
        if (str_eq(s->counters[i].name, name))
            return c->set_first[set] + i;
    return NONE;
}

static void count_uses(const struct pool *p, uint32_t *uses, uint32_t *sets)
{
    *uses = *sets = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct view_device *d = p->devices[i].v;
        *sets += d->nconsumes;
        for (uint32_t j = 0; j < d->nconsumes; j++)
            *uses += d->consumes[j].ncounters;
    }
}

struct use_writer {
    struct counters *c;
    struct pool *p;
    const struct strmap *by_name;
    uint32_t uses, sets; /* written so far */
};

static bool add_use(struct use_writer *w, uint32_t device, uint32_t set,
                    const struct view_amount *take)
{
    struct counters *c = w->c;
    struct use u = {.counter = counters_find(c, set, take->name)};
    if (u.counter == NONE)
        return set_invalid(
            c, arena_printf(&w->p->mem, "counter %.*s not found in counter set %.*s",
                            STR_ARG(take->name), STR_ARG(c->sets[set]->name)));
    if (!amount_from(&take->value, &u.n))
        bit_set(c->odd, device);
    c->uses[w->uses++] = u;
    return true;
}

static bool add_consumption(struct use_writer *w, uint32_t device,
                            const struct view_consumption *take)
{
    struct counters *c = w->c;
    const struct strmap_entry *e = strmap_find(w->by_name, take->counter_set);
    if (!e)
        return set_invalid(c, arena_printf(&w->p->mem, "counter set %.*s not found",
                                           STR_ARG(take->counter_set)));
    uint32_t set = (uint32_t)e->value.u;
    c->set_uses[w->sets++] = (struct set_use){set, &take->groups};
    for (uint32_t i = 0; i < take->ncounters; i++)
        if (!add_use(w, device, set, &take->counters[i]))
            return false;
    return true;
}

static bool add_uses(struct counters *c, struct pool *p, const struct strmap *by_name)
{
    uint32_t nuses, nsets;
    count_uses(p, &nuses, &nsets);
    c->uses = ARENA_ARRAY(&p->mem, struct use, nuses);
    c->set_uses = ARENA_ARRAY(&p->mem, struct set_use, nsets);
    c->use_at = ARENA_ARRAY(&p->mem, uint32_t, p->n + 1);
    c->set_at = ARENA_ARRAY(&p->mem, uint32_t, p->n + 1);
    c->odd = ARENA_ARRAY(&p->mem, uint64_t, p->words + 1);
    struct use_writer w = {c, p, by_name, 0, 0};
    for (uint32_t i = 0; i < p->n; i++) {
        const struct view_device *d = p->devices[i].v;
        bool counts = takes_part(c, p, p->devices[i].part);
        for (uint32_t j = 0; counts && j < d->nconsumes; j++)
            if (!add_consumption(&w, i, &d->consumes[j]))
                return false;
        c->use_at[i + 1] = w.uses;
        c->set_at[i + 1] = w.sets;
    }
    return true;
}

static struct counters *make(struct pool *p, const uint64_t *parts)
{
    struct counters *c = ARENA_NEW(&p->mem, struct counters);
    c->parts = parts;
    c->version = UINT64_MAX;
    struct strmap by_name = STRMAP_INIT;
    if (add_sets(c, p, &by_name))
        add_uses(c, p, &by_name);
    strmap_release(&by_name);
    return c;
}

static bool needs_counters(const struct pool *p)
{
    if (p->any_consumes)
        return true;
    for (uint32_t i = 0; i < p->nparts; i++)
        if (p->parts[i].holds_sets)
            return true;
    return false;
}

struct counters *pool_counters(struct alloc_inventory *inv, struct pool *p,
                               const uint64_t *parts)
{
    if (!inv->features.partitionable_devices || !needs_counters(p))
        return NULL;
    size_t bytes = BITSET_WORDS(p->nparts) * sizeof *parts;
    for (struct counters *c = p->counters; c; c = c->next)
        if (memcmp(c->parts, parts, bytes) == 0)
            return c;
    struct counters *c = make(p, parts);
    c->next = p->counters;
    p->counters = c;
    return c;
}

/* ---- What is allocated (rule 51) ---- */

static void take_published(struct counters *c, uint32_t device)
{
    for (uint32_t i = c->use_at[device]; i < c->use_at[device + 1]; i++)
        c->left[c->uses[i].counter] -= c->uses[i].n;
}

static void take_groups(struct counters *c, uint32_t device)
{
    for (uint32_t i = c->set_at[device]; i < c->set_at[device + 1]; i++) {
        struct group_state *s = &c->groups[c->set_uses[i].set];
        *s = groups_add(s, c->set_uses[i].groups);
    }
}

static void take_record(struct counters *c, const struct held *h)
{
    for (size_t i = 0; i < h->counters.n; i++)
        for (uint32_t set = 0; set < c->nsets; set++) {
            if (!str_eq(c->sets[set]->name, h->counters.v[i].set))
                continue;
            uint32_t counter = counters_find(c, set, h->counters.v[i].name);
            if (counter != NONE)
                c->left[counter] -= h->counters.v[i].n;
        }
}

static void take_held(struct counters *c, const struct pool *p, const struct held *h)
{
    if (h->exclusive + h->shares + h->records == 0)
        return;
    bool recorded = h->commits > 0;
    if (recorded)
        take_record(c, h);
    for (uint32_t i = pool_find(p, h->device); i != NONE; i = p->same_name[i]) {
        if (!takes_part(c, p, p->devices[i].part))
            continue;
        take_groups(c, i);
        if (!recorded)
            take_published(c, i);
    }
}

void counters_refresh(struct pool *p, struct counters *c)
{
    if (c->version == p->charges)
        return;
    memcpy(c->left, c->total, c->n * sizeof *c->left);
    memset(c->groups, 0, c->nsets * sizeof *c->groups);
    strmap_each(&p->held, e) take_held(c, p, e->value.ptr);
    c->version = p->charges;
}

/* ---- Compatibility groups (rule 55) ---- */

static bool has_group(const struct view_strs *groups, struct str name)
{
    for (uint32_t i = 0; i < groups->n; i++)
        if (str_eq(groups->v[i], name))
            return true;
    return false;
}

/* The bits of s whose groups are also in groups. */
static uint64_t live_in(const struct group_state *s, const struct view_strs *groups)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < s->groups->n && i < 64; i++)
        if (s->live >> i & 1 && has_group(groups, s->groups->v[i]))
            live |= (uint64_t)1 << i;
    return live;
}

bool groups_admit(const struct group_state *s, const struct view_strs *groups)
{
    if (!s->groups)
        return true;
    if (groups->n == 0 || s->groups->n == 0)
        return groups->n == 0 && s->groups->n == 0;
    return live_in(s, groups) != 0;
}

/* Devices with and without groups on one set can only be there by a change of what is
 * published; no group is left then, and nothing fits. */
struct group_state groups_add(const struct group_state *s, const struct view_strs *groups)
{
    uint64_t all = groups->n < 64 ? ((uint64_t)1 << groups->n) - 1 : UINT64_MAX;
    if (!s->groups)
        return (struct group_state){groups, all};
    if (s->groups->n == 0)
        return (struct group_state){groups->n ? groups : s->groups, 0};
    return (struct group_state){s->groups, live_in(s, groups)};
}
