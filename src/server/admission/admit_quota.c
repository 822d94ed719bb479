/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuota: which writes are to be paid for, and what their rules ask about others.
 * It is the last to look at an object; paying is the first thing on its way to the store.
 */
#include "server/admission/quota_inner.h"

#include <time.h>

/* ---- what the rules ask ---- */

static const char IMPLICIT[] = "deviceclass.resource.kubernetes.io/";

static bool note_class(void *ctx, struct cache_object *o)
{
    struct payment *p = ctx;
    struct arena *a = p->admission.r->a;
    struct doc d = object_doc(o, a);
    struct str extended = doc_get_text(doc_get(&d, "spec"), "extendedResourceName");
    doc_add_str(a, p->classes, arena_str(a, o->name),
                doc_make_string(a, extended.n ? extended : STR("")));
    return true;
}

static const struct doc *classes_of(struct payment *p)
{
    if (!p->classes) {
        p->classes = ARENA_NEW(p->admission.r->a, struct doc);
        *p->classes = doc_make_map();
        admit_each(&p->admission, "resource.k8s.io", "deviceclasses", note_class, p);
    }
    return p->classes;
}

static struct str extended_of(void *ctx, struct str class)
{
    const struct doc *d = doc_get_str(classes_of(ctx), class);
    return d ? doc_str(d) : STR_NONE;
}

static bool is_served(void *ctx, struct str resource)
{
    const struct doc *classes = classes_of(ctx);
    for (uint32_t i = 0; i < classes->n; i++)
        if (str_eq(doc_str(&classes->members[i].value), resource))
            return true;
    return str_starts(resource, str_from(IMPLICIT)) &&
           doc_get_str(classes, str_sub(resource, strlen(IMPLICIT), SIZE_MAX));
}

static const struct doc *find_pod(void *ctx, struct str namespace, struct str name)
{
    struct payment *p = ctx;
    struct doc *pod = ARENA_NEW(p->admission.r->a, struct doc);
    return admit_find(&p->admission, "", "pods", namespace, name, pod) ? pod : NULL;
}

struct looking {
    struct payment *p;
    struct str uid;
    void (*each)(void *arg, const struct doc *claim);
    void *arg;
};

static bool is_for(const struct doc *claim, struct str uid)
{
    const struct doc *meta = doc_get(claim, "metadata"),
                     *list = doc_get(meta, "ownerReferences");
    if (!doc_is_string(doc_get(doc_get(meta, "annotations"),
                               "resource.kubernetes.io/extended-resource-claim"),
                       "true"))
        return false;
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *o = &list->items[i];
        bool controls = false;
        if (doc_get_bool(o, "controller", &controls) && controls)
            return doc_is_string(doc_get(o, "kind"), "Pod") &&
                   doc_is_string(doc_get(o, "apiVersion"), "v1") &&
                   str_eq(doc_get_text(o, "uid"), uid);
    }
    return false;
}

static bool look_at(void *ctx, struct cache_object *o)
{
    struct looking *l = ctx;
    struct doc d = object_doc(o, l->p->admission.r->a);
    if (is_for(&d, l->uid))
        l->each(l->arg, &d);
    return true;
}

static void claims_of(void *ctx, struct str namespace, struct str pod_uid,
                      void (*each)(void *arg, const struct doc *claim), void *arg)
{
    struct payment *p = ctx;
    struct looking l = {p, pod_uid, each, arg};
    admit_each_in(&p->admission, "resource.k8s.io", "resourceclaims", namespace, look_at,
                  &l);
}

/* ---- the plugin ---- */

static bool is_namespaced(const struct admission *a)
{
    return a->r->route.namespace.n && !admit_of(a, "", "namespaces");
}

static struct payment *payment_of(struct request *r)
{
    if (!r->payment)
        r->payment = ARENA_NEW(r->a, struct payment);
    return r->payment;
}

bool check_quota(struct admission *a)
{
    struct request *r = a->r;
    struct quota_request q = {.verb =
                                  a->verb == ADMIT_CREATE ? QUOTA_CREATE : QUOTA_UPDATE,
                              .group = r->res->main->group,
                              .resource = r->res->main->resource,
                              .sub = admit_sub(a),
                              .namespace = r->route.namespace,
                              .object = a->object,
                              .old = a->old};
    if (!is_namespaced(a))
        return true;
    struct payment *p = payment_of(r);
    p->world = (struct quota_world){.a = r->a,
                                    .gates = &r->s->gates,
                                    .now = time(NULL),
                                    .ctx = p,
                                    .extended_of = extended_of,
                                    .is_served = is_served,
                                    .pod = find_pod,
                                    .claims_of = claims_of,
                                    .limited = r->s->plugins.limited};
    p->q = q;
    p->q.w = &p->world;
    p->admission = *a;
    p->classes = NULL;
    p->due = quota_handles(&p->q);
    return true;
}
