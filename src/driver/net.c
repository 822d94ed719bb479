/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end "net": network interfaces and RDMA devices, named and described as dra.net
 * has them. A container gets the interface itself (CDI 1.1), and the nodes of its RDMA
 * device. Interfaces over which the node reaches the world, by IPv4 or IPv6, are not
 * offered, nor what they go through.
 */
#include <ctype.h>
#include <net/if_arp.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "driver/found.h"

#define DOMAIN "dra.net/"
enum { LABEL_MAX = 63, VALUE_MAX = 64 };

struct net_scan {
    struct found *f;
    VEC(struct str) uplinks; /* interfaces of default routes */
    struct str *rdma;        /* RDMA devices */
    uint32_t nrdma;
    bool *taken; /* of these, by an interface */
};

/* ---- names ---- */

static struct str label(const struct found *f, const char *prefix, struct str s)
{
    struct str name = arena_printf(f->a, "%s%.*s", prefix, STR_ARG(s));
    char *p = (char *)name.p;
    for (size_t i = 0; i < name.n; i++)
        p[i] = isalnum((unsigned char)p[i]) ? (char)tolower((unsigned char)p[i]) : '-';
    while (name.n && name.p[0] == '-')
        name = str_sub(name, 1, name.n);
    name = str_sub(name, 0, LABEL_MAX);
    while (name.n && name.p[name.n - 1] == '-')
        name.n--;
    return name;
}

static struct str value(struct str s)
{
    return str_sub(s, 0, VALUE_MAX);
}

/* ---- default routes ---- */

static bool is_zeros(struct str s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '0')
            return false;
    return s.n == n;
}

static void add_uplink(struct net_scan *s, struct str name)
{
    if (name.n)
        vec_push_in(s->f->a, &s->uplinks, name);
}

/* Interface and destination come first. */
static void find_uplinks(struct net_scan *s)
{
    struct str text = sysfs_text(&s->f->sysfs, "/proc/net/route"), line, field;
    while (str_split_next(&text, '\n', &line)) {
        struct str name = STR_NONE, to = STR_NONE;
        for (int i = 0; i < 2 && str_split_next(&line, '\t', &field); i++)
            *(i ? &to : &name) = str_trim(field);
        if (is_zeros(to, 8))
            add_uplink(s, name);
    }
}

/* The destination and the length of its prefix come first, the interface last. Routes
 * that lead nowhere are lo's. */
static void find_uplinks_v6(struct net_scan *s)
{
    struct str text = sysfs_text(&s->f->sysfs, "/proc/net/ipv6_route"), line, field;
    while (str_split_next(&text, '\n', &line)) {
        bool all = is_zeros(str_sub(line, 0, str_find_byte(line, ' ', 0)), 32);
        for (int i = 0; str_split_next(&line, ' ', &field); i++)
            all &= i != 1 || is_zeros(field, 2);
        if (all)
            add_uplink(s, field);
    }
}

/* The interface carries the other one: a port of its bond, the bond of its VLAN. */
static bool carries(const struct found *f, struct str name, struct str other, int depth)
{
    struct str *lower;
    if (str_eq(name, other))
        return true;
    uint32_t n = depth < 8 && other.n ? sysfs_names(&f->sysfs, &lower,
                                                    "/sys/class/net/%.*s", STR_ARG(other))
                                      : 0;
    for (uint32_t i = 0; i < n; i++)
        if (str_starts(lower[i], STR("lower_")) &&
            carries(f, name, str_sub(lower[i], strlen("lower_"), SIZE_MAX), depth + 1))
            return true;
    return false;
}

/* Some interface over which the node reaches the world goes through this one. */
static bool is_uplink(const struct net_scan *s, struct str name)
{
    for (size_t i = 0; i < s->uplinks.n; i++)
        if (carries(s->f, name, s->uplinks.v[i], 0))
            return true;
    return false;
}

/* ---- RDMA ---- */

static struct str address_of(const struct found *f, const char *class, struct str name)
{
    struct str link =
        sysfs_link(&f->sysfs, "/sys/class/%s/%.*s/device", class, STR_ARG(name));
    return topology_address(sysfs_last(link), f->a);
}

static void add_rdma_nodes(struct found *f, struct found_device *d, struct str rdma)
{
    struct str *verbs;
    uint32_t n = sysfs_names(&f->sysfs, &verbs, "/sys/class/infiniband_verbs");
    for (uint32_t i = 0; i < n; i++) {
        struct str of = sysfs_text(&f->sysfs, "/sys/class/infiniband_verbs/%.*s/ibdev",
                                   STR_ARG(verbs[i]));
        if (str_eq(of, rdma))
            found_node(f, d, "/dev/infiniband/%.*s", STR_ARG(verbs[i]));
    }
    if (sysfs_exists(&f->sysfs, "/dev/infiniband/rdma_cm"))
        found_node(f, d, "/dev/infiniband/rdma_cm");
}

static void add_rdma(struct found *f, struct found_device *d, struct str rdma)
{
    found_bool(f, d, DOMAIN "rdma", rdma.n > 0);
    found_text(f, d, DOMAIN "rdmaDevice", rdma);
    if (rdma.n)
        add_rdma_nodes(f, d, rdma);
}

static struct str take_rdma(struct net_scan *s, struct str address)
{
    for (uint32_t i = 0; i < s->nrdma && address.n; i++)
        if (!s->taken[i] && str_eq(address_of(s->f, "infiniband", s->rdma[i]), address)) {
            s->taken[i] = true;
            return s->rdma[i];
        }
    return STR_NONE;
}

/* ---- PCI ---- */

static void add_pci(struct found *f, struct found_device *d, struct str address)
{
    struct str vendor, device;
    int64_t numa = topology_numa(f, address);
    pci_names(
        f, sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/vendor", STR_ARG(address)),
        sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/device", STR_ARG(address)),
        &vendor, &device);
    found_text(f, d, DOMAIN "pciAddress", address);
    found_text(f, d, DOMAIN "pciVendor", value(vendor));
    found_text(f, d, DOMAIN "pciDevice", value(device));
    if (numa >= 0)
        found_int(f, d, DOMAIN "numaNode", numa);
    int64_t vfs = sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/sriov_totalvfs",
                            STR_ARG(address));
    found_bool(f, d, DOMAIN "sriov", vfs > 0);
    if (vfs > 0)
        found_int(f, d, DOMAIN "sriovVfs",
                  sysfs_int(&f->sysfs, 0, "/sys/bus/pci/devices/%.*s/sriov_numvfs",
                            STR_ARG(address)));
    found_bool(
        f, d, DOMAIN "isSriovVf",
        sysfs_exists(&f->sysfs, "/sys/bus/pci/devices/%.*s/physfn", STR_ARG(address)));
    topology_pci(f, d, address);
}

static struct found_device begin(struct found *f, struct str address, struct str name)
{
    return address.n ? found_begin(label(f, "pci-", address),
                                   arena_printf(f->a, "pci:%.*s", STR_ARG(address)))
                     : found_begin(label(f, "", name),
                                   arena_printf(f->a, "net:%.*s", STR_ARG(name)));
}

/* ---- interfaces ---- */

static struct str type_of(const struct found *f, struct str name)
{
    struct str uevent =
        sysfs_text(&f->sysfs, "/sys/class/net/%.*s/uevent", STR_ARG(name));
    return sysfs_field(uevent, "DEVTYPE", '=');
}

static void add_link(struct found *f, struct found_device *d, struct str name)
{
    struct str uevent =
        sysfs_text(&f->sysfs, "/sys/class/net/%.*s/uevent", STR_ARG(name));
    struct str type = sysfs_field(uevent, "DEVTYPE", '=');
    int64_t mtu = sysfs_int(&f->sysfs, -1, "/sys/class/net/%.*s/mtu", STR_ARG(name));
    found_text(f, d, DOMAIN "ifName", name);
    found_text(f, d, DOMAIN "mac",
               sysfs_text(&f->sysfs, "/sys/class/net/%.*s/address", STR_ARG(name)));
    if (mtu >= 0)
        found_int(f, d, DOMAIN "mtu", mtu);
    int64_t link = sysfs_int(&f->sysfs, 0, "/sys/class/net/%.*s/type", STR_ARG(name));
    if (link == ARPHRD_ETHER || link == ARPHRD_INFINIBAND)
        found_text(f, d, DOMAIN "encapsulation",
                   link == ARPHRD_ETHER ? STR("ether") : STR("infiniband"));
    found_text(
        f, d, DOMAIN "alias",
        value(sysfs_text(&f->sysfs, "/sys/class/net/%.*s/ifalias", STR_ARG(name))));
    found_text(f, d, DOMAIN "state",
               sysfs_text(&f->sysfs, "/sys/class/net/%.*s/operstate", STR_ARG(name)));
    found_text(f, d, DOMAIN "type", type.n ? type : STR("device"));
    found_bool(f, d, DOMAIN "virtual",
               sysfs_exists(&f->sysfs, "/sys/devices/virtual/net/%.*s", STR_ARG(name)));
}

static void give_interface(struct found *f, struct found_device *d, struct str name)
{
    struct cdi_net_device *n = ARENA_NEW(f->a, struct cdi_net_device);
    *n = (struct cdi_net_device){name, name};
    d->device.edits.net_devices = n;
    d->device.edits.nnet_devices = 1;
}

static void add_interface(struct net_scan *s, struct str name)
{
    struct found *f = s->f;
    struct str address = address_of(f, "net", name);
    struct found_device d = begin(f, address, name);
    if (!d.device.name.n)
        return;
    add_link(f, &d, name);
    if (address.n)
        add_pci(f, &d, address);
    add_rdma(f, &d, take_rdma(s, address));
    give_interface(f, &d, name);
    found_add(f, &d);
}

static void add_rdma_only(struct net_scan *s, struct str rdma)
{
    struct found *f = s->f;
    struct str address = address_of(f, "infiniband", rdma);
    struct found_device d = begin(f, address, rdma);
    if (!d.device.name.n)
        return;
    if (address.n)
        add_pci(f, &d, address);
    add_rdma(f, &d, rdma);
    found_add(f, &d);
}

/* Two ports of one PCI function have one name: the first has the function. */
static bool is_new(struct strmap *seen, const struct found *f, struct str name)
{
    struct str address = address_of(f, "net", name);
    bool made = true;
    if (address.n)
        strmap_put(seen, address, &made);
    return made;
}

/* One end of a pair, whose other end is in a container: no type, and another's number. */
static bool is_end_of_pair(const struct found *f, struct str name)
{
    return sysfs_exists(&f->sysfs, "/sys/devices/virtual/net/%.*s", STR_ARG(name)) &&
           !type_of(f, name).n &&
           sysfs_int(&f->sysfs, 0, "/sys/class/net/%.*s/iflink", STR_ARG(name)) !=
               sysfs_int(&f->sysfs, 0, "/sys/class/net/%.*s/ifindex", STR_ARG(name));
}

/* What the node's own network is made of is not given away: bridges and bonds, what is in
 * one, and the ends of pairs that lead to containers. */
static bool is_of_the_node(const struct net_scan *s, struct str name)
{
    struct str type = type_of(s->f, name);
    return str_is(name, "lo") || is_uplink(s, name) ||
           sysfs_exists(&s->f->sysfs, "/sys/class/net/%.*s/master", STR_ARG(name)) ||
           str_is(type, "bridge") || str_is(type, "bond") || is_end_of_pair(s->f, name);
}

static void add_interfaces(struct net_scan *s)
{
    struct strmap seen = STRMAP_INIT;
    struct str *names;
    uint32_t n = sysfs_names(&s->f->sysfs, &names, "/sys/class/net");
    for (uint32_t i = 0; i < n; i++)
        if (!is_of_the_node(s, names[i]) &&
            sysfs_exists(&s->f->sysfs, "/sys/class/net/%.*s/.", STR_ARG(names[i])) &&
            is_new(&seen, s->f, names[i]))
            add_interface(s, names[i]);
    strmap_release(&seen);
}

/* Of an interface that stays with the node. */
static bool is_uplinks(const struct net_scan *s, struct str rdma)
{
    struct str *names, address = address_of(s->f, "infiniband", rdma);
    uint32_t n = address.n ? sysfs_names(&s->f->sysfs, &names, "/sys/class/net") : 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_uplink(s, names[i]) && str_eq(address_of(s->f, "net", names[i]), address))
            return true;
    return false;
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct found f;
    (void)e;
    found_backend_begin(base, a, &f);
    struct net_scan s = {.f = &f};
    find_uplinks(&s);
    find_uplinks_v6(&s);
    s.nrdma = sysfs_names(&f.sysfs, &s.rdma, "/sys/class/infiniband");
    s.taken = ARENA_ARRAY(a, bool, s.nrdma);
    add_interfaces(&s);
    for (uint32_t i = 0; i < s.nrdma; i++)
        if (!s.taken[i] && !is_uplinks(&s, s.rdma[i]))
            add_rdma_only(&s, s.rdma[i]);
    *out = found_inventory(&f);
    return true;
}

static const struct driver_backend_ops OPS = {.name = "net",
                                              .free = found_backend_free,
                                              .discover = discover,
                                              .watch = found_backend_watch};

struct driver_backend *driver_backend_net_new(const struct driver_discover_opts *o)
{
    return found_backend_new(&OPS, o);
}
