/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fixture.h"

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static void on_wake(void *ctx)
{
    struct fixture *f = ctx;
    pthread_mutex_lock(&f->lock);
    f->wake = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
}

static struct str copy(struct arena *a, struct str s)
{
    return s.p ? arena_str(a, s) : STR_NONE;
}

struct store_change change_copy(struct arena *a, const struct store_change *c)
{
    struct store_change k = *c;
    k.key = copy(a, c->key);
    k.value = copy(a, c->value);
    k.previous = copy(a, c->previous);
    return k;
}

bool change_eq(const struct store_change *a, const struct store_change *b)
{
    return a->kind == b->kind && a->revision == b->revision && a->created == b->created &&
           a->previous_revision == b->previous_revision && str_eq(a->key, b->key) &&
           str_eq(a->value, b->value) && str_eq(a->previous, b->previous);
}

static void on_change(void *ctx, const struct store_change *c)
{
    struct fixture *f = ctx;
    vec_push(&f->changes, change_copy(&f->arena, c));
}

static void start_etcd(struct fixture *f, const char *binary)
{
    f->server.binary = binary;
    f->server.dir = f->dir;
    etcd_server_start(&f->server);
    snprintf(f->url, sizeof f->url, "etcd://127.0.0.1:%u", f->server.port);
}

/* etcd waits for the disk at each write, and power cuts are not its test here. */
static const char *place_for(bool etcd)
{
    return etcd && access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "";
}

void fixture_init(struct fixture *f, const char *backend)
{
    *f = (struct fixture){0};
    bool etcd = strncmp(backend, "etcd:", 5) == 0;
    if (strcmp(backend, "memory:") != 0) {
        snprintf(f->dir, sizeof f->dir, "%sdray-store-XXXXXX", place_for(etcd));
        assert_non_null(mkdtemp(f->dir));
    }
    if (etcd)
        start_etcd(f, backend + 5);
    else
        snprintf(f->url, sizeof f->url, "%.16s%s", backend, f->dir);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->woken, NULL);
    f->opts = (struct store_opts){
        .wake = on_wake, .wake_ctx = f, .changed = on_change, .changed_ctx = f};
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

static void remove_dir(const char *dir)
{
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fixture_fini(struct fixture *f)
{
    fixture_close(f);
    etcd_server_kill(&f->server);
    if (f->dir[0])
        remove_dir(f->dir);
    vec_release(&f->changes);
    arena_fini(&f->arena);
    pthread_cond_destroy(&f->woken);
    pthread_mutex_destroy(&f->lock);
}

bool fixture_open(struct fixture *f, struct err *e)
{
    f->store = store_open(f->url, &f->opts, e);
    return f->store != NULL;
}

void fixture_close(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
}

void fixture_wait(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    while (!f->wake)
        pthread_cond_wait(&f->woken, &f->lock);
    f->wake = false;
    pthread_mutex_unlock(&f->lock);
    store_poll(f->store);
}

void fixture_answered(void *answer, enum store_answer got, uint64_t revision,
                      const struct err *e)
{
    struct answer *a = answer;
    assert_false(a->done);
    *a = (struct answer){.answer = got, .revision = revision, .done = true};
    assert_int_equal(e != NULL, got == STORE_FAILED);
    if (e)
        err_set(&a->err, e->code, "%s", err_text(e));
}

void fixture_await(struct fixture *f, struct answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        while (!answers[i].done)
            fixture_wait(f);
}

void answers_release(struct answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        err_release(&answers[i].err);
}

struct answer fixture_write(struct fixture *f, const char *key, const char *value,
                            uint64_t expect)
{
    struct answer a = {0};
    store_submit(f->store, &(struct store_write){.key = str_from(key),
                                                 .value = str_from(value),
                                                 .expect = expect,
                                                 .done = fixture_answered,
                                                 .ctx = &a});
    fixture_await(f, &a, 1);
    return a;
}

struct lines {
    struct arena arena;
    VEC(struct str) v;
};

static bool print_object(void *ctx, struct str key, struct str value, uint64_t revision)
{
    struct lines *l = ctx;
    vec_push(&l->v, arena_printf(&l->arena, "%.*s=%.*s@%llu", STR_ARG(key),
                                 STR_ARG(value), (unsigned long long)revision));
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

char *fixture_print(struct fixture *f, uint64_t *revision)
{
    struct strbuf b = STRBUF_INIT;
    struct lines l = {0};
    struct err e = ERR_INIT;
    uint64_t ignored;
    if (!store_snapshot(f->store, print_object, &l, revision ? revision : &ignored, &e))
        fail_msg("%s", err_text(&e));
    if (l.v.n)
        qsort(l.v.v, l.v.n, sizeof *l.v.v, compare_lines);
    for (size_t i = 0; i < l.v.n; i++)
        strbuf_addf(&b, "%s%.*s", i ? " " : "", STR_ARG(l.v.v[i]));
    vec_release(&l.v);
    arena_fini(&l.arena);
    return b.p ? strbuf_steal(&b) : mem_dup("", 0);
}

struct check {
    struct fixture *f;
    size_t at;
};

static bool check_change(void *ctx, const struct store_change *c)
{
    struct check *k = ctx;
    assert_true(k->at < k->f->changes.n);
    assert_true(change_eq(&k->f->changes.v[k->at], c));
    k->at++;
    return true;
}

void fixture_check_history(struct fixture *f, uint64_t after)
{
    struct check k = {.f = f};
    struct err e = ERR_INIT;
    while (k.at < f->changes.n && f->changes.v[k.at].revision <= after)
        k.at++;
    if (!store_history(f->store, after, check_change, &k, &e))
        fail_msg("%s", err_text(&e));
    assert_int_equal(k.at, f->changes.n);
}
