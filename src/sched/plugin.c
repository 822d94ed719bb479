/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plugins.h"

enum {
    NODE_CHANGES = EVENT_BIT(EVENT_NODE_ADDED) | EVENT_BIT(EVENT_NODE_LABELS),
    SELF = EVENT_BIT(EVENT_SELF),
    PODS = EVENT_BIT(EVENT_POD_PLACED) | EVENT_BIT(EVENT_POD_LABELS) |
           EVENT_BIT(EVENT_POD_REMOVED),
};

static struct sched_status devices_pre_filter(struct cycle *c)
{
    return c->dra ? dra_pre_filter(c->dra) : status_skip();
}

static struct sched_status devices_filter(struct cycle *c, const struct node *n)
{
    return dra_filter(c->dra, &n->base);
}

static bool devices_pre_score(struct cycle *c)
{
    return c->dra && !(c->skip & PLUGIN_BIT(PLUGIN_DEVICES));
}

static int64_t devices_score(struct cycle *c, const struct node *n)
{
    return dra_score(c->dra, n->name);
}

static void devices_normalize(struct cycle *c, int64_t *scores, uint32_t n)
{
    (void)c;
    dra_normalize(scores, n);
}

const struct plugin plugin_table[PLUGINS] = {
    [PLUGIN_GATES] = {.name = "SchedulingGates", .events = SELF, .hint = hint_self_gates},
    [PLUGIN_NODE_NAME] = {.name = "NodeName",
                          .events = EVENT_BIT(EVENT_NODE_ADDED),
                          .pre_filter = name_pre_filter,
                          .filter = name_filter},
    [PLUGIN_CORDON] = {.name = "NodeUnschedulable",
                       .events = EVENT_BIT(EVENT_NODE_ADDED) |
                                 EVENT_BIT(EVENT_NODE_TAINTS) | SELF,
                       .hint = hint_tolerations,
                       .filter = cordon_filter},
    [PLUGIN_TAINTS] = {.name = "TaintToleration",
                       .weight = 3,
                       .events = EVENT_BIT(EVENT_NODE_ADDED) |
                                 EVENT_BIT(EVENT_NODE_TAINTS) | SELF,
                       .hint = hint_tolerations,
                       .filter = taints_filter,
                       .score = taints_score,
                       .normalize = taints_normalize},
    [PLUGIN_NODE_AFFINITY] = {.name = "NodeAffinity",
                              .weight = 2,
                              .events = NODE_CHANGES,
                              .hint = hint_node_selected,
                              .pre_filter = affinity_nodes_pre_filter,
                              .filter = affinity_nodes_filter,
                              .pre_score = affinity_nodes_pre_score,
                              .score = affinity_nodes_score,
                              .normalize = affinity_nodes_normalize},
    [PLUGIN_PORTS] = {.name = "NodePorts",
                      .events =
                          EVENT_BIT(EVENT_NODE_ADDED) | EVENT_BIT(EVENT_POD_REMOVED),
                      .hint = hint_ports,
                      .pre_filter = ports_pre_filter,
                      .filter = ports_filter},
    [PLUGIN_RESOURCES] = {.name = "NodeResourcesFit",
                          .weight = 1,
                          .events = EVENT_BIT(EVENT_NODE_ADDED) |
                                    EVENT_BIT(EVENT_NODE_ALLOCATABLE) |
                                    EVENT_BIT(EVENT_POD_REMOVED) |
                                    EVENT_BIT(EVENT_POD_SCALED) | SELF |
                                    EVENT_BIT(EVENT_DEVICE_CLASS),
                          .hint = hint_fit,
                          .filter = fit_filter,
                          .score = fit_score},
    [PLUGIN_DISKS] = {.name = "VolumeRestrictions",
                      .events = EVENT_BIT(EVENT_NODE_ADDED) |
                                EVENT_BIT(EVENT_POD_REMOVED) | EVENT_BIT(EVENT_VOLUME),
                      .pre_filter = disks_pre_filter,
                      .filter = disks_filter},
    [PLUGIN_VOLUME_LIMITS] = {.name = "NodeVolumeLimits"},
    [PLUGIN_VOLUMES] = {.name = "VolumeBinding",
                        .events = NODE_CHANGES | EVENT_BIT(EVENT_VOLUME),
                        .pre_filter = volumes_pre_filter,
                        .filter = volumes_filter},
    [PLUGIN_VOLUME_ZONE] = {.name = "VolumeZone"},
    [PLUGIN_SPREAD] = {.name = "PodTopologySpread",
                       .weight = 2,
                       .events = PODS | NODE_CHANGES | EVENT_BIT(EVENT_NODE_TAINTS) |
                                 EVENT_BIT(EVENT_NODE_REMOVED),
                       .hint = hint_spread,
                       .pre_filter = spread_pre_filter,
                       .filter = spread_filter,
                       .moved = spread_moved,
                       .pre_score = spread_pre_score,
                       .score = spread_score,
                       .normalize = spread_normalize},
    [PLUGIN_POD_AFFINITY] = {.name = "InterPodAffinity",
                             .weight = 2,
                             .events =
                                 PODS | NODE_CHANGES | EVENT_BIT(EVENT_NAMESPACE_LABELS),
                             .hint = hint_pod_affinity,
                             .pre_filter = pod_affinity_pre_filter,
                             .filter = pod_affinity_filter,
                             .moved = pod_affinity_moved,
                             .pre_score = pod_affinity_pre_score,
                             .score = pod_affinity_score,
                             .normalize = pod_affinity_normalize},
    [PLUGIN_DEVICES] = {.name = "DynamicResources",
                        .weight = 2,
                        .events = EVENT_BIT(EVENT_NODE_ADDED) |
                                  EVENT_BIT(EVENT_NODE_LABELS) |
                                  EVENT_BIT(EVENT_NODE_ALLOCATABLE) |
                                  EVENT_BIT(EVENT_NODE_FEATURES) | SELF |
                                  EVENT_BIT(EVENT_CLAIM) | EVENT_BIT(EVENT_DEVICE_CLASS) |
                                  EVENT_BIT(EVENT_SLICE),
                        .hint = hint_devices,
                        .pre_filter = devices_pre_filter,
                        .filter = devices_filter,
                        .pre_score = devices_pre_score,
                        .score = devices_score,
                        .normalize = devices_normalize},
    [PLUGIN_PREEMPTION] = {.name = "DefaultPreemption"},
    [PLUGIN_BALANCE] = {.name = "NodeResourcesBalancedAllocation",
                        .weight = 1,
                        .pre_score = balance_pre_score,
                        .score = balance_score},
    [PLUGIN_IMAGES] = {.name = "ImageLocality", .weight = 1, .score = images_score},
    [PLUGIN_BINDER] = {.name = "DefaultBinder"},
    [PLUGIN_GANG] = {.name = "GangScheduling",
                     .events = EVENT_BIT(EVENT_POD_WAITS) | EVENT_BIT(EVENT_POD_PLACED) |
                               EVENT_BIT(EVENT_GROUP),
                     .hint = hint_gang},
};

enum plugin_id plugin_find(struct str name)
{
    int i = 0;
    while (i < PLUGINS && !str_is(name, plugin_table[i].name))
        i++;
    return (enum plugin_id)i;
}

const char *sched_event_name(enum sched_event_kind kind)
{
    static const char *const NAMES[] = {
        [EVENT_NODE_ADDED] = "NodeAdd",
        [EVENT_NODE_ALLOCATABLE] = "NodeAllocatableChange",
        [EVENT_NODE_LABELS] = "NodeLabelChange",
        [EVENT_NODE_TAINTS] = "NodeTaintChange",
        [EVENT_NODE_FEATURES] = "NodeDeclaredFeatureChange",
        [EVENT_NODE_REMOVED] = "NodeDelete",
        [EVENT_POD_WAITS] = "UnscheduledPodAdd",
        [EVENT_POD_PLACED] = "AssignedPodAdd",
        [EVENT_POD_LABELS] = "AssignedPodUpdateLabel",
        [EVENT_POD_SCALED] = "AssignedPodScaleDown",
        [EVENT_POD_REMOVED] = "AssignedPodDelete",
        [EVENT_SELF] = "UnscheduledPodUpdate",
        [EVENT_NAMESPACE_LABELS] = "NamespaceUpdateLabel",
        [EVENT_VOLUME] = "VolumeChange",
        [EVENT_CLAIM] = "ResourceClaimChange",
        [EVENT_DEVICE_CLASS] = "DeviceClassChange",
        [EVENT_SLICE] = "ResourceSliceChange",
        [EVENT_GROUP] = "PodGroupChange",
        [EVENT_TIMEOUT] = "UnschedulableTimeout",
    };
    return NAMES[kind];
}
