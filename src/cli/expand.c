/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/expand.h"

#include <stdlib.h>

#include "sched/filter.h"

void waiting_pods_release(struct waiting_pods *w)
{
    vec_release(&w->list);
}

/* ---- whose pods are there already ---- */

static bool has_value(const struct doc *values, struct str s)
{
    for (uint32_t i = 0; values && values->type == DOC_LIST && i < values->n; i++)
        if (values->items[i].type == DOC_STRING && str_eq(doc_str(&values->items[i]), s))
            return true;
    return false;
}

static bool expression_selects(const struct doc *e, const struct view_pod *pod)
{
    const struct str *label =
        view_label_find(pod->labels, pod->nlabels, doc_get_text(e, "key"));
    const struct doc *op = doc_get(e, "operator");
    bool in = label && has_value(doc_get(e, "values"), *label);
    if (doc_is_string(op, "In"))
        return in;
    if (doc_is_string(op, "NotIn"))
        return !in;
    return doc_is_string(op, "Exists") == (label != NULL);
}

bool expand_selects(const struct doc *selector, const struct view_pod *pod)
{
    const struct doc *labels = doc_get(selector, "matchLabels");
    const struct doc *expressions = doc_get(selector, "matchExpressions");
    for (uint32_t i = 0; labels && labels->type == DOC_MAP && i < labels->n; i++) {
        const struct doc_member *m = &labels->members[i];
        const struct str *have = view_label_find(pod->labels, pod->nlabels, doc_key(m));
        if (!have || m->value.type != DOC_STRING || !str_eq(*have, doc_str(&m->value)))
            return false;
    }
    for (uint32_t i = 0;
         expressions && expressions->type == DOC_LIST && i < expressions->n; i++)
        if (!expression_selects(&expressions->items[i], pod))
            return false;
    return true;
}

static bool is_owned_by(const struct cluster_workload *w, struct str kind,
                        struct str name)
{
    return str_eq(kind, w->kind_name) && str_eq(name, w->meta.name);
}

/* The controller's word counts, where it is there: labels may be those of several
 * workloads. Between a pod and its Deployment stands a ReplicaSet. */
static bool has_other_owner(const struct cluster *c, const struct cluster_workload *w,
                            const struct view_pod *pod)
{
    if (pod->owner_name.n == 0)
        return false;
    if (w->kind != CLUSTER_DEPLOYMENT)
        return !is_owned_by(w, pod->owner_kind, pod->owner_name);
    for (size_t i = 0; i < c->workloads.n; i++) {
        const struct cluster_workload *o = &c->workloads.v[i];
        if (o->owner_name.n && str_eq(o->meta.namespace, w->meta.namespace) &&
            is_owned_by(o, pod->owner_kind, pod->owner_name))
            return !is_owned_by(w, o->owner_kind, o->owner_name);
    }
    return !str_is(pod->owner_kind, "ReplicaSet");
}

static bool is_pod_of(const struct cluster *c, const struct cluster_workload *w,
                      const struct view_pod *pod)
{
    if (!str_eq(pod->meta.namespace, w->meta.namespace) || view_pod_finished(pod) ||
        pod->meta.deleting)
        return false;
    if (!w->selector)
        return is_owned_by(w, pod->owner_kind, pod->owner_name);
    return expand_selects(w->selector, pod) && !has_other_owner(c, w, pod);
}

static int64_t count_pods(const struct cluster *c, const struct cluster_workload *w)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->pods.n; i++)
        n += is_pod_of(c, w, c->pods.v[i]);
    return n;
}

static bool has_pod_named(const struct cluster *c, struct str namespace, struct str name)
{
    for (size_t i = 0; i < c->pods.n; i++)
        if (str_eq(c->pods.v[i]->meta.name, name) &&
            str_eq(c->pods.v[i]->meta.namespace, namespace))
            return true;
    return false;
}

/* A ReplicaSet whose Deployment is there too makes no pods of its own. */
static bool is_managed(const struct cluster *c, const struct cluster_workload *w)
{
    for (size_t i = 0; i < c->workloads.n; i++) {
        const struct cluster_workload *o = &c->workloads.v[i];
        if (w->owner_name.n && str_eq(o->kind_name, w->owner_kind) &&
            str_eq(o->meta.name, w->owner_name) &&
            str_eq(o->meta.namespace, w->meta.namespace))
            return true;
    }
    return false;
}

/* ---- pods that are lacking ---- */

static void push(struct cluster *c, struct waiting_pods *out,
                 const struct cluster_workload *w, struct str name, uint32_t pinned)
{
    struct waiting_pod pod = {w->meta.namespace, name, w->pod, w, pinned, 0};
    cluster_priority(c, w->pod, &pod.priority);
    vec_push(&out->list, pod);
}

/* NAME-0, NAME-1, ...: ordinals that are not there, up to replicas. */
static void expand_stateful_set(struct cluster *c, const struct cluster_workload *w,
                                struct waiting_pods *out)
{
    for (int64_t i = 0; i < w->replicas; i++) {
        struct str name =
            arena_printf(&c->arena, "%.*s-%lld", STR_ARG(w->meta.name), (long long)i);
        if (!has_pod_named(c, w->meta.namespace, name))
            push(c, out, w, name, WAITING_ANYWHERE);
    }
}

static bool runs_on(const struct cluster *c, const struct cluster_workload *w,
                    const struct view_node *node)
{
    for (size_t i = 0; i < c->pods.n; i++)
        if (str_eq(c->pods.v[i]->node_name, node->meta.name) &&
            is_pod_of(c, w, c->pods.v[i]))
            return true;
    return false;
}

/* The controller makes no pod for a node that would not take it, resources apart. */
static bool wants_node(const struct view_pod *p, const struct view_node *n)
{
    struct sched_pod pod = {.view = p};
    struct sched_node node = {.view = n};
    struct sched_reason why;
    return sched_filter(&pod, &node, NULL, NULL, &why) || why.refusal == SCHED_PODS;
}

static void expand_daemon_set(struct cluster *c, const struct cluster_workload *w,
                              struct waiting_pods *out)
{
    for (size_t i = 0; i < c->nodes.n; i++) {
        const struct view_node *node = c->nodes.v[i];
        if (runs_on(c, w, node) || !wants_node(w->pod, node))
            continue;
        struct str name = arena_printf(&c->arena, "%.*s-%.*s", STR_ARG(w->meta.name),
                                       STR_ARG(node->meta.name));
        push(c, out, w, name, (uint32_t)i);
    }
}

static void expand_replicas(struct cluster *c, const struct cluster_workload *w,
                            struct waiting_pods *out)
{
    int64_t there = count_pods(c, w);
    for (int64_t i = there; i < w->replicas; i++) {
        struct str name =
            arena_printf(&c->arena, "%.*s-%lld", STR_ARG(w->meta.name), (long long)i + 1);
        push(c, out, w, name, WAITING_ANYWHERE);
    }
}

static void expand_workload(struct cluster *c, const struct cluster_workload *w,
                            struct waiting_pods *out)
{
    if (is_managed(c, w))
        return;
    if (w->kind == CLUSTER_STATEFUL_SET)
        expand_stateful_set(c, w, out);
    else if (w->kind == CLUSTER_DAEMON_SET)
        expand_daemon_set(c, w, out);
    else
        expand_replicas(c, w, out);
}

/* ---- all of them ---- */

static void note(struct diags *diags, const struct view_pod *p, struct str text)
{
    struct diag d = {.text = text};
    d.object = arena_printf(&diags->arena, "Pod \"%.*s/%.*s\"",
                            STR_ARG(p->meta.namespace), STR_ARG(p->meta.name));
    diags_add(diags, DIAG_NOTE, &d);
}

static void push_pending(struct cluster *c, const struct view_pod *p,
                         struct waiting_pods *out, struct diags *diags)
{
    struct waiting_pod pod = {
        p->meta.namespace, p->meta.name, p, NULL, WAITING_ANYWHERE, 0};
    if (p->ngates) {
        note(diags, p, STR("waits for its scheduling gates, passed over"));
        return;
    }
    if (!cluster_priority(c, p, &pod.priority))
        note(diags, p,
             arena_printf(&diags->arena,
                          "there is no PriorityClass \"%.*s\" among the input, priority "
                          "0 is assumed",
                          STR_ARG(p->priority_class)));
    vec_push(&out->list, pod);
}

/* A merge sort: equal priorities keep their order. */
static void sort_by_priority(struct waiting_pods *out, struct arena *a)
{
    size_t n = out->list.n;
    struct waiting_pod *from = out->list.v, *to = ARENA_ARRAY(a, struct waiting_pod, n);
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n,
                   hi = mid + width < n ? mid + width : n;
            for (size_t i = lo, j = mid, k = lo; k < hi; k++) {
                bool left = i < mid && (j >= hi || from[i].priority >= from[j].priority);
                to[k] = left ? from[i++] : from[j++];
            }
        }
        struct waiting_pod *swap = from;
        from = to;
        to = swap;
    }
    if (from != out->list.v)
        memcpy(out->list.v, from, n * sizeof *from);
}

void expand_pods(struct cluster *c, struct waiting_pods *out, struct diags *diags)
{
    for (size_t i = 0; i < c->pods.n; i++)
        if (view_pod_pending(c->pods.v[i]))
            push_pending(c, c->pods.v[i], out, diags);
    for (size_t i = 0; i < c->workloads.n; i++)
        expand_workload(c, &c->workloads.v[i], out);
    if (out->list.n)
        sort_by_priority(out, &c->arena);
}
