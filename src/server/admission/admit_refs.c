/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod refers to that only the API knows: a mirror pod must not. */
#include "server/admission/admit.h"
#include "server/rest/pod_refs.h"

/* ---- by name ---- */

static void note(void *ctx, enum ref_kind kind, struct str name)
{
    (void)name;
    *(unsigned *)ctx |= 1U << kind;
}

/* A bit for each kind of object that it names. */
static unsigned kinds_named(const struct doc *pod)
{
    unsigned kinds = 0;
    pod_refs_all(pod, note, &kinds);
    return kinds;
}

bool pod_has_secrets(const struct doc *pod)
{
    return kinds_named(pod) >> REF_SECRET & 1;
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
    unsigned kinds = kinds_named(pod);
    if (kinds >> REF_ACCOUNT & 1)
        return "serviceaccounts";
    if (kinds >> REF_SECRET & 1)
        return "secrets";
    if (kinds >> REF_CONFIGMAP & 1)
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
