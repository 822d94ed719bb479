/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end "amd": GPUs of AMD and the partitions they are divided into, named and
 * described as gpu.amd.com has them. What a GPU computes with is told by KFD, whose node
 * of a GPU is the one with its render number.
 */
#include <ctype.h>
#include <stdlib.h>

#include "driver/drm.h"

struct kfd { /* a node of KFD */
    struct str properties;
    bool is;
};

/* ---- KFD ---- */

static int64_t property(const struct kfd *k, const char *name)
{
    struct str s = sysfs_field(k->properties, name, ' ');
    return s.n ? (int64_t)strtoull(s.p, NULL, 10) : 0;
}

static struct kfd find_kfd(const struct found *f, int64_t render)
{
    struct str *names;
    uint32_t n = sysfs_names(&f->sysfs, &names, "/sys/class/kfd/kfd/topology/nodes");
    for (uint32_t i = 0; i < n; i++) {
        struct kfd k = {sysfs_text(&f->sysfs,
                                   "/sys/class/kfd/kfd/topology/nodes/%.*s/properties",
                                   STR_ARG(names[i])),
                        true};
        if (render >= 0 && property(&k, "drm_render_minor") == render)
            return k;
    }
    return (struct kfd){STR_NONE, false};
}

/* Bus, device and function in one number, as PCI has them. */
static struct str address_of(const struct found *f, const struct kfd *k)
{
    unsigned at = (unsigned)property(k, "location_id");
    return arena_printf(f->a, "%04x:%02x:%02x.%x", (unsigned)property(k, "domain"),
                        at >> 8 & 0xff, at >> 3 & 0x1f, at & 7);
}

static void add_units(struct found *f, struct found_device *d, const struct kfd *k)
{
    int64_t simds = property(k, "simd_count"), per_unit = property(k, "simd_per_cu");
    if (simds <= 0 || per_unit <= 0)
        return;
    found_capacity_int(f, d, "computeUnits", simds / per_unit);
    found_capacity_int(f, d, "simdUnits", simds);
}

/* ---- a card ---- */

struct card {
    struct found *f;
    struct str device;  /* its directory in sysfs */
    struct str address; /* of the GPU that it is or is a part of */
    struct drm drm;
    struct kfd kfd;
    bool part;
};

static struct str pci_text(const struct card *c, const char *name)
{
    return sysfs_text(&c->f->sysfs, "/sys/bus/pci/devices/%.*s/%s", STR_ARG(c->address),
                      name);
}

/* "SPX" and "NPS1" as "spx_nps1"; empty: it cannot be divided. */
static struct str profile_of(const struct card *c)
{
    struct str compute = pci_text(c, "current_compute_partition"),
               memory = pci_text(c, "current_memory_partition");
    if (!compute.n || !memory.n)
        return STR_NONE;
    struct str s = arena_printf(c->f->a, "%.*s_%.*s", STR_ARG(compute), STR_ARG(memory));
    for (char *p = (char *)s.p; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

/* The unique number, which sysfs has in hexadecimal, in decimal. */
static struct str unique_id(const struct card *c)
{
    struct str hex = pci_text(c, "unique_id");
    return hex.n ? arena_printf(c->f->a, "%llu", strtoull(hex.p, NULL, 16)) : STR_NONE;
}

static struct str product_of(const struct card *c)
{
    struct str s = pci_text(c, "product_name");
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ' ')
            ((char *)s.p)[i] = '_';
    return s;
}

static void add_attributes(struct card *c, struct found_device *d, struct str profile,
                           struct str id)
{
    struct found *f = c->f;
    found_text(f, d, "type", c->part ? STR("amdgpu-partition") : STR("amdgpu"));
    found_text(f, d, c->part ? "parentPciAddr" : "pciAddr", c->address);
    found_text(f, d, c->part ? "parentDeviceID" : "deviceID", id);
    found_int(f, d, "cardIndex", c->drm.card);
    found_int(f, d, "renderIndex", c->drm.render);
    if (property(&c->kfd, "gfx_target_version") / 10000 == 9)
        found_text(f, d, "family", STR("AI"));
    found_text(f, d, "productName", product_of(c));
    found_version(f, d, "driverVersion",
                  sysfs_text(&f->sysfs, "/sys/module/amdgpu/version"));
    found_text(f, d, "driverSrcVersion",
               sysfs_text(&f->sysfs, "/sys/module/amdgpu/srcversion"));
    found_text(f, d, "partitionProfile", profile);
    found_text(f, d, "resource.kubernetes.io/pcieRoot", topology_root(f, c->address));
    topology_numa_node(f, d, topology_numa(f, c->address));
}

static void add_card(struct card *c)
{
    struct found *f = c->f;
    struct str profile = profile_of(c), id = unique_id(c);
    int64_t memory =
        sysfs_int(&f->sysfs, 0, "%.*s/mem_info_vram_total", STR_ARG(c->device));
    c->part |= profile.n && !str_starts(profile, STR("spx_"));
    struct found_device d = found_begin(
        arena_printf(f->a, "gpu-%lld-%lld", (long long)c->drm.card,
                     (long long)c->drm.render),
        arena_printf(f->a, "amd:%.*s%s%.*s", STR_ARG(c->address), c->part ? "/" : "",
                     STR_ARG(c->part ? sysfs_last(c->device) : STR_NONE)));
    add_attributes(c, &d, profile, id);
    if (memory > 0)
        found_capacity(f, &d, "memory", found_bytes(f, (uint64_t)memory));
    add_units(f, &d, &c->kfd);
    found_node(f, &d, "/dev/kfd");
    drm_add_nodes(f, &d, c->drm);
    found_add(f, &d);
}

/* ---- discovery ---- */

static void add_pci(struct found *f, struct str address)
{
    struct card c = {
        .f = f,
        .device = arena_printf(f->a, "/sys/bus/pci/devices/%.*s", STR_ARG(address)),
        .address = address};
    c.drm = drm_find(f, c.device);
    c.kfd = find_kfd(f, c.drm.render);
    if (c.drm.card >= 0 && c.drm.render >= 0)
        add_card(&c);
}

/* Parts of a divided GPU but its first, which is the GPU's own card. */
static void add_part(struct found *f, struct str name)
{
    struct card c = {.f = f,
                     .device =
                         arena_printf(f->a, "/sys/devices/platform/%.*s", STR_ARG(name)),
                     .part = true};
    c.drm = drm_find(f, c.device);
    c.kfd = find_kfd(f, c.drm.render);
    if (!c.kfd.is)
        return;
    c.address = address_of(f, &c.kfd);
    add_card(&c);
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct found f;
    struct str *names;
    (void)e;
    found_backend_begin(base, a, &f);
    uint32_t n = sysfs_names(&f.sysfs, &names, "/sys/bus/pci/drivers/amdgpu");
    for (uint32_t i = 0; i < n; i++)
        if (topology_address(names[i], a).n)
            add_pci(&f, names[i]);
    n = sysfs_names(&f.sysfs, &names, "/sys/devices/platform");
    for (uint32_t i = 0; i < n; i++)
        if (str_starts(names[i], STR("amdgpu_xcp")))
            add_part(&f, names[i]);
    *out = found_inventory(&f);
    return true;
}

static const struct driver_backend_ops OPS = {.name = "amd",
                                              .free = found_backend_free,
                                              .discover = discover,
                                              .watch = found_backend_watch};

struct driver_backend *driver_backend_amd_new(const struct driver_discover_opts *o)
{
    return found_backend_new(&OPS, o);
}
