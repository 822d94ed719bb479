/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/filter.h"

#include <stdlib.h>

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

/* ---- the filters ---- */

static bool is_named(const struct sched_pod *p, const struct sched_node *n,
                     struct sched_reason *why)
{
    return p->view->node_name.n == 0 || str_eq(p->view->node_name, n->view->meta.name);
}

bool sched_taint_refuses(const struct view_taint *taint,
                         const struct view_toleration *tolerations, uint32_t n)
{
    if (!str_is(taint->effect, "NoSchedule") && !str_is(taint->effect, "NoExecute"))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (view_tolerates(&tolerations[i], taint))
            return false;
    return true;
}

/* The cordon is a taint to those who tolerate it. */
bool sched_cordon_refuses(const struct view_pod *p, const struct view_node *n)
{
    static const struct view_taint cordon = {
        {"node.kubernetes.io/unschedulable", 32}, {"", 0}, {"NoSchedule", 10}};
    return n->unschedulable &&
           sched_taint_refuses(&cordon, p->tolerations, p->ntolerations);
}

static bool is_open(const struct sched_pod *p, const struct sched_node *n,
                    struct sched_reason *why)
{
    return !sched_cordon_refuses(p->view, n->view);
}

static bool tolerates(const struct sched_pod *p, const struct sched_node *n,
                      struct sched_reason *why)
{
    for (uint32_t i = 0; i < n->view->ntaints; i++)
        if (sched_taint_refuses(&n->view->taints[i], p->view->tolerations,
                                p->view->ntolerations)) {
            why->taint = &n->view->taints[i];
            return false;
        }
    return true;
}

static bool has_labels(const struct sched_pod *p, const struct sched_node *n,
                       struct sched_reason *why)
{
    for (uint32_t i = 0; i < p->view->nnode_selector; i++) {
        const struct view_label *label = &p->view->node_selector[i];
        const struct str *have =
            view_label_find(n->view->labels, n->view->nlabels, label->key);
        if (have && str_eq(*have, label->value))
            continue;
        why->label = label;
        why->have = have;
        return false;
    }
    return true;
}

static bool has_affinity(const struct sched_pod *p, const struct sched_node *n,
                         struct sched_reason *why)
{
    return !p->view->required ||
           view_node_selector_match(p->view->required, n->view, NULL) == VIEW_MATCH_YES;
}

bool sched_selects(const struct view_pod *p, const struct view_node *n)
{
    const struct sched_pod pod = {.view = p};
    const struct sched_node node = {.view = n};
    struct sched_reason why;
    return has_labels(&pod, &node, &why) && has_affinity(&pod, &node, &why);
}

static bool takes_pods(const struct sched_pod *p, const struct sched_node *n,
                       struct sched_reason *why)
{
    int at = resource_index(n->view, STR("pods"));
    int64_t max;
    if (at < 0 || !quantity_scaled(&n->view->allocatable[at].value, 0, &max))
        return true;
    why->total = n->view->allocatable[at].value;
    return (int64_t)n->npods < max;
}

static const struct {
    enum sched_refusal refusal;
    bool (*passes)(const struct sched_pod *p, const struct sched_node *n,
                   struct sched_reason *why);
} FILTERS[] = {
    {SCHED_NODE_NAME, is_named},    {SCHED_CORDONED, is_open},
    {SCHED_TAINT, tolerates},       {SCHED_NODE_SELECTOR, has_labels},
    {SCHED_AFFINITY, has_affinity}, {SCHED_PODS, takes_pods},
};
enum { NFILTERS = sizeof FILTERS / sizeof *FILTERS };

/* ---- resources ---- */

static bool is_listed(const struct view_strs *names, struct str s)
{
    for (uint32_t i = 0; names && i < names->n; i++)
        if (str_eq(names->v[i], s))
            return true;
    return false;
}

static bool is_basic(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") ||
           str_is(name, "ephemeral-storage");
}

static bool has_amount(const struct sched_node *n, const struct view_amount *want,
                       struct arena *a, struct sched_reason *why)
{
    int at = resource_index(n->view, want->name);
    if (at < 0) {
        why->none = true;
        return is_basic(want->name);
    }
    struct quantity sum = quantity_add(&n->used[at].value, &want->value, a);
    why->none = quantity_sign(&n->view->allocatable[at].value) == 0;
    why->total = n->view->allocatable[at].value;
    why->used = n->used[at].value;
    return quantity_cmp(&sum, &why->total) <= 0;
}

static bool has_resources(const struct sched_pod *p, const struct sched_node *n,
                          const struct view_strs *ignored, struct arena *a,
                          struct sched_reason *why)
{
    for (uint32_t i = 0; i < p->nrequests; i++) {
        const struct view_amount *want = &p->requests[i];
        if (quantity_sign(&want->value) <= 0 || is_listed(ignored, want->name) ||
            has_amount(n, want, a, why))
            continue;
        why->want = want;
        return false;
    }
    return true;
}

bool sched_filter(const struct sched_pod *p, const struct sched_node *n,
                  const struct view_strs *ignored, struct arena *a,
                  struct sched_reason *why)
{
    *why = (struct sched_reason){0};
    for (int i = 0; i < NFILTERS; i++)
        if (!FILTERS[i].passes(p, n, why)) {
            why->refusal = FILTERS[i].refusal;
            return false;
        }
    if (has_resources(p, n, ignored, a, why))
        return true;
    why->refusal = SCHED_RESOURCES;
    return false;
}

/* ---- words ---- */

static struct str taint_text(const struct view_taint *t, struct arena *a)
{
    return arena_printf(a, "the node has the taint %.*s%s%.*s:%.*s", STR_ARG(t->key),
                        t->value.n ? "=" : "", STR_ARG(t->value), STR_ARG(t->effect));
}

static struct str label_text(const struct sched_reason *r, struct arena *a)
{
    if (!r->have)
        return arena_printf(a, "the node lacks the label %.*s=%.*s",
                            STR_ARG(r->label->key), STR_ARG(r->label->value));
    return arena_printf(a, "the node's label %.*s is %.*s, not %.*s",
                        STR_ARG(r->label->key), STR_ARG(*r->have),
                        STR_ARG(r->label->value));
}

static struct str shortage_text(const struct sched_reason *r, struct arena *a)
{
    struct str want = quantity_print(&r->want->value, a);
    if (r->none)
        return arena_printf(a, "the node has no %.*s, %.*s is wanted",
                            STR_ARG(r->want->name), STR_ARG(want));
    struct quantity left = quantity_sub(&r->total, &r->used, a);
    return arena_printf(a, "too little %.*s: %.*s wanted, %.*s of %.*s free",
                        STR_ARG(r->want->name), STR_ARG(want),
                        STR_ARG(quantity_print(&left, a)),
                        STR_ARG(quantity_print(&r->total, a)));
}

struct str sched_reason_print(const struct sched_reason *r, struct arena *a)
{
    switch (r->refusal) {
    case SCHED_NODE_NAME:
        return STR("the pod names another node");
    case SCHED_CORDONED:
        return STR("the node is cordoned");
    case SCHED_TAINT:
        return taint_text(r->taint, a);
    case SCHED_NODE_SELECTOR:
        return label_text(r, a);
    case SCHED_AFFINITY:
        return STR("the node does not match the pod's required node affinity");
    case SCHED_PODS:
        return arena_printf(a, "all %.*s places for pods are taken",
                            STR_ARG(quantity_print(&r->total, a)));
    case SCHED_RESOURCES:
        return shortage_text(r, a);
    default:
        return STR("fits");
    }
}

static bool same_taint(const struct view_taint *a, const struct view_taint *b)
{
    if (!a || !b)
        return a == b;
    return str_eq(a->key, b->key) && str_eq(a->value, b->value) &&
           str_eq(a->effect, b->effect);
}

static bool same_label(const struct view_label *a, const struct view_label *b)
{
    if (!a || !b)
        return a == b;
    return str_eq(a->key, b->key) && str_eq(a->value, b->value);
}

static bool same_amount(const struct view_amount *a, const struct view_amount *b)
{
    if (!a || !b)
        return a == b;
    return str_eq(a->name, b->name) && quantity_cmp(&a->value, &b->value) == 0;
}

static bool same_text(const struct str *a, const struct str *b)
{
    if (!a || !b)
        return a == b;
    return str_eq(*a, *b);
}

bool sched_reason_same(const struct sched_reason *a, const struct sched_reason *b)
{
    return a->refusal == b->refusal && a->none == b->none &&
           same_taint(a->taint, b->taint) && same_label(a->label, b->label) &&
           same_text(a->have, b->have) && same_amount(a->want, b->want);
}
