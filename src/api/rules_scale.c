/* SPDX-License-Identifier: Apache-2.0 */
/* How many pods there are, or may be missing: autoscalers, budgets, classes of runtimes.
 */
#include <stdlib.h>

#include "api/rules_text.h"
#include "num/quantity.h"

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* ---- budgets ---- */

API_RULE(one_budget)
{
    if (api_member(at->value, "minAvailable") && api_member(at->value, "maxUnavailable"))
        api_fail(at, API_ERROR_INVALID,
                 "minAvailable and maxUnavailable cannot be both set");
    return true;
}

/* As unique(type), reported at the whole condition. */
API_RULE(types_once)
{
    for (uint32_t i = 0; i < count(at->value); i++)
        for (uint32_t k = 0; k < i; k++) {
            struct str type = doc_get_text(&at->value->items[i], "type");
            if (!str_eq(type, doc_get_text(&at->value->items[k], "type")))
                continue;
            api_report_shown(at, rules_index(at, i), api_shown_text(at->w->a, type),
                             API_ERROR_DUPLICATE, "%s", "");
            break;
        }
    return true;
}

/* ---- classes of runtimes ---- */

static bool same_toleration(const struct doc *a, const struct doc *b)
{
    static const char *const KEYS[] = {"key", "operator", "value", "effect"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (!str_eq(api_text(doc_get(a, KEYS[i])), api_text(doc_get(b, KEYS[i]))))
            return false;
    return true;
}

API_RULE(tolerations_apart)
{
    for (uint32_t i = 0; i < count(at->value); i++)
        for (uint32_t k = 0; k < i; k++)
            if (same_toleration(&at->value->items[i], &at->value->items[k])) {
                api_report_at(at, rules_index(at, i), &at->value->items[i],
                              API_ERROR_DUPLICATE, "%s", "");
                break;
            }
    return true;
}

/* ---- autoscalers ---- */

API_RULE(most_replicas)
{
    const struct doc *least = api_member(at->parent, "minReplicas");
    if (least && rules_int(at->value, 0) < rules_int(least, 0))
        api_fail(at, API_ERROR_INVALID, "must be greater than or equal to `minReplicas`");
    return true;
}

/* "GROUP/VERSION"; groups may be left out where arg says so. What an update leaves as it
 * was is not looked at: here, for the target of the scaling, of a kind that stays. */
static void check_version(struct api_at *at, bool may_be_core)
{
    struct str s = api_text(at->value);
    size_t slash = str_find_byte(s, '/', 0);
    size_t second = slash == SIZE_MAX ? slash : str_find_byte(s, '/', slash + 1);
    if (second != SIZE_MAX)
        api_report(at, API_ERROR_INVALID, "unexpected GroupVersion string: %.*s",
                   STR_ARG(s));
    else if ((slash == SIZE_MAX || slash == 0) && !may_be_core && !str_is(s, "/"))
        api_fail(at, API_ERROR_INVALID, "apiVersion must specify API group");
    else if (str_is(s, "/") && !may_be_core)
        api_fail(at, API_ERROR_INVALID, "apiVersion must specify API group");
}

API_RULE(target_version)
{
    const struct doc *old = at->old_parent;
    const struct doc *kind = api_member(at->parent, "kind");
    if (old && str_eq(api_text(at->value), api_text(at->old)) &&
        str_eq(api_text(kind), api_text(api_member(old, "kind"))))
        return true;
    bool core = !old && doc_is_string(kind, "ReplicationController");
    check_version(at, core || (old && doc_is_string(kind, "ReplicationController")));
    return true;
}

API_RULE(target_part)
{
    if (api_empty(at->value))
        api_fail(at, API_ERROR_REQUIRED, "");
    else
        rules_segment(at, "", api_text(at->value), false);
    return true;
}

static bool is_positive(struct api_at *at, const struct doc *d)
{
    struct quantity q;
    return !d || !quantity_parse(doc_str(d), at->w->a, &q, NULL) || quantity_sign(&q) > 0;
}

static void check_target(struct api_at *at, const char *source)
{
    static const char *const AMOUNTS[] = {"value", "averageValue"};
    const struct doc *target = doc_get(api_member(at->value, source), "target"),
                     *type = api_member(target, "type"),
                     *share = api_member(target, "averageUtilization");
    struct arena *a = at->w->a;
    const char *path = arena_printf(a, ".%s.target.type", source).p;
    if (api_empty(type))
        api_report_at(at, path, type, API_ERROR_REQUIRED,
                      "must specify a metric target type");
    if (!rules_among(api_text(type), "Utilization|Value|AverageValue"))
        api_report_at(at, path, type, API_ERROR_INVALID,
                      "must be either Utilization, Value, or AverageValue");
    for (size_t i = 0; i < 2; i++)
        if (!is_positive(at, api_member(target, AMOUNTS[i])))
            api_report_at(at, arena_printf(a, ".%s.target.%s", source, AMOUNTS[i]).p,
                          api_member(target, AMOUNTS[i]), API_ERROR_INVALID,
                          "must be positive");
    if (share && rules_int(share, 0) < 1)
        api_report_at(at, arena_printf(a, ".%s.target.averageUtilization", source).p,
                      share, API_ERROR_INVALID, "must be greater than 0");
}

static void check_metric(struct api_at *at, const char *source)
{
    const struct doc *name =
        api_member(doc_get(api_member(at->value, source), "metric"), "name");
    const char *path = arena_printf(at->w->a, ".%s.metric.name", source).p;
    if (api_empty(name))
        api_report_at(at, path, name, API_ERROR_REQUIRED, "must specify a metric name");
    else
        rules_segment(at, path, api_text(name), false);
}

/* Which of its target's amounts a source wants: at least one of a and b, and, where that
 * is said, not both. */
static const struct source {
    const char *name, *type;
    bool metric;
    const char *a, *b, *missing, *missing_text, *both, *both_text;
} SOURCES[] = {
    {"object", "Object", true, "value", "averageValue", "averageValue",
     "must set either a target value or averageValue", NULL, NULL},
    {"external", "External", true, "value", "averageValue", "averageValue",
     "must set either a target value for metric or a per-pod target", "value",
     "may not set both a target value for metric and a per-pod target"},
    {"pods", "Pods", true, "averageValue", "averageValue", "averageValue",
     "must specify a positive target averageValue", NULL, NULL},
    {"resource", "Resource", false, "averageUtilization", "averageValue",
     "averageUtilization", "must set either a target raw value or a target utilization",
     "averageValue", "may not set both a target raw value and a target utilization"},
    {"containerResource", "ContainerResource", false, "averageUtilization",
     "averageValue", "averageUtilization",
     "must set either a target raw value or a target utilization", "averageValue",
     "may not set both a target raw value and a target utilization"},
};
enum { NSOURCES = sizeof SOURCES / sizeof *SOURCES };

static void check_amounts(struct api_at *at, const struct source *s)
{
    const struct doc *target = doc_get(api_member(at->value, s->name), "target");
    bool a = api_member(target, s->a), b = api_member(target, s->b);
    if (!a && !b)
        api_report_at(at, arena_printf(at->w->a, ".%s.target.%s", s->name, s->missing).p,
                      NULL, API_ERROR_REQUIRED, "%s", s->missing_text);
    if (a && b && s->both)
        api_report_at(at, arena_printf(at->w->a, ".%s.target.%s", s->name, s->both).p,
                      NULL, API_ERROR_FORBIDDEN, "%s", s->both_text);
}

static void check_described(struct api_at *at)
{
    static const char *const PARTS[] = {"kind", "name"};
    const struct doc *d = doc_get(api_member(at->value, "object"), "describedObject");
    const struct doc *version = api_member(d, "apiVersion");
    for (size_t i = 0; i < 2; i++) {
        const char *path =
            arena_printf(at->w->a, ".object.describedObject.%s", PARTS[i]).p;
        const struct doc *part = api_member(d, PARTS[i]);
        if (api_empty(part))
            api_report_at(at, path, part, API_ERROR_REQUIRED, "%s", "");
        else
            rules_segment(at, path, api_text(part), false);
    }
    struct str s = api_text(version);
    size_t slash = str_find_byte(s, '/', 0);
    if (slash != SIZE_MAX && str_find_byte(s, '/', slash + 1) != SIZE_MAX)
        api_report_at(at, ".object.describedObject.apiVersion", version,
                      API_ERROR_INVALID, "unexpected GroupVersion string: %.*s",
                      STR_ARG(s));
}

static void check_container(struct api_at *at)
{
    const struct doc *d = api_member(at->value, "containerResource");
    const struct doc *container = api_member(d, "container");
    static const char PATH[] = ".containerResource.container";
    if (!api_empty(api_member(d, "name")))
        rules_container_resource(at, ".containerResource.name", api_member(d, "name"));
    if (api_empty(container))
        api_report_at(at, PATH, container, API_ERROR_REQUIRED,
                      "must specify a container");
    else
        rules_name_at(at, PATH, container, NAME_DNS1123_LABEL);
}

static void check_source(struct api_at *at, const struct source *s)
{
    const struct doc *d = api_member(at->value, s->name);
    if (strcmp(s->name, "object") == 0)
        check_described(at);
    if (!s->metric && api_empty(api_member(d, "name")))
        api_report_at(at, arena_printf(at->w->a, ".%s.name", s->name).p, NULL,
                      API_ERROR_REQUIRED, "must specify a resource name");
    if (strcmp(s->name, "containerResource") == 0)
        check_container(at);
    if (s->metric)
        check_metric(at, s->name);
    check_target(at, s->name);
    check_amounts(at, s);
}

API_RULE(metric_source)
{
    static const char TYPES[] = "ContainerResource|External|Object|Pods|Resource";
    const struct doc *type = api_member(at->value, "type");
    unsigned present = 0;
    if (api_empty(type))
        api_report_at(at, ".type", type, API_ERROR_REQUIRED,
                      "must specify a metric source type");
    if (!rules_among(api_text(type), TYPES))
        rules_not_supported(at, ".type", type, TYPES);
    for (unsigned i = 0; i < NSOURCES; i++)
        if (api_member(at->value, SOURCES[i].name) && !present++)
            check_source(at, &SOURCES[i]);
    for (unsigned i = 0; i < NSOURCES; i++) {
        const struct source *s = &SOURCES[i];
        bool there = api_member(at->value, s->name), meant = doc_is_string(type, s->type);
        const char *path = arena_printf(at->w->a, ".%s", s->name).p;
        if (meant && !there)
            api_report_at(at, path, NULL, API_ERROR_REQUIRED,
                          "must populate information for the given metric source");
        if (there && !meant && present > 1)
            api_report_at(at, path, NULL, API_ERROR_FORBIDDEN,
                          "must populate the given metric source only");
    }
    return true;
}

API_RULE(metrics_for_zero)
{
    const struct doc *least = api_member(at->parent, "minReplicas");
    bool outside = false;
    for (uint32_t i = 0; i < count(at->value); i++) {
        struct str type = doc_get_text(&at->value->items[i], "type");
        outside = outside || str_is(type, "Object") || str_is(type, "External");
    }
    if (least && rules_int(least, 1) == 0 && !outside)
        api_fail(at, API_ERROR_FORBIDDEN,
                 "must specify at least one Object or External metric to support scaling "
                 "to zero replicas");
    return true;
}

API_RULE(not_negative)
{
    struct quantity q;
    if (quantity_parse(doc_str(at->value), at->w->a, &q, NULL) && quantity_sign(&q) < 0)
        api_fail(at, API_ERROR_INVALID, "must be greater than or equal to 0");
    return true;
}
