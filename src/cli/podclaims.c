/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/podclaims.h"

#include <stdlib.h>

/* Stands for the name of an entry where a claim is for extended resources. */
#define EXTENDED_ENTRY STR("extended-resources")

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

/* ---- names of claims made here (spec 6.1 rule 9) ---- */

/* "pod-entry-", cut in proportion where that would be too long. */
static struct str name_base(struct arena *a, struct str pod, struct str entry)
{
    enum { LONGEST = 57 };
    struct str base = arena_printf(a, "%.*s-%.*s-", STR_ARG(pod), STR_ARG(entry));
    if (base.n <= LONGEST)
        return base;
    return arena_printf(a, "%.*s-%.*s",
                        STR_ARG(str_sub(pod, 0, pod.n * LONGEST / base.n)),
                        STR_ARG(str_sub(entry, 0, entry.n * LONGEST / base.n)));
}

/* Five characters as the server adds them, here made of the pod and the entry, so that
 * equal runs give equal names. */
static struct str full_name(struct arena *a, struct str namespace, struct str pod,
                            struct str entry, struct str base)
{
    enum { LONGEST = 58, ADDED = 5 };
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint64_t h = str_hash(namespace) * 31 + str_hash(pod);
    h = h * 31 + str_hash(entry);
    char text[ADDED + 1] = {0};
    for (int i = 0; i < ADDED; i++, h /= sizeof letters - 1)
        text[i] = letters[h % (sizeof letters - 1)];
    return arena_printf(a, "%.*s%s", STR_ARG(str_sub(base, 0, LONGEST)), text);
}

static void set_names(struct work_claims *w, struct work_claim *claim,
                      struct view_meta *meta, const struct waiting_pod *pod,
                      struct str entry)
{
    struct arena *a = &w->c->arena;
    claim->pod = pod->name;
    claim->pod_uid = pod->workload ? STR_NONE : pod->view->meta.uid;
    claim->pod_claim = entry;
    claim->name_base = name_base(a, pod->name, entry);
    meta->namespace = pod->namespace;
    meta->name = full_name(a, pod->namespace, pod->name, entry, claim->name_base);
    meta->uid = cluster_key(w->c, meta->namespace, meta->name);
}

/* ---- claims that were made before ---- */

/* By an earlier run whose output is among the input: the pod may have no UID, but the
 * name is made of the pod. */
static struct work_claim *made_by_us(struct work_claims *w, const struct waiting_pod *pod,
                                     struct str entry, const char *mark, struct str value)
{
    struct arena *a = &w->c->arena;
    struct str name =
        full_name(a, pod->namespace, pod->name, entry, name_base(a, pod->name, entry));
    const struct cluster_claim *have = cluster_claim(w->c, pod->namespace, name);
    if (!have ||
        !str_eq(doc_get_text(doc_path(have->doc, "metadata.annotations"), mark), value))
        return NULL;
    return existing(w, pod->namespace, name);
}

static const struct view_pod_claim_status *status_of(const struct waiting_pod *pod,
                                                     struct str entry)
{
    const struct view_pod *p = pod->view;
    for (uint32_t i = 0; !pod->workload && i < p->nclaim_statuses; i++)
        if (str_eq(p->claim_statuses[i].name, entry))
            return &p->claim_statuses[i];
    return NULL;
}

static bool not_there(struct err *e, const char *kind, struct str namespace,
                      struct str name, struct str entry)
{
    return err_set(e, ERR_NOT_FOUND,
                   "%s \"%.*s/%.*s\", named by spec.resourceClaims \"%.*s\", is not "
                   "among the input",
                   kind, STR_ARG(namespace), STR_ARG(name), STR_ARG(entry));
}

static struct work_claim *named(struct work_claims *w, const struct waiting_pod *pod,
                                struct str name, struct str entry, struct err *e)
{
    struct work_claim *claim = existing(w, pod->namespace, name);
    if (!claim)
        not_there(e, "ResourceClaim", pod->namespace, name, entry);
    return claim;
}

/* The claim that a controller made for this pod: by the pod's status, else by the claim's
 * owner and annotation. NULL without an error: none yet. */
static struct work_claim *made_before(struct work_claims *w,
                                      const struct waiting_pod *pod, struct str entry,
                                      struct err *e)
{
    const struct view_pod_claim_status *status = status_of(pod, entry);
    struct str uid = pod->workload ? STR_NONE : pod->view->meta.uid;
    if (!status) {
        const struct cluster_claim *have = cluster_claim_made(w->c, uid, entry);
        return have ? existing(w, pod->namespace, have->view->meta.name)
                    : made_by_us(w, pod, entry, "resource.kubernetes.io/pod-claim-name",
                                 entry);
    }
    struct work_claim *claim = named(w, pod, status->claim, entry, e);
    if (!claim || str_eq(claim->view->owner_uid, uid))
        return claim;
    err_set(
        e, ERR_INVALID,
        "ResourceClaim \"%.*s/%.*s\" was not created for this pod, which does not own "
        "it",
        STR_ARG(pod->namespace), STR_ARG(status->claim));
    return NULL;
}

/* ---- claims made from templates ---- */

static struct work_claim *from_template(struct work_claims *w,
                                        const struct waiting_pod *pod,
                                        const struct view_pod_claim *entry, struct err *e)
{
    struct arena *a = &w->c->arena;
    const struct cluster_template *t =
        cluster_template(w->c, pod->namespace, entry->template);
    if (!t) {
        not_there(e, "ResourceClaimTemplate", pod->namespace, entry->template,
                  entry->name);
        return NULL;
    }
    struct view_claim *view = ARENA_NEW(a, struct view_claim);
    struct work_claim *claim = ARENA_NEW(a, struct work_claim);
    if (!view_claim_spec(t->spec, view, a, e)) {
        err_wrap(e, "ResourceClaimTemplate \"%.*s/%.*s\"", STR_ARG(t->namespace),
                 STR_ARG(t->name));
        return NULL;
    }
    *claim = (struct work_claim){.view = view, .template = t};
    set_names(w, claim, &view->meta, pod, entry->name);
    return claim;
}

/* ---- all of a pod's ---- */

static struct work_claim *claim_for(struct work_claims *w, const struct waiting_pod *pod,
                                    const struct view_pod_claim *entry, struct err *e)
{
    struct work_claim *claim = entry->claim.n
                                   ? named(w, pod, entry->claim, entry->name, e)
                                   : made_before(w, pod, entry->name, e);
    if (!claim && e->code == ERR_NONE)
        claim = from_template(w, pod, entry, e);
    if (!claim || !claim->view->meta.deleting)
        return claim;
    err_set(e, ERR_INVALID, "ResourceClaim \"%.*s/%.*s\" is being deleted",
            STR_ARG(claim->view->meta.namespace), STR_ARG(claim->view->meta.name));
    return NULL;
}

/* The status may say that an entry needs no claim. */
static bool needs_claim(const struct waiting_pod *pod, const struct view_pod_claim *entry)
{
    const struct view_pod_claim_status *status = status_of(pod, entry->name);
    return entry->claim.n || !status || status->claim.n;
}

static bool is_among(struct work_claim *const *claims, uint32_t n,
                     const struct work_claim *claim)
{
    for (uint32_t i = 0; i < n; i++)
        if (claims[i] == claim)
            return true;
    return false;
}

bool work_claims_of(struct work_claims *w, const struct waiting_pod *pod,
                    struct work_claim ***out, uint32_t *n, struct err *e)
{
    const struct view_pod *p = pod->view;
    uint32_t found = 0;
    struct work_claim **claims =
        ARENA_ARRAY(&w->c->arena, struct work_claim *, p->nclaims);
    for (uint32_t i = 0; i < p->nclaims; i++) {
        if (!needs_claim(pod, &p->claims[i]))
            continue;
        struct work_claim *claim = claim_for(w, pod, &p->claims[i], e);
        if (!claim)
            return false;
        if (!is_among(claims, found, claim))
            claims[found++] = claim;
    }
    *out = claims;
    *n = found;
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

/* The class that serves a resource name: by extendedResourceName (newest, then first by
 * name), or by the implicit deviceclass.resource.kubernetes.io/NAME. NULL: none. */
static const struct view_class *work_class_for(const struct cluster *c,
                                               struct str resource)
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

struct work_claim *work_claim_extended_before(struct work_claims *w,
                                              const struct waiting_pod *pod)
{
    struct work_claim *claim = NULL;
    if (!pod->workload && pod->view->extended_claim.n)
        claim = existing(w, pod->namespace, pod->view->extended_claim);
    if (!claim)
        claim = made_by_us(w, pod, EXTENDED_ENTRY,
                           "resource.kubernetes.io/extended-resource-claim", STR("true"));
    return claim && claim->view->allocation ? claim : NULL;
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
    struct work_claim *claim = ARENA_NEW(a, struct work_claim);
    *claim = (struct work_claim){.view = view, .extended = true};
    set_names(w, claim, &view->meta, pod, EXTENDED_ENTRY);
    return claim;
}
