/* SPDX-License-Identifier: Apache-2.0 */
/* Several back ends as one. */
#include <sys/epoll.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/discover.h"

struct all {
    struct driver_backend base;
    int watch; /* an epoll of theirs: readable when one is; -1: there is none */
    uint32_t n;
    struct driver_backend *v[];
};

struct owned { /* own of a device */
    struct driver_backend *backend;
    const void *own;
};

void driver_backend_free(struct driver_backend *b)
{
    if (b)
        b->ops->free(b);
}

static void all_free(struct driver_backend *base)
{
    struct all *all = (struct all *)base;
    if (all->watch >= 0)
        close(all->watch);
    for (uint32_t i = 0; i < all->n; i++)
        driver_backend_free(all->v[i]);
    free(all);
}

/* ---- discovery ---- */

struct gather {
    struct arena *a;
    struct err *e;
    VEC(struct driver_device) devices;
    VEC(struct driver_counter_set) counters;
    struct strmap names; /* -> back end */
};

static bool add_device(struct gather *g, struct driver_backend *b,
                       const struct driver_device *d)
{
    bool made;
    struct strmap_entry *e = strmap_put(&g->names, d->name, &made);
    if (!made) {
        const struct driver_backend *other = e->value.ptr;
        return err_set(g->e, ERR_INVALID,
                       "both %s and %s have found a device of the name \"%.*s\"",
                       other->ops->name, b->ops->name, STR_ARG(d->name));
    }
    e->value.ptr = b;
    struct owned *own = ARENA_NEW(g->a, struct owned);
    struct driver_device copy = *d;
    *own = (struct owned){b, d->own};
    copy.own = own;
    vec_push_in(g->a, &g->devices, copy);
    return true;
}

static bool add_inventory(struct gather *g, struct driver_backend *b)
{
    struct driver_inventory v = {0};
    if (!b->ops->discover(b, g->a, &v, g->e))
        return err_wrap(g->e, "%s", b->ops->name);
    for (uint32_t i = 0; i < v.ndevices; i++)
        if (!add_device(g, b, &v.devices[i]))
            return false;
    for (uint32_t i = 0; i < v.ncounters; i++)
        vec_push_in(g->a, &g->counters, v.counters[i]);
    return true;
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    const struct all *all = (struct all *)base;
    struct gather g = {.a = a, .e = e};
    bool ok = true;
    for (uint32_t i = 0; i < all->n && ok; i++)
        ok = add_inventory(&g, all->v[i]);
    strmap_release(&g.names);
    if (ok)
        *out = (struct driver_inventory){.devices = g.devices.v,
                                         .counters = g.counters.v,
                                         .ndevices = (uint32_t)g.devices.n,
                                         .ncounters = (uint32_t)g.counters.n};
    return ok;
}

static int watch(struct driver_backend *base)
{
    return ((struct all *)base)->watch;
}

/* ---- use ---- */

/* The use as the back end of the device knows it. */
static struct driver_backend *route(const struct driver_use *u, struct driver_use *use,
                                    struct driver_device *device)
{
    const struct owned *own = u->device->own;
    *device = *u->device;
    device->own = own->own;
    *use = *u;
    use->device = device;
    return own->backend;
}

static bool check(struct driver_backend *base, const struct driver_use *u, struct err *e)
{
    struct driver_use use;
    struct driver_device device;
    struct driver_backend *b = route(u, &use, &device);
    if (!b->ops->check)
        return !u->nconfigs ||
               err_set(e, ERR_INVALID, "device \"%.*s\" takes no configuration",
                       STR_ARG(device.name));
    return b->ops->check(b, &use, e);
}

static bool prepare(struct driver_backend *base, const struct driver_use *u,
                    struct arena *a, struct cdi_edits *edits, struct str *state,
                    struct err *e)
{
    struct driver_use use;
    struct driver_device device;
    struct driver_backend *b = route(u, &use, &device);
    return !b->ops->prepare || b->ops->prepare(b, &use, a, edits, state, e);
}

/* The device may be gone, so all of them are asked; whoever does not know it says yes. */
static bool unprepare(struct driver_backend *base, const struct driver_undo *u,
                      struct err *e)
{
    struct all *all = (struct all *)base;
    for (uint32_t i = 0; i < all->n; i++) {
        struct driver_backend *b = all->v[i];
        if (b->ops->unprepare && !b->ops->unprepare(b, u, e))
            return false;
    }
    return true;
}

static const struct driver_backend_ops OPS = {.name = "all",
                                              .free = all_free,
                                              .discover = discover,
                                              .watch = watch,
                                              .check = check,
                                              .prepare = prepare,
                                              .unprepare = unprepare};

/* -1 when none of them can be watched. */
static int watch_all(struct driver_backend *const *v, uint32_t n)
{
    int all = epoll_create1(EPOLL_CLOEXEC);
    unsigned watched = 0;
    for (uint32_t i = 0; i < n && all >= 0; i++) {
        struct epoll_event ev = {.events = EPOLLIN};
        int fd = v[i]->ops->watch ? v[i]->ops->watch(v[i]) : -1;
        watched += fd >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, fd, &ev) == 0;
    }
    if (!watched && all >= 0) {
        close(all);
        all = -1;
    }
    return all;
}

struct driver_backend *driver_backend_all_new(struct driver_backend *const *v, uint32_t n)
{
    struct all *all = mem_zalloc(sizeof *all + n * sizeof *v);
    all->base.ops = &OPS;
    all->n = n;
    for (uint32_t i = 0; i < n; i++)
        all->v[i] = v[i];
    all->watch = watch_all(v, n);
    return &all->base;
}
