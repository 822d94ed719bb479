/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/filter.h"

#include <stdlib.h>

static const char *const TEXTS[SCHED_REFUSALS] = {
    [SCHED_FITS] = "fits",
    [SCHED_CORDONED] = "is cordoned",
    [SCHED_NODE_NAME] = "is not the node the pod names",
    [SCHED_NODE_SELECTOR] = "does not match the pod's node selector or affinity",
    [SCHED_TAINT] = "has a taint that the pod does not tolerate",
    [SCHED_RESOURCES] = "lacks resources",
};

const char *sched_refusal_text(enum sched_refusal r)
{
    return TEXTS[r];
}

void sched_pod_init(struct sched_pod *out, const struct view_pod *pod, struct arena *a)
{
    *out = (struct sched_pod){.view = pod};
    out->requests = view_pod_requests(pod, a, &out->nrequests);
}

void sched_node_init(struct sched_node *out, const struct view_node *node,
                     struct arena *a)
{
    *out = (struct sched_node){.view = node};
    out->used = ARENA_ARRAY(a, struct view_amount, node->nallocatable);
    for (uint32_t i = 0; i < node->nallocatable; i++)
        out->used[i].name = node->allocatable[i].name;
}

/* Index into allocatable, or -1. */
static int resource_index(const struct view_node *n, struct str name)
{
    for (uint32_t i = 0; i < n->nallocatable; i++)
        if (str_eq(n->allocatable[i].name, name))
            return (int)i;
    return -1;
}

void sched_node_add(struct sched_node *n, const struct sched_pod *p, struct arena *a)
{
    n->npods++;
    for (uint32_t i = 0; i < p->nrequests; i++) {
        int at = resource_index(n->view, p->requests[i].name);
        if (at >= 0)
            n->used[at].value =
                quantity_add(&n->used[at].value, &p->requests[i].value, a);
    }
}

void sched_node_remove(struct sched_node *n, const struct sched_pod *p, struct arena *a)
{
    n->npods--;
    for (uint32_t i = 0; i < p->nrequests; i++) {
        int at = resource_index(n->view, p->requests[i].name);
        if (at >= 0)
            n->used[at].value =
                quantity_sub(&n->used[at].value, &p->requests[i].value, a);
    }
}

/* ---- node selector and affinity ---- */

static bool matches_selector(const struct view_pod *p, const struct view_node *n)
{
    for (uint32_t i = 0; i < p->nnode_selector; i++) {
        const struct str *label =
            view_label_find(n->labels, n->nlabels, p->node_selector[i].key);
        if (!label || !str_eq(*label, p->node_selector[i].value))
            return false;
    }
    return !p->required ||
           view_node_selector_match(p->required, n, NULL) == VIEW_MATCH_YES;
}

/* ---- taints ---- */

bool sched_tolerates(const struct view_toleration *t, const struct view_taint *taint)
{
    return view_tolerates(t, taint);
}

static bool tolerated(const struct view_pod *p, const struct view_taint *taint)
{
    for (uint32_t i = 0; i < p->ntolerations; i++)
        if (sched_tolerates(&p->tolerations[i], taint))
            return true;
    return false;
}

static const struct view_taint *untolerated(const struct view_pod *p,
                                            const struct view_node *n)
{
    for (uint32_t i = 0; i < n->ntaints; i++) {
        const struct view_taint *t = &n->taints[i];
        bool keeps_out =
            str_is(t->effect, "NoSchedule") || str_is(t->effect, "NoExecute");
        if (keeps_out && !tolerated(p, t))
            return t;
    }
    return NULL;
}

/* The cordon is a taint to those who tolerate it. */
static bool cordoned(const struct view_pod *p, const struct view_node *n)
{
    static const struct view_taint cordon = {
        {"node.kubernetes.io/unschedulable", 32}, {"", 0}, {"NoSchedule", 10}};
    return n->unschedulable && !tolerated(p, &cordon);
}

/* ---- resources ---- */

static bool listed(const struct view_strs *names, struct str s)
{
    for (uint32_t i = 0; names && i < names->n; i++)
        if (str_eq(names->v[i], s))
            return true;
    return false;
}

static struct str shortage(const struct sched_node *n, int at,
                           const struct view_amount *want, struct arena *a)
{
    const struct quantity *total = &n->view->allocatable[at].value;
    struct quantity left = quantity_sub(total, &n->used[at].value, a);
    return arena_printf(a, "%.*s: wants %.*s, %.*s of %.*s are free", STR_ARG(want->name),
                        STR_ARG(quantity_print(&want->value, a)),
                        STR_ARG(quantity_print(&left, a)),
                        STR_ARG(quantity_print(total, a)));
}

static bool is_extended(struct str name)
{
    return str_find_byte(name, '/', 0) != SIZE_MAX;
}

static bool fits_pods(const struct sched_node *n, struct arena *a, struct str *detail)
{
    int at = resource_index(n->view, STR("pods"));
    int64_t max;
    if (at < 0 || !quantity_scaled(&n->view->allocatable[at].value, 0, &max) ||
        (int64_t)n->npods < max)
        return true;
    *detail = arena_printf(a, "pods: all %lld places are taken", (long long)max);
    return false;
}

static bool fits_resources(const struct sched_pod *p, const struct sched_node *n,
                           const struct view_strs *ignored, struct arena *a,
                           struct str *detail)
{
    if (!fits_pods(n, a, detail))
        return false;
    for (uint32_t i = 0; i < p->nrequests; i++) {
        const struct view_amount *want = &p->requests[i];
        int at = resource_index(n->view, want->name);
        if (quantity_sign(&want->value) <= 0 || listed(ignored, want->name))
            continue;
        if (at < 0) {
            /* A node without the resource has none of it; without any allocatable at all
             * it says nothing about CPU and memory. */
            if (n->view->nallocatable == 0 && !is_extended(want->name))
                continue;
            *detail = arena_printf(a, "%.*s: the node has none", STR_ARG(want->name));
            return false;
        }
        struct quantity sum = quantity_add(&n->used[at].value, &want->value, a);
        if (quantity_cmp(&sum, &n->view->allocatable[at].value) > 0) {
            *detail = shortage(n, at, want, a);
            return false;
        }
    }
    return true;
}

enum sched_refusal sched_filter(const struct sched_pod *p, const struct sched_node *n,
                                const struct view_strs *ignored, struct arena *a,
                                struct str *detail)
{
    const struct view_pod *pod = p->view;
    *detail = STR("");
    if (cordoned(pod, n->view))
        return SCHED_CORDONED;
    if (pod->node_name.n && !str_eq(pod->node_name, n->view->meta.name))
        return SCHED_NODE_NAME;
    const struct view_taint *taint = untolerated(pod, n->view);
    if (taint) {
        *detail = arena_printf(a, "%.*s%s%.*s:%.*s", STR_ARG(taint->key),
                               taint->value.n ? "=" : "", STR_ARG(taint->value),
                               STR_ARG(taint->effect));
        return SCHED_TAINT;
    }
    if (!matches_selector(pod, n->view))
        return SCHED_NODE_SELECTOR;
    return fits_resources(p, n, ignored, a, detail) ? SCHED_FITS : SCHED_RESOURCES;
}
