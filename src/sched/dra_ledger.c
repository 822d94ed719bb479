/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims as they are known, flights, and what the inventory is charged with for both.
 *
 * Must stay true: of a claim (by its UID) the inventory is charged with what it is known
 * to hold, else with what is in flight for it, else with nothing. So a device that was
 * decided on is never free in between, and what the scheduler wrote itself counts before
 * its informer tells of it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/dra_inner.h"

static const void *view_claim(const struct doc *doc, struct arena *a, struct err *e)
{
    return view_claim_new(doc, a, e);
}
const struct object_opts dra_claim_opts = {.view = view_claim};

/* ---- known claims ---- */

static struct dra_known *find(const struct dra *d, struct str key)
{
    const struct strmap_entry *e = strmap_find(&d->known, key);
    return e ? e->value.ptr : NULL;
}

static struct object *newest(const struct dra_known *k)
{
    return k && k->wrote ? k->wrote : k ? k->told : NULL;
}

struct object *dra_known(const struct dra *d, struct str namespace, struct str name)
{
    struct arena a;
    arena_init(&a);
    struct dra_known *k =
        find(d, arena_printf(&a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
    arena_fini(&a);
    return newest(k);
}

static void known_free(struct dra_known *k)
{
    object_unref(k->told);
    object_unref(k->wrote);
    free((char *)k->key.p);
    free(k);
}

static struct dra_known *known_put(struct dra *d, struct str key)
{
    struct dra_known *k = find(d, key);
    if (k)
        return k;
    k = mem_zalloc(sizeof *k);
    k->key = (struct str){mem_dup(key.p, key.n), key.n};
    strmap_put(&d->known, k->key, NULL)->value.ptr = k;
    return k;
}

/* resourceVersions are numbers that grow (KEP-5504); what is none is older. */
static uint64_t version_of(const struct object *o)
{
    uint64_t v = 0;
    for (size_t i = 0; i < o->version.n; i++) {
        char c = o->version.p[i];
        if (c < '0' || c > '9')
            return 0;
        v = v * 10 + (uint64_t)(c - '0');
    }
    return v;
}

/* ---- charging ---- */

static struct str uid_of(const struct object *o)
{
    return o->uid.n ? o->uid : o->key;
}

static bool same_devices(const struct view_allocation *a, const struct view_allocation *b)
{
    if (a->nresults != b->nresults)
        return false;
    for (uint32_t i = 0; i < a->nresults; i++) {
        const struct view_result *x = &a->results[i], *y = &b->results[i];
        if (!str_eq(x->driver, y->driver) || !str_eq(x->pool, y->pool) ||
            !str_eq(x->device, y->device) || !str_eq(x->share_id, y->share_id))
            return false;
    }
    return true;
}

/* before, if there was one, has the same UID. What is charged already stays as it was
 * recorded: with the counters of then (spec 3.14, U2). */
static void charge(struct dra *d, struct dra_known *k, const struct object *before)
{
    const struct object *now = newest(k);
    const struct dra_flight *f = dra_flight(d, uid_of(now));
    const struct object *old = k->held ? before : f ? f->claim : NULL;
    const struct view_allocation *al = dra_view(now)->allocation;
    if (al) {
        const struct view_allocation *was = old ? dra_view(old)->allocation : NULL;
        if (!was || !same_devices(was, al))
            alloc_charge(d->inv, now->view);
    } else if (k->held && !f) {
        alloc_release(d->inv, uid_of(now));
    }
    k->held = al != NULL;
}

static void discharge(struct dra *d, struct dra_known *k, const struct object *gone)
{
    if (k->held && !dra_flight(d, uid_of(gone)))
        alloc_release(d->inv, uid_of(gone));
    k->held = false;
}

/* ---- changes ---- */

static void tell(struct dra *d, const struct object *old, const struct object *now)
{
    index_change(&d->special, old, now);
    bool frees = old && dra_is_allocated(old) && !(now && dra_is_allocated(now));
    struct dra_event e = {DRA_CLAIM, old, now, .all_pods = frees};
    if (d->opts.changed)
        d->opts.changed(d->opts.ctx, &e);
    dra_wake_waiting(d);
}

/* What is newest has become something else. */
static void settle(struct dra *d, struct dra_known *k, struct object *before)
{
    struct object *now = newest(k);
    if (before && !str_eq(uid_of(before), uid_of(now)))
        discharge(d, k, before);
    charge(d, k, before);
    object_ref(now);
    tell(d, before, now);
    object_unref(now);
}

static void remove_known(struct dra *d, struct str key)
{
    struct dra_known *k = find(d, key);
    if (!k)
        return;
    struct object *last = newest(k);
    strmap_remove(&d->known, k->key);
    discharge(d, k, last);
    tell(d, last, NULL);
    known_free(k);
}

void dra_claim_told(struct dra *d, const struct object *old, const struct object *now)
{
    if (!now) {
        remove_known(d, old->key);
        return;
    }
    struct dra_known *k = known_put(d, now->key);
    struct object *before = newest(k), *told = k->told, *wrote = k->wrote;
    if (before)
        object_ref(before);
    k->told = object_ref((struct object *)now);
    if (wrote && version_of(now) >= version_of(wrote))
        k->wrote = NULL;
    else
        wrote = NULL;
    if (newest(k) != before)
        settle(d, k, before);
    object_unref(told);
    object_unref(wrote);
    object_unref(before);
}

bool dra_claim_wrote(struct dra *d, struct object *claim)
{
    struct dra_known *k = find(d, claim->key);
    if (!k || !str_eq(k->told->uid, claim->uid))
        return false;
    struct object *before = newest(k), *wrote = k->wrote;
    if (version_of(claim) <= version_of(before))
        return true;
    object_ref(before);
    k->wrote = object_ref(claim);
    settle(d, k, before);
    object_unref(wrote);
    object_unref(before);
    return true;
}

/* ---- flights ---- */

static struct dra_flight *find_flight(const struct dra *d, struct str uid)
{
    const struct strmap_entry *e = strmap_find(&d->flights, uid);
    return e ? e->value.ptr : NULL;
}

const struct dra_flight *dra_flight(const struct dra *d, struct str uid)
{
    return find_flight(d, uid);
}

static void flight_free(struct dra_flight *f)
{
    object_unref(f->claim);
    free((char *)f->uid.p);
    free(f);
}

void dra_take_off(struct dra *d, struct object *claim, const struct alloc_result *result)
{
    struct str uid = uid_of(claim);
    struct dra_flight *f = find_flight(d, uid);
    if (f) {
        f->sharers++;
        object_unref(claim);
        return;
    }
    f = mem_zalloc(sizeof *f);
    *f = (struct dra_flight){
        .uid = {mem_dup(uid.p, uid.n), uid.n}, .claim = claim, .sharers = 1};
    strmap_put(&d->flights, f->uid, NULL)->value.ptr = f;
    if (result)
        alloc_commit(d->inv, claim->view, result);
    else
        alloc_charge(d->inv, claim->view);
}

static bool is_held(const struct dra *d, const struct object *claim)
{
    struct dra_known *k = find(d, claim->key);
    return k && k->held && str_eq(uid_of(newest(k)), uid_of(claim));
}

bool dra_land(struct dra *d, struct str uid, bool all)
{
    struct dra_flight *f = find_flight(d, uid);
    if (!f || (!all && --f->sharers > 0))
        return false;
    strmap_remove(&d->flights, f->uid);
    if (!is_held(d, f->claim))
        alloc_release(d->inv, f->uid);
    flight_free(f);
    return true;
}

void dra_ledger_free(struct dra *d)
{
    strmap_each(&d->flights, e) flight_free(e->value.ptr);
    strmap_each(&d->known, e) known_free(e->value.ptr);
    strmap_release(&d->flights);
    strmap_release(&d->known);
    index_fini(&d->special);
}

/* ---- for tests ---- */

struct gathered {
    const struct dra *d;
    struct arena *a;
    struct doc devices, shared, capacity;
};

static void gather_result(struct gathered *g, const struct view_result *r)
{
    bool share = r->share_id.n > 0, counts = g->d->features.consumable_capacity;
    struct str id = arena_printf(g->a, "%.*s/%.*s/%.*s", STR_ARG(r->driver),
                                 STR_ARG(r->pool), STR_ARG(r->device));
    if (r->has_admin && r->admin)
        return;
    if (!share || !counts) {
        doc_append(g->a, &g->devices, doc_make_string(g->a, id));
        return;
    }
    doc_append(g->a, &g->shared,
               doc_make_string(g->a, arena_printf(g->a, "%.*s/%.*s", STR_ARG(id),
                                                  STR_ARG(r->share_id))));
    struct doc *sums = (struct doc *)doc_get_str(&g->capacity, id);
    struct amounts have = amounts_read(g->a, sums);
    struct amounts more = {g->a, (struct view_amount *)r->consumed, r->nconsumed, 0};
    amounts_add_all(&have, &more);
    if (have.n)
        doc_set_str(g->a, &g->capacity, id, amounts_doc(&have));
}

static void gather(struct gathered *g, const struct object *claim)
{
    const struct view_allocation *al = dra_view(claim)->allocation;
    for (uint32_t i = 0; al && i < al->nresults; i++)
        gather_result(g, &al->results[i]);
}

struct doc dra_allocated(const struct dra *d, struct arena *a)
{
    struct gathered g = {d, a, doc_make_list(), doc_make_list(), doc_make_map()};
    struct doc out = doc_make_map();
    strmap_each(&d->known, e) gather(&g, newest(e->value.ptr));
    strmap_each(&d->flights, e)
    {
        const struct dra_flight *f = e->value.ptr;
        if (!is_held(d, f->claim))
            gather(&g, f->claim);
    }
    doc_set(a, &out, "devices", g.devices);
    doc_set(a, &out, "shared", g.shared);
    doc_set(a, &out, "capacity", g.capacity);
    return out;
}
