/* SPDX-License-Identifier: Apache-2.0 */
/* Pods: ready, status and restarts (spec 6, Pod). */
#include "api/printers_inner.h"

#include "api/age.h"

struct summary {
    struct str reason;
    int64_t ready, total, restarts, side_restarts;
    struct str last, side_last; /* latest end of a container; of those that never end */
};

static struct str later(struct str a, struct str b)
{
    return str_cmp(a, b) >= 0 ? a : b; /* one spelling: texts compare as times do */
}

static struct str last_end(const struct doc *status)
{
    return cell_path_text(status, "lastState.terminated.finishedAt");
}

static bool never_ends(const struct doc *pod, struct str init_container)
{
    const struct doc *v;
    uint32_t n = cell_list(pod, "spec.initContainers", &v);
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(doc_get_text(&v[i], "name"), init_container))
            return doc_is_string(doc_get(&v[i], "restartPolicy"), "Always");
    return false;
}

static bool says(const struct doc *d, const char *key)
{
    bool b;
    return doc_get_bool(d, key, &b) && b;
}

static bool pod_condition(const struct doc *pod, const char *type)
{
    return cell_is_true(cell_condition(pod, "status.conditions", type));
}

static struct str end_reason(const struct printing *p, const struct doc *terminated,
                             const char *prefix)
{
    struct str reason = doc_get_text(terminated, "reason");
    int64_t signal = cell_path_int(terminated, "signal");
    if (reason.n)
        return arena_printf(p->a, "%s%.*s", prefix, STR_ARG(reason));
    if (signal)
        return arena_printf(p->a, "%sSignal:%lld", prefix, (long long)signal);
    return arena_printf(p->a, "%sExitCode:%lld", prefix,
                        (long long)cell_path_int(terminated, "exitCode"));
}

static const struct doc *state(const struct doc *status, const char *path)
{
    const struct doc *d = doc_path(status, path);
    return d && d->type == DOC_MAP ? d : NULL;
}

/* Whether an init container lets the next one start; if not, *reason says why. */
static bool passes(const struct printing *p, const struct doc *pod, uint32_t i,
                   const struct doc *status, bool side, struct str *reason)
{
    const struct doc *ended = state(status, "state.terminated"), *v;
    struct str waiting = cell_path_text(status, "state.waiting.reason");
    if (ended && cell_path_int(ended, "exitCode") == 0)
        return true;
    if (side && says(status, "started"))
        return true;
    if (ended)
        *reason = end_reason(p, ended, "Init:");
    else if (waiting.n && !str_is(waiting, "PodInitializing"))
        *reason = arena_printf(p->a, "Init:%.*s", STR_ARG(waiting));
    else
        *reason = arena_printf(p->a, "Init:%u/%u", i,
                               cell_list(pod, "spec.initContainers", &v));
    return false;
}

/* Goes through the init containers; whether all let the others start. */
static bool initialized(const struct printing *p, const struct doc *pod,
                        struct summary *s)
{
    const struct doc *v;
    uint32_t n = cell_list(pod, "status.initContainerStatuses", &v);
    for (uint32_t i = 0; i < n; i++) {
        bool side = never_ends(pod, doc_get_text(&v[i], "name"));
        int64_t restarts = cell_path_int(&v[i], "restartCount");
        const struct doc *ended = state(&v[i], "state.terminated");
        s->restarts += restarts;
        s->last = later(s->last, last_end(&v[i]));
        if (side) {
            s->side_restarts += restarts;
            s->side_last = later(s->side_last, last_end(&v[i]));
        }
        if (!passes(p, pod, i, &v[i], side, &s->reason))
            return false;
        bool done = ended && cell_path_int(ended, "exitCode") == 0;
        s->ready += !done && says(&v[i], "ready");
    }
    return true;
}

/* From the last container to the first, so that the first one has the last word. */
static void run(const struct printing *p, const struct doc *pod, struct summary *s)
{
    const struct doc *v;
    struct str error = STR("");
    bool running = false;
    for (uint32_t i = cell_list(pod, "status.containerStatuses", &v); i-- > 0;) {
        const struct doc *ended = state(&v[i], "state.terminated");
        struct str waiting = cell_path_text(&v[i], "state.waiting.reason");
        s->restarts += cell_path_int(&v[i], "restartCount");
        s->last = later(s->last, last_end(&v[i]));
        if (waiting.n) {
            s->reason = waiting;
        } else if (ended) {
            s->reason = end_reason(p, ended, "");
            if (cell_path_int(ended, "exitCode"))
                error = s->reason;
        } else if (says(&v[i], "ready") && state(&v[i], "state.running")) {
            running = true;
            s->ready++;
        }
    }
    if (!str_is(s->reason, "Completed"))
        return;
    if (running && pod_condition(pod, "Ready"))
        s->reason = STR("Running");
    else if (error.n)
        s->reason = error;
    else if (running)
        s->reason = STR("NotReady");
}

static struct str first_reason(const struct doc *pod)
{
    struct str reason = cell_path_text(pod, "status.reason");
    const struct doc *v;
    uint32_t n = cell_list(pod, "status.conditions", &v);
    for (uint32_t i = 0; i < n; i++)
        if (doc_is_string(doc_get(&v[i], "type"), "PodScheduled") &&
            doc_is_string(doc_get(&v[i], "reason"), "SchedulingGated"))
            return STR("SchedulingGated");
    return reason.n ? reason : cell_path_text(pod, "status.phase");
}

static void deleted(const struct doc *pod, struct summary *s)
{
    struct str phase = cell_path_text(pod, "status.phase");
    if (!cell_path_text(pod, "metadata.deletionTimestamp").n)
        return;
    if (str_is(cell_path_text(pod, "status.reason"), "NodeLost"))
        s->reason = STR("Unknown");
    else if (!str_is(phase, "Succeeded") && !str_is(phase, "Failed"))
        s->reason = STR("Terminating");
}

static struct summary summarize(const struct printing *p, const struct doc *pod)
{
    struct summary s = {
        .reason = first_reason(pod), .last = STR(""), .side_last = STR("")};
    const struct doc *v;
    s.total = cell_list(pod, "spec.containers", &v);
    uint32_t n = cell_list(pod, "spec.initContainers", &v);
    for (uint32_t i = 0; i < n; i++)
        s.total += doc_is_string(doc_get(&v[i], "restartPolicy"), "Always");
    bool go = initialized(p, pod, &s);
    if (go || pod_condition(pod, "Initialized")) {
        s.restarts = s.side_restarts;
        s.last = s.side_last;
        run(p, pod, &s);
    }
    deleted(pod, &s);
    return s;
}

struct doc cell_pod_ready(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    struct summary s = summarize(p, object);
    return cell_of(
        p, arena_printf(p->a, "%lld/%lld", (long long)s.ready, (long long)s.total));
}

struct doc cell_pod_status(const struct printing *p, const struct doc *object,
                           const char *argument)
{
    return cell_of(p, summarize(p, object).reason);
}

struct doc cell_pod_restarts(const struct printing *p, const struct doc *object,
                             const char *argument)
{
    struct summary s = summarize(p, object);
    struct str count = arena_printf(p->a, "%lld", (long long)s.restarts);
    if (!s.restarts || !s.last.n)
        return cell_of(p, count);
    struct str age = age_of(s.last, p->now, p->a);
    return cell_of(p,
                   arena_printf(p->a, "%.*s (%.*s ago)", STR_ARG(count), STR_ARG(age)));
}

struct doc cell_pod_gates(const struct printing *p, const struct doc *object,
                          const char *argument)
{
    const struct doc *v;
    uint32_t n = cell_list(object, "spec.readinessGates", &v), open = 0;
    for (uint32_t i = 0; i < n; i++)
        open += pod_condition(object, doc_get_text(&v[i], "conditionType").p);
    return cell_of(p, n ? arena_printf(p->a, "%u/%u", open, n) : STR("<none>"));
}
