/* SPDX-License-Identifier: Apache-2.0 */
/* The back end "file": what of a file's devices is there. */
#include "driver/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/names.h"
#include "base/vec.h"
#include "driver/dir_watch.h"
#include "driver/discover.h"

enum { NAME_MAX_LENGTH = 63 };

struct file_backend {
    struct driver_backend base;
    struct driver_discover_opts opts;
    char *path;
    int watch; /* -1: there is none */
};

struct scan { /* one discovery */
    struct file_backend *b;
    struct arena *a;
    struct err *e;
    VEC(struct driver_device) devices;
    struct strmap names, paths; /* -> place of the entry */
};

struct match { /* of an entry */
    const struct file_entry *entry;
    struct str path;   /* as a container sees it; empty: the entry has none */
    struct str part;   /* what the wildcards match */
    const char *place; /* the path on this machine */
};

/* ---- texts with marks ---- */

static struct str put(struct str text, struct str mark, struct str value, struct arena *a)
{
    size_t at = str_find(text, mark);
    if (at == SIZE_MAX)
        return text;
    struct str tail = put(str_sub(text, at + mark.n, text.n), mark, value, a);
    return arena_printf(a, "%.*s%.*s%.*s", (int)at, text.p, STR_ARG(value),
                        STR_ARG(tail));
}

static struct str fill(struct str text, const struct match *m, struct arena *a)
{
    if (!m->path.n || str_find_byte(text, '{', 0) == SIZE_MAX)
        return text;
    return put(put(text, STR("{path}"), m->path, a), STR("{}"), m->part, a);
}

/* As a name takes it: lower case, and a dash for whatever else there is. */
static struct str label_part(struct str part, struct arena *a)
{
    char *out = arena_alloc(a, part.n + 1);
    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        out[i] = c;
        if (!fits)
            out[i] = '-';
    }
    return str_sub((struct str){out, part.n}, 0, NAME_MAX_LENGTH);
}

static struct str name_of(const struct match *m, struct arena *a)
{
    struct str name = put(m->entry->name, STR("{}"), label_part(m->part, a), a);
    while (name.n && name.p[name.n - 1] == '-')
        name.n--;
    return name;
}

/* ---- edits ---- */

static struct cdi_edits fill_edits(const struct cdi_edits *from, const struct match *m,
                                   struct arena *a)
{
    struct cdi_edits out = *from;
    out.nodes = ARENA_ARRAY(a, struct cdi_node, from->nnodes + 1);
    out.mounts = ARENA_ARRAY(a, struct cdi_mount, from->nmounts);
    out.env = ARENA_ARRAY(a, struct str, from->nenv);
    for (uint32_t i = 0; i < from->nnodes; i++) {
        out.nodes[i] = from->nodes[i];
        out.nodes[i].path = fill(from->nodes[i].path, m, a);
        out.nodes[i].host_path = fill(from->nodes[i].host_path, m, a);
    }
    for (uint32_t i = 0; i < from->nmounts; i++) {
        out.mounts[i] = from->mounts[i];
        out.mounts[i].host_path = fill(from->mounts[i].host_path, m, a);
        out.mounts[i].container_path = fill(from->mounts[i].container_path, m, a);
    }
    for (uint32_t i = 0; i < from->nenv; i++)
        out.env[i] = fill(from->env[i], m, a);
    return out;
}

static bool has_node(const struct cdi_edits *e, struct str path)
{
    for (uint32_t i = 0; i < e->nnodes; i++)
        if (str_eq(e->nodes[i].path, path))
            return true;
    return false;
}

/* A device node is given to the container under the name that the file has for it, be it
 * a link or not; unless nodes speaks of it already. One that is not there is named all
 * the same, so that nobody prepares it. */
static void add_node(struct cdi_edits *out, const struct match *m, struct arena *a)
{
    char real[PATH_MAX] = "";
    struct stat st;
    bool there = stat(m->place, &st) == 0 && realpath(m->place, real);
    if (has_node(out, m->path) || (there && !S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
        return;
    struct cdi_node n = {.path = m->path};
    if (there && !str_is(m->path, real))
        n.host_path = arena_str(a, str_from(real));
    memmove(out->nodes + 1, out->nodes, out->nnodes * sizeof *out->nodes);
    out->nodes[0] = n;
    out->nnodes++;
}

/* ---- devices ---- */

static void be_missing(struct scan *s, const struct match *m, struct driver_device *d)
{
    struct driver_taint *v = ARENA_ARRAY(s->a, struct driver_taint, d->ntaints + 1);
    if (d->ntaints)
        memcpy(v, d->taints, d->ntaints * sizeof *v);
    v[d->ntaints++] = (struct driver_taint){
        .key = arena_printf(s->a, "%.*s/missing", STR_ARG(s->b->opts.driver)),
        .effect = m->entry->missing};
    d->taints = v;
    d->health = DRIVER_UNHEALTHY;
    d->health_message = arena_printf(s->a, "%.*s is not there", STR_ARG(m->path));
}

/* Of two devices of one path, each would be held by who holds the other. */
static bool is_new(struct scan *s, struct strmap *of, const struct match *m,
                   const char *field, struct str value)
{
    bool made;
    struct strmap_entry *e = strmap_put(of, value, &made);
    if (!made)
        return err_set(s->e, ERR_INVALID,
                       "%s: %.*s.%s: \"%.*s\" is the %s of a device of %s too",
                       s->b->path, STR_ARG(m->entry->place), field, STR_ARG(value), field,
                       (const char *)e->value.ptr);
    e->value.ptr = (void *)arena_str(s->a, m->entry->place).p;
    return true;
}

static bool is_new_name(struct scan *s, const struct match *m, struct str name)
{
    if (name.n > NAME_MAX_LENGTH || !name_valid(NAME_DNS1123_LABEL, name))
        return err_set(s->e, ERR_INVALID, "%s: %.*s.name: \"%.*s\" is no name",
                       s->b->path, STR_ARG(m->entry->place), STR_ARG(name));
    if (!is_new(s, &s->names, m, "name", name))
        return false;
    if (s->devices.n == FILE_MAX_ENTRIES)
        return err_set(s->e, ERR_LIMIT, "%s: more than %d devices", s->b->path,
                       FILE_MAX_ENTRIES);
    return true;
}

static bool add_device(struct scan *s, const struct match *m)
{
    struct driver_device d = m->entry->device;
    d.name = name_of(m, s->a);
    if (!is_new_name(s, m, d.name) ||
        (m->path.n && !is_new(s, &s->paths, m, "path", m->path)))
        return false;
    d.identity = arena_printf(s->a, "file:%.*s", STR_ARG(m->path.n ? m->path : d.name));
    d.edits = fill_edits(&m->entry->device.edits, m, s->a);
    d.health = DRIVER_HEALTHY;
    if (m->path.n)
        add_node(&d.edits, m, s->a);
    if (m->path.n && access(m->place, F_OK) < 0)
        be_missing(s, m, &d);
    vec_push_in(s->a, &s->devices, d);
    return true;
}

/* ---- what a pattern matches ---- */

static size_t first_wildcard(struct str pattern)
{
    size_t i = 0;
    while (i < pattern.n && !strchr("*?[", pattern.p[i]))
        i++;
    return i;
}

static size_t behind_wildcards(struct str pattern)
{
    size_t i = pattern.n;
    while (i > 0 && !strchr("*?]", pattern.p[i - 1]))
        i--;
    return i;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool add_matches(struct scan *s, const struct file_entry *f, glob_t *found)
{
    size_t root = s->b->opts.root.n, from = first_wildcard(f->path),
           tail = f->path.n - behind_wildcards(f->path);
    qsort(found->gl_pathv, found->gl_pathc, sizeof *found->gl_pathv, by_version);
    for (size_t i = 0; i < found->gl_pathc; i++) {
        const char *place = found->gl_pathv[i];
        struct str path = arena_str(s->a, str_sub(str_from(place), root, SIZE_MAX));
        struct match m = {f, path, str_sub(path, from, path.n - tail), place};
        if (place && !add_device(s, &m))
            return false;
    }
    return true;
}

static bool add_pattern(struct scan *s, const struct file_entry *f, const char *place)
{
    glob_t found = {0};
    int rc = glob(place, GLOB_NOSORT, NULL, &found);
    bool ok = rc == GLOB_NOMATCH ||
              (rc == 0 ? add_matches(s, f, &found)
                       : err_set(s->e, ERR_IO, "%s: %.*s.path: cannot be looked for",
                                 s->b->path, STR_ARG(f->place)));
    globfree(&found);
    return ok;
}

static bool add_entry(struct scan *s, const struct file_entry *f)
{
    const char *place =
        arena_printf(s->a, "%.*s%.*s", STR_ARG(s->b->opts.root), STR_ARG(f->path)).p;
    struct match one = {f, f->path, STR_NONE, place};
    if (!f->path.n)
        return add_device(s, &one);
    dir_watch_add(s->b->watch, str_from(place));
    if (first_wildcard(f->path) == f->path.n)
        return add_device(s, &one);
    return add_pattern(s, f, place);
}

/* ---- the back end ---- */

static bool read_all(const char *path, struct arena *a, struct str *out, struct err *e)
{
    size_t n = 0, room = FILE_MAX_BYTES + 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size < FILE_MAX_BYTES)
        room = (size_t)st.st_size + 1;
    char *p = arena_alloc(a, room);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && n < room && (got = read(fd, p + n, room - n)) > 0)
        n += (size_t)got;
    bool ok = got >= 0 || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    *out = (struct str){p, n};
    return ok;
}

static bool read_file(const char *path, struct arena *a, struct file_table *t,
                      struct err *e)
{
    struct str text;
    return read_all(path, a, &text, e) && file_read(text, path, a, t, e);
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct file_backend *b = (struct file_backend *)base;
    struct scan s = {.b = b, .a = a, .e = e};
    struct file_table t;
    bool ok = true;
    dir_watch_drain(b->watch);
    dir_watch_add(b->watch, str_from(b->path));
    if (!read_file(b->path, a, &t, e))
        return false;
    for (uint32_t i = 0; i < t.n && ok; i++)
        ok = add_entry(&s, &t.entries[i]);
    strmap_release(&s.names);
    strmap_release(&s.paths);
    if (ok)
        *out = (struct driver_inventory){.devices = s.devices.v,
                                         .counters = t.counters,
                                         .ndevices = (uint32_t)s.devices.n,
                                         .ncounters = t.ncounters};
    return ok;
}

static int watch(struct driver_backend *base)
{
    return ((struct file_backend *)base)->watch;
}

static void file_free(struct driver_backend *base)
{
    struct file_backend *b = (struct file_backend *)base;
    if (b->watch >= 0)
        close(b->watch);
    free(b->path);
    free(b);
}

static const struct driver_backend_ops OPS = {
    .name = "file", .free = file_free, .discover = discover, .watch = watch};

struct driver_backend *driver_backend_file_new(const char *path,
                                               const struct driver_discover_opts *o,
                                               struct err *e)
{
    struct file_table t;
    struct arena a = {0};
    bool ok = read_file(path, &a, &t, e);
    arena_fini(&a);
    if (!ok)
        return NULL;
    struct file_backend *b = mem_zalloc(sizeof *b);
    *b = (struct file_backend){.base = {&OPS},
                               .opts = *o,
                               .path = mem_dup(path, strlen(path)),
                               .watch = dir_watch_new()};
    return &b->base;
}
