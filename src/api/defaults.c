/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaults.h"

#include "api/edit.h"

struct defaulting {
    struct arena *a;
    struct str now;
};

static bool lacks(const struct doc *d, const char *key)
{
    const struct doc *m = doc_get(d, key);
    return !m || m->type == DOC_NULL || (m->type == DOC_STRING && m->n == 0);
}

static void set_text(struct defaulting *c, struct doc *d, const char *key,
                     struct str text)
{
    doc_set(c->a, d, key, doc_make_string(c->a, text));
}

/* ---- resource.k8s.io ---- */

static void default_request(void *ctx, struct doc *request)
{
    struct defaulting *c = ctx;
    int64_t count = 0;
    if (lacks(request, "allocationMode"))
        set_text(c, request, "allocationMode", STR("ExactCount"));
    doc_get_int64(request, "count", &count);
    if (doc_is_string(doc_get(request, "allocationMode"), "ExactCount") && count == 0)
        doc_set(c->a, request, "count", doc_make_int(c->a, 1));
}

/* v1beta1: only a request that names a class is one (spec 2.12). */
static void default_flat_request(void *ctx, struct doc *request)
{
    if (!lacks(request, "deviceClassName"))
        default_request(ctx, request);
}

static void default_toleration(void *ctx, struct doc *toleration)
{
    if (lacks(toleration, "operator"))
        set_text(ctx, toleration, "operator", STR("Equal"));
}

static void default_taint(void *ctx, struct doc *taint)
{
    struct defaulting *c = ctx;
    if (lacks(taint, "timeAdded"))
        set_text(c, taint, "timeAdded", c->now);
}

static void default_limit(void *ctx, struct doc *spec)
{
    struct defaulting *c = ctx;
    if (lacks(spec, "limit"))
        doc_set(c->a, spec, "limit", doc_make_int(c->a, 100));
}

/* ---- core: what a container does not request it requests by its limits ---- */

static void default_requests(void *ctx, struct doc *resources)
{
    struct defaulting *c = ctx;
    const struct doc *limits = api_edit_get(resources, "limits");
    if (!limits || limits->type != DOC_MAP)
        return;
    if (!api_edit_get(resources, "requests"))
        doc_set(c->a, resources, "requests", doc_make_map());
    struct doc *requests = api_edit_get(resources, "requests");
    for (uint32_t i = 0; i < limits->n; i++)
        if (!doc_get_str(requests, doc_key(&limits->members[i])))
            doc_set_str(c->a, requests, doc_key(&limits->members[i]),
                        limits->members[i].value);
}

/* ---- apps: claims inside of a StatefulSet say what they are ---- */

static void default_claim_kind(void *ctx, struct doc *claim)
{
    if (lacks(claim, "kind"))
        set_text(ctx, claim, "kind", STR("PersistentVolumeClaim"));
    if (lacks(claim, "apiVersion"))
        set_text(ctx, claim, "apiVersion", STR("v1"));
}

struct rule {
    const char *kind;
    const char *version; /* NULL: every version */
    const char *place;
    api_edit_fn *fn;
};

#define CLAIM(kind, at)                                                                  \
    {kind, "v1", at "devices.requests[].exactly", default_request},                      \
        {kind, "v1beta2", at "devices.requests[].exactly", default_request},             \
        {kind, "v1beta1", at "devices.requests[]", default_flat_request},                \
        {kind, NULL, at "devices.requests[].firstAvailable[]", default_request},         \
        {kind, NULL, at "devices.requests[].exactly.tolerations[]", default_toleration}, \
        {kind, NULL, at "devices.requests[].tolerations[]", default_toleration},         \
    {                                                                                    \
        kind, NULL, at "devices.requests[].firstAvailable[].tolerations[]",              \
            default_toleration                                                           \
    }
#define PODS(kind, at)                                                                   \
    {kind, NULL, at "containers[].resources", default_requests},                         \
    {                                                                                    \
        kind, NULL, at "initContainers[].resources", default_requests                    \
    }

static const struct rule RULES[] = {
    CLAIM("ResourceClaim", "spec."),
    CLAIM("ResourceClaimTemplate", "spec.spec."),
    {"ResourceClaim", NULL, "status.allocation.devices.results[].tolerations[]",
     default_toleration},
    {"ResourceSlice", NULL, "spec.devices[].taints[]", default_taint},
    {"ResourceSlice", "v1beta1", "spec.devices[].basic.taints[]", default_taint},
    {"DeviceTaintRule", NULL, "spec.taint", default_taint},
    {"ResourcePoolStatusRequest", NULL, "spec", default_limit},
    PODS("Pod", "spec."),
    PODS("Deployment", "spec.template.spec."),
    PODS("ReplicaSet", "spec.template.spec."),
    PODS("StatefulSet", "spec.template.spec."),
    PODS("DaemonSet", "spec.template.spec."),
    PODS("Job", "spec.template.spec."),
    {"StatefulSet", NULL, "spec.volumeClaimTemplates[]", default_claim_kind},
};

void api_default(const struct api_kind *kind, struct doc *object, struct str now,
                 struct arena *a)
{
    struct defaulting c = {.a = a, .now = now};
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const struct rule *r = &RULES[i];
        if (strcmp(r->kind, kind->name) == 0 &&
            (!r->version || strcmp(r->version, kind->version) == 0))
            api_edit_each(object, r->place, r->fn, &c);
    }
}

/* ---- fields of gates ---- */

struct gated {
    uint8_t gate;
    const char *kind, *place, *field;
};

#define IN_SPECS(gate, place, field)                                                     \
    {API_GATE_##gate, "ResourceClaim", "spec." place, field},                            \
    {                                                                                    \
        API_GATE_##gate, "ResourceClaimTemplate", "spec.spec." place, field              \
    }
#define IN_REQUESTS(gate, field)                                                         \
    IN_SPECS(gate, "devices.requests[].exactly", field),                                 \
        IN_SPECS(gate, "devices.requests[].firstAvailable[]", field)
#define IN_RESULTS(gate, field)                                                          \
    {                                                                                    \
        API_GATE_##gate, "ResourceClaim", "status.allocation.devices.results[]", field   \
    }
#define IN_SLICE(gate, field)                                                            \
    {                                                                                    \
        API_GATE_##gate, "ResourceSlice", "spec", field                                  \
    }
#define IN_DEVICES(gate, place, field)                                                   \
    {                                                                                    \
        API_GATE_##gate, "ResourceSlice", "spec.devices[]" place, field                  \
    }

static const struct gated GATED[] = {
    IN_SPECS(DRAPrioritizedList, "devices.requests[]", "firstAvailable"),
    IN_REQUESTS(DRADeviceTaints, "tolerations"),
    IN_DEVICES(DRADeviceTaints, "", "taints"),
    IN_SPECS(DRAAdminAccess, "devices.requests[].exactly", "adminAccess"),
    IN_RESULTS(DRAAdminAccess, "adminAccess"),
    IN_REQUESTS(DRAConsumableCapacity, "capacity"),
    IN_SPECS(DRAConsumableCapacity, "devices.constraints[]", "distinctAttribute"),
    IN_RESULTS(DRAConsumableCapacity, "shareID"),
    IN_RESULTS(DRAConsumableCapacity, "consumedCapacity"),
    {API_GATE_DRAConsumableCapacity, "ResourceClaim", "status.devices[]", "shareID"},
    IN_DEVICES(DRAConsumableCapacity, "", "allowMultipleAllocations"),
    IN_DEVICES(DRAConsumableCapacity, ".capacity{}", "requestPolicy"),
    IN_REQUESTS(DRADerivedAttributes, "derivedAttributes"),
    IN_RESULTS(DRADeviceBindingConditions, "bindingConditions"),
    IN_RESULTS(DRADeviceBindingConditions, "bindingFailureConditions"),
    IN_DEVICES(DRADeviceBindingConditions, "", "bindingConditions"),
    IN_DEVICES(DRADeviceBindingConditions, "", "bindingFailureConditions"),
    IN_DEVICES(DRADeviceBindingConditions, "", "bindsToNode"),
    IN_DEVICES(DRAResourceClaimDeviceStatus, "", "bindingConditions"),
    IN_DEVICES(DRAResourceClaimDeviceStatus, "", "bindingFailureConditions"),
    IN_DEVICES(DRAResourceClaimDeviceStatus, "", "bindsToNode"),
    {API_GATE_DRAResourceClaimDeviceStatus, "ResourceClaim", "status", "devices"},
    IN_RESULTS(DRAOptionalNodeOperations, "skipNodeOperations"),
    IN_SLICE(DRAOptionalNodeOperations, "skipNodeOperations"),
    IN_SLICE(DRAPartitionableDevices, "sharedCounters"),
    IN_SLICE(DRAPartitionableDevices, "perDeviceNodeSelection"),
    IN_DEVICES(DRAPartitionableDevices, "", "consumesCounters"),
    IN_DEVICES(DRAPartitionableDevices, "", "nodeName"),
    IN_DEVICES(DRAPartitionableDevices, "", "nodeSelector"),
    IN_DEVICES(DRAPartitionableDevices, "", "allNodes"),
    IN_DEVICES(DRADeviceCompatibilityGroups, ".consumesCounters[]",
               "compatibilityGroups"),
    IN_DEVICES(DRANodeAllocatableResources, "", "nodeAllocatableResources"),
    IN_DEVICES(DRAListTypeAttributes, ".attributes{}", "ints"),
    IN_DEVICES(DRAListTypeAttributes, ".attributes{}", "bools"),
    IN_DEVICES(DRAListTypeAttributes, ".attributes{}", "strings"),
    IN_DEVICES(DRAListTypeAttributes, ".attributes{}", "versions"),
    IN_SLICE(DRAPartitionableDevicesType, "partitionTypeAttribute"),
    {API_GATE_DRAPartitionableDevicesType, "ResourcePoolStatusRequest", "spec",
     "defaultPartitionTypeAttribute"},
    {API_GATE_DRAExtendedResource, "DeviceClass", "spec", "extendedResourceName"},
};
enum { NGATED = sizeof GATED / sizeof *GATED };

struct finding {
    const char *field;
    bool found;
};

static void find_field(void *ctx, struct doc *d)
{
    struct finding *f = ctx;
    f->found = f->found || api_edit_get(d, f->field) != NULL;
}

static void remove_field(void *ctx, struct doc *d)
{
    if (d->type == DOC_MAP)
        doc_remove(d, str_from(ctx));
}

static bool gate_in_use(enum api_gate gate, const char *kind, const struct doc *old)
{
    struct finding f = {0};
    for (int i = 0; old && i < NGATED && !f.found; i++) {
        if (GATED[i].gate != gate || strcmp(GATED[i].kind, kind) != 0)
            continue;
        f.field = GATED[i].field;
        api_edit_each((struct doc *)old, GATED[i].place, find_field, &f);
    }
    return f.found;
}

void api_drop_disabled(const struct api_kind *kind, struct doc *object,
                       const struct doc *old, const struct api_gates *gates)
{
    for (int i = 0; i < NGATED; i++) {
        enum api_gate gate = (enum api_gate)GATED[i].gate;
        if (strcmp(GATED[i].kind, kind->name) != 0 || api_gate(gates, gate) ||
            gate_in_use(gate, kind->name, old))
            continue;
        api_edit_each(object, GATED[i].place, remove_field, (void *)GATED[i].field);
    }
}
