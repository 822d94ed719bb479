/* SPDX-License-Identifier: Apache-2.0 */
/* Pods: their class of service, and fields that follow from others. */
#include "api/prepare_inner.h"
#include "num/quantity.h"

/* ---- quality of service ---- */

enum service { BEST_EFFORT, BURSTABLE, GUARANTEED };

static const char *const SERVICES[] = {"BestEffort", "Burstable", "Guaranteed"};

static struct quantity amount(const struct doc *amounts, const char *resource,
                              struct arena *a)
{
    struct quantity q = QUANTITY_ZERO;
    struct str text = doc_get_text(amounts, resource);
    if (text.n && !quantity_parse(text, a, &q, NULL))
        q = QUANTITY_ZERO;
    return q;
}

static enum service service_of_one(const struct doc *resources, const char *resource,
                                   struct arena *a)
{
    struct quantity asked = amount(doc_get(resources, "requests"), resource, a),
                    limit = amount(doc_get(resources, "limits"), resource, a);
    if (quantity_cmp(&asked, &limit) != 0)
        return BURSTABLE;
    return quantity_sign(&asked) == 0 ? BEST_EFFORT : GUARANTEED;
}

/* Parts that agree are that, any others together are burstable. */
static enum service service_of(const struct doc *resources, struct arena *a)
{
    enum service cpu = service_of_one(resources, "cpu", a),
                 memory = service_of_one(resources, "memory", a);
    return cpu == memory ? cpu : BURSTABLE;
}

static bool has_pod_level(const struct doc *amounts)
{
    for (uint32_t i = 0; amounts && amounts->type == DOC_MAP && i < amounts->n; i++)
        if (prepare_is_pod_level(doc_key(&amounts->members[i])))
            return true;
    return false;
}

static enum service pod_service(const struct doc *spec, struct arena *a)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const struct doc *own = doc_get(spec, "resources");
    enum service all = BEST_EFFORT;
    bool any = false;
    if (has_pod_level(doc_get(own, "requests")) || has_pod_level(doc_get(own, "limits")))
        return service_of(own, a);
    for (int k = 0; k < 2; k++) {
        const struct doc *list = doc_get(spec, lists[k]);
        for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
            enum service one = service_of(doc_get(&list->items[i], "resources"), a);
            if (any && one != all)
                return BURSTABLE;
            all = one;
            any = true;
        }
    }
    return all;
}

const char *api_pod_qos(const struct doc *spec, struct arena *a)
{
    return SERVICES[pod_service(spec, a)];
}

/* ---- label keys become requirements of the selector beside them ---- */

struct keys {
    const struct api_prepare *p;
    const struct doc *labels;
    const char *field, *operator;
};

static void add_requirement(const struct keys *k, struct doc *selector, struct str key,
                            const struct doc *value)
{
    struct doc one = doc_make_map(), values = doc_make_list();
    struct doc *list = api_edit_get(selector, "matchExpressions");
    if (!list)
        list = doc_set(k->p->a, selector, "matchExpressions", doc_make_list());
    doc_append(k->p->a, &values, *value);
    prepare_text(k->p, &one, "key", key);
    prepare_text(k->p, &one, "operator", str_from(k->operator));
    doc_set(k->p->a, &one, "values", values);
    doc_append(k->p->a, list, one);
}

static void apply_keys(void *ctx, struct doc *term)
{
    const struct keys *k = ctx;
    const struct doc *keys = doc_get(term, k->field);
    struct doc *selector = api_edit_get(term, "labelSelector");
    for (uint32_t i = 0; selector && keys && keys->type == DOC_LIST && i < keys->n; i++) {
        const struct doc *value = doc_get_str(k->labels, doc_str(&keys->items[i]));
        if (value)
            add_requirement(k, selector, doc_str(&keys->items[i]), value);
    }
}

static void label_keys(const struct api_prepare *p, struct doc *pod)
{
    static const char *const places[] = {
        "spec.topologySpreadConstraints[]",
        "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[]"
        ".podAffinityTerm",
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[]",
        "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[]"
        ".podAffinityTerm",
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[]",
    };
    const struct doc *labels = doc_path(pod, "metadata.labels");
    struct keys match = {p, labels, "matchLabelKeys", "In"},
                differ = {p, labels, "mismatchLabelKeys", "NotIn"};
    for (size_t i = 0; labels && i < sizeof places / sizeof *places; i++) {
        api_edit_each(pod, places[i], apply_keys, &match);
        api_edit_each(pod, places[i], apply_keys, &differ);
    }
}

/* ---- new pods, and their status ---- */

static void mark_gated(const struct api_prepare *p, struct doc *status)
{
    struct doc list = doc_make_list(), condition = doc_make_map();
    prepare_text(p, &condition, "type", STR("PodScheduled"));
    prepare_text(p, &condition, "status", STR("False"));
    prepare_text(p, &condition, "reason", STR("SchedulingGated"));
    prepare_text(p, &condition, "message",
                 STR("Scheduling is blocked due to non-empty scheduling gates"));
    prepare_text(p, &condition, "lastTransitionTime", p->now);
    doc_append(p->a, &list, condition);
    doc_set(p->a, status, "conditions", list);
}

void prepare_new_pod(const struct api_prepare *p, struct doc *pod, const struct doc *old)
{
    prepare_map(p, pod, "status");
    struct doc *spec = prepare_map(p, pod, "spec"), *status;
    const struct doc *gates = doc_get(spec, "schedulingGates");
    bool gated = gates && gates->type == DOC_LIST && gates->n;
    prepare_pod_level(p, spec);
    status = api_edit_get(pod, "status"); /* pod may have moved */
    prepare_text(p, status, "phase", STR("Pending"));
    prepare_text(p, status, "qosClass", str_from(SERVICES[pod_service(spec, p->a)]));
    if (gated)
        mark_gated(p, status);
    label_keys(p, pod);
}

static const struct doc *condition_of(const struct doc *status, struct str type)
{
    const struct doc *v = doc_get(status, "conditions");
    for (uint32_t i = 0; v && v->type == DOC_LIST && i < v->n; i++)
        if (str_eq(doc_get_text(&v->items[i], "type"), type))
            return &v->items[i];
    return NULL;
}

/* Which generation a condition saw, where its writer does not say. */
static void keep_observed(const struct api_prepare *p, struct doc *status,
                          const struct doc *was)
{
    static const char key[] = "observedGeneration";
    struct doc *list = api_edit_get(status, "conditions");
    if (!doc_get(status, key))
        prepare_keep(p, status, was, key);
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *before =
            condition_of(was, doc_get_text(&list->items[i], "type"));
        if (before && !doc_get(&list->items[i], key))
            prepare_keep(p, &list->items[i], before, key);
    }
}

/* Fields that kubelets of older versions do not know survive their writing. */
void prepare_pod_status(const struct api_prepare *p, struct doc *pod,
                        const struct doc *old)
{
    static const char *const kept[] = {"qosClass", "resourceClaimStatuses",
                                       "extendedResourceClaimStatus",
                                       "nodeAllocatableResourceClaimStatuses"};
    struct doc *meta = prepare_map(p, pod, "metadata");
    prepare_keep(p, meta, doc_get(old, "metadata"), "ownerReferences");
    prepare_keep(p, meta, doc_get(old, "metadata"), "deletionTimestamp");
    struct doc *status = prepare_map(p, pod, "status");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!api_edit_get(status, kept[i]))
            prepare_keep(p, status, doc_get(old, "status"), kept[i]);
    keep_observed(p, status, doc_get(old, "status"));
}

/* ---- subresources that change one thing ---- */

/* Everything as old has it, but spec[key]. */
static void only(const struct api_prepare *p, struct doc *pod, const struct doc *old,
                 const char *key)
{
    struct doc *spec = prepare_map(p, pod, "spec");
    struct doc was = doc_dup(p->a, doc_get(old, "spec"));
    prepare_keep(p, &was, spec, key);
    *spec = was;
    prepare_keep(p, pod, old, "status");
}

void prepare_pod_debug(const struct api_prepare *p, struct doc *pod,
                       const struct doc *old)
{
    only(p, pod, old, "ephemeralContainers");
}

static bool same_names(const struct doc *a, const struct doc *b)
{
    uint32_t n = a && a->type == DOC_LIST ? a->n : 0;
    if (n != (b && b->type == DOC_LIST ? b->n : 0))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(doc_get_text(&a->items[i], "name"),
                    doc_get_text(&b->items[i], "name")))
            return false;
    return true;
}

/* Containers of other names stay as they are written, for validation to refuse. */
static void resize_containers(const struct api_prepare *p, struct doc *spec,
                              const struct doc *was, const char *key)
{
    struct doc *now = api_edit_get(spec, key);
    const struct doc *before = doc_get(was, key);
    for (uint32_t i = 0; now && same_names(now, before) && i < now->n; i++) {
        struct doc merged = doc_dup(p->a, &before->items[i]);
        prepare_keep(p, &merged, &now->items[i], "resources");
        prepare_keep(p, &merged, &now->items[i], "resizePolicy");
        now->items[i] = merged;
    }
}

void prepare_pod_resize(const struct api_prepare *p, struct doc *pod,
                        const struct doc *old)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct doc *spec = prepare_map(p, pod, "spec");
    struct doc was = doc_dup(p->a, doc_get(old, "spec"));
    for (int i = 0; i < 2; i++) {
        const struct doc *now = doc_get(spec, lists[i]),
                         *before = doc_get(&was, lists[i]);
        if ((now ? now->n : 0) != (before ? before->n : 0))
            return;
    }
    for (int i = 0; i < 2; i++) {
        resize_containers(p, spec, &was, lists[i]);
        prepare_keep(p, &was, spec, lists[i]);
    }
    if (api_edit_get(spec, "resources"))
        prepare_keep(p, &was, spec, "resources");
    *spec = was;
    prepare_pod_level(p, spec);
    prepare_keep(p, pod, old, "status");
}
