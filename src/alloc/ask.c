/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: one node, or the first of many. */
#include "alloc/policy.h"
#include "alloc/result.h"
#include "alloc/shape.h"

static bool any_invalid(const struct host *h)
{
    for (size_t i = 0; i < h->seats.n; i++)
        if (h->seats.v[i].view->state == POOL_INVALID)
            return true;
    return false;
}

/* Rule 3. */
static void nothing_found(struct solver *s)
{
    if (any_invalid(s->host))
        solver_fail(s, ALLOC_NODE_ERROR, STR("invalid resource pools were encountered"));
    else
        solver_fail(s, ALLOC_NONE, STR_NONE);
}

static void search(struct solver *s, struct alloc_outcome *out)
{
    enum verdict v = prove_none(s) ? NOTHING : solver_search(s);
    s->status = v == FOUND ? ALLOC_OK : s->status;
    if (v == NOTHING || v == OVERFLOWED)
        nothing_found(s);
    if (v == FOUND && !result_build(s, out))
        *out = (struct alloc_outcome){0};
}

static struct solver *solver_of(struct alloc_inventory *inv)
{
    if (!inv->solver) {
        inv->solver = mem_zalloc(sizeof *inv->solver);
        arena_init(&inv->solver->scratch);
    }
    return inv->solver;
}

static bool bad_selector(struct solver *s, const struct host *h, struct arena *a)
{
    if (!h->bad_selector)
        return false;
    solver_fail(s, ALLOC_NODE_ERROR, arena_str(a, str_from(h->bad_selector)));
    return true;
}

static void ask_host(struct alloc_plan *p, struct host *h,
                     const struct alloc_options *options, struct arena *a,
                     struct alloc_outcome *out)
{
    struct solver *s = solver_of(p->inv);
    *out = (struct alloc_outcome){0};
    s->error = STR_NONE;
    s->out = a;
    bool ready = !bad_selector(s, h, a) && solver_begin(s, p, h, options, a);
    if (ready)
        search(s, out);
    if (ready && s->status == ALLOC_OK && options && options->policy != ALLOC_FIRST_FIT)
        policy_improve(s, p, h, options, a, out);
    out->status = s->status;
    out->error = s->error.n ? arena_str(a, s->error) : STR_NONE;
    out->steps = ready ? s->steps : 0;
    if (options && options->explain && out->status != ALLOC_OK)
        reasons_build(s, out, ready);
}

void alloc_ask(struct alloc_plan *p, const struct view_node *node,
               const struct alloc_options *options, struct arena *a,
               struct alloc_outcome *out)
{
    if (!plan_current(p))
        plan_refresh(p);
    ask_host(p, host_of(p->inv, node), options, a, out);
}

void alloc_solve(struct alloc_inventory *inv, const struct view_node *node,
                 const struct view_claim *const *claims, uint32_t nclaims,
                 const struct alloc_options *options, struct arena *a,
                 struct alloc_outcome *out)
{
    struct alloc_plan *p = inv->spare;
    if (!p) {
        p = inv->spare = mem_zalloc(sizeof *p);
        p->inv = inv;
        arena_init(&p->mem);
    }
    p->views = claims;
    p->nclaims = nclaims;
    plan_refresh(p);
    p->views = NULL;
    ask_host(p, host_of(inv, node), options, a, out);
}

/* ---- Many nodes ---- */

/* The hosts of the nodes as last asked about; callers keep their array. */
static struct host **hosts_asked(struct alloc_inventory *inv,
                                 const struct view_node *const *nodes, uint32_t n)
{
    if (inv->asked != nodes || inv->asked_hosts.n != n) {
        vec_clear(&inv->asked_hosts);
        for (uint32_t i = 0; i < n; i++)
            vec_push(&inv->asked_hosts, host_get(inv, nodes[i]->meta.name));
        inv->asked = nodes;
    }
    return inv->asked_hosts.v;
}

static struct host *host_asked(struct alloc_inventory *inv, struct host **hosts,
                               const struct view_node *const *nodes, uint32_t i)
{
    if (hosts[i]->node != nodes[i])
        hosts[i] = host_get(inv, nodes[i]->meta.name);
    return hosts[i];
}

static bool refuses(enum alloc_status s)
{
    return s == ALLOC_NONE || s == ALLOC_NODE_ERROR;
}

uint32_t alloc_find(struct alloc_plan *p, const struct view_node *const *nodes,
                    uint32_t n, uint32_t from, const struct alloc_options *options,
                    struct arena *a, struct alloc_outcome *out)
{
    struct alloc_inventory *inv = p->inv;
    if (!plan_current(p))
        plan_refresh(p);
    struct host **hosts = hosts_asked(inv, nodes, n);
    struct shape *shape = shape_of(p);
    *out = (struct alloc_outcome){.status = ALLOC_NONE};
    for (uint32_t i = from; i < n; i++) {
        struct host *h = host_asked(inv, hosts, nodes, i);
        uint64_t stamp = host_stamp(inv, h);
        if (h->node == nodes[i] && shape_refused(shape, h, stamp))
            continue;
        if (!plan_current(p))
            plan_refresh(p);
        host_current(inv, h, nodes[i]);
        ask_host(p, h, options, a, out);
        if (!refuses(out->status))
            return i;
        shape_refuse(shape_of(p), h, host_stamp(inv, h));
    }
    return n;
}
