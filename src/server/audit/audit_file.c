/* SPDX-License-Identifier: Apache-2.0 */
#include "server/audit/audit_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "server/audit/audit_pack.h"

enum {
    MS_OF_DAY = 24 * 3600 * 1000,
    STAMP = 23, /* characters of "2026-01-31T12-00-00.000" */
};

#define PACKED STR(".gz")

struct audit_file {
    struct audit_file_opts opts;
    int fd;
    uint64_t size;
    struct strbuf dir, prefix, suffix; /* of what is kept: "DIR", "NAME-", ".EXT" */
    struct audit_pack *pack;           /* NULL: nothing is compressed */
};

/* ---- names ---- */

static int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void add_stamp(struct strbuf *b, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strbuf_addf(b, "%04d-%02d-%02dT%02d-%02d-%02d.%03d", tm.tm_year + 1900, tm.tm_mon + 1,
                tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

static bool read_number(struct str s, size_t at, size_t n, int *out)
{
    *out = 0;
    for (size_t i = at; i < at + n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        *out = *out * 10 + (s.p[i] - '0');
    }
    return true;
}

/* false: the name of something else. */
static bool read_stamp(struct str s, int64_t *ms)
{
    struct tm tm = {0};
    int year, month, rest;
    if (s.n != STAMP || s.p[4] != '-' || s.p[7] != '-' || s.p[10] != 'T' ||
        s.p[13] != '-' || s.p[16] != '-' || s.p[19] != '.' ||
        !read_number(s, 0, 4, &year) || !read_number(s, 5, 2, &month) ||
        !read_number(s, 8, 2, &tm.tm_mday) || !read_number(s, 11, 2, &tm.tm_hour) ||
        !read_number(s, 14, 2, &tm.tm_min) || !read_number(s, 17, 2, &tm.tm_sec) ||
        !read_number(s, 20, 3, &rest))
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    *ms = (int64_t)timegm(&tm) * 1000 + rest;
    return true;
}

static void split_path(struct audit_file *f)
{
    struct str path = str_from(f->opts.path);
    size_t slash = str_rfind_byte(path, '/');
    size_t from = slash == SIZE_MAX ? 0 : slash + 1;
    struct str name = str_sub(path, from, SIZE_MAX);
    size_t dot = str_rfind_byte(name, '.');
    size_t end = dot == SIZE_MAX ? name.n : dot;
    if (slash == SIZE_MAX)
        strbuf_addc(&f->dir, '.');
    else
        strbuf_addstr(&f->dir, str_sub(path, 0, slash ? slash : 1));
    strbuf_addf(&f->prefix, "%.*s-", STR_ARG(str_sub(name, 0, end)));
    strbuf_addstr(&f->suffix, str_sub(name, end, SIZE_MAX));
}

static void kept_path(const struct audit_file *f, struct str stamp, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_addf(out, "%s/%s%.*s%s", strbuf_cstr(&f->dir), strbuf_cstr(&f->prefix),
                STR_ARG(stamp), strbuf_cstr(&f->suffix));
}

static int64_t now(const struct audit_file *f)
{
    return f->opts.now_ms ? f->opts.now_ms() : clock_ms();
}

/* ---- what is kept ---- */

typedef VEC(int64_t) stamps;

static int newest_first(const void *x, const void *y)
{
    int64_t p = *(const int64_t *)x, q = *(const int64_t *)y;
    return p > q ? -1 : p < q;
}

/* false: the name of something else. */
static bool read_kept(const struct audit_file *f, struct str name, int64_t *ms)
{
    struct str prefix = strbuf_str(&f->prefix), suffix = strbuf_str(&f->suffix);
    if (str_ends(name, PACKED))
        name = str_sub(name, 0, name.n - PACKED.n);
    return name.n == prefix.n + STAMP + suffix.n && str_starts(name, prefix) &&
           str_ends(name, suffix) &&
           read_stamp(str_sub(name, prefix.n, prefix.n + STAMP), ms);
}

/* Each once, also where half of it is packed already. */
static void list_kept(const struct audit_file *f, stamps *out)
{
    DIR *d = opendir(strbuf_cstr(&f->dir));
    size_t n = 0;
    for (struct dirent *i; d && (i = readdir(d));) {
        int64_t ms;
        if (read_kept(f, str_from(i->d_name), &ms))
            vec_push(out, ms);
    }
    if (d)
        closedir(d);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, newest_first);
    for (size_t i = 0; i < out->n; i++)
        if (n == 0 || out->v[n - 1] != out->v[i])
            out->v[n++] = out->v[i];
    out->n = n;
}

static void path_of(const struct audit_file *f, int64_t ms, struct strbuf *path)
{
    struct strbuf stamp = STRBUF_INIT;
    add_stamp(&stamp, ms);
    kept_path(f, strbuf_str(&stamp), path);
    strbuf_release(&stamp);
}

static void drop_kept(const struct audit_file *f, int64_t ms)
{
    struct strbuf path = STRBUF_INIT;
    path_of(f, ms, &path);
    unlink(strbuf_cstr(&path));
    strbuf_addstr(&path, PACKED);
    unlink(strbuf_cstr(&path));
    strbuf_release(&path);
}

static bool is_old(const struct audit_file *f, size_t place, int64_t ms)
{
    int64_t oldest = now(f) - (int64_t)f->opts.max_days * MS_OF_DAY;
    return (f->opts.max_kept && place >= f->opts.max_kept) ||
           (f->opts.max_days && ms < oldest);
}

/* Of those that are kept: the ones that are not packed yet. */
static void pack_kept(struct audit_file *f, const stamps *all)
{
    audit_paths paths = {0};
    struct strbuf path = STRBUF_INIT;
    for (size_t i = 0; f->pack && i < all->n; i++) {
        path_of(f, all->v[i], &path);
        if (!is_old(f, i, all->v[i]) && access(strbuf_cstr(&path), F_OK) == 0)
            vec_push(&paths, mem_dup(path.p, path.n));
    }
    if (f->pack)
        audit_pack_start(f->pack, &paths);
    strbuf_release(&path);
}

static void tidy_kept(struct audit_file *f)
{
    stamps all = {0};
    if (f->opts.max_kept || f->opts.max_days || f->pack)
        list_kept(f, &all);
    for (size_t i = 0; i < all.n; i++)
        if (is_old(f, i, all.v[i]))
            drop_kept(f, all.v[i]);
    pack_kept(f, &all);
    vec_release(&all);
}

/* ---- the file ---- */

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static bool is_taken(const struct strbuf *path)
{
    struct strbuf packed = STRBUF_INIT;
    strbuf_addstr(&packed, strbuf_str(path));
    strbuf_addstr(&packed, PACKED);
    bool taken =
        access(strbuf_cstr(path), F_OK) == 0 || access(strbuf_cstr(&packed), F_OK) == 0;
    strbuf_release(&packed);
    return taken;
}

/* Under a name that nothing has yet. */
static bool put_away(struct audit_file *f)
{
    struct strbuf path = STRBUF_INIT;
    int64_t ms = now(f);
    do {
        path_of(f, ms++, &path);
    } while (is_taken(&path));
    bool ok = rename(f->opts.path, strbuf_cstr(&path)) == 0;
    strbuf_release(&path);
    return ok;
}

static void begin_anew(struct audit_file *f)
{
    if (!put_away(f))
        return;
    int fd = open_file(f->opts.path);
    if (fd < 0)
        return; /* what was renamed grows on, until the next try */
    close(f->fd);
    f->fd = fd;
    f->size = 0;
    tidy_kept(f);
}

struct audit_file *audit_file_new(const struct audit_file_opts *opts, struct err *e)
{
    struct audit_file *f = mem_zalloc(sizeof *f);
    struct stat st;
    f->opts = *opts;
    bool out = strcmp(opts->path, "-") == 0;
    f->fd = out ? dup(STDOUT_FILENO) : open_file(opts->path);
    if (f->fd < 0) {
        err_set(e, ERR_IO, "%s: %s", opts->path, strerror(errno));
        audit_file_free(f);
        return NULL;
    }
    if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode) || out)
        f->opts.max_bytes = 0; /* a pipe, a device: nothing to be put away */
    else
        f->size = (uint64_t)st.st_size;
    split_path(f);
    if (f->opts.max_bytes && opts->compress)
        f->pack = audit_pack_new();
    if (f->opts.max_bytes)
        tidy_kept(f);
    return f;
}

void audit_file_free(struct audit_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    audit_pack_free(f->pack);
    strbuf_release(&f->dir);
    strbuf_release(&f->prefix);
    strbuf_release(&f->suffix);
    free(f);
}

bool audit_file_write(struct audit_file *f, struct str line)
{
    if (f->opts.max_bytes && f->size && f->size + line.n > f->opts.max_bytes)
        begin_anew(f);
    while (line.n) {
        ssize_t n = write(f->fd, line.p, line.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        f->size += (uint64_t)n;
        line = str_sub(line, (size_t)n, SIZE_MAX);
    }
    return true;
}
