/* SPDX-License-Identifier: Apache-2.0 */
/* What is allocated (spec 3.13), counted by holder: a device that two claims hold is
 * free only when both are gone. */
#include "alloc/inner.h"

#include <stdlib.h>

/* ---- Devices ---- */

static struct held *held_get(struct pool *p, struct str device)
{
    struct strmap_entry *e = strmap_find(&p->held, device);
    if (!e) {
        struct held *h = mem_zalloc(sizeof *h);
        h->device = (struct str){mem_dup(device.p, device.n), device.n};
        e = strmap_put(&p->held, h->device, NULL);
        e->value.ptr = h;
    }
    return e->value.ptr;
}

void held_free(struct held *h)
{
    for (size_t i = 0; i < h->consumed.n; i++)
        free((char *)h->consumed.v[i].name.p);
    vec_release(&h->consumed);
    vec_release(&h->counters);
    free((char *)h->device.p);
    free((char *)h->holder.p);
    free(h);
}

const struct held *held_find(const struct pool *p, struct str device)
{
    const struct strmap_entry *e = strmap_find(&p->held, device);
    return e ? e->value.ptr : NULL;
}

bool held_any(const struct held *h)
{
    return h->exclusive || h->shares || h->records;
}

void held_trim(struct pool *p)
{
    strmap_each(&p->held, e)
    {
        struct held *h = e->value.ptr;
        if (held_any(h))
            continue;
        strmap_remove(&p->held, h->device);
        held_free(h);
    }
}

static struct held_amount *consumed_get(struct held *h, struct str name)
{
    for (size_t i = 0; i < h->consumed.n; i++)
        if (str_eq(h->consumed.v[i].name, name))
            return &h->consumed.v[i];
    struct str kept = {mem_dup(name.p, name.n), name.n};
    vec_push(&h->consumed, (struct held_amount){.name = kept});
    return &h->consumed.v[h->consumed.n - 1];
}

static void set_holder(struct held *h, const struct view_claim *c)
{
    struct arena a;
    arena_init(&a);
    struct str s = claim_path(c, &a);
    free((char *)h->holder.p);
    h->holder = (struct str){mem_dup(s.p, s.n), s.n};
    arena_fini(&a);
}

/* ---- Entries of a claim ---- */

static void consume(struct ledger_entry *e, struct str name, const struct quantity *q)
{
    amount n;
    if (!amount_from(q, &n))
        n = AMOUNT_MAX / 4; /* more than any device has */
    struct held_amount *sum = consumed_get(e->held, name);
    if (!amount_add(&sum->n, n))
        return;
    vec_push(&e->consumed, (struct held_amount){sum->name, n});
}

static void drop_counters(struct ledger_entry *e)
{
    struct held *h = e->held;
    if (!e->committed || --h->commits > 0)
        return;
    for (size_t i = 0; i < h->counters.n; i++) {
        free((char *)h->counters.v[i].set.p);
        free((char *)h->counters.v[i].name.p);
    }
    vec_clear(&h->counters);
}

static void drop_entry(struct alloc_inventory *inv, struct ledger_entry *e)
{
    struct held *h = e->held;
    uint32_t *holders = e->share ? &h->shares : &h->exclusive;
    (*holders)--;
    for (size_t i = 0; i < e->consumed.n; i++)
        consumed_get(h, e->consumed.v[i].name)->n -= e->consumed.v[i].n;
    vec_release(&e->consumed);
    drop_counters(e);
    pool_charged(inv, e->pool, h);
}

static void claim_free(struct ledger_claim *c)
{
    vec_release(&c->entries);
    free((char *)c->uid.p);
    free(c);
}

void ledger_free(struct alloc_inventory *inv)
{
    strmap_each(&inv->claims, e)
    {
        struct ledger_claim *c = e->value.ptr;
        for (size_t i = 0; i < c->entries.n; i++) {
            drop_counters(&c->entries.v[i]);
            vec_release(&c->entries.v[i].consumed);
        }
        claim_free(c);
    }
    strmap_release(&inv->claims);
}

void alloc_release(struct alloc_inventory *inv, struct str uid)
{
    struct strmap_entry *e = strmap_find(&inv->claims, uid);
    if (!e)
        return;
    struct ledger_claim *c = e->value.ptr;
    for (size_t i = 0; i < c->entries.n; i++)
        drop_entry(inv, &c->entries.v[i]);
    strmap_remove(&inv->claims, uid);
    claim_free(c);
}

static struct ledger_claim *claim_new(struct alloc_inventory *inv,
                                      const struct view_claim *claim)
{
    struct arena a;
    arena_init(&a);
    struct str key = claim->meta.uid.n ? claim->meta.uid : claim_path(claim, &a);
    alloc_release(inv, key);
    struct ledger_claim *c = mem_zalloc(sizeof *c);
    c->uid = (struct str){mem_dup(key.p, key.n), key.n};
    strmap_put(&inv->claims, c->uid, NULL)->value.ptr = c;
    arena_fini(&a);
    return c;
}

static struct ledger_entry *add_entry(struct alloc_inventory *inv, struct ledger_claim *c,
                                      const struct view_claim *claim, struct str driver,
                                      struct str pool, struct str device, bool share)
{
    struct ledger_entry e = {.pool = pool_get(inv, driver, pool), .share = share};
    e.held = held_get(e.pool, device);
    set_holder(e.held, claim);
    if (share)
        e.held->shares++;
    else
        e.held->exclusive++;
    vec_push(&c->entries, e);
    return &c->entries.v[c->entries.n - 1];
}

static void charge_result(struct alloc_inventory *inv, struct ledger_claim *c,
                          const struct view_claim *claim, const struct view_result *r)
{
    bool share = inv->features.consumable_capacity && r->share_id.n;
    if (r->has_admin && r->admin)
        return;
    struct ledger_entry *e =
        add_entry(inv, c, claim, r->driver, r->pool, r->device, share);
    for (uint32_t i = 0; share && i < r->nconsumed; i++)
        consume(e, r->consumed[i].name, &r->consumed[i].value);
    pool_charged(inv, e->pool, e->held);
}

void alloc_charge(struct alloc_inventory *inv, const struct view_claim *claim)
{
    struct ledger_claim *c = claim_new(inv, claim);
    if (!claim->allocation) {
        alloc_release(inv, c->uid);
        return;
    }
    for (uint32_t i = 0; i < claim->allocation->nresults; i++)
        charge_result(inv, c, claim, &claim->allocation->results[i]);
}

/* ---- Commits: counters are recorded too (U2) ---- */

static void record_counters(struct held *h, const struct view_device *d)
{
    for (uint32_t i = 0; i < d->nconsumes; i++) {
        const struct view_consumption *u = &d->consumes[i];
        for (uint32_t j = 0; j < u->ncounters; j++) {
            struct held_counter c = {.n = AMOUNT_MAX / 4};
            amount_from(&u->counters[j].value, &c.n);
            c.set = (struct str){mem_dup(u->counter_set.p, u->counter_set.n),
                                 u->counter_set.n};
            c.name = (struct str){mem_dup(u->counters[j].name.p, u->counters[j].name.n),
                                  u->counters[j].name.n};
            vec_push(&h->counters, c);
        }
    }
}

static void commit_pick(struct alloc_inventory *inv, struct ledger_claim *c,
                        const struct view_claim *claim, const struct alloc_pick *pick)
{
    if (pick->admin)
        return;
    struct ledger_entry *e =
        add_entry(inv, c, claim, pick->slice->driver, pick->slice->pool,
                  pick->device->name, pick->share);
    for (uint32_t i = 0; i < pick->nconsumed; i++)
        consume(e, pick->consumed[i].name, &pick->consumed[i].value);
    e->committed = true;
    if (e->held->commits++ == 0 && inv->features.partitionable_devices)
        record_counters(e->held, pick->device);
    pool_charged(inv, e->pool, e->held);
}

void alloc_commit(struct alloc_inventory *inv, const struct view_claim *claim,
                  const struct alloc_result *result)
{
    struct ledger_claim *c = claim_new(inv, claim);
    for (uint32_t i = 0; i < result->npicks; i++)
        commit_pick(inv, c, claim, &result->picks[i]);
}

/* ---- Raw state ---- */

void alloc_mark_device(struct alloc_inventory *inv, struct str driver, struct str pool,
                       struct str device)
{
    struct pool *p = pool_get(inv, driver, pool);
    struct held *h = held_get(p, device);
    h->exclusive++;
    pool_charged(inv, p, h);
}

void alloc_mark_share(struct alloc_inventory *inv, struct str driver, struct str pool,
                      struct str device, struct str share_id)
{
    (void)share_id; /* that there is one is all that counts */
    struct pool *p = pool_get(inv, driver, pool);
    struct held *h = held_get(p, device);
    h->shares++;
    pool_charged(inv, p, h);
}

void alloc_mark_consumed(struct alloc_inventory *inv, struct str driver, struct str pool,
                         struct str device, const struct view_amount *amounts, uint32_t n)
{
    struct pool *p = pool_get(inv, driver, pool);
    struct held *h = held_get(p, device);
    h->records++;
    for (uint32_t i = 0; i < n; i++) {
        amount v;
        if (!amount_from(&amounts[i].value, &v))
            v = AMOUNT_MAX / 4;
        amount_add(&consumed_get(h, amounts[i].name)->n, v);
    }
    pool_charged(inv, p, h);
}

struct str claim_path(const struct view_claim *c, struct arena *a)
{
    if (c->meta.namespace.n == 0)
        return c->meta.name;
    return arena_printf(a, "%.*s/%.*s", STR_ARG(c->meta.namespace),
                        STR_ARG(c->meta.name));
}
