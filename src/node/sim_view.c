/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulation keeps of nodes and pods: a few words each. */
#include <stdio.h>
#include <stdlib.h>

#include "api/claim_refs.h"
#include "api/timestamp.h"
#include "base/duration.h"
#include "node/sim_inner.h"

/* STR_NONE: it is not there. */
static struct str annotation(const struct doc *d, const char *name)
{
    return doc_get_text(doc_get(doc_get(d, "metadata"), "annotations"), name);
}

static uint32_t count(const struct doc *list)
{
    return list && list->type == DOC_LIST ? list->n : 0;
}

/* ---- nodes ---- */

static bool is_ready(const struct doc *node)
{
    const struct doc *list = doc_path(node, "status.conditions");
    for (uint32_t i = 0; i < count(list); i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "Ready"))
            return doc_is_string(doc_get(&list->items[i], "status"), "True");
    return false;
}

const void *sim_node_view(const struct doc *d, struct arena *a, struct err *e)
{
    struct sim_node_view *v = ARENA_NEW(a, struct sim_node_view);
    (void)e;
    v->ready = is_ready(d);
    v->lost = str_is(annotation(d, "sim.dray.dev/lost"), "true");
    v->unhealthy = arena_str(a, annotation(d, "sim.dray.dev/unhealthy"));
    doc_get_int64(doc_path(d, "status.daemonEndpoints.kubeletEndpoint"), "Port",
                  &v->port);
    return v;
}

/* ---- pods ---- */

/* "30s", "2m", and "30" as sleep takes it; missing: when there is none. Rounded up. */
static int64_t seconds(struct str text, int64_t missing)
{
    uint64_t ms;
    char unit[32];
    if (text.n == 0 || text.n > sizeof unit - 2)
        return missing;
    snprintf(unit, sizeof unit, "%.*ss", STR_ARG(text));
    if (duration_parse(text, &ms) || duration_parse(str_from(unit), &ms))
        return (int64_t)((ms + 999) / 1000);
    return missing;
}

static struct str word(const struct doc *list, uint32_t i)
{
    bool there = i < count(list) && list->items[i].type == DOC_STRING;
    return there ? doc_str(&list->items[i]) : STR_NONE;
}

/* `sleep N` as the command, its end as the arguments or not; also behind `sh -c`. Without
 * a command the arguments are it. */
static int64_t sleeps(const struct doc *container)
{
    const struct doc *command = doc_get(container, "command"),
                     *args = doc_get(container, "args");
    const struct doc *begin = count(command) ? command : args,
                     *end = count(args) ? args : command;
    struct str first = word(begin, 0), last = word(end, count(end) - 1);
    if (str_starts(last, STR("sleep ")))
        return seconds(str_sub(last, 6, last.n), -1);
    return str_ends(first, STR("sleep")) ? seconds(last, -1) : -1;
}

static int64_t run_time(const struct doc *pod)
{
    const struct doc *list = doc_path(pod, "spec.containers");
    struct str said = annotation(pod, "sim.dray.dev/run");
    int64_t longest = -1;
    if (said.n)
        return seconds(said, -1);
    for (uint32_t i = 0; i < count(list); i++) {
        int64_t s = sleeps(&list->items[i]);
        if (s < 0)
            return -1; /* one that does not end */
        longest = s > longest ? s : longest;
    }
    return longest;
}

static int64_t time_of(struct str text)
{
    int64_t s = 0;
    int32_t nanos;
    return timestamp_parse(text, &s, &nanos) ? s : 0;
}

static struct sim_container *containers(const struct doc *list, struct arena *a,
                                        uint32_t *n)
{
    *n = count(list);
    struct sim_container *out = ARENA_ARRAY(a, struct sim_container, *n);
    for (uint32_t i = 0; i < *n; i++) {
        const struct doc *c = &list->items[i];
        out[i].name = arena_str(a, doc_get_text(c, "name"));
        out[i].image = arena_str(a, doc_get_text(c, "image"));
        out[i].sidecar = doc_is_string(doc_get(c, "restartPolicy"), "Always");
    }
    return out;
}

static enum sim_phase phase_of(const struct doc *status)
{
    const struct doc *phase = doc_get(status, "phase");
    if (doc_is_string(phase, "Succeeded") || doc_is_string(phase, "Failed"))
        return SIM_OVER;
    return doc_is_string(phase, "Running") ? SIM_RUNNING : SIM_PENDING;
}

/* The time of the condition that says that it has a node. */
static int64_t bound_at(const struct doc *status)
{
    const struct doc *list = doc_get(status, "conditions");
    for (uint32_t i = 0; i < count(list); i++)
        if (doc_is_string(doc_get(&list->items[i], "type"), "PodScheduled"))
            return time_of(doc_get_text(&list->items[i], "lastTransitionTime"));
    return 0;
}

/* When its containers started last, and how often they did again. */
static void read_started(struct sim_pod_view *v, const struct doc *status)
{
    const struct doc *list = doc_get(status, "containerStatuses");
    v->started_s = time_of(doc_get_text(status, "startTime"));
    for (uint32_t i = 0; i < count(list); i++) {
        struct str at =
            doc_get_text(doc_path(&list->items[i], "state.running"), "startedAt");
        if (time_of(at) > v->started_s)
            v->started_s = time_of(at);
        doc_get_int64(&list->items[i], "restartCount", &v->restarts);
    }
}

static void read_claims(struct sim_pod_view *v, const struct doc *pod, struct arena *a)
{
    const struct doc *list = doc_path(pod, "spec.resourceClaims");
    struct str extended = doc_get_text(
        doc_path(pod, "status.extendedResourceClaimStatus"), "resourceClaimName");
    struct str *out = ARENA_ARRAY(a, struct str, count(list) + 1);
    for (uint32_t i = 0; i < count(list); i++) {
        enum claim_known known = claim_ref_name(pod, &list->items[i], &out[v->nclaims]);
        if (known == CLAIM_NAMED || known == CLAIM_GENERATED) {
            out[v->nclaims] = arena_str(a, out[v->nclaims]);
            v->nclaims++;
        } else if (known != CLAIM_NOT_NEEDED) {
            v->node_claims_missing = true;
        }
    }
    if (extended.n)
        out[v->nclaims++] = arena_str(a, extended);
    v->claims = out;
}

static void read_policy(struct sim_pod_view *v, const struct doc *spec)
{
    const struct doc *policy = doc_get(spec, "restartPolicy");
    if (doc_is_string(policy, "Never"))
        v->restart = SIM_NEVER;
    else
        v->restart = doc_is_string(policy, "OnFailure") ? SIM_ON_FAILURE : SIM_ALWAYS;
}

/* 10.128.0.0/9: nobody else's are looked at. */
static uint8_t read_ip(const struct doc *status)
{
    struct str ip = doc_get_text(status, "podIP");
    size_t dot = str_rfind_byte(ip, '.');
    if (!str_starts(ip, STR("10.")) || dot == SIZE_MAX)
        return 0;
    unsigned n = 0;
    for (size_t i = dot + 1; i < ip.n; i++)
        n = n * 10 + (unsigned)(ip.p[i] - '0');
    return n < 256 ? (uint8_t)n : 0;
}

static void read_annotations(struct sim_pod_view *v, const struct doc *d)
{
    struct str code = annotation(d, "sim.dray.dev/exit");
    v->run_s = run_time(d);
    v->start_s = seconds(annotation(d, "sim.dray.dev/start"), 0);
    v->stop_s = seconds(annotation(d, "sim.dray.dev/stop"), 0);
    v->exit_code = code.n ? strtol(code.p, NULL, 10) & 255 : 0;
}

const void *sim_pod_view(const struct doc *d, struct arena *a, struct err *e)
{
    const struct doc *spec = doc_get(d, "spec"), *status = doc_get(d, "status"),
                     *meta = doc_get(d, "metadata");
    struct sim_pod_view *v = ARENA_NEW(a, struct sim_pod_view);
    (void)e;
    v->node = arena_str(a, doc_get_text(spec, "nodeName"));
    v->phase = phase_of(status);
    v->deletion_s = time_of(doc_get_text(meta, "deletionTimestamp"));
    v->deleted = v->deletion_s != 0;
    doc_get_int64(meta, "deletionGracePeriodSeconds", &v->grace_s);
    v->ip_end = read_ip(status);
    v->bound_s = bound_at(status);
    v->containers = containers(doc_get(spec, "containers"), a, &v->ncontainers);
    v->init = containers(doc_get(spec, "initContainers"), a, &v->ninit);
    read_started(v, status);
    read_policy(v, spec);
    read_claims(v, d, a);
    read_annotations(v, d);
    return v;
}
