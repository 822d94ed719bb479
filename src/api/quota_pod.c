/* SPDX-License-Identifier: Apache-2.0 */
/* Pods in quotas. */
#include "api/pod_amounts.h"
#include "api/prepare.h"
#include "api/quota_inner.h"
#include "api/timestamp.h"
#include "base/names.h"

/* ---- which requests ---- */

static bool is_terminating(const struct doc *pod)
{
    int64_t seconds;
    return doc_get_int64(doc_get(pod, "spec"), "activeDeadlineSeconds", &seconds) &&
           seconds >= 0;
}

static bool handles(const struct quota_request *q)
{
    if (strcmp(q->sub, "resize") == 0)
        return q->verb == QUOTA_UPDATE;
    if (*q->sub)
        return false;
    return q->verb == QUOTA_CREATE ||
           (q->verb == QUOTA_UPDATE &&
            is_terminating(q->old) != is_terminating(q->object));
}

/* ---- names ---- */

static bool counts(const struct quota_request *q, struct str name)
{
    static const char *const NAMES[] = {"count/pods",
                                        "cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods"};
    (void)q;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_is(name, NAMES[i]))
            return true;
    return str_starts(name, STR("hugepages-")) ||
           str_starts(name, STR("requests.hugepages-")) || quota_is_extended(name);
}

static bool is_native(struct str name)
{
    return str_find_byte(name, '/', 0) == SIZE_MAX ||
           str_find(name, STR("kubernetes.io/")) != SIZE_MAX;
}

bool quota_is_extended(struct str name)
{
    return str_starts(name, STR("requests.")) &&
           (!is_native(name) ||
            str_starts(name, STR("requests.deviceclass.resource.kubernetes.io/")));
}

/* ---- usage ---- */

static const struct {
    const char *resource;
    bool limit; /* of limits; else of requests */
    const char *names[2];
} ROWS[] = {
    {"cpu", false, {"cpu", "requests.cpu"}},
    {"cpu", true, {"limits.cpu", NULL}},
    {"memory", false, {"memory", "requests.memory"}},
    {"memory", true, {"limits.memory", NULL}},
    {"ephemeral-storage", false, {"ephemeral-storage", "requests.ephemeral-storage"}},
    {"ephemeral-storage", true, {"limits.ephemeral-storage", NULL}},
};

static struct str request_name(struct arena *a, struct str resource)
{
    return arena_printf(a, "requests.%.*s", STR_ARG(resource));
}

static bool is_device(struct arena *a, struct str name)
{
    if (str_starts(name, STR("deviceclass.resource.kubernetes.io/")))
        return true;
    return !is_native(name) && !str_starts(name, STR("requests.")) &&
           name_valid(NAME_LABEL_KEY, request_name(a, name));
}

static void add_resources(const struct amounts *requests, const struct amounts *limits,
                          struct amounts *out)
{
    amounts_set_int(out, STR("pods"), 1);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct quantity *v =
            amounts_get(ROWS[i].limit ? limits : requests, str_from(ROWS[i].resource));
        for (int k = 0; v && k < 2 && ROWS[i].names[k]; k++)
            amounts_set(out, str_from(ROWS[i].names[k]), *v);
    }
    for (uint32_t i = 0; i < requests->n; i++) {
        struct str name = requests->v[i].name;
        bool huge = str_starts(name, STR("hugepages-"));
        if (huge)
            amounts_set(out, name, requests->v[i].value);
        if (huge || is_device(out->a, name))
            amounts_set(out, request_name(out->a, name), requests->v[i].value);
    }
}

/* One that has ended, or was to have ended by now, holds nothing anymore. */
static bool is_over(const struct quota_request *q, const struct doc *pod)
{
    const struct doc *meta = doc_get(pod, "metadata");
    struct str phase = doc_get_text(doc_get(pod, "status"), "phase");
    struct str at = doc_get_text(meta, "deletionTimestamp");
    int64_t grace, seconds;
    int32_t nanos;
    if (str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return true;
    return at.n && doc_get_int64(meta, "deletionGracePeriodSeconds", &grace) &&
           timestamp_parse(at, &seconds, &nanos) && q->w->now - grace > seconds;
}

void quota_pod_usage(const struct quota_request *q, const struct doc *pod,
                     struct amounts *out)
{
    amounts_set_int(out, STR("count/pods"), 1);
    if (is_over(q, pod) || !pod_amounts_countable(pod))
        return;
    struct amounts requests = pod_requests(pod, out->a), limits = pod_limits(pod, out->a);
    add_resources(&requests, &limits, out);
}

/* ---- scopes ---- */

static bool crosses(const struct doc *terms, const char *inner)
{
    for (uint32_t i = 0; terms && terms->type == DOC_LIST && i < terms->n; i++) {
        const struct doc *t = &terms->items[i];
        t = inner ? doc_get(t, inner) : t;
        const struct doc *names = doc_get(t, "namespaces"),
                         *selector = doc_get(t, "namespaceSelector");
        if ((names && names->type == DOC_LIST && names->n) ||
            (selector && selector->type != DOC_NULL))
            return true;
    }
    return false;
}

static bool crosses_namespaces(const struct doc *pod)
{
    static const char *const KINDS[] = {"podAffinity", "podAntiAffinity"};
    for (int k = 0; k < 2; k++) {
        const struct doc *d = doc_get(doc_path(pod, "spec.affinity"), KINDS[k]);
        if (crosses(doc_get(d, "requiredDuringSchedulingIgnoredDuringExecution"), NULL) ||
            crosses(doc_get(d, "preferredDuringSchedulingIgnoredDuringExecution"),
                    "podAffinityTerm"))
            return true;
    }
    return false;
}

static bool is_best_effort(const struct quota_request *q, const struct doc *pod)
{
    struct str class = doc_get_text(doc_get(pod, "status"), "qosClass");
    if (class.n == 0)
        class = str_from(api_pod_qos(doc_get(pod, "spec"), q->w->a));
    return str_is(class, "BestEffort");
}

static bool in_scope(const struct quota_request *q, const struct quota_scope *s,
                     const struct doc *pod)
{
    struct str class = doc_get_text(doc_get(pod, "spec"), "priorityClassName");
    if (str_is(s->name, "Terminating"))
        return is_terminating(pod);
    if (str_is(s->name, "NotTerminating"))
        return !is_terminating(pod);
    if (str_is(s->name, "BestEffort"))
        return is_best_effort(q, pod);
    if (str_is(s->name, "NotBestEffort"))
        return !is_best_effort(q, pod);
    if (str_is(s->name, "PriorityClass"))
        return quota_selects(s, class.n ? class : STR_NONE);
    return str_is(s->name, "CrossNamespacePodAffinity") && crosses_namespaces(pod);
}

/* ---- what must be said ---- */

struct lacking {
    struct amounts containers; /* their names, sorted */
};

/* A quota on cpu or memory makes every container say how much it wants; no other does. */
static const char *const MUST[] = {"cpu",    "limits.cpu",   "limits.memory",
                                   "memory", "requests.cpu", "requests.memory"};
enum { NMUST = sizeof MUST / sizeof *MUST };

static void look_at(const struct doc *list, const struct amounts *required,
                    struct lacking *all, struct arena *a)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *resources = doc_get(&list->items[i], "resources");
        struct amounts requests = amounts_read(a, doc_get(resources, "requests")),
                       limits = amounts_read(a, doc_get(resources, "limits")),
                       usage = {.a = a};
        add_resources(&requests, &limits, &usage);
        for (int k = 0; k < NMUST; k++)
            if (amounts_get(required, str_from(MUST[k])) &&
                !amounts_get(&usage, str_from(MUST[k])))
                amounts_set_int(&all[k].containers, doc_get_text(&list->items[i], "name"),
                                1);
    }
}

static void print_names(const struct amounts *names, struct strbuf *b)
{
    for (uint32_t i = 0; i < names->n; i++)
        strbuf_addf(b, "%s%.*s", i ? "," : "", STR_ARG(names->v[i].name));
}

static struct str lacks(const struct quota_request *q, const struct amounts *required)
{
    struct arena *a = q->w->a;
    struct lacking all[NMUST] = {0};
    struct strbuf b = STRBUF_INIT;
    if (!pod_amounts_countable(q->object))
        return arena_printf(a, "containers may name %d amounts at most", POD_AMOUNTS_MAX);
    if (pod_has_level_resources(q->object))
        return STR_NONE;
    for (int k = 0; k < NMUST; k++)
        all[k].containers.a = a;
    look_at(doc_path(q->object, "spec.containers"), required, all, a);
    look_at(doc_path(q->object, "spec.initContainers"), required, all, a);
    for (int k = 0; k < NMUST; k++) {
        if (all[k].containers.n == 0)
            continue;
        strbuf_addf(&b, "%s%s for: ", b.n ? "; " : "must specify ", MUST[k]);
        print_names(&all[k].containers, &b);
    }
    struct str text = b.n ? arena_str(a, strbuf_str(&b)) : STR_NONE;
    strbuf_release(&b);
    return text;
}

const struct quota_evaluator quota_pods = {
    "", "pods", handles, counts, quota_pod_usage, in_scope, lacks};
