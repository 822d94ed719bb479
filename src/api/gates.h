/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature gates that change what the API accepts, with their defaults at Kubernetes 1.37
 * (minimal compatibility version 1.36; spec 1).
 */
#ifndef DRAY_API_GATES_H
#define DRAY_API_GATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define API_GATES(X)                                                                     \
    X(DRAAdminAccess, true, true)                                                        \
    X(DRAConsumableCapacity, true, false)                                                \
    X(DRADerivedAttributes, false, false)                                                \
    X(DRADeviceBindingConditions, true, false)                                           \
    X(DRADeviceCompatibilityGroups, false, false)                                        \
    X(DRADeviceTaintRules, true, false)                                                  \
    X(DRADeviceTaints, true, false)                                                      \
    X(DRAExtendedResource, true, true)                                                   \
    X(DRAFractionalCapacityRange, false, false)                                          \
    X(DRAListTypeAttributes, false, false)                                               \
    X(DRANodeAllocatableResources, false, false)                                         \
    X(DRAOptionalNodeOperations, false, false)                                           \
    X(DRAPartitionableDevices, true, false)                                              \
    X(DRAPartitionableDevicesType, false, false)                                         \
    X(DRAPrioritizedList, true, true)                                                    \
    X(DRAResourceClaimDeviceStatus, true, true)                                          \
    X(DRAResourceClaimGranularStatusAuthorization, true, false)                          \
    X(DRAResourcePoolStatus, false, false)                                               \
    X(DRASchedulerFilterTimeout, true, false)                                            \
    X(DRAWorkloadResourceClaims, false, false)                                           \
    X(DynamicResourceAllocation, true, true)                                             \
    X(DeclarativeValidationBeta, true, false)                                            \
    X(GenericWorkload, false, false)                                                     \
    X(NodeDeclaredFeatures, true, true)

enum api_gate {
#define X(name, on, locked) API_GATE_##name,
    API_GATES(X)
#undef X
        API_GATE_COUNT
};

struct api_gates {
    uint64_t on; /* bit set of enum api_gate */
};

extern const struct api_gates api_gates_default;

static inline bool api_gate(const struct api_gates *g, enum api_gate gate)
{
    return g->on >> gate & 1;
}
/* API_GATE_COUNT: no such gate. */
enum api_gate api_gate_find(struct str name);
bool api_gate_locked(enum api_gate gate);
/* Sets without regard to locks (tests, emulation of older versions). */
void api_gate_set(struct api_gates *g, enum api_gate gate, bool on);

#endif
