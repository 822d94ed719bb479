/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/cdi_shape.h"

#define AT(type, member) (uint32_t) offsetof(struct type, member)
#define SHAPE(fields, type)                                                              \
    {                                                                                    \
        fields, sizeof(fields) / sizeof *(fields), sizeof(struct type)                   \
    }

static const struct cdi_field NODE_FIELDS[] = {
    {"path", CDI_TEXT, AT(cdi_node, path), CDI_NOTHING, NULL, true},
    {"hostPath", CDI_TEXT, AT(cdi_node, host_path), CDI_NOTHING, NULL, false},
    {"type", CDI_TEXT, AT(cdi_node, type), CDI_NOTHING, NULL, false},
    {"major", CDI_NUMBER, AT(cdi_node, major), CDI_NOTHING, NULL, false},
    {"minor", CDI_NUMBER, AT(cdi_node, minor), CDI_NOTHING, NULL, false},
    {"fileMode", CDI_WORD, AT(cdi_node, mode), AT(cdi_node, has_mode), NULL, false},
    {"permissions", CDI_TEXT, AT(cdi_node, permissions), CDI_NOTHING, NULL, false},
    {"uid", CDI_WORD, AT(cdi_node, uid), AT(cdi_node, has_uid), NULL, false},
    {"gid", CDI_WORD, AT(cdi_node, gid), AT(cdi_node, has_gid), NULL, false},
};
static const struct cdi_shape NODE = SHAPE(NODE_FIELDS, cdi_node);

static const struct cdi_field MOUNT_FIELDS[] = {
    {"hostPath", CDI_TEXT, AT(cdi_mount, host_path), CDI_NOTHING, NULL, true},
    {"containerPath", CDI_TEXT, AT(cdi_mount, container_path), CDI_NOTHING, NULL, true},
    {"options", CDI_TEXTS, AT(cdi_mount, options), AT(cdi_mount, noptions), NULL, false},
    {"type", CDI_TEXT, AT(cdi_mount, type), CDI_NOTHING, NULL, false},
};
static const struct cdi_shape MOUNT = SHAPE(MOUNT_FIELDS, cdi_mount);

static const struct cdi_field HOOK_FIELDS[] = {
    {"hookName", CDI_TEXT, AT(cdi_hook, name), CDI_NOTHING, NULL, true},
    {"path", CDI_TEXT, AT(cdi_hook, path), CDI_NOTHING, NULL, true},
    {"args", CDI_TEXTS, AT(cdi_hook, args), AT(cdi_hook, nargs), NULL, false},
    {"env", CDI_TEXTS, AT(cdi_hook, env), AT(cdi_hook, nenv), NULL, false},
    {"timeout", CDI_TIMED, AT(cdi_hook, timeout_s), AT(cdi_hook, has_timeout), NULL,
     false},
};
static const struct cdi_shape HOOK = SHAPE(HOOK_FIELDS, cdi_hook);

static const struct cdi_field NET_FIELDS[] = {
    {"hostInterfaceName", CDI_TEXT, AT(cdi_net_device, host_name), CDI_NOTHING, NULL,
     true},
    {"name", CDI_TEXT, AT(cdi_net_device, name), CDI_NOTHING, NULL, true},
};
static const struct cdi_shape NET = SHAPE(NET_FIELDS, cdi_net_device);

static const struct cdi_field RDT_FIELDS[] = {
    {"closID", CDI_TEXT, AT(cdi_rdt, clos_id), CDI_NOTHING, NULL, false},
    {"l3CacheSchema", CDI_TEXT, AT(cdi_rdt, l3_schema), CDI_NOTHING, NULL, false},
    {"memBwSchema", CDI_TEXT, AT(cdi_rdt, mem_bw_schema), CDI_NOTHING, NULL, false},
    {"schemata", CDI_TEXTS, AT(cdi_rdt, schemata), AT(cdi_rdt, nschemata), NULL, false},
    {"enableMonitoring", CDI_FLAG, AT(cdi_rdt, enable_monitoring), CDI_NOTHING, NULL,
     false},
};
static const struct cdi_shape RDT = SHAPE(RDT_FIELDS, cdi_rdt);

static const struct cdi_field EDITS_FIELDS[] = {
    {"env", CDI_TEXTS, AT(cdi_edits, env), AT(cdi_edits, nenv), NULL, false},
    {"deviceNodes", CDI_PARTS, AT(cdi_edits, nodes), AT(cdi_edits, nnodes), &NODE, false},
    {"netDevices", CDI_PARTS, AT(cdi_edits, net_devices), AT(cdi_edits, nnet_devices),
     &NET, false},
    {"hooks", CDI_PARTS, AT(cdi_edits, hooks), AT(cdi_edits, nhooks), &HOOK, false},
    {"mounts", CDI_PARTS, AT(cdi_edits, mounts), AT(cdi_edits, nmounts), &MOUNT, false},
    {"intelRdt", CDI_PART, AT(cdi_edits, rdt), AT(cdi_edits, rdt.present), &RDT, false},
    {"additionalGids", CDI_WORDS, AT(cdi_edits, gids), AT(cdi_edits, ngids), NULL, false},
};
static const struct cdi_shape EDITS = SHAPE(EDITS_FIELDS, cdi_edits);

static const struct cdi_field DEVICE_FIELDS[] = {
    {"name", CDI_TEXT, AT(cdi_device, name), CDI_NOTHING, NULL, true},
    {"annotations", CDI_PAIRS, AT(cdi_device, annotations), AT(cdi_device, nannotations),
     NULL, false},
    {"containerEdits", CDI_PART, AT(cdi_device, edits), CDI_NOTHING, &EDITS, true},
};
static const struct cdi_shape DEVICE = SHAPE(DEVICE_FIELDS, cdi_device);

static const struct cdi_field SPEC_FIELDS[] = {
    {"cdiVersion", CDI_TEXT, AT(cdi_spec, version), CDI_NOTHING, NULL, true},
    {"kind", CDI_TEXT, AT(cdi_spec, kind), CDI_NOTHING, NULL, true},
    {"annotations", CDI_PAIRS, AT(cdi_spec, annotations), AT(cdi_spec, nannotations),
     NULL, false},
    {"devices", CDI_PARTS, AT(cdi_spec, devices), AT(cdi_spec, ndevices), &DEVICE, true},
    {"containerEdits", CDI_PART, AT(cdi_spec, edits), CDI_NOTHING, &EDITS, true},
};
const struct cdi_shape cdi_spec_shape = SHAPE(SPEC_FIELDS, cdi_spec);
