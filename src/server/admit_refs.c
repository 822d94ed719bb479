/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod refers to that only the API knows: a mirror pod must not. */
#include "server/admit.h"

/* ---- secrets and config maps by name ---- */

static bool is_named(const struct doc *d, const char *key)
{
    return doc_get_text(d, key).n > 0;
}

/* Containers of every list that take something from objects of a kind. */
static bool container_refers(const struct doc *c, const char *from, const char *key)
{
    const struct doc *env = doc_get(c, "env"), *all = doc_get(c, "envFrom");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (is_named(doc_get(&all->items[i], from), "name"))
            return true;
    for (uint32_t i = 0; env && env->type == DOC_LIST && i < env->n; i++)
        if (is_named(doc_get(doc_get(&env->items[i], "valueFrom"), key), "name"))
            return true;
    return false;
}

static bool containers_refer(const struct doc *spec, const char *from, const char *key)
{
    static const char *const LISTS[] = {"initContainers", "containers",
                                        "ephemeralContainers"};
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        const struct doc *all = doc_get(spec, LISTS[i]);
        for (uint32_t k = 0; all && all->type == DOC_LIST && k < all->n; k++)
            if (container_refers(&all->items[k], from, key))
                return true;
    }
    return false;
}

static bool volume_has_secret(const struct doc *volume)
{
    static const struct {
        const char *path, *key;
    } PLACES[] = {
        {"azureFile", "secretName"},     {"cephfs.secretRef", "name"},
        {"cinder.secretRef", "name"},    {"flexVolume.secretRef", "name"},
        {"rbd.secretRef", "name"},       {"secret", "secretName"},
        {"scaleIO.secretRef", "name"},   {"iscsi.secretRef", "name"},
        {"storageos.secretRef", "name"}, {"csi.nodePublishSecretRef", "name"},
    };
    const struct doc *sources = doc_path(volume, "projected.sources");
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++)
        if (is_named(doc_path(volume, PLACES[i].path), PLACES[i].key))
            return true;
    for (uint32_t i = 0; sources && sources->type == DOC_LIST && i < sources->n; i++)
        if (is_named(doc_get(&sources->items[i], "secret"), "name"))
            return true;
    return false;
}

static bool volume_has_map(const struct doc *volume)
{
    const struct doc *sources = doc_path(volume, "projected.sources");
    if (is_named(doc_get(volume, "configMap"), "name"))
        return true;
    for (uint32_t i = 0; sources && sources->type == DOC_LIST && i < sources->n; i++)
        if (is_named(doc_get(&sources->items[i], "configMap"), "name"))
            return true;
    return false;
}

static bool any_volume(const struct doc *spec, bool (*test)(const struct doc *volume))
{
    const struct doc *all = doc_get(spec, "volumes");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++)
        if (test(&all->items[i]))
            return true;
    return false;
}

bool pod_has_secrets(const struct doc *pod)
{
    const struct doc *spec = doc_get(pod, "spec"),
                     *pull = doc_get(spec, "imagePullSecrets");
    for (uint32_t i = 0; pull && pull->type == DOC_LIST && i < pull->n; i++)
        if (is_named(&pull->items[i], "name"))
            return true;
    return containers_refer(spec, "secretRef", "secretKeyRef") ||
           any_volume(spec, volume_has_secret);
}

/* ---- volumes by their kind ---- */

struct reference {
    const char *member, *what;
};

static const char *reference_in(const struct doc *d, const struct reference *rows,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (doc_get(d, rows[i].member))
            return rows[i].what;
    return NULL;
}
#define REFERENCE_IN(d, rows) reference_in((d), (rows), sizeof(rows) / sizeof *(rows))

static const char *volume_reference(const struct doc *volume)
{
    static const struct reference VOLUMES[] = {
        {"configMap", "configmaps (via configmap volumes)"},
        {"secret", "secrets (via secret volumes)"},
        {"csi", "csidrivers (via CSI volumes)"},
        {"glusterfs", "endpoints (via glusterFS volumes)"},
        {"persistentVolumeClaim", "persistentvolumeclaims"},
        {"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
        {"azureFile", "secrets (via azureFile volumes)"},
    };
    static const struct reference SOURCES[] = {
        {"configMap", "configmaps (via projected volumes)"},
        {"secret", "secrets (via projected volumes)"},
        {"serviceAccountToken", "serviceaccounts (via projected volumes)"},
        {"clusterTrustBundle", "clustertrustbundles"},
        {"podCertificate", "podcertificates"},
    };
    const struct doc *sources = doc_path(volume, "projected.sources");
    const char *what = REFERENCE_IN(volume, VOLUMES);
    for (uint32_t i = 0; !what && sources && sources->type == DOC_LIST && i < sources->n;
         i++)
        what = REFERENCE_IN(&sources->items[i], SOURCES);
    return what;
}

const char *pod_reference(const struct doc *pod)
{
    const struct doc *spec = doc_get(pod, "spec"), *volumes = doc_get(spec, "volumes");
    if (is_named(spec, "serviceAccountName"))
        return "serviceaccounts";
    if (pod_has_secrets(pod))
        return "secrets";
    if (containers_refer(spec, "configMapRef", "configMapKeyRef") ||
        any_volume(spec, volume_has_map))
        return "configmaps";
    if (admit_count(spec, "resourceClaims"))
        return "resourceclaims";
    for (uint32_t i = 0; volumes && volumes->type == DOC_LIST && i < volumes->n; i++) {
        const char *what = volume_reference(&volumes->items[i]);
        if (what)
            return what;
    }
    return NULL;
}
