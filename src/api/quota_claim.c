/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceClaims in quotas: the devices of a class that a claim may get at most. */
#include "api/quota_inner.h"
#include "api/timestamp.h"

static const char OF_CLASS[] = ".deviceclass.resource.k8s.io/devices";
static const char IMPLICIT[] = "requests.deviceclass.resource.kubernetes.io/";
static const char COUNT[] = "count/resourceclaims.resource.k8s.io";
enum { ALL_DEVICES = 32 }; /* of a request for all: no claim can have more */

static bool has_extended(const struct quota_request *q)
{
    return api_gate(q->w->gates, API_GATE_DRAExtendedResource);
}

static bool counts(const struct quota_request *q, struct str name)
{
    const struct quota_world *w = q->w;
    if (str_is(name, COUNT) || str_ends(name, str_from(OF_CLASS)))
        return true;
    if (!has_extended(q))
        return false;
    if (str_starts(name, str_from(IMPLICIT)) && w->extended_of &&
        w->extended_of(w->ctx, str_sub(name, strlen(IMPLICIT), SIZE_MAX)).n)
        return true;
    return quota_is_extended(name) && w->is_served &&
           w->is_served(w->ctx, str_sub(name, strlen("requests."), SIZE_MAX));
}

/* ---- devices ---- */

static struct str class_name(const struct quota_request *q, const struct doc *request)
{
    return arena_printf(q->w->a, "%.*s%s",
                        STR_ARG(doc_get_text(request, "deviceClassName")), OF_CLASS);
}

/* Modes that are not known are not counted. */
static struct quantity devices(const struct doc *request)
{
    struct str mode = doc_get_text(request, "allocationMode");
    int64_t n = 0;
    if (str_is(mode, "ExactCount"))
        doc_get_int64(request, "count", &n);
    else if (str_is(mode, "All"))
        n = ALL_DEVICES;
    return quantity_from_int64(n, QUANTITY_DECIMAL_SI);
}

static bool is_some(void *ctx, const struct view_amount *v)
{
    (void)ctx;
    return quantity_sign(&v->value) > 0;
}

/* Of each class as many as the alternative that wants most of it. */
static struct amounts alternatives(const struct quota_request *q, const struct doc *list)
{
    struct amounts most = {.a = q->w->a};
    for (uint32_t i = 0; i < list->n; i++) {
        struct amounts one = {.a = q->w->a};
        amounts_set(&one, class_name(q, &list->items[i]), devices(&list->items[i]));
        amounts_filter(&one, is_some, NULL);
        amounts_raise_all(&most, &one);
    }
    return most;
}

static void add_request(const struct quota_request *q, const struct doc *request,
                        struct amounts *out)
{
    const struct doc *list = doc_get(request, "firstAvailable"),
                     *exactly = doc_get(request, "exactly");
    struct amounts sum = {.a = q->w->a};
    if (list && list->type == DOC_LIST && list->n)
        sum = alternatives(q, list);
    else if (exactly && exactly->type == DOC_MAP)
        amounts_set(&sum, class_name(q, exactly), devices(exactly));
    amounts_add_all(out, &sum);
}

/* ---- what the pod of a claim for extended resources pays for already ---- */

static const struct doc *controller(const struct doc *claim)
{
    const struct doc *list = doc_path(claim, "metadata.ownerReferences");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        bool yes = false;
        if (doc_get_bool(&list->items[i], "controller", &yes) && yes)
            return &list->items[i];
    }
    return NULL;
}

struct order {
    const struct doc *claim;
    bool later; /* than another of the same pod */
};

static void compare(void *arg, const struct doc *other)
{
    struct order *o = arg;
    const struct doc *x = doc_get(other, "metadata"), *y = doc_get(o->claim, "metadata");
    int64_t tx = 0, ty = 0;
    int32_t nanos;
    timestamp_parse(doc_get_text(x, "creationTimestamp"), &tx, &nanos);
    timestamp_parse(doc_get_text(y, "creationTimestamp"), &ty, &nanos);
    if (tx < ty ||
        (tx == ty && str_cmp(doc_get_text(x, "name"), doc_get_text(y, "name")) < 0))
        o->later = true;
}

/* Whether it is the one claim that the pod's extended resources are served by. */
static bool is_served_by(const struct quota_request *q, const struct doc *pod,
                         const struct doc *claim)
{
    const struct quota_world *w = q->w;
    const struct doc *status = doc_path(pod, "status.extendedResourceClaimStatus");
    struct order o = {claim, false};
    if (status && status->type == DOC_MAP)
        return str_eq(doc_get_text(status, "resourceClaimName"),
                      doc_get_text(doc_get(claim, "metadata"), "name"));
    if (w->claims_of)
        w->claims_of(w->ctx, q->namespace, doc_get_text(doc_get(pod, "metadata"), "uid"),
                     compare, &o);
    return !o.later;
}

static struct amounts paid_by_pod(const struct quota_request *q, const struct doc *claim)
{
    const struct doc *meta = doc_get(claim, "metadata"), *owner = controller(claim);
    struct amounts paid = {.a = q->w->a};
    if (!doc_is_string(doc_get(doc_get(meta, "annotations"),
                               "resource.kubernetes.io/extended-resource-claim"),
                       "true") ||
        !doc_is_string(doc_get(owner, "kind"), "Pod") ||
        !doc_is_string(doc_get(owner, "apiVersion"), "v1") || !q->w->pod)
        return paid;
    const struct doc *pod =
        q->w->pod(q->w->ctx, q->namespace, doc_get_text(owner, "name"));
    if (pod &&
        str_eq(doc_get_text(owner, "uid"),
               doc_get_text(doc_get(pod, "metadata"), "uid")) &&
        is_served_by(q, pod, claim))
        quota_pod_usage(q, pod, &paid);
    return paid;
}

/* ---- by the names of extended resources ---- */

static struct amounts by_extended_name(const struct quota_request *q,
                                       const struct amounts *devices)
{
    const struct quota_world *w = q->w;
    struct amounts out = {.a = w->a};
    for (uint32_t i = 0; i < devices->n; i++) {
        struct str name = devices->v[i].name, extended = STR_NONE;
        size_t n = name.n - strlen(OF_CLASS);
        if (!str_ends(name, str_from(OF_CLASS)) || n == 0)
            continue;
        struct str class = str_sub(name, 0, n);
        amounts_set(&out, arena_printf(w->a, "%s%.*s", IMPLICIT, STR_ARG(class)),
                    devices->v[i].value);
        if (w->extended_of)
            extended = w->extended_of(w->ctx, class);
        if (extended.n)
            amounts_set(&out, arena_printf(w->a, "requests.%.*s", STR_ARG(extended)),
                        devices->v[i].value);
    }
    return out;
}

static bool is_known(void *ctx, const struct view_amount *v)
{
    return amounts_get(ctx, v->name) != NULL;
}

static void usage(const struct quota_request *q, const struct doc *claim,
                  struct amounts *out)
{
    const struct doc *list = doc_path(claim, "spec.devices.requests");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        add_request(q, &list->items[i], out);
    if (has_extended(q)) {
        struct amounts extended = by_extended_name(q, out), paid = paid_by_pod(q, claim);
        amounts_filter(&paid, is_known, &extended);
        amounts_less(&extended, &paid);
        amounts_filter(&extended, is_some, NULL);
        amounts_add_all(out, &extended);
    }
    amounts_set_int(out, str_from(COUNT), 1);
}

const struct quota_evaluator quota_claims = {
    "resource.k8s.io", "resourceclaims", quota_on_change, counts, usage, NULL, NULL};
