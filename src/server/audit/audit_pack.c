/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/str.h"

enum { STEP = 64 * 1024 };

struct audit_pack {
    pthread_t thread;
    bool started; /* and not joined */
    atomic_bool stop, done;
    audit_paths paths; /* the thread's until it is done */
};

void audit_paths_release(audit_paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    vec_release(p);
}

/* false: an error of a file, or it is to stop. */
static bool copy(struct audit_pack *p, int from, gzFile to)
{
    static _Thread_local char bytes[STEP];
    while (!atomic_load(&p->stop)) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (gzwrite(to, bytes, (unsigned)n) != n)
            return false;
    }
    return false;
}

static bool copy_file(struct audit_pack *p, int from, const char *packed)
{
    int fd = open(packed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    gzFile to = fd < 0 ? NULL : gzdopen(fd, "wb");
    if (!to) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = copy(p, from, to);
    return gzclose(to) == Z_OK && ok;
}

static void pack_file(struct audit_pack *p, const char *path)
{
    struct strbuf packed = STRBUF_INIT;
    strbuf_addf(&packed, "%s.gz", path);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from >= 0) {
        bool ok = copy_file(p, from, strbuf_cstr(&packed));
        unlink(ok ? path : strbuf_cstr(&packed));
        close(from);
    }
    strbuf_release(&packed);
}

static void *run(void *ctx)
{
    struct audit_pack *p = ctx;
    for (size_t i = 0; i < p->paths.n && !atomic_load(&p->stop); i++)
        pack_file(p, p->paths.v[i]);
    atomic_store(&p->done, true);
    return NULL;
}

static void join(struct audit_pack *p)
{
    if (p->started)
        pthread_join(p->thread, NULL);
    p->started = false;
    audit_paths_release(&p->paths);
}

struct audit_pack *audit_pack_new(void)
{
    return mem_zalloc(sizeof(struct audit_pack));
}

void audit_pack_free(struct audit_pack *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, true);
    join(p);
    free(p);
}

void audit_pack_start(struct audit_pack *p, audit_paths *paths)
{
    if (p->started && !atomic_load(&p->done)) {
        audit_paths_release(paths);
        return;
    }
    join(p);
    p->paths.v = paths->v;
    p->paths.n = paths->n;
    p->paths.cap = paths->cap;
    *paths = (audit_paths){0};
    atomic_store(&p->done, false);
    p->started = p->paths.n && pthread_create(&p->thread, NULL, run, p) == 0;
}
