/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that are parts of one (partitions of a GPU, and the GPU) exclude one another by
 * the counters that they consume. Whoever allocated them has seen to that; this is who
 * would break a device in use if he had not.
 */
#include "driver/prepare_inner.h"
#include "num/quantity.h"

/* What is in use, each device once: by other claims, and by the one that asks. */
struct in_use {
    const struct driver_prepare *p;
    const struct prepare_claim **holders; /* by device; NULL: not in use by others */
    bool *asked;
    struct arena a;
};

static void note_holders(struct in_use *s, struct str uid)
{
    strmap_each(&s->p->holds.claims, at)
    {
        const struct prepare_claim *c = at->value.ptr;
        for (uint32_t i = 0; i < c->n && !str_eq(c->uid, uid); i++) {
            const struct driver_device *d = prepare_device(s->p, c->holds[i].identity);
            if (d && !c->holds[i].admin)
                s->holders[d - s->p->inventory->devices] = c;
        }
    }
}

static const struct driver_counter *find(const struct driver_counter_set *v, uint32_t n,
                                         struct str set, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; str_eq(v[i].name, set) && j < v[i].n; j++) {
            if (str_eq(v[i].counters[j].name, name))
                return &v[i].counters[j];
        }
    }
    return NULL;
}

/* Of this counter by all of them; *holder: somebody who has a part of it. */
static struct quantity used(struct in_use *s, struct str set, struct str name,
                            const struct prepare_claim **holder)
{
    const struct driver_inventory *v = s->p->inventory;
    struct quantity sum = QUANTITY_ZERO, one;
    for (uint32_t i = 0; i < v->ndevices; i++) {
        const struct driver_device *d = &v->devices[i];
        const struct driver_counter *c = s->holders[i] || s->asked[i]
                                             ? find(d->consumes, d->nconsumes, set, name)
                                             : NULL;
        if (!c || !quantity_parse(c->quantity, &s->a, &one, NULL))
            continue;
        sum = quantity_add(&sum, &one, &s->a);
        *holder = s->holders[i] ? s->holders[i] : *holder;
    }
    return sum;
}

static bool refuse(const struct prepare_use *u, struct str set, struct str name,
                   const struct prepare_claim *holder, struct err *e)
{
    if (!holder)
        return err_set(e, ERR_INVALID,
                       "device %.*s needs more of %.*s/%.*s than the claim's other "
                       "devices leave",
                       STR_ARG(u->device), STR_ARG(set), STR_ARG(name));
    return err_set(e, ERR_INVALID,
                   "device %.*s needs more of %.*s/%.*s than is left by claim %.*s/%.*s "
                   "(UID %.*s)",
                   STR_ARG(u->device), STR_ARG(set), STR_ARG(name),
                   STR_ARG(holder->namespace), STR_ARG(holder->name),
                   STR_ARG(holder->uid));
}

static bool set_allows(struct in_use *s, const struct prepare_use *u,
                       const struct driver_counter_set *set, struct err *e)
{
    const struct driver_inventory *v = s->p->inventory;
    for (uint32_t i = 0; i < set->n; i++) {
        struct str name = set->counters[i].name;
        const struct driver_counter *all =
            find(v->counters, v->ncounters, set->name, name);
        const struct prepare_claim *holder = NULL;
        struct quantity limit, sum = used(s, set->name, name, &holder);
        if (all && quantity_parse(all->quantity, &s->a, &limit, NULL) &&
            quantity_cmp(&sum, &limit) > 0)
            return refuse(u, set->name, name, holder, e);
    }
    return true;
}

static bool allow(struct in_use *s, const struct prepare_entry *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct prepare_use *u = &x->uses[i];
        for (uint32_t j = 0; !u->admin && j < u->found->nconsumes; j++) {
            if (!set_allows(s, u, &u->found->consumes[j], e))
                return false;
        }
    }
    return true;
}

bool prepare_counters_allow(const struct driver_prepare *p, const struct prepare_entry *x,
                            struct err *e)
{
    bool counted = false;
    for (uint32_t i = 0; i < x->n; i++)
        counted |= x->uses[i].found->nconsumes > 0;
    if (!counted)
        return true;
    struct in_use s = {.p = p};
    uint32_t n = p->inventory->ndevices;
    s.holders = ARENA_ARRAY(&s.a, const struct prepare_claim *, n);
    s.asked = ARENA_ARRAY(&s.a, bool, n);
    note_holders(&s, x->uid);
    for (uint32_t i = 0; i < x->n; i++)
        s.asked[x->uses[i].found - p->inventory->devices] |= !x->uses[i].admin;
    bool ok = allow(&s, x, e);
    arena_fini(&s.a);
    return ok;
}
