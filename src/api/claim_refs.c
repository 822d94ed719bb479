/* SPDX-License-Identifier: Apache-2.0 */
#include "api/claim_refs.h"

static const struct str GROUP_PREFIX = {"scheduling.k8s.io/", 18};

static struct str meta_text(const struct doc *d, const char *key)
{
    return doc_get_text(doc_get(d, "metadata"), key);
}

bool claim_ref_is_deleted(const struct doc *object)
{
    const struct doc *t = doc_get(doc_get(object, "metadata"), "deletionTimestamp");
    return t && t->type == DOC_STRING;
}

struct str claim_ref_group(const struct doc *pod)
{
    return doc_get_text(doc_path(pod, "spec.schedulingGroup"), "podGroupName");
}

static const struct doc *find_named(const struct doc *list, struct str name)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), name))
            return &list->items[i];
    return NULL;
}

enum claim_known claim_ref_name(const struct doc *owner, const struct doc *entry,
                                struct str *name)
{
    struct str direct = doc_get_text(entry, "resourceClaimName");
    if (direct.p) {
        *name = direct;
        return CLAIM_NAMED;
    }
    if (!doc_get_text(entry, "resourceClaimTemplateName").p)
        return CLAIM_UNKNOWN;
    const struct doc *status = find_named(doc_path(owner, "status.resourceClaimStatuses"),
                                          doc_get_text(entry, "name"));
    if (!status)
        return CLAIM_NOT_MADE;
    struct str made = doc_get_text(status, "resourceClaimName");
    if (!made.p)
        return CLAIM_NOT_NEEDED;
    *name = made;
    return CLAIM_GENERATED;
}

bool claim_ref_is_groups(const struct doc *pod_entry, const struct doc *group)
{
    static const char *const FIELDS[] = {"resourceClaimName",
                                         "resourceClaimTemplateName"};
    const struct doc *entry = find_named(doc_path(group, "spec.resourceClaims"),
                                         doc_get_text(pod_entry, "name"));
    if (!entry)
        return false;
    for (int i = 0; i < 2; i++) {
        struct str a = doc_get_text(entry, FIELDS[i]),
                   b = doc_get_text(pod_entry, FIELDS[i]);
        if (!a.p != !b.p || !str_eq(a, b))
            return false;
    }
    return true;
}

const struct doc *claim_ref_controller(const struct doc *object)
{
    const struct doc *owners = doc_path(object, "metadata.ownerReferences");
    for (uint32_t i = 0; owners && owners->type == DOC_LIST && i < owners->n; i++) {
        bool controller = false;
        if (doc_get_bool(&owners->items[i], "controller", &controller) && controller)
            return &owners->items[i];
    }
    return NULL;
}

static bool is_for_group_of(const struct doc *controller, const struct doc *pod)
{
    struct str group = claim_ref_group(pod);
    return group.n && controller && str_eq(doc_get_text(controller, "name"), group) &&
           doc_is_string(doc_get(controller, "kind"), "PodGroup") &&
           str_starts(doc_get_text(controller, "apiVersion"), GROUP_PREFIX);
}

bool claim_ref_is_for(const struct doc *claim, const struct doc *owner, bool groups)
{
    const struct doc *controller = claim_ref_controller(claim);
    if (!str_eq(meta_text(claim, "namespace"), meta_text(owner, "namespace")))
        return false;
    if (controller && str_eq(doc_get_text(controller, "uid"), meta_text(owner, "uid")))
        return true;
    return groups && is_for_group_of(controller, owner);
}

struct str claim_ref_not_for(const struct doc *claim, const struct doc *pod, bool groups,
                             struct arena *a)
{
    struct str ns = meta_text(claim, "namespace"), name = meta_text(claim, "name"),
               pod_ns = meta_text(pod, "namespace"), pod_name = meta_text(pod, "name"),
               group = claim_ref_group(pod);
    if (!str_eq(ns, pod_ns))
        return arena_printf(
            a, "ResourceClaim %.*s/%.*s is not in the same namespace as Pod %.*s/%.*s",
            STR_ARG(ns), STR_ARG(name), STR_ARG(pod_ns), STR_ARG(pod_name));
    struct str why = groups && group.n
                         ? arena_printf(a, "neither Pod nor PodGroup %.*s is the owner",
                                        STR_ARG(group))
                         : STR("Pod is not owner");
    return arena_printf(
        a, "ResourceClaim %.*s/%.*s was not created for Pod %.*s/%.*s (%.*s)",
        STR_ARG(ns), STR_ARG(name), STR_ARG(pod_ns), STR_ARG(pod_name), STR_ARG(why));
}

bool claim_ref_is_reserved(const struct doc *claim, const struct doc *pod, bool groups)
{
    const struct doc *list = doc_path(claim, "status.reservedFor");
    struct str uid = meta_text(pod, "uid"), group = claim_ref_group(pod);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *r = &list->items[i];
        if (str_eq(doc_get_text(r, "uid"), uid))
            return true;
        if (groups && group.n && str_eq(doc_get_text(r, "name"), group) &&
            doc_is_string(doc_get(r, "apiGroup"), "scheduling.k8s.io") &&
            doc_is_string(doc_get(r, "resource"), "podgroups"))
            return true;
    }
    return false;
}

bool claim_ref_pod_is_done(const struct doc *pod)
{
    const struct doc *phase = doc_path(pod, "status.phase");
    bool bound = doc_get_text(doc_get(pod, "spec"), "nodeName").n > 0;
    return doc_is_string(phase, "Succeeded") || doc_is_string(phase, "Failed") ||
           (claim_ref_is_deleted(pod) && !bound);
}
