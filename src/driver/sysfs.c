/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"

static const char *place(const struct sysfs *s, const char *fmt, va_list ap)
{
    struct str path = arena_vprintf(s->a, fmt, ap);
    return arena_printf(s->a, "%.*s%.*s", STR_ARG(s->root), STR_ARG(path)).p;
}

static struct str read_text(const struct sysfs *s, const char *path)
{
    char text[4096];
    struct strbuf b = STRBUF_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n;
    while (fd >= 0 && b.n < SYSFS_MAX_BYTES && (n = read(fd, text, sizeof text)) > 0)
        strbuf_add(&b, text, (size_t)n);
    if (fd >= 0)
        close(fd);
    struct str out = arena_str(s->a, str_trim(strbuf_str(&b)));
    strbuf_release(&b);
    return out;
}

struct str sysfs_text(const struct sysfs *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *path = place(s, fmt, ap);
    va_end(ap);
    return read_text(s, path);
}

int64_t sysfs_int(const struct sysfs *s, int64_t absent, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = read_text(s, place(s, fmt, ap));
    va_end(ap);
    char *end;
    int64_t n = text.n ? strtoll(text.p, &end, 0) : absent;
    return text.n && end != text.p + text.n ? absent : n;
}

struct str sysfs_link(const struct sysfs *s, const char *fmt, ...)
{
    char text[PATH_MAX];
    va_list ap;
    va_start(ap, fmt);
    ssize_t n = readlink(place(s, fmt, ap), text, sizeof text);
    va_end(ap);
    return n > 0 ? arena_str(s->a, (struct str){text, (size_t)n}) : STR_NONE;
}

struct str sysfs_last(struct str path)
{
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? path : str_sub(path, slash + 1, path.n);
}

bool sysfs_exists(const struct sysfs *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *path = place(s, fmt, ap);
    va_end(ap);
    return access(path, F_OK) == 0;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(((const struct str *)a)->p, ((const struct str *)b)->p);
}

uint32_t sysfs_names(const struct sysfs *s, struct str **out, const char *fmt, ...)
{
    VEC(struct str) names = {0};
    va_list ap;
    va_start(ap, fmt);
    DIR *dir = opendir(place(s, fmt, ap));
    va_end(ap);
    const struct dirent *d;
    while (dir && (d = readdir(dir)))
        if (d->d_name[0] != '.')
            vec_push_in(s->a, &names, arena_str(s->a, str_from(d->d_name)));
    if (dir)
        closedir(dir);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, by_version);
    *out = names.v;
    return (uint32_t)names.n;
}

struct str sysfs_field(struct str text, const char *key, char separator)
{
    struct str line;
    while (str_split_next(&text, '\n', &line)) {
        size_t at = str_find_byte(line, separator, 0);
        if (at != SIZE_MAX && str_is(str_trim(str_sub(line, 0, at)), key))
            return str_trim(str_sub(line, at + 1, line.n));
    }
    return STR_NONE;
}
