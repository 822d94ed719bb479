/* SPDX-License-Identifier: Apache-2.0 */
/* What of a pod's claims is to be allocated on a node. It depends on the node only by
 * which extended resources the node leaves to devices, so nodes alike there share it. */
#include "sched/dra_inner.h"

static const struct quantity *offered(const struct view_node *node, struct str name)
{
    for (uint32_t i = 0; i < node->nallocatable; i++)
        if (str_eq(node->allocatable[i].name, name))
            return &node->allocatable[i].value;
    return NULL;
}

/* false: the node has none of a resource, and no class serves it. */
static bool find_mask(const struct dra_cycle *c, const struct view_node *node,
                      uint64_t *mask)
{
    *mask = 0;
    for (uint32_t i = 0; i < c->wants.n; i++) {
        const struct quantity *q = offered(node, c->wants.v[i].name);
        bool none = !q || quantity_sign(q) == 0;
        if (none && dra_serving_class(c->d, c->wants.v[i].name))
            *mask |= (uint64_t)1 << i;
        else if (!q)
            return false;
    }
    return true;
}

static struct view_strs masked(struct dra_cycle *c, uint64_t mask)
{
    struct str *v = ARENA_ARRAY(&c->arena, struct str, c->wants.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->wants.n; i++)
        if (mask >> i & 1)
            v[n++] = c->wants.v[i].name;
    return (struct view_strs){v, n};
}

static const struct view_claim *extended_view(struct dra_cycle *c, struct dra_variant *v)
{
    struct arena *a = &c->arena;
    struct doc requests, devices = doc_make_map(), spec = doc_make_map();
    dra_extended_requests(c->d, c->view, &v->names, a, &requests, &v->mappings);
    doc_set(a, &devices, "requests", requests);
    doc_set(a, &spec, "devices", devices);
    v->claim = doc_dup(a, dra_extended_need(c)->claim->doc);
    doc_set(a, &v->claim, "spec", spec);
    v->extended = true;
    return view_claim_new(&v->claim, a, NULL);
}

static struct dra_variant *make(struct dra_cycle *c, uint64_t mask)
{
    struct dra_variant *v = ARENA_NEW(&c->arena, struct dra_variant);
    v->mask = mask;
    v->names = masked(c, mask);
    v->views = ARENA_ARRAY(&c->arena, const struct view_claim *, c->n + 1);
    for (uint32_t i = 0; i < c->nusers; i++)
        if (!dra_is_allocated(c->needs[i].claim) && !c->needs[i].pending)
            v->views[v->n++] = dra_view(c->needs[i].claim);
    if (mask)
        v->views[v->n++] = extended_view(c, v);
    if (v->n)
        v->plan = alloc_plan_new(c->d->inv, v->views, v->n);
    vec_push(&c->variants, v);
    return v;
}

struct dra_variant *dra_variant_for(struct dra_cycle *c, const struct view_node *node,
                                    struct sched_status *why)
{
    const struct dra_need *extended = dra_extended_need(c);
    uint64_t mask = 0;
    if (extended && dra_view(extended->claim)->nrequests) {
        *why = dra_status(SCHED_UNRESOLVABLE,
                          STR("cannot schedule extended resource claim"), &c->arena);
        return NULL;
    }
    if (extended && !find_mask(c, node, &mask)) {
        *why = dra_status(SCHED_UNRESOLVABLE, STR("cannot fit resource"), &c->arena);
        return NULL;
    }
    for (size_t i = 0; i < c->variants.n; i++)
        if (c->variants.v[i]->mask == mask)
            return c->variants.v[i];
    return make(c, mask);
}
