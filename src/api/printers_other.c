/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of devices, scheduling, access, policies and the API's own kinds. */
#include "api/printers_inner.h"

#include "api/age.h"

/* ---- resource.k8s.io ---- */

struct doc cell_resource_claim(const struct printing *p, const struct doc *object,
                               const char *argument)
{
    bool deleted = cell_path_text(object, "metadata.deletionTimestamp").n > 0,
         allocated = cell_path_is_map(object, "status.allocation");
    const struct doc *v;
    struct cell_texts states = {0};
    if (deleted)
        cell_add(p, &states, STR("deleted"));
    if (allocated || !deleted)
        cell_add(p, &states, allocated ? STR("allocated") : STR("pending"));
    if (allocated && cell_list(object, "status.reservedFor", &v))
        cell_add(p, &states, STR("reserved"));
    return cell_of(p, cell_joined(p, &states, ","));
}

enum outcome { PENDING, COMPLETE, FAILED };

/* The first true condition decides; *at is when it became true. */
static enum outcome outcome_of(const struct doc *request, struct str *at)
{
    const struct doc *v;
    uint32_t n = cell_list(request, "status.conditions", &v);
    *at = STR("");
    for (uint32_t i = 0; i < n; i++) {
        bool complete = doc_is_string(doc_get(&v[i], "type"), "Complete");
        if (!cell_is_true(&v[i]) ||
            (!complete && !doc_is_string(doc_get(&v[i], "type"), "Failed")))
            continue;
        *at = doc_get_text(&v[i], "lastTransitionTime");
        return complete ? COMPLETE : FAILED;
    }
    return PENDING;
}

static bool has_counts(const struct doc *request)
{
    struct str at;
    return cell_path_is_map(request, "status") && outcome_of(request, &at) != FAILED;
}

/* Over all pools; argument: the count's field. */
struct doc cell_pool_sum(const struct printing *p, const struct doc *object,
                         const char *argument)
{
    const struct doc *v;
    uint32_t n = cell_list(object, "status.pools", &v);
    long long sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += cell_path_int(&v[i], argument);
    return cell_of(p, has_counts(object) ? arena_printf(p->a, "%lld", sum) : STR("-"));
}

struct doc cell_pool_errors(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    const struct doc *v;
    uint32_t n = cell_list(object, "status.pools", &v), errors = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct doc *e = doc_get(&v[i], "validationError");
        errors += e && e->type == DOC_STRING;
    }
    return cell_of(p, has_counts(object) ? arena_printf(p->a, "%u", errors) : STR("-"));
}

struct doc cell_pool_status(const struct printing *p, const struct doc *object,
                            const char *argument)
{
    static const char *const words[] = {"Pending", "Complete", "Failed"};
    const struct doc *v;
    struct str at;
    enum outcome outcome = outcome_of(object, &at);
    uint32_t shown = cell_list(object, "status.pools", &v);
    long long pools = cell_path_int(object, "status.poolCount");
    if (outcome == COMPLETE && pools > shown)
        return cell_of(p, arena_printf(p->a, "Complete (%u/%lld pools)", shown, pools));
    return cell_of(p, str_from(words[outcome]));
}

struct doc cell_pool_completed(const struct printing *p, const struct doc *object,
                               const char *argument)
{
    struct str at;
    if (outcome_of(object, &at) != COMPLETE)
        return cell_of(p, STR("<none>"));
    return cell_of(p, age_of(at, p->now, p->a));
}

/* ---- scheduling.k8s.io ---- */

struct doc cell_group_policy(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    return cell_of(p, cell_path_is_map(object, "spec.schedulingPolicy.gang")
                          ? STR("Gang")
                          : STR("Basic"));
}

struct doc cell_group_status(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    const struct doc *disrupted =
        cell_condition(object, "status.conditions", "DisruptionTarget");
    const struct doc *placed =
        cell_condition(object, "status.conditions", "PodGroupInitiallyScheduled");
    if (disrupted)
        return cell_of(p, doc_get_text(disrupted, "reason"));
    if (!placed)
        return cell_of(p, STR("Pending"));
    return cell_of(p, cell_is_true(placed) ? STR("Scheduled") : STR("Unschedulable"));
}

/* ---- rbac ---- */

/* Names of the subjects of one kind, service accounts with their namespace. */
struct doc cell_subjects(const struct printing *p, const struct doc *object,
                         const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "subjects", &v);
    for (uint32_t i = 0; i < n; i++) {
        struct str name = doc_get_text(&v[i], "name"),
                   space = doc_get_text(&v[i], "namespace");
        if (!doc_is_string(doc_get(&v[i], "kind"), argument))
            continue;
        cell_add(p, &texts,
                 strcmp(argument, "ServiceAccount") == 0
                     ? arena_printf(p->a, "%.*s/%.*s", STR_ARG(space), STR_ARG(name))
                     : name);
    }
    return cell_of(p, cell_joined(p, &texts, ", "));
}

/* ---- names that say more ---- */

static struct doc marked(const struct printing *p, const struct doc *object, bool yes)
{
    struct str name = cell_path_text(object, "metadata.name");
    return cell_of(p, yes ? arena_printf(p->a, "%.*s (default)", STR_ARG(name)) : name);
}

/* argument: the annotation that says so; "": the class found for the whole table. */
struct doc cell_default_name(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    struct str name = cell_path_text(object, "metadata.name");
    if (!*argument)
        return marked(p, object, name.n && str_eq(name, p->default_class));
    return marked(
        p, object,
        doc_is_string(doc_get(doc_path(object, "metadata.annotations"), argument),
                      "true"));
}

struct doc cell_ingress_class(const struct printing *p, const struct doc *object,
                              const char *argument)
{
    const struct doc *d = doc_path(object, "spec.parameters");
    struct str kind = doc_get_text(d, "kind"), group = doc_get_text(d, "apiGroup"),
               name = doc_get_text(d, "name");
    const struct doc *given = doc_get(d, "apiGroup");
    bool dotted = given && given->type == DOC_STRING;
    if (!d || d->type != DOC_MAP)
        return cell_of(p, STR("<none>"));
    return cell_of(p, arena_printf(p->a, "%.*s%s%.*s/%.*s", STR_ARG(kind),
                                   dotted ? "." : "", STR_ARG(group), STR_ARG(name)));
}

struct doc cell_tls_ports(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    const struct doc *v;
    return cell_of(p, cell_list(object, "spec.tls", &v) ? STR("80, 443") : STR("80"));
}

struct doc cell_audiences(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    struct cell_texts texts = {0};
    const struct doc *v;
    uint32_t n = cell_list(object, "spec.tokenRequests", &v);
    for (uint32_t i = 0; i < n; i++)
        cell_add(p, &texts, doc_get_text(&v[i], "audience"));
    return cell_of(p, n ? cell_joined(p, &texts, ",") : STR("<unset>"));
}

static struct str resource_name(const struct printing *p, const struct doc *d)
{
    struct str group = doc_get_text(d, "group"), resource = doc_get_text(d, "resource");
    return group.n ? arena_printf(p->a, "%.*s.%.*s", STR_ARG(resource), STR_ARG(group))
                   : resource;
}

struct doc cell_parent(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    const struct doc *d = doc_path(object, "spec.parentRef");
    struct str space = doc_get_text(d, "namespace"), name = doc_get_text(d, "name");
    if (!d || d->type != DOC_MAP)
        return cell_of(p, STR("<none>"));
    struct str of = resource_name(p, d);
    return cell_of(p, arena_printf(p->a, "%.*s%s%.*s/%.*s", STR_ARG(of),
                                   space.n ? "/" : "", STR_ARG(space), STR_ARG(name)));
}

struct doc cell_migration_resource(const struct printing *p, const struct doc *object,
                                   const char *argument)
{
    return cell_of(p, resource_name(p, doc_path(object, "spec.resource")));
}

/* Of several true conditions the last one counts. */
struct doc cell_migration_status(const struct printing *p, const struct doc *object,
                                 const char *argument)
{
    static const char *const known[] = {"Running", "Succeeded", "Failed"};
    struct str status = STR("Unknown");
    const struct doc *v;
    uint32_t n = cell_list(object, "status.conditions", &v);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; cell_is_true(&v[i]) && k < sizeof known / sizeof *known; k++)
            if (doc_is_string(doc_get(&v[i], "type"), known[k]))
                status = str_from(known[k]);
    return cell_of(p, status);
}

/* ---- certificates ---- */

struct doc cell_request_status(const struct printing *p, const struct doc *object,
                               const char *argument)
{
    bool denied = cell_condition(object, "status.conditions", "Denied"),
         approved = cell_condition(object, "status.conditions", "Approved"),
         failed = cell_condition(object, "status.conditions", "Failed"),
         issued = cell_path_text(object, "status.certificate").n > 0;
    return cell_of(p, arena_printf(p->a, "%s%s%s",
                                   denied     ? "Denied"
                                   : approved ? "Approved"
                                              : "Pending",
                                   failed ? ",Failed" : "", issued ? ",Issued" : ""));
}

struct doc cell_certificate_state(const struct printing *p, const struct doc *object,
                                  const char *argument)
{
    struct str state = STR("Pending");
    const struct doc *v;
    uint32_t n = cell_list(object, "status.conditions", &v);
    for (uint32_t i = 0; i < n; i++) {
        struct str type = doc_get_text(&v[i], "type");
        if (str_is(type, "Issued") || str_is(type, "Denied") || str_is(type, "Failed"))
            state = type;
    }
    return cell_of(p, state);
}

struct doc cell_requested_duration(const struct printing *p, const struct doc *object,
                                   const char *argument)
{
    const struct doc *d = doc_path(object, "spec.expirationSeconds");
    int64_t seconds;
    if (!d || !doc_int64(d, &seconds))
        return cell_of(p, STR("<none>"));
    return cell_of(p, age_print(seconds * 1000000000, p->a));
}

/* ---- conditions ---- */

/* Of a ComponentStatus; argument: "" or the field of the condition to show. */
struct doc cell_health(const struct printing *p, const struct doc *object,
                       const char *argument)
{
    const struct doc *healthy = cell_condition(object, "conditions", "Healthy");
    if (*argument)
        return cell_of(p, doc_get_text(healthy, argument));
    if (!healthy)
        return cell_of(p, STR("Unknown"));
    return cell_of(p, cell_is_true(healthy) ? STR("Healthy") : STR("Unhealthy"));
}

/* argument: the condition's type. */
struct doc cell_condition_status(const struct printing *p, const struct doc *object,
                                 const char *argument)
{
    const struct doc *c = cell_condition(object, "status.conditions", argument);
    return cell_of(p, c ? doc_get_text(c, "status") : STR("?"));
}

/* ---- autoscaling ---- */

struct metric {
    const char *type, *source;
    bool named;     /* of a resource, in percent unless an average is asked for */
    bool one_value; /* the target is an average always */
};

static const struct metric METRICS[] = {
    {"External", "external"},
    {"Object", "object"},
    {"Pods", "pods", .one_value = true},
    {"Resource", "resource", .named = true},
    {"ContainerResource", "containerResource", .named = true},
};

/* "12%" of a utilization, else the text of the quantity. */
static struct str amount(const struct printing *p, const struct doc *d, const char *field,
                         struct str none)
{
    const struct doc *v = doc_get(d, field);
    if (!v || v->type == DOC_NULL)
        return none;
    return strcmp(field, "averageUtilization") == 0
               ? arena_printf(p->a, "%.*s%%", STR_ARG(doc_str(v)))
               : doc_str(v);
}

static struct str metric_text(const struct printing *p, const struct metric *m,
                              const struct doc *spec, const struct doc *status)
{
    const struct doc *source = doc_get(spec, m->source),
                     *target = doc_get(source, "target"),
                     *current = doc_get(doc_get(status, m->source), "current");
    struct str name = doc_get_text(source, "name");
    bool average = m->one_value || doc_get_text(target, "averageValue").n > 0;
    const char *field = average    ? "averageValue"
                        : m->named ? "averageUtilization"
                                   : "value";
    struct str have = amount(p, current, field, STR("<unknown>")),
               want = amount(p, target, field, m->named ? STR("<auto>") : STR("0"));
    if (m->named)
        return arena_printf(p->a, "%.*s: %.*s/%.*s", STR_ARG(name), STR_ARG(have),
                            STR_ARG(want));
    return arena_printf(p->a, "%.*s/%.*s%s", STR_ARG(have), STR_ARG(want),
                        average && !m->one_value ? " (avg)" : "");
}

static struct str any_metric(const struct printing *p, const struct doc *spec,
                             const struct doc *status)
{
    for (size_t i = 0; i < sizeof METRICS / sizeof *METRICS; i++)
        if (doc_is_string(doc_get(spec, "type"), METRICS[i].type))
            return metric_text(p, &METRICS[i], spec, status);
    return STR("<unknown type>");
}

/* autoscaling/v1 knows one metric, and says it in fields of its own; 80 % unless told. */
static struct str old_metric(const struct printing *p, const struct doc *object)
{
    struct str want = cell_path_text(object, "spec.targetCPUUtilizationPercentage"),
               have = cell_path_text(object, "status.currentCPUUtilizationPercentage");
    if (!want.n)
        want = STR("80");
    return arena_printf(p->a, "cpu: %.*s%s/%.*s%%", STR_ARG(have),
                        have.n ? "%" : "<unknown>", STR_ARG(want));
}

struct doc cell_metrics(const struct printing *p, const struct doc *object,
                        const char *argument)
{
    enum { MOST = 2 };
    const struct doc *specs, *statuses;
    uint32_t n = cell_list(object, "spec.metrics", &specs),
             have = cell_list(object, "status.currentMetrics", &statuses);
    struct cell_texts texts = {0};
    if (!n)
        return cell_of(p, old_metric(p, object));
    for (uint32_t i = 0; i < n && i < MOST; i++)
        cell_add(p, &texts, any_metric(p, &specs[i], i < have ? &statuses[i] : NULL));
    struct str all = cell_joined(p, &texts, ", ");
    if (n > MOST)
        all = arena_printf(p->a, "%.*s + %u more...", STR_ARG(all), n - MOST);
    return cell_of(p, all);
}

/* ---- admission policies ---- */

static void add_go_struct(const struct doc *expression, struct strbuf *b)
{
    const struct doc *v;
    uint32_t n = cell_list(expression, "values", &v);
    strbuf_addf(b, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[",
                STR_ARG(doc_get_text(expression, "key")),
                STR_ARG(doc_get_text(expression, "operator")));
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(b, "%s%.*s", i ? " " : "", STR_ARG(doc_str(&v[i])));
    strbuf_adds(b, "],},");
}

/* A selector as Go writes its struct. */
static struct str go_selector(const struct printing *p, const struct doc *selector)
{
    const struct doc *labels = doc_get(selector, "matchLabels"), *v;
    uint32_t n = cell_list(selector, "matchExpressions", &v);
    struct strbuf b = STRBUF_INIT;
    struct cell_texts pairs = {0};
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        struct str key = doc_key(&labels->members[i]),
                   value = doc_str(&labels->members[i].value);
        cell_add(p, &pairs,
                 arena_printf(p->a, "%.*s: %.*s,", STR_ARG(key), STR_ARG(value)));
    }
    cell_sort(&pairs);
    strbuf_adds(&b, "&LabelSelector{MatchLabels:map[string]string{");
    strbuf_addstr(&b, cell_joined(p, &pairs, ""));
    strbuf_adds(&b, "},MatchExpressions:[]LabelSelectorRequirement{");
    for (uint32_t i = 0; i < n; i++)
        add_go_struct(&v[i], &b);
    strbuf_adds(&b, "},}");
    struct str s = arena_str(p->a, strbuf_str(&b));
    strbuf_release(&b);
    return s;
}

struct doc cell_param_ref(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    const struct doc *ref = doc_path(object, "spec.paramRef");
    struct str name = doc_get_text(ref, "name"), space = doc_get_text(ref, "namespace");
    if (name.n)
        return cell_of(p,
                       arena_printf(p->a, "%.*s/%.*s",
                                    STR_ARG(space.n ? space : STR("*")), STR_ARG(name)));
    if (cell_path_is_map(ref, "selector"))
        return cell_of(p, go_selector(p, doc_get(ref, "selector")));
    return cell_of(p, STR("<unset>"));
}
