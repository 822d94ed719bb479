/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml.h"

/* ---- nodes ---- */

static void add_if_there(struct found *f, struct found_device *d, const char *path)
{
    if (sysfs_exists(&f->sysfs, "%s", path))
        found_node(f, d, "%s", path);
}

/* The kernel says by which node a capability is opened: "DeviceFileMinor: 3". */
static void add_capability(struct found *f, struct found_device *d, struct str path)
{
    struct str text = sysfs_text(&f->sysfs, "%.*s/access", STR_ARG(path));
    struct str minor = sysfs_field(text, "DeviceFileMinor", ':');
    if (minor.n)
        found_node(f, d, "/dev/nvidia-caps/nvidia-cap%.*s", STR_ARG(minor));
}

static void add_capabilities(struct found *f, struct found_device *d, unsigned minor,
                             struct nvml_mig mig)
{
    struct str instance = arena_printf(
        f->a, "/proc/driver/nvidia/capabilities/gpu%u/mig/gi%u", minor, mig.gpu_instance);
    add_capability(f, d, instance);
    add_capability(
        f, d, arena_printf(f->a, "%.*s/ci%u", STR_ARG(instance), mig.compute_instance));
}

void nvml_add_nodes(struct found *f, struct found_device *d, unsigned minor,
                    struct nvml_mig mig)
{
    static const char *const SHARED[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                         "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};
    found_node(f, d, "/dev/nvidia%u", minor);
    if (mig.is)
        add_capabilities(f, d, minor, mig);
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        add_if_there(f, d, SHARED[i]);
}

/* ---- libraries and programs ---- */

/* Names before and behind the version of the driver, and the one that programs load. */
static const struct {
    const char *name, *loaded;
} LIBRARIES[] = {
    {"libcuda.so", "libcuda.so.1"},
    {"libnvidia-ml.so", "libnvidia-ml.so.1"},
    {"libnvidia-ptxjitcompiler.so", "libnvidia-ptxjitcompiler.so.1"},
    {"libnvidia-nvvm.so", "libnvidia-nvvm.so.4"},
    {"libcudadebugger.so", "libcudadebugger.so.1"},
    {"libnvidia-cfg.so", "libnvidia-cfg.so.1"},
    {"libnvidia-opencl.so", "libnvidia-opencl.so.1"},
    {"libnvcuvid.so", "libnvcuvid.so.1"},
    {"libnvidia-encode.so", "libnvidia-encode.so.1"},
    {"libnvidia-gpucomp.so", NULL},
};
static const char *const DIRECTORIES[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};
static const char *const PROGRAMS[] = {
    "/usr/bin/nvidia-smi", "/usr/bin/nvidia-cuda-mps-control",
    "/usr/bin/nvidia-cuda-mps-server", "/usr/bin/nvidia-persistenced"};

struct mounts {
    VEC(struct cdi_mount) v;
    struct found *f;
};

static void mount(struct mounts *m, struct str host, struct str container)
{
    static const struct str OPTIONS[] = {STR_INIT("ro"), STR_INIT("nosuid"),
                                         STR_INIT("nodev"), STR_INIT("bind")};
    struct cdi_mount x = {.host_path = host,
                          .container_path = container,
                          .options = (struct str *)OPTIONS,
                          .noptions = sizeof OPTIONS / sizeof *OPTIONS};
    vec_push_in(m->f->a, &m->v, x);
}

static void add_libraries(struct mounts *m, const char *dir, struct str version)
{
    struct arena *a = m->f->a;
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        struct str file =
            arena_printf(a, "%s/%s.%.*s", dir, LIBRARIES[i].name, STR_ARG(version));
        if (!sysfs_exists(&m->f->sysfs, "%.*s", STR_ARG(file)))
            continue;
        mount(m, file, file);
        if (LIBRARIES[i].loaded)
            mount(m, file, arena_printf(a, "%s/%s", dir, LIBRARIES[i].loaded));
    }
}

void nvml_add_files(struct found *f, struct found_device *d, struct str driver_version)
{
    struct mounts m = {.f = f};
    for (size_t i = 0; i < sizeof DIRECTORIES / sizeof *DIRECTORIES && !m.v.n; i++)
        add_libraries(&m, DIRECTORIES[i], driver_version);
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
        if (sysfs_exists(&f->sysfs, "%s", PROGRAMS[i]))
            mount(&m, str_from(PROGRAMS[i]), str_from(PROGRAMS[i]));
    d->device.edits.mounts = m.v.v;
    d->device.edits.nmounts = (uint32_t)m.v.n;
}
