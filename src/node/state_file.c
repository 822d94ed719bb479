/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(const char *path, struct err *e)
{
    return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %m", path);
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

static bool read_open(int fd, const char *path, struct arena *a, struct str *out,
                      struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return failed(path, e);
    if (!S_ISREG(st.st_mode) || st.st_size > STATE_FILE_MAX)
        return err_set(e, ERR_LIMIT, "%s: is no file, or larger than %d bytes", path,
                       (int)STATE_FILE_MAX);
    char *p = arena_alloc(a, (size_t)st.st_size + 1);
    ssize_t n = read_all(fd, p, (size_t)st.st_size);
    if (n < 0)
        return failed(path, e);
    p[n] = '\0';
    *out = (struct str){p, (size_t)n};
    return true;
}

bool state_file_read(const char *path, struct arena *a, struct str *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(path, e);
    bool ok = read_open(fd, path, a, out, e);
    close(fd);
    return ok;
}

/* ---- writing ---- */

static bool write_all(int fd, struct str text)
{
    for (size_t at = 0; at < text.n;) {
        ssize_t n = write(fd, text.p + at, text.n - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool fill(const char *path, struct str text, bool lasting, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(path, e);
    bool ok =
        (fchmod(fd, 0600) == 0 && write_all(fd, text) && (!lasting || fsync(fd) == 0)) ||
        failed(path, e);
    close(fd);
    return ok;
}

static bool sync_dir(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = (fd >= 0 && fsync(fd) == 0) || failed(path, e);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool state_file_write(const char *path, struct str text, bool lasting, struct err *e)
{
    struct arena a = {0};
    struct str whole = str_from(path);
    size_t slash = str_rfind_byte(whole, '/');
    struct str name = str_sub(whole, slash == SIZE_MAX ? 0 : slash + 1, whole.n);
    const char *dir = slash == SIZE_MAX ? "."
                      : slash == 0      ? "/"
                                        : arena_str(&a, str_sub(whole, 0, slash)).p;
    const char *temp = arena_printf(&a, "%s/.%.*s.tmp", dir, STR_ARG(name)).p;
    bool ok = fill(temp, text, lasting, e) &&
              (rename(temp, path) == 0 || failed(path, e)) &&
              (!lasting || sync_dir(dir, e));
    if (!ok)
        unlink(temp);
    arena_fini(&a);
    return ok;
}

bool state_file_set_aside(const char *path, struct arena *a, struct str *to,
                          struct err *e)
{
    struct stat st;
    struct str name = arena_printf(a, "%s.damaged", path);
    for (unsigned i = 2; lstat(name.p, &st) == 0; i++)
        name = arena_printf(a, "%s.damaged-%u", path, i);
    if (rename(path, name.p) != 0)
        return failed(path, e);
    *to = name;
    return true;
}
