/* SPDX-License-Identifier: Apache-2.0 */
#include "node/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(const char *path, struct err *e)
{
    return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %m", path);
}

int disk_write_all(int fd, struct str text)
{
    for (size_t at = 0; at < text.n;) {
        ssize_t n = write(fd, text.p + at, text.n - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Exactly this mode, whatever the process masks. */
static bool fill(int fd, struct str text, mode_t mode, bool lasting)
{
    return fchmod(fd, mode) == 0 && disk_write_all(fd, text) == 0 &&
           (!lasting || fsync(fd) == 0);
}

bool disk_write_by(const char *temp, const char *path, struct str text, mode_t mode,
                   bool lasting, struct err *e)
{
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    bool made = fd >= 0;
    bool ok = (made && fill(fd, text, mode, lasting)) || failed(temp, e);
    if (made)
        close(fd);
    ok = ok && (rename(temp, path) == 0 || failed(path, e));
    if (made && !ok)
        unlink(temp);
    return ok;
}

static bool write_as(const char *path, struct str text, mode_t mode, bool lasting,
                     struct err *e)
{
    struct strbuf temp = STRBUF_INIT;
    strbuf_addf(&temp, "%s.tmp", path);
    bool ok = disk_write_by(strbuf_cstr(&temp), path, text, mode, lasting, e);
    strbuf_release(&temp);
    return ok;
}

bool disk_write(const char *path, struct str text, mode_t mode, struct err *e)
{
    return write_as(path, text, mode, true, e);
}

bool disk_sync_dir(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = (fd >= 0 && fsync(fd) == 0) || failed(path, e);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool make_dir(const char *path, const char *parent, struct err *e)
{
    if (mkdir(path, 0755) == 0)
        return (chmod(path, 0755) == 0 || failed(path, e)) && disk_sync_dir(parent, e);
    return (errno == EEXIST && is_dir(path)) || failed(path, e);
}

/* Down from the root, a name at a time. */
bool disk_make_dirs(const char *path, struct err *e)
{
    if (is_dir(path))
        return true;
    struct str whole = str_from(path);
    struct strbuf at = STRBUF_INIT, above = STRBUF_INIT;
    strbuf_adds(&above, path[0] == '/' ? "/" : ".");
    bool ok = true;
    for (size_t i = 1; ok && i <= whole.n; i++) {
        if (i < whole.n && path[i] != '/')
            continue;
        strbuf_clear(&at);
        strbuf_add(&at, path, i);
        ok = make_dir(strbuf_cstr(&at), strbuf_cstr(&above), e);
        strbuf_clear(&above);
        strbuf_add(&above, path, i);
    }
    strbuf_release(&at);
    strbuf_release(&above);
    return ok;
}

/* ---- reading ---- */

static ssize_t read_all(int fd, char *p, size_t size)
{
    size_t n = 0;
    while (n < size) {
        ssize_t got = read(fd, p + n, size - n);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        n += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)n;
}

bool disk_read_open(int fd, const char *path, size_t size, struct arena *a,
                    struct str *out, struct err *e)
{
    char *p = arena_alloc(a, size + 1);
    ssize_t n = read_all(fd, p, size);
    if (n < 0)
        return failed(path, e);
    p[n] = '\0';
    *out = (struct str){p, (size_t)n};
    return true;
}

bool disk_read(const char *path, size_t limit, struct arena *a, struct str *out,
               struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return failed(path, e);
    if (fstat(fd, &st) != 0 || (size_t)st.st_size > limit) {
        close(fd);
        return err_set(e, ERR_LIMIT, "%s: is larger than %zu bytes", path, limit);
    }
    bool ok = disk_read_open(fd, path, (size_t)st.st_size, a, out, e);
    close(fd);
    return ok;
}

bool disk_holds(const char *path, struct str text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char piece[4096];
    size_t at = 0;
    bool same = true;
    while (same) {
        ssize_t n = read_all(fd, piece, sizeof piece);
        if (n <= 0) {
            same = n == 0 && at == text.n;
            break;
        }
        same = str_eq(str_sub(text, at, at + (size_t)n), (struct str){piece, (size_t)n});
        at += (size_t)n;
    }
    close(fd);
    return same;
}

bool disk_update(const char *path, struct str text, mode_t mode, bool *changed,
                 struct err *e)
{
    if (disk_holds(path, text))
        return true;
    *changed = true;
    return disk_write(path, text, mode, e);
}

bool disk_place(const char *path, struct str text, mode_t mode, struct err *e)
{
    return disk_holds(path, text) || write_as(path, text, mode, false, e);
}

/* ---- removing ---- */

bool disk_remove(const char *path, struct err *e)
{
    return unlink(path) == 0 || errno == ENOENT || failed(path, e);
}

struct removal {
    const char *path;
    struct err *e;
};

static bool remove_below(void *ctx, const char *name)
{
    struct removal *r = ctx;
    struct strbuf path = STRBUF_INIT;
    strbuf_addf(&path, "%s/%s", r->path, name);
    bool ok = disk_remove_tree(strbuf_cstr(&path), r->e);
    strbuf_release(&path);
    return ok;
}

bool disk_remove_tree(const char *path, struct err *e)
{
    struct removal r = {path, e};
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return failed(path, e);
    return disk_each(path, remove_below, &r, e) &&
           (rmdir(path) == 0 || errno == ENOENT || failed(path, e));
}

bool disk_each(const char *path, disk_each_fn *each, void *ctx, struct err *e)
{
    DIR *dir = opendir(path);
    if (!dir)
        return errno == ENOENT || failed(path, e);
    bool ok = true;
    for (struct dirent *d; ok && (d = readdir(dir)) != NULL;) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            ok = each(ctx, d->d_name);
    }
    closedir(dir);
    return ok;
}
