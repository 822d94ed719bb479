/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server under 64 writers and a crowd of informers, stopped and started now and then:
 * what every informer saw is what the store's history says, event for event.
 *
 *     truth DRAY            DRAY_SECONDS: how long, 6 by default
 */
#include <stdlib.h>

#include "base/clock.h"
#include "server/informer.h"
#include "unit/unit.h"

enum { SECONDS = 6, SLICE_US = 20000, QUIET_MS = 1500, ROUND_US = 2000000 };

static const char *program;

struct site {
    struct load load;
    struct informer *informers;
    struct history history;
};

static void start(struct site *s)
{
    load_up(&s->load);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_start(&s->informers[i], s->load.conns[i % CONNECTIONS]);
}

static void run(struct site *s, uint64_t us)
{
    uint64_t end = clock_mono_ns() + us * 1000;
    while (clock_mono_ns() < end) {
        load_run(&s->load, SLICE_US);
        for (uint32_t i = 0; i < NINFORMERS; i++)
            informer_tend(&s->informers[i]);
    }
}

static uint64_t told(const struct site *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < NINFORMERS; i++)
        n += s->informers[i].events + s->informers[i].relisted;
    return n;
}

/* No more writes; everybody has been told all. */
static void settle(struct site *s)
{
    load_settle(&s->load);
    uint64_t end = clock_mono_ns() + (uint64_t)QUIET_MS * 1000000;
    while (clock_mono_ns() < end) {
        uint64_t before = told(s);
        https_run(s->load.https, 10);
        for (uint32_t i = 0; i < NINFORMERS; i++)
            informer_tend(&s->informers[i]);
        if (told(s) != before)
            end = clock_mono_ns() + (uint64_t)QUIET_MS * 1000000;
    }
}

static void judge(struct site *s, bool complete)
{
    history_read(&s->history, s->load.dir);
    load_check(&s->load, &s->history);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_check(&s->informers[i], &s->history, complete);
    history_settle(&s->history, informers_oldest(s->informers, &s->history));
}

static void report(const struct site *s)
{
    uint64_t events = 0, resumed = 0, relisted = 0;
    for (uint32_t i = 0; i < NINFORMERS; i++) {
        events += s->informers[i].events;
        resumed += s->informers[i].resumed;
        relisted += s->informers[i].relisted;
    }
    print_message("# %llu answers, %llu events, %llu watches, %llu lists\n",
                  (unsigned long long)s->load.answers, (unsigned long long)events,
                  (unsigned long long)resumed, (unsigned long long)relisted);
}

static void test_truth(void **state)
{
    struct site *s = calloc(1, sizeof *s);
    const char *text = getenv("DRAY_SECONDS");
    uint64_t seconds = text ? strtoull(text, NULL, 10) : SECONDS;
    uint64_t end = clock_mono_ns() + seconds * 1000000000;
    assert_non_null(s);
    s->history.revision = s->history.after = 1;
    s->informers = calloc(NINFORMERS, sizeof *s->informers);
    assert_non_null(s->informers);
    load_init(&s->load, program, seconds);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_init(&s->informers[i], &INFORMERS[i], &s->load);
    for (int round = 0; clock_mono_ns() < end; round++) {
        start(s);
        run(s, ROUND_US);
        bool quiet = round % 2 == 0;
        if (quiet) {
            settle(s);
            assert_int_equal(s->load.lost, 0);
        }
        load_down(&s->load, false);
        s->load.lost = 0;
        judge(s, quiet);
    }
    report(s);
    for (uint32_t i = 0; i < NINFORMERS; i++)
        informer_fini(&s->informers[i]);
    load_fini(&s->load);
    history_release(&s->history);
    free(s->informers);
    free(s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_truth)};
    program = argc > 1 ? argv[1] : "dray";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
