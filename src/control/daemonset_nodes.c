/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes should have a daemon's pod, and which do. */
#include <stdlib.h>

#include "api/edit.h"
#include "api/view_pod.h"
#include "base/vec.h"
#include "control/daemonset_inner.h"
#include "control/fields.h"
#include "sched/filter.h"

/* ---- the template ---- */

static void tolerate(struct sync *s, struct doc *list, const char *key,
                     const char *effect)
{
    struct doc t = doc_make_map();
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_is_string(doc_get(&list->items[i], "key"), key) &&
            doc_is_string(doc_get(&list->items[i], "operator"), "Exists") &&
            doc_is_string(doc_get(&list->items[i], "effect"), effect) &&
            !doc_get(&list->items[i], "tolerationSeconds"))
            return;
    doc_set_text(s->a, &t, "key", str_from(key));
    doc_set_text(s->a, &t, "operator", STR("Exists"));
    doc_set_text(s->a, &t, "effect", str_from(effect));
    doc_append(s->a, list, t);
}

/* Daemons stay on nodes in trouble. */
struct doc daemon_template(struct sync *s)
{
    static const struct {
        const char *key, *effect;
    } ALL[] = {
        {"node.kubernetes.io/not-ready", "NoExecute"},
        {"node.kubernetes.io/unreachable", "NoExecute"},
        {"node.kubernetes.io/disk-pressure", "NoSchedule"},
        {"node.kubernetes.io/memory-pressure", "NoSchedule"},
        {"node.kubernetes.io/pid-pressure", "NoSchedule"},
        {"node.kubernetes.io/unschedulable", "NoSchedule"},
        {"node.kubernetes.io/network-unavailable", "NoSchedule"}, /* hostNetwork alone */
    };
    struct doc d = doc_dup(s->a, doc_path(s->owner->doc, "spec.template"));
    struct doc *spec = field_make(s->a, &d, "spec"),
               *list = api_edit_get(spec, "tolerations");
    uint32_t n = sizeof ALL / sizeof *ALL - !field_bool(&d, "spec.hostNetwork");
    if (!list)
        list = doc_set(s->a, spec, "tolerations", doc_make_list());
    for (uint32_t i = 0; i < n; i++)
        tolerate(s, list, ALL[i].key, ALL[i].effect);
    return d;
}

/* ---- nodes ---- */

static void judge(struct daemon_node *n, const struct view_pod *pod,
                  const struct view_node *node)
{
    if ((pod->node_name.n && !str_eq(pod->node_name, n->name)) ||
        !sched_selects(pod, node))
        return;
    n->should = n->may_stay = true;
    for (uint32_t i = 0; i < node->ntaints; i++)
        if (sched_taint_refuses(&node->taints[i], pod->tolerations, pod->ntolerations)) {
            n->should = false;
            n->may_stay &= !str_is(node->taints[i].effect, "NoExecute");
        }
}

static void read_existing(struct daemon *d, const struct object_list *list)
{
    const struct view_pod *pod = view_pod_from_template(&d->template, d->s->a, NULL);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct view_node *node = view_node_new(list->v[i]->doc, d->s->a, NULL);
        struct daemon_node *n = &d->nodes[d->nnodes++];
        *n = (struct daemon_node){.name = list->v[i]->name, .exists = true};
        if (pod && node)
            judge(n, pod, node);
    }
}

/* Where it is, or where it is meant to go. */
static struct str target(const struct doc *pod)
{
    struct str name = field_text(pod, "spec.nodeName");
    const struct doc *terms = field_list(
        pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
             ".nodeSelectorTerms");
    for (uint32_t i = 0; i < terms->n && !name.n; i++) {
        const struct doc *fields = field_list(&terms->items[i], "matchFields");
        for (uint32_t k = 0; k < fields->n && !name.n; k++) {
            const struct doc *f = &fields->items[k], *values = field_list(f, "values");
            if (doc_is_string(doc_get(f, "key"), "metadata.name") &&
                doc_is_string(doc_get(f, "operator"), "In") && values->n == 1 &&
                values->items[0].type == DOC_STRING)
                name = doc_str(&values->items[0]);
        }
    }
    return name;
}

static int by_age(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    bool fx = field_text((*x)->doc, "spec.nodeName").n > 0,
         fy = field_text((*y)->doc, "spec.nodeName").n > 0;
    int64_t cx = field_created((*x)->doc), cy = field_created((*y)->doc);
    if (fx != fy) /* one that has a node counts as older */
        return fx ? -1 : 1;
    return cx != cy ? (cx < cy ? -1 : 1) : str_cmp((*x)->name, (*y)->name);
}

static struct daemon_node *find_node(struct daemon *d, struct strmap *known,
                                     struct str name)
{
    bool made;
    struct strmap_entry *e = strmap_put(known, name.p ? name : STR(""), &made);
    if (made) {
        e->value.u = d->nnodes;
        d->nodes[d->nnodes++] = (struct daemon_node){.name = name};
    }
    return &d->nodes[e->value.u];
}

void daemon_read_nodes(struct daemon *d, uint32_t list)
{
    const struct object_list *nodes = &d->s->lists[list];
    struct strmap known;
    strmap_init(&known);
    d->nodes = ARENA_ARRAY(d->s->a, struct daemon_node, nodes->n + d->pods.n);
    read_existing(d, nodes);
    for (uint32_t i = 0; i < d->nnodes; i++)
        strmap_put(&known, d->nodes[i].name, NULL)->value.u = i;
    for (uint32_t i = 0; i < d->pods.n; i++) {
        const struct object *pod = d->pods.v[i];
        if (pod_is_finished(pod->doc) && field_deleted(pod->doc))
            continue;
        struct daemon_node *n = find_node(d, &known, target(pod->doc));
        vec_push_in(d->s->a, &n->pods, pod);
    }
    strmap_release(&known);
    for (uint32_t i = 0; i < d->nnodes; i++)
        if (d->nodes[i].pods.n > 1)
            qsort(d->nodes[i].pods.v, d->nodes[i].pods.n, sizeof *d->nodes[i].pods.v,
                  by_age);
}

bool daemon_pod_is_updated(const struct daemon *d, const struct object *pod)
{
    struct str generation =
        field_note(d->s->owner->doc, "deprecated.daemonset.template.generation");
    return str_eq(field_label(pod->doc, "controller-revision-hash"), d->hash) ||
           (generation.n &&
            str_eq(field_label(pod->doc, "pod-template-generation"), generation));
}
