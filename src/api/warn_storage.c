/* SPDX-License-Identifier: Apache-2.0 */
/* What writers of storage kinds are told. */
#include "api/warn_inner.h"

#include "api/rules.h"
#include "num/quantity.h"

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

static void warn_terms(const struct api_warn *w, const char *path,
                       const struct doc *terms)
{
    for (uint32_t i = 0; i < count(terms); i++) {
        struct str key = doc_get_text(&terms->items[i], "key");
        const char *why = warn_label(key);
        if (why)
            warn_tell(w, "%s[%u].key: %.*s is %s", path, i, STR_ARG(key), why);
    }
}

void warn_of_volume(const struct api_warn *w, const struct doc *object,
                    const struct doc *old)
{
    static const struct {
        const char *key, *text;
    } NOTES[] =
        {
            {"volume.beta.kubernetes.io/storage-class",
             "deprecated since v1.8; use \"storageClassName\" attribute instead"},
            {"volume.beta.kubernetes.io/mount-options",
             "deprecated since v1.31; use \"mountOptions\" attribute instead"},
        },
      GONE[] = {
          {"cephfs", "cephfs: deprecated in v1.28, non-functional in v1.31+"},
          {"photonPersistentDisk",
           "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"},
          {"scaleIO", "scaleIO: deprecated in v1.16, non-functional in v1.22+"},
          {"storageos", "storageOS: deprecated in v1.22, non-functional in v1.25+"},
          {"glusterfs", "glusterfs: deprecated in v1.25, non-functional in v1.26+"},
          {"rbd", "rbd: deprecated in v1.28, non-functional in v1.31+"},
      };
    const struct doc *spec = doc_get(object, "spec"),
                     *notes = doc_path(object, "metadata.annotations"),
                     *terms = doc_path(spec, "nodeAffinity.required.nodeSelectorTerms");
    for (size_t i = 0; i < sizeof NOTES / sizeof *NOTES; i++)
        if (doc_get(notes, NOTES[i].key))
            warn_tell(w, "metadata.annotations[%s]: %s", NOTES[i].key, NOTES[i].text);
    if (doc_is_string(doc_get(spec, "persistentVolumeReclaimPolicy"), "Recycle"))
        warn_tell(w, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is "
                     "deprecated. Instead, the recommended approach is to use dynamic "
                     "provisioning.");
    for (uint32_t i = 0; i < count(terms); i++)
        warn_terms(w,
                   arena_printf(w->a,
                                "spec.nodeAffinity.required.nodeSelectorTerms[%u]."
                                "matchExpressions",
                                i)
                       .p,
                   doc_get(&terms->items[i], "matchExpressions"));
    for (size_t i = 0; i < sizeof GONE / sizeof *GONE; i++)
        if (api_member(spec, GONE[i].key))
            warn_tell(w, "spec.%s", GONE[i].text);
}

static void warn_fraction(const struct api_warn *w, const struct doc *spec,
                          const char *at, const char *map)
{
    const struct doc *size = doc_get(doc_get(doc_get(spec, "resources"), map), "storage");
    struct quantity q;
    int64_t whole;
    if (!size || (size->type != DOC_STRING && size->type != DOC_NUMBER) ||
        !quantity_parse(doc_str(size), w->a, &q, NULL) ||
        quantity_scaled_exact(&q, 0, &whole) || !quantity_scaled(&q, 0, &whole))
        return;
    struct str text = quantity_print(&q, w->a);
    warn_tell(w,
              "%s.resources.%s[storage]: fractional byte value \"%.*s\" is invalid, "
              "must be an integer",
              at, map, STR_ARG(text));
}

void warn_of_claim_spec(const struct api_warn *w, const struct doc *spec, const char *at)
{
    warn_fraction(w, spec, at, "requests");
    warn_fraction(w, spec, at, "limits");
}

void warn_of_claim(const struct api_warn *w, const struct doc *object,
                   const struct doc *old)
{
    static const char KEY[] = "volume.beta.kubernetes.io/storage-class";
    const struct doc *spec = doc_get(object, "spec");
    if (doc_get(doc_path(object, "metadata.annotations"), KEY))
        warn_tell(w,
                  "metadata.annotations[%s]: deprecated since v1.8; use "
                  "\"storageClassName\" attribute instead",
                  KEY);
    warn_of_claim_spec(w, spec, "spec");
}

void warn_of_class(const struct api_warn *w, const struct doc *object,
                   const struct doc *old)
{
    const struct doc *all = doc_get(object, "allowedTopologies");
    for (uint32_t i = 0; i < count(all); i++) {
        const struct doc *terms = doc_get(&all->items[i], "matchLabelExpressions");
        for (uint32_t k = 0; k < count(terms); k++) {
            const char *why = warn_label(doc_get_text(&terms->items[k], "key"));
            if (why)
                warn_tell(w, "allowedTopologies[%u].matchLabelExpressions[%u].key: %s", i,
                          k, why);
        }
    }
}

void warn_of_capacity(const struct api_warn *w, const struct doc *object,
                      const struct doc *old)
{
    const struct doc *labels = doc_path(object, "nodeTopology.matchLabels");
    warn_terms(w, "nodeTopology.matchExpressions",
               doc_path(object, "nodeTopology.matchExpressions"));
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        struct str key = doc_key(&labels->members[i]);
        const char *why = warn_label(key);
        if (why)
            warn_tell(w, "nodeTopology.matchLabels.%.*s: %s", STR_ARG(key), why);
    }
}

void warn_of_driver(const struct api_warn *w, const struct doc *object,
                    const struct doc *old)
{
    const struct doc *now = doc_path(object, "spec.tokenRequests"),
                     *was = doc_path(old, "spec.tokenRequests");
    bool same = old && (now && was ? doc_equal(now, was) : count(now) == count(was));
    if (count(now) && !same && !doc_path(object, "spec.serviceAccountTokenInSecrets"))
        warn_tell(w, "spec.serviceAccountTokenInSecrets is unset; if supported by this "
                     "CSI driver, set to true to prevent possible logging of tokens in "
                     "volume attributes");
}
