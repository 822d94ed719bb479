/* SPDX-License-Identifier: Apache-2.0 */
/* The back end "intel": GPUs of Intel, named and described as gpu.intel.com has them. One
 * that no driver of a GPU has is there, with a taint. */
#include <stdlib.h>

#include "driver/drm.h"

enum { INTEL = 0x8086, DISPLAY = 0x03, VALUE_MAX = 64 };

static int64_t number(const struct found *f, struct str address, const char *name)
{
    return sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/%s", STR_ARG(address),
                     name);
}

static bool is_gpu(const struct found *f, struct str address)
{
    return number(f, address, "vendor") == INTEL &&
           number(f, address, "class") >> 16 == DISPLAY;
}

/* The database has "DG2 [Arc A770]": the name by which it is sold. */
static struct str model_of(const struct found *f, int64_t id)
{
    struct str vendor, device;
    pci_names(f, INTEL, (long)id, &vendor, &device);
    size_t from = str_find_byte(device, '[', 0), to = str_rfind_byte(device, ']');
    if (from != SIZE_MAX && to != SIZE_MAX && from < to)
        device = str_sub(device, from + 1, to);
    return str_starts(device, STR("0x")) ? STR("Unknown") : str_sub(device, 0, VALUE_MAX);
}

/* i915 says it of the card, xe of the device. */
static int64_t memory_of(const struct found *f, struct str address, struct drm drm)
{
    int64_t n = sysfs_int(&f->sysfs, 0, "/sys/class/drm/card%lld/lmem_total_bytes",
                          (long long)drm.card);
    return n > 0 ? n
                 : sysfs_int(&f->sysfs, 0,
                             "/sys/bus/pci/devices/%.*s/tile0/physical_vram_size_bytes",
                             STR_ARG(address));
}

/* "0000:03:00.0" and 0xe211 as "0000-03-00-0-0xe211" */
static struct str name_of(const struct found *f, struct str address, struct str id)
{
    struct str s = arena_printf(f->a, "%.*s-%.*s", STR_ARG(address), STR_ARG(id));
    for (size_t i = 0; i < address.n; i++)
        if (s.p[i] == ':' || s.p[i] == '.')
            ((char *)s.p)[i] = '-';
    return s;
}

static void add_attributes(struct found *f, struct found_device *d, struct str address,
                           struct str driver)
{
    int64_t id = number(f, address, "device");
    bool vf =
        sysfs_exists(&f->sysfs, "/sys/bus/pci/devices/%.*s/physfn", STR_ARG(address));
    struct str root = topology_root(f, address);
    size_t colon = str_rfind_byte(root, ':');
    found_text(f, d, "model", model_of(f, id));
    found_text(f, d, "family", STR("Unknown"));
    found_text(f, d, "driver", driver);
    found_text(f, d, "type", vf ? STR("vf") : STR("gpu"));
    found_bool(f, d, "sriov", number(f, address, "sriov_totalvfs") > 0);
    found_text(f, d, "pciId", arena_printf(f->a, "0x%04llx", (unsigned long long)id));
    found_text(f, d, "health", STR("Healthy"));
    found_text(f, d, "pciAddress", address);
    found_text(f, d, "pciRoot",
               colon == SIZE_MAX ? STR_NONE : str_sub(root, colon + 1, root.n));
    topology_pci(f, d, address);
}

static void be_unbound(struct found *f, struct found_device *d)
{
    struct driver_taint t = {.key = STR("UnboundUnmanaged"), .effect = STR("NoSchedule")};
    vec_push_in(f->a, &d->taints, t);
}

static void add_gpu(struct found *f, struct str address)
{
    struct str driver = sysfs_last(
        sysfs_link(&f->sysfs, "/sys/bus/pci/devices/%.*s/driver", STR_ARG(address)));
    struct drm drm =
        drm_find(f, arena_printf(f->a, "/sys/bus/pci/devices/%.*s", STR_ARG(address)));
    struct str id =
        arena_printf(f->a, "0x%04llx", (unsigned long long)number(f, address, "device"));
    struct found_device d = found_begin(name_of(f, address, id),
                                        arena_printf(f->a, "pci:%.*s", STR_ARG(address)));
    if (!str_is(driver, "i915") && !str_is(driver, "xe"))
        driver = STR_NONE;
    add_attributes(f, &d, address, driver);
    found_capacity(f, &d, "memory", found_bytes(f, (uint64_t)memory_of(f, address, drm)));
    found_capacity(f, &d, "millicores", STR("1k"));
    if (!driver.n)
        be_unbound(f, &d);
    drm_add_nodes(f, &d, drm);
    found_add(f, &d);
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct found f;
    struct str *names;
    (void)e;
    found_backend_begin(base, a, &f);
    uint32_t n = sysfs_names(&f.sysfs, &names, "/sys/bus/pci/devices");
    for (uint32_t i = 0; i < n; i++)
        if (topology_address(names[i], a).n && is_gpu(&f, names[i]))
            add_gpu(&f, names[i]);
    *out = found_inventory(&f);
    return true;
}

static const struct driver_backend_ops OPS = {.name = "intel",
                                              .free = found_backend_free,
                                              .discover = discover,
                                              .watch = found_backend_watch};

struct driver_backend *driver_backend_intel_new(const struct driver_discover_opts *o)
{
    return found_backend_new(&OPS, o);
}
