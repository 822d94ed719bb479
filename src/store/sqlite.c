/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQLite database in a directory. A writer thread takes all writes that wait, applies
 * them in one transaction and syncs once for all; while it syncs, the next ones gather.
 * Snapshots and history are read over a second connection, on the thread of store_poll,
 * and block nobody. A lock on DIR/lock keeps other processes out.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sqlite_db.h"

enum {
    BATCH_WRITES = 4096, /* of one transaction; more would answer the first too late */
    BATCH_BYTES = 16 << 20,
    FORGET_STEP = 512,  /* rows at a time when nothing else is to do */
    FORGET_RETRY_S = 5, /* after a failure */
};

struct sqlite {
    struct store store;
    struct store_opts opts;
    int lock_fd;
    struct db reader;
    uint64_t revision; /* delivered */

    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work;
    struct request_list waiting, ready;
    uint64_t compact_to; /* asked for */
    uint64_t compacted;
    bool stop;

    /* The thread's own. */
    struct db writer;
    int64_t oldest; /* when the oldest row of history was made */
    bool more;      /* of history is to be forgotten */
    int64_t retry_at;
};

static struct sqlite *sqlite_of(const struct store *s)
{
    return (struct sqlite *)s;
}

/* ---- writing ---- */

/* Forgets twice as much as is written, so that history never outgrows its limits. */
static bool forget(struct sqlite *s, uint64_t compact_to, size_t written, int64_t now,
                   struct err *e)
{
    struct db_limits limits = {
        .revision = compact_to,
        .before = now - s->opts.history_seconds,
        .bytes = s->opts.history_bytes,
    };
    uint32_t most = written ? (uint32_t)written * 2 + 64 : FORGET_STEP;
    return db_forget(&s->writer, &limits, most, &s->oldest, &s->more, e);
}

static bool apply_all(struct sqlite *s, struct request_list *batch, uint64_t compact_to,
                      struct err *e)
{
    int64_t now = time(NULL);
    if (!db_begin(&s->writer, e))
        return false;
    for (struct request *r = batch->first; r; r = r->next)
        if (!db_apply(&s->writer, r, now, e))
            return false;
    return forget(s, compact_to, batch->n, now, e);
}

static bool changed_nothing(const struct db *db, const struct request_list *batch)
{
    return !batch->first && db->state.compacted == db->committed.compacted;
}

/* One transaction; false: all is as it was before. */
static bool write_all(struct sqlite *s, struct request_list *batch, uint64_t compact_to,
                      struct err *e)
{
    bool applied = apply_all(s, batch, compact_to, e);
    bool idle = applied && changed_nothing(&s->writer, batch);
    if (applied && !idle && db_commit(&s->writer, e))
        return true;
    db_rollback(&s->writer);
    if (idle)
        return true;
    if (applied && !db_heal(&s->writer, NULL))
        err_wrap(e, "not confirmed by the disk, a restart may find it written");
    return false;
}

static void fail_all(struct request_list *batch, const char *why)
{
    for (struct request *r = batch->first; r; r = r->next)
        if (r->err.code != ERR_LIMIT)
            request_fail(r, why);
}

static void take_batch(struct sqlite *s, struct request_list *batch)
{
    request_list_init(batch);
    for (size_t bytes = 0; batch->n < BATCH_WRITES && bytes < BATCH_BYTES;) {
        struct request *r = request_list_pop(&s->waiting);
        if (!r)
            break;
        bytes += r->write.value.n;
        request_list_push(batch, r);
    }
}

static int64_t forget_at(const struct sqlite *s)
{
    if (s->more || s->compact_to > s->writer.committed.compacted)
        return s->retry_at;
    if (s->oldest == INT64_MAX)
        return INT64_MAX;
    int64_t at = s->oldest + s->opts.history_seconds + 1;
    return at > s->retry_at ? at : s->retry_at;
}

/* Until there is something to write or to forget. */
static void wait_for_work(struct sqlite *s)
{
    while (!s->stop && !s->waiting.first) {
        int64_t at = forget_at(s);
        if (at <= time(NULL))
            return;
        struct timespec until = {.tv_sec = at};
        if (at == INT64_MAX)
            pthread_cond_wait(&s->work, &s->lock);
        else
            pthread_cond_timedwait(&s->work, &s->lock, &until);
    }
}

/* Without the lock. */
static void work_on(struct sqlite *s, struct request_list *batch, uint64_t compact_to)
{
    struct err e = ERR_INIT;
    bool ok = write_all(s, batch, compact_to, &e);
    if (!ok)
        fail_all(batch, err_text(&e));
    s->retry_at = ok ? 0 : time(NULL) + FORGET_RETRY_S;
    err_release(&e);
}

static void *writer(void *arg)
{
    struct sqlite *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        struct request_list batch;
        wait_for_work(s);
        if (s->stop && !s->waiting.first)
            break;
        take_batch(s, &batch);
        uint64_t compact_to = s->compact_to;
        pthread_mutex_unlock(&s->lock);
        work_on(s, &batch, compact_to);
        pthread_mutex_lock(&s->lock);
        s->compacted = s->writer.committed.compacted;
        bool wake = batch.first && !s->ready.first;
        request_list_join(&s->ready, &batch);
        if (wake && s->opts.wake) {
            pthread_mutex_unlock(&s->lock);
            s->opts.wake(s->opts.wake_ctx);
            pthread_mutex_lock(&s->lock);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void sqlite_submit(struct store *store, const struct store_write *w)
{
    struct sqlite *s = sqlite_of(store);
    struct request *r = request_new(w);
    pthread_mutex_lock(&s->lock);
    bool idle = !s->waiting.first;
    request_list_push(&s->waiting, r);
    if (idle)
        pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

static void sqlite_poll(struct store *store)
{
    struct sqlite *s = sqlite_of(store);
    struct request_list ready;
    request_list_init(&ready);
    pthread_mutex_lock(&s->lock);
    request_list_join(&ready, &s->ready);
    pthread_mutex_unlock(&s->lock);
    for (struct request *r; (r = request_list_pop(&ready));) {
        if (r->answer == STORE_OK)
            s->revision = r->revision;
        request_deliver(r, &s->opts);
    }
}

/* ---- opening and closing ---- */

static bool fail_at(const char *path, const char *doing, struct err *e)
{
    return err_set(e, ERR_IO, "store: %s: cannot %s: %s", path, doing, strerror(errno));
}

/* What a directory lists is on the disk. */
static bool sync_dir(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        fail_at(path, "sync", e);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_dir(const char *dir, struct err *e)
{
    if (mkdir(dir, 0700) != 0)
        return errno == EEXIST || fail_at(dir, "make it", e);
    struct strbuf parent = STRBUF_INIT;
    strbuf_addf(&parent, "%s/..", dir);
    bool ok = sync_dir(strbuf_cstr(&parent), e);
    strbuf_release(&parent);
    return ok;
}

/* Returns the open file, or -1. */
static int open_file(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_at(path, "open", e);
    return fd;
}

static bool lock_dir(struct sqlite *s, const char *path, struct err *e)
{
    s->lock_fd = open_file(path, e);
    if (s->lock_fd < 0)
        return false;
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK)
        return fail_at(path, "lock", e);
    return err_set(e, ERR_IO, "store: %s: another process has it open", path);
}

/* SQLite gives its other files the mode of this one. */
static bool make_file(const char *path, struct err *e)
{
    int fd = open_file(path, e);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool open_databases(struct sqlite *s, const char *path, struct err *e)
{
    if (!make_file(path, e) || !db_init(&s->writer, path, e))
        return false;
    if (db_init(&s->reader, path, e))
        return true;
    db_fini(&s->writer);
    return false;
}

static bool open_dir(struct sqlite *s, const char *dir, struct err *e)
{
    struct strbuf lock = STRBUF_INIT, path = STRBUF_INIT;
    strbuf_addf(&lock, "%s/lock", dir);
    strbuf_addf(&path, "%s/store.db", dir);
    bool ok = make_dir(dir, e) && lock_dir(s, strbuf_cstr(&lock), e) &&
              open_databases(s, strbuf_cstr(&path), e);
    if (ok && !sync_dir(dir, e)) {
        db_fini(&s->reader);
        db_fini(&s->writer);
        ok = false;
    }
    strbuf_release(&lock);
    strbuf_release(&path);
    return ok;
}

static bool start(struct sqlite *s, struct err *e)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    request_list_init(&s->waiting);
    request_list_init(&s->ready);
    s->revision = s->writer.committed.revision;
    s->compacted = s->writer.committed.compacted;
    s->oldest = 0; /* unknown: the first thing to do is to look */
    int rc = pthread_create(&s->thread, NULL, writer, s);
    return rc == 0 || err_set(e, ERR_IO, "store: no thread: %s", strerror(rc));
}

static void release(struct sqlite *s)
{
    db_fini(&s->reader);
    db_fini(&s->writer);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    close(s->lock_fd);
    free(s);
}

static struct store *sqlite_open(const char *rest, const struct store_opts *opts,
                                 struct err *e)
{
    if (!*rest) {
        err_set(e, ERR_INVALID, "store \"sqlite:\": no directory");
        return NULL;
    }
    struct sqlite *s = mem_zalloc(sizeof *s);
    s->store.backend = &store_sqlite;
    s->opts = *opts;
    s->lock_fd = -1;
    if (!open_dir(s, rest, e)) {
        if (s->lock_fd >= 0)
            close(s->lock_fd);
        free(s);
        return NULL;
    }
    if (start(s, e))
        return &s->store;
    release(s);
    return NULL;
}

static void sqlite_close(struct store *store)
{
    struct sqlite *s = sqlite_of(store);
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    sqlite_poll(store);
    release(s);
}

/* ---- reading ---- */

static bool sqlite_snapshot(struct store *store, store_each_object *each, void *ctx,
                            uint64_t *revision, struct err *e)
{
    return db_snapshot(&sqlite_of(store)->reader, each, ctx, revision, e);
}

static bool sqlite_history(struct store *store, uint64_t after, store_each_change *each,
                           void *ctx, struct err *e)
{
    return db_history(&sqlite_of(store)->reader, after, each, ctx, e);
}

static void sqlite_compact(struct store *store, uint64_t revision)
{
    struct sqlite *s = sqlite_of(store);
    if (revision > s->revision)
        revision = s->revision;
    pthread_mutex_lock(&s->lock);
    if (revision > s->compact_to)
        s->compact_to = revision;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

static uint64_t sqlite_revision(const struct store *store)
{
    return sqlite_of(store)->revision;
}

static uint64_t sqlite_compacted(const struct store *store)
{
    struct sqlite *s = sqlite_of(store);
    pthread_mutex_lock(&s->lock);
    uint64_t compacted = s->compacted;
    pthread_mutex_unlock(&s->lock);
    return compacted;
}

const struct store_backend store_sqlite = {
    .scheme = "sqlite:",
    .open = sqlite_open,
    .close = sqlite_close,
    .submit = sqlite_submit,
    .poll = sqlite_poll,
    .snapshot = sqlite_snapshot,
    .history = sqlite_history,
    .compact = sqlite_compact,
    .revision = sqlite_revision,
    .compacted = sqlite_compacted,
};
