/* SPDX-License-Identifier: Apache-2.0 */
/* Where a device is in the machine, from sysfs alone, as upstream's library reads it. */
#include <ctype.h>
#include <stdlib.h>

#include "driver/found.h"

#define STANDARD "resource.kubernetes.io/"
enum { MAX_NODES = 1024, ADDRESS_LENGTH = 12 }; /* "0000:a1:00.0" */

/* ---- PCI ---- */

static bool is_address(struct str s)
{
    static const char FORM[] = "hhhh:hh:hh.h";
    if (s.n != ADDRESS_LENGTH)
        return false;
    for (size_t i = 0; i < ADDRESS_LENGTH; i++)
        if (FORM[i] == 'h' ? str_hex_digit(s.p[i]) < 0 : s.p[i] != FORM[i])
            return false;
    return true;
}

struct str topology_address(struct str text, struct arena *a)
{
    char *p = arena_alloc(a, text.n + 1);
    struct str s = {p, text.n};
    for (size_t i = 0; i < text.n; i++)
        p[i] = (char)tolower((unsigned char)text.p[i]);
    p[text.n] = '\0';
    while (s.n > ADDRESS_LENGTH && s.p[0] == '0') { /* NVML's domain has eight digits */
        s.p++;
        s.n--;
    }
    return is_address(s) ? s : STR_NONE;
}

struct str topology_root(const struct found *f, struct str address)
{
    struct str link =
        sysfs_link(&f->sysfs, "/sys/bus/pci/devices/%.*s", STR_ARG(address));
    size_t at = str_find(link, STR("devices/pci"));
    if (at == SIZE_MAX || !str_ends(link, address))
        return STR_NONE;
    struct str rest = str_sub(link, at + strlen("devices/"), link.n), root;
    return str_split_next(&rest, '/', &root) ? root : STR_NONE;
}

int64_t topology_numa(const struct found *f, struct str address)
{
    return sysfs_int(&f->sysfs, -1, "/sys/bus/pci/devices/%.*s/numa_node",
                     STR_ARG(address));
}

void topology_pci(struct found *f, struct found_device *d, struct str address)
{
    if (!address.n)
        return;
    found_text(f, d, STANDARD "pciBusID", address);
    found_text(f, d, STANDARD "pcieRoot", topology_root(f, address));
    topology_numa_node(f, d, topology_numa(f, address));
}

/* ---- NUMA ---- */

/* -1: unknown */
static int64_t socket_of(const struct found *f, int64_t node)
{
    struct str cpus = sysfs_text(&f->sysfs, "/sys/devices/system/node/node%lld/cpulist",
                                 (long long)node);
    if (!cpus.n)
        return -1;
    return sysfs_int(&f->sysfs, -1,
                     "/sys/devices/system/cpu/cpu%ld/topology/physical_package_id",
                     strtol(cpus.p, NULL, 10));
}

/* Nodes that are there, in ascending order; their distances stand in this order too. */
static uint32_t all_nodes(const struct found *f, int64_t *out)
{
    struct str *names;
    uint32_t n = sysfs_names(&f->sysfs, &names, "/sys/devices/system/node"), count = 0;
    for (uint32_t i = 0; i < n && count < MAX_NODES; i++)
        if (str_starts(names[i], STR("node")) && names[i].n > 4 &&
            isdigit((unsigned char)names[i].p[4]))
            out[count++] = strtoll(names[i].p + 4, NULL, 10);
    return count;
}

/* Those at the smallest distance that are on the same socket, or on an unknown one. */
static uint32_t nearest(const struct found *f, int64_t node, const int64_t *nodes,
                        const int64_t *distances, uint32_t n, int64_t *out)
{
    int64_t best = INT64_MAX, socket = socket_of(f, node);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i] != node && distances[i] < best)
            best = distances[i];
    for (uint32_t i = 0; i < n; i++) {
        int64_t other =
            nodes[i] == node || distances[i] != best ? -2 : socket_of(f, nodes[i]);
        if (other == -1 || (other >= 0 && (socket < 0 || other == socket)))
            out[count++] = nodes[i];
    }
    return count;
}

static uint32_t read_distances(const struct found *f, int64_t node, int64_t *out)
{
    struct str text = sysfs_text(&f->sysfs, "/sys/devices/system/node/node%lld/distance",
                                 (long long)node),
               part;
    uint32_t n = 0;
    while (n < MAX_NODES && str_split_next(&text, ' ', &part))
        out[n++] = strtoll(part.p, NULL, 10);
    return n;
}

void topology_numa_node(struct found *f, struct found_device *d, int64_t node)
{
    if (node < 0 || node >= MAX_NODES)
        return;
    int64_t *list = ARENA_ARRAY(f->a, int64_t, MAX_NODES + 1);
    uint32_t n = 1;
    list[0] = node;
    if (f->opts->lists) {
        int64_t *nodes = ARENA_ARRAY(f->a, int64_t, MAX_NODES),
                *distances = ARENA_ARRAY(f->a, int64_t, MAX_NODES);
        uint32_t all = all_nodes(f, nodes);
        if (read_distances(f, node, distances) == all)
            n += nearest(f, node, nodes, distances, all, list + 1);
    }
    found_ints(f, d, STANDARD "numaNode", list, n);
}
