/* SPDX-License-Identifier: Apache-2.0 */
#include "node/claims_inner.h"
#include "num/quantity.h"

typedef VEC(struct str) ids_vec;

/* A device without request names is for all of them, as is a claim without a request. */
static bool is_for(const struct checkpoint_device *d, struct str request)
{
    for (uint32_t i = 0; i < d->nrequests; i++)
        if (str_eq(d->requests[i], request))
            return true;
    return request.n == 0 || d->nrequests == 0;
}

static void add_devices(const struct claim_entry *x, struct str request, struct arena *a,
                        ids_vec *out)
{
    for (uint32_t i = 0; i < x->ndrivers; i++) {
        for (uint32_t k = 0; k < x->drivers[i].ndevices; k++) {
            const struct checkpoint_device *d = &x->drivers[i].devices[k];
            for (uint32_t n = 0; is_for(d, request) && n < d->ncdi_ids; n++)
                vec_push_in(a, out, arena_str(a, d->cdi_ids[n]));
        }
    }
}

static const struct claim_entry *find_claim(const struct node_claims *c,
                                            struct str namespace, struct str name,
                                            struct err *e)
{
    const struct claim_entry *x = cache_find(c, namespace, name);
    if (!x)
        err_set(e, ERR_NOT_FOUND,
                "internal error: unable to get claim info for ResourceClaim %.*s in "
                "namespace %.*s",
                STR_ARG(name), STR_ARG(namespace));
    return x;
}

struct look {
    const struct node_claims *claims;
    const struct doc *pod, *container;
    struct str namespace;
    struct arena *a;
    ids_vec ids;
    struct err *e;
};

static uint32_t length(const struct doc *d)
{
    return d && d->type == DOC_LIST ? d->n : 0;
}

static bool refers_to(const struct look *l, const struct doc *entry)
{
    const struct doc *refs = doc_path(l->container, "resources.claims");
    for (uint32_t i = 0; i < length(refs); i++)
        if (str_eq(doc_get_text(&refs->items[i], "name"), doc_get_text(entry, "name")))
            return true;
    return false;
}

/* What the container asks of one claim of its pod. */
static bool add_claim(struct look *l, const struct doc *entry)
{
    const struct doc *refs = doc_path(l->container, "resources.claims");
    struct str name;
    if (!refers_to(l, entry))
        return true;
    enum claim_known known = check_name(l->pod, entry, &name, l->e);
    if (known == CLAIM_NOT_NEEDED)
        return true;
    if (known != CLAIM_NAMED && known != CLAIM_GENERATED)
        return false;
    const struct claim_entry *x = find_claim(l->claims, l->namespace, name, l->e);
    if (!x)
        return false;
    for (uint32_t i = 0; i < length(refs); i++)
        if (str_eq(doc_get_text(&refs->items[i], "name"), doc_get_text(entry, "name")))
            add_devices(x, doc_get_text(&refs->items[i], "request"), l->a, &l->ids);
    return true;
}

static bool asks_for(const struct look *l, struct str resource)
{
    const struct doc *amount =
        doc_get_str(doc_path(l->container, "resources.requests"), resource);
    struct quantity q;
    return amount && (amount->type == DOC_STRING || amount->type == DOC_NUMBER) &&
           quantity_parse(doc_str(amount), l->a, &q, NULL) && quantity_sign(&q) != 0;
}

/* Of the claim that the scheduler made for resources by name. */
static bool add_extended(struct look *l)
{
    const struct doc *status = doc_path(l->pod, "status.extendedResourceClaimStatus");
    const struct doc *maps = doc_get(status, "requestMappings");
    struct str container = doc_get_text(l->container, "name");
    for (uint32_t i = 0; i < length(maps); i++) {
        const struct doc *m = &maps->items[i];
        if (!str_eq(doc_get_text(m, "containerName"), container) ||
            !asks_for(l, doc_get_text(m, "resourceName")))
            continue;
        const struct claim_entry *x = find_claim(
            l->claims, l->namespace, doc_get_text(status, "resourceClaimName"), l->e);
        if (!x)
            return false;
        add_devices(x, doc_get_text(m, "requestName"), l->a, &l->ids);
    }
    return true;
}

bool node_claims_container_devices(const struct node_claims *c, const struct doc *pod,
                                   const struct doc *container, struct arena *a,
                                   struct node_claims_devices *out, struct err *e)
{
    struct look l = {.claims = c,
                     .pod = pod,
                     .container = container,
                     .namespace = doc_get_text(doc_get(pod, "metadata"), "namespace"),
                     .a = a,
                     .e = e};
    const struct doc *list = doc_path(pod, "spec.resourceClaims");
    for (uint32_t i = 0; i < length(list); i++)
        if (!add_claim(&l, &list->items[i]))
            return false;
    if (!add_extended(&l))
        return false;
    *out = (struct node_claims_devices){l.ids.v, (uint32_t)l.ids.n};
    return true;
}

/* ---- all of them ---- */

static void each_of(const struct claim_entry *x, node_claims_each_fn *each, void *ctx)
{
    for (uint32_t i = 0; i < x->ndrivers; i++)
        for (uint32_t k = 0; k < x->drivers[i].ndevices; k++)
            each(ctx, x->drivers[i].name, &x->drivers[i].devices[k], x->pods.v,
                 (uint32_t)x->pods.n);
}

bool node_claims_each_device(const struct node_claims *c, struct str namespace,
                             struct str name, node_claims_each_fn *each, void *ctx)
{
    const struct claim_entry *x = name.n > 0 ? cache_find(c, namespace, name) : NULL;
    if (x)
        each_of(x, each, ctx);
    if (name.n > 0)
        return x != NULL;
    strmap_each(&c->entries, e) each_of(e->value.ptr, each, ctx);
    return true;
}
