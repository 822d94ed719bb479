/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml_api.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} SYMBOLS[] = {
#define SYMBOL(name, member)                                                             \
    {                                                                                    \
        name, offsetof(struct nvml_api, member)                                          \
    }
    SYMBOL("nvmlInit_v2", init),
    SYMBOL("nvmlShutdown", shutdown),
    SYMBOL("nvmlErrorString", error_string),
    SYMBOL("nvmlSystemGetDriverVersion", driver_version),
    SYMBOL("nvmlSystemGetCudaDriverVersion_v2", cuda_version),
    SYMBOL("nvmlDeviceGetCount_v2", count),
    SYMBOL("nvmlDeviceGetHandleByIndex_v2", by_index),
    SYMBOL("nvmlDeviceGetHandleByUUID", by_uuid),
    SYMBOL("nvmlDeviceGetUUID", uuid),
    SYMBOL("nvmlDeviceGetName", name),
    SYMBOL("nvmlDeviceGetMinorNumber", minor),
    SYMBOL("nvmlDeviceGetBrand", brand),
    SYMBOL("nvmlDeviceGetArchitecture", architecture),
    SYMBOL("nvmlDeviceGetCudaComputeCapability", compute_capability),
    SYMBOL("nvmlDeviceGetMemoryInfo", memory),
    SYMBOL("nvmlDeviceGetPciInfo_v3", pci_info),
    SYMBOL("nvmlDeviceSetComputeMode", set_compute_mode),
    SYMBOL("nvmlDeviceGetMigMode", mig_mode),
    SYMBOL("nvmlDeviceGetMaxMigDeviceCount", mig_max),
    SYMBOL("nvmlDeviceGetMigDeviceHandleByIndex", mig_by_index),
    SYMBOL("nvmlDeviceGetAttributes_v2", attributes),
    SYMBOL("nvmlDeviceGetGpuInstanceId", gpu_instance_id),
    SYMBOL("nvmlDeviceGetComputeInstanceId", compute_instance_id),
    SYMBOL("nvmlDeviceGetGpuInstanceById", instance_by_id),
    SYMBOL("nvmlGpuInstanceGetInfo", instance_info),
    SYMBOL("nvmlEventSetCreate", events_new),
    SYMBOL("nvmlDeviceRegisterEvents", events_register),
    SYMBOL("nvmlEventSetWait_v2", events_wait),
    SYMBOL("nvmlEventSetFree", events_free),
#undef SYMBOL
};

static bool load(struct nvml_api *api, const char *path, struct err *e)
{
    for (size_t i = 0; i < sizeof SYMBOLS / sizeof *SYMBOLS; i++) {
        void *fn = dlsym(api->library, SYMBOLS[i].name);
        if (!fn)
            return err_set(e, ERR_UNSUPPORTED, "%s has no %s: the driver is too old",
                           path, SYMBOLS[i].name);
        memcpy((char *)api + SYMBOLS[i].at, &fn, sizeof fn);
    }
    int rc = api->init();
    return rc == NVML_OK || err_set(e, ERR_IO, "%s: %s", path, api->error_string(rc));
}

bool nvml_open(struct nvml_api *api, const char *path, struct err *e)
{
    const char *name = path ? path : "libnvidia-ml.so.1";
    *api = (struct nvml_api){.library = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (!api->library)
        return err_set(e, ERR_NOT_FOUND, "no driver of NVIDIA: %s", dlerror());
    if (load(api, name, e))
        return true;
    dlclose(api->library);
    api->library = NULL;
    return false;
}

void nvml_close(struct nvml_api *api)
{
    if (!api->library)
        return;
    api->shutdown();
    dlclose(api->library);
    api->library = NULL;
}
