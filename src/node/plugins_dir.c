/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is watched before it is walked, so that nothing in it is missed; what the
 * walk has found and an event tells of again is known by its inode. Whoever is created in
 * the place of another under one name has another inode, or the other's end was told
 * before.
 */
#include "node/plugins_dir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum {
    EVENTS = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR,
    AGAIN_MS = 1000, /* until a directory that is gone is made again */
    MAX_PATH = 107,  /* of a socket that can be connected to */
};

struct watched {
    int wd;
    char *path;
};

struct plugins_dir {
    struct net_loop *loop;
    const struct plugins_dir_ops *ops;
    void *ctx;
    char *root;
    int fd;
    struct net_readable *readable;
    struct net_timer *again;
    VEC(struct watched) watched;
    struct strmap sockets; /* path -> inode; the keys are the map's own */
    bool full;             /* it was told of */
};

/* ---- what is known ---- */

static void forget(struct plugins_dir *d, struct strmap_entry *e)
{
    char *key = (char *)e->key.p;
    strmap_remove(&d->sockets, e->key);
    free(key);
}

static bool has_room(struct plugins_dir *d)
{
    if (d->sockets.live < PLUGINS_DIR_MAX && d->watched.n < PLUGINS_DIR_MAX)
        return true;
    if (!d->full)
        d->ops->log(d->ctx, "too many sockets and directories in the directory of "
                            "registrations: not all of them are seen");
    d->full = true;
    return false;
}

static void take_socket(struct plugins_dir *d, struct str path, const struct stat *st)
{
    struct strmap_entry *e = strmap_find(&d->sockets, path);
    if (e && e->value.u == (uint64_t)st->st_ino)
        return;
    if (!e && !has_room(d))
        return;
    if (!e)
        e = strmap_put(&d->sockets, (struct str){mem_dup(path.p, path.n), path.n}, NULL);
    e->value.u = (uint64_t)st->st_ino;
    d->ops->created(d->ctx, path);
}

static void lose_socket(struct plugins_dir *d, struct str path)
{
    struct strmap_entry *e = strmap_find(&d->sockets, path);
    if (!e)
        return;
    d->ops->removed(d->ctx, path);
    forget(d, e);
}

/* ---- walking ---- */

static bool watch(struct plugins_dir *d, const char *path);

static void look(struct plugins_dir *d, const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (name[0] == '.' || n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0)
        return;
    if (S_ISSOCK(st.st_mode))
        take_socket(d, (struct str){path, (size_t)n}, &st);
    else if (n < MAX_PATH && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        watch(d, path);
}

static void walk(struct plugins_dir *d, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *x; (x = readdir(dir)) != NULL;)
        look(d, path, x->d_name);
    closedir(dir);
}

static struct watched *find_watch(struct plugins_dir *d, int wd)
{
    for (size_t i = 0; i < d->watched.n; i++)
        if (d->watched.v[i].wd == wd)
            return &d->watched.v[i];
    return NULL;
}

static bool watch(struct plugins_dir *d, const char *path)
{
    if (!has_room(d))
        return true;
    int wd = inotify_add_watch(d->fd, path, EVENTS);
    struct watched *known = wd >= 0 ? find_watch(d, wd) : NULL;
    if (wd < 0)
        return false;
    if (known) { /* it was renamed */
        free(known->path);
        known->path = mem_dup(path, strlen(path));
    } else {
        vec_push(&d->watched, (struct watched){wd, mem_dup(path, strlen(path))});
    }
    walk(d, path);
    return true;
}

/* With all that is missing above it. */
static bool make_dirs(const char *path)
{
    char at[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof at)
        return false;
    memcpy(at, path, n + 1);
    for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(at, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(at, 0755) == 0 || errno == EEXIST;
}

static bool open_root(struct plugins_dir *d)
{
    return make_dirs(d->root) && watch(d, d->root);
}

/* ---- events ---- */

static void on_again(void *ctx);

/* Somebody has removed the directory itself: its sockets went before, each told. */
static void lost_watch(struct plugins_dir *d, struct watched *w)
{
    bool root = strcmp(w->path, d->root) == 0;
    free(w->path);
    *w = d->watched.v[--d->watched.n];
    if (root && !d->again)
        d->again = net_timer_start(d->loop, AGAIN_MS, 0, on_again, d);
}

static void on_again(void *ctx)
{
    struct plugins_dir *d = ctx;
    d->again = NULL;
    if (!open_root(d))
        d->again = net_timer_start(d->loop, AGAIN_MS, 0, on_again, d);
}

/* Events were lost: everything is looked at anew. */
static void catch_up(struct plugins_dir *d)
{
    struct stat st;
    VEC(struct str) gone = {0};
    strmap_each(&d->sockets, e) if (stat(e->key.p, &st) != 0) vec_push(&gone, e->key);
    for (size_t i = 0; i < gone.n; i++)
        lose_socket(d, gone.v[i]);
    vec_release(&gone);
    open_root(d);
}

static void take_event(struct plugins_dir *d, const struct inotify_event *x)
{
    struct watched *w = find_watch(d, x->wd);
    if (x->mask & IN_Q_OVERFLOW) {
        catch_up(d);
    } else if (!w) {
        return;
    } else if (x->mask & IN_IGNORED) {
        lost_watch(d, w);
    } else if (x->len > 0 && (x->mask & IN_DELETE)) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s", w->path, x->name);
        if (n > 0 && (size_t)n < sizeof path)
            lose_socket(d, (struct str){path, (size_t)n});
    } else if (x->len > 0) {
        char *dir = mem_dup(w->path, strlen(w->path)); /* looking moves the list */
        look(d, dir, x->name);
        free(dir);
    }
}

static void on_readable(void *ctx)
{
    struct plugins_dir *d = ctx;
    char buffer[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;
    while ((n = read(d->fd, buffer, sizeof buffer)) > 0) {
        for (char *p = buffer; p < buffer + n;) {
            const struct inotify_event *x = (const struct inotify_event *)p;
            take_event(d, x);
            p += sizeof *x + x->len;
        }
    }
    d->readable = net_readable_start(d->loop, d->fd, on_readable, d);
}

/* ---- beginning and end ---- */

static void begin(void *ctx)
{
    struct plugins_dir *d = ctx;
    d->again = NULL;
    walk(d, d->root);
}

/* Watched at once, and walked from the loop. */
static bool start(struct plugins_dir *d, struct err *e)
{
    int wd = -1;
    d->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (d->fd < 0)
        return err_set(e, ERR_IO, "inotify: %m");
    if (make_dirs(d->root))
        wd = inotify_add_watch(d->fd, d->root, EVENTS);
    if (wd < 0)
        return err_set(e, ERR_IO, "%s: %m", d->root);
    vec_push(&d->watched, (struct watched){wd, mem_dup(d->root, strlen(d->root))});
    d->readable = net_readable_start(d->loop, d->fd, on_readable, d);
    d->again = net_timer_start(d->loop, 0, 0, begin, d);
    return true;
}

struct plugins_dir *plugins_dir_new(struct net_loop *l, const char *path,
                                    const struct plugins_dir_ops *ops, void *ctx,
                                    struct err *e)
{
    struct plugins_dir *d = mem_zalloc(sizeof *d);
    *d = (struct plugins_dir){.loop = l, .ops = ops, .ctx = ctx, .fd = -1};
    d->root = mem_dup(path, strlen(path));
    if (start(d, e))
        return d;
    plugins_dir_free(d);
    return NULL;
}

void plugins_dir_free(struct plugins_dir *d)
{
    if (!d)
        return;
    net_readable_stop(d->readable);
    if (d->again)
        net_timer_stop(d->again);
    if (d->fd >= 0)
        close(d->fd);
    for (size_t i = 0; i < d->watched.n; i++)
        free(d->watched.v[i].path);
    vec_release(&d->watched);
    strmap_each(&d->sockets, e) free((char *)e->key.p);
    strmap_release(&d->sockets);
    free(d->root);
    free(d);
}
