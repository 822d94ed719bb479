/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQLite back end on a disk that fails: the n-th operation, for every n; and after a
 * power cut before the n-th. Whatever happens, OK means written, FAILED means not, the
 * store goes on when the disk does, and it opens again.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/fixture.h"
#include "store/shim.h"

enum { BATCHES = 8, BATCH = 5, WRITES = BATCHES * BATCH, KEYS = 7, LARGE = 9000 };

struct run {
    struct fixture f;
    struct answer answers[WRITES + 1];
    uint32_t answered; /* read by another thread */
    char *large;
};

/* The i-th write of the load: puts, some of many pages, and deletes. */
static struct store_write nth_write(struct run *r, int i, char key[16], char value[16])
{
    snprintf(key, 16, "/r/%d", i * 5 % KEYS);
    snprintf(value, 16, "v%d", i);
    struct store_write w = {.key = str_from(key), .expect = STORE_ANY};
    if (i % 6 == 1)
        w.value = (struct str){r->large, LARGE};
    else if (i % 4 != 3)
        w.value = str_from(value);
    return w;
}

static void answered(void *ctx, enum store_answer got, uint64_t revision,
                     const struct err *e)
{
    struct run *r = ctx;
    fixture_answered(&r->answers[r->answered], got, revision, e);
    __atomic_add_fetch(&r->answered, 1, __ATOMIC_SEQ_CST);
}

static void submit_nth(struct run *r, int i)
{
    char key[16], value[16];
    struct store_write w = nth_write(r, i, key, value);
    w.done = answered;
    w.ctx = r;
    store_submit(r->f.store, &w);
}

static void run_init(struct run *r)
{
    *r = (struct run){0};
    fixture_init(&r->f, "sqlite:");
    r->f.opts.history_bytes = 30000; /* some is forgotten on the way */
    r->large = mem_alloc(LARGE);
    memset(r->large, 'l', LARGE);
}

static void run_fini(struct run *r)
{
    answers_release(r->answers, WRITES + 1);
    free(r->large);
    fixture_fini(&r->f);
}

static bool any_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    return true;
}

/* The load; every write is answered, however the disk is. False: it did not open. */
static bool run_load(struct run *r)
{
    struct err e = ERR_INIT;
    uint64_t revision;
    if (!fixture_open(&r->f, &e)) {
        assert_int_not_equal(e.code, ERR_NONE);
        err_release(&e);
        return false;
    }
    for (int b = 0; b < BATCHES; b++) {
        for (int i = 0; i < BATCH; i++)
            submit_nth(r, b * BATCH + i);
        fixture_await(&r->f, r->answers, (size_t)(b + 1) * BATCH);
        if (b == BATCHES / 2)
            store_compact(r->f.store, store_revision(r->f.store) - 2);
        if (!store_snapshot(r->f.store, any_object, NULL, &revision, &e))
            assert_int_equal(e.code, ERR_IO);
        err_release(&e);
    }
    return true;
}

/* ---- what must be there ---- */

struct world {
    struct {
        uint64_t revision;
        struct str value;
    } keys[KEYS];
    uint64_t revision;
};

static void world_write(struct world *w, struct run *r, int i)
{
    char key[16], value[16];
    struct store_write write = nth_write(r, i, key, value);
    int k = i * 5 % KEYS;
    if (!write.value.p && !w->keys[k].revision)
        return; /* missing */
    w->revision++;
    w->keys[k].revision = write.value.p ? w->revision : 0;
    w->keys[k].value = write.value.n == LARGE ? write.value : STR_NONE;
    if (write.value.p && write.value.n != LARGE)
        w->keys[k].value = arena_str(&r->f.arena, write.value);
}

static bool compare_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    const struct world *w = ctx;
    int k = key.p[key.n - 1] - '0'; /* "/r/3" */
    assert_int_equal(key.n, 4);
    assert_in_range(k, 0, KEYS - 1);
    assert_int_equal(revision, w->keys[k].revision);
    assert_true(str_eq(value, w->keys[k].value));
    return true;
}

static uint64_t objects(const struct world *w)
{
    uint64_t n = 0;
    for (int i = 0; i < KEYS; i++)
        n += w->keys[i].revision != 0;
    return n;
}

static bool count_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    ++*(uint64_t *)ctx;
    return true;
}

static bool count_change(void *ctx, const struct store_change *c)
{
    ++*(uint64_t *)ctx;
    return true;
}

/* The store holds exactly this, and its history reaches up to it. */
static void check_world(struct store *s, const struct world *w)
{
    struct err e = ERR_INIT;
    uint64_t revision, n = 0, changes = 0;
    if (!store_snapshot(s, compare_object, (void *)w, &revision, &e) ||
        !store_snapshot(s, count_object, &n, &revision, &e) ||
        !store_history(s, store_compacted(s), count_change, &changes, &e))
        fail_msg("%s", err_text(&e));
    assert_int_equal(revision, w->revision);
    assert_int_equal(n, objects(w));
    assert_int_equal(changes, revision - store_compacted(s));
}

/* ---- failures ---- */

/* The world of the writes that were answered with OK or MISSING. */
static struct world answered_world(struct run *r, bool *certain)
{
    struct world w = {.revision = 1};
    *certain = true;
    for (uint32_t i = 0; i < r->answered; i++) {
        const struct answer *a = &r->answers[i];
        if (a->answer == STORE_FAILED) {
            assert_int_equal(a->err.code, ERR_IO);
            *certain = *certain && !strstr(err_text(&a->err), "a restart may find it");
            continue;
        }
        world_write(&w, r, (int)i);
        if (a->answer == STORE_OK)
            assert_int_equal(a->revision, w.revision);
    }
    return w;
}

static void check_changes(struct run *r)
{
    size_t ok = 0;
    for (uint32_t i = 0; i < r->answered; i++)
        ok += r->answers[i].answer == STORE_OK;
    assert_int_equal(r->f.changes.n, ok);
}

static bool fail_nth(uint64_t n, enum shim_fault fault, bool forever)
{
    struct run r;
    bool certain;
    run_init(&r);
    shim_fail_at(n, fault, forever);
    bool opened = run_load(&r);
    if (forever && opened)
        fixture_close(&r.f);
    bool hit = shim_disarm();
    if (opened && !forever) {
        submit_nth(&r, WRITES);
        fixture_await(&r.f, r.answers, WRITES + 1);
        assert_int_equal(r.answers[WRITES].answer, STORE_OK);
    }
    struct world w = answered_world(&r, &certain);
    check_changes(&r);
    if (r.f.store)
        check_world(r.f.store, &w);
    fixture_close(&r.f);
    assert_true(fixture_open(&r.f, NULL));
    if (certain || !forever)
        check_world(r.f.store, &w);
    else
        assert_true(store_revision(r.f.store) >= w.revision);
    assert_int_equal(fixture_write(&r.f, "/r/after", "", STORE_ANY).answer, STORE_OK);
    run_fini(&r);
    return hit;
}

struct mode {
    enum shim_fault fault;
    bool forever;
    uint64_t least; /* operations there are at least */
};

static const struct mode IO_ONCE = {SHIM_IO_ERROR, false, 100},
                         IO_FOREVER = {SHIM_IO_ERROR, true, 100},
                         FULL_ONCE = {SHIM_DISK_FULL, false, 50},
                         FULL_FOREVER = {SHIM_DISK_FULL, true, 50};

static void test_nth_fails(void **state)
{
    const struct mode *mode = *state;
    uint64_t n = 1;
    while (fail_nth(n, mode->fault, mode->forever))
        n++;
    assert_true(n > mode->least);
    print_message("# %d operations\n", (int)n - 1);
}

/* No file may grow any more: updates go on in the room that there is. */
static void test_no_room(void **state)
{
    struct fixture f;
    int failed = 0;
    uint64_t updates = 0;
    fixture_init(&f, "sqlite:");
    f.opts.history_bytes = 1; /* each change may forget the one before */
    for (int round = 0; round < 2; round++) {
        assert_true(fixture_open(&f, NULL));
        for (int i = 0; i < 50; i++, updates++)
            assert_int_equal(fixture_write(&f, "/r/a", "x", STORE_ANY).answer, STORE_OK);
        if (round == 0)
            fixture_close(&f); /* what is in the log goes into the database */
    }
    shim_fail_at(1, SHIM_NO_ROOM, true);
    for (int i = 0; i < 500; i++) {
        struct answer a = fixture_write(&f, "/r/a", "y", STORE_ANY);
        failed += a.answer == STORE_FAILED;
        updates += a.answer == STORE_OK;
        answers_release(&a, 1);
    }
    assert_true(shim_disarm());
    assert_in_range(failed, 1, 50);
    fixture_close(&f);
    assert_true(fixture_open(&f, NULL));
    assert_int_equal(store_revision(f.store), 1 + updates);
    fixture_fini(&f);
}

/* ---- power cuts ---- */

struct cut {
    struct run run;
    char dir[64];
    uint64_t seed;
    uint32_t answered; /* when it happened */
};

static void cut_now(void *ctx)
{
    struct cut *c = ctx;
    c->answered = __atomic_load_n(&c->run.answered, __ATOMIC_SEQ_CST);
    shim_power_cut(c->run.f.dir, c->dir, c->seed);
}

/* What is found is what the first so many writes made, no fewer than were answered. */
static void check_cut(struct cut *c, struct fixture *after)
{
    struct world w = {.revision = 1};
    uint64_t revision = store_revision(after->store);
    int i = 0;
    for (; i < (int)c->answered; i++)
        world_write(&w, &c->run, i);
    assert_true(revision >= w.revision);
    for (; i < WRITES && w.revision < revision; i++)
        world_write(&w, &c->run, i);
    check_world(after->store, &w);
}

static bool cut_nth(uint64_t n, uint64_t seed)
{
    struct cut c = {.seed = seed};
    struct fixture after;
    struct err e = ERR_INIT;
    run_init(&c.run);
    fixture_init(&after, "sqlite:");
    after.opts.history_bytes = c.run.f.opts.history_bytes;
    snprintf(c.dir, sizeof c.dir, "%s", after.dir);
    shim_call_at(n, cut_now, &c);
    assert_true(run_load(&c.run));
    fixture_close(&c.run.f);
    bool hit = shim_disarm();
    if (hit) {
        if (!fixture_open(&after, &e))
            fail_msg("cut %d: %s", (int)n, err_text(&e));
        check_cut(&c, &after);
    }
    fixture_fini(&after);
    run_fini(&c.run);
    return hit;
}

static void test_power_cuts(void **state)
{
    uint64_t n = 1;
    while (cut_nth(n, n))
        n++;
    for (uint64_t seed = 1000; seed < 1100; seed++)
        cut_nth(1 + seed * 7919 % n, seed);
    assert_true(n > 100);
    print_message("# %d operations\n", (int)n - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"I/O error", test_nth_fails, NULL, NULL, (void *)&IO_ONCE},
        {"I/O error, for ever", test_nth_fails, NULL, NULL, (void *)&IO_FOREVER},
        {"disk full", test_nth_fails, NULL, NULL, (void *)&FULL_ONCE},
        {"disk full, for ever", test_nth_fails, NULL, NULL, (void *)&FULL_FOREVER},
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_power_cuts),
    };
    shim_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
