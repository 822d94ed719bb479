/* SPDX-License-Identifier: Apache-2.0 */
#include "api/view_pod.h"

#include <stdlib.h>

#include "api/view_read.h"
#include "base/map.h"

/* ---- reading ---- */

static void read_container(struct view_reader *r, const struct doc *d,
                           struct view_container *out)
{
    const struct doc *resources = view_map(r, d, "resources");
    out->name = view_text(r, d, "name");
    out->restarts = str_is(view_text(r, d, "restartPolicy"), "Always");
    out->requests =
        view_amount_map(r, view_map(r, resources, "requests"), NULL, &out->nrequests);
    const struct doc *claims = view_list(r, resources, "claims");
    struct view_container_claim *v =
        VIEW_ITEMS(r, claims, struct view_container_claim, &out->nclaims);
    for (uint32_t i = 0; i < out->nclaims; i++) {
        v[i].name = view_text(r, &claims->items[i], "name");
        v[i].request = view_text(r, &claims->items[i], "request");
    }
    out->claims = v;
}

static const struct view_container *read_containers(struct view_reader *r,
                                                    const struct doc *list, uint32_t *n)
{
    struct view_container *v = VIEW_ITEMS(r, list, struct view_container, n);
    for (uint32_t i = 0; i < *n; i++)
        read_container(r, &list->items[i], &v[i]);
    return v;
}

static void read_affinity(struct view_reader *r, const struct doc *spec,
                          struct view_pod *out)
{
    const struct doc *node = view_map(r, view_map(r, spec, "affinity"), "nodeAffinity");
    out->required = view_read_node_selector(
        r, view_map(r, node, "requiredDuringSchedulingIgnoredDuringExecution"));
    out->node_selector =
        view_label_map(r, view_map(r, spec, "nodeSelector"), &out->nnode_selector);
    out->tolerations =
        view_read_tolerations(r, view_list(r, spec, "tolerations"), &out->ntolerations);
}

static void read_claims(struct view_reader *r, const struct doc *list,
                        struct view_pod *out)
{
    struct view_pod_claim *v = VIEW_ITEMS(r, list, struct view_pod_claim, &out->nclaims);
    for (uint32_t i = 0; i < out->nclaims; i++) {
        v[i].name = view_text(r, &list->items[i], "name");
        v[i].claim = view_text(r, &list->items[i], "resourceClaimName");
        v[i].template = view_text(r, &list->items[i], "resourceClaimTemplateName");
    }
    out->claims = v;
}

static void read_spec(struct view_reader *r, const struct doc *spec, struct view_pod *out)
{
    out->node_name = view_text(r, spec, "nodeName");
    const struct doc *priority = doc_get(spec, "priority");
    out->has_priority = priority && priority->type != DOC_NULL;
    out->priority = view_int(r, spec, "priority");
    out->priority_class = view_text(r, spec, "priorityClassName");
    const struct doc *gates = view_list(r, spec, "schedulingGates");
    out->ngates = gates ? gates->n : 0;
    read_affinity(r, spec, out);
    out->containers =
        read_containers(r, view_list(r, spec, "containers"), &out->ncontainers);
    out->init_containers =
        read_containers(r, view_list(r, spec, "initContainers"), &out->ninit_containers);
    out->overhead =
        view_amount_map(r, view_map(r, spec, "overhead"), NULL, &out->noverhead);
    out->pod_requests =
        view_amount_map(r, view_map(r, view_map(r, spec, "resources"), "requests"), NULL,
                        &out->npod_requests);
    read_claims(r, view_list(r, spec, "resourceClaims"), out);
}

static void read_status(struct view_reader *r, const struct doc *status,
                        struct view_pod *out)
{
    out->phase = view_text(r, status, "phase");
    const struct doc *list = view_list(r, status, "resourceClaimStatuses");
    struct view_pod_claim_status *v =
        VIEW_ITEMS(r, list, struct view_pod_claim_status, &out->nclaim_statuses);
    for (uint32_t i = 0; i < out->nclaim_statuses; i++) {
        v[i].name = view_text(r, &list->items[i], "name");
        v[i].claim = view_text(r, &list->items[i], "resourceClaimName");
    }
    out->claim_statuses = v;
    out->extended_claim = view_text(r, view_map(r, status, "extendedResourceClaimStatus"),
                                    "resourceClaimName");
}

static void read_owner(struct view_reader *r, const struct doc *meta,
                       struct view_pod *out)
{
    const struct doc *owners = view_list(r, meta, "ownerReferences");
    for (uint32_t i = 0; owners && i < owners->n; i++) {
        const struct doc *o = &owners->items[i];
        if (!view_bool(r, o, "controller", NULL))
            continue;
        out->owner_kind = view_text(r, o, "kind");
        out->owner_name = view_text(r, o, "name");
        out->owner_uid = view_text(r, o, "uid");
    }
}

static struct view_pod *read_pod(struct view_reader *r, const struct doc *d)
{
    struct view_pod *out = ARENA_NEW(r->a, struct view_pod);
    const struct doc *meta = view_map(r, d, "metadata");
    view_read_meta(r, d, &out->meta);
    out->labels = view_label_map(r, view_map(r, meta, "labels"), &out->nlabels);
    read_owner(r, meta, out);
    read_spec(r, view_map(r, d, "spec"), out);
    read_status(r, view_map(r, d, "status"), out);
    return out;
}

struct view_pod *view_pod_new(const struct doc *pod, struct arena *a, struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_pod *out = read_pod(&r, pod);
    if (!r.failed)
        return out;
    err_wrap(e, "Pod \"%.*s/%.*s\"", STR_ARG(out->meta.namespace),
             STR_ARG(out->meta.name));
    return NULL;
}

struct view_pod *view_pod_from_template(const struct doc *template, struct arena *a,
                                        struct err *e)
{
    struct view_reader r = {.a = a, .e = e};
    struct view_pod *out = read_pod(&r, template);
    return r.failed ? NULL : out;
}

bool view_pod_finished(const struct view_pod *p)
{
    return str_is(p->phase, "Succeeded") || str_is(p->phase, "Failed");
}

bool view_pod_pending(const struct view_pod *p)
{
    return p->node_name.n == 0 && !view_pod_finished(p) && !p->meta.deleting;
}

/* ---- requests ---- */

enum { FEW = 16 }; /* names that are found faster by looking at each */

struct sums {
    struct arena *a;
    struct view_amount *v;
    uint32_t n, cap;
    struct strmap places; /* name -> place in v, once there are more than a few */
};

static struct view_amount *find_sum(const struct sums *s, struct str name)
{
    if (s->n > FEW) {
        const struct strmap_entry *e = strmap_find(&s->places, name);
        return e ? &s->v[e->value.u] : NULL;
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (str_eq(s->v[i].name, name))
            return &s->v[i];
    return NULL;
}

static void make_room(struct sums *s)
{
    uint32_t cap = s->cap ? s->cap * 2 : 8;
    struct view_amount *more = ARENA_ARRAY(s->a, struct view_amount, cap);
    if (s->n)
        memcpy(more, s->v, s->n * sizeof *more);
    s->v = more;
    s->cap = cap;
}

/* At zero. */
static struct view_amount *new_sum(struct sums *s, struct str name)
{
    if (s->n == s->cap)
        make_room(s);
    s->v[s->n] = (struct view_amount){.name = name};
    s->n++;
    for (uint32_t i = s->n == FEW + 1 ? 0 : s->n - 1; s->n > FEW && i < s->n; i++)
        strmap_put(&s->places, s->v[i].name, NULL)->value.u = i;
    return &s->v[s->n - 1];
}

static struct view_amount *sum_of(struct sums *s, struct str name)
{
    struct view_amount *sum = find_sum(s, name);
    return sum ? sum : new_sum(s, name);
}

static void add_all(struct sums *s, const struct view_amount *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct view_amount *sum = sum_of(s, v[i].name);
        sum->value = quantity_add(&sum->value, &v[i].value, s->a);
    }
}

/* One container with the sidecars that run beside it. What only the sidecars ask for is
 * in the total, where all of them are, and never less there. */
static void raise_by(struct sums *total, const struct view_container *c,
                     const struct sums *sidecars)
{
    for (uint32_t i = 0; i < c->nrequests; i++) {
        const struct view_amount *beside = find_sum(sidecars, c->requests[i].name);
        struct view_amount *sum = sum_of(total, c->requests[i].name);
        struct quantity now =
            quantity_add(&(struct quantity){0}, &c->requests[i].value, total->a);
        if (beside)
            now = quantity_add(&now, &beside->value, total->a);
        if (quantity_cmp(&now, &sum->value) > 0)
            sum->value = now;
    }
}

/* Init containers run one after another beside the sidecars started so far. */
static void raise_by_init(struct sums *total, const struct view_pod *p)
{
    struct sums sidecars = {.a = total->a};
    for (uint32_t i = 0; i < p->ninit_containers; i++) {
        const struct view_container *c = &p->init_containers[i];
        raise_by(total, c, &sidecars);
        if (c->restarts)
            add_all(&sidecars, c->requests, c->nrequests);
    }
    strmap_release(&sidecars.places);
}

static bool pod_level(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") ||
           str_starts(name, STR("hugepages-"));
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct view_amount *)a)->name,
                   ((const struct view_amount *)b)->name);
}

const struct view_amount *view_pod_requests(const struct view_pod *p, struct arena *a,
                                            uint32_t *n)
{
    struct sums total = {.a = a};
    for (uint32_t i = 0; i < p->ninit_containers; i++)
        if (p->init_containers[i].restarts)
            add_all(&total, p->init_containers[i].requests,
                    p->init_containers[i].nrequests);
    for (uint32_t i = 0; i < p->ncontainers; i++)
        add_all(&total, p->containers[i].requests, p->containers[i].nrequests);
    raise_by_init(&total, p);
    for (uint32_t i = 0; i < p->npod_requests; i++)
        if (pod_level(p->pod_requests[i].name))
            sum_of(&total, p->pod_requests[i].name)->value = p->pod_requests[i].value;
    add_all(&total, p->overhead, p->noverhead);
    strmap_release(&total.places);
    if (total.n > 1)
        qsort(total.v, total.n, sizeof *total.v, by_name);
    *n = total.n;
    return total.v;
}
