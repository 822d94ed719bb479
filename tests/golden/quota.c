/* SPDX-License-Identifier: Apache-2.0 */
/* golden/quota: what a ResourceClaim is charged for, under which names quotas may limit
 * it, and which requests are looked at. */
#include "api/quota.h"
#include "golden/golden.h"

struct world {
    const struct doc *in;
    struct quota_world w;
    struct api_gates gates;
};

static const struct doc *list_at(const struct doc *d, const char *key)
{
    static const struct doc NONE = {.type = DOC_LIST};
    const struct doc *list = doc_get(d, key);
    return list && list->type == DOC_LIST ? list : &NONE;
}

static struct str name_of(const struct doc *d)
{
    return doc_get_text(doc_get(d, "metadata"), "name");
}

static struct str extended_of(void *ctx, struct str class)
{
    struct world *w = ctx;
    const struct doc *list = list_at(w->in, "classes");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(name_of(&list->items[i]), class))
            return doc_get_text(doc_get(&list->items[i], "spec"), "extendedResourceName");
    return STR_NONE;
}

static bool is_served(void *ctx, struct str resource)
{
    static const struct str IMPLICIT = STR("deviceclass.resource.kubernetes.io/");
    struct world *w = ctx;
    const struct doc *list = list_at(w->in, "classes");
    for (uint32_t i = 0; i < list->n; i++) {
        struct str name = name_of(&list->items[i]);
        if (str_eq(extended_of(w, name), resource) ||
            (str_starts(resource, IMPLICIT) &&
             str_eq(str_sub(resource, IMPLICIT.n, SIZE_MAX), name)))
            return true;
    }
    return false;
}

static const struct doc *find_pod(void *ctx, struct str namespace, struct str name)
{
    struct world *w = ctx;
    const struct doc *list = list_at(w->in, "pods");
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(name_of(&list->items[i]), name) &&
            str_eq(doc_get_text(doc_get(&list->items[i], "metadata"), "namespace"),
                   namespace))
            return &list->items[i];
    return NULL;
}

static void claims_of(void *ctx, struct str namespace, struct str pod_uid,
                      void (*each)(void *arg, const struct doc *claim), void *arg)
{
    struct world *w = ctx;
    const struct doc *list = list_at(w->in, "ownedExtendedClaims");
    (void)namespace, (void)pod_uid;
    for (uint32_t i = 0; i < list->n; i++)
        each(arg, &list->items[i]);
}

static struct quota_request request_for(struct world *w, struct golden_case *c)
{
    bool gate = true;
    w->in = doc_get(c->doc, "in");
    w->gates = api_gates_default;
    doc_get_bool(w->in, "extendedResourceGate", &gate);
    api_gate_set(&w->gates, API_GATE_DRAExtendedResource, gate);
    w->w = (struct quota_world){.a = c->arena, .gates = &w->gates, .ctx = w};
    if (doc_get(w->in, "classes")) {
        w->w.extended_of = extended_of;
        w->w.is_served = is_served;
        w->w.pod = find_pod;
        w->w.claims_of = claims_of;
    }
    return (struct quota_request){.w = &w->w,
                                  .verb = QUOTA_CREATE,
                                  .group = "resource.k8s.io",
                                  .resource = "resourceclaims",
                                  .sub = ""};
}

static void check_usage(struct golden_case *c, struct quota_request *q,
                        const struct world *w)
{
    const struct doc *want = doc_path(c->doc, "out.usage");
    q->object = doc_get(w->in, "claim");
    q->namespace = doc_get_text(doc_get(q->object, "metadata"), "namespace");
    struct amounts usage = quota_usage(q, q->object);
    struct doc got = amounts_doc(&usage);
    golden_check_doc(c, "usage", want, &got);
}

static void check_names(struct golden_case *c, const struct quota_request *q,
                        const struct world *w)
{
    const struct doc *items = list_at(w->in, "items");
    struct doc got = doc_make_list();
    for (uint32_t i = 0; i < items->n; i++)
        if (quota_counts(q, doc_str(&items->items[i])))
            doc_append(c->arena, &got, items->items[i]);
    golden_check_doc(c, "names", doc_get(c->doc, "out"), &got);
}

static void check_handles(struct golden_case *c, struct quota_request *q,
                          const struct world *w)
{
    struct str verb = doc_get_text(w->in, "operation");
    bool want = false;
    doc_get_bool(c->doc, "out", &want);
    q->verb = str_is(verb, "CREATE")   ? QUOTA_CREATE
              : str_is(verb, "UPDATE") ? QUOTA_UPDATE
                                       : QUOTA_OTHER;
    q->sub = arena_str(c->arena, doc_get_text(w->in, "subresource")).p;
    golden_check_bool(c, "handles", want, quota_handles(q));
}

static void run_case(struct golden *g, struct golden_case *c)
{
    struct world w = {0};
    struct quota_request q = request_for(&w, c);
    struct str id = str_from(c->id);
    (void)g;
    if (str_starts(id, STR("usage/")))
        check_usage(c, &q, &w);
    else if (str_starts(id, STR("match/")))
        check_names(c, &q, &w);
    else
        check_handles(c, &q, &w);
}

const struct golden_runner golden_quota = {.folder = "quota", .run_case = run_case};
