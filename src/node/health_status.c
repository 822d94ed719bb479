/* SPDX-License-Identifier: Apache-2.0 */
#include "api/claim_refs.h"
#include "node/health_inner.h"

struct status { /* of one reference of a container to a claim */
    const struct health *health;
    struct health_now now;
    struct str request; /* its base; empty: all */
    struct doc resources;
    struct arena *a;
};

static uint32_t length(const struct doc *d)
{
    return d && d->type == DOC_LIST ? d->n : 0;
}

static bool is_wanted(const struct status *s, const struct checkpoint_device *d)
{
    for (uint32_t i = 0; i < d->nrequests; i++)
        if (str_eq(d->requests[i], s->request))
            return true;
    return s->request.n == 0 || d->nrequests == 0;
}

static bool is_listed(const struct doc *list, struct str id)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(doc_get_text(&list->items[i], "resourceID"), id))
            return true;
    return false;
}

static const char *health_word(enum checkpoint_health h)
{
    return h == CHECKPOINT_HEALTHY     ? "Healthy"
           : h == CHECKPOINT_UNHEALTHY ? "Unhealthy"
                                       : "Unknown";
}

static void add_device(void *ctx, struct str driver, const struct checkpoint_device *d,
                       const struct str *pods, uint32_t npods)
{
    struct status *s = ctx;
    struct str id = d->ncdi_ids > 0
                        ? d->cdi_ids[0]
                        : arena_printf(s->a, "%.*s/%.*s/%.*s", STR_ARG(driver),
                                       STR_ARG(d->pool), STR_ARG(d->device));
    if (!is_wanted(s, d) || is_listed(&s->resources, id))
        return;
    struct health_is is =
        health_table_get(s->health->table, driver, d->pool, d->device, &s->now);
    struct doc x = doc_make_map();
    doc_set_text(s->a, &x, "resourceID", id);
    doc_set_text(s->a, &x, "health", str_from(health_word(is.health)));
    if (s->health->opts.messages && is.message.n > 0)
        doc_set_text(s->a, &x, "message", is.message);
    doc_append(s->a, &s->resources, x);
}

/* The claim behind a name of the pod's spec; empty: there is none. */
static struct str claim_name(const struct doc *pod, struct str name)
{
    const struct doc *list = doc_path(pod, "spec.resourceClaims");
    struct str claim = STR_NONE;
    for (uint32_t i = 0; i < length(list); i++) {
        if (!str_eq(doc_get_text(&list->items[i], "name"), name))
            continue;
        enum claim_known known = claim_ref_name(pod, &list->items[i], &claim);
        return known == CLAIM_NAMED || known == CLAIM_GENERATED ? claim : STR_NONE;
    }
    return STR_NONE;
}

static struct doc without(const struct doc *list, struct str name, struct arena *a)
{
    struct doc out = doc_make_list();
    for (uint32_t i = 0; i < list->n; i++)
        if (!str_eq(doc_get_text(&list->items[i], "name"), name))
            doc_append(a, &out, list->items[i]);
    return out;
}

/* In the place of what was said of it before, which stays where the claim is not prepared
 * anymore. */
static void set_reference(const struct health *h, const struct doc *pod,
                          const struct doc *ref, struct arena *a, struct doc *out)
{
    struct str claim = doc_get_text(ref, "name"), request = doc_get_text(ref, "request"),
               name = claim_name(pod, claim),
               namespace = doc_get_text(doc_get(pod, "metadata"), "namespace");
    struct str entry = arena_printf(a, "claim:%.*s%s%.*s", STR_ARG(claim),
                                    request.n > 0 ? "/" : "", STR_ARG(request));
    struct status s = {.health = h,
                       .now = health_now(h),
                       .request = claim_ref_request_base(request),
                       .resources = doc_make_list(),
                       .a = a};
    if (name.n == 0 ||
        !node_claims_each_device(h->claims, namespace, name, add_device, &s))
        return;
    *out = without(out, entry, a);
    if (s.resources.n == 0)
        return;
    struct doc x = doc_make_map();
    doc_set_text(a, &x, "name", entry);
    doc_set(a, &x, "resources", s.resources);
    doc_append(a, out, x);
}

struct doc health_container_status(const struct health *h, const struct doc *pod,
                                   const struct doc *container, const struct doc *old,
                                   struct arena *a)
{
    const struct doc *refs = doc_path(container, "resources.claims");
    struct doc out = doc_make_list();
    for (uint32_t i = 0; i < length(old); i++)
        doc_append(a, &out, doc_dup(a, &old->items[i]));
    for (uint32_t i = 0; h->claims && i < length(refs); i++)
        set_reference(h, pod, &refs->items[i], a, &out);
    return out.n > 0 ? out : doc_make_null();
}
