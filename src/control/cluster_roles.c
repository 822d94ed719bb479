/* SPDX-License-Identifier: Apache-2.0 */
#include "control/cluster_roles.h"

#include <stdlib.h>

#include "base/vec.h"
#include "control/labels.h"

static const struct client_kind ROLE = {"rbac.authorization.k8s.io", "v1", "clusterroles",
                                        false};

static const struct doc *selectors_of(const struct doc *role)
{
    const struct doc *list = doc_path(role, "aggregationRule.clusterRoleSelectors");
    return list && list->type == DOC_LIST ? list : NULL;
}

struct found {
    struct arena *a;
    const struct doc *selector;
    VEC(const struct object *) list;
};

static void gather(void *ctx, const struct object *o)
{
    struct found *f = ctx;
    if (labels_match_object(f->selector, o->doc))
        vec_push_in(f->a, &f->list, o);
}

static int by_name(const void *a, const void *b)
{
    const struct object *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

static bool has_rule(const struct doc *list, const struct doc *rule)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (doc_equal(&list->items[i], rule))
            return true;
    return false;
}

static void add_rules(struct arena *a, struct doc *list, const struct doc *role)
{
    const struct doc *rules = doc_get(role, "rules");
    for (uint32_t i = 0; rules && rules->type == DOC_LIST && i < rules->n; i++)
        if (!has_rule(list, &rules->items[i]))
            doc_append(a, list, rules->items[i]);
}

/* In the order of the selectors, and in each of the roles' names; its own are no part. */
static struct doc aggregate(struct work *w, const struct object *role)
{
    const struct doc *selectors = selectors_of(role->doc);
    struct doc rules = doc_make_list();
    for (uint32_t i = 0; i < selectors->n; i++) {
        struct found f = {.a = w->a, .selector = &selectors->items[i]};
        informer_each(reconciler_watched(reconciler_of(w), 0), gather, &f);
        if (f.list.n)
            qsort(f.list.v, f.list.n, sizeof *f.list.v, by_name);
        for (size_t k = 0; k < f.list.n; k++)
            if (f.list.v[k] != role)
                add_rules(w->a, &rules, f.list.v[k]->doc);
    }
    return rules;
}

static enum progress apply(struct work *w, const struct doc *rules)
{
    const struct client_answer *a;
    struct doc d = doc_make_map(), meta = doc_make_map();
    doc_set_text(w->a, &d, "apiVersion", STR("rbac.authorization.k8s.io/v1"));
    doc_set_text(w->a, &d, "kind", STR("ClusterRole"));
    doc_set_text(w->a, &meta, "name", w->key);
    doc_set(w->a, &d, "metadata", meta);
    doc_set(w->a, &d, "rules", *rules);
    struct str path = arena_printf(
        w->a, "%.*s?fieldManager=clusterrole-aggregation-controller&force=true",
        STR_ARG(client_path(&ROLE, STR_NONE, w->key, NULL, w->a)));
    enum progress p = work_ask(w, "PATCH", "application/apply-patch+yaml", path, &d, &a);
    if (p == PROGRESS_DONE && !a->ok)
        return work_fail(w, "%.*s: %s", STR_ARG(w->key), a->message);
    return p;
}

static enum progress sync(struct work *w)
{
    const struct object *role =
        informer_get(reconciler_watched(reconciler_of(w), 0), w->key);
    if (!role || !selectors_of(role->doc))
        return PROGRESS_DONE;
    struct doc rules = aggregate(w, role);
    const struct doc *had = doc_get(role->doc, "rules");
    bool same = had && had->type == DOC_LIST ? doc_equal(had, &rules) : rules.n == 0;
    return same ? PROGRESS_DONE : apply(w, &rules);
}

static void add_if_aggregated(void *ctx, const struct object *o)
{
    if (selectors_of(o->doc))
        reconciler_add(ctx, o->key);
}

/* There are few, and who selects whom is found out by looking. */
static void look_at_all(struct reconciler *r)
{
    informer_each(reconciler_watched(r, 0), add_if_aggregated, r);
}

static void on_role(struct reconciler *r, const struct object *old,
                    const struct object *now)
{
    (void)old;
    (void)now;
    if (reconciler_synced(r))
        look_at_all(r);
}

const struct reconciler_def cluster_roles = {
    .work = sync,
    .workers = 5,
    .all = look_at_all,
    .watches = {{.kind = {"rbac.authorization.k8s.io", "v1", "clusterroles", false},
                 .changed = on_role}},
};
