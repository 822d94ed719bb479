/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/nvml.h"

static const char API_VERSION[] = "resource.nvidia.com/v1beta1";

static bool bad(struct err *e, const char *path, const struct doc *d, const char *right)
{
    if (!d)
        return err_set(e, ERR_INVALID, "%s is missing: %s", path, right);
    if (d->type == DOC_STRING || d->type == DOC_NUMBER)
        return err_set(e, ERR_INVALID, "%s: \"%.*s\": %s", path, STR_ARG(doc_str(d)),
                       right);
    return err_set(e, ERR_INVALID, "%s: %s", path, right);
}

/* A map with no other fields than these; NULL ends them. */
static bool is_map(const struct doc *d, const char *path, const char *const *fields,
                   struct err *e)
{
    if (d->type != DOC_MAP)
        return bad(e, path, d, "a map is wanted");
    for (uint32_t i = 0; i < d->n; i++) {
        const char *const *f = fields;
        while (*f && !str_is(doc_key(&d->members[i]), *f))
            f++;
        if (!*f)
            return err_set(e, ERR_INVALID, "%s has no field \"%.*s\"", path,
                           STR_ARG(doc_key(&d->members[i])));
    }
    return true;
}

static const struct doc *member(const struct doc *d, const char *key)
{
    const struct doc *m = doc_get(d, key);
    return m && m->type != DOC_NULL ? m : NULL;
}

static bool read_interval(const struct doc *d, struct nvml_config *out, struct err *e)
{
    static const char *const FIELDS[] = {"interval", NULL};
    static const char *const WORDS[] = {"Default", "Short", "Medium", "Long"};
    const struct doc *interval = member(d, "interval");
    if (!is_map(d, "sharing.timeSlicingConfig", FIELDS, e))
        return false;
    for (int i = 0; i < 4; i++)
        if (!interval || doc_is_string(interval, WORDS[i])) {
            out->time_slice = i;
            return true;
        }
    return bad(e, "sharing.timeSlicingConfig.interval", interval,
               "Default, Short, Medium or Long is wanted");
}

static bool read_sharing(const struct doc *d, bool mig, struct nvml_config *out,
                         struct err *e)
{
    static const char *const FIELDS[] = {"strategy", "timeSlicingConfig", "mpsConfig",
                                         NULL};
    const struct doc *strategy = member(d, "strategy"),
                     *slices = member(d, "timeSlicingConfig"),
                     *mps = member(d, "mpsConfig");
    if (!is_map(d, "sharing", FIELDS, e))
        return false;
    if (doc_is_string(strategy, "MPS"))
        return bad(e, "sharing.strategy", strategy,
                   "this driver has no MPS; TimeSlicing is to be had");
    if (!doc_is_string(strategy, "TimeSlicing"))
        return bad(e, "sharing.strategy", strategy, "TimeSlicing is wanted");
    if (mps)
        return bad(e, "sharing.mpsConfig", mps, "not with strategy TimeSlicing");
    if (mig && slices)
        return bad(e, "sharing.timeSlicingConfig", slices,
                   "a MIG device has no time slices to set");
    out->strategy = NVML_TIME_SLICING;
    return !slices || read_interval(slices, out, e);
}

static bool read_one(const struct doc *d, bool mig, struct nvml_config *out,
                     struct err *e)
{
    static const char *const FIELDS[] = {"apiVersion", "kind", "sharing", NULL};
    const char *kind = mig ? "MigDeviceConfig" : "GpuConfig";
    const struct doc *sharing = member(d, "sharing");
    if (d->type != DOC_MAP)
        return bad(e, "the configuration", d, "a map is wanted");
    if (!doc_is_string(doc_get(d, "apiVersion"), API_VERSION))
        return bad(e, "apiVersion", doc_get(d, "apiVersion"),
                   "resource.nvidia.com/v1beta1 is wanted");
    if (!doc_is_string(doc_get(d, "kind"), kind))
        return bad(e, "kind", doc_get(d, "kind"),
                   mig ? "MigDeviceConfig is wanted for a MIG device"
                       : "GpuConfig is wanted for a GPU");
    *out = (struct nvml_config){.strategy = NVML_EXCLUSIVE};
    return is_map(d, kind, FIELDS, e) && (!sharing || read_sharing(sharing, mig, out, e));
}

bool nvml_config_read(const struct doc *const *configs, uint32_t n, bool mig,
                      struct nvml_config *out, struct err *e)
{
    struct nvml_config c = {.strategy = NVML_EXCLUSIVE};
    for (uint32_t i = 0; i < n; i++)
        if (!read_one(configs[i], mig, &c, e))
            return err_wrap(e, "configuration for gpu.nvidia.com");
    *out = c;
    return true;
}
