/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is killed at any moment under 64 writers and a crowd of informers, over
 * and over, on one folder: all that was answered is there, as it was answered; nothing
 * is half there; no revision means two things; and informers resume where they were.
 *
 *     crash DRAY            DRAY_CRASHES: how often, 200 by default
 */
#include <stdlib.h>

#include "base/clock.h"
#include "server/informer.h"
#include "unit/unit.h"

enum { CRASHES = 200, LONGEST_US = 60000, SLICE_US = 5000, BATCH = 10 };

static const char *program;

struct site {
    struct load load;
    struct informer *informers;
    struct history history;
};

static void run_and_kill(struct site *s, struct rng *r)
{
    uint64_t us = (uint64_t)rng_range(r, 0, LONGEST_US);
    load_up(&s->load);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_start(&s->informers[i], s->load.conns[i % CONNECTIONS]);
    for (uint64_t end = clock_mono_ns() + us * 1000; clock_mono_ns() < end;) {
        load_run(&s->load, us < SLICE_US ? us : SLICE_US);
        for (uint32_t i = 0; i < NINFORMERS; i++)
            informer_tend(&s->informers[i]);
    }
    load_down(&s->load, true);
}

static void judge(struct site *s)
{
    history_read(&s->history, s->load.dir);
    load_check(&s->load, &s->history);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_check(&s->informers[i], &s->history, false);
    history_settle(&s->history, informers_oldest(s->informers, &s->history));
}

static void test_crashes(void **state)
{
    struct site *s = calloc(1, sizeof *s);
    struct rng r;
    const char *times = getenv("DRAY_CRASHES");
    long n = times ? strtol(times, NULL, 10) : CRASHES;
    uint64_t events = 0;
    assert_non_null(s);
    rng_init(&r, (uint64_t)n);
    s->history.revision = s->history.after = 1;
    s->informers = calloc(NINFORMERS, sizeof *s->informers);
    assert_non_null(s->informers);
    load_init(&s->load, program, (uint64_t)n);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_init(&s->informers[i], &INFORMERS[i], &s->load);
    for (long i = 1; i <= n; i++) {
        run_and_kill(s, &r);
        if (i % BATCH == 0 || i == n)
            judge(s);
    }
    for (uint32_t i = 0; i < NINFORMERS; i++) {
        events += s->informers[i].events;
        informer_fini(&s->informers[i]);
    }
    print_message("# %ld kills, %llu answers, %llu lost, %llu events\n", n,
                  (unsigned long long)s->load.answers, (unsigned long long)s->load.lost,
                  (unsigned long long)events);
    load_fini(&s->load);
    history_release(&s->history);
    free(s->informers);
    free(s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crashes)};
    program = argc > 1 ? argv[1] : "dray";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
