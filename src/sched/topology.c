/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/topology.h"

void topologies_fini(struct topologies *t)
{
    for (size_t i = 0; i < t->keys.n; i++)
        strmap_release(&t->keys.v[i].values);
    vec_release(&t->keys);
}

static struct topology *find(const struct topologies *t, struct str key)
{
    for (size_t i = 0; i < t->keys.n; i++)
        if (str_eq(t->keys.v[i].key, key))
            return &t->keys.v[i];
    return NULL;
}

void topologies_add(struct topologies *t, struct str key, const struct node *n,
                    int64_t more)
{
    const struct str *value = n->info ? node_label(n->info, key) : NULL;
    if (!value)
        return;
    struct topology *x = find(t, key);
    if (!x) {
        vec_push(&t->keys, (struct topology){.key = key});
        x = &t->keys.v[t->keys.n - 1];
    }
    struct str text = value->p ? *value : STR("");
    strmap_put(&x->values, text, NULL)->value.i += more;
}

static int64_t count_at(const struct topology *x, const struct node *n)
{
    const struct str *value = node_label(n->info, x->key);
    struct strmap_entry *e =
        value ? strmap_find(&x->values, value->p ? *value : STR("")) : NULL;
    return e ? e->value.i : 0;
}

int64_t topologies_get(const struct topologies *t, struct str key, const struct node *n)
{
    const struct topology *x = find(t, key);
    return x ? count_at(x, n) : 0;
}

int64_t topologies_sum(const struct topologies *t, const struct node *n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        sum += count_at(&t->keys.v[i], n);
    return sum;
}

bool topologies_empty(const struct topologies *t)
{
    for (size_t i = 0; i < t->keys.n; i++)
        strmap_each(&t->keys.v[i].values, e) if (e->value.i != 0) return false;
    return true;
}

/* ---- terms ---- */

static bool is_listed(const struct view_strs *names, struct str name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (str_eq(names->v[i], name))
            return true;
    return false;
}

static bool namespace_matches(const struct world *w, const struct pod_term *t,
                              struct str owner, struct str namespace)
{
    if (t->any_namespace || is_listed(&t->namespaces, namespace))
        return true;
    if (t->namespace_selector.nothing)
        return !t->namespaces.n && str_eq(owner, namespace);
    const struct object *o = world_find(w, WORLD_NAMESPACES, namespace);
    return o && o->view && selector_matches(&t->namespace_selector, o->view);
}

bool term_matches(const struct world *w, const struct pod_term *t, struct str owner,
                  const struct pod_info *pod)
{
    return selector_matches(&t->pods, &pod->labels) &&
           namespace_matches(w, t, owner, pod->pod->meta.namespace);
}

bool terms_match(const struct world *w, const struct pod_terms *t, struct str owner,
                 const struct pod_info *pod)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!term_matches(w, &t->v[i], owner, pod))
            return false;
    return t->n > 0;
}

const void *labels_view_new(const struct doc *d, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct labels *l = ARENA_NEW(a, struct labels);
    l->v = view_label_map(&r, view_map(&r, doc_get(d, "metadata"), "labels"), &l->n);
    return r.failed ? NULL : l;
}
