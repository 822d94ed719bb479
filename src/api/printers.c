/* SPDX-License-Identifier: Apache-2.0 */
#include "api/printers.h"

#include "api/printers_inner.h"
#include "api/schema.h"
#include "api/timestamp.h"

struct column {
    const char *name;
    const char *type; /* NULL: string */
    cell_fn *cell;
    const char *argument;
    const char *format; /* NULL: none */
    int priority;       /* 1: shown by -o wide */
};

struct table {
    const char *group, *kind;
    const struct column *columns; /* the last has no name */
};

#define COLUMNS(...)                                                                     \
    (const struct column[])                                                              \
    {                                                                                    \
        __VA_ARGS__,                                                                     \
        {                                                                                \
            0                                                                            \
        }                                                                                \
    }
#define TEXT(name, path)                                                                 \
    {                                                                                    \
        name, NULL, cell_text, path                                                      \
    }
#define INT(name, path)                                                                  \
    {                                                                                    \
        name, "integer", cell_int, path                                                  \
    }
#define BOOL(name, path)                                                                 \
    {                                                                                    \
        name, "boolean", cell_bool, path                                                 \
    }
#define NUMBER(name, path)                                                               \
    {                                                                                    \
        name, NULL, cell_int, path                                                       \
    } /* in a column of texts */
#define COUNT(name, path)                                                                \
    {                                                                                    \
        name, "integer", cell_count, path                                                \
    }
#define CELL(name, fn, argument)                                                         \
    {                                                                                    \
        name, NULL, cell_##fn, argument                                                  \
    }
#define WIDE(name, fn, argument)                                                         \
    {                                                                                    \
        name, NULL, cell_##fn, argument, NULL, 1                                         \
    }
#define NAME                                                                             \
    {                                                                                    \
        "Name", NULL, cell_text, "metadata.name", "name"                                 \
    }
#define AGE                                                                              \
    {                                                                                    \
        "Age", NULL, cell_age, "metadata.creationTimestamp"                              \
    }
#define PODS(template)                                                                   \
    WIDE("Containers", containers, template ".spec.containers"),                         \
        WIDE("Images", images, template ".spec.containers")

#define ADMISSION "admissionregistration.k8s.io"
#define BINDING                                                                          \
    COLUMNS(NAME, CELL("Role", pair, "roleRef.kind|roleRef.name"), AGE,                  \
            WIDE("Users", subjects, "User"), WIDE("Groups", subjects, "Group"),          \
            WIDE("ServiceAccounts", subjects, "ServiceAccount"))
#define EVENT                                                                            \
    COLUMNS(CELL("Last Seen", event_last, ""), TEXT("Type", "type"),                     \
            TEXT("Reason", "reason"), CELL("Object", event_object, ""),                  \
            WIDE("Subobject", either, "involvedObject.fieldPath|regarding.fieldPath"),   \
            WIDE("Source", event_source, ""), CELL("Message", event_message, ""),        \
            WIDE("First Seen", event_first, ""), WIDE("Count", event_count, ""),         \
            {"Name", NULL, cell_text, "metadata.name", "name", 1})
#define WEBHOOKS COLUMNS(NAME, COUNT("Webhooks", "webhooks"), AGE)
#define POLICY(what, path)                                                               \
    COLUMNS(NAME, COUNT(what, path), CELL("ParamKind", param_kind, "spec.paramKind"), AGE)
#define POLICY_BINDING                                                                   \
    COLUMNS(NAME, TEXT("PolicyName", "spec.policyName"),                                 \
            CELL("ParamRef", param_ref, ""), AGE)

static struct doc cell_param_kind(const struct printing *p, const struct doc *object,
                                  const char *argument)
{
    const struct doc *d = doc_path(object, argument);
    return d && d->type == DOC_MAP ? cell_pair(p, d, "apiVersion|kind")
                                   : cell_of(p, STR("<unset>"));
}

/* clang-format off */
static const struct table TABLES[] = {
    {"", "Pod", COLUMNS(NAME,
        CELL("Ready", pod_ready, ""),
        CELL("Status", pod_status, ""),
        CELL("Restarts", pod_restarts, ""),
        AGE,
        WIDE("IP", pod_ip, ""),
        WIDE("Node", text, "spec.nodeName|<none>"),
        WIDE("Nominated Node", text, "status.nominatedNodeName|<none>"),
        WIDE("Readiness Gates", pod_gates, ""))},
    {"", "PodTemplate", COLUMNS(NAME,
        CELL("Containers", containers, "template.spec.containers"),
        CELL("Images", images, "template.spec.containers"),
        CELL("Pod Labels", labels, "template.metadata.labels"))},
    {"", "Node", COLUMNS(NAME,
        CELL("Status", node_status, ""),
        CELL("Roles", node_roles, ""),
        AGE,
        TEXT("Version", "status.nodeInfo.kubeletVersion"),
        WIDE("Internal-IP", node_address, "InternalIP"),
        WIDE("External-IP", node_address, "ExternalIP"),
        WIDE("OS-Image", text, "status.nodeInfo.osImage|<unknown>"),
        WIDE("Kernel-Version", node_kernel, ""),
        WIDE("Container-Runtime", text,
             "status.nodeInfo.containerRuntimeVersion|<unknown>"))},
    {"", "Namespace", COLUMNS(NAME, TEXT("Status", "status.phase"), AGE)},
    {"", "Event", EVENT},
    {"events.k8s.io", "Event", EVENT},
    {"", "ConfigMap", COLUMNS(NAME, CELL("Data", config_data, ""), AGE)},
    {"", "Secret", COLUMNS(NAME,
        TEXT("Type", "type"),
        CELL("Data", count, "data"),
        AGE)},
    {"", "ServiceAccount", COLUMNS(NAME, AGE)},
    {"", "Service", COLUMNS(NAME,
        TEXT("Type", "spec.type"),
        CELL("Cluster-IP", cluster_ip, ""),
        CELL("External-IP", service_ip, ""),
        CELL("Port(s)", service_ports, ""),
        AGE,
        WIDE("Selector", labels, "spec.selector"))},
    {"", "Endpoints", COLUMNS(NAME, CELL("Endpoints", endpoints, ""), AGE)},
    {"", "ResourceQuota", COLUMNS(NAME,
        CELL("Request", quota, ""),
        CELL("Limit", quota, "limits"),
        AGE)},
    {"", "PersistentVolume", COLUMNS(NAME,
        TEXT("Capacity", "spec.capacity.storage|0"),
        CELL("Access Modes", modes, "spec.accessModes"),
        TEXT("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        CELL("Status", phase, ""),
        CELL("Claim", claim_ref, "spec.claimRef"),
        CELL("StorageClass", class, ""),
        TEXT("VolumeAttributesClass", "spec.volumeAttributesClassName|<unset>"),
        TEXT("Reason", "status.reason"),
        AGE,
        WIDE("VolumeMode", text, "spec.volumeMode|<unset>"))},
    {"", "PersistentVolumeClaim", COLUMNS(NAME,
        CELL("Status", phase, ""),
        TEXT("Volume", "spec.volumeName"),
        CELL("Capacity", claim_capacity, ""),
        CELL("Access Modes", claim_modes, ""),
        CELL("StorageClass", class, ""),
        TEXT("VolumeAttributesClass", "spec.volumeAttributesClassName|<unset>"),
        AGE,
        WIDE("VolumeMode", text, "spec.volumeMode|<unset>"))},
    {"", "ReplicationController", COLUMNS(NAME,
        INT("Desired", "spec.replicas"),
        INT("Current", "status.replicas"),
        INT("Ready", "status.readyReplicas"),
        AGE,
        PODS("spec.template"),
        WIDE("Selector", labels, "spec.selector"))},
    {"", "ComponentStatus", COLUMNS(NAME,
        CELL("Status", health, ""),
        CELL("Message", health, "message"),
        CELL("Error", health, "error"))},

    {"apps", "Deployment", COLUMNS(NAME,
        CELL("Ready", ratio, "status.readyReplicas|spec.replicas"),
        NUMBER("Up-to-date", "status.updatedReplicas"),
        NUMBER("Available", "status.availableReplicas"),
        AGE,
        PODS("spec.template"),
        WIDE("Selector", deployment_selector, "spec.selector"))},
    {"apps", "ReplicaSet", COLUMNS(NAME,
        INT("Desired", "spec.replicas"),
        INT("Current", "status.replicas"),
        INT("Ready", "status.readyReplicas"),
        AGE,
        PODS("spec.template"),
        WIDE("Selector", selector, "spec.selector"))},
    {"apps", "StatefulSet", COLUMNS(NAME,
        CELL("Ready", ratio, "status.readyReplicas|spec.replicas"),
        AGE,
        PODS("spec.template"))},
    {"apps", "DaemonSet", COLUMNS(NAME,
        INT("Desired", "status.desiredNumberScheduled"),
        INT("Current", "status.currentNumberScheduled"),
        INT("Ready", "status.numberReady"),
        INT("Up-to-date", "status.updatedNumberScheduled"),
        INT("Available", "status.numberAvailable"),
        CELL("Node Selector", labels, "spec.template.spec.nodeSelector"),
        AGE,
        PODS("spec.template"),
        WIDE("Selector", selector, "spec.selector"))},
    {"apps", "ControllerRevision", COLUMNS(NAME,
        CELL("Controller", controller, ""),
        NUMBER("Revision", "revision"),
        AGE)},
    {"batch", "Job", COLUMNS(NAME,
        CELL("Status", job_status, ""),
        CELL("Completions", job_completions, ""),
        CELL("Duration", job_duration, ""),
        AGE,
        PODS("spec.template"),
        WIDE("Selector", selector, "spec.selector"))},
    {"batch", "CronJob", COLUMNS(NAME,
        TEXT("Schedule", "spec.schedule"),
        TEXT("Timezone", "spec.timeZone|<none>"),
        {"Suspend", "boolean", cell_yes_no, "spec.suspend|<unset>"},
        COUNT("Active", "status.active"),
        CELL("Last Schedule", age, "status.lastScheduleTime|<none>"),
        AGE,
        PODS("spec.jobTemplate.spec.template"),
        WIDE("Selector", selector, "spec.jobTemplate.spec.selector"))},
    {"autoscaling", "HorizontalPodAutoscaler", COLUMNS(NAME,
        CELL("Reference", pair, "spec.scaleTargetRef.kind|spec.scaleTargetRef.name"),
        CELL("Targets", metrics, ""),
        TEXT("MinPods", "spec.minReplicas|<unset>"),
        NUMBER("MaxPods", "spec.maxReplicas"),
        NUMBER("Replicas", "status.currentReplicas"),
        AGE)},
    {"autoscaling", "Scale", COLUMNS({"Name", NULL, cell_text, "metadata.name"},
        INT("Desired", "spec.replicas"),
        INT("Available", "status.replicas"),
        AGE)},
    {"policy", "PodDisruptionBudget", COLUMNS(NAME,
        TEXT("Min Available", "spec.minAvailable|N/A"),
        TEXT("Max Unavailable", "spec.maxUnavailable|N/A"),
        INT("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE)},

    {"resource.k8s.io", "DeviceClass", COLUMNS(NAME, AGE)},
    {"resource.k8s.io", "ResourceClaim", COLUMNS(NAME,
        CELL("State", resource_claim, ""),
        AGE)},
    {"resource.k8s.io", "ResourceClaimTemplate", COLUMNS(NAME, AGE)},
    {"resource.k8s.io", "ResourceSlice", COLUMNS(NAME,
        TEXT("Node", "spec.nodeName"),
        TEXT("Driver", "spec.driver"),
        TEXT("Pool", "spec.pool.name"),
        AGE)},
    {"resource.k8s.io", "DeviceTaintRule", COLUMNS(NAME,
        TEXT("Key", "spec.taint.key"),
        TEXT("Value", "spec.taint.value"),
        TEXT("Effect", "spec.taint.effect"),
        CELL("TimeAdded", age, "spec.taint.timeAdded|"),
        AGE)},
    {"resource.k8s.io", "ResourcePoolStatusRequest", COLUMNS(NAME,
        TEXT("Driver", "spec.driver"),
        CELL("Total", pool_sum, "totalDevices"),
        CELL("Available", pool_sum, "availableDevices"),
        CELL("Allocated", pool_sum, "allocatedDevices"),
        CELL("Unavailable", pool_sum, "unavailableDevices"),
        CELL("Errors", pool_errors, ""),
        INT("Pools", "status.poolCount"),
        CELL("Status", pool_status, ""),
        CELL("Completed", pool_completed, ""))},

    {"scheduling.k8s.io", "PriorityClass", COLUMNS(NAME,
        INT("Value", "value"),
        BOOL("Global-Default", "globalDefault"),
        AGE,
        TEXT("PreemptionPolicy", "preemptionPolicy"))},
    {"scheduling.k8s.io", "PodGroup", COLUMNS(NAME,
        CELL("Policy", group_policy, ""),
        TEXT("Workload", "spec.workloadRef.workloadName|<none>"),
        CELL("Status", group_status, ""),
        AGE)},
    {"scheduling.k8s.io", "CompositePodGroup", COLUMNS(NAME,
        CELL("Policy", group_policy, ""),
        TEXT("Workload", "spec.workloadRef.workloadName|<none>"),
        AGE)},
    {"scheduling.k8s.io", "Workload", COLUMNS(NAME, AGE)},

    {"coordination.k8s.io", "Lease", COLUMNS(NAME,
        TEXT("Holder", "spec.holderIdentity"),
        AGE)},
    {"coordination.k8s.io", "LeaseCandidate", COLUMNS(NAME,
        TEXT("LeaseName", "spec.leaseName"),
        TEXT("BinaryVersion", "spec.binaryVersion"),
        TEXT("EmulationVersion", "spec.emulationVersion"),
        AGE)},
    {"rbac.authorization.k8s.io", "RoleBinding", BINDING},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", BINDING},
    {"node.k8s.io", "RuntimeClass", COLUMNS(NAME, TEXT("Handler", "handler"), AGE)},
    {"discovery.k8s.io", "EndpointSlice", COLUMNS(NAME,
        TEXT("AddressType", "addressType"),
        CELL("Ports", slice_ports, ""),
        CELL("Endpoints", slice_endpoints, ""),
        AGE)},

    {"networking.k8s.io", "Ingress", COLUMNS(NAME,
        TEXT("Class", "spec.ingressClassName|<none>"),
        CELL("Hosts", hosts, ""),
        CELL("Address", addresses, ""),
        CELL("Ports", tls_ports, ""),
        AGE)},
    {"networking.k8s.io", "IngressClass", COLUMNS(
        {"Name", NULL, cell_default_name,
         "ingressclass.kubernetes.io/is-default-class", "name"},
        TEXT("Controller", "spec.controller"),
        CELL("Parameters", ingress_class, ""),
        AGE)},
    {"networking.k8s.io", "NetworkPolicy", COLUMNS(NAME,
        CELL("Pod-Selector", selector, "spec.podSelector"),
        AGE)},
    {"networking.k8s.io", "ServiceCIDR", COLUMNS(NAME,
        CELL("CIDRs", join, "spec.cidrs"),
        AGE)},
    {"networking.k8s.io", "IPAddress", COLUMNS(NAME, CELL("ParentRef", parent, ""))},

    {"storage.k8s.io", "StorageClass", COLUMNS(
        {"Name", NULL, cell_default_name, "", "name"},
        TEXT("Provisioner", "provisioner"),
        TEXT("ReclaimPolicy", "reclaimPolicy|Delete"),
        TEXT("VolumeBindingMode", "volumeBindingMode|Immediate"),
        CELL("AllowVolumeExpansion", bool, "allowVolumeExpansion"),
        AGE)},
    {"storage.k8s.io", "VolumeAttributesClass", COLUMNS(NAME,
        TEXT("DriverName", "driverName"),
        AGE)},
    {"storage.k8s.io", "VolumeAttachment", COLUMNS(NAME,
        {"Attacher", NULL, cell_text, "spec.attacher", "name"},
        TEXT("PV", "spec.source.persistentVolumeName"),
        TEXT("Node", "spec.nodeName"),
        BOOL("Attached", "status.attached"),
        AGE)},
    {"storage.k8s.io", "CSINode", COLUMNS(NAME, COUNT("Drivers", "spec.drivers"), AGE)},
    {"storage.k8s.io", "CSIDriver", COLUMNS(NAME,
        BOOL("AttachRequired", "spec.attachRequired|true"),
        BOOL("PodInfoOnMount", "spec.podInfoOnMount"),
        BOOL("StorageCapacity", "spec.storageCapacity"),
        CELL("TokenRequests", audiences, ""),
        BOOL("RequiresRepublish", "spec.requiresRepublish"),
        CELL("Modes", join, "spec.volumeLifecycleModes|<none>"),
        AGE)},
    {"storage.k8s.io", "CSIStorageCapacity", COLUMNS(NAME,
        TEXT("StorageClassName", "storageClassName"),
        TEXT("Capacity", "capacity|<unset>"))},

    {"certificates.k8s.io", "CertificateSigningRequest", COLUMNS(NAME,
        AGE,
        TEXT("SignerName", "spec.signerName|<none>"),
        TEXT("Requestor", "spec.username"),
        CELL("RequestedDuration", requested_duration, ""),
        CELL("Condition", request_status, ""))},
    {"certificates.k8s.io", "ClusterTrustBundle", COLUMNS(NAME,
        TEXT("SignerName", "spec.signerName|<none>"))},
    {"certificates.k8s.io", "PodCertificateRequest", COLUMNS(NAME,
        TEXT("PodName", "spec.podName"),
        TEXT("ServiceAccountName", "spec.serviceAccountName"),
        TEXT("NodeName", "spec.nodeName"),
        TEXT("SignerName", "spec.signerName"),
        CELL("State", certificate_state, ""),
        CELL("UnverifiedUserAnnotations", labels, "spec.unverifiedUserAnnotations"))},

    {ADMISSION, "MutatingWebhookConfiguration", WEBHOOKS},
    {ADMISSION, "ValidatingWebhookConfiguration", WEBHOOKS},
    {ADMISSION, "ValidatingAdmissionPolicy", POLICY("Validations", "spec.validations")},
    {ADMISSION, "MutatingAdmissionPolicy", POLICY("Mutations", "spec.mutations")},
    {ADMISSION, "ValidatingAdmissionPolicyBinding", POLICY_BINDING},
    {ADMISSION, "MutatingAdmissionPolicyBinding", POLICY_BINDING},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", COLUMNS(NAME,
        TEXT("PriorityLevel", "spec.priorityLevelConfiguration.name"),
        NUMBER("MatchingPrecedence", "spec.matchingPrecedence"),
        TEXT("DistinguisherMethod", "spec.distinguisherMethod.type|<none>"),
        AGE,
        CELL("MissingPL", condition_status, "Dangling"))},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", COLUMNS(NAME,
        TEXT("Type", "spec.type"),
        NUMBER("NominalConcurrencyShares",
               "spec.limited.nominalConcurrencyShares|<none>"),
        NUMBER("Queues", "spec.limited.limitResponse.queuing.queues|<none>"),
        NUMBER("HandSize", "spec.limited.limitResponse.queuing.handSize|<none>"),
        NUMBER("QueueLengthLimit",
               "spec.limited.limitResponse.queuing.queueLengthLimit|<none>"),
        AGE)},
    {"internal.apiserver.k8s.io", "StorageVersion", COLUMNS(NAME,
        TEXT("CommonEncodingVersion", "status.commonEncodingVersion|<unset>"),
        CELL("StorageVersions", server_versions, ""),
        AGE)},
    {"storagemigration.k8s.io", "StorageVersionMigration", COLUMNS(
        {"Name", NULL, cell_text, "metadata.name"},
        CELL("Resource", migration_resource, ""),
        CELL("Status", migration_status, ""))},
};
/* clang-format on */

static const struct table ANY_KIND = {
    NULL,
    NULL,
    COLUMNS(NAME, {"Created At", "date", cell_text, "metadata.creationTimestamp"}),
};

static const struct table *table_of(struct str api_version, struct str kind)
{
    size_t slash = str_find_byte(api_version, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(api_version, 0, slash);
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++)
        if (str_is(kind, TABLES[i].kind) && str_is(group, TABLES[i].group))
            return &TABLES[i];
    return &ANY_KIND;
}

/* ---- what a table consists of ---- */

static void set_text(struct arena *a, struct doc *d, const char *key, const char *text)
{
    doc_set(a, d, key, doc_make_string(a, str_from(text)));
}

/* What a column shows: a member of the object by its path, or something made of it. */
static struct str describe(const struct column *c, struct arena *a)
{
    if (c->argument && strchr(c->argument, '.') && !strchr(c->argument, '|'))
        return arena_printf(a, "The object's %s.", c->argument);
    return arena_printf(a, "%s of the object.", c->name);
}

static struct doc definitions(const struct api_print *p, const struct table *t)
{
    if (p->columns)
        return api_columns_definitions(p->columns, p->a);
    struct doc list = doc_make_list();
    for (const struct column *c = t->columns; c->name; c++) {
        struct doc d = doc_make_map();
        set_text(p->a, &d, "name", c->name);
        set_text(p->a, &d, "type", c->type ? c->type : "string");
        set_text(p->a, &d, "format", c->format ? c->format : "");
        doc_set(p->a, &d, "description", doc_make_string(p->a, describe(c, p->a)));
        doc_set(p->a, &d, "priority", doc_make_int(p->a, c->priority));
        doc_append(p->a, &list, d);
    }
    return list;
}

/* Pods that are through say so; clients may sort them out. */
static void add_conditions(const struct api_print *p, const struct doc *object,
                           struct doc *row)
{
    struct str phase = cell_path_text(object, "status.phase");
    bool failed = str_is(phase, "Failed");
    struct doc list = doc_make_list(), c = doc_make_map();
    if (!failed && !str_is(phase, "Succeeded"))
        return;
    set_text(p->a, &c, "type", "Completed");
    set_text(p->a, &c, "status", "True");
    set_text(p->a, &c, "reason", failed ? "Failed" : "Succeeded");
    set_text(p->a, &c, "message",
             failed ? "The pod failed." : "The pod has completed successfully.");
    doc_append(p->a, &list, c);
    doc_set(p->a, row, "conditions", list);
}

struct doc api_metadata_of(const struct doc *object, struct arena *a)
{
    static const char generation[] = "deprecated.daemonset.template.generation";
    const struct doc *meta = doc_get(object, "metadata");
    const struct doc *annotations = doc_get(meta, "annotations");
    if (!meta)
        return doc_make_map();
    if (!annotations || !doc_get(annotations, generation))
        return *meta;
    struct doc out = doc_make_map(), rest = doc_make_map();
    for (uint32_t i = 0; i < annotations->n; i++)
        if (!str_is(doc_key(&annotations->members[i]), generation))
            doc_set_str(a, &rest, doc_key(&annotations->members[i]),
                        annotations->members[i].value);
    for (uint32_t i = 0; i < meta->n; i++) {
        bool theirs = &meta->members[i].value == annotations;
        if (!theirs || rest.n)
            doc_set_str(a, &out, doc_key(&meta->members[i]),
                        theirs ? rest : meta->members[i].value);
    }
    return out;
}

static struct doc metadata_only(const struct api_print *p, const struct doc *object)
{
    struct doc d = doc_make_map();
    set_text(p->a, &d, "kind", "PartialObjectMetadata");
    set_text(p->a, &d, "apiVersion",
             arena_printf(p->a, "meta.k8s.io/%s", p->version ? p->version : "v1").p);
    doc_set(p->a, &d, "metadata", api_metadata_of(object, p->a));
    return d;
}

static struct doc cells_of(const struct api_print *p, const struct printing *how,
                           const struct table *t, const struct doc *object)
{
    if (p->columns)
        return api_columns_cells(p->columns, object, p->now, p->a);
    struct doc cells = doc_make_list();
    for (const struct column *c = t->columns; c->name; c++)
        doc_append(p->a, &cells, c->cell(how, object, c->argument));
    return cells;
}

static struct doc row_of(const struct api_print *p, const struct printing *how,
                         const struct table *t, const struct doc *object)
{
    struct doc row = doc_make_map();
    doc_set(p->a, &row, "cells", cells_of(p, how, t, object));
    if (t->kind && strcmp(t->kind, "Pod") == 0)
        add_conditions(p, object, &row);
    doc_set(p->a, &row, "object",
            p->include == API_INCLUDE_OBJECT     ? *object
            : p->include == API_INCLUDE_METADATA ? metadata_only(p, object)
                                                 : doc_make_null());
    return row;
}

/* ---- the StorageClass that claims of no class get: the newest that says it is it ----
 */

static bool is_default_class(const struct doc *object)
{
    static const char *const marks[] = {
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class"};
    const struct doc *notes = doc_path(object, "metadata.annotations");
    return doc_is_string(doc_get(notes, marks[0]), "true") ||
           doc_is_string(doc_get(notes, marks[1]), "true");
}

static struct str default_class(const struct doc *items, uint32_t n)
{
    struct str name = STR(""), made = STR("");
    for (uint32_t i = 0; i < n; i++) {
        struct str other = cell_path_text(&items[i], "metadata.name"),
                   when = cell_path_text(&items[i], "metadata.creationTimestamp");
        int c = str_cmp(when, made);
        if (!is_default_class(&items[i]))
            continue;
        if (!name.n || c > 0 || (c == 0 && str_cmp(other, name) < 0)) {
            name = other;
            made = when;
        }
    }
    return name;
}

/* ---- tables ---- */

static struct doc table_head(const struct api_print *p, const struct table *t,
                             const struct doc *object, bool list)
{
    static const char *const kept[] = {"resourceVersion", "continue",
                                       "remainingItemCount"};
    struct doc table = doc_make_map(), meta = doc_make_map();
    for (size_t i = 0; i < (list ? 3 : 1); i++) {
        const struct doc *d = doc_get(doc_get(object, "metadata"), kept[i]);
        if (d && d->type != DOC_NULL && d->n)
            doc_set(p->a, &meta, kept[i], *d);
    }
    set_text(p->a, &table, "kind", "Table");
    set_text(p->a, &table, "apiVersion", "meta.k8s.io/v1");
    doc_set(p->a, &table, "metadata", meta);
    doc_set(p->a, &table, "columnDefinitions",
            p->no_headers ? doc_make_list() : definitions(p, t));
    return table;
}

struct doc api_table(const struct api_print *p, const struct doc *object)
{
    struct str version = doc_get_text(object, "apiVersion"),
               kind = doc_get_text(object, "kind");
    const struct doc *items = doc_get(object, "items");
    bool called =
        p->columns ? str_is(kind, p->columns->list_kind) : str_ends(kind, STR("List"));
    bool list = called && items && items->type == DOC_LIST;
    if (list && !p->columns)
        kind = str_sub(kind, 0, kind.n - 4);
    const struct table *t = p->columns ? &ANY_KIND : table_of(version, kind);
    struct printing how = {p->a, p->now,
                           list ? default_class(items->items, items->n) : STR("")};
    struct doc table = table_head(p, t, object, list), rows = doc_make_list();
    for (uint32_t i = 0; list && i < items->n; i++)
        doc_append(p->a, &rows, row_of(p, &how, t, &items->items[i]));
    if (!list)
        doc_append(p->a, &rows, row_of(p, &how, t, object));
    doc_set(p->a, &table, "rows", rows);
    return table;
}
