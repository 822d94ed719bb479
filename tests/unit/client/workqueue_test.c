/* SPDX-License-Identifier: Apache-2.0 */
#include "client/workqueue.h"

#include "unit/unit.h"

struct site {
    struct net_loop *loop;
    struct workqueue *queue;
    char log[256]; /* keys that were begun, in order */
    unsigned busy, most_busy;
    unsigned fail; /* so many times yet */
    bool by_hand;  /* the test says when work is done */
};

static void work(void *ctx, struct str key)
{
    struct site *s = ctx;
    size_t n = strlen(s->log);
    snprintf(s->log + n, sizeof s->log - n, "%.*s ", STR_ARG(key));
    if (++s->busy > s->most_busy)
        s->most_busy = s->busy;
    if (s->by_hand)
        return;
    bool ok = s->fail == 0;
    s->fail -= !ok;
    s->busy--;
    workqueue_done(s->queue, key, ok);
}

static void open_site(struct site *s, unsigned workers)
{
    struct workqueue_opts opts = {.workers = workers, .first_ms = 4, .longest_ms = 16};
    *s = (struct site){.loop = net_loop_new(NULL)};
    s->queue = workqueue_new(s->loop, &opts, work, s);
}

static void close_site(struct site *s)
{
    workqueue_free(s->queue);
    net_loop_free(s->loop);
}

static void set(void *ctx)
{
    *(bool *)ctx = true;
}

static void rest(struct site *s, unsigned ms)
{
    bool over = false;
    net_timer_start(s->loop, ms, 0, set, &over);
    while (!over)
        net_loop_run_once(s->loop, true);
}

static void add(struct site *s, const char *keys)
{
    for (; *keys; keys++)
        workqueue_add(s->queue, (struct str){keys, 1});
}

static void done(struct site *s, const char *key, bool ok)
{
    s->busy--;
    workqueue_done(s->queue, str_from(key), ok);
}

static void test_once(void **state)
{
    struct site s;
    open_site(&s, 1);
    add(&s, "abacab");
    assert_string_equal(s.log, ""); /* never from within */
    assert_int_equal(workqueue_length(s.queue), 3);
    rest(&s, 5);
    assert_string_equal(s.log, "a b c ");
    assert_int_equal(workqueue_length(s.queue), 0);
    close_site(&s);
}

static void test_meanwhile(void **state)
{
    struct site s;
    open_site(&s, 2);
    s.by_hand = true;
    add(&s, "abc");
    rest(&s, 2);
    assert_string_equal(s.log, "a b ");
    add(&s, "aa"); /* it is worked on: not twice at a time */
    rest(&s, 2);
    assert_string_equal(s.log, "a b ");
    done(&s, "a", true);
    rest(&s, 2);
    assert_string_equal(s.log, "a b c ");
    done(&s, "b", true);
    rest(&s, 2);
    assert_string_equal(s.log, "a b c a ");
    assert_int_equal(s.most_busy, 2);
    close_site(&s); /* with work that has begun */
}

static void await_log(struct site *s, const char *want)
{
    while (strlen(s->log) < strlen(want))
        net_loop_run_once(s->loop, true);
    assert_string_equal(s->log, want);
}

static void test_failures(void **state)
{
    struct site s;
    open_site(&s, 1);
    s.fail = 4;
    add(&s, "a");
    uint64_t begun = net_now_ms(s.loop);
    await_log(&s, "a ");
    assert_int_equal(workqueue_failures(s.queue, STR("a")), 1);
    await_log(&s, "a a a a a ");
    assert_true(net_now_ms(s.loop) - begun >= 4 + 8 + 16 + 16);
    assert_int_equal(workqueue_failures(s.queue, STR("a")), 0);
    close_site(&s);
}

static void test_later(void **state)
{
    struct site s;
    open_site(&s, 1);
    workqueue_add_after(s.queue, STR("a"), 100000);
    workqueue_add_after(s.queue, STR("b"), 12);
    workqueue_add_after(s.queue, STR("a"), 3); /* the earliest counts */
    workqueue_add_after(s.queue, STR("a"), 50000);
    assert_int_equal(workqueue_length(s.queue), 0);
    rest(&s, 25);
    assert_string_equal(s.log, "a b ");
    workqueue_add_after(s.queue, STR("c"), 100000);
    close_site(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
