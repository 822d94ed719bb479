/* SPDX-License-Identifier: Apache-2.0 */
/* What pods/resize lets change: processors and memory, up and down, never away. */
#include "api/edit.h"
#include "api/prepare.h"
#include "api/rules_pod.h"

#define MIRROR "kubernetes.io/config.mirror"
#define ONLY "only cpu and memory resources"

static uint32_t count(const struct doc *list)
{
    return list ? list->n : 0;
}

/* ---- pods that cannot be resized at all ---- */

/* Such an error stands alone: whatever else was found is forgotten. */
static bool refuse(struct api_at *at, const char *text)
{
    at->w->errors->list.n = 0;
    api_report_path(at->w, STR(""), NULL, API_ERROR_FORBIDDEN, "%s", text);
    return false;
}

static bool is_fixed(struct api_at *at)
{
    const struct doc *notes = doc_path(at->w->opts->old, "metadata.annotations");
    if (doc_get(notes, MIRROR))
        return !refuse(at, "static pods cannot be resized");
    if (doc_is_string(doc_path(at->old, "os.name"), "windows"))
        return !refuse(at, "windows pods cannot be resized");
    return false;
}

/* A kubelet that knows nothing of resizing reports no resources. */
static bool is_supported(const struct doc *pod)
{
    const struct doc *all = doc_path(pod, "status.containerStatuses");
    for (uint32_t i = 0; i < count(all); i++)
        if (api_member(api_member(&all->items[i], "state"), "running"))
            return api_member(&all->items[i], "resources") != NULL;
    return true;
}

static void check_service(struct api_at *at)
{
    const struct doc *old = at->w->opts->old;
    struct str had = doc_get_text(doc_get(old, "status"), "qosClass");
    if (!had.n)
        had = str_from(api_pod_qos(at->old, at->w->a));
    if (!str_is(had, api_pod_qos(at->value, at->w->a)))
        api_report_shown(at, "", api_shown_text(at->w->a, had), API_ERROR_INVALID,
                         "Pod QOS Class may not change as a result of resizing");
    if (!is_supported(old))
        api_report_at(at, "", NULL, API_ERROR_FORBIDDEN,
                      "Pod running on node without support for resize");
}

/* ---- lists of resources ---- */

static bool loses(const struct doc *now, const struct doc *was)
{
    for (uint32_t i = 0; i < count(was); i++)
        if (!doc_get_str(now, doc_key(&was->members[i])))
            return true;
    return false;
}

static void check_lost(struct api_at *at, const char *path, const struct doc *now,
                       const struct doc *was, const char *what)
{
    static const char *const LISTS[] = {"requests", "limits"};
    for (int i = 0; i < 2; i++)
        if (loses(api_member(now, LISTS[i]), api_member(was, LISTS[i])))
            api_report_at(at, arena_printf(at->w->a, "%s.%s", path, LISTS[i]).p, NULL,
                          API_ERROR_FORBIDDEN, "%s %s cannot be removed", what, LISTS[i]);
}

static void keep(struct arena *a, struct doc *map, const struct doc *was, const char *key)
{
    const struct doc *value = api_member(was, key);
    doc_remove(map, str_from(key));
    if (value)
        doc_set(a, map, key, doc_dup(a, value));
}

/* The resources with processors and memory as they were. */
static struct doc without_sizes(struct arena *a, const struct doc *now,
                                const struct doc *was)
{
    static const char *const LISTS[] = {"requests", "limits"};
    struct doc all = now && now->type == DOC_MAP ? doc_dup(a, now) : doc_make_map();
    for (int i = 0; i < 2; i++) {
        const struct doc *list = api_member(&all, LISTS[i]),
                         *old = api_member(was, LISTS[i]);
        struct doc made = list && list->type == DOC_MAP ? *list : doc_make_map();
        keep(a, &made, old, "cpu");
        keep(a, &made, old, "memory");
        if (made.n)
            doc_set(a, &all, LISTS[i], made);
        else
            doc_remove(&all, str_from(LISTS[i]));
    }
    return all;
}

static bool same_but_sizes(struct arena *a, const struct doc *now, const struct doc *was)
{
    struct doc n = without_sizes(a, now, was), w = without_sizes(a, was, was);
    return doc_equal(&n, &w);
}

/* ---- the pod as a whole ---- */

static bool says_any(const struct doc *resources)
{
    return count(api_member(resources, "requests")) +
               count(api_member(resources, "limits")) >
           0;
}

static void check_pod_level(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "resources"),
                     *was = api_member(at->old, "resources");
    if (!says_any(now) && !says_any(was))
        return;
    if (was && !now) {
        api_report_at(at, ".resources", NULL, API_ERROR_FORBIDDEN,
                      "pod-level resources cannot be removed");
        return;
    }
    check_lost(at, ".resources", now, was, "pod-level resource");
    if (!same_but_sizes(at->w->a, now, was))
        api_report_at(at, "", NULL, API_ERROR_FORBIDDEN,
                      ONLY " are mutable at pod-level");
}

/* ---- containers ---- */

static bool check_names(struct api_at *at, const char *list)
{
    const struct doc *now = api_member(at->value, list), *was = api_member(at->old, list);
    bool ok = count(now) == count(was);
    if (!ok)
        api_report_at(at, arena_printf(at->w->a, ".%s", list).p, NULL,
                      API_ERROR_FORBIDDEN, "%s may not be added or removed on resize",
                      list);
    for (uint32_t i = 0; i < count(was) && count(now) == count(was); i++) {
        if (str_eq(doc_get_text(&now->items[i], "name"),
                   doc_get_text(&was->items[i], "name")))
            continue;
        ok = false;
        api_report_at(at, arena_printf(at->w->a, ".%s[%u].name", list, i).p, NULL,
                      API_ERROR_FORBIDDEN, "%s may not be renamed or reordered on resize",
                      list);
    }
    return ok;
}

static bool restarts_with_pod(const struct doc *container)
{
    const struct doc *all = api_member(container, "resizePolicy");
    for (uint32_t i = 0; i < count(all); i++)
        if (doc_is_string(doc_get(&all->items[i], "restartPolicy"), "RestartContainer"))
            return true;
    return false;
}

static bool lists_nothing(const struct doc *d)
{
    return d && d->type == DOC_LIST && d->n == 0;
}

static struct doc rest_of(struct arena *a, const struct doc *container)
{
    struct doc rest = doc_dup(a, container);
    doc_remove(&rest, STR("resources"));
    if (lists_nothing(api_member(&rest, "resizePolicy")))
        doc_remove(&rest, STR("resizePolicy"));
    return rest;
}

static bool same_rest(struct arena *a, const struct doc *now, const struct doc *was)
{
    struct doc n = rest_of(a, now), w = rest_of(a, was);
    return doc_equal(&n, &w) &&
           same_but_sizes(a, api_member(now, "resources"), api_member(was, "resources"));
}

static void check_container(struct api_at *at, const char *list, uint32_t i)
{
    struct arena *a = at->w->a;
    const struct doc *now = &api_member(at->value, list)->items[i],
                     *was = &api_member(at->old, list)->items[i];
    bool init = list[0] == 'i';
    const char *path = arena_printf(a, ".%s[%u]", list, i).p;
    if (!same_rest(a, now, was))
        api_report_at(at, init ? path : "", NULL, API_ERROR_FORBIDDEN,
                      init ? ONLY " for init or sidecar containers are mutable"
                           : ONLY " are mutable");
    bool sidecar = doc_is_string(api_member(now, "restartPolicy"), "Always");
    if (init && !sidecar && !doc_equal(now, was) && restarts_with_pod(now))
        api_report_at(at, path, NULL, API_ERROR_FORBIDDEN,
                      "non-sidecar init containers with a resize policy of "
                      "RestartContainer cannot be resized");
}

static void check_removed(struct api_at *at, const char *list)
{
    const struct doc *now = api_member(at->value, list), *was = api_member(at->old, list);
    for (uint32_t i = 0; i < count(was); i++)
        check_lost(at, arena_printf(at->w->a, ".%s[%u].resources", list, i).p,
                   api_member(&now->items[i], "resources"),
                   api_member(&was->items[i], "resources"), "resource");
}

void rules_pod_resize(struct api_at *at)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    if (is_fixed(at))
        return;
    check_service(at);
    check_pod_level(at);
    bool named = check_names(at, "containers");
    if (!check_names(at, "initContainers") || !named)
        return;
    for (int i = 0; i < 2; i++)
        check_removed(at, LISTS[i]);
    for (int i = 1; i >= 0; i--)
        for (uint32_t k = 0; k < count(api_member(at->old, LISTS[i])); k++)
            check_container(at, LISTS[i], k);
}
