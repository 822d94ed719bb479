/* SPDX-License-Identifier: Apache-2.0 */
/* Extended resources that device classes serve (spec 7.9, KEP-5004): a claim of the
 * scheduler's own stands for them. */
#include <stdlib.h>

#include "base/mem.h"
#include "net/pki.h"
#include "sched/dra_inner.h"

/* ---- what the pod wants ---- */

/* A name with a domain that is not Kubernetes' own; or one that names a class. */
bool dra_is_extended_name(struct str resource)
{
    static const struct str IMPLICIT = {"deviceclass.resource.kubernetes.io/", 35},
                            REQUESTS = {"requests.", 9}, OWN = {"kubernetes.io/", 14};
    if (str_starts(resource, IMPLICIT))
        return true;
    return str_find_byte(resource, '/', 0) != SIZE_MAX &&
           str_find(resource, OWN) == SIZE_MAX && !str_starts(resource, REQUESTS);
}

struct amounts dra_extended_wants(struct dra *d, const struct view_pod *pod,
                                  struct arena *a)
{
    uint32_t n;
    bool served = false;
    const struct view_amount *all = view_pod_requests(pod, a, &n);
    struct amounts out = {.a = a};
    for (uint32_t i = 0; i < n && out.n < DRA_EXTENDED_MAX; i++) {
        if (!dra_is_extended_name(all[i].name) || quantity_sign(&all[i].value) <= 0)
            continue;
        amounts_set(&out, all[i].name, all[i].value);
        served |= dra_serving_class(d, all[i].name) != NULL;
    }
    out.n = served ? out.n : 0;
    return out;
}

/* ---- the claim ---- */

void dra_special_owner(struct index *x, const struct object *claim)
{
    const struct doc *owners = doc_path(claim->doc, "metadata.ownerReferences");
    const struct doc *notes = doc_path(claim->doc, "metadata.annotations");
    if (!doc_is_string(doc_get(notes, DRA_EXTENDED_NOTE), "true"))
        return;
    for (uint32_t i = 0; owners && owners->type == DOC_LIST && i < owners->n; i++) {
        bool controller = false;
        doc_get_bool(&owners->items[i], "controller", &controller);
        if (controller)
            index_emit(x, doc_get_text(&owners->items[i], "uid"));
    }
}

static struct object *existing(struct dra *d, const struct object *pod)
{
    uint32_t n;
    const struct str *keys = index_find(&d->special, pod->uid, &n);
    for (uint32_t i = 0; i < n; i++) {
        size_t slash = str_find_byte(keys[i], '/', 0);
        struct object *o = dra_known(d, str_sub(keys[i], 0, slash),
                                     str_sub(keys[i], slash + 1, SIZE_MAX));
        if (o && str_eq(o->namespace, pod->namespace))
            return object_ref(o);
    }
    return NULL;
}

static struct doc owner_of(const struct object *pod, struct arena *a)
{
    struct doc d = doc_make_map(), list = doc_make_list();
    doc_set_text(a, &d, "apiVersion", STR("v1"));
    doc_set_text(a, &d, "kind", STR("Pod"));
    doc_set_text(a, &d, "name", pod->name);
    doc_set_text(a, &d, "uid", pod->uid);
    doc_set(a, &d, "controller", doc_make_bool(true));
    doc_append(a, &list, d);
    return list;
}

static struct doc special_doc(const struct object *pod, struct arena *a)
{
    struct doc d = doc_make_map(), meta = doc_make_map(), notes = doc_make_map();
    doc_set_text(a, &notes, DRA_EXTENDED_NOTE, STR("true"));
    doc_set_text(a, &meta, "name", DRA_SPECIAL_NAME);
    doc_set_text(a, &meta, "namespace", pod->namespace);
    doc_set_text(a, &meta, "uid", pki_random_uuid(a));
    doc_set_text(a, &meta, "generateName",
                 arena_printf(a, "%.*s-extended-resources-", STR_ARG(pod->name)));
    doc_set(a, &meta, "annotations", notes);
    doc_set(a, &meta, "ownerReferences", owner_of(pod, a));
    doc_set_text(a, &d, "apiVersion", STR("resource.k8s.io/v1"));
    doc_set_text(a, &d, "kind", STR("ResourceClaim"));
    doc_set(a, &d, "metadata", meta);
    doc_set(a, &d, "spec", doc_make_map());
    return d;
}

struct object *dra_extended_claim(struct dra *d, const struct object *pod,
                                  struct arena *a)
{
    struct object *o = existing(d, pod);
    if (o)
        return o;
    struct doc doc = special_doc(pod, a);
    return object_of_doc(&doc, &dra_claim_opts, NULL);
}

/* ---- requests and mappings (spec 7.9.3) ---- */

struct ext_request { /* of one container for one resource */
    struct str name; /* empty: none */
    int64_t count;
};

struct extended {
    struct arena *a;
    const struct view_pod *pod;
    struct str resource, class;
    struct ext_request *own; /* of containers that stay, by container */
    struct doc *requests;
    struct doc stay, start;  /* mappings of containers that stay, and that only start */
    struct ext_request most; /* of those that only start */
};

static uint32_t count(const struct view_pod *p)
{
    return p->ninit_containers + p->ncontainers;
}

/* Init containers are numbered first. */
static const struct view_container *container(const struct view_pod *p, uint32_t i)
{
    return i < p->ninit_containers ? &p->init_containers[i]
                                   : &p->containers[i - p->ninit_containers];
}

static bool stays(const struct view_pod *p, uint32_t i)
{
    return i >= p->ninit_containers || p->init_containers[i].restarts;
}

static int64_t wanted(const struct extended *x, uint32_t i, uint32_t *at)
{
    const struct view_container *c = container(x->pod, i);
    int64_t v = 0;
    for (*at = 0; *at < c->nrequests; (*at)++)
        if (str_eq(c->requests[*at].name, x->resource))
            return quantity_as_int64(&c->requests[*at].value, &v) ? v : 0;
    return 0;
}

static void map(struct extended *x, struct doc *list, uint32_t i, struct str request)
{
    struct doc d = doc_make_map();
    doc_set_text(x->a, &d, "containerName", container(x->pod, i)->name);
    doc_set_text(x->a, &d, "resourceName", x->resource);
    doc_set_text(x->a, &d, "requestName", request);
    doc_append(x->a, list, d);
}

static struct ext_request request_for(struct extended *x, uint32_t i, uint32_t at,
                                      int64_t n)
{
    return (struct ext_request){arena_printf(x->a, "container-%u-request-%u", i, at), n};
}

static void add_request(struct extended *x, const struct ext_request *r)
{
    struct doc d = doc_make_map(), exactly = doc_make_map();
    if (!r->name.n)
        return;
    doc_set_text(x->a, &exactly, "deviceClassName", x->class);
    doc_set_text(x->a, &exactly, "allocationMode", STR("ExactCount"));
    doc_set(x->a, &exactly, "count", doc_make_int(x->a, r->count));
    doc_set_text(x->a, &d, "name", r->name);
    doc_set(x->a, &d, "exactly", exactly);
    doc_append(x->a, x->requests, d);
}

static void add_staying(struct extended *x, uint32_t i)
{
    uint32_t at;
    int64_t n = wanted(x, i, &at);
    if (n == 0)
        return;
    x->own[i] = request_for(x, i, at, n);
    map(x, &x->stay, i, x->own[i].name);
}

/* One that only starts may use what those have that come up later; of what is missing,
 * the most of all such containers is asked for, as they run one after another. */
static void add_starting(struct extended *x, uint32_t i)
{
    uint32_t at;
    int64_t n = wanted(x, i, &at);
    if (n == 0)
        return;
    for (uint32_t k = i; k < count(x->pod); k++) {
        if (!x->own[k].name.n)
            continue;
        map(x, &x->start, i, x->own[k].name);
        n -= x->own[k].count;
        if (n <= 0)
            return;
    }
    map(x, &x->start, i, STR_NONE); /* of the largest, once it is known */
    if (n > x->most.count)
        x->most = request_for(x, i, at, n);
}

static void add_resource(struct extended *x)
{
    memset(x->own, 0, count(x->pod) * sizeof *x->own);
    x->most = (struct ext_request){0};
    x->stay = x->start = doc_make_list();
    for (uint32_t i = 0; i < count(x->pod); i++)
        if (stays(x->pod, i))
            add_staying(x, i);
    for (uint32_t i = 0; i < count(x->pod); i++)
        if (!stays(x->pod, i))
            add_starting(x, i);
    add_request(x, &x->most);
    for (uint32_t i = 0; i < count(x->pod); i++)
        add_request(x, &x->own[i]);
}

static void append_all(struct extended *x, struct doc *to, const struct doc *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        if (!doc_get_text(&from->items[i], "requestName").n)
            doc_set_text(x->a, &from->items[i], "requestName", x->most.name);
        doc_append(x->a, to, from->items[i]);
    }
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(doc_get_text(a, "name"), doc_get_text(b, "name"));
}

void dra_extended_requests(struct dra *d, const struct view_pod *pod,
                           const struct view_strs *names, struct arena *a,
                           struct doc *requests, struct doc *mappings)
{
    struct extended x = {.a = a, .pod = pod, .requests = requests};
    x.own = ARENA_ARRAY(a, struct ext_request, count(pod) + 1);
    *requests = *mappings = doc_make_list();
    for (uint32_t i = 0; i < names->n; i++) {
        const struct view_class *class = dra_serving_class(d, names->v[i]);
        if (!class)
            continue;
        x.resource = names->v[i];
        x.class = class->meta.name;
        add_resource(&x);
        append_all(&x, mappings, &x.stay);
        append_all(&x, mappings, &x.start);
    }
    if (requests->n)
        qsort(requests->items, requests->n, sizeof *requests->items, by_name);
}
