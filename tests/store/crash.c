/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that writes is killed at any moment, over and over, on one directory. What is
 * there afterwards is what the first so many of its writes made: all that were answered,
 * and of the others none without those before it. DRAY_CRASHES: how often.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "store/fixture.h"

enum { CRASHES = 200, KEYS = 300, OUTSTANDING = 64, VALUE = 700, LONGEST_US = 40000 };

/* ---- the load: its i-th write follows from the round's seed alone ---- */

struct load {
    struct rng rng;
    char key[32];
    char value[VALUE];
    int which;
    struct store_write write;
};

static void load_next(struct load *l)
{
    l->which = (int)rng_range(&l->rng, 0, KEYS - 1);
    snprintf(l->key, sizeof l->key, "/registry/core/pods/ns/%03d", l->which);
    memset(l->value, 'v', sizeof l->value);
    int n = snprintf(l->value, sizeof l->value, "%llx", (long long)rng_next(&l->rng));
    l->value[n] = ' ';
    l->write = (struct store_write){.key = str_from(l->key), .expect = STORE_ANY};
    if (rng_range(&l->rng, 0, 4) > 0)
        l->write.value = (struct str){l->value, (size_t)rng_range(&l->rng, 20, VALUE)};
}

/* ---- the process ---- */

struct child {
    struct store *store;
    struct load load;
    int wake_fd, out;
};

static void submit_next(struct child *c);

static void child_answered(void *ctx, enum store_answer answer, uint64_t revision,
                           const struct err *e)
{
    struct child *c = ctx;
    if (answer == STORE_FAILED || write(c->out, "", 1) != 1)
        _exit(3);
    submit_next(c);
}

static void submit_next(struct child *c)
{
    load_next(&c->load);
    c->load.write.done = child_answered;
    c->load.write.ctx = c;
    store_submit(c->store, &c->load.write);
}

static void child_wake(void *ctx)
{
    eventfd_write(((struct child *)ctx)->wake_fd, 1);
}

static void child_run(const char *url, uint64_t seed, int out)
{
    struct child c = {.out = out, .wake_fd = eventfd(0, 0)};
    struct err e = ERR_INIT;
    struct store_opts opts = {
        .wake = child_wake, .wake_ctx = &c, .history_bytes = 1 << 20};
    rng_init(&c.load.rng, seed);
    c.store = store_open(url, &opts, &e);
    if (!c.store)
        _exit(2);
    for (int i = 0; i < OUTSTANDING; i++)
        submit_next(&c);
    for (eventfd_t n;; store_poll(c.store))
        eventfd_read(c.wake_fd, &n);
}

/* Counts answers until the time is up, then kills; what is in the pipe counts too. */
static uint64_t run_and_kill(const char *url, uint64_t seed, uint64_t us)
{
    int ends[2], status;
    char bytes[4096];
    uint64_t answered = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0)
        child_run(url, seed, ends[1]);
    close(ends[1]);
    uint64_t end = clock_mono_ns() + us * 1000;
    for (uint64_t now; (now = clock_mono_ns()) < end;) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        struct timespec left = {0, (long)(end - now)};
        if (ppoll(&p, 1, &left, NULL) > 0)
            answered += (uint64_t)read(ends[0], bytes, sizeof bytes);
    }
    kill(pid, SIGKILL);
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        answered += (uint64_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    return answered;
}

/* ---- what must be there ---- */

struct world {
    struct {
        uint64_t revision;
        struct str value; /* p owned */
    } keys[KEYS];
    uint64_t revision;
};

static void world_write(struct world *w, const struct load *l)
{
    struct str v = l->write.value;
    if (!v.p && !w->keys[l->which].revision)
        return;
    free((char *)w->keys[l->which].value.p);
    w->keys[l->which].value = v.p ? (struct str){mem_dup(v.p, v.n), v.n} : STR_NONE;
    w->revision++;
    w->keys[l->which].revision = v.p ? w->revision : 0;
}

/* Follows the load through the answered writes, and on until the store's revision. */
static void world_follow(struct world *w, uint64_t seed, uint64_t answered,
                         uint64_t revision)
{
    struct load l;
    rng_init(&l.rng, seed);
    for (uint64_t i = 0; i < answered || w->revision < revision; i++) {
        load_next(&l);
        world_write(w, &l);
    }
    assert_int_equal(w->revision, revision);
}

static bool compare_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    struct world *w = ctx;
    char digits[4] = "";
    memcpy(digits, key.p + key.n - 3, 3);
    long k = strtol(digits, NULL, 10);
    assert_int_equal(w->keys[k].revision, revision);
    assert_true(str_eq(w->keys[k].value, value));
    w->keys[k].revision |= UINT64_C(1) << 63; /* seen */
    return true;
}

static void check_objects(struct world *w, struct store *s)
{
    struct err e = ERR_INIT;
    uint64_t revision;
    if (!store_snapshot(s, compare_object, w, &revision, &e))
        fail_msg("%s", err_text(&e));
    assert_int_equal(revision, w->revision);
    for (int i = 0; i < KEYS; i++) {
        assert_true(w->keys[i].revision == 0 || w->keys[i].revision >> 63);
        w->keys[i].revision &= ~(UINT64_C(1) << 63);
    }
}

static bool count_change(void *ctx, const struct store_change *c)
{
    uint64_t *last = ctx;
    assert_int_equal(c->revision, *last + 1);
    *last = c->revision;
    return true;
}

static void check_history(struct store *s)
{
    uint64_t last = store_compacted(s);
    assert_true(store_history(s, last, count_change, &last, NULL));
    assert_int_equal(last, store_revision(s));
}

static void crash_once(struct fixture *f, struct world *w, uint64_t seed, struct rng *r)
{
    struct err e = ERR_INIT;
    uint64_t us = (uint64_t)rng_range(r, 0, LONGEST_US);
    uint64_t answered = run_and_kill(f->url, seed, us);
    if (!fixture_open(f, &e))
        fail_msg("%s", err_text(&e));
    world_follow(w, seed, answered, store_revision(f->store));
    check_objects(w, f->store);
    check_history(f->store);
    fixture_close(f);
}

static void test_crashes(void **state)
{
    struct fixture f;
    struct rng r;
    struct world w = {.revision = 1};
    const char *times = getenv("DRAY_CRASHES");
    long n = times ? strtol(times, NULL, 10) : CRASHES;
    fixture_init(&f, "sqlite:");
    rng_init(&r, 1);
    for (long i = 0; i < n; i++)
        crash_once(&f, &w, (uint64_t)i + 1, &r);
    print_message("# %d kills, %llu writes\n", (int)n, (unsigned long long)w.revision);
    for (int i = 0; i < KEYS; i++)
        free((char *)w.keys[i].value.p);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
