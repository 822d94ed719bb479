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

/* ---- a state that does not go out at once ---- */

enum { LARGE = 200, LARGE_BYTES = 40000, LARGE_WATCHES = 5 };

struct seen { /* by one watch: lines of each kind, in the order they have to come */
    unsigned added, ends, modified;
    bool wrong, done;
    struct strbuf line;
};

static void see_line(struct seen *s, struct str line)
{
    bool added = str_starts(line, STR("{\"type\":\"ADDED\""));
    bool end = str_find(line, STR("k8s.io/initial-events-end")) != SIZE_MAX;
    s->wrong |= line.n < 20 || line.p[line.n - 1] != '}' || (added && s->ends) ||
                (!added && !end && !s->ends);
    s->added += added;
    s->ends += end;
    s->modified += !added && !end;
}

static void see(void *ctx, struct https_call *call, struct str bytes)
{
    struct seen *s = ctx;
    for (size_t end; (end = str_find_byte(bytes, '\n', 0)) != SIZE_MAX;) {
        strbuf_addstr(&s->line, str_sub(bytes, 0, end));
        see_line(s, strbuf_str(&s->line));
        strbuf_clear(&s->line);
        bytes = str_sub(bytes, end + 1, SIZE_MAX);
    }
    strbuf_addstr(&s->line, bytes);
}

static void see_end(void *ctx, unsigned status, struct str body)
{
    struct seen *s = ctx;
    s->done = true;
    strbuf_release(&s->line);
}

#define LARGE_PATH "/api/v1/namespaces/default/secrets"

static void write_large(struct load *l, bool patch, unsigned i)
{
    struct strbuf b = STRBUF_INIT;
    char path[80] = LARGE_PATH;
    if (patch)
        snprintf(path, sizeof path, LARGE_PATH "/large-%u", i);
    strbuf_addf(&b,
                "{\"metadata\":{\"name\":\"large-%u\"},"
                "\"stringData\":{\"x\":\"%0*d\"}}",
                i, patch ? 10 : LARGE_BYTES, 0);
    struct https_request r = {.method = patch ? "PATCH" : "POST",
                              .path = str_from(path),
                              .type = patch ? "application/merge-patch+json" : NULL,
                              .body = strbuf_str(&b)};
    unsigned status = https_ask(l->https, l->conns[0], &r, 20000, NULL);
    assert_int_equal(status, patch ? 200 : 201);
    strbuf_release(&b);
}

static bool all_seen(const struct seen *s)
{
    for (int i = 0; i < LARGE_WATCHES; i++)
        if (s[i].added < LARGE || s[i].ends < 1 || s[i].modified < 1)
            return false;
    return true;
}

/* The last object is changed while the state is on its way: it is sent as it was, and
 * then its change. */
static void test_large_state(void **state)
{
    struct load l;
    struct seen seen[LARGE_WATCHES] = {{0}};
    struct https_call *calls[LARGE_WATCHES];
    load_init(&l, program, 1);
    load_up(&l);
    for (unsigned i = 1; i <= LARGE; i++)
        write_large(&l, false, i);
    for (int i = 0; i < LARGE_WATCHES; i++) {
        struct https_request r = {
            .method = "GET",
            .path = STR(LARGE_PATH "?watch=1&sendInitialEvents=true&allowWatchBookmarks=1"
                                   "&resourceVersionMatch=NotOlderThan"),
            .data = see,
            .done = see_end,
            .ctx = &seen[i]};
        calls[i] = https_send(l.conns[i % 2], &r);
    }
    while (!https_status(calls[0]))
        https_run(l.https, 10);
    write_large(&l, true, 99);
    for (int i = 0; i < 2000 && !all_seen(seen); i++)
        https_run(l.https, 10);
    for (int i = 0; i < LARGE_WATCHES; i++) {
        assert_int_equal(seen[i].added, LARGE);
        assert_int_equal(seen[i].ends, 1);
        assert_int_equal(seen[i].modified, 1);
        assert_false(seen[i].wrong);
    }
    load_down(&l, false);
    load_fini(&l);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_state),
                                       cmocka_unit_test(test_truth)};
    program = argc > 1 ? argv[1] : "dray";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
