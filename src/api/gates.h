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

/* name, on by default, locked to that, stage */
#define API_GATES(X)                                                                     \
    X(ClusterTrustBundle, true, false, GA)                                               \
    X(DRAAdminAccess, true, true, GA)                                                    \
    X(DRAConsumableCapacity, true, false, BETA)                                          \
    X(DRADerivedAttributes, false, false, ALPHA)                                         \
    X(DRADeviceBindingConditions, true, false, BETA)                                     \
    X(DRADeviceCompatibilityGroups, false, false, ALPHA)                                 \
    X(DRADeviceTaintRules, true, false, GA)                                              \
    X(DRADeviceTaints, true, false, GA)                                                  \
    X(DRAExtendedResource, true, true, GA)                                               \
    X(DRAFractionalCapacityRange, false, false, BETA)                                    \
    X(DRAListTypeAttributes, false, false, ALPHA)                                        \
    X(DRANodeAllocatableResources, false, false, ALPHA)                                  \
    X(DRAOptionalNodeOperations, false, false, ALPHA)                                    \
    X(DRAPartitionableDevices, true, false, BETA)                                        \
    X(DRAPartitionableDevicesType, false, false, ALPHA)                                  \
    X(DRAPrioritizedList, true, true, GA)                                                \
    X(DRAResourceClaimDeviceStatus, true, true, GA)                                      \
    X(DRAResourceClaimGranularStatusAuthorization, true, false, BETA)                    \
    X(DRAResourcePoolStatus, false, false, ALPHA)                                        \
    X(DRASchedulerFilterTimeout, true, false, BETA)                                      \
    X(DRAWorkloadResourceClaims, false, false, BETA)                                     \
    X(DeclarativeValidationBeta, true, false, BETA)                                      \
    X(DynamicResourceAllocation, true, true, GA)                                         \
    X(GenericWorkload, false, false, BETA)                                               \
    X(NodeDeclaredFeatures, true, true, GA)                                              \
    X(PodCertificateRequest, true, false, GA)                                            \
    X(PodTopologyLabelsAdmission, true, false, BETA)                                     \
    X(ServiceAccountNodeAudienceRestriction, true, false, BETA)                          \
    X(StorageVersionMigrator, true, false, GA)

/* A gate that cannot be on without another. Where the other is locked on, it is not said.
 */
#define API_GATE_NEEDS(X)                                                                \
    X(DRADeviceCompatibilityGroups, DRAPartitionableDevices)                             \
    X(DRADeviceTaintRules, DRADeviceTaints)                                              \
    X(DRAFractionalCapacityRange, DRAConsumableCapacity)                                 \
    X(DRAPartitionableDevicesType, DRAPartitionableDevices)                              \
    X(DRAPartitionableDevicesType, DRAResourcePoolStatus)                                \
    X(DRAWorkloadResourceClaims, GenericWorkload)

enum api_gate {
#define X(name, on, locked, stage) API_GATE_##name,
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
const char *api_gate_name(enum api_gate gate);
bool api_gate_locked(enum api_gate gate);
enum api_gate_stage { API_STAGE_ALPHA, API_STAGE_BETA, API_STAGE_GA };
enum api_gate_stage api_gate_stage(enum api_gate gate);
/* Sets without regard to locks (tests, emulation of older versions). */
void api_gate_set(struct api_gates *g, enum api_gate gate, bool on);
/* Whether each gate that is on has what it needs. */
bool api_gates_check(const struct api_gates *g, struct err *e);

#endif
