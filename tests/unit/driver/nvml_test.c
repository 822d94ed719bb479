/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of NVIDIA by a library that answers as recorded. */
#include "driver/nvml.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/discover.h"
#include "node/disk.h"
#include "tree.h"
#include "unit/unit.h"

static const char *library;

/* Two roots; the nodes of a divided GPU's instances. */
static const char TREE[] =
    "/sys/bus/pci/devices/0000:0a:00.0 -> "
    "../../../devices/pci0000:00/0000:00:01.0/0000:0a:00.0\n"
    "/sys/devices/pci0000:00/0000:00:01.0/0000:0a:00.0/numa_node = 0\n"
    "/sys/bus/pci/devices/0008:06:00.0 -> "
    "../../../devices/pci0008:00/0008:00:00.0/0008:06:00.0\n"
    "/sys/devices/pci0008:00/0008:00:00.0/0008:06:00.0/numa_node = -1\n"
    "/proc/driver/nvidia/capabilities/gpu3/mig/gi2/access = DeviceFileMinor: 21\n"
    "/proc/driver/nvidia/capabilities/gpu3/mig/gi2/ci0/access = DeviceFileMinor: 22\n"
    "/proc/driver/nvidia/capabilities/gpu3/mig/gi9/access = DeviceFileMinor: 84\n"
    "/proc/driver/nvidia/capabilities/gpu3/mig/gi9/ci0/access = DeviceFileMinor: 85\n"
    "/usr/lib64/libcuda.so.580.105.08 = x\n"
    "/usr/lib64/libnvidia-gpucomp.so.580.105.08 = x\n"
    "/usr/bin/nvidia-smi = x\n"
    "/dev/nvidiactl = x\n"
    "/dev/nvidia-uvm = x\n";

#define FILES                                                                            \
    "  mount /usr/lib64/libcuda.so.580.105.08 at /usr/lib64/libcuda.so.580.105.08\n"     \
    "  mount /usr/lib64/libcuda.so.580.105.08 at /usr/lib64/libcuda.so.1\n"              \
    "  mount /usr/lib64/libnvidia-gpucomp.so.580.105.08 at "                             \
    "/usr/lib64/libnvidia-gpucomp.so.580.105.08\n"                                       \
    "  mount /usr/bin/nvidia-smi at /usr/bin/nvidia-smi\n"                               \
    "  env NVIDIA_VISIBLE_DEVICES=void\n"
#define A100                                                                             \
    "  productName=\"NVIDIA A100-SXM4-40GB\"\n"                                          \
    "  brand=\"Nvidia\"\n"                                                               \
    "  architecture=\"Ampere\"\n"                                                        \
    "  cudaComputeCapability=v8.0.0\n"                                                   \
    "  driverVersion=v580.105.8\n"                                                       \
    "  cudaDriverVersion=v13.0.0\n"                                                      \
    "  resource.kubernetes.io/pciBusID=\"0008:06:00.0\"\n"                               \
    "  resource.kubernetes.io/pcieRoot=\"pci0008:00\"\n"

static const char SHOWN[] =
    "gpu-0 (GPU-aaaaaaaa-0000-0000-0000-000000000001)\n"
    "  type=\"gpu\"\n"
    "  uuid=\"GPU-aaaaaaaa-0000-0000-0000-000000000001\"\n"
    "  productName=\"NVIDIA H100 80GB HBM3\"\n"
    "  brand=\"Nvidia\"\n"
    "  architecture=\"Hopper\"\n"
    "  cudaComputeCapability=v9.0.0\n"
    "  driverVersion=v580.105.8\n"
    "  cudaDriverVersion=v13.0.0\n"
    "  resource.kubernetes.io/pciBusID=\"0000:0a:00.0\"\n"
    "  resource.kubernetes.io/pcieRoot=\"pci0000:00\"\n"
    "  resource.kubernetes.io/numaNode=0\n"
    "  memory: 81559Mi\n"
    "  node /dev/nvidia0\n"
    "  node /dev/nvidiactl\n"
    "  node /dev/nvidia-uvm\n" FILES
    "gpu-3-mig-3g20gb-9-0 (MIG-bbbbbbbb-0000-0000-0000-000000000001)\n"
    "  type=\"mig\"\n"
    "  uuid=\"MIG-bbbbbbbb-0000-0000-0000-000000000001\"\n"
    "  parentUUID=\"GPU-aaaaaaaa-0000-0000-0000-000000000002\"\n"
    "  profile=\"3g.20gb\"\n" A100 "  multiprocessors: 42\n"
    "  copyEngines: 3\n"
    "  decoders: 2\n"
    "  encoders: 0\n"
    "  jpegEngines: 0\n"
    "  ofaEngines: 0\n"
    "  memory: 19968Mi\n"
    "  memorySlice0: 1\n"
    "  memorySlice1: 1\n"
    "  memorySlice2: 1\n"
    "  memorySlice3: 1\n"
    "  node /dev/nvidia3\n"
    "  node /dev/nvidia-caps/nvidia-cap21\n"
    "  node /dev/nvidia-caps/nvidia-cap22\n"
    "  node /dev/nvidiactl\n"
    "  node /dev/nvidia-uvm\n" FILES
    "gpu-3-mig-1g5gbme-20-6 (MIG-bbbbbbbb-0000-0000-0000-000000000002)\n"
    "  type=\"mig\"\n"
    "  uuid=\"MIG-bbbbbbbb-0000-0000-0000-000000000002\"\n"
    "  parentUUID=\"GPU-aaaaaaaa-0000-0000-0000-000000000002\"\n"
    "  profile=\"1g.5gb+me\"\n" A100 "  multiprocessors: 14\n"
    "  copyEngines: 1\n"
    "  decoders: 1\n"
    "  encoders: 0\n"
    "  jpegEngines: 1\n"
    "  ofaEngines: 1\n"
    "  memory: 4864Mi\n"
    "  memorySlice6: 1\n"
    "  node /dev/nvidia3\n"
    "  node /dev/nvidia-caps/nvidia-cap84\n"
    "  node /dev/nvidia-caps/nvidia-cap85\n"
    "  node /dev/nvidiactl\n"
    "  node /dev/nvidia-uvm\n" FILES;

struct site {
    struct tree t;
    struct arena a;
    struct driver_backend *b;
    struct driver_inventory v;
};

static void open_site(struct site *s)
{
    struct err e = ERR_INIT;
    *s = (struct site){.b = NULL};
    tree_open(&s->t);
    tree_fill(&s->t, TREE);
    struct driver_discover_opts o = {STR("gpu.nvidia.com"), str_from(s->t.root), false};
    s->b = driver_backend_nvml_new(library, &o, &e);
    if (!s->b || !s->b->ops->discover(s->b, &s->a, &s->v, &e))
        fail_msg("%s", err_text(&e));
}

static void close_site(struct site *s)
{
    driver_backend_free(s->b);
    tree_close(&s->t);
    arena_fini(&s->a);
}

static void test_found(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    assert_string_equal(tree_show(&s.v, &s.a).p, SHOWN);
    close_site(&s);
}

static void test_no_library(void **state)
{
    struct driver_discover_opts o = {.driver = STR("gpu.nvidia.com")};
    struct err e = ERR_INIT;
    (void)state;
    assert_null(driver_backend_nvml_new("libdray-none.so", &o, &e));
    assert_non_null(strstr(err_text(&e), "no driver of NVIDIA"));
    err_release(&e);
}

#define CONFIG(kind, rest)                                                               \
    "{\"apiVersion\":\"resource.nvidia.com/v1beta1\",\"kind\":\"" kind "\"" rest "}"

static const struct {
    unsigned device; /* 0: a GPU, 1: a MIG device */
    const char *config, *says;
} CONFIGS[] = {
    {0, CONFIG("GpuConfig", ""), NULL},
    {0, CONFIG("GpuConfig", ",\"sharing\":{\"strategy\":\"TimeSlicing\"}"), NULL},
    {0,
     CONFIG("GpuConfig",
            ",\"sharing\":{\"strategy\":\"TimeSlicing\",\"timeSlicingConfig\":"
            "{\"interval\":\"Long\"}}"),
     NULL},
    {1, CONFIG("MigDeviceConfig", ",\"sharing\":{\"strategy\":\"TimeSlicing\"}"), NULL},
    {1, CONFIG("GpuConfig", ""),
     "kind: \"GpuConfig\": MigDeviceConfig is wanted for a "
     "MIG device"},
    {0, "{}", "apiVersion is missing: resource.nvidia.com/v1beta1 is wanted"},
    {0, "[]", "the configuration: a map is wanted"},
    {0, CONFIG("GpuConfig", ",\"share\":1"), "GpuConfig has no field \"share\""},
    {0, CONFIG("GpuConfig", ",\"sharing\":{\"strategy\":\"Slices\"}"),
     "sharing.strategy: \"Slices\": TimeSlicing is wanted"},
    {0, CONFIG("GpuConfig", ",\"sharing\":{\"strategy\":\"MPS\"}"),
     "sharing.strategy: \"MPS\": this driver has no MPS; TimeSlicing is to be had"},
    {0,
     CONFIG("GpuConfig",
            ",\"sharing\":{\"strategy\":\"TimeSlicing\",\"timeSlicingConfig\":"
            "{\"interval\":\"Never\"}}"),
     "sharing.timeSlicingConfig.interval: \"Never\": Default, Short, Medium or Long is "
     "wanted"},
};

static void test_configs(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    for (size_t i = 0; i < UNIT_COUNT(CONFIGS); i++) {
        struct doc_source src = {.name = "config", .text = str_from(CONFIGS[i].config)};
        struct doc d;
        const struct doc *list[] = {&d};
        struct err e = ERR_INIT;
        struct driver_use u = {
            .device = &s.v.devices[CONFIGS[i].device], .configs = list, .nconfigs = 1};
        assert_true(doc_read_json(&src, &s.a, &d, NULL));
        bool ok = s.b->ops->check(s.b, &u, &e);
        ROW(CONFIGS[i].config, ok == !CONFIGS[i].says);
        if (!ok && !strstr(err_text(&e), CONFIGS[i].says))
            fail_msg("%s\n got  %s\n want %s", CONFIGS[i].config, err_text(&e),
                     CONFIGS[i].says);
        err_release(&e);
    }
    close_site(&s);
}

/* ---- health ---- */

static void tell(struct site *s, unsigned card, unsigned xid, unsigned instance)
{
    void (*fn)(unsigned card, unsigned xid, unsigned instance);
    void *lib = dlopen(library, RTLD_NOW), *at = dlsym(lib, "fake_nvml_tell");
    struct err e = ERR_INIT;
    assert_non_null(at);
    memcpy(&fn, &at, sizeof fn);
    fn(card, xid, instance);
    struct pollfd p = {s->b->ops->watch(s->b), POLLIN, 0};
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_true(s->b->ops->discover(s->b, &s->a, &s->v, &e));
    assert_int_equal(poll(&p, 1, 0), 0);
    dlclose(lib);
}

static const char *health(const struct site *s)
{
    struct strbuf b = STRBUF_INIT;
    for (uint32_t i = 0; i < s->v.ndevices; i++)
        strbuf_addf(&b, "%.*s%s", STR_ARG(s->v.devices[i].health_message),
                    s->v.devices[i].ntaints ? "! " : "- ");
    struct str text = arena_str((struct arena *)&s->a, strbuf_str(&b));
    strbuf_release(&b);
    return text.p;
}

/* One instance, the whole of a GPU, another GPU; a program's fault is none. */
static void test_health(void **state)
{
    struct site s;
    (void)state;
    open_site(&s);
    assert_string_equal(health(&s), "- - - ");
    tell(&s, 1, 94, 9);
    assert_string_equal(health(&s), "- - XID 94! ");
    tell(&s, 0, 79, 0xffffffff);
    assert_string_equal(health(&s), "XID 79! - XID 94! ");
    tell(&s, 1, 48, 0xffffffff);
    assert_string_equal(health(&s), "XID 79! XID 48! XID 48! ");
    tell(&s, 1, 94, 9); /* the last word, though it was said before */
    assert_string_equal(health(&s), "XID 79! XID 48! XID 94! ");
    tell(&s, 1, 48, 0xffffffff);
    assert_string_equal(health(&s), "XID 79! XID 48! XID 48! ");
    close_site(&s);
}

/* ---- time slices ---- */

/* In the place of NVIDIA's: writes down what it is told. */
static void put_smi(struct site *s, const char *status)
{
    const char *path = arena_printf(&s->a, "%s/smi/nvidia-smi", s->t.root).p;
    tree_file(&s->t, "/smi/nvidia-smi",
              arena_printf(&s->a, "#!/bin/sh\necho \"$@\" >>%s/said\nexit %s\n",
                           s->t.root, status)
                  .p);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("PATH", arena_printf(&s->a, "%s/smi:/usr/bin:/bin", s->t.root).p, 1);
}

/* The last thing it was told; "" nothing. It forgets. */
static const char *said(struct site *s)
{
    const char *path = arena_printf(&s->a, "%s/said", s->t.root).p;
    struct str text = STR("");
    disk_read(path, 1 << 16, &s->a, &text, NULL);
    unlink(path);
    size_t at = str_rfind_byte(text, '=');
    return at == SIZE_MAX ? "" : arena_str(&s->a, str_trim(str_sub(text, at, text.n))).p;
}

static void test_time_slices(void **state)
{
    static const char LONG[] =
        CONFIG("GpuConfig", ",\"sharing\":{\"strategy\":\"TimeSlicing\","
                            "\"timeSlicingConfig\":{\"interval\":\"Long\"}}");
    struct site s;
    struct err e = ERR_INIT;
    (void)state;
    open_site(&s);
    put_smi(&s, "0");
    struct doc_source src = {.name = "config", .text = str_from(LONG)};
    struct doc d;
    const struct doc *list[] = {&d};
    assert_true(doc_read_json(&src, &s.a, &d, NULL));
    const struct driver_device *gpu = &s.v.devices[0];
    struct driver_use use = {.device = gpu, .configs = list, .nconfigs = 1};
    struct cdi_edits edits = gpu->edits;
    struct driver_undo undo = {.identity = gpu->identity, .last = true};
    assert_true(s.b->ops->prepare(s.b, &use, &s.a, &edits, &undo.state, &e));
    assert_string_equal(said(&s), "=3");
    assert_true(s.b->ops->unprepare(s.b, &undo, &e));
    assert_string_equal(said(&s), "=0");
    use.admin = true;
    undo.state = STR_NONE;
    assert_true(s.b->ops->prepare(s.b, &use, &s.a, &edits, &undo.state, &e));
    assert_string_equal(said(&s), "");
    assert_int_equal(undo.state.n, 0);
    use.admin = false;
    /* The process died before the state was written down. */
    undo.state = STR_NONE;
    assert_true(s.b->ops->unprepare(s.b, &undo, &e));
    assert_string_equal(said(&s), "");
    undo.cut_short = true;
    assert_true(s.b->ops->unprepare(s.b, &undo, &e));
    assert_string_equal(said(&s), "=0");
    put_smi(&s, "1");
    assert_true(s.b->ops->unprepare(s.b, &undo, &e));
    undo.identity = s.v.devices[1].identity;
    said(&s);
    assert_true(s.b->ops->unprepare(s.b, &undo, &e));
    assert_string_equal(said(&s), "");
    assert_false(s.b->ops->prepare(s.b, &use, &s.a, &edits, &undo.state, &e));
    err_release(&e);
    close_site(&s);
}

static void lose(unsigned cards)
{
    void (*fn)(unsigned cards);
    void *lib = dlopen(library, RTLD_NOW), *at = dlsym(lib, "fake_nvml_lose");
    assert_non_null(at);
    memcpy(&fn, &at, sizeof fn);
    fn(cards);
    dlclose(lib);
}

/* GPUs that have fallen off the bus keep their names and get a taint, until they are
 * back.
 */
static void test_lost(void **state)
{
    struct site s;
    struct err e = ERR_INIT;
    (void)state;
    open_site(&s);
    lose(3);
    assert_true(s.b->ops->discover(s.b, &s.a, &s.v, &e));
    assert_string_equal(health(&s),
                        "the GPU is lost! the GPU is lost! the GPU is lost! ");
    assert_true(str_is(s.v.devices[0].name, "gpu-0"));
    assert_true(str_is(s.v.devices[2].name, "gpu-3-mig-1g5gbme-20-6"));
    assert_true(str_is(s.v.devices[0].taints[0].key, "gpu.nvidia.com/gpu-lost"));
    for (uint32_t i = 0; i < s.v.ndevices; i++) {
        struct driver_use u = {.device = &s.v.devices[i]};
        struct cdi_edits edits = s.v.devices[i].edits;
        struct str text = STR_NONE;
        assert_false(s.b->ops->prepare(s.b, &u, &s.a, &edits, &text, &e));
        assert_string_equal(err_text(&e), "the GPU is lost");
        err_release(&e);
    }
    lose(2);
    assert_true(s.b->ops->discover(s.b, &s.a, &s.v, &e));
    assert_string_equal(health(&s), "- the GPU is lost! the GPU is lost! ");
    lose(0);
    assert_true(s.b->ops->discover(s.b, &s.a, &s.v, &e));
    assert_string_equal(health(&s), "- - - ");
    close_site(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),   cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_configs), cmocka_unit_test(test_health),
        cmocka_unit_test(test_lost),    cmocka_unit_test(test_time_slices),
    };
    library = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
