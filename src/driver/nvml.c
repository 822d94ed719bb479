/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "driver/nvml_health.h"
#include "driver/nvml_known.h"

struct nvml_backend {
    struct driver_backend base;
    struct driver_discover_opts opts;
    struct nvml_api api;
    struct nvml_health *health;
    struct nvml_known known;
};

struct own { /* of a device */
    bool mig;
    struct str uuid;
};

struct gpu { /* under work */
    struct nvml_backend *b;
    struct found *f;
    nvml_device device;
    unsigned index, minor;
    struct str driver_version, cuda_version; /* of the system */
    struct str uuid, product, address;
};

static const char *const BRANDS[] = {"Unknown",    "Quadro",      "Tesla",
                                     "NVS",        "Grid",        "GeForce",
                                     "Titan",      "NvidiaVApps", "NvidiaVPC",
                                     "NvidiaVCS",  "NvidiaVWS",   "NvidiaCloudGaming",
                                     "QuadroRTX",  "NvidiaRTX",   "Nvidia",
                                     "GeForceRTX", "TitanRTX"};
static const char *const ARCHITECTURES[] = {
    [2] = "Kepler",       [3] = "Maxwell", [4] = "Pascal",
    [5] = "Volta",        [6] = "Turing",  [7] = "Ampere",
    [8] = "Ada Lovelace", [9] = "Hopper",  [10] = "Blackwell"};

static bool failed(const struct gpu *g, int rc, const char *what, struct err *e)
{
    return err_set(e, ERR_IO, "GPU %u: %s: %s", g->index, what,
                   g->b->api.error_string(rc));
}

/* ---- texts of the library ---- */

typedef int text_fn(nvml_device d, char *text, unsigned room);

static int text_of(const struct gpu *g, text_fn *fn, nvml_device d, struct str *out)
{
    char text[NVML_TEXT] = "";
    int rc = fn(d, text, sizeof text - 1);
    *out = arena_str(g->f->a, str_from(text));
    return rc;
}

static struct str name_in(const char *const *names, size_t n, long i)
{
    return i >= 0 && (size_t)i < n && names[i] ? str_from(names[i]) : STR("Unknown");
}

/* ---- what GPUs and instances have in common ---- */

static void add_common(const struct gpu *g, struct found_device *d)
{
    const struct nvml_api *api = &g->b->api;
    unsigned architecture = 0;
    int brand = 0, major = 0, minor = 0;
    found_text(g->f, d, "productName", g->product);
    if (api->brand(g->device, &brand) == NVML_OK)
        found_text(g->f, d, "brand",
                   name_in(BRANDS, sizeof BRANDS / sizeof *BRANDS, brand));
    if (api->architecture(g->device, &architecture) == NVML_OK)
        found_text(g->f, d, "architecture",
                   name_in(ARCHITECTURES, sizeof ARCHITECTURES / sizeof *ARCHITECTURES,
                           architecture));
    if (api->compute_capability(g->device, &major, &minor) == NVML_OK)
        found_version(g->f, d, "cudaComputeCapability",
                      arena_printf(g->f->a, "%d.%d", major, minor));
    found_version(g->f, d, "driverVersion", g->driver_version);
    found_version(g->f, d, "cudaDriverVersion", g->cuda_version);
    topology_pci(g->f, d, g->address);
}

static const void *own_new(struct arena *a, bool mig, struct str uuid)
{
    struct own *own = ARENA_NEW(a, struct own);
    *own = (struct own){mig, uuid};
    return own;
}

/* NVIDIA's driver publishes the XID as the taint's value. */
static void add_health(const struct gpu *g, struct found_device *d, struct nvml_mig mig)
{
    unsigned long long xid = nvml_health_xid(g->b->health, g->uuid,
                                             mig.is ? mig.gpu_instance : NVML_WHOLE_GPU);
    if (!xid)
        return;
    found_taint(g->f, d, "xid", arena_printf(g->f->a, "%llu", xid), "NoSchedule");
    d->device.health = DRIVER_UNHEALTHY;
    d->device.health_message = arena_printf(g->f->a, "XID %llu", xid);
}

static void add_device(const struct gpu *g, struct found_device *d, struct nvml_mig mig)
{
    d->device.own = own_new(g->f->a, mig.is, d->device.identity);
    nvml_add_nodes(g->f, d, g->minor, mig);
    /* What is given already is not given again by a hook of NVIDIA's runtime. */
    found_env(g->f, d, "NVIDIA_VISIBLE_DEVICES=void");
    nvml_add_files(g->f, d, g->driver_version);
    add_health(g, d, mig);
    found_add(g->f, d);
}

/* ---- a whole GPU ---- */

static bool add_gpu(const struct gpu *g, struct err *e)
{
    struct nvml_memory memory;
    int rc = g->b->api.memory(g->device, &memory);
    if (rc != NVML_OK && rc != NVML_NOT_SUPPORTED)
        return failed(g, rc, "memory", e);
    struct found_device d =
        found_begin(arena_printf(g->f->a, "gpu-%u", g->minor), g->uuid);
    found_text(g->f, &d, "type", STR("gpu"));
    found_text(g->f, &d, "uuid", g->uuid);
    add_common(g, &d);
    if (rc == NVML_OK) /* one that shares the host's has none of its own */
        found_capacity(g->f, &d, "memory", found_bytes(g->f, memory.total));
    add_device(g, &d, (struct nvml_mig){false, 0, 0});
    return true;
}

/* ---- instances ---- */

/* "NVIDIA A100-SXM4-40GB MIG 1g.5gb" */
static struct str profile_of(const struct gpu *g, nvml_device mig)
{
    struct str name;
    size_t at;
    if (text_of(g, g->b->api.name, mig, &name) != NVML_OK ||
        (at = str_find(name, STR("MIG "))) == SIZE_MAX)
        return STR_NONE;
    return str_sub(name, at + strlen("MIG "), name.n);
}

static struct str bare(struct str profile, struct arena *a)
{
    char *p = arena_alloc(a, profile.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < profile.n; i++)
        if (isalnum((unsigned char)profile.p[i]))
            p[n++] = profile.p[i];
    return (struct str){p, n};
}

static void add_capacities(const struct gpu *g, struct found_device *d,
                           const struct nvml_attributes *a,
                           const struct nvml_placement *placement)
{
    found_capacity_int(g->f, d, "multiprocessors", a->multiprocessors);
    found_capacity_int(g->f, d, "copyEngines", a->copy_engines);
    found_capacity_int(g->f, d, "decoders", a->decoders);
    found_capacity_int(g->f, d, "encoders", a->encoders);
    found_capacity_int(g->f, d, "jpegEngines", a->jpeg_engines);
    found_capacity_int(g->f, d, "ofaEngines", a->ofa_engines);
    found_capacity(g->f, d, "memory", found_bytes(g->f, a->memory_mb << 20));
    for (unsigned i = 0; i < placement->size; i++)
        found_capacity_int(
            g->f, d, arena_printf(g->f->a, "memorySlice%u", placement->start + i).p, 1);
}

static bool read_instance(const struct gpu *g, nvml_device mig, struct nvml_mig *out,
                          struct nvml_instance_info *info, struct err *e)
{
    const struct nvml_api *api = &g->b->api;
    nvml_instance instance;
    int rc = api->gpu_instance_id(mig, &out->gpu_instance);
    if (rc == NVML_OK)
        rc = api->compute_instance_id(mig, &out->compute_instance);
    if (rc == NVML_OK)
        rc = api->instance_by_id(g->device, out->gpu_instance, &instance);
    if (rc == NVML_OK)
        rc = api->instance_info(instance, info);
    return rc == NVML_OK || failed(g, rc, "MIG instance", e);
}

static bool add_instance(const struct gpu *g, nvml_device mig, struct err *e)
{
    struct nvml_mig at = {.is = true};
    struct nvml_instance_info info = {0};
    struct nvml_attributes attributes = {0};
    struct str uuid, profile = profile_of(g, mig);
    int rc = text_of(g, g->b->api.uuid, mig, &uuid);
    if (rc == NVML_OK)
        rc = g->b->api.attributes(mig, &attributes);
    if (rc != NVML_OK)
        return failed(g, rc, "MIG device", e);
    if (!read_instance(g, mig, &at, &info, e))
        return false;
    struct str name = arena_printf(g->f->a, "gpu-%u-mig-%.*s-%u-%u", g->minor,
                                   STR_ARG(bare(profile, g->f->a)), info.profile_id,
                                   info.placement.start);
    struct found_device d = found_begin(name, uuid);
    found_text(g->f, &d, "type", STR("mig"));
    found_text(g->f, &d, "uuid", uuid);
    found_text(g->f, &d, "parentUUID", g->uuid);
    found_text(g->f, &d, "profile", profile);
    add_common(g, &d);
    add_capacities(g, &d, &attributes, &info.placement);
    add_device(g, &d, at);
    return true;
}

static bool add_instances(const struct gpu *g, struct err *e)
{
    unsigned n = 0;
    nvml_device mig;
    int rc = g->b->api.mig_max(g->device, &n);
    if (rc != NVML_OK)
        return failed(g, rc, "MIG", e);
    for (unsigned i = 0; i < n; i++) {
        rc = g->b->api.mig_by_index(g->device, i, &mig);
        if (rc == NVML_NOT_FOUND)
            continue;
        if (rc != NVML_OK)
            return failed(g, rc, "MIG", e);
        if (!add_instance(g, mig, e))
            return false;
    }
    return true;
}

/* ---- discovery ---- */

static int read_gpu(struct gpu *g)
{
    const struct nvml_api *api = &g->b->api;
    struct nvml_pci_info pci = {{0}};
    int rc = api->by_index(g->index, &g->device);
    if (rc == NVML_OK)
        rc = text_of(g, api->uuid, g->device, &g->uuid);
    if (rc == NVML_OK)
        rc = text_of(g, api->name, g->device, &g->product);
    if (rc == NVML_OK)
        rc = api->minor(g->device, &g->minor);
    if (rc == NVML_OK)
        rc = api->pci_info(g->device, &pci);
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    g->address = topology_address(str_from(pci.bus_id), g->f->a);
    return rc;
}

/* All of the GPU was found: from the first of these devices on. */
static void know(const struct gpu *g, size_t first)
{
    nvml_known_forget(&g->b->known, g->index);
    for (size_t i = first; i < g->f->devices.n; i++) {
        const struct driver_device *d = &g->f->devices.v[i];
        const struct own *own = d->own;
        nvml_known_add(&g->b->known, g->index, own->mig, d);
    }
}

static bool add_one(struct gpu *g, struct err *e)
{
    struct nvml_backend *b = g->b;
    unsigned mode = 0, pending = 0;
    size_t first = g->f->devices.n;
    int rc = read_gpu(g);
    if (rc == NVML_GPU_IS_LOST && nvml_known_lost(&b->known, g->index, g->f, own_new))
        return true;
    if (rc != NVML_OK)
        return failed(g, rc, "what it is", e);
    rc = b->api.mig_mode(g->device, &mode, &pending);
    if (!(rc == NVML_OK && mode ? add_instances(g, e) : add_gpu(g, e)))
        return false;
    know(g, first);
    return true;
}

static void read_versions(struct gpu *g)
{
    char text[NVML_TEXT] = "";
    int cuda = 0;
    g->b->api.driver_version(text, sizeof text - 1);
    g->driver_version = arena_str(g->f->a, str_from(text));
    if (g->b->api.cuda_version(&cuda) == NVML_OK)
        g->cuda_version = arena_printf(g->f->a, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

static bool discover(struct driver_backend *base, struct arena *a,
                     struct driver_inventory *out, struct err *e)
{
    struct nvml_backend *b = (struct nvml_backend *)base;
    struct found f;
    unsigned n = 0;
    nvml_health_drain(b->health);
    found_init(&f, &b->opts, a);
    struct gpu g = {.b = b, .f = &f};
    int rc = b->api.count(&n);
    if (rc != NVML_OK)
        return err_set(e, ERR_IO, "GPUs: %s", b->api.error_string(rc));
    read_versions(&g);
    for (g.index = 0; g.index < n; g.index++)
        if (!add_one(&g, e))
            return false;
    *out = found_inventory(&f);
    return true;
}

/* ---- use ---- */

static bool check(struct driver_backend *base, const struct driver_use *u, struct err *e)
{
    const struct own *own = u->device->own;
    struct nvml_config c;
    (void)base;
    return nvml_config_read(u->configs, u->nconfigs, own->mig, &c, e);
}

static bool run(const char *const *argv, struct err *e)
{
    pid_t pid;
    int status = 0,
        rc = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
    if (rc != 0)
        return err_set(e, ERR_IO, "%s: %s", argv[0], strerror(rc));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_IO, "%s: %s", argv[0], strerror(errno));
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(e, ERR_IO, "%s %s failed", argv[0], argv[1]);
}

/* The library has no function for it. */
static bool set_time_slice(struct str uuid, int slice, struct err *e)
{
    char device[NVML_TEXT], value[32];
    snprintf(device, sizeof device, "%.*s", STR_ARG(uuid));
    snprintf(value, sizeof value, "--set-timeslice=%d", slice);
    const char *const argv[] = {"nvidia-smi", "compute-policy", "-i", device, value,
                                NULL};
    return run(argv, e);
}

static bool set_shared(struct nvml_backend *b, struct str uuid, struct err *e)
{
    char text[NVML_TEXT];
    nvml_device d;
    snprintf(text, sizeof text, "%.*s", STR_ARG(uuid));
    int rc = b->api.by_uuid(text, &d);
    if (rc == NVML_OK)
        rc = b->api.set_compute_mode(d, NVML_COMPUTE_DEFAULT);
    return rc == NVML_OK || err_set(e, ERR_IO, "%s: %s", text, b->api.error_string(rc));
}

static const char SLICED[] = "{\"timeSlice\":true}";

/* A MIG instance has no time slices of its own to set: its processes take turns. An
 * administrator changes nothing for whoever has the GPU. */
static bool prepare(struct driver_backend *base, const struct driver_use *u,
                    struct arena *a, struct cdi_edits *edits, struct str *state,
                    struct err *e)
{
    const struct own *own = u->device->own;
    struct nvml_config c;
    if (!edits->nnodes) /* nvml_known_lost */
        return err_set(e, ERR_NOT_FOUND, "the GPU is lost");
    if (!nvml_config_read(u->configs, u->nconfigs, own->mig, &c, e))
        return false;
    if (c.strategy == NVML_EXCLUSIVE || own->mig || u->admin)
        return true;
    if (!set_shared((struct nvml_backend *)base, own->uuid, e) ||
        !set_time_slice(own->uuid, c.time_slice, e))
        return false;
    *state = arena_str(a, STR(SLICED));
    return true;
}

/* Nobody has said that it was. */
static bool may_be_sliced(const struct driver_undo *u)
{
    return u->cut_short && !u->admin && !u->state.n &&
           str_starts(u->identity, STR("GPU-"));
}

static bool unprepare(struct driver_backend *base, const struct driver_undo *u,
                      struct err *e)
{
    struct nvml_backend *b = (struct nvml_backend *)base;
    bool sliced = str_is(u->state, SLICED);
    char uuid[NVML_TEXT];
    nvml_device d;
    if ((!sliced && !may_be_sliced(u)) || !u->last)
        return true;
    snprintf(uuid, sizeof uuid, "%.*s", STR_ARG(u->identity));
    if (b->api.by_uuid(uuid, &d) != NVML_OK)
        return true; /* one that is gone has no time slice */
    /* What may never have been done is no reason to keep the device. */
    return set_time_slice(u->identity, 0, sliced ? e : NULL) || !sliced;
}

static void nvml_free(struct driver_backend *base)
{
    struct nvml_backend *b = (struct nvml_backend *)base;
    nvml_health_free(b->health);
    nvml_known_fini(&b->known);
    nvml_close(&b->api);
    free(b);
}

static int watch(struct driver_backend *base)
{
    return nvml_health_fd(((struct nvml_backend *)base)->health);
}

static const struct driver_backend_ops OPS = {.name = "nvml",
                                              .free = nvml_free,
                                              .discover = discover,
                                              .watch = watch,
                                              .check = check,
                                              .prepare = prepare,
                                              .unprepare = unprepare};

struct driver_backend *driver_backend_nvml_new(const char *library,
                                               const struct driver_discover_opts *o,
                                               struct err *e)
{
    struct nvml_backend *b = mem_zalloc(sizeof *b);
    *b = (struct nvml_backend){.base = {&OPS}, .opts = *o};
    if (!nvml_open(&b->api, library, e)) {
        free(b);
        return NULL;
    }
    b->health = nvml_health_new(&b->api);
    return &b->base;
}
