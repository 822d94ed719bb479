/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/budgets.h"

struct budget {
    struct str namespace;
    struct selector pods;
    const struct doc *disrupted; /* names of pods that were counted already */
    int64_t left;
};

struct budgets {
    struct arena *a;
    struct budget *v;
    size_t n, cap;
};

static void add_budget(void *ctx, const struct object *o)
{
    struct budgets *all = ctx;
    struct view_reader r = {.a = all->a};
    const struct doc *status = doc_get(o->doc, "status");
    struct budget b = {.namespace = o->namespace,
                       .disrupted = doc_get(status, "disruptedPods")};
    b.pods = selector_read(&r, doc_path(o->doc, "spec.selector"));
    doc_get_int64(status, "disruptionsAllowed", &b.left);
    if (!r.failed && !selector_empty(&b.pods))
        vec_push_in(all->a, all, b);
}

static bool covers(const struct budget *b, const struct pod_info *p)
{
    return p->labels.n && str_eq(b->namespace, p->pod->meta.namespace) &&
           selector_matches(&b->pods, &p->labels) &&
           !(b->disrupted && doc_get_str(b->disrupted, p->pod->meta.name));
}

bool *budgets_violated(const struct world *w, struct node_pod *const *v, uint32_t k,
                       struct arena *a)
{
    struct budgets all = {.a = a};
    bool *out = ARENA_ARRAY(a, bool, k);
    world_each(w, WORLD_BUDGETS, add_budget, &all);
    for (uint32_t i = 0; i < k; i++)
        for (size_t b = 0; b < all.n; b++)
            if (covers(&all.v[b], v[i]->info) && --all.v[b].left < 0)
                out[i] = true;
    return out;
}
