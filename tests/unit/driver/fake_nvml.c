/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library in the place of libnvidia-ml.so.1: a whole GPU and one that is divided, with
 * the answers that NVIDIA's public documentation and nvidia-smi show for such machines.
 */
#include <string.h>
#include <unistd.h>

#include "driver/nvml_api.h"

struct card {
    const char *uuid, *name, *bus;
    unsigned minor, architecture, mig_mode;
    int brand, major, minor_capability;
    unsigned long long memory;
};
static const struct card CARDS[] = {
    {"GPU-aaaaaaaa-0000-0000-0000-000000000001", "NVIDIA H100 80GB HBM3",
     "00000000:0A:00.0", 0, 9, 0, 14, 9, 0, 81559ull << 20},
    {"GPU-aaaaaaaa-0000-0000-0000-000000000002", "NVIDIA A100-SXM4-40GB",
     "00000008:06:00.0", 3, 7, 1, 14, 8, 0, 40960ull << 20},
};
enum { NCARDS = sizeof CARDS / sizeof *CARDS };

struct part {
    struct card card;
    unsigned gi, ci, profile, start, size;
    struct nvml_attributes attributes;
};
static const struct part PARTS[] = {
    {{"MIG-bbbbbbbb-0000-0000-0000-000000000001", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "",
      3, 7, 0, 14, 8, 0, 0},
     2,
     0,
     9,
     0,
     4,
     {42, 3, 2, 0, 0, 0, 3, 3, 19968}},
    {{"MIG-bbbbbbbb-0000-0000-0000-000000000002", "NVIDIA A100-SXM4-40GB MIG 1g.5gb+me",
      "", 3, 7, 0, 14, 8, 0, 0},
     9,
     0,
     20,
     6,
     1,
     {14, 1, 1, 0, 1, 1, 1, 1, 4864}},
};
enum { NPARTS = sizeof PARTS / sizeof *PARTS };

#define API(name) __attribute__((visibility("default"))) int name
#define CARD(d) ((const struct card *)(const void *)(d))

static int text(const char *from, char *to, unsigned room)
{
    if (strlen(from) >= room)
        return 7;
    memcpy(to, from, strlen(from) + 1);
    return NVML_OK;
}

API(nvmlInit_v2)(void);
API(nvmlInit_v2)(void)
{
    return NVML_OK;
}
API(nvmlShutdown)(void);
API(nvmlShutdown)(void)
{
    return NVML_OK;
}
__attribute__((visibility("default"))) const char *nvmlErrorString(int result);
__attribute__((visibility("default"))) const char *nvmlErrorString(int result)
{
    return result == NVML_NOT_SUPPORTED ? "Not Supported" : "Unknown Error";
}
API(nvmlSystemGetDriverVersion)(char *to, unsigned room);
API(nvmlSystemGetDriverVersion)(char *to, unsigned room)
{
    return text("580.105.08", to, room);
}
API(nvmlSystemGetCudaDriverVersion_v2)(int *v);
API(nvmlSystemGetCudaDriverVersion_v2)(int *v)
{
    *v = 13000;
    return NVML_OK;
}
API(nvmlDeviceGetCount_v2)(unsigned *n);
API(nvmlDeviceGetCount_v2)(unsigned *n)
{
    *n = NCARDS;
    return NVML_OK;
}
/* Bits of cards that have fallen off the bus. */
static _Atomic unsigned lost;
__attribute__((visibility("default"))) void fake_nvml_lose(unsigned cards);
__attribute__((visibility("default"))) void fake_nvml_lose(unsigned cards)
{
    lost = cards;
}
API(nvmlDeviceGetHandleByIndex_v2)(unsigned i, const struct card **d);
API(nvmlDeviceGetHandleByIndex_v2)(unsigned i, const struct card **d)
{
    if (lost >> i & 1)
        return NVML_GPU_IS_LOST;
    *d = &CARDS[i];
    return NVML_OK;
}
API(nvmlDeviceGetHandleByUUID)(const char *uuid, const struct card **d);
API(nvmlDeviceGetHandleByUUID)(const char *uuid, const struct card **d)
{
    for (unsigned i = 0; i < NCARDS; i++)
        if (strcmp(uuid, CARDS[i].uuid) == 0) {
            *d = &CARDS[i];
            return NVML_OK;
        }
    return NVML_NOT_FOUND;
}
API(nvmlDeviceGetUUID)(nvml_device d, char *to, unsigned room);
API(nvmlDeviceGetUUID)(nvml_device d, char *to, unsigned room)
{
    return text(CARD(d)->uuid, to, room);
}
API(nvmlDeviceGetName)(nvml_device d, char *to, unsigned room);
API(nvmlDeviceGetName)(nvml_device d, char *to, unsigned room)
{
    return text(CARD(d)->name, to, room);
}
API(nvmlDeviceGetMinorNumber)(nvml_device d, unsigned *n);
API(nvmlDeviceGetMinorNumber)(nvml_device d, unsigned *n)
{
    *n = CARD(d)->minor;
    return NVML_OK;
}
API(nvmlDeviceGetBrand)(nvml_device d, int *n);
API(nvmlDeviceGetBrand)(nvml_device d, int *n)
{
    *n = CARD(d)->brand;
    return NVML_OK;
}
API(nvmlDeviceGetArchitecture)(nvml_device d, unsigned *n);
API(nvmlDeviceGetArchitecture)(nvml_device d, unsigned *n)
{
    *n = CARD(d)->architecture;
    return NVML_OK;
}
API(nvmlDeviceGetCudaComputeCapability)(nvml_device d, int *major, int *minor);
API(nvmlDeviceGetCudaComputeCapability)(nvml_device d, int *major, int *minor)
{
    *major = CARD(d)->major;
    *minor = CARD(d)->minor_capability;
    return NVML_OK;
}
API(nvmlDeviceGetMemoryInfo)(nvml_device d, struct nvml_memory *m);
API(nvmlDeviceGetMemoryInfo)(nvml_device d, struct nvml_memory *m)
{
    *m = (struct nvml_memory){.total = CARD(d)->memory};
    return NVML_OK;
}
API(nvmlDeviceGetPciInfo_v3)(nvml_device d, struct nvml_pci_info *p);
API(nvmlDeviceGetPciInfo_v3)(nvml_device d, struct nvml_pci_info *p)
{
    return text(CARD(d)->bus, p->bus_id, sizeof p->bus_id);
}
API(nvmlDeviceSetComputeMode)(nvml_device d, int mode);
API(nvmlDeviceSetComputeMode)(nvml_device d, int mode)
{
    (void)d;
    return mode == NVML_COMPUTE_DEFAULT ? NVML_OK : NVML_NOT_SUPPORTED;
}
API(nvmlDeviceGetMigMode)(nvml_device d, unsigned *now, unsigned *then);
API(nvmlDeviceGetMigMode)(nvml_device d, unsigned *now, unsigned *then)
{
    *now = *then = CARD(d)->mig_mode;
    return NVML_OK;
}
API(nvmlDeviceGetMaxMigDeviceCount)(nvml_device d, unsigned *n);
API(nvmlDeviceGetMaxMigDeviceCount)(nvml_device d, unsigned *n)
{
    (void)d;
    *n = 7;
    return NVML_OK;
}
API(nvmlDeviceGetMigDeviceHandleByIndex)
(nvml_device d, unsigned i, const struct part **m);
API(nvmlDeviceGetMigDeviceHandleByIndex)(nvml_device d, unsigned i, const struct part **m)
{
    (void)d;
    if (i % 3 || i / 3 >= NPARTS)
        return NVML_NOT_FOUND;
    *m = &PARTS[i / 3];
    return NVML_OK;
}
API(nvmlDeviceGetAttributes_v2)(const struct part *m, struct nvml_attributes *a);
API(nvmlDeviceGetAttributes_v2)(const struct part *m, struct nvml_attributes *a)
{
    *a = m->attributes;
    return NVML_OK;
}
API(nvmlDeviceGetGpuInstanceId)(const struct part *m, unsigned *n);
API(nvmlDeviceGetGpuInstanceId)(const struct part *m, unsigned *n)
{
    *n = m->gi;
    return NVML_OK;
}
API(nvmlDeviceGetComputeInstanceId)(const struct part *m, unsigned *n);
API(nvmlDeviceGetComputeInstanceId)(const struct part *m, unsigned *n)
{
    *n = m->ci;
    return NVML_OK;
}
API(nvmlDeviceGetGpuInstanceById)(nvml_device d, unsigned id, const struct part **out);
API(nvmlDeviceGetGpuInstanceById)(nvml_device d, unsigned id, const struct part **out)
{
    (void)d;
    for (unsigned i = 0; i < NPARTS; i++)
        if (PARTS[i].gi == id) {
            *out = &PARTS[i];
            return NVML_OK;
        }
    return NVML_NOT_FOUND;
}
API(nvmlGpuInstanceGetInfo)(const struct part *m, struct nvml_instance_info *i);
API(nvmlGpuInstanceGetInfo)(const struct part *m, struct nvml_instance_info *i)
{
    *i = (struct nvml_instance_info){
        .id = m->gi, .profile_id = m->profile, .placement = {m->start, m->size}};
    return NVML_OK;
}
API(nvmlEventSetCreate)(nvml_events *e);
API(nvmlEventSetCreate)(nvml_events *e)
{
    *e = NULL;
    return NVML_OK;
}
API(nvmlDeviceRegisterEvents)(nvml_device d, unsigned long long types, nvml_events e);
API(nvmlDeviceRegisterEvents)(nvml_device d, unsigned long long types, nvml_events e)
{
    (void)d;
    (void)types;
    (void)e;
    return NVML_OK;
}
/* What nobody has heard yet: a card, an XID, an instance. */
static _Atomic unsigned long long told;
__attribute__((visibility("default"))) void fake_nvml_tell(unsigned card, unsigned xid,
                                                           unsigned instance);
__attribute__((visibility("default"))) void fake_nvml_tell(unsigned card, unsigned xid,
                                                           unsigned instance)
{
    told = (unsigned long long)card << 56 | (unsigned long long)xid << 32 | instance;
}
API(nvmlEventSetWait_v2)(nvml_events e, struct nvml_event *event, unsigned ms);
API(nvmlEventSetWait_v2)(nvml_events e, struct nvml_event *event, unsigned ms)
{
    (void)e;
    for (unsigned i = 0; i < ms; i++) {
        unsigned long long t = told;
        if (t) {
            *event = (struct nvml_event){.device = (nvml_device)(void *)&CARDS[t >> 56],
                                         .type = NVML_EVENT_XID,
                                         .data = t >> 32 & 0xffffff,
                                         .gpu_instance = (unsigned)t};
            told = 0;
            return NVML_OK;
        }
        usleep(1000);
    }
    return NVML_TIMEOUT;
}
API(nvmlEventSetFree)(nvml_events e);
API(nvmlEventSetFree)(nvml_events e)
{
    (void)e;
    return NVML_OK;
}
