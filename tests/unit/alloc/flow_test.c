/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/unit.h"

#include "alloc/flow.h"
#include "base/rng.h"

enum { MOST = 5 };

struct problem {
    uint32_t nleft, nright;
    uint32_t need[MOST], room[MOST], cap[MOST * MOST];
};

static bool solve(const struct problem *p)
{
    uint32_t need[MOST], room[MOST], cap[MOST * MOST], x[MOST * MOST];
    uint32_t from[MOST], via[MOST], queue[MOST];
    struct flow f = {p->nleft, p->nright, need, room, cap, x, from, via, queue};
    memcpy(need, p->need, sizeof need);
    memcpy(room, p->room, sizeof room);
    memcpy(cap, p->cap, sizeof cap);
    return flow_saturates(&f);
}

/* Gives i what it needs in every way there is. */
static bool brute(struct problem *p, uint32_t i, uint32_t j)
{
    if (i == p->nleft)
        return true;
    if (j == p->nright)
        return p->need[i] == 0 && brute(p, i + 1, 0);
    uint32_t most = p->need[i];
    most = p->room[j] < most ? p->room[j] : most;
    most = p->cap[i * p->nright + j] < most ? p->cap[i * p->nright + j] : most;
    for (uint32_t n = 0; n <= most; n++) {
        p->need[i] -= n;
        p->room[j] -= n;
        bool fits = brute(p, i, j + 1);
        p->need[i] += n;
        p->room[j] += n;
        if (fits)
            return true;
    }
    return false;
}

static void test_against_brute_force(void **state)
{
    struct rng r;
    uint32_t met = 0;
    rng_init(&r, 1);
    for (int round = 0; round < 4000; round++) {
        struct problem p = {.nleft = (uint32_t)rng_range(&r, 1, 4),
                            .nright = (uint32_t)rng_range(&r, 1, 4)};
        for (uint32_t i = 0; i < p.nleft; i++)
            p.need[i] = (uint32_t)rng_range(&r, 0, 3);
        for (uint32_t j = 0; j < p.nright; j++)
            p.room[j] = (uint32_t)rng_range(&r, 0, 4);
        for (uint32_t k = 0; k < p.nleft * p.nright; k++)
            p.cap[k] = (uint32_t)rng_range(&r, 0, 2);
        struct problem copy = p;
        bool want = brute(&copy, 0, 0);
        if (solve(&p) != want)
            fail_msg("round %d: %d", round, want);
        met += want;
    }
    assert_in_range(met, 500, 3500);
}

/* 0 must give up what only 1 can use, which must give up what only 2 can. */
static void test_long_path(void **state)
{
    struct problem p = {.nleft = 3,
                        .nright = 3,
                        .need = {1, 1, 1},
                        .room = {1, 1, 1},
                        .cap = {1, 1, 0, 1, 0, 1, 1, 0, 0}};
    assert_true(solve(&p));
    p.room[2] = 0;
    assert_false(solve(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
