/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an inventory: claims come and go, slices vanish and come back. After every
 * step the ledger must hold, and the inventory, which only saw changes, must answer as
 * one that is made anew from what is there.
 */
#include "unit/unit.h"

#include "base/rng.h"
#include "base/vec.h"
#include "property/alloc_ledger.h"
#include "property/alloc_random.h"

enum { WORLDS = 150, STEPS = 40 };

struct life {
    struct random_world w;
    struct alloc_inventory *inv;
    struct rng rng;
    bool gone[16]; /* slices that are not published */
    VEC(struct live_allocation) live;
    VEC(struct alloc_plan *) plans; /* of the world's claims, from the first day on */
    uint32_t made, visitors;
    uint64_t seed;
};

/* Another claim that asks the same. */
static const struct view_claim *claim_new(struct life *l, size_t like)
{
    struct arena *a = &l->w.arena;
    struct view_claim *c = ARENA_NEW(a, struct view_claim);
    *c = *l->w.in.claims[like];
    c->meta.uid = c->meta.name = arena_printf(a, "c%u", l->made++);
    return c;
}

static struct alloc_inventory *rebuilt(struct life *l)
{
    struct random_world *w = &l->w;
    struct alloc_inventory *inv = alloc_inventory_new(&w->features, &w->names);
    for (uint32_t i = 0; i < w->in.nslices; i++)
        if (!l->gone[i])
            alloc_inventory_put_slice(inv, w->in.slices[i]);
    for (uint32_t i = 0; i < w->in.nclasses; i++)
        alloc_inventory_put_class(inv, w->in.classes[i]);
    for (size_t i = 0; i < l->live.n; i++)
        alloc_commit(inv, l->live.v[i].claim, &l->live.v[i].result);
    return inv;
}

static bool same(const struct alloc_outcome *a, const struct alloc_outcome *b)
{
    if (a->status != b->status || a->nresults != b->nresults)
        return false;
    for (uint32_t i = 0; i < a->nresults; i++) {
        if (a->results[i].npicks != b->results[i].npicks)
            return false;
        for (uint32_t j = 0; j < a->results[i].npicks; j++)
            if (a->results[i].picks[j].device != b->results[i].picks[j].device)
                return false;
    }
    return true;
}

/* What the plan finds on the node must be what an inventory made anew finds there. */
static void find(struct life *l, struct alloc_plan *p, const struct alloc_outcome *want,
                 struct alloc_outcome *got)
{
    uint32_t at = alloc_find(p, &l->w.in.node, 1, 0, NULL, &l->w.arena, got);
    if (at == 1 && (want->status == ALLOC_NONE || want->status == ALLOC_NODE_ERROR))
        got->status = want->status; /* passed over */
    if (!same(got, want))
        fail_msg("seed %llu: asked %d, made anew %d", (unsigned long long)l->seed,
                 got->status, want->status);
}

static void ask(struct life *l)
{
    size_t like = (size_t)rng_range(&l->rng, 0, l->w.in.nclaims - 1);
    const struct view_claim *c = claim_new(l, like);
    struct alloc_inventory *fresh = rebuilt(l);
    struct alloc_outcome got, want;
    struct alloc_plan *p = alloc_plan_new(l->inv, &c, 1);
    alloc_solve(fresh, l->w.in.node, &c, 1, NULL, &l->w.arena, &want);
    find(l, l->plans.v[like], &want, &got);
    find(l, p, &want, &got);
    if (got.status == ALLOC_OK) {
        alloc_commit(l->inv, c, &got.results[0]);
        vec_push(&l->live, (struct live_allocation){c, got.results[0]});
    }
    alloc_plan_free(p);
    alloc_inventory_free(fresh);
}

static void release(struct life *l)
{
    if (l->live.n == 0)
        return;
    size_t i = (size_t)rng_range(&l->rng, 0, (int64_t)l->live.n - 1);
    alloc_release(l->inv, l->live.v[i].claim->meta.uid);
    l->live.v[i] = vec_pop(&l->live);
}

static void toggle_slice(struct life *l)
{
    uint32_t i = (uint32_t)rng_range(&l->rng, 0, l->w.in.nslices - 1);
    if (l->gone[i])
        alloc_inventory_put_slice(l->inv, l->w.in.slices[i]);
    else
        alloc_inventory_remove_slice(l->inv, l->w.in.slices[i]->meta.name);
    l->gone[i] = !l->gone[i];
}

static void take_slices(struct life *l)
{
    for (uint32_t i = 0; i < l->w.in.nslices; i++)
        if (!l->gone[i])
            alloc_inventory_remove_slice(l->inv, l->w.in.slices[i]->meta.name);
    memset(l->gone, true, sizeof l->gone);
    alloc_forget_node(l->inv, l->w.in.node->meta.name);
}

static void put_slices(struct life *l)
{
    for (uint32_t i = 0; i < l->w.in.nslices; i++)
        if (l->gone[i])
            alloc_inventory_put_slice(l->inv, l->w.in.slices[i]);
    memset(l->gone, 0, sizeof l->gone);
}

/* A node of its own name, with the devices of one of the slices, for a moment. */
static void visit(struct life *l)
{
    size_t i = (size_t)rng_range(&l->rng, 0, l->w.in.nslices - 1);
    struct view_slice *s = ARENA_NEW(&l->w.arena, struct view_slice);
    struct view_node *n = ARENA_NEW(&l->w.arena, struct view_node);
    const struct view_node *node = n;
    struct alloc_outcome out;
    *s = *l->w.in.slices[i];
    *n = *l->w.in.node;
    n->meta.name = arena_printf(&l->w.arena, "visitor-%u", l->visitors++);
    s->meta.name = s->node_name = s->pool = n->meta.name;
    alloc_inventory_put_slice(l->inv, s);
    alloc_find(l->plans.v[0], &node, 1, 0, NULL, &l->w.arena, &out);
    alloc_inventory_remove_slice(l->inv, s->meta.name);
    alloc_forget_node(l->inv, n->meta.name);
}

/* Visitors, and at times the node itself, have come and gone, so that others have their
 * places. Of slices that are not in it the devices would be void. */
static void sweep(struct life *l)
{
    if (rng_range(&l->rng, 0, 1))
        take_slices(l);
    visit(l);
    put_slices(l);
    visit(l);
    alloc_inventory_sweep(l->inv);
}

static void step(struct life *l)
{
    int64_t what = rng_range(&l->rng, 0, 19);
    if (what < 12)
        ask(l);
    else if (what < 17)
        release(l);
    else if (what < 18)
        sweep(l);
    else
        toggle_slice(l);
    const char *why =
        ledger_problem(l->live.v, (uint32_t)l->live.n, l->w.in.slices, l->w.in.nslices);
    if (why)
        fail_msg("seed %llu: %s", (unsigned long long)l->seed, why);
}

static void run(const struct random_mix *mix, uint64_t seed)
{
    struct life l = {.seed = seed};
    random_world_init(&l.w, mix, seed);
    l.w.in.nheld = 0;
    rng_init(&l.rng, seed);
    l.inv = rebuilt(&l);
    for (uint32_t i = 0; i < l.w.in.nclaims; i++)
        vec_push(&l.plans, alloc_plan_new(l.inv, &l.w.in.claims[i], 1));
    for (uint32_t i = 0; i < STEPS; i++)
        step(&l);
    for (size_t i = 0; i < l.plans.n; i++)
        alloc_plan_free(l.plans.v[i]);
    vec_release(&l.plans);
    vec_release(&l.live);
    alloc_inventory_free(l.inv);
    random_world_fini(&l.w);
}

static void test_life(void **state)
{
    for (uint64_t seed = 0; seed < WORLDS; seed++)
        run(&random_mix_of_all, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_life)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
