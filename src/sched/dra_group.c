/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of a group that are scheduled together (spec 7.12): what one of them has decided
 * on, the next may use; and what is freed when the group fits nowhere (7.5.5). */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "sched/dra_inner.h"

struct decision {
    char *uid, *pod;
};

struct dra_group {
    struct dra *d;
    VEC(struct dra_cycle *) cycles;
    VEC(struct decision) decisions;
    /* Freeing. */
    const struct object *group;
    bool active, left; /* left: a pod had nothing to free */
    struct object *const *pods;
    uint32_t npods, at;
    dra_done *done;
    void *ctx;
    bool posted;
};

struct dra_group *dra_group_new(struct dra *d)
{
    struct dra_group *g = mem_zalloc(sizeof *g);
    g->d = d;
    return g;
}

static void decision_free(struct decision *x)
{
    free(x->uid);
    free(x->pod);
}

void dra_group_free(struct dra_group *g)
{
    if (!g)
        return;
    if (g->posted)
        net_unpost(client_loop(g->d->client), g);
    for (size_t i = 0; i < g->cycles.n; i++)
        g->cycles.v[i]->group = NULL;
    for (size_t i = 0; i < g->decisions.n; i++)
        decision_free(&g->decisions.v[i]);
    vec_release(&g->cycles);
    vec_release(&g->decisions);
    free(g);
}

void dra_group_join(struct dra_group *g, struct dra_cycle *c)
{
    vec_push(&g->cycles, c);
}

void dra_group_leave(struct dra_group *g, struct dra_cycle *c)
{
    for (size_t i = 0; i < g->cycles.n; i++)
        if (g->cycles.v[i] == c) {
            g->cycles.v[i] = vec_pop(&g->cycles);
            return;
        }
}

/* ---- decisions of this attempt ---- */

bool dra_group_decided(const struct dra_group *g, struct str uid)
{
    for (size_t i = 0; i < g->decisions.n; i++)
        if (str_is(uid, g->decisions.v[i].uid))
            return true;
    return false;
}

bool dra_group_decided_other(const struct dra_group *g, struct str uid, struct str pod)
{
    for (size_t i = 0; i < g->decisions.n; i++)
        if (str_is(uid, g->decisions.v[i].uid) && !str_is(pod, g->decisions.v[i].pod))
            return true;
    return false;
}

void dra_group_decide(struct dra_group *g, struct str uid, struct str pod)
{
    vec_push(&g->decisions,
             (struct decision){mem_dup(uid.p, uid.n), mem_dup(pod.p, pod.n)});
}

void dra_group_forget(struct dra_group *g, struct str uid)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->decisions.n; i++)
        if (str_is(uid, g->decisions.v[i].uid))
            decision_free(&g->decisions.v[i]);
        else
            g->decisions.v[kept++] = g->decisions.v[i];
    g->decisions.n = kept;
}

/* ---- the group's own claims ---- */

static struct dra_cycle *cycle_of(const struct dra_group *g, const struct object *pod)
{
    for (size_t i = 0; i < g->cycles.n; i++)
        if (str_eq(g->cycles.v[i]->pod->key, pod->key))
            return g->cycles.v[i];
    return NULL;
}

static struct dra_need *find_idle(const struct dra_group *g)
{
    struct str uid = g->group ? g->group->uid : STR_NONE;
    for (size_t i = 0; i < g->cycles.n; i++)
        for (uint32_t k = 0; k < g->cycles.v[i]->n; k++) {
            struct dra_need *n = &g->cycles.v[i]->needs[k];
            if (n->unavailable && dra_is_allocated(n->claim) &&
                dra_only_for(n->claim, uid))
                return n;
        }
    return NULL;
}

/* The first claim of the group that is allocated and reserved for it. */
static const struct object *find_reserved(const struct dra_cycle *c,
                                          const struct object *group)
{
    const struct doc *list = doc_path(group->doc, "spec.resourceClaims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct str name;
        enum claim_known known = claim_ref_name(group->doc, &list->items[i], &name);
        const struct object *o =
            known <= CLAIM_GENERATED ? dra_known(c->d, group->namespace, name) : NULL;
        if (o && dra_is_allocated(o) && dra_is_reserved(c, o) &&
            (known == CLAIM_NAMED || claim_ref_is_for(o->doc, group->doc, false)))
            return o;
    }
    return NULL;
}

static enum progress unreserve_group(struct dra_cycle *c, const struct object *claim,
                                     const struct object *group, struct sched_status *out)
{
    const struct client_answer *a;
    if (dra_ask(c, "PATCH", "application/strategic-merge-patch+json",
                dra_claim_path(claim, "status", &c->steps.arena),
                dra_reservation_patch(claim, group->uid, &c->steps.arena), &a))
        return PROGRESS_WAIT;
    if (!a->ok) {
        dra_log(c->d, "unreserve %.*s: %s", STR_ARG(claim->key), a->message);
        return PROGRESS_DONE;
    }
    struct object *o = dra_answer_claim(a);
    if (o)
        dra_claim_wrote(c->d, o);
    object_unref(o);
    *out = dra_status(SCHED_UNRESOLVABLE, STR("ResourceClaim unreserved for PodGroup"),
                      &c->arena);
    return PROGRESS_DONE;
}

static enum progress free_groups(struct dra_cycle *c, struct sched_status *out)
{
    struct dra_group *g = c->group;
    struct dra_need *idle = find_idle(g);
    *out = dra_status(SCHED_UNSCHEDULABLE,
                      STR("deallocation and deletion of ResourceClaims completed"),
                      &c->arena);
    if (idle) {
        enum progress p = dra_deallocate(c, idle, out);
        if (p == PROGRESS_DONE)
            *out = dra_status(SCHED_UNSCHEDULABLE,
                              STR("deallocation of PodGroup ResourceClaim completed"),
                              &c->arena);
        return p;
    }
    if (!g->group)
        return PROGRESS_DONE;
    /* Kept: it is another one as soon as its reservation is gone. */
    const struct object *o = find_reserved(c, g->group);
    if (o && !c->fresh)
        c->fresh = object_ref((struct object *)o);
    return c->fresh ? unreserve_group(c, c->fresh, g->group, out) : PROGRESS_DONE;
}

/* ---- pod after pod ---- */

static void next(struct dra_group *g);

static enum progress free_pods(struct dra_cycle *c, struct sched_status *out)
{
    bool found;
    enum progress p = dra_free_one(c, &found, out);
    c->group->left |= !found;
    return p;
}

static void on_freed(void *ctx, const struct sched_status *s)
{
    struct dra_group *g = ctx;
    if (s->code == SCHED_ERROR) {
        g->done(g->ctx, s);
        return;
    }
    g->at++;
    next(g);
}

/* What makes a whole tree or block of nodes of it is not looked at, as upstream. */
static bool has_constraints(const struct dra_group *g)
{
    return g->group && doc_path(g->group->doc, "spec.schedulingConstraints");
}

static void finish(struct dra_group *g)
{
    static const struct str ALL = {
        "deallocation and deletion of ResourceClaims completed", 53};
    struct sched_status s = {SCHED_UNSCHEDULABLE, {&ALL, 1}};
    struct dra_cycle *c = g->npods ? cycle_of(g, g->pods[0]) : NULL;
    bool own = g->left && !g->active && c && claim_ref_group(c->pod->doc).n &&
               dra_gate(g->d, API_GATE_DRAWorkloadResourceClaims);
    if (own)
        dra_start(c, free_groups, g->done, g->ctx);
    else
        g->done(g->ctx, &s);
}

static void next(struct dra_group *g)
{
    while (g->at < g->npods) {
        struct dra_cycle *c = cycle_of(g, g->pods[g->at]);
        if (c) {
            c->tries = 0;
            dra_start(c, free_pods, on_freed, g);
            return;
        }
        g->at++;
    }
    finish(g);
}

static void begin(void *ctx)
{
    struct dra_group *g = ctx;
    struct sched_status s = {.code = SCHED_UNSCHEDULABLE};
    g->posted = false;
    if (!dra_gate(g->d, API_GATE_DynamicResourceAllocation) || has_constraints(g))
        g->done(g->ctx, &s);
    else
        next(g);
}

void dra_group_post_filter(struct dra_group *g, const struct object *group, bool active,
                           struct object *const *unscheduled, uint32_t n, dra_done *done,
                           void *ctx)
{
    g->group = group;
    g->active = active;
    g->left = false;
    g->pods = unscheduled;
    g->npods = n;
    g->at = 0;
    g->done = done;
    g->ctx = ctx;
    g->posted = true;
    net_post(client_loop(g->d->client), begin, g);
}
