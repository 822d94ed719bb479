/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of gates that are off (spec 2.10). */
#include "api/defaults.h"

#include "api/edit.h"

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
