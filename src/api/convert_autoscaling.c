/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HorizontalPodAutoscalers in autoscaling/v1, which has one target of its own, the use of
 * the CPU. What else v2 has is carried in annotations, as upstream does it, so that a
 * client of v1 loses nothing of it.
 */
#include "api/convert_autoscaling.h"

#include "api/edit.h"

static const char METRICS[] = "autoscaling.alpha.kubernetes.io/metrics";
static const char CURRENT[] = "autoscaling.alpha.kubernetes.io/current-metrics";
static const char CONDITIONS[] = "autoscaling.alpha.kubernetes.io/conditions";
static const char BEHAVIOR[] = "autoscaling.alpha.kubernetes.io/behavior";

enum { DEFAULT_CPU = 80 };

/* ---- metrics: the same facts in other places ---- */

struct move {
    const char *source;    /* the member of a metric: "object" */
    const char *one, *two; /* its member in v1, the path in v2 */
    bool always;           /* v1 has it, if only as 0 */
};

static const struct move SPECS[] = {
    {"object", "target", "describedObject", false},
    {"object", "metricName", "metric.name", false},
    {"object", "targetValue", "target.value", true},
    {"object", "selector", "metric.selector", false},
    {"object", "averageValue", "target.averageValue", false},
    {"pods", "metricName", "metric.name", false},
    {"pods", "targetAverageValue", "target.averageValue", true},
    {"pods", "selector", "metric.selector", false},
    {"resource", "name", "name", false},
    {"resource", "targetAverageUtilization", "target.averageUtilization", false},
    {"resource", "targetAverageValue", "target.averageValue", false},
    {"containerResource", "name", "name", false},
    {"containerResource", "targetAverageUtilization", "target.averageUtilization", false},
    {"containerResource", "targetAverageValue", "target.averageValue", false},
    {"containerResource", "container", "container", false},
    {"external", "metricName", "metric.name", false},
    {"external", "metricSelector", "metric.selector", false},
    {"external", "targetValue", "target.value", false},
    {"external", "targetAverageValue", "target.averageValue", false},
    {NULL, NULL, NULL, false},
};

static const struct move STATUSES[] = {
    {"object", "target", "describedObject", false},
    {"object", "metricName", "metric.name", false},
    {"object", "currentValue", "current.value", true},
    {"object", "selector", "metric.selector", false},
    {"object", "averageValue", "current.averageValue", false},
    {"pods", "metricName", "metric.name", false},
    {"pods", "currentAverageValue", "current.averageValue", true},
    {"pods", "selector", "metric.selector", false},
    {"resource", "name", "name", false},
    {"resource", "currentAverageUtilization", "current.averageUtilization", false},
    {"resource", "currentAverageValue", "current.averageValue", true},
    {"containerResource", "name", "name", false},
    {"containerResource", "currentAverageUtilization", "current.averageUtilization",
     false},
    {"containerResource", "currentAverageValue", "current.averageValue", true},
    {"containerResource", "container", "container", false},
    {"external", "metricName", "metric.name", false},
    {"external", "metricSelector", "metric.selector", false},
    {"external", "currentValue", "current.value", true},
    {"external", "currentAverageValue", "current.averageValue", false},
    {NULL, NULL, NULL, false},
};

/* "target.value" is a member of a member. */
static void set_at(struct arena *a, struct doc *d, const char *path,
                   const struct doc *value)
{
    const char *dot = strchr(path, '.');
    if (!dot) {
        doc_set(a, d, path, *value);
        return;
    }
    const char *first = arena_str(a, (struct str){path, (size_t)(dot - path)}).p;
    struct doc *inner = api_edit_get(d, first);
    if (!inner)
        inner = doc_set(a, d, first, doc_make_map());
    doc_set(a, inner, dot + 1, *value);
}

static bool is_zero(const struct doc *d)
{
    return doc_is_string(d, "0");
}

static struct doc metric_to_one(const struct doc *metric, const struct move *moves,
                                struct arena *a)
{
    struct doc out = doc_make_map();
    doc_set_text(a, &out, "type", doc_get_text(metric, "type"));
    for (const struct move *m = moves; m->source; m++) {
        const struct doc *from = doc_get(metric, m->source);
        if (!from || from->type != DOC_MAP)
            continue;
        struct doc *to = api_edit_get(&out, m->source);
        if (!to)
            to = doc_set(a, &out, m->source, doc_make_map());
        const struct doc *value = doc_path(from, m->two);
        if (value)
            doc_set(a, to, m->one, *value);
        else if (m->always)
            doc_set_text(a, to, m->one, STR("0"));
    }
    return out;
}

/* What kind of target it is follows from what is there. */
static void type_target(struct doc *metric, struct arena *a)
{
    static const struct {
        const char *source, *if_there, *type, *otherwise;
    } ROWS[] = {
        {"object", "target.averageValue", "AverageValue", "Value"},
        {"pods", "target.averageValue", "AverageValue", "AverageValue"},
        {"resource", "target.averageUtilization", "Utilization", "AverageValue"},
        {"containerResource", "target.averageUtilization", "Utilization", "AverageValue"},
        {"external", "target.value", "Value", "AverageValue"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct doc *source = api_edit_get(metric, ROWS[i].source);
        if (!source)
            continue;
        struct doc type = doc_make_string(a, str_from(doc_path(source, ROWS[i].if_there)
                                                          ? ROWS[i].type
                                                          : ROWS[i].otherwise));
        set_at(a, source, "target.type", &type);
    }
}

static struct doc metric_to_two(const struct doc *metric, const struct move *moves,
                                struct arena *a)
{
    struct doc out = doc_make_map();
    doc_set_text(a, &out, "type", doc_get_text(metric, "type"));
    for (const struct move *m = moves; m->source; m++) {
        const struct doc *from = doc_get(metric, m->source);
        const struct doc *value = from ? doc_get(from, m->one) : NULL;
        if (!value || value->type == DOC_NULL)
            continue;
        /* An object's value stands there always, whatever is meant. */
        if (m->always && is_zero(value) && doc_get(from, "averageValue") &&
            strcmp(m->one, "targetValue") == 0)
            continue;
        struct doc *to = api_edit_get(&out, m->source);
        if (!to)
            to = doc_set(a, &out, m->source, doc_make_map());
        set_at(a, to, m->two, value);
    }
    if (moves == SPECS)
        type_target(&out, a);
    return out;
}

/* ---- annotations ---- */

static void annotate(struct doc *object, const char *key, const struct doc *value,
                     struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    struct doc *meta = api_edit_get(object, "metadata");
    if (!meta)
        meta = doc_set(a, object, "metadata", doc_make_map());
    struct doc *all = api_edit_get(meta, "annotations");
    if (!all)
        all = doc_set(a, meta, "annotations", doc_make_map());
    doc_write_json(value, DOC_JSON_HTML, &b); /* compact */
    doc_set_text(a, all, key, strbuf_str(&b));
    strbuf_release(&b);
}

/* false: it is not there, or no JSON. */
static bool annotation(const struct doc *object, const char *key, struct arena *a,
                       struct doc *out)
{
    struct str text = doc_get_text(doc_path(object, "metadata.annotations"), key);
    struct doc_source src = {.name = key, .text = text};
    struct doc d;
    if (!text.p || !doc_read_json(&src, a, &d, NULL))
        return false;
    *out = doc_dup(a, &d);
    return true;
}

static void drop_annotations(struct doc *object, struct arena *a)
{
    static const char *const DROPPED[] = {
        METRICS,
        CURRENT,
        CONDITIONS,
        BEHAVIOR,
        "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
        "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};
    struct doc *meta = api_edit_get(object, "metadata");
    struct doc *all = meta ? api_edit_get(meta, "annotations") : NULL;
    if (!all || all->type != DOC_MAP)
        return;
    struct doc copy = doc_dup(a, all); /* others may share it */
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++)
        doc_remove(&copy, str_from(DROPPED[i]));
    if (copy.n)
        *all = copy;
    else
        doc_remove(meta, STR("annotations"));
}

/* ---- behavior: upstream writes it with the names of its Go fields ---- */

static const char *const RULES[] = {"stabilizationWindowSeconds", "selectPolicy",
                                    "policies", "tolerance", NULL};
static const char *const POLICIES[] = {"type", "value", "periodSeconds", NULL};
static const char *const BEHAVIORS[] = {"scaleUp", "scaleDown", NULL};

/* The first letter in the other case. */
static const char *turned(struct arena *a, const char *name)
{
    char *s = arena_strdup(a, name);
    s[0] ^= 0x20;
    return s;
}

static struct doc turn(const struct doc *d, const char *const *names, bool to_go,
                       struct arena *a)
{
    struct doc out = doc_make_map();
    for (; *names; names++) {
        const char *from = to_go ? *names : turned(a, *names),
                   *to = to_go ? turned(a, *names) : *names;
        const struct doc *v = doc_get(d, from);
        bool none = !v || v->type == DOC_NULL;
        struct doc value = none ? doc_make_null() : *v;
        if (!none && v->type == DOC_MAP)
            value = turn(v, RULES, to_go, a);
        if (!none && v->type == DOC_LIST) {
            value = doc_make_list();
            for (uint32_t i = 0; i < v->n; i++)
                doc_append(a, &value, turn(&v->items[i], POLICIES, to_go, a));
        }
        if (!none || to_go)
            doc_set(a, &out, to, value);
    }
    return out;
}

/* ---- v2 to v1 ---- */

static bool is_cpu(const struct doc *metric)
{
    return doc_is_string(doc_get(metric, "type"), "Resource") &&
           doc_is_string(doc_path(metric, "resource.name"), "cpu");
}

/* The first CPU metric is the spec's own target; others of the CPU are lost, as
 * upstream loses them. */
static void spec_to_one(struct doc *object, struct arena *a)
{
    struct doc *spec = api_edit_get(object, "spec"), others = doc_make_list();
    const struct doc *metrics = spec ? doc_get(spec, "metrics") : NULL;
    for (uint32_t i = 0; metrics && metrics->type == DOC_LIST && i < metrics->n; i++) {
        const struct doc *m = &metrics->items[i];
        const struct doc *use = doc_path(m, "resource.target.averageUtilization");
        if (!is_cpu(m) || !use)
            doc_append(a, &others, metric_to_one(m, SPECS, a));
        else if (!doc_get(spec, "targetCPUUtilizationPercentage"))
            doc_set(a, spec, "targetCPUUtilizationPercentage", *use);
    }
    if (others.n)
        annotate(object, METRICS, &others, a);
    spec = api_edit_get(object, "spec");
    const struct doc *behavior = spec ? doc_get(spec, "behavior") : NULL;
    if (behavior && behavior->type == DOC_MAP) {
        struct doc turned_one = turn(behavior, BEHAVIORS, true, a);
        annotate(object, BEHAVIOR, &turned_one, a);
    }
    spec = api_edit_get(object, "spec");
    if (spec) {
        doc_remove(spec, STR("metrics"));
        doc_remove(spec, STR("behavior"));
    }
}

static void status_to_one(struct doc *object, struct arena *a)
{
    struct doc *status = api_edit_get(object, "status"), list = doc_make_list();
    const struct doc *metrics = status ? doc_get(status, "currentMetrics") : NULL;
    const struct doc *conditions = status ? doc_get(status, "conditions") : NULL;
    for (uint32_t i = 0; metrics && metrics->type == DOC_LIST && i < metrics->n; i++) {
        const struct doc *m = &metrics->items[i];
        const struct doc *use = doc_path(m, "resource.current.averageUtilization");
        doc_append(a, &list, metric_to_one(m, STATUSES, a));
        if (is_cpu(m) && use)
            doc_set(a, status, "currentCPUUtilizationPercentage", *use);
    }
    if (list.n)
        annotate(object, CURRENT, &list, a);
    if (conditions && conditions->type == DOC_LIST && conditions->n)
        annotate(object, CONDITIONS, conditions, a);
    status = api_edit_get(object, "status");
    if (status) {
        doc_remove(status, STR("currentMetrics"));
        doc_remove(status, STR("conditions"));
    }
}

void convert_autoscaling_to_one(struct doc *object, struct arena *a)
{
    drop_annotations(object, a);
    spec_to_one(object, a);
    status_to_one(object, a);
}

/* ---- v1 to v2 ---- */

static struct doc cpu_metric(const char *place, const struct doc *use, struct arena *a)
{
    struct doc metric = doc_make_map(), resource = doc_make_map(), at = doc_make_map();
    bool target = strcmp(place, "target") == 0;
    if (target)
        doc_set_text(a, &at, "type", STR("Utilization"));
    doc_set(a, &at, "averageUtilization", *use);
    doc_set_text(a, &resource, "name", STR("cpu"));
    doc_set(a, &resource, place, at);
    doc_set_text(a, &metric, "type", STR("Resource"));
    doc_set(a, &metric, "resource", resource);
    return metric;
}

static struct doc all_to_two(const struct doc *list, const struct move *moves,
                             struct arena *a)
{
    struct doc out = doc_make_list();
    for (uint32_t i = 0; list->type == DOC_LIST && i < list->n; i++)
        doc_append(a, &out, metric_to_two(&list->items[i], moves, a));
    return out;
}

static void spec_to_two(struct doc *object, struct arena *a)
{
    struct doc list, behavior, metrics = doc_make_list();
    struct doc *spec = api_edit_get(object, "spec");
    if (!spec)
        spec = doc_set(a, object, "spec", doc_make_map());
    const struct doc *use = doc_get(spec, "targetCPUUtilizationPercentage");
    if (annotation(object, METRICS, a, &list))
        metrics = all_to_two(&list, SPECS, a);
    if (use && use->type == DOC_NUMBER)
        doc_append(a, &metrics, cpu_metric("target", use, a));
    struct doc usual = doc_make_int(a, DEFAULT_CPU);
    if (metrics.n == 0)
        doc_append(a, &metrics, cpu_metric("target", &usual, a));
    doc_set(a, spec, "metrics", metrics);
    doc_remove(spec, STR("targetCPUUtilizationPercentage"));
    if (annotation(object, BEHAVIOR, a, &behavior) && behavior.type == DOC_MAP) {
        struct doc back = turn(&behavior, BEHAVIORS, false, a);
        if (back.n)
            doc_set(a, spec, "behavior", back);
    }
}

static void status_to_two(struct doc *object, struct arena *a)
{
    struct doc list, conditions, metrics = doc_make_list();
    bool told = annotation(object, CURRENT, a, &list),
         has_conditions = annotation(object, CONDITIONS, a, &conditions);
    struct doc *status = api_edit_get(object, "status");
    if (!status && (told || has_conditions))
        status = doc_set(a, object, "status", doc_make_map());
    if (!status)
        return;
    const struct doc *use = doc_get(status, "currentCPUUtilizationPercentage");
    if (told)
        metrics = all_to_two(&list, STATUSES, a);
    else if (use && use->type == DOC_NUMBER)
        doc_append(a, &metrics, cpu_metric("current", use, a));
    if (metrics.n)
        doc_set(a, status, "currentMetrics", metrics);
    if (has_conditions && conditions.type == DOC_LIST)
        doc_set(a, status, "conditions", conditions);
    doc_remove(status, STR("currentCPUUtilizationPercentage"));
}

void convert_autoscaling_to_two(struct doc *object, struct arena *a)
{
    spec_to_two(object, a);
    status_to_two(object, a);
    drop_annotations(object, a);
}
