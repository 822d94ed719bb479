/* SPDX-License-Identifier: Apache-2.0 */
/* Fields whose features are not on in 1.37: nobody sets them, but those that a stored
 * object has stay. */
#include <stdio.h>
#include <string.h>

#include "api/edit.h"
#include "api/prepare_inner.h"

static const struct {
    const char *place, *field; /* below the pod's spec; "*" stands for the containers */
} FIELDS[] = {
    {"", "evictionResponders"},
    {"*.volumeMounts[]", "bindMountOptions"},
    {"*.lifecycle", "stopSignal"},
    {"*.livenessProbe.httpGet", "protocol"},
    {"*.readinessProbe.httpGet", "protocol"},
    {"*.startupProbe.httpGet", "protocol"},
    {"*.lifecycle.postStart.httpGet", "protocol"},
    {"*.lifecycle.preStop.httpGet", "protocol"},
    {"*.livenessProbe.grpc", "mode"},
    {"*.readinessProbe.grpc", "mode"},
    {"*.startupProbe.grpc", "mode"},
    {"volumes[].emptyDir", "mode"},
    {"volumes[].projected.sources[].clusterTrustBundle", "user"},
    {"volumes[].secret", "defaultUser"},
    {"volumes[].configMap", "defaultUser"},
    {"volumes[].downwardAPI", "defaultUser"},
    {"volumes[].projected", "defaultUser"},
    {"volumes[].secret.items[]", "user"},
    {"volumes[].configMap.items[]", "user"},
    {"volumes[].downwardAPI.items[]", "user"},
    {"volumes[].projected.sources[].secret.items[]", "user"},
    {"volumes[].projected.sources[].configMap.items[]", "user"},
    {"volumes[].projected.sources[].downwardAPI.items[]", "user"},
    {"volumes[].projected.sources[].serviceAccountToken", "user"},
    {"volumes[].projected.sources[].podCertificate", "user"},
};

static const struct {
    const char *resource, *spec;
} PODS[] = {
    {"pods", "spec"},
    {"podtemplates", "template.spec"},
    {"replicationcontrollers", "spec.template.spec"},
    {"deployments", "spec.template.spec"},
    {"replicasets", "spec.template.spec"},
    {"daemonsets", "spec.template.spec"},
    {"statefulsets", "spec.template.spec"},
    {"jobs", "spec.template.spec"},
    {"cronjobs", "spec.jobTemplate.spec.template.spec"},
};

static const struct {
    const char *resource, *place, *field;
} OTHERS[] = {
    {"workloads", "spec", "compositePodGroupTemplates"},
    {"workloads", "spec.podGroupTemplates[]", "schedulingConstraints"},
    {"workloads", "spec.podGroupTemplates[]", "preemptionPolicy"},
    {"jobs", "spec", "scheduling"},
    {"cronjobs", "spec.jobTemplate.spec", "scheduling"},
    {"podgroups", "spec", "schedulingConstraints"},
    {"podgroups", "spec", "preemptionPolicy"},
    {"podgroups", "spec", "parentCompositePodGroupName"},
    {"nodes", "spec", "configSource"},
    {"nodes", "spec", "podPreemptionPolicy"},
    {"nodes", "status", "config"},
    {"pods", "status", "volumeHealth"},
    {"pods", "status.containerStatuses[].volumeMounts[]", "volumeStatus"},
    {"pods", "status.initContainerStatuses[].volumeMounts[]", "volumeStatus"},
    {"pods", "status.ephemeralContainerStatuses[].volumeMounts[]", "volumeStatus"},
};

struct dropping {
    const char *field;
    bool found;
};

static void look(void *ctx, struct doc *d)
{
    struct dropping *x = ctx;
    x->found = x->found || api_edit_get(d, x->field);
}

static void drop(void *ctx, struct doc *d)
{
    const struct dropping *x = ctx;
    if (d->type == DOC_MAP)
        doc_remove(d, str_from(x->field));
}

/* A life cycle of nothing but a signal goes with it. */
static void drop_empty(void *ctx, struct doc *container)
{
    const struct doc *lifecycle = api_edit_get(container, "lifecycle");
    (void)ctx;
    if (lifecycle && lifecycle->type == DOC_MAP && lifecycle->n == 1 &&
        doc_get(lifecycle, "stopSignal"))
        doc_remove(container, STR("lifecycle"));
}

static void drop_at(struct doc *object, const struct doc *old, const char *place,
                    const char *field)
{
    struct dropping x = {.field = field};
    if (old)
        api_edit_each((struct doc *)old, place, look, &x);
    if (x.found)
        return;
    if (strcmp(field, "stopSignal") == 0) {
        struct str above =
            str_sub(str_from(place), 0, strlen(place) - strlen(".lifecycle"));
        char container[160];
        snprintf(container, sizeof container, "%.*s", STR_ARG(above));
        api_edit_each(object, container, drop_empty, NULL);
    }
    api_edit_each(object, place, drop, &x);
}

static void drop_row(struct doc *object, const struct doc *old, const char *spec,
                     const char *place, const char *field)
{
    static const char *const LISTS[] = {"containers[]", "initContainers[]",
                                        "ephemeralContainers[]"};
    char at[160];
    if (place[0] != '*') {
        snprintf(at, sizeof at, "%s%s%s", spec, place[0] ? "." : "", place);
        drop_at(object, old, at, field);
        return;
    }
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        snprintf(at, sizeof at, "%s.%s%s", spec, LISTS[i], place + 1);
        drop_at(object, old, at, field);
    }
}

/* A resource, or a side of it. */
static bool is_of(const struct api_kind *kind, const char *resource)
{
    size_t n = strlen(resource);
    return strncmp(kind->resource, resource, n) == 0 &&
           (kind->resource[n] == '\0' || kind->resource[n] == '/');
}

void prepare_drop_alpha(const struct api_kind *kind, struct doc *object,
                        const struct doc *old)
{
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (is_of(kind, OTHERS[i].resource))
            drop_at(object, old, OTHERS[i].place, OTHERS[i].field);
    for (size_t k = 0; k < sizeof PODS / sizeof *PODS; k++)
        if (is_of(kind, PODS[k].resource))
            for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
                drop_row(object, old, PODS[k].spec, FIELDS[i].place, FIELDS[i].field);
}
