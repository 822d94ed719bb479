/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/podclaims.h"

#include <stdlib.h>

void work_claims_init(struct work_claims *w, struct cluster *c)
{
    *w = (struct work_claims){.c = c};
}

void work_claims_fini(struct work_claims *w)
{
    for (size_t i = 0; i < w->list.n; i++)
        vec_release(&w->list.v[i]->reserved);
    vec_release(&w->list);
    strmap_release(&w->index);
}

void work_claims_keep(struct work_claims *w, struct work_claim *claim)
{
    const struct view_meta *m = &claim->view->meta;
    bool made;
    struct strmap_entry *e =
        strmap_put(&w->index, cluster_key(w->c, m->namespace, m->name), &made);
    if (!made)
        return;
    e->value.ptr = claim;
    vec_push(&w->list, claim);
}

/* ---- claims that are there ---- */

static struct work_claim *existing(struct work_claims *w, struct str namespace,
                                   struct str name)
{
    const struct strmap_entry *e =
        strmap_find(&w->index, cluster_key(w->c, namespace, name));
    if (e)
        return e->value.ptr;
    const struct cluster_claim *have = cluster_claim(w->c, namespace, name);
    if (!have)
        return NULL;
    struct work_claim *claim = ARENA_NEW(&w->c->arena, struct work_claim);
    claim->view = have->view;
    claim->doc = have->doc;
    work_claims_keep(w, claim);
    return claim;
}

/* The claim that the controller made for this pod and entry, by its status or by the
 * claim's annotation and owner. Empty: none yet. */
static struct str made_before(struct work_claims *w, const struct waiting_pod *pod,
                              struct str entry)
{
    const struct view_pod *p = pod->view;
    if (pod->workload)
        return STR_NONE;
    for (uint32_t i = 0; i < p->nclaim_statuses; i++)
        if (str_eq(p->claim_statuses[i].name, entry))
            return p->claim_statuses[i].claim;
    for (size_t i = 0; p->meta.uid.n && i < w->c->claims.n; i++) {
        const struct cluster_claim *have = &w->c->claims.v[i];
        const struct doc *annotations = doc_path(have->doc, "metadata.annotations");
        if (str_eq(have->view->owner_uid, p->meta.uid) &&
            str_eq(doc_get_text(annotations, "resource.kubernetes.io/pod-claim-name"),
                   entry))
            return have->view->meta.name;
    }
    return STR_NONE;
}

/* ---- claims made from templates ---- */

/* Five characters as generated names end with; the same for the same pod and entry. */
static struct str suffix(struct arena *a, struct str namespace, struct str pod,
                         struct str entry)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t h = str_hash(namespace) * 31 + str_hash(pod);
    h = h * 31 + str_hash(entry);
    char text[6] = {0};
    for (int i = 0; i < 5; i++, h /= sizeof letters - 1)
        text[i] = letters[h % (sizeof letters - 1)];
    return arena_str(a, str_from(text));
}

static struct work_claim *from_template(struct work_claims *w,
                                        const struct waiting_pod *pod,
                                        const struct view_pod_claim *entry,
                                        const struct cluster_template *t, struct err *e)
{
    struct arena *a = &w->c->arena;
    struct view_claim *view = ARENA_NEW(a, struct view_claim);
    struct work_claim *claim = ARENA_NEW(a, struct work_claim);
    view->meta.namespace = pod->namespace;
    view->meta.name =
        arena_printf(a, "%.*s-%.*s-%.*s", STR_ARG(pod->name), STR_ARG(entry->name),
                     STR_ARG(suffix(a, pod->namespace, pod->name, entry->name)));
    view->meta.uid = view->meta.name;
    if (!view_claim_spec(t->spec, view, a, e)) {
        err_wrap(e, "ResourceClaimTemplate \"%.*s/%.*s\"", STR_ARG(t->namespace),
                 STR_ARG(t->name));
        return NULL;
    }
    *claim = (struct work_claim){.view = view,
                                 .pod = pod->name,
                                 .pod_claim = entry->name,
                                 .spec = t->spec,
                                 .meta = t->meta};
    return claim;
}

static bool not_there(struct err *e, const char *kind, struct str namespace,
                      struct str name, struct str entry)
{
    return err_set(
        e, ERR_NOT_FOUND,
        "%s \"%.*s/%.*s\", named by spec.resourceClaims \"%.*s\", is not among the "
        "input",
        kind, STR_ARG(namespace), STR_ARG(name), STR_ARG(entry));
}

static struct work_claim *claim_for(struct work_claims *w, const struct waiting_pod *pod,
                                    const struct view_pod_claim *entry, struct err *e)
{
    struct str name = entry->claim.n ? entry->claim : made_before(w, pod, entry->name);
    if (name.n) {
        struct work_claim *claim = existing(w, pod->namespace, name);
        if (!claim)
            not_there(e, "ResourceClaim", pod->namespace, name, entry->name);
        return claim;
    }
    const struct cluster_template *t =
        cluster_template(w->c, pod->namespace, entry->template);
    if (!t) {
        not_there(e, "ResourceClaimTemplate", pod->namespace, entry->template,
                  entry->name);
        return NULL;
    }
    return from_template(w, pod, entry, t, e);
}

bool work_claims_of(struct work_claims *w, const struct waiting_pod *pod,
                    struct work_claim ***out, uint32_t *n, struct err *e)
{
    const struct view_pod *p = pod->view;
    struct work_claim **claims =
        ARENA_ARRAY(&w->c->arena, struct work_claim *, p->nclaims);
    for (uint32_t i = 0; i < p->nclaims; i++) {
        claims[i] = claim_for(w, pod, &p->claims[i], e);
        if (!claims[i])
            return false;
    }
    *out = claims;
    *n = p->nclaims;
    return true;
}

/* ---- extended resources ---- */

static const struct str IMPLICIT = {"deviceclass.resource.kubernetes.io/", 35};

/* Newer wins, then the first by name. */
static bool serves_before(const struct view_class *a, const struct view_class *b)
{
    int c = str_cmp(a->meta.created, b->meta.created);
    return c > 0 || (c == 0 && str_cmp(a->meta.name, b->meta.name) < 0);
}

const struct view_class *work_class_for(const struct cluster *c, struct str resource)
{
    if (str_starts(resource, IMPLICIT))
        return cluster_class(c, str_sub(resource, IMPLICIT.n, SIZE_MAX));
    const struct view_class *best = NULL;
    for (size_t i = 0; i < c->classes.n; i++) {
        const struct view_class *k = c->classes.v[i];
        if (k->extended_resource.n && str_eq(k->extended_resource, resource) &&
            (!best || serves_before(k, best)))
            best = k;
    }
    return best;
}

struct view_strs work_extended_names(struct cluster *c, const struct waiting_pod *pod)
{
    uint32_t n, found = 0;
    const struct view_amount *requests = view_pod_requests(pod->view, &c->arena, &n);
    struct str *names = ARENA_ARRAY(&c->arena, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        if (quantity_sign(&requests[i].value) > 0 && work_class_for(c, requests[i].name))
            names[found++] = requests[i].name;
    return (struct view_strs){names, found};
}

struct extended {
    struct work_claims *w;
    const struct view_pod *pod;
    VEC(struct view_request) requests;
};

static uint32_t container_count(const struct view_pod *p)
{
    return p->ninit_containers + p->ncontainers;
}

/* Init containers are numbered first (spec 7.9 rule 3). */
static const struct view_container *container_at(const struct view_pod *p, uint32_t i)
{
    return i < p->ninit_containers ? &p->init_containers[i]
                                   : &p->containers[i - p->ninit_containers];
}

static bool is_long_lived(const struct view_pod *p, uint32_t i)
{
    return i >= p->ninit_containers || p->init_containers[i].restarts;
}

/* The whole number of a resource that a container asks for; *at its place among the
 * container's requests, which are sorted. */
static int64_t wanted(const struct view_container *c, struct str name, uint32_t *at)
{
    int64_t v = 0;
    for (uint32_t i = 0; i < c->nrequests; i++)
        if (str_eq(c->requests[i].name, name) &&
            quantity_scaled_exact(&c->requests[i].value, 0, &v)) {
            *at = i;
            return v;
        }
    return 0;
}

static void add_request(struct extended *x, uint32_t container, uint32_t at,
                        int64_t count, const struct view_class *class)
{
    struct arena *a = &x->w->c->arena;
    struct view_alternative *alternative = ARENA_NEW(a, struct view_alternative);
    alternative->class_name = class->meta.name;
    alternative->mode = STR("ExactCount");
    alternative->count = count;
    struct str name = arena_printf(a, "container-%u-request-%u", container, at);
    vec_push(&x->requests, (struct view_request){name, false, alternative, 1});
}

/* What a short-lived init container needs beyond the devices of containers that run
 * later. */
static int64_t beyond_later(const struct view_pod *p, uint32_t i, struct str name,
                            int64_t count)
{
    uint32_t at;
    for (uint32_t k = i; k < container_count(p); k++)
        if (is_long_lived(p, k))
            count -= wanted(container_at(p, k), name, &at);
    return count;
}

static void add_resource(struct extended *x, struct str name)
{
    const struct view_class *class = work_class_for(x->w->c, name);
    int64_t most = 0;
    uint32_t at = 0, most_at = 0, most_container = 0;
    for (uint32_t i = 0; i < container_count(x->pod); i++) {
        int64_t count = wanted(container_at(x->pod, i), name, &at);
        if (count <= 0)
            continue;
        if (is_long_lived(x->pod, i)) {
            add_request(x, i, at, count, class);
            continue;
        }
        int64_t rest = beyond_later(x->pod, i, name, count);
        if (rest > most) {
            most = rest;
            most_at = at;
            most_container = i;
        }
    }
    if (most > 0)
        add_request(x, most_container, most_at, most, class);
}

static int by_request_name(const void *a, const void *b)
{
    return str_cmp(((const struct view_request *)a)->name,
                   ((const struct view_request *)b)->name);
}

struct work_claim *work_claim_extended(struct work_claims *w,
                                       const struct waiting_pod *pod,
                                       const struct view_strs *names)
{
    struct arena *a = &w->c->arena;
    struct extended x = {.w = w, .pod = pod->view};
    for (uint32_t i = 0; i < names->n; i++)
        add_resource(&x, names->v[i]);
    struct view_claim *view = ARENA_NEW(a, struct view_claim);
    struct view_request *requests = ARENA_ARRAY(a, struct view_request, x.requests.n);
    if (x.requests.n) {
        memcpy(requests, x.requests.v, x.requests.n * sizeof *requests);
        qsort(requests, x.requests.n, sizeof *requests, by_request_name);
    }
    view->requests = requests;
    view->nrequests = (uint32_t)x.requests.n;
    vec_release(&x.requests);
    view->meta.namespace = pod->namespace;
    view->meta.name =
        arena_printf(a, "%.*s-extended-resources-%.*s", STR_ARG(pod->name),
                     STR_ARG(suffix(a, pod->namespace, pod->name, STR("extended"))));
    view->meta.uid = view->meta.name;
    struct work_claim *claim = ARENA_NEW(a, struct work_claim);
    *claim = (struct work_claim){.view = view, .pod = pod->name, .extended = true};
    return claim;
}
