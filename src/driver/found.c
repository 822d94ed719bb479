/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/found.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "driver/uevent.h"
#include "num/semver.h"

void found_init(struct found *f, const struct driver_discover_opts *o, struct arena *a)
{
    *f = (struct found){.a = a, .opts = o, .sysfs = {o->root, a}};
}

struct found_device found_begin(struct str name, struct str identity)
{
    return (struct found_device){
        .device = {.name = name, .identity = identity, .health = DRIVER_HEALTHY}};
}

void found_add(struct found *f, struct found_device *d)
{
    struct driver_device *to = &d->device;
    to->attributes = d->attributes.v;
    to->nattributes = (uint32_t)d->attributes.n;
    to->capacities = d->capacities.v;
    to->ncapacities = (uint32_t)d->capacities.n;
    to->consumes = d->consumes.v;
    to->nconsumes = (uint32_t)d->consumes.n;
    to->taints = d->taints.v;
    to->ntaints = (uint32_t)d->taints.n;
    to->edits.nodes = d->nodes.v;
    to->edits.nnodes = (uint32_t)d->nodes.n;
    to->edits.env = d->env.v;
    to->edits.nenv = (uint32_t)d->env.n;
    vec_push_in(f->a, &f->devices, *to);
}

struct driver_inventory found_inventory(const struct found *f)
{
    return (struct driver_inventory){.devices = f->devices.v,
                                     .counters = f->counters.v,
                                     .ndevices = (uint32_t)f->devices.n,
                                     .ncounters = (uint32_t)f->counters.n};
}

/* ---- attributes ---- */

static void add(struct found *f, struct found_device *d, const char *name,
                struct driver_value v)
{
    vec_push_in(f->a, &d->attributes, (struct driver_attribute){str_from(name), v});
}

void found_text(struct found *f, struct found_device *d, const char *name, struct str s)
{
    if (s.n)
        add(f, d, name, (struct driver_value){.kind = DRIVER_STRING, .text = s});
}

void found_int(struct found *f, struct found_device *d, const char *name, int64_t n)
{
    add(f, d, name, (struct driver_value){.kind = DRIVER_INT, .number = n});
}

void found_bool(struct found *f, struct found_device *d, const char *name, bool b)
{
    add(f, d, name, (struct driver_value){.kind = DRIVER_BOOL, .number = b});
}

void found_version(struct found *f, struct found_device *d, const char *name,
                   struct str s)
{
    struct semver v;
    if (s.n && semver_parse(s, true, f->a, &v, NULL))
        add(f, d, name,
            (struct driver_value){.kind = DRIVER_VERSION,
                                  .text = semver_print(&v, f->a)});
}

void found_ints(struct found *f, struct found_device *d, const char *name,
                const int64_t *v, uint32_t n)
{
    if (f->opts->lists)
        add(f, d, name, (struct driver_value){.kind = DRIVER_INTS, .numbers = v, .n = n});
    else
        found_int(f, d, name, v[0]);
}

void found_texts(struct found *f, struct found_device *d, const char *name,
                 const struct str *v, uint32_t n)
{
    if (f->opts->lists)
        add(f, d, name,
            (struct driver_value){.kind = DRIVER_STRINGS, .texts = v, .n = n});
    else
        found_text(f, d, name, v[0]);
}

/* ---- the rest ---- */

void found_capacity(struct found *f, struct found_device *d, const char *name,
                    struct str quantity)
{
    vec_push_in(f->a, &d->capacities,
                (struct driver_capacity){str_from(name), quantity, NULL});
}

void found_capacity_int(struct found *f, struct found_device *d, const char *name,
                        int64_t n)
{
    found_capacity(f, d, name, arena_printf(f->a, "%lld", (long long)n));
}

void found_taint(struct found *f, struct found_device *d, const char *name,
                 struct str value, const char *effect)
{
    struct driver_taint t = {
        .key = arena_printf(f->a, "%.*s/%s", STR_ARG(f->opts->driver), name),
        .value = value,
        .effect = str_from(effect)};
    vec_push_in(f->a, &d->taints, t);
}

void found_node(struct found *f, struct found_device *d, const char *path_fmt, ...)
{
    va_list ap;
    va_start(ap, path_fmt);
    struct cdi_node n = {.path = arena_vprintf(f->a, path_fmt, ap)};
    va_end(ap);
    vec_push_in(f->a, &d->nodes, n);
}

void found_env(struct found *f, struct found_device *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = arena_vprintf(f->a, fmt, ap);
    va_end(ap);
    vec_push_in(f->a, &d->env, s);
}

struct str found_bytes(struct found *f, uint64_t n)
{
    if (n >> 20 && !(n & 0xfffff))
        return arena_printf(f->a, "%lluMi", (unsigned long long)(n >> 20));
    if (n >> 10 && !(n & 0x3ff))
        return arena_printf(f->a, "%lluKi", (unsigned long long)(n >> 10));
    return arena_printf(f->a, "%llu", (unsigned long long)n);
}

/* ---- a back end ---- */

struct driver_backend *found_backend_new(const struct driver_backend_ops *ops,
                                         const struct driver_discover_opts *o)
{
    struct found_backend *b = mem_zalloc(sizeof *b);
    *b = (struct found_backend){{ops}, *o, o->root.n ? -1 : uevent_new()};
    return &b->base;
}

void found_backend_free(struct driver_backend *base)
{
    struct found_backend *b = (struct found_backend *)base;
    if (b->watch >= 0)
        close(b->watch);
    free(b);
}

int found_backend_watch(struct driver_backend *base)
{
    return ((struct found_backend *)base)->watch;
}

void found_backend_begin(struct driver_backend *base, struct arena *a, struct found *f)
{
    struct found_backend *b = (struct found_backend *)base;
    uevent_drain(b->watch);
    found_init(f, &b->opts, a);
}
