/* SPDX-License-Identifier: Apache-2.0 */
/* What a stored pod lets change. */
#include "api/canonical.h"
#include "api/edit.h"
#include "api/rules_pod.h"

/* ---- annotations ---- */

#define APP_ARMOR "container.apparmor.security.beta.kubernetes.io/"
#define MIRROR "kubernetes.io/config.mirror"

static void check_change(struct api_at *at, struct str key, bool was, bool is)
{
    const char *verb = was && is ? "remove or update" : was ? "remove or update" : "add";
    const char *path =
        arena_printf(at->w->a, ".metadata.annotations[%.*s]", STR_ARG(key)).p;
    if (str_starts(key, STR(APP_ARMOR)))
        api_report_at(at, path, NULL, API_ERROR_FORBIDDEN,
                      "may not %s AppArmor annotations", verb);
    if (str_is(key, MIRROR))
        api_report_at(at, path, NULL, API_ERROR_FORBIDDEN,
                      "may not %s mirror pod annotation", verb);
}

API_RULE(pod_annotation_update)
{
    const struct doc *is = doc_path(at->value, "metadata.annotations");
    const struct doc *was = doc_path(at->old, "metadata.annotations");
    if (at->w->opts->op == API_CREATE)
        return true;
    for (uint32_t i = 0; was && i < was->n; i++) {
        const struct doc *now = doc_get_str(is, doc_key(&was->members[i]));
        if (!now || !doc_equal(now, &was->members[i].value))
            check_change(at, doc_key(&was->members[i]), true, now != NULL);
    }
    for (uint32_t i = 0; is && i < is->n; i++)
        if (!doc_get_str(was, doc_key(&is->members[i])))
            check_change(at, doc_key(&is->members[i]), false, true);
    return true;
}

/* ---- the spec ---- */

static const struct doc *item_at(const struct doc *list, uint32_t i)
{
    return list && i < list->n ? &list->items[i] : NULL;
}

static uint32_t count(const struct doc *list)
{
    return list ? list->n : 0;
}

static bool same_lengths(struct api_at *at, const char *key)
{
    if (count(api_member(at->value, key)) == count(api_member(at->old, key)))
        return true;
    return api_report_at(at, arena_printf(at->w->a, ".%s", key).p, NULL,
                         API_ERROR_FORBIDDEN,
                         "pod updates may not add or remove containers");
}

/* May be set, and then be made shorter. */
static bool check_deadline(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "activeDeadlineSeconds");
    const struct doc *was = api_member(at->old, "activeDeadlineSeconds");
    int64_t v = rules_int(now, 0);
    if (!now && was)
        api_report_shown(at, ".activeDeadlineSeconds", STR("null"), API_ERROR_INVALID,
                         "must not update from a positive integer to nil value");
    if (now && (v < 0 || v > INT32_MAX))
        return api_report_at(at, ".activeDeadlineSeconds", now, API_ERROR_INVALID,
                             "must be between 0 and 2147483647, inclusive");
    if (now && was && rules_int(was, 0) < v)
        return api_report_at(at, ".activeDeadlineSeconds", now, API_ERROR_INVALID,
                             "must be less than or equal to previous value");
    return true;
}

static struct doc without(struct api_walk *w, const struct doc *d, const char *key)
{
    struct doc copy = *d;
    if (d->type == DOC_MAP && doc_get(d, key)) {
        copy = doc_dup(w->a, d);
        doc_remove(&copy, str_from(key));
    }
    return copy;
}

static void check_tolerations(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "tolerations");
    const struct doc *was = api_member(at->old, "tolerations");
    for (uint32_t i = 0; i < count(was); i++) {
        struct doc old = without(at->w, &was->items[i], "tolerationSeconds");
        bool found = false;
        for (uint32_t k = 0; k < count(now) && !found; k++) {
            struct doc new = without(at->w, &now->items[k], "tolerationSeconds");
            found = doc_equal(&old, &new);
        }
        if (!found) {
            api_report_at(at, ".tolerations", now, API_ERROR_FORBIDDEN,
                          "existing toleration can not be modified except its "
                          "tolerationSeconds");
            return;
        }
    }
}

static void check_gates(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "schedulingGates");
    const struct doc *was = api_member(at->old, "schedulingGates");
    for (uint32_t i = 0; i < count(now); i++) {
        struct str name = doc_get_text(&now->items[i], "name");
        bool found = false;
        for (uint32_t k = 0; k < count(was) && !found; k++)
            found = str_eq(doc_get_text(&was->items[k], "name"), name);
        if (!found)
            api_report_at(
                at, arena_printf(at->w->a, ".schedulingGates[%u].name", i).p, NULL,
                API_ERROR_FORBIDDEN,
                "only deletion is allowed, but found new scheduling gate '%.*s'",
                STR_ARG(name));
    }
}

/* ---- pods that wait for gates ---- */

static void check_node_selector(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "nodeSelector");
    const struct doc *was = api_member(at->old, "nodeSelector");
    for (uint32_t i = 0; i < count(was); i++) {
        const struct doc *v = doc_get_str(now, doc_key(&was->members[i]));
        if (v && doc_equal(v, &was->members[i].value))
            continue;
        api_report_at(at, ".nodeSelector", now, API_ERROR_INVALID,
                      "only additions to spec.nodeSelector are allowed (no mutations or "
                      "deletions)");
        return;
    }
}

static bool begins_with(const struct doc *now, const struct doc *was)
{
    for (uint32_t i = 0; i < count(was); i++) {
        const struct doc *item = item_at(now, i);
        if (!item || !doc_equal(item, &was->items[i]))
            return false;
    }
    return true;
}

static bool only_adds(const struct doc *now, const struct doc *was)
{
    const struct doc *e = api_member(was, "matchExpressions");
    const struct doc *f = api_member(was, "matchFields");
    const struct doc *e2 = api_member(now, "matchExpressions");
    const struct doc *f2 = api_member(now, "matchFields");
    if (!count(e) && !count(f) && (count(e2) || count(f2)))
        return false;
    return begins_with(e2, e) && begins_with(f2, f);
}

#define TERMS                                                                            \
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."              \
    "nodeSelectorTerms"

static void check_node_affinity(struct api_at *at)
{
    const struct doc *now = doc_path(at->value, TERMS), *was = doc_path(at->old, TERMS);
    if (count(was) == 0)
        return;
    if (count(now) != count(was)) {
        api_report_at(at, "." TERMS, now, API_ERROR_INVALID,
                      "no additions/deletions to non-empty NodeSelectorTerms list are "
                      "allowed");
        return;
    }
    for (uint32_t i = 0; i < was->n; i++)
        if (!only_adds(&now->items[i], &was->items[i]))
            api_report_at(at, arena_printf(at->w->a, "." TERMS "[%u]", i).p,
                          &now->items[i], API_ERROR_INVALID,
                          "only additions are allowed (no mutations or deletions)");
}

/* ---- nothing else ---- */

static void take_over(struct api_walk *w, struct doc *to, const struct doc *from,
                      const char *key)
{
    const struct doc *value = doc_get(from, key);
    doc_remove(to, str_from(key));
    if (value)
        doc_set(w->a, to, key, doc_dup(w->a, value));
}

static void take_over_images(struct api_walk *w, struct doc *spec, const struct doc *old,
                             const char *key)
{
    struct doc *list = api_edit_get(spec, key);
    const struct doc *was = api_member(old, key);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (item_at(was, i))
            take_over(w, &list->items[i], item_at(was, i), "image");
}

static void take_over_affinity(struct api_walk *w, struct doc *spec,
                               const struct doc *old)
{
    const struct doc *was = api_member(old, "affinity");
    struct doc *now = api_edit_get(spec, "affinity");
    if (!now && api_member(was, "nodeAffinity")) {
        struct doc made = doc_make_map();
        take_over(w, &made, was, "nodeAffinity");
        doc_set(w->a, spec, "affinity", made);
    } else if (now && !was && !api_member(now, "podAffinity") &&
               !api_member(now, "podAntiAffinity")) {
        doc_remove(spec, STR("affinity"));
    } else if (now) {
        take_over(w, now, was, "nodeAffinity");
    }
}

/* The new spec with everything that may change as it was. */
static struct doc frozen_part(struct api_at *at, bool gated)
{
    static const char *const FREE[] = {"activeDeadlineSeconds", "schedulingGates",
                                       "tolerations"};
    struct api_walk *w = at->w;
    struct doc spec = doc_dup(w->a, at->value);
    take_over_images(w, &spec, at->old, "containers");
    take_over_images(w, &spec, at->old, "initContainers");
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        take_over(w, &spec, at->old, FREE[i]);
    if (rules_int(api_member(at->old, "terminationGracePeriodSeconds"), 0) < 0 &&
        rules_int(api_member(at->value, "terminationGracePeriodSeconds"), 0) == 1)
        take_over(w, &spec, at->old, "terminationGracePeriodSeconds");
    if (gated) {
        take_over(w, &spec, at->old, "nodeSelector");
        take_over_affinity(w, &spec, at->old);
    }
    return spec;
}

static void check_whole(struct api_at *at)
{
    bool gated = count(api_member(at->old, "schedulingGates")) > 0;
    if (api_same(at->w, at->field, at->value, at->old))
        return;
    if (gated) {
        check_node_selector(at);
        check_node_affinity(at);
    }
    struct doc spec = frozen_part(at, gated);
    if (!api_same(at->w, at->field, &spec, at->old))
        api_fail(
            at, API_ERROR_FORBIDDEN,
            "pod updates may not change fields other than "
            "`spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
            "be set to 1 if it was previously negative)");
}

static void check_debug_containers(struct api_at *at)
{
    const struct doc *now = api_member(at->value, "ephemeralContainers");
    const struct doc *was = api_member(at->old, "ephemeralContainers");
    for (uint32_t i = 0; i < count(was); i++) {
        struct str name = doc_get_text(&was->items[i], "name");
        const struct doc *kept = NULL;
        for (uint32_t k = 0; k < count(now); k++)
            if (str_eq(doc_get_text(&now->items[k], "name"), name))
                kept = &now->items[k];
        if (kept && doc_equal(kept, &was->items[i]))
            continue;
        api_report_at(at, ".ephemeralContainers", now, API_ERROR_FORBIDDEN,
                      "existing ephemeral containers %.*s may not be %s\n",
                      STR_ARG(api_shown_text(at->w->a, name)),
                      kept ? "changed" : "removed");
    }
}

API_RULE(pod_update)
{
    const char *part = at->w->opts->part;
    if (at->w->opts->op != API_UPDATE || !at->value || !at->old)
        return true;
    if (part && strcmp(part, "ephemeralcontainers") == 0)
        check_debug_containers(at);
    if (part && strcmp(part, "resize") == 0)
        rules_pod_resize(at);
    if (part || !same_lengths(at, "containers") || !same_lengths(at, "initContainers") ||
        !check_deadline(at))
        return true;
    check_tolerations(at);
    check_gates(at);
    check_whole(at);
    return true;
}
