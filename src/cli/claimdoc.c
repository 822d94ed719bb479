/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/claimdoc.h"

#include "api/edit.h"

static struct doc text(struct arena *a, struct str s)
{
    return doc_make_string(a, s);
}

/* ---- metadata of claims made here (spec 6.1) ---- */

static void set_annotation(struct arena *a, struct doc *meta, const char *key,
                           struct str value)
{
    const struct doc *have = doc_get(meta, "annotations");
    struct doc annotations = have ? *have : doc_make_map();
    doc_set(a, &annotations, key, text(a, value));
    doc_set(a, meta, "annotations", annotations);
}

/* Of a pod that is there: one without a UID owns nothing, and the garbage collector
 * would delete what seems to have an owner that is gone. */
static void set_owner(struct arena *a, struct doc *meta, const struct work_claim *c)
{
    struct doc owner = doc_make_map(), owners = doc_make_list();
    if (c->pod_uid.n == 0)
        return;
    doc_set(a, &owner, "apiVersion", text(a, STR("v1")));
    doc_set(a, &owner, "kind", text(a, STR("Pod")));
    doc_set(a, &owner, "name", text(a, c->pod));
    doc_set(a, &owner, "uid", text(a, c->pod_uid));
    doc_set(a, &owner, "controller", doc_make_bool(true));
    doc_append(a, &owners, owner);
    doc_set(a, meta, "ownerReferences", owners);
}

static struct doc made_meta(const struct work_claim *c, struct arena *a)
{
    const struct doc *given = c->template ? c->template->meta : NULL;
    struct doc meta = given ? doc_dup(a, given) : doc_make_map();
    doc_set(a, &meta, "name", text(a, c->view->meta.name));
    doc_set(a, &meta, "generateName", text(a, c->name_base));
    doc_set(a, &meta, "namespace", text(a, c->view->meta.namespace));
    if (c->extended)
        set_annotation(a, &meta, "resource.kubernetes.io/extended-resource-claim",
                       STR("true"));
    else
        set_annotation(a, &meta, "resource.kubernetes.io/pod-claim-name", c->pod_claim);
    set_owner(a, &meta, c);
    return meta;
}

/* The scheduler puts it on what it allocates (spec 7.8): an allocated claim stays until
 * nobody uses it. */
static void add_finalizer(struct arena *a, struct doc *object)
{
    static const char NAME[] = "resource.kubernetes.io/delete-protection";
    struct doc *meta = api_edit_get(object, "metadata");
    const struct doc *have = doc_get(meta, "finalizers");
    struct doc list = have && have->type == DOC_LIST ? *have : doc_make_list();
    for (uint32_t i = 0; i < list.n; i++)
        if (doc_is_string(&list.items[i], NAME))
            return;
    doc_append(a, &list, text(a, str_from(NAME)));
    doc_set(a, meta, "finalizers", list);
}

static struct doc extended_spec(const struct view_claim *v, struct arena *a)
{
    struct doc requests = doc_make_list();
    for (uint32_t i = 0; i < v->nrequests; i++) {
        const struct view_alternative *x = v->requests[i].alternatives;
        struct doc request = doc_make_map(), exactly = doc_make_map();
        doc_set(a, &exactly, "deviceClassName", text(a, x->class_name));
        doc_set(a, &exactly, "allocationMode", text(a, x->mode));
        doc_set(a, &exactly, "count", doc_make_int(a, x->count));
        doc_set(a, &request, "name", text(a, v->requests[i].name));
        doc_set(a, &request, "exactly", exactly);
        doc_append(a, &requests, request);
    }
    struct doc devices = doc_make_map(), spec = doc_make_map();
    doc_set(a, &devices, "requests", requests);
    doc_set(a, &spec, "devices", devices);
    return spec;
}

static struct doc made_doc(const struct work_claim *c, struct arena *a)
{
    struct doc d = doc_make_map();
    doc_set(a, &d, "apiVersion", text(a, STR("resource.k8s.io/v1")));
    doc_set(a, &d, "kind", text(a, STR("ResourceClaim")));
    doc_set(a, &d, "metadata", made_meta(c, a));
    doc_set(a, &d, "spec",
            c->template ? doc_dup(a, c->template->spec) : extended_spec(c->view, a));
    return d;
}

/* ---- status ---- */

static struct str uuid(uint64_t x, uint64_t y, struct arena *a)
{
    x = (x ^ y >> 7) * 0xd6e8feb86659fd93u;
    y = (y ^ x >> 9) * 0xd6e8feb86659fd93u;
    return arena_printf(a, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(x >> 32),
                        (unsigned)(x >> 16 & 0xffff), (unsigned)(x & 0xfff),
                        (unsigned)(0x8000 | (y >> 48 & 0x3fff)),
                        (unsigned long long)(y & 0xffffffffffffu));
}

struct str claim_pod_uid(struct str namespace, struct str name, struct arena *a)
{
    return uuid(str_hash(namespace), str_hash(name), a);
}

struct str claim_share_id(const struct work_claim *c, uint32_t share, struct arena *a)
{
    uint64_t n = share + c->first_share;
    return uuid(str_hash(c->view->meta.namespace) ^ n,
                str_hash(c->view->meta.name) + 0x9e3779b97f4a7c15u * (n + 1), a);
}

static struct str share_id(void *ctx, uint32_t share, struct arena *a)
{
    return claim_share_id(ctx, share, a);
}

static void add_reservations(const struct work_claim *c, struct doc *status,
                             struct arena *a)
{
    const struct doc *have = doc_get(status, "reservedFor");
    struct doc list = have && have->type == DOC_LIST ? *have : doc_make_list();
    for (size_t i = 0; i < c->reserved.n; i++) {
        struct doc entry = doc_make_map();
        doc_set(a, &entry, "resource", text(a, STR("pods")));
        doc_set(a, &entry, "name", text(a, c->reserved.v[i].name));
        doc_set(a, &entry, "uid", text(a, c->reserved.v[i].uid));
        doc_append(a, &list, entry);
    }
    if (list.n)
        doc_set(a, status, "reservedFor", list);
}

/* The whole object: metadata, spec, status.allocation and status.reservedFor. now is the
 * allocationTimestamp of what this run allocated; empty: none is written. */
static struct doc claim_doc(const struct work_claim *c, struct str now, struct arena *a)
{
    struct doc d = c->doc ? doc_dup(a, c->doc) : made_doc(c, a);
    const struct doc *have = doc_get(&d, "status");
    struct doc status = have && have->type == DOC_MAP ? *have : doc_make_map();
    if (c->result) {
        struct doc allocation = alloc_result_doc(c->result, share_id, (void *)c, a);
        if (now.n)
            doc_set(a, &allocation, "allocationTimestamp", text(a, now));
        doc_set(a, &status, "allocation", allocation);
        add_finalizer(a, &d);
    }
    add_reservations(c, &status, a);
    doc_set(a, &d, "status", status);
    return d;
}

struct doc claim_list_doc(const struct work_claims *w, struct str now, struct arena *a)
{
    struct doc items = doc_make_list(), list = doc_make_map();
    for (size_t i = 0; i < w->list.n; i++)
        if (w->list.v[i]->result || w->list.v[i]->reserved.n)
            doc_append(a, &items, claim_doc(w->list.v[i], now, a));
    doc_set(a, &list, "apiVersion", text(a, STR("v1")));
    doc_set(a, &list, "kind", text(a, STR("List")));
    doc_set(a, &list, "items", items);
    return list;
}
