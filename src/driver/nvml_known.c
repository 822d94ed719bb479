/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml_known.h"

#include <stdio.h>

void nvml_known_fini(struct nvml_known *k)
{
    vec_release(&k->devices);
}

void nvml_known_forget(struct nvml_known *k, unsigned gpu)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->devices.n; i++)
        if (k->devices.v[i].gpu != gpu)
            k->devices.v[kept++] = k->devices.v[i];
    k->devices.n = kept;
}

void nvml_known_add(struct nvml_known *k, unsigned gpu, bool mig,
                    const struct driver_device *d)
{
    struct nvml_known_device x = {.gpu = gpu, .mig = mig};
    snprintf(x.name, sizeof x.name, "%.*s", STR_ARG(d->name));
    snprintf(x.uuid, sizeof x.uuid, "%.*s", STR_ARG(d->identity));
    vec_push(&k->devices, x);
}

bool nvml_known_lost(const struct nvml_known *k, unsigned gpu, struct found *f,
                     const void *(*own)(struct arena *a, bool mig, struct str uuid))
{
    bool any = false;
    for (size_t i = 0; i < k->devices.n; i++) {
        const struct nvml_known_device *x = &k->devices.v[i];
        if (x->gpu != gpu)
            continue;
        struct str uuid = arena_str(f->a, str_from(x->uuid));
        struct found_device d = found_begin(arena_str(f->a, str_from(x->name)), uuid);
        found_text(f, &d, "type", x->mig ? STR("mig") : STR("gpu"));
        found_text(f, &d, "uuid", uuid);
        found_taint(f, &d, "gpu-lost", STR_NONE, "NoExecute");
        d.device.health = DRIVER_UNHEALTHY;
        d.device.health_message = STR("the GPU is lost");
        d.device.own = own(f->a, x->mig, uuid);
        found_add(f, &d);
        any = true;
    }
    return any;
}
