/* SPDX-License-Identifier: Apache-2.0 */
/* Where devices are, in trees of sysfs: one as dual-socket machines with two NUMA nodes a
 * socket have it, and odd ones. */
#include "driver/found.h"
#include "tree.h"
#include "unit/unit.h"

static const char TREE[] =
    "/sys/bus/pci/devices/0000:03:00.0 -> "
    "../../../devices/pci0000:00/0000:00:05.0/0000:03:00.0\n"
    "/sys/devices/pci0000:00/0000:00:05.0/0000:03:00.0/numa_node = 1\n"
    "/sys/bus/pci/devices/0001:00:00.0 -> ../../../devices/LNXSYSTM:00/0001:00:00.0\n"
    "/sys/devices/system/node/node0/distance = 10 12 32 32\n"
    "/sys/devices/system/node/node1/distance = 12 10 32 32\n"
    "/sys/devices/system/node/node2/distance = 32 32 10 10\n"
    "/sys/devices/system/node/node3/distance = 32 32 12\n"
    "/sys/devices/system/node/node0/cpulist = 0-3\n"
    "/sys/devices/system/node/node1/cpulist = 4-7\n"
    "/sys/devices/system/node/node2/cpulist = 8-11\n"
    "/sys/devices/system/node/node3/cpulist = 12-15\n"
    "/sys/devices/system/node/online = 0-3\n"
    "/sys/devices/system/cpu/cpu0/topology/physical_package_id = 0\n"
    "/sys/devices/system/cpu/cpu4/topology/physical_package_id = 0\n"
    "/sys/devices/system/cpu/cpu8/topology/physical_package_id = 1\n"
    "/sys/devices/system/cpu/cpu12/topology/physical_package_id = 0\n";

static const struct {
    const char *text, *address;
} ADDRESSES[] = {
    {"0000:65:00.0", "0000:65:00.0"},
    {"00000000:A5:00.1", "0000:a5:00.1"},
    {"0008:06:00.f", "0008:06:00.f"},
    {"00010000:06:00.0", ""},
    {"65:00.0", ""},
    {"0000:65:00:0", ""},
    {"0000:6g:00.0", ""},
    {"", ""},
    {"0000:65:00.0x", ""},
};

static void test_addresses(void **state)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ADDRESSES); i++)
        ROW(ADDRESSES[i].text, str_is(topology_address(str_from(ADDRESSES[i].text), &a),
                                      ADDRESSES[i].address));
    arena_fini(&a);
}

static struct str shown(struct found *f, struct found_device *d)
{
    found_add(f, d);
    struct driver_inventory v = found_inventory(f);
    return tree_show(&v, f->a);
}

static const struct {
    const char *name, *address;
    bool lists;
    const char *shown;
} DEVICES[] = {
    {"a device", "0000:03:00.0", false,
     "d (i)\n"
     "  resource.kubernetes.io/pciBusID=\"0000:03:00.0\"\n"
     "  resource.kubernetes.io/pcieRoot=\"pci0000:00\"\n"
     "  resource.kubernetes.io/numaNode=1\n"},
    {"and its neighbours", "0000:03:00.0", true,
     "d (i)\n"
     "  resource.kubernetes.io/pciBusID=\"0000:03:00.0\"\n"
     "  resource.kubernetes.io/pcieRoot=\"pci0000:00\"\n"
     "  resource.kubernetes.io/numaNode=[1 0]\n"},
    {"below no root", "0001:00:00.0", true,
     "d (i)\n  resource.kubernetes.io/pciBusID=\"0001:00:00.0\"\n"},
    {"nowhere", "", true, "d (i)\n"},
};

static void test_devices(void **state)
{
    struct tree t;
    (void)state;
    tree_open(&t);
    tree_fill(&t, TREE);
    for (size_t i = 0; i < UNIT_COUNT(DEVICES); i++) {
        struct arena a = {0};
        struct found f;
        struct found_device d = found_begin(STR("d"), STR("i"));
        struct driver_discover_opts o = {STR("x"), str_from(t.root), DEVICES[i].lists};
        found_init(&f, &o, &a);
        topology_pci(&f, &d, str_from(DEVICES[i].address));
        assert_string_equal(shown(&f, &d).p, DEVICES[i].shown);
        arena_fini(&a);
    }
    tree_close(&t);
}

static const struct {
    const char *name;
    int64_t node;
    const char *shown;
} NODES[] = {
    {"a neighbour of the socket", 0, "d (i)\n  resource.kubernetes.io/numaNode=[0 1]\n"},
    {"nearest on another socket", 2, "d (i)\n  resource.kubernetes.io/numaNode=[2]\n"},
    {"distances that are short", 3, "d (i)\n  resource.kubernetes.io/numaNode=[3]\n"},
    {"no such node", 9, "d (i)\n  resource.kubernetes.io/numaNode=[9]\n"},
    {"unknown", -1, "d (i)\n"},
    {"too high", 1024, "d (i)\n"},
};

static void test_nodes(void **state)
{
    struct tree t;
    (void)state;
    tree_open(&t);
    tree_fill(&t, TREE);
    for (size_t i = 0; i < UNIT_COUNT(NODES); i++) {
        struct arena a = {0};
        struct found f;
        struct found_device d = found_begin(STR("d"), STR("i"));
        struct driver_discover_opts o = {STR("x"), str_from(t.root), true};
        found_init(&f, &o, &a);
        topology_numa_node(&f, &d, NODES[i].node);
        assert_string_equal(shown(&f, &d).p, NODES[i].shown);
        arena_fini(&a);
    }
    tree_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
