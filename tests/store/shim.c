/* SPDX-License-Identifier: Apache-2.0 */
#include "store/shim.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

enum { SECTOR = 512, MOST_FILES = 8 };

/* A database or a log, while it is open. */
struct tracked {
    char *path;
    uint32_t opened;
    char *synced; /* its bytes at the last sync */
    size_t nsynced;
};

struct file {
    sqlite3_file base;
    struct tracked *tracked; /* or NULL */
    sqlite3_file *real;      /* behind this struct */
};

static sqlite3_vfs *real_vfs;
static struct tracked files[MOST_FILES];

static struct {
    pthread_mutex_t lock;
    uint64_t count, at;
    enum shim_fault fault;
    bool armed, forever, hit;
    void (*fn)(void *ctx);
    void *ctx;
} plan = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct file *file_of(sqlite3_file *f)
{
    return (struct file *)f;
}

static sqlite3_file *real(sqlite3_file *f)
{
    return file_of(f)->real;
}

/* ---- the plan ---- */

static void arm(uint64_t n)
{
    plan.count = 0;
    plan.at = n;
    plan.hit = false;
    plan.armed = true;
}

void shim_fail_at(uint64_t n, enum shim_fault fault, bool forever)
{
    pthread_mutex_lock(&plan.lock);
    arm(n);
    plan.fault = fault;
    plan.forever = forever;
    plan.fn = NULL;
    pthread_mutex_unlock(&plan.lock);
}

void shim_call_at(uint64_t n, void (*fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&plan.lock);
    arm(n);
    plan.fn = fn;
    plan.ctx = ctx;
    pthread_mutex_unlock(&plan.lock);
}

bool shim_disarm(void)
{
    pthread_mutex_lock(&plan.lock);
    plan.armed = false;
    bool hit = plan.hit;
    pthread_mutex_unlock(&plan.lock);
    return hit;
}

/* Counts an operation; true: it is to fail. Calls fn with the lock held, so that the
 * other thread's operations wait. */
static bool step(bool writes)
{
    pthread_mutex_lock(&plan.lock);
    bool counts = plan.armed && (writes || plan.fn || plan.fault == SHIM_IO_ERROR);
    bool now = counts && ++plan.count == plan.at;
    bool fails = !plan.fn && (now || (counts && plan.forever && plan.hit));
    plan.hit = plan.hit || now;
    if (now && plan.fn)
        plan.fn(plan.ctx);
    pthread_mutex_unlock(&plan.lock);
    return fails;
}

/* ---- what is on the disk ---- */

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *bytes = mem_alloc(1);
    *n = 0;
    if (!f)
        return bytes;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    bytes = mem_resize(bytes, *n + 1, 1);
    *n = fread(bytes, 1, *n, f);
    fclose(f);
    return bytes;
}

static struct tracked *track(const char *path)
{
    struct tracked *unused = NULL;
    for (int i = 0; i < MOST_FILES; i++) {
        if (files[i].opened && strcmp(files[i].path, path) == 0) {
            files[i].opened++;
            return &files[i];
        }
        if (!files[i].opened)
            unused = &files[i];
    }
    if (!unused)
        abort();
    *unused = (struct tracked){.path = mem_dup(path, strlen(path)), .opened = 1};
    unused->synced = read_all(path, &unused->nsynced);
    return unused;
}

static void untrack(struct tracked *t)
{
    if (!t || --t->opened > 0)
        return;
    free(t->path);
    free(t->synced);
}

static void sync_tracked(struct tracked *t)
{
    pthread_mutex_lock(&plan.lock);
    free(t->synced);
    t->synced = read_all(t->path, &t->nsynced);
    pthread_mutex_unlock(&plan.lock);
}

/* The sector as it is now, or as it was synced; behind the end: zeros. */
static void torn_sector(const char *bytes, size_t n, size_t at, char sector[SECTOR])
{
    size_t have = at >= n ? 0 : n - at < SECTOR ? n - at : SECTOR;
    memset(sector, 0, SECTOR);
    memcpy(sector, bytes + at, have);
}

static void write_torn(const struct tracked *t, const char *path, struct rng *r)
{
    size_t n, size;
    char *now = read_all(t->path, &n), sector[SECTOR];
    int64_t share = rng_range(r, 0, 4); /* of the new sectors, in quarters */
    size = rng_range(r, 0, 1) ? n : t->nsynced;
    FILE *f = fopen(path, "wb");
    if (!f)
        abort();
    for (size_t at = 0; at < size; at += SECTOR) {
        bool is_new = rng_range(r, 1, 4) <= share;
        torn_sector(is_new ? now : t->synced, is_new ? n : t->nsynced, at, sector);
        fwrite(sector, 1, size - at < SECTOR ? size - at : SECTOR, f);
    }
    fclose(f);
    free(now);
}

void shim_power_cut(const char *from, const char *to, uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed);
    for (int i = 0; i < MOST_FILES; i++) {
        char path[400];
        if (!files[i].opened || !strstr(files[i].path, from))
            continue;
        snprintf(path, sizeof path, "%s/%s", to, strrchr(files[i].path, '/') + 1);
        write_torn(&files[i], path, &r);
    }
}

/* ---- files ---- */

static int file_close(sqlite3_file *f)
{
    pthread_mutex_lock(&plan.lock);
    untrack(file_of(f)->tracked);
    pthread_mutex_unlock(&plan.lock);
    return real(f)->pMethods->xClose(real(f));
}

static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return step(false) ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), p, n, at);
}

static bool grows(sqlite3_file *f, sqlite3_int64 end)
{
    sqlite3_int64 size = 0;
    real(f)->pMethods->xFileSize(real(f), &size);
    return end > size;
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (!step(true) || (plan.fault == SHIM_NO_ROOM && !grows(f, at + n)))
        return real(f)->pMethods->xWrite(real(f), p, n, at);
    if (plan.fault != SHIM_IO_ERROR)
        return SQLITE_FULL;
    real(f)->pMethods->xWrite(real(f), p, n / 2, at);
    return SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return step(false) ? SQLITE_IOERR_TRUNCATE
                       : real(f)->pMethods->xTruncate(real(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
    if (step(false))
        return SQLITE_IOERR_FSYNC;
    if (file_of(f)->tracked)
        sync_tracked(file_of(f)->tracked);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return step(false) ? SQLITE_IOERR_FSTAT : real(f)->pMethods->xFileSize(real(f), size);
}

static int file_lock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xLock(real(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xUnlock(real(f), level);
}

static int file_check_lock(sqlite3_file *f, int *out)
{
    return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int file_sector_size(sqlite3_file *f)
{
    return SECTOR;
}

/* No promises: neither whole sectors nor order. */
static int file_characteristics(sqlite3_file *f)
{
    return 0;
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend,
                        void volatile **out)
{
    return step(false) ? SQLITE_IOERR_SHMMAP
                       : real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    real(f)->pMethods->xShmBarrier(real(f));
}

static int file_shm_unmap(sqlite3_file *f, int remove)
{
    return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags,
                    int *out)
{
    struct file *file = file_of(f);
    *file = (struct file){.real = (sqlite3_file *)(file + 1)};
    if (step(false))
        return SQLITE_CANTOPEN;
    int rc = real_vfs->xOpen(real_vfs, path, file->real, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    f->pMethods = &METHODS;
    if (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) {
        pthread_mutex_lock(&plan.lock);
        file->tracked = track(path);
        pthread_mutex_unlock(&plan.lock);
    }
    return rc;
}

void shim_install(void)
{
    static sqlite3_vfs shim;
    real_vfs = sqlite3_vfs_find(NULL);
    shim = *real_vfs;
    shim.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
    shim.zName = "shim";
    shim.xOpen = vfs_open;
    shim.pNext = NULL;
    sqlite3_vfs_register(&shim, 1);
}
