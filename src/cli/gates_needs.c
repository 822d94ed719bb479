/* SPDX-License-Identifier: Apache-2.0 */
/* What gates need of each other of which one has no effect here. */
#include "cli/gates.h"

/* Gates without effect that others need, or that need others (upstream's
 * kube_features.go). */
static const struct other {
    const char *name;
    enum api_gate_stage stage;
    bool on; /* by default */
} OTHERS[] = {
    {"APIServerIdentity", API_STAGE_BETA, true},
    {"ClusterTrustBundleProjection", API_STAGE_GA, true},
    {"CompositePodGroup", API_STAGE_ALPHA, false},
    {"ContainerRestartRules", API_STAGE_BETA, true},
    {"GracefulNodeShutdown", API_STAGE_BETA, true},
    {"GracefulNodeShutdownBasedOnPodPriority", API_STAGE_BETA, true},
    {"InPlacePodLevelResourcesVerticalScaling", API_STAGE_BETA, true},
    {"MatchLabelKeysInPodTopologySpread", API_STAGE_BETA, true},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", API_STAGE_BETA, true},
    {"PodGroupPreemptionPolicy", API_STAGE_ALPHA, false},
    {"PodLevelResourceManagers", API_STAGE_BETA, false},
    {"PodLevelResources", API_STAGE_BETA, true},
    {"PodLevelResourcesFixDefaulting", API_STAGE_BETA, true},
    {"PodLevelResourcesFixKubeletQOSClass", API_STAGE_BETA, true},
    {"ResourceHealthStatus", API_STAGE_BETA, true},
    {"ResourceHealthStatusMessage", API_STAGE_BETA, true},
    {"RestartAllContainersOnContainerExits", API_STAGE_BETA, true},
    {"StorageVersionAPI", API_STAGE_ALPHA, false},
    {"TopologyAwareWorkloadScheduling", API_STAGE_ALPHA, false},
    {"UnknownVersionInteroperabilityProxy", API_STAGE_BETA, true},
    {"WindowsGracefulNodeShutdown", API_STAGE_BETA, true},
    {"WorkloadWithJob", API_STAGE_ALPHA, false},
};

/* Those of one gate stand together, by their names. */
static const char *const NEEDS[][2] = {
    {"ClusterTrustBundleProjection", "ClusterTrustBundle"},
    {"CompositePodGroup", "GenericWorkload"},
    {"CompositePodGroup", "TopologyAwareWorkloadScheduling"},
    {"GracefulNodeShutdownBasedOnPodPriority", "GracefulNodeShutdown"},
    {"InPlacePodLevelResourcesVerticalScaling", "PodLevelResources"},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge",
     "MatchLabelKeysInPodTopologySpread"},
    {"PodGroupPreemptionPolicy", "GenericWorkload"},
    {"PodLevelResourceManagers", "PodLevelResources"},
    {"PodLevelResourcesFixDefaulting", "PodLevelResources"},
    {"PodLevelResourcesFixKubeletQOSClass", "PodLevelResources"},
    {"ResourceHealthStatusMessage", "ResourceHealthStatus"},
    {"RestartAllContainersOnContainerExits", "ContainerRestartRules"},
    {"StorageVersionAPI", "APIServerIdentity"},
    {"TopologyAwareWorkloadScheduling", "GenericWorkload"},
    {"UnknownVersionInteroperabilityProxy", "APIServerIdentity"},
    {"WindowsGracefulNodeShutdown", "GracefulNodeShutdown"},
    {"WorkloadWithJob", "GenericWorkload"},
};

enum { NOTHERS = sizeof OTHERS / sizeof *OTHERS, NNEEDS = sizeof NEEDS / sizeof *NEEDS };

/* What a list says of a name, the last time; else what it is without the list. */
static bool said(struct str list, const char *name, bool otherwise)
{
    for (struct str part; str_split_next(&list, ',', &part);) {
        size_t eq = str_find_byte(part, '=', 0);
        if (eq != SIZE_MAX && str_is(str_sub(part, 0, eq), name))
            otherwise = str_is(str_sub(part, eq + 1, SIZE_MAX), "true");
    }
    return otherwise;
}

static bool is_on(const struct api_gates *g, struct str list, const char *name)
{
    static const char *const STAGES[] = {[API_STAGE_ALPHA] = "AllAlpha",
                                         [API_STAGE_BETA] = "AllBeta",
                                         [API_STAGE_GA] = ""};
    enum api_gate gate = api_gate_find(str_from(name));
    if (gate != API_GATE_COUNT)
        return api_gate(g, gate);
    for (int i = 0; i < NOTHERS; i++)
        if (strcmp(OTHERS[i].name, name) == 0)
            return said(list, name, said(list, STAGES[OTHERS[i].stage], OTHERS[i].on));
    return false;
}

bool gates_check_others(const struct api_gates *g, const char *list, struct err *e)
{
    struct strbuf missing = STRBUF_INIT;
    const char *gate = NULL;
    struct str s = str_from(list);
    for (int i = 0; i < NNEEDS; i++) {
        const char *needs = NEEDS[i][1];
        if ((gate && strcmp(gate, NEEDS[i][0]) != 0) || !is_on(g, s, NEEDS[i][0]) ||
            is_on(g, s, needs))
            continue;
        gate = NEEDS[i][0];
        strbuf_addf(&missing, "%s%s", missing.n ? " " : "", needs);
    }
    if (gate)
        err_set(e, ERR_INVALID,
                "%s is enabled, but depends on features that are disabled: [%s]", gate,
                strbuf_cstr(&missing));
    strbuf_release(&missing);
    return !gate;
}
