/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that stand for, or need, resources of the node itself: cpu, memory,
 * ephemeral-storage, huge pages (spec 7.11, KEP-5517).
 */
#include <stdlib.h>

#include "api/pod_amounts.h"
#include "sched/dra_mapped.h"

/* ---- what results say ---- */

static const struct doc *resources_of(const struct view_device *v)
{
    return v && v->node_allocatable && v->node_allocatable->type == DOC_MAP
               ? v->node_allocatable
               : NULL;
}

bool dra_result_is_mapped(const struct dra *d, const struct view_allocation *al)
{
    for (uint32_t i = 0; i < al->nresults; i++) {
        const struct doc *r = resources_of(dra_find_device(d, NULL, &al->results[i]));
        for (uint32_t k = 0; r && k < r->n; k++)
            if (doc_get(&r->members[k].value, "mapping"))
                return true;
    }
    return false;
}

struct sched_status dra_mapped_sharing(const struct dra_cycle *c,
                                       const struct dra_need *need)
{
    const struct view_claim *v = dra_view(need->claim);
    bool taken = v->nreserved_for && !dra_is_reserved(c, need->claim);
    bool shared =
        c->group && dra_group_decided_other(c->group, need->claim->uid, c->pod->uid);
    if (!need->mapped || !(taken || shared))
        return dra_ok();
    return DRA_STATUS((struct dra_cycle *)c, SCHED_UNRESOLVABLE,
                      "node allocatable resource claim %.*s has a mapped device and "
                      "cannot be shared across pods",
                      STR_ARG(need->claim->name));
}

/* ---- sums of one claim ---- */

struct sums {
    struct arena *a;
    struct amounts mapping, per_pod, per_container;
};

static struct quantity quantity_of(const struct doc *d, const char *key, struct arena *a)
{
    const struct doc *text = doc_get(d, key);
    struct quantity q = QUANTITY_ZERO;
    if (text && (text->type == DOC_STRING || text->type == DOC_NUMBER))
        quantity_parse(doc_str(text), a, &q, NULL);
    return q;
}

static void add(struct amounts *to, struct str name, struct quantity q)
{
    const struct quantity *have = amounts_get(to, name);
    amounts_set(to, name, have ? quantity_add(have, &q, to->a) : q);
}

static const struct quantity *consumed(const struct mapped_result *r, struct str key)
{
    for (uint32_t i = 0; i < r->nconsumed; i++)
        if (str_eq(r->consumed[i].name, key))
            return &r->consumed[i].value;
    return NULL;
}

static bool add_capacity(struct sums *s, const struct mapped_claim *claim,
                         const struct mapped_result *r, struct str resource,
                         const struct doc *mapping, struct err *e)
{
    struct str key = doc_get_text(mapping, "capacityKey");
    const struct quantity *q = consumed(r, key);
    if (r->nconsumed == 0)
        return err_set(e, ERR_INVALID,
                       "claim %.*s/%.*s, device %.*s: ConsumedCapacity is nil, but "
                       "Capacity key '%.*s' is set in NodeAllocatableResources for "
                       "resource %.*s",
                       STR_ARG(claim->namespace), STR_ARG(claim->name),
                       STR_ARG(r->device), STR_ARG(key), STR_ARG(resource));
    if (!q)
        return true;
    struct quantity amount = *q;
    if (doc_get(mapping, "capacityMultiplier")) {
        struct quantity times = quantity_of(mapping, "capacityMultiplier", s->a);
        amount = quantity_mul(q, &times, s->a);
    }
    add(&s->mapping, resource, amount);
    return true;
}

static bool add_mapping(struct sums *s, const struct mapped_claim *claim,
                        const struct mapped_result *r, struct str resource,
                        const struct doc *mapping, struct err *e)
{
    if (doc_get_text(mapping, "capacityKey").n)
        return add_capacity(s, claim, r, resource, mapping, e);
    if (doc_get(mapping, "deviceMultiplier"))
        add(&s->mapping, resource, quantity_of(mapping, "deviceMultiplier", s->a));
    return true;
}

static void add_overhead(struct sums *s, struct str resource, const struct doc *overhead)
{
    if (doc_get(overhead, "perPod"))
        add(&s->per_pod, resource, quantity_of(overhead, "perPod", s->a));
    if (doc_get(overhead, "perContainer"))
        add(&s->per_container, resource, quantity_of(overhead, "perContainer", s->a));
}

static bool add_result(struct sums *s, const struct mapped_claim *claim,
                       const struct mapped_result *r, struct err *e)
{
    const struct doc *all = resources_of(r->view);
    if (!r->view)
        return err_set(e, ERR_NOT_FOUND,
                       "claim %.*s/%.*s, device %.*s, driver %.*s: device %.*s not found "
                       "in pool %.*s for driver %.*s",
                       STR_ARG(claim->namespace), STR_ARG(claim->name),
                       STR_ARG(r->device), STR_ARG(r->driver), STR_ARG(r->device),
                       STR_ARG(r->pool), STR_ARG(r->driver));
    for (uint32_t i = 0; all && i < all->n; i++) {
        struct str resource = doc_key(&all->members[i]);
        const struct doc *mapping = doc_get(&all->members[i].value, "mapping"),
                         *overhead = doc_get(&all->members[i].value, "overhead");
        if (mapping && !add_mapping(s, claim, r, resource, mapping, e))
            return false;
        if (overhead)
            add_overhead(s, resource, overhead);
    }
    return true;
}

/* ---- statuses ---- */

static struct doc mapping_docs(const struct sums *s)
{
    struct doc list = doc_make_list();
    for (uint32_t i = 0; i < s->mapping.n; i++) {
        struct doc d = doc_make_map();
        doc_set_text(s->a, &d, "name", s->mapping.v[i].name);
        doc_set_text(s->a, &d, "quantity", quantity_print(&s->mapping.v[i].value, s->a));
        doc_append(s->a, &list, d);
    }
    return list;
}

static void set_amount(const struct sums *s, struct doc *d, const char *key,
                       const struct amounts *of, struct str name)
{
    const struct quantity *q = amounts_get(of, name);
    if (q)
        doc_set_text(s->a, d, key, quantity_print(q, s->a));
}

static struct doc overhead_docs(const struct sums *s)
{
    struct doc list = doc_make_list();
    struct amounts names = amounts_dup(&s->per_pod);
    amounts_raise_all(&names, &s->per_container);
    for (uint32_t i = 0; i < names.n; i++) {
        struct doc d = doc_make_map();
        doc_set_text(s->a, &d, "name", names.v[i].name);
        set_amount(s, &d, "perPod", &s->per_pod, names.v[i].name);
        set_amount(s, &d, "perContainer", &s->per_container, names.v[i].name);
        doc_append(s->a, &list, d);
    }
    return list;
}

/* Containers that refer to the claim by one of its names in the pod. */
static bool refers(const struct doc *container, const struct mapped_claim *claim)
{
    const struct doc *list = doc_path(container, "resources.claims");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "name"), claim->entry))
            return true;
    return false;
}

static struct doc containers_of(const struct doc *pod, const struct mapped_claim *claim,
                                struct arena *a)
{
    static const char *const LISTS[] = {"spec.initContainers", "spec.containers"};
    struct doc out = doc_make_list();
    for (int k = 0; k < 2; k++) {
        const struct doc *list = doc_path(pod, LISTS[k]);
        for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
            if (refers(&list->items[i], claim))
                doc_append(a, &out,
                           doc_make_string(a, doc_get_text(&list->items[i], "name")));
    }
    return out;
}

static bool status_of(const struct doc *pod, const struct mapped_claim *claim,
                      struct arena *a, struct doc *list, struct err *e)
{
    struct sums s = {a, {.a = a}, {.a = a}, {.a = a}};
    struct doc d = doc_make_map();
    for (uint32_t i = 0; i < claim->nresults; i++)
        if (!add_result(&s, claim, &claim->results[i], e))
            return false;
    if (!s.mapping.n && !s.per_pod.n && !s.per_container.n)
        return true;
    struct doc containers = containers_of(pod, claim, a), mapping = mapping_docs(&s),
               overhead = overhead_docs(&s);
    doc_set_text(a, &d, "resourceClaimName", claim->name);
    if (containers.n)
        doc_set(a, &d, "containers", containers);
    if (mapping.n)
        doc_set(a, &d, "mapping", mapping);
    if (overhead.n)
        doc_set(a, &d, "overhead", overhead);
    doc_append(a, list, d);
    return true;
}

static int by_claim(const void *a, const void *b)
{
    return str_cmp(doc_get_text(a, "resourceClaimName"),
                   doc_get_text(b, "resourceClaimName"));
}

bool dra_mapped_statuses(const struct doc *pod, const struct mapped_claim *claims,
                         uint32_t n, struct arena *a, struct doc *out, struct err *e)
{
    *out = doc_make_list();
    for (uint32_t i = 0; i < n; i++)
        if (!status_of(pod, &claims[i], a, out, e))
            return false;
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_claim);
    return true;
}

/* ---- of a cycle and a node ---- */

static struct mapped_result of_stored(const struct dra *d, const struct view_node *n,
                                      const struct view_result *r)
{
    return (struct mapped_result){dra_find_device(d, n, r),
                                  r->driver,
                                  r->pool,
                                  r->device,
                                  r->consumed,
                                  r->nconsumed};
}

static struct mapped_result of_pick(const struct alloc_pick *p)
{
    return (struct mapped_result){p->device,       p->slice->driver, p->slice->pool,
                                  p->device->name, p->consumed,      p->nconsumed};
}

static void read_results(struct dra_cycle *c, const struct view_node *n,
                         const struct dra_need *need, const struct alloc_result *fresh,
                         struct mapped_claim *out)
{
    const struct object *o = need->pending ? need->pending : need->claim;
    const struct view_allocation *al = dra_view(o)->allocation;
    uint32_t count = al ? al->nresults : fresh ? fresh->npicks : 0;
    struct mapped_result *r = ARENA_ARRAY(&c->arena, struct mapped_result, count + 1);
    for (uint32_t i = 0; i < count; i++)
        r[i] = al ? of_stored(c->d, n, &al->results[i]) : of_pick(&fresh->picks[i]);
    *out = (struct mapped_claim){need->claim->namespace, need->claim->name, need->entry,
                                 r, count};
}

/* A claim without any such device does not count, whatever else is with it. */
static bool counts(const struct mapped_claim *claim)
{
    for (uint32_t i = 0; i < claim->nresults; i++) {
        const struct doc *r = resources_of(claim->results[i].view);
        if (r && r->n)
            return true;
    }
    return false;
}

static uint32_t read_claims(struct dra_cycle *c, const struct view_node *node,
                            const struct dra_offer *offer, struct mapped_claim *out)
{
    uint32_t n = 0, fresh = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct dra_need *need = &c->needs[i];
        bool asked = !need->pending && !dra_is_allocated(need->claim) &&
                     fresh < offer->outcome.nresults;
        read_results(c, node, need, asked ? &offer->outcome.results[fresh++] : NULL,
                     &out[n]);
        n += counts(&out[n]);
    }
    return n;
}

struct sched_status dra_mapped_check(struct dra_cycle *c, const struct sched_node *node,
                                     struct dra_offer *offer)
{
    struct arena *a = &c->arena;
    struct err e = ERR_INIT;
    struct mapped_claim *claims = ARENA_ARRAY(a, struct mapped_claim, c->n + 1);
    uint32_t n = read_claims(c, node->view, offer, claims);
    struct doc *statuses = ARENA_NEW(a, struct doc);
    if (n == 0)
        return dra_ok();
    if (!dra_mapped_statuses(c->pod->doc, claims, n, a, statuses, &e)) {
        struct sched_status s = DRA_STATUS(c, SCHED_ERROR, "%s", err_text(&e));
        err_release(&e);
        return s;
    }
    struct amounts want = dra_mapped_demand(c->pod->doc, statuses, a);
    struct sched_status s = dra_mapped_cover(c->pod->doc, statuses, a);
    if (sched_ok(&s))
        s = dra_mapped_fits(node, &want, a);
    offer->mapped = sched_ok(&s) ? statuses : NULL;
    return s;
}

/* ---- writing it ---- */

static enum progress patch_pod(struct dra_cycle *c, const char *type,
                               const struct doc *statuses, bool only_this,
                               const struct client_answer **out)
{
    struct arena *a = &c->steps.arena;
    struct doc body = doc_make_map(), meta = doc_make_map(), status = doc_make_map();
    if (only_this) { /* not another pod of the same name */
        doc_set_text(a, &meta, "uid", c->pod->uid);
        doc_set(a, &body, "metadata", meta);
    }
    doc_set(a, &status, "nodeAllocatableResourceClaimStatuses", doc_dup(a, statuses));
    doc_set(a, &body, "status", status);
    struct str path =
        client_path(&dra_pod_kind, c->pod->namespace, c->pod->name, "status", a);
    return dra_ask(c, "PATCH", type, path, &body, out);
}

enum progress dra_mapped_write(struct dra_cycle *c, struct sched_status *out)
{
    const struct client_answer *a;
    if (!c->offer || !c->offer->mapped || !c->offer->mapped->n || c->mapped_written)
        return PROGRESS_DONE;
    if (patch_pod(c, "application/strategic-merge-patch+json", c->offer->mapped, false,
                  &a))
        return PROGRESS_WAIT;
    c->mapped_written = true;
    if (a->ok)
        return PROGRESS_DONE;
    *out = DRA_STATUS(c, SCHED_ERROR,
                      "updating pod %.*s NodeAllocatableResourceClaimStatuses: %s",
                      STR_ARG(c->pod->key), a->message);
    return PROGRESS_FAILED;
}

enum progress dra_mapped_clear(struct dra_cycle *c)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct client_answer *a;
    if (!c->mapped_written)
        return PROGRESS_DONE;
    if (patch_pod(c, "application/merge-patch+json", &NONE, true, &a))
        return PROGRESS_WAIT;
    if (!a->ok)
        dra_log(c->d, "clear resources of pod %.*s: %s", STR_ARG(c->pod->key),
                a->message);
    return PROGRESS_DONE;
}
