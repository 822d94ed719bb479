/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs beside the loop, and the lock that instances share. */
#include "driver/worker.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/lock.h"
#include "unit/unit.h"

enum { NJOBS = 200 };

struct job {
    struct all *all;
    unsigned number;
    bool worked, done;
};

struct all {
    struct job jobs[NJOBS];
    unsigned worked, done;
    pthread_t loop;
};

static void work(void *ctx)
{
    struct job *j = ctx;
    assert_false(pthread_equal(pthread_self(), j->all->loop));
    j->worked = j->all->worked++ == j->number;
}

static void done(void *ctx)
{
    struct job *j = ctx;
    assert_true(pthread_equal(pthread_self(), j->all->loop));
    j->done = j->all->done++ == j->number;
}

static void give(struct driver_worker *w, struct all *all)
{
    *all = (struct all){.loop = pthread_self()};
    for (unsigned i = 0; i < NJOBS; i++) {
        all->jobs[i] = (struct job){.all = all, .number = i};
        driver_worker_do(w, work, done, &all->jobs[i]);
    }
}

static void test_order(void **state)
{
    static struct all all;
    struct net_loop *l = net_loop_new(NULL);
    struct driver_worker *w = driver_worker_new(l);
    give(w, &all);
    while (all.done < NJOBS)
        net_loop_run_once(l, true);
    for (unsigned i = 0; i < NJOBS; i++)
        assert_true(all.jobs[i].worked && all.jobs[i].done);
    driver_worker_free(w);
    net_loop_free(l);
}

/* The one that runs is waited for; every one is done with, once. */
static void test_end(void **state)
{
    static struct all all;
    struct net_loop *l = net_loop_new(NULL);
    struct driver_worker *w = driver_worker_new(l);
    give(w, &all);
    driver_worker_free(w);
    assert_int_equal(all.done, NJOBS);
    for (unsigned i = 0; i < NJOBS; i++)
        assert_true(all.jobs[i].done && all.jobs[i].worked == (i < all.worked));
    net_loop_free(l);
}

/* ---- the lock ---- */

/* In another process: a thread that waits for such a lock stops valgrind. */
static pid_t take_elsewhere(struct str dir, int held, int out)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    driver_lock_give(held); /* one description, two descriptors */
    int fd = driver_lock_take(dir, NULL);
    _exit(fd >= 0 && write(out, "x", 1) == 1 ? 0 : 1);
}

static bool has_taken(int in, int wait_ms)
{
    struct pollfd p = {.fd = in, .events = POLLIN};
    return poll(&p, 1, wait_ms) == 1;
}

static void test_lock(void **state)
{
    char dir[] = "/tmp/dray-lock-XXXXXX", path[64];
    int ends[2], status;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(pipe(ends), 0);
    int fd = driver_lock_take(str_from(dir), NULL);
    assert_true(fd >= 0);
    pid_t child = take_elsewhere(str_from(dir), fd, ends[1]);
    assert_false(has_taken(ends[0], 50));
    driver_lock_give(fd);
    assert_true(has_taken(ends[0], 60000));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
    snprintf(path, sizeof path, "%s/serialize.lock", dir);
    unlink(path);
    rmdir(dir);
}

static void test_no_lock(void **state)
{
    struct err e = ERR_INIT;
    assert_int_equal(driver_lock_take(STR("/nonexistent/dir"), &e), -1);
    assert_non_null(strstr(err_text(&e), "/nonexistent/dir/serialize.lock"));
    err_release(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
