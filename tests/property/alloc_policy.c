/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies on random inventories in which claims come and go: each finds an allocation
 * exactly if first-fit does, and refuses in its words; what it gives keeps the ledger.
 */
#include "unit/unit.h"

#include "base/rng.h"
#include "base/vec.h"
#include "property/alloc_ledger.h"
#include "property/alloc_random.h"

enum { WORLDS = 400, STEPS = 30 };

struct life {
    struct random_world w;
    struct alloc_inventory *inv;
    struct rng rng;
    VEC(struct live_allocation) live;
    uint32_t made, found;
    uint64_t seed;
};

/* Another claim that asks the same. */
static const struct view_claim *claim_new(struct life *l)
{
    struct arena *a = &l->w.arena;
    struct view_claim *c = ARENA_NEW(a, struct view_claim);
    *c = *l->w.in.claims[rng_range(&l->rng, 0, l->w.in.nclaims - 1)];
    c->meta.uid = c->meta.name = arena_printf(a, "c%u", l->made++);
    return c;
}

static void ask(struct life *l, enum alloc_policy policy)
{
    struct alloc_options o = {.policy = policy};
    const struct view_claim *c = claim_new(l);
    struct alloc_outcome want, got;
    alloc_solve(l->inv, l->w.in.node, &c, 1, NULL, &l->w.arena, &want);
    alloc_solve(l->inv, l->w.in.node, &c, 1, &o, &l->w.arena, &got);
    if (got.status != want.status || !str_eq(got.error, want.error))
        fail_msg("seed %llu, %s: %d instead of %d", (unsigned long long)l->seed,
                 alloc_policy_name(policy), got.status, want.status);
    if (got.status != ALLOC_OK)
        return;
    l->found++;
    alloc_commit(l->inv, c, &got.results[0]);
    vec_push(&l->live, (struct live_allocation){c, got.results[0]});
}

static void release(struct life *l)
{
    if (!l->live.n)
        return;
    size_t at = (size_t)rng_range(&l->rng, 0, (int64_t)l->live.n - 1);
    alloc_release(l->inv, l->live.v[at].claim->meta.uid);
    l->live.v[at] = vec_pop(&l->live);
}

static void step(struct life *l)
{
    if (rng_range(&l->rng, 0, 2))
        ask(l, rng_range(&l->rng, 0, 1) ? ALLOC_BEST_FIT : ALLOC_SPREAD);
    else
        release(l);
    const char *problem =
        ledger_problem(l->live.v, (uint32_t)l->live.n, l->w.in.slices, l->w.in.nslices);
    if (problem)
        fail_msg("seed %llu: %s", (unsigned long long)l->seed, problem);
}

static uint32_t live_through(const struct random_mix *mix, uint64_t seed)
{
    struct life l = {.seed = seed};
    random_world_init(&l.w, mix, seed);
    l.w.in.nheld = 0;
    l.inv = random_inventory(&l.w);
    rng_init(&l.rng, seed);
    for (int i = 0; i < STEPS; i++)
        step(&l);
    alloc_inventory_free(l.inv);
    random_world_fini(&l.w);
    vec_release(&l.live);
    return l.found;
}

static void run(const struct random_mix *mix)
{
    uint32_t found = 0;
    for (uint64_t seed = 0; seed < WORLDS; seed++)
        found += live_through(mix, seed);
    assert_true(found > WORLDS); /* it has been put to the test */
}

static void test_all(void **state)
{
    run(&random_mix_of_all);
}

/* Devices whose selectors fail, where the search would end if it came to them. */
static void test_traps(void **state)
{
    static const struct random_mix mix = {.selectors = 60,
                                          .errors = 30,
                                          .taints = 20,
                                          .constraints = 30,
                                          .twins = 30,
                                          .max_devices = 12,
                                          .max_claims = 2,
                                          .max_count = 3};
    run(&mix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_traps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
