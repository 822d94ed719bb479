/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end "tpu": TPUs of Google, named and described as tpu.google.com has them.
 * Older generations have a driver of their own (/dev/accelN), newer ones are given out
 * whole through VFIO (/dev/vfio/GROUP).
 */
#include <stdlib.h>

#include "driver/found.h"

enum { GOOGLE = 0x1ae0 };

static const struct {
    int64_t id;
    const char *name;
} GENERATIONS[] = {
    {0x005e, "v4"}, {0x0062, "v5p"}, {0x0063, "v5e"}, {0x006f, "v6e"}, {0x0076, "tpu7x"},
};

static struct str generation_of(const struct found *f, struct str address)
{
    int64_t id =
        sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/device", STR_ARG(address));
    for (size_t i = 0; i < sizeof GENERATIONS / sizeof *GENERATIONS; i++)
        if (GENERATIONS[i].id == id)
            return str_from(GENERATIONS[i].name);
    return STR_NONE;
}

/* Of all the devices of Google those that compute: a generation that is known. */
static uint32_t find_chips(const struct found *f, struct str **out)
{
    struct str *names;
    uint32_t n = sysfs_names(&f->sysfs, &names, "/sys/bus/pci/devices"), chips = 0;
    for (uint32_t i = 0; i < n; i++)
        if (sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/vendor",
                      STR_ARG(names[i])) == GOOGLE &&
            topology_address(names[i], f->a).n && generation_of(f, names[i]).n)
            names[chips++] = names[i];
    *out = names;
    return chips;
}

/* The number of /dev/accelN; -1: there is none. */
static int64_t accel_of(const struct found *f, struct str address)
{
    struct str *names;
    uint32_t n = sysfs_names(&f->sysfs, &names, "/sys/bus/pci/devices/%.*s/accel",
                             STR_ARG(address));
    return n && str_starts(names[0], STR("accel")) ? strtoll(names[0].p + 5, NULL, 10)
                                                   : -1;
}

static void add_chip(struct found *f, struct str address, uint32_t i, uint32_t n)
{
    int64_t accel = accel_of(f, address), index = accel >= 0 ? accel : i;
    struct str group = sysfs_last(
        sysfs_link(&f->sysfs, "/sys/bus/pci/devices/%.*s/iommu_group", STR_ARG(address)));
    struct found_device d = found_begin(
        arena_printf(f->a, "%s%lld", accel >= 0 ? "accel" : "", (long long)index),
        arena_printf(f->a, "pci:%.*s", STR_ARG(address)));
    found_int(f, &d, "index", index);
    found_text(f, &d, "tpuGen", generation_of(f, address));
    found_text(f, &d, "brand", STR("Google"));
    found_int(f, &d, "chipCount", n);
    topology_pci(f, &d, address);
    if (accel >= 0) {
        found_node(f, &d, "/dev/accel%lld", (long long)accel);
    } else if (group.n) {
        found_node(f, &d, "/dev/vfio/%.*s", STR_ARG(group));
        found_node(f, &d, "/dev/vfio/vfio");
    }
    found_add(f, &d);
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct found f;
    struct str *chips;
    (void)e;
    found_backend_begin(base, a, &f);
    uint32_t n = find_chips(&f, &chips);
    for (uint32_t i = 0; i < n; i++)
        add_chip(&f, chips[i], i, n);
    *out = found_inventory(&f);
    return true;
}

static const struct driver_backend_ops OPS = {.name = "tpu",
                                              .free = found_backend_free,
                                              .discover = discover,
                                              .watch = found_backend_watch};

struct driver_backend *driver_backend_tpu_new(const struct driver_discover_opts *o)
{
    return found_backend_new(&OPS, o);
}
