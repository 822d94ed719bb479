/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "alloc/alloc.h"

const struct alloc_features alloc_features_default = {
    .admin_access = true,
    .prioritized_list = true,
    .partitionable_devices = true,
    .device_taints = true,
    .device_binding_and_status = true,
    .consumable_capacity = true,
    .fractional_capacity_range = true,
};

const struct alloc_features alloc_features_all = {
    .admin_access = true,
    .prioritized_list = true,
    .partitionable_devices = true,
    .device_taints = true,
    .device_binding_and_status = true,
    .consumable_capacity = true,
    .fractional_capacity_range = true,
    .list_type_attributes = true,
    .optional_node_operations = true,
    .derived_attributes = true,
    .compatibility_groups = true,
};

#define FEATURE(name, member)                                                            \
    {                                                                                    \
        name, offsetof(struct alloc_features, member)                                    \
    }

static const struct {
    const char *name;
    size_t at;
} FEATURES[] = {
    FEATURE("AdminAccess", admin_access),
    FEATURE("PrioritizedList", prioritized_list),
    FEATURE("PartitionableDevices", partitionable_devices),
    FEATURE("DeviceTaints", device_taints),
    FEATURE("DeviceBindingAndStatus", device_binding_and_status),
    FEATURE("ConsumableCapacity", consumable_capacity),
    FEATURE("FractionalCapacityRange", fractional_capacity_range),
    FEATURE("ListTypeAttributes", list_type_attributes),
    FEATURE("OptionalNodeOperations", optional_node_operations),
    FEATURE("DerivedAttributes", derived_attributes),
    FEATURE("CompatibilityGroups", compatibility_groups),
};

bool alloc_features_set(struct alloc_features *f, struct str name, bool on)
{
    for (size_t i = 0; i < sizeof FEATURES / sizeof *FEATURES; i++)
        if (str_is(name, FEATURES[i].name)) {
            *(bool *)((char *)f + FEATURES[i].at) = on;
            return true;
        }
    return false;
}

struct alloc_features alloc_features_of(const struct api_gates *g)
{
    return (struct alloc_features){
        .admin_access = api_gate(g, API_GATE_DRAAdminAccess),
        .prioritized_list = api_gate(g, API_GATE_DRAPrioritizedList),
        .partitionable_devices = api_gate(g, API_GATE_DRAPartitionableDevices),
        .device_taints = api_gate(g, API_GATE_DRADeviceTaints),
        .device_binding_and_status = api_gate(g, API_GATE_DRADeviceBindingConditions) &&
                                     api_gate(g, API_GATE_DRAResourceClaimDeviceStatus),
        .consumable_capacity = api_gate(g, API_GATE_DRAConsumableCapacity),
        .fractional_capacity_range = api_gate(g, API_GATE_DRAFractionalCapacityRange),
        .list_type_attributes = api_gate(g, API_GATE_DRAListTypeAttributes),
        .optional_node_operations = api_gate(g, API_GATE_DRAOptionalNodeOperations),
        .derived_attributes = api_gate(g, API_GATE_DRADerivedAttributes),
        .compatibility_groups = api_gate(g, API_GATE_DRADeviceCompatibilityGroups),
    };
}
