/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises, held against every back end. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "store/fixture.h"

/* alone: the store has no other users, not even itself. Then revisions follow one another
 * without a gap, in the order of submission whatever the keys. */
struct kind {
    char name[32], backend[300];
    bool durable, alone;
};

enum { MOST_KINDS = 6 };
static struct kind kinds[MOST_KINDS] = {{"memory", "memory:", false, true},
                                        {"sqlite", "sqlite:", true, true}};

static void open_as(struct fixture *f, void **state)
{
    const struct kind *kind = *state;
    struct err e = ERR_INIT;
    fixture_init(f, kind->backend);
    if (!fixture_open(f, &e))
        fail_msg("%s", err_text(&e));
}

static void reopen(struct fixture *f)
{
    struct err e = ERR_INIT;
    fixture_close(f);
    if (!fixture_open(f, &e))
        fail_msg("%s", err_text(&e));
}

static void check_print(struct fixture *f, const char *want)
{
    char *got = fixture_print(f, NULL);
    assert_string_equal(got, want);
    free(got);
}

/* ---- compare and swap ---- */

/* In order, on one store. expect below 0: what the key's revision is, plus this + 1. */
enum { ANY = 1000, CURRENT = -1 };
static const struct step {
    const char *name, *key, *value;
    int64_t expect;
    enum store_answer want;
    int revision; /* of the answer */
} STEPS[] = {
    {"a delete of nothing", "/r/a", NULL, ANY, STORE_MISSING, 0},
    {"a delete of nothing at a revision", "/r/a", NULL, 5, STORE_MISSING, 0},
    {"a delete that must be new", "/r/a", NULL, 0, STORE_MISSING, 0},
    {"an update of nothing", "/r/a", "1", 5, STORE_MISSING, 0},
    {"a create", "/r/a", "1", 0, STORE_OK, 2},
    {"a create again", "/r/a", "2", 0, STORE_EXISTS, 2},
    {"an update at an old revision", "/r/a", "2", 1, STORE_CONFLICT, 2},
    {"an update at a future revision", "/r/a", "2", 3, STORE_CONFLICT, 2},
    {"an update", "/r/a", "2", 2, STORE_OK, 3},
    {"the same update", "/r/a", "2", 2, STORE_CONFLICT, 3},
    {"equal bytes are a change", "/r/a", "2", 3, STORE_OK, 4},
    {"a put of what is there", "/r/a", "3", ANY, STORE_OK, 5},
    {"a put of what is not", "/r/b", "", ANY, STORE_OK, 6},
    {"a delete at an old revision", "/r/a", NULL, 4, STORE_CONFLICT, 5},
    {"a delete that must be new, of something", "/r/a", NULL, 0, STORE_EXISTS, 5},
    {"a delete", "/r/a", NULL, 5, STORE_OK, 7},
    {"a delete again", "/r/a", NULL, 5, STORE_MISSING, 0},
    {"a create after a delete", "/r/a", "4", 0, STORE_OK, 8},
    {"a key that another begins with", "/r/a/b", "5", 0, STORE_OK, 9},
    {"a delete of whatever is there", "/r/b", NULL, ANY, STORE_OK, 10},
    {"an empty key", "", "1", ANY, STORE_FAILED, 0},
    {"a key without a slash", "r", "1", ANY, STORE_FAILED, 0},
};

static uint64_t expect_of(const struct step *s)
{
    return s->expect == ANY ? STORE_ANY : (uint64_t)s->expect;
}

static void test_steps(void **state)
{
    struct fixture f;
    open_as(&f, state);
    assert_int_equal(store_revision(f.store), 1);
    check_print(&f, "");
    for (size_t i = 0; i < UNIT_COUNT(STEPS); i++) {
        const struct step *s = &STEPS[i];
        struct answer a = fixture_write(&f, s->key, s->value, expect_of(s));
        ROW(s->name, a.answer == s->want);
        ROW(s->name, a.revision == (uint64_t)s->revision);
        answers_release(&a, 1);
    }
    check_print(&f, "/r/a/b=5@9 /r/a=4@8");
    assert_int_equal(store_revision(f.store), 10);
    fixture_check_history(&f, 1);
    fixture_fini(&f);
}

/* Of several keys the order is promised by those alone who are alone. */
static size_t steps_at_once(const struct kind *kind)
{
    size_t n = 0;
    while (n < UNIT_COUNT(STEPS) && (kind->alone || strcmp(STEPS[n].key, "/r/a") == 0))
        n++;
    return n;
}

/* The same in one batch: a later write sees what an earlier one of its batch did. */
static void test_steps_at_once(void **state)
{
    struct fixture f;
    const struct kind *kind = *state;
    struct answer answers[UNIT_COUNT(STEPS)] = {0};
    size_t n = steps_at_once(kind);
    open_as(&f, state);
    for (size_t i = 0; i < n; i++)
        store_submit(f.store, &(struct store_write){.key = str_from(STEPS[i].key),
                                                    .value = str_from(STEPS[i].value),
                                                    .expect = expect_of(&STEPS[i]),
                                                    .done = fixture_answered,
                                                    .ctx = &answers[i]});
    fixture_await(&f, answers, n);
    for (size_t i = 0; i < n; i++) {
        ROW(STEPS[i].name, answers[i].answer == STEPS[i].want);
        ROW(STEPS[i].name, answers[i].revision == (uint64_t)STEPS[i].revision);
    }
    answers_release(answers, n);
    check_print(&f, kind->alone ? "/r/a/b=5@9 /r/a=4@8" : "/r/a=3@5");
    fixture_check_history(&f, 1);
    fixture_fini(&f);
}

static void test_changes(void **state)
{
    struct fixture f;
    open_as(&f, state);
    fixture_write(&f, "/r/a", "1", 0);
    fixture_write(&f, "/r/a", "2", 2);
    fixture_write(&f, "/r/a", NULL, 3);
    const struct store_change want[] = {
        {STORE_PUT, 2, STR("/r/a"), STR("1"), true, STR_NONE, 0},
        {STORE_PUT, 3, STR("/r/a"), STR("2"), false, STR("1"), 2},
        {STORE_DELETE, 4, STR("/r/a"), STR("2"), false, STR("2"), 3},
    };
    assert_int_equal(f.changes.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(change_eq(&f.changes.v[i], &want[i]));
    fixture_fini(&f);
}

/* ---- order ---- */

struct sequence {
    struct fixture *f;
    bool alone;
    uint64_t last;  /* of the answer before */
    size_t changes; /* that were reported with it */
    size_t answered;
};

/* Of the change at a revision; NULL: it was not reported. */
static const struct store_change *reported(const struct fixture *f, uint64_t revision)
{
    for (size_t i = f->changes.n; i-- > 0;)
        if (f->changes.v[i].revision == revision)
            return &f->changes.v[i];
    return NULL;
}

static void in_sequence(void *ctx, enum store_answer answer, uint64_t revision,
                        const struct err *e)
{
    struct sequence *s = ctx;
    assert_int_equal(answer, STORE_OK);
    s->answered++;
    if (!s->alone) {
        assert_non_null(reported(s->f, revision));
        return;
    }
    assert_int_equal(revision, s->last + 1);
    s->last = revision;
    assert_int_equal(s->f->changes.n,
                     s->changes + s->answered); /* its change came first */
    assert_int_equal(s->f->changes.v[s->f->changes.n - 1].revision, revision);
    assert_int_equal(store_revision(s->f->store), revision);
}

static void test_answers_in_order(void **state)
{
    enum { WRITES = 10000 };
    struct fixture f;
    open_as(&f, state);
    const struct kind *kind = *state;
    struct sequence s = {.f = &f, .last = 1, .alone = kind->alone};
    for (int i = 0; i < WRITES; i++) {
        char key[32];
        snprintf(key, sizeof key, "/r/%d", i % 77);
        store_submit(f.store, &(struct store_write){.key = str_from(key),
                                                    .value = STR("value"),
                                                    .expect = STORE_ANY,
                                                    .done = in_sequence,
                                                    .ctx = &s});
    }
    while (s.answered < WRITES)
        fixture_wait(&f);
    fixture_check_history(&f, store_compacted(f.store));
    fixture_fini(&f);
}

/* Closing answers everything that was submitted. */
static void test_close_finishes(void **state)
{
    enum { WRITES = 500 };
    struct fixture f;
    const struct kind *kind = *state;
    struct answer answers[WRITES] = {0};
    open_as(&f, state);
    for (int i = 0; i < WRITES; i++)
        store_submit(f.store, &(struct store_write){.key = STR("/r/a"),
                                                    .value = STR("value"),
                                                    .expect = STORE_ANY,
                                                    .done = fixture_answered,
                                                    .ctx = &answers[i]});
    fixture_close(&f);
    for (int i = 0; i < WRITES; i++)
        assert_true(answers[i].done && answers[i].answer == STORE_OK);
    assert_true(fixture_open(&f, NULL));
    check_print(&f, kind->durable ? "/r/a=value@501" : "");
    fixture_fini(&f);
}

enum { THREADS = 4, INCREMENTS = 150 };

struct adder {
    struct fixture *f;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct answer answer;
    uint64_t *ended; /* atomic: how many have */
};

static void adder_answered(void *ctx, enum store_answer answer, uint64_t revision,
                           const struct err *e)
{
    struct adder *a = ctx;
    pthread_mutex_lock(&a->lock);
    a->answer = (struct answer){.answer = answer, .revision = revision, .done = true};
    pthread_cond_signal(&a->answered);
    pthread_mutex_unlock(&a->lock);
}

static enum store_answer add_once(struct adder *a, uint64_t *at)
{
    a->answer.done = false;
    store_submit(a->f->store, &(struct store_write){.key = STR("/r/sum"),
                                                    .value = STR("x"),
                                                    .expect = *at,
                                                    .done = adder_answered,
                                                    .ctx = a});
    pthread_mutex_lock(&a->lock);
    while (!a->answer.done)
        pthread_cond_wait(&a->answered, &a->lock);
    pthread_mutex_unlock(&a->lock);
    *at = a->answer.revision;
    return a->answer.answer;
}

static void *add(void *ctx)
{
    struct adder *a = ctx;
    uint64_t at = 2;
    for (int done = 0; done < INCREMENTS;)
        done += add_once(a, &at) == STORE_OK;
    __atomic_add_fetch(a->ended, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&a->f->lock); /* ends the polling */
    a->f->wake = true;
    pthread_cond_signal(&a->f->woken);
    pthread_mutex_unlock(&a->f->lock);
    return NULL;
}

/* Threads that update one key: each revision was won by one of them. */
static void test_threads(void **state)
{
    struct fixture f;
    struct adder adders[THREADS];
    uint64_t ended = 0;
    open_as(&f, state);
    fixture_write(&f, "/r/sum", "x", 0);
    for (int i = 0; i < THREADS; i++) {
        adders[i] = (struct adder){.f = &f, .ended = &ended};
        pthread_mutex_init(&adders[i].lock, NULL);
        pthread_cond_init(&adders[i].answered, NULL);
        assert_int_equal(pthread_create(&adders[i].thread, NULL, add, &adders[i]), 0);
    }
    while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) < THREADS)
        fixture_wait(&f);
    for (int i = 0; i < THREADS; i++)
        pthread_join(adders[i].thread, NULL);
    assert_int_equal(store_revision(f.store), 2 + THREADS * INCREMENTS);
    fixture_fini(&f);
}

/* ---- history ---- */

static bool stop_at_second(void *ctx, struct str key, struct str value, uint64_t revision)
{
    return ++*(int *)ctx < 2;
}

static bool stop_at_second_change(void *ctx, const struct store_change *c)
{
    return ++*(int *)ctx < 2;
}

static void test_stop(void **state)
{
    struct fixture f;
    struct err e = ERR_INIT;
    uint64_t revision;
    int seen = 0;
    open_as(&f, state);
    for (int i = 0; i < 4; i++)
        fixture_write(&f, (const char *[]){"/r/a", "/r/b", "/r/c", "/r/d"}[i], "", 0);
    assert_false(store_snapshot(f.store, stop_at_second, &seen, &revision, &e));
    assert_int_equal(seen, 2);
    assert_int_equal(e.code, ERR_NONE);
    seen = 0;
    assert_false(store_history(f.store, 1, stop_at_second_change, &seen, &e));
    assert_int_equal(seen, 2);
    assert_int_equal(e.code, ERR_NONE);
    check_print(&f, "/r/a=@2 /r/b=@3 /r/c=@4 /r/d=@5"); /* nothing was left open */
    fixture_write(&f, "/r/e", "", 0);
    fixture_fini(&f);
}

static void await_compacted(struct fixture *f, uint64_t revision)
{
    for (int i = 0; i < 5000 && store_compacted(f->store) < revision; i++)
        usleep(1000);
    assert_int_equal(store_compacted(f->store), revision);
}

static void test_compact(void **state)
{
    struct fixture f;
    struct err e = ERR_INIT;
    const struct kind *kind = *state;
    int seen = 0;
    open_as(&f, state);
    assert_int_equal(store_compacted(f.store), 1);
    for (int i = 0; i < 20; i++)
        fixture_write(&f, i % 2 ? "/r/a" : "/r/b", i % 5 ? "x" : NULL, STORE_ANY);
    uint64_t last = store_revision(f.store), middle = last / 2;
    store_compact(f.store, middle);
    await_compacted(&f, middle);
    store_compact(f.store, middle - 1); /* no way back */
    fixture_check_history(&f, middle);
    fixture_check_history(&f, last);
    assert_false(store_history(f.store, middle - 1, stop_at_second_change, &seen, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(seen, 0);
    if (kind->durable) {
        reopen(&f);
        assert_int_equal(store_compacted(f.store), middle);
        fixture_check_history(&f, middle);
    }
    uint64_t end = store_revision(f.store);
    assert_true(!kind->alone || end == last);
    store_compact(f.store, end + 100); /* no further than there is */
    await_compacted(&f, end);
    fixture_write(&f, "/r/z", "", 0);
    fixture_check_history(&f, end);
    assert_true(!kind->alone || store_revision(f.store) == last + 1);
    err_release(&e);
    fixture_fini(&f);
}

static size_t changes_kept(const struct fixture *f)
{
    size_t n = 0;
    while (n < f->changes.n &&
           f->changes.v[f->changes.n - 1 - n].revision > store_compacted(f->store))
        n++;
    return n;
}

/* What history takes stays bounded, and the newest of it is there. */
static void test_history_bytes(void **state)
{
    enum { WRITES = 400, SIZE = 1000 };
    struct fixture f;
    const struct kind *kind = *state;
    fixture_init(&f, kind->backend);
    f.opts.history_bytes = 50 * SIZE;
    assert_true(fixture_open(&f, NULL));
    char *value = mem_alloc(SIZE + 1);
    memset(value, 'v', SIZE);
    value[SIZE] = '\0';
    for (int i = 0; i < WRITES; i++)
        fixture_write(&f, "/r/a", value, STORE_ANY);
    free(value);
    for (int i = 0; i < 5000 && !kind->alone && changes_kept(&f) > 50; i++)
        usleep(1000);
    usleep(kind->alone ? 0 : 300 * 1000);
    assert_in_range(changes_kept(&f), 30, 50);
    fixture_check_history(&f, store_compacted(f.store));
    fixture_fini(&f);
}

static void test_history_seconds(void **state)
{
    struct fixture f;
    const struct kind *kind = *state;
    fixture_init(&f, kind->backend);
    f.opts.history_seconds = 1;
    assert_true(fixture_open(&f, NULL));
    fixture_write(&f, "/r/a", "1", 0);
    fixture_write(&f, "/r/a", "2", 2);
    usleep(2200 * 1000);
    struct answer b = fixture_write(&f, "/r/b", "3", 0);
    char want[64];
    assert_true(!kind->alone || b.revision == 4); /* else compacting takes revisions */
    assert_int_equal(store_compacted(f.store), 3);
    fixture_check_history(&f, 3);
    snprintf(want, sizeof want, "/r/a=2@3 /r/b=3@%d", (int)b.revision);
    check_print(&f, want);
    fixture_fini(&f);
}

/* ---- any writes, against a plain model ---- */

enum { MODEL_KEYS = 40 };

struct model {
    struct {
        uint64_t revision; /* 0: not there */
        char value[24];
    } keys[MODEL_KEYS];
    uint64_t revision;
};

static void model_key(int i, char key[16])
{
    snprintf(key, 16, "/r/k%02d", i);
}

static enum store_answer model_write(struct model *m, int key, const char *value,
                                     uint64_t expect)
{
    uint64_t now = m->keys[key].revision;
    if (expect == 0 && now)
        return STORE_EXISTS;
    if (expect == 0 && !value)
        return STORE_MISSING;
    if (expect != 0 && !now && (expect != STORE_ANY || !value))
        return STORE_MISSING;
    if (expect != 0 && expect != STORE_ANY && expect != now)
        return STORE_CONFLICT;
    m->keys[key].revision = ++m->revision;
    if (value)
        snprintf(m->keys[key].value, sizeof m->keys[key].value, "%s", value);
    else
        m->keys[key].revision = 0;
    return STORE_OK;
}

static void model_check(const struct model *m, struct fixture *f)
{
    struct strbuf want = STRBUF_INIT;
    uint64_t revision;
    char key[16];
    strbuf_reserve(&want, 1);
    for (int i = 0; i < MODEL_KEYS; i++) {
        model_key(i, key);
        if (m->keys[i].revision)
            strbuf_addf(&want, "%s%s=%s@%d", want.n ? " " : "", key, m->keys[i].value,
                        (int)m->keys[i].revision);
    }
    char *got = fixture_print(f, &revision);
    assert_string_equal(got, strbuf_cstr(&want));
    assert_int_equal(revision, m->revision);
    free(got);
    strbuf_release(&want);
}

static uint64_t any_expectation(struct rng *r, uint64_t now)
{
    switch (rng_range(r, 0, 5)) {
    case 0:
        return 0;
    case 1:
        return now > 1 ? now - 1 : 1;
    case 2:
        return STORE_ANY;
    default:
        return now;
    }
}

/* A batch of random writes, and how the model says that each is answered. */
static void any_batch(struct fixture *f, struct model *m, struct rng *r, bool alone)
{
    enum { MOST = 30 };
    struct answer answers[MOST] = {0};
    enum store_answer want[MOST];
    uint64_t revisions[MOST];
    size_t n = alone ? (size_t)rng_range(r, 1, MOST) : 1;
    for (size_t i = 0; i < n; i++) {
        int k = (int)rng_range(r, 0, MODEL_KEYS - 1);
        char key[16], value[24];
        snprintf(value, sizeof value, "v%llu", (unsigned long long)rng_next(r) % 1000);
        const char *v = rng_range(r, 0, 3) ? value : NULL;
        uint64_t expect = any_expectation(r, m->keys[k].revision),
                 now = m->keys[k].revision;
        model_key(k, key);
        want[i] = model_write(m, k, v, expect);
        revisions[i] = want[i] == STORE_OK ? m->revision : now;
        store_submit(f->store, &(struct store_write){.key = str_from(key),
                                                     .value = str_from(v),
                                                     .expect = expect,
                                                     .done = fixture_answered,
                                                     .ctx = &answers[i]});
    }
    fixture_await(f, answers, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(answers[i].answer, want[i]);
        assert_int_equal(answers[i].revision, revisions[i]);
    }
    answers_release(answers, n);
}

static void compact_any(struct fixture *f, struct rng *r)
{
    uint64_t to = (uint64_t)rng_range(r, 0, (int64_t)store_revision(f->store));
    store_compact(f->store, to);
    for (int i = 0; i < 5000 && store_compacted(f->store) < to; i++)
        usleep(1000);
}

static void test_against_model(void **state)
{
    const struct kind *kind = *state;
    for (uint64_t seed = 1; seed <= (kind->alone ? 5 : 1); seed++) {
        struct fixture f;
        struct model m = {.revision = 1};
        struct rng r;
        rng_init(&r, seed);
        open_as(&f, state);
        for (int step = 0; step < 60; step++) {
            any_batch(&f, &m, &r, kind->alone);
            model_check(&m, &f);
            if (kind->durable && rng_range(&r, 0, 9) == 0)
                reopen(&f);
            if (rng_range(&r, 0, 9) == 0)
                compact_any(&f, &r);
            uint64_t low = store_compacted(f.store);
            if (low >= m.revision)
                continue;
            fixture_check_history(
                &f, (uint64_t)rng_range(&r, (int64_t)low, (int64_t)m.revision));
            m.revision += !kind->alone; /* where history ends was marked */
        }
        fixture_fini(&f);
    }
}

/* ---- limits and errors ---- */

static void test_limits(void **state)
{
    struct fixture f;
    open_as(&f, state);
    char *key = mem_zalloc(STORE_KEY_MAX + 2);
    memset(key, 'k', STORE_KEY_MAX);
    key[0] = '/';
    struct answer a = fixture_write(&f, key, "x", 0);
    assert_int_equal(a.answer, STORE_OK);
    key[STORE_KEY_MAX] = 'k';
    a = fixture_write(&f, key, "x", 0);
    assert_int_equal(a.answer, STORE_FAILED);
    assert_int_equal(a.err.code, ERR_LIMIT);
    answers_release(&a, 1);
    /* Bytes are bytes. */
    struct answer b = {0};
    const struct str odd = {"/\0\xff\n", 4};
    store_submit(f.store,
                 &(struct store_write){
                     .key = odd, .value = odd, .done = fixture_answered, .ctx = &b});
    fixture_await(&f, &b, 1);
    assert_int_equal(b.answer, STORE_OK);
    assert_true(str_eq(f.changes.v[f.changes.n - 1].value, odd));
    fixture_check_history(&f, 1);
    /* A large one, over many pages. */
    size_t size = 3 << 20;
    char *value = mem_alloc(size + 1);
    memset(value, 'v', size);
    value[size] = '\0';
    assert_int_equal(fixture_write(&f, "/large", value, 0).answer, STORE_OK);
    assert_int_equal(fixture_write(&f, "/large", "small", STORE_ANY).answer, STORE_OK);
    fixture_check_history(&f, 1);
    free(value);
    free(key);
    fixture_fini(&f);
}

static void test_urls(void **state)
{
    static const struct {
        const char *url;
        enum err_code code;
    } rows[] = {
        {"", ERR_UNSUPPORTED},
        {"postgres:x", ERR_UNSUPPORTED},
        {"sqlite", ERR_UNSUPPORTED},
        {"memory:x", ERR_INVALID},
        {"sqlite:", ERR_INVALID},
        {"sqlite:/dev/null/x", ERR_IO},
        {"sqlite:no-such-parent/x", ERR_IO},
        {"etcd:x", ERR_INVALID},
        {"etcd:", ERR_INVALID},
        {"etcd://", ERR_INVALID},
        {"etcd://host", ERR_INVALID},
        {"etcd://host:", ERR_INVALID},
        {"etcd://host:1,", ERR_INVALID},
        {"etcd://:1", ERR_INVALID},
        {"etcd://host:65536", ERR_INVALID},
        {"etcd://host:2379x/", ERR_INVALID},
        {"etcds://host:2379/", ERR_INVALID}, /* without a CA */
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct err e = ERR_INIT;
        ROW(rows[i].url, !store_open(rows[i].url, &(struct store_opts){0}, &e));
        ROW(rows[i].url, e.code == rows[i].code);
        err_release(&e);
    }
    store_close(NULL);
}

static void overwrite(const char *dir, const char *name, const char *bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(bytes, file);
    fclose(file);
}

static void test_sqlite_dir(void **state)
{
    struct fixture f, g;
    struct err e = ERR_INIT;
    fixture_init(&f, "sqlite:");
    rmdir(f.dir); /* it is made */
    assert_true(fixture_open(&f, NULL));
    struct stat st;
    assert_int_equal(stat(f.dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    fixture_init(&g, "sqlite:");
    assert_null(store_open(f.url, &g.opts, &e)); /* one at a time */
    assert_non_null(strstr(err_text(&e), "another process"));
    fixture_write(&f, "/r/a", "1", 0);
    fixture_close(&f);
    assert_true(fixture_open(&f, NULL));
    fixture_close(&f);
    overwrite(f.dir, "store.db",
              "this is no database, but it is long enough to be read as"
              " one, header and all, by somebody who does not look "
              "at how it begins");
    assert_false(fixture_open(&f, &e));
    assert_int_equal(e.code, ERR_IO);
    assert_false(fixture_open(&f, &e)); /* the lock was given back */
    assert_null(strstr(err_text(&e), "another process"));
    err_release(&e);
    fixture_fini(&f);
    fixture_fini(&g);
}

/* ---- all of it ---- */

#define EACH(function)                                                                   \
    {                                                                                    \
#function, function                                                              \
    }
static const struct {
    const char *name;
    CMUnitTestFunction function;
} TESTS[] = {
    EACH(test_steps),          EACH(test_steps_at_once),
    EACH(test_changes),        EACH(test_answers_in_order),
    EACH(test_close_finishes), EACH(test_threads),
    EACH(test_stop),           EACH(test_compact),
    EACH(test_history_bytes),  EACH(test_history_seconds),
    EACH(test_against_model),  EACH(test_limits),
};

static size_t find_kinds(void)
{
    struct etcd_binary found[MOST_KINDS - 2];
    size_t n = etcd_binaries(found, UNIT_COUNT(found));
    for (size_t i = 0; i < n; i++) {
        snprintf(kinds[2 + i].name, sizeof kinds->name, "%s", found[i].name);
        snprintf(kinds[2 + i].backend, sizeof kinds->backend, "etcd:%.255s",
                 found[i].path);
        kinds[2 + i].durable = true;
    }
    return 2 + n;
}

static void test_no_etcd(void **state)
{
    skip();
}

int main(void)
{
    enum { MOST = UNIT_COUNT(TESTS) * MOST_KINDS };
    static char names[MOST][64];
    struct CMUnitTest tests[MOST + 3] = {0};
    size_t n = 0, nkinds = find_kinds();
    for (size_t k = 0; k < nkinds; k++) {
        for (size_t i = 0; i < UNIT_COUNT(TESTS); i++, n++) {
            snprintf(names[n], sizeof names[n], "%.31s %s", kinds[k].name, TESTS[i].name);
            tests[n] = (struct CMUnitTest){.name = names[n],
                                           .test_func = TESTS[i].function,
                                           .initial_state = &kinds[k]};
        }
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_urls);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_sqlite_dir);
    for (size_t i = 0; nkinds == 2 && i < UNIT_COUNT(TESTS); i++, n++) {
        snprintf(names[n], sizeof names[n], "etcd %s", TESTS[i].name);
        tests[n] = (struct CMUnitTest){.name = names[n], .test_func = test_no_etcd};
    }
    return _cmocka_run_group_tests("store", tests, n, NULL, NULL);
}
