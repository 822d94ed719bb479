/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator against the naive search, on random small inputs of every feature and of
 * their mixes: the same outcome, the same devices, and never more steps.
 *
 *     property_alloc MIX SEED [COUNT]    these inputs, for debugging
 */
#include "unit/unit.h"

#include <stdlib.h>

#include "property/alloc_random.h"

enum { ROUNDS = 500, NAIVE_STEPS = 5000 };

static const struct named_mix {
    const char *name;
    struct random_mix mix;
} MIXES[] = {
    {"plain", {.held = 20, .max_devices = 6, .max_claims = 3, .max_count = 3}},
    {"twins",
     {.held = 10,
      .twins = 60,
      .selectors = 40,
      .max_devices = 7,
      .max_claims = 4,
      .max_count = 3}},
    {"selectors",
     {.selectors = 70,
      .held = 20,
      .alternatives = 30,
      .max_devices = 7,
      .max_claims = 3,
      .max_count = 3}},
    {"errors",
     {.selectors = 60,
      .errors = 30,
      .held = 20,
      .twins = 30,
      .alternatives = 20,
      .constraints = 20,
      .all = 10,
      .max_devices = 6,
      .max_claims = 3,
      .max_count = 3}},
    {"all",
     {.all = 50,
      .selectors = 60,
      .constraints = 25,
      .alternatives = 25,
      .held = 10,
      .max_devices = 5,
      .max_claims = 2,
      .max_count = 2}},
    {"constraints",
     {.constraints = 90,
      .lists = 50,
      .selectors = 30,
      .twins = 30,
      .alternatives = 15,
      .held = 10,
      .max_devices = 8,
      .max_claims = 3,
      .max_count = 3}},
    {"counters",
     {.counters = 90,
      .groups = 20,
      .twins = 40,
      .selectors = 20,
      .held = 15,
      .max_devices = 8,
      .max_claims = 3,
      .max_count = 3}},
    {"capacity",
     {.capacity = 80,
      .counters = 25,
      .constraints = 20,
      .held = 20,
      .twins = 30,
      .max_devices = 5,
      .max_claims = 3,
      .max_count = 3}},
    {"admin",
     {.admin = 50,
      .held = 30,
      .counters = 30,
      .capacity = 30,
      .constraints = 20,
      .twins = 30,
      .max_devices = 5,
      .max_claims = 3,
      .max_count = 2}},
    {"pools",
     {.pools = 70,
      .per_device = 30,
      .binding = 20,
      .taints = 30,
      .counters = 30,
      .held = 15,
      .all = 10,
      .max_devices = 8,
      .max_claims = 2,
      .max_count = 3}},
    {"features",
     {.features_off = 30,
      .pools = 30,
      .per_device = 15,
      .binding = 20,
      .taints = 20,
      .counters = 25,
      .capacity = 25,
      .groups = 20,
      .constraints = 30,
      .lists = 30,
      .selectors = 20,
      .held = 15,
      .all = 10,
      .alternatives = 20,
      .admin = 10,
      .max_devices = 6,
      .max_claims = 2,
      .max_count = 2}},
    {"everything",
     {.pools = 25,
      .per_device = 10,
      .binding = 10,
      .taints = 15,
      .counters = 30,
      .capacity = 25,
      .groups = 15,
      .constraints = 40,
      .lists = 30,
      .selectors = 40,
      .errors = 5,
      .held = 15,
      .all = 10,
      .alternatives = 25,
      .admin = 15,
      .twins = 30,
      .max_devices = 7,
      .max_claims = 3,
      .max_count = 3}},
};

static bool same_devices(const struct naive_output *want, const struct alloc_outcome *got)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < got->nresults; i++)
        for (uint32_t j = 0; j < got->results[i].npicks; j++, n++)
            if (n >= want->npicks || want->picks[n].claim != i ||
                want->picks[n].device != got->results[i].picks[j].device)
                return false;
    return n == want->npicks;
}

static void print_naive(const struct naive_output *o)
{
    print_message("# naive: status %d, %llu steps:", o->status,
                  (unsigned long long)o->steps);
    for (uint32_t i = 0; o->status == ALLOC_OK && i < o->npicks; i++)
        print_message(" c%u:%.*s", o->picks[i].claim, STR_ARG(o->picks[i].device->name));
    print_message("\n");
}

static void print_outcome(const struct alloc_outcome *o)
{
    print_message("# dray:  status %d, %llu steps, %.*s:", o->status,
                  (unsigned long long)o->steps, STR_ARG(o->error));
    for (uint32_t i = 0; i < o->nresults; i++)
        for (uint32_t j = 0; j < o->results[i].npicks; j++)
            print_message(" c%u:%.*s", i, STR_ARG(o->results[i].picks[j].device->name));
    print_message("\n");
}

static bool agrees(const struct naive_output *want, const struct alloc_outcome *got)
{
    return got->status == want->status && got->steps <= want->steps &&
           (got->status != ALLOC_OK || same_devices(want, got));
}

static void ask(struct random_world *w, const struct naive_output *want, bool prove_first,
                const char *name, uint64_t seed, bool verbose)
{
    struct alloc_options options = {.prove_first = prove_first};
    struct alloc_inventory *inv = random_inventory(w);
    struct alloc_outcome got;
    struct arena a;
    arena_init(&a);
    alloc_solve(inv, w->in.node, w->in.claims, w->in.nclaims, &options, &a, &got);
    bool same = agrees(want, &got);
    if (!same || verbose) {
        print_naive(want);
        print_outcome(&got);
    }
    if (!same)
        fail_msg("mix %s, seed %llu, proofs %d", name, (unsigned long long)seed,
                 prove_first);
    arena_fini(&a);
    alloc_inventory_free(inv);
}

/* False: too much for the naive search, nothing was compared. */
static bool compare(const struct named_mix *mix, uint64_t seed, bool verbose)
{
    static struct naive_output want;
    struct random_world w;
    random_world_init(&w, &mix->mix, seed);
    w.in.max_steps = NAIVE_STEPS;
    naive_alloc(&w.in, &want);
    bool done = want.status != ALLOC_BUDGET;
    if (done) {
        ask(&w, &want, false, mix->name, seed, verbose);
        ask(&w, &want, true, mix->name, seed, verbose);
    }
    random_world_fini(&w);
    return done;
}

static void test_mix(void **state)
{
    const struct named_mix *mix = *state;
    uint32_t compared = 0;
    for (uint64_t seed = 0; seed < ROUNDS; seed++)
        compared += compare(mix, seed, false);
    assert_true(compared > ROUNDS / 2);
}

static int some(const char *name, uint64_t seed, uint64_t count)
{
    for (size_t i = 0; i < UNIT_COUNT(MIXES); i++)
        for (uint64_t k = 0; k < count && strcmp(MIXES[i].name, name) == 0; k++)
            compare(&MIXES[i], seed + k, count == 1);
    return 0;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[UNIT_COUNT(MIXES)];
    if (argc > 2)
        return some(argv[1], strtoull(argv[2], NULL, 10),
                    argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    for (size_t i = 0; i < UNIT_COUNT(MIXES); i++)
        tests[i] = (struct CMUnitTest){.name = MIXES[i].name,
                                       .test_func = test_mix,
                                       .initial_state = (void *)&MIXES[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
