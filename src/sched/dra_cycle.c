/* SPDX-License-Identifier: Apache-2.0 */
/* An attempt: the claims of its pod, and what is wrong with them everywhere (spec 7.2,
 * 7.3). */
#include <stdlib.h>

#include "api/claim_refs.h"
#include "base/mem.h"
#include "sched/dra_inner.h"

enum { RESERVED_MAX = 256 }; /* consumers of a claim (spec 3.11) */

struct sched_status dra_status(enum sched_code code, struct str reason, struct arena *a)
{
    struct str *one = ARENA_NEW(a, struct str);
    *one = reason;
    return (struct sched_status){.code = code, .reasons = {one, 1}};
}

/* ---- claims of a pod ---- */

static struct str not_named(enum claim_known known, const struct doc *pod,
                            const struct doc *entry, struct arena *a)
{
    const struct doc *meta = doc_get(pod, "metadata");
    struct str ns = doc_get_text(meta, "namespace"), name = doc_get_text(meta, "name");
    if (known == CLAIM_NOT_MADE)
        return arena_printf(a, "pod \"%.*s/%.*s\": ResourceClaim not created yet",
                            STR_ARG(ns), STR_ARG(name));
    return arena_printf(a,
                        "pod \"%.*s/%.*s\", spec.resourceClaim \"%.*s\": none of the "
                        "supported fields are set",
                        STR_ARG(ns), STR_ARG(name), STR_ARG(doc_get_text(entry, "name")));
}

/* false: *why. *out NULL: the entry needs no claim. */
static bool find_claim(struct dra *d, const struct doc *pod, const struct doc *entry,
                       struct object **out, struct arena *a, struct str *why)
{
    bool groups = dra_gate(d, API_GATE_DRAWorkloadResourceClaims);
    struct str ns = doc_get_text(doc_get(pod, "metadata"), "namespace"), name = STR_NONE;
    enum claim_known known = claim_ref_name(pod, entry, &name);
    *out = NULL;
    if (known == CLAIM_NOT_NEEDED)
        return true;
    if (known != CLAIM_NAMED && known != CLAIM_GENERATED) {
        *why = not_named(known, pod, entry, a);
        return false;
    }
    struct object *o = dra_known(d, ns, name);
    if (!o)
        *why = arena_printf(a, "could not find ResourceClaim \"%.*s/%.*s\"", STR_ARG(ns),
                            STR_ARG(name));
    else if (claim_ref_is_deleted(o->doc))
        *why = arena_printf(a, "resourceclaim \"%.*s\" is being deleted", STR_ARG(name));
    else if (known == CLAIM_GENERATED && !claim_ref_is_for(o->doc, pod, groups))
        *why = claim_ref_not_for(o->doc, pod, groups, a);
    else
        *out = o;
    return *out != NULL;
}

bool dra_each_claim(struct dra *d, const struct doc *pod,
                    void (*each)(void *ctx, const struct doc *entry, struct object *o),
                    void *ctx, struct arena *a, struct str *why)
{
    const struct doc *list = doc_path(pod, "spec.resourceClaims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        struct object *o;
        if (!find_claim(d, pod, &list->items[i], &o, a, why))
            return false;
        if (o && each)
            each(ctx, &list->items[i], o);
    }
    return true;
}

struct sched_status dra_pre_enqueue(struct dra *d, const struct object *pod,
                                    struct arena *a)
{
    struct str why;
    if (!dra_gate(d, API_GATE_DynamicResourceAllocation) ||
        dra_each_claim(d, pod->doc, NULL, NULL, a, &why))
        return dra_ok();
    return dra_status(SCHED_UNRESOLVABLE, why, a);
}

/* ---- cycles ---- */

struct dra_cycle *dra_cycle_new(struct dra *d, const struct dra_args *args,
                                struct object *pod, const struct view_pod *view,
                                struct dra_group *group)
{
    struct dra_cycle *c = mem_zalloc(sizeof *c);
    *c = (struct dra_cycle){
        .d = d, .args = *args, .pod = object_ref(pod), .view = view, .group = group};
    if (!c->args.binding_ms)
        c->args.binding_ms = 600000;
    arena_init(&c->arena);
    if (group)
        dra_group_join(group, c);
    if (alloc_inventory_swollen(d->inv))
        alloc_inventory_sweep(d->inv);
    return c;
}

static void drop_needs(struct dra_cycle *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        object_unref(c->needs[i].claim);
        object_unref(c->needs[i].pending);
    }
    c->n = c->nusers = 0;
}

void dra_cycle_free(struct dra_cycle *c)
{
    if (!c)
        return;
    dra_stop(c);
    if (c->group)
        dra_group_leave(c->group, c);
    for (size_t i = 0; i < c->variants.n; i++)
        alloc_plan_free(c->variants.v[i]->plan);
    vec_release(&c->variants);
    strmap_release(&c->offers);
    object_unref(c->fresh);
    drop_needs(c);
    object_unref(c->pod);
    arena_fini(&c->arena);
    free(c);
}

bool dra_is_reserved(const struct dra_cycle *c, const struct object *claim)
{
    return claim_ref_is_reserved(claim->doc, c->pod->doc,
                                 dra_gate(c->d, API_GATE_DRAWorkloadResourceClaims));
}

/* ---- collecting ---- */

static void add_need(void *ctx, const struct doc *entry, struct object *o)
{
    struct dra_cycle *c = ctx;
    const struct object *group = dra_group_of(c->d, c->pod->doc);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->needs[i].claim == o)
            return; /* two entries, one claim: it is needed once */
    c->needs[c->n++] = (struct dra_need){
        .claim = object_ref(o),
        .entry = doc_get_text(entry, "name"),
        .of_group = group && claim_ref_is_groups(entry, group->doc),
    };
}

static bool collect(struct dra_cycle *c, struct str *why)
{
    const struct doc *list = doc_path(c->pod->doc, "spec.resourceClaims");
    uint32_t room = list && list->type == DOC_LIST ? list->n : 0;
    c->needs = ARENA_ARRAY(&c->arena, struct dra_need, room + 1);
    if (!dra_each_claim(c->d, c->pod->doc, add_need, c, &c->arena, why))
        return false;
    c->nusers = c->n;
    c->wants = dra_extended_wants(c->d, c->view, &c->arena);
    if (c->wants.n)
        c->needs[c->n++].claim = dra_extended_claim(c->d, c->pod, &c->arena);
    return true;
}

/* ---- one claim (spec 7.3.2-4) ---- */

static struct sched_status check_class(struct dra_cycle *c, struct str class,
                                       struct str request)
{
    if (!class.n)
        return DRA_STATUS(c, SCHED_ERROR, "request %.*s: unsupported request type",
                          STR_ARG(request));
    if (!dra_class(c->d, class))
        return DRA_STATUS(c, SCHED_UNRESOLVABLE,
                          "request %.*s: device class %.*s does not exist",
                          STR_ARG(request), STR_ARG(class));
    return dra_ok();
}

static struct sched_status check_alternatives(struct dra_cycle *c,
                                              const struct view_request *r)
{
    struct sched_status s = dra_ok();
    for (uint32_t i = 0; i < r->nalternatives && sched_ok(&s); i++) {
        const struct view_alternative *alt = &r->alternatives[i];
        struct str name = r->first_available
                              ? arena_printf(&c->arena, "%.*s/%.*s", STR_ARG(r->name),
                                             STR_ARG(alt->name))
                              : r->name;
        s = check_class(c, alt->class_name, name);
    }
    return s;
}

static struct sched_status check_request(struct dra_cycle *c, const struct object *claim,
                                         const struct view_request *r)
{
    if (r->first_available && !dra_gate(c->d, API_GATE_DRAPrioritizedList))
        return DRA_STATUS(c, SCHED_UNRESOLVABLE,
                          "resource claim %.*s, request %.*s: has subrequests, but the "
                          "DRAPrioritizedList feature is disabled",
                          STR_ARG(claim->key), STR_ARG(r->name));
    if (r->nalternatives == 0)
        return DRA_STATUS(c, SCHED_UNRESOLVABLE,
                          "resource claim %.*s, request %.*s: unknown request type",
                          STR_ARG(claim->key), STR_ARG(r->name));
    return check_alternatives(c, r);
}

static struct sched_status check_spec(struct dra_cycle *c, const struct object *claim)
{
    const struct view_claim *v = dra_view(claim);
    struct sched_status s = dra_ok();
    for (uint32_t i = 0; i < v->nrequests && sched_ok(&s); i++)
        s = check_request(c, claim, &v->requests[i]);
    return s;
}

static struct sched_status check_unallocated(struct dra_cycle *c, struct dra_need *need)
{
    const struct dra_flight *f = dra_flight(c->d, need->claim->uid);
    c->allocates = true;
    if (f && c->group && dra_group_decided(c->group, need->claim->uid)) {
        need->pending = object_ref(f->claim);
        return dra_ok();
    }
    if (f)
        return DRA_STATUS(c, SCHED_UNRESOLVABLE,
                          "resource claim %.*s is in the process of being allocated",
                          STR_ARG(need->claim->key));
    return need == dra_extended_need(c) ? dra_ok() : check_spec(c, need->claim);
}

/* What holds for all nodes is found out once. */
static void look_at_binding(struct dra_cycle *c, struct dra_need *need)
{
    struct str why;
    if (!dra_binds(c->d))
        return;
    enum dra_ready ready = dra_claim_ready(need->claim, &c->arena, &why);
    need->stuck =
        ready == DRA_FAILED ||
        (ready == DRA_NOT_YET && dra_claim_late(c->d, need->claim, c->args.binding_ms));
}

static struct sched_status check_need(struct dra_cycle *c, struct dra_need *need)
{
    const struct view_claim *v = dra_view(need->claim);
    if (!v->allocation)
        return check_unallocated(c, need);
    if (v->nreserved_for >= RESERVED_MAX && !dra_is_reserved(c, need->claim))
        return dra_status(SCHED_UNRESOLVABLE, STR("resourceclaim in use"), &c->arena);
    look_at_binding(c, need);
    return dra_ok();
}

static const struct view_allocation *decided(const struct dra_need *need)
{
    const struct object *o = need->pending ? need->pending : need->claim;
    return dra_view(o)->allocation;
}

static void look_at_mapping(struct dra_cycle *c)
{
    if (!dra_gate(c->d, API_GATE_DRANodeAllocatableResources))
        return;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct view_allocation *al = decided(&c->needs[i]);
        c->needs[i].mapped = al && dra_result_is_mapped(c->d, al);
    }
}

/* ---- the policy ---- */

static bool class_policy(const struct dra_cycle *c, const struct view_request *r,
                         enum alloc_policy *out)
{
    for (uint32_t i = 0; i < r->nalternatives; i++) {
        const struct view_class *k = dra_class(c->d, r->alternatives[i].class_name);
        if (k && alloc_policy_find(k->policy, out))
            return true;
    }
    return false;
}

/* Of the first class that asks for one, else the profile's. */
static enum alloc_policy policy_of(const struct dra_cycle *c)
{
    enum alloc_policy policy = c->args.policy;
    for (uint32_t i = 0; i < c->nusers; i++) {
        const struct view_claim *v = dra_view(c->needs[i].claim);
        for (uint32_t k = 0; !v->allocation && k < v->nrequests; k++)
            if (class_policy(c, &v->requests[k], &policy))
                return policy;
    }
    return policy;
}

struct sched_status dra_pre_filter(struct dra_cycle *c)
{
    struct str why;
    struct sched_status s = dra_ok();
    if (!dra_gate(c->d, API_GATE_DynamicResourceAllocation))
        return (struct sched_status){.code = SCHED_SKIP};
    if (!collect(c, &why)) {
        drop_needs(c);
        return dra_status(SCHED_UNRESOLVABLE, why, &c->arena);
    }
    if (c->n == 0)
        return (struct sched_status){.code = SCHED_SKIP};
    for (uint32_t i = 0; i < c->n && sched_ok(&s); i++)
        s = check_need(c, &c->needs[i]);
    if (sched_ok(&s)) {
        look_at_mapping(c);
        c->policy = policy_of(c);
        c->ready = true;
    }
    return s;
}
