/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/disk.h"

static bool failed(const char *path, struct err *e)
{
    return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %m", path);
}

/* ---- reading ---- */

static bool read_open(int fd, const char *path, struct arena *a, struct str *out,
                      struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return failed(path, e);
    if (!S_ISREG(st.st_mode) || st.st_size > STATE_FILE_MAX)
        return err_set(e, ERR_LIMIT, "%s: is no file, or larger than %d bytes", path,
                       (int)STATE_FILE_MAX);
    return disk_read_open(fd, path, (size_t)st.st_size, a, out, e);
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
    bool ok = disk_write_by(temp, path, text, 0600, lasting, e) &&
              (!lasting || disk_sync_dir(dir, e));
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
