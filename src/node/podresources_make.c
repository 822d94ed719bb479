/* SPDX-License-Identifier: Apache-2.0 */
#include "node/podresources_make.h"

#include "api/claim_refs.h"
#include "base/vec.h"

static uint32_t length(const struct doc *d)
{
    return d && d->type == DOC_LIST ? d->n : 0;
}

static char *text(struct str s, struct arena *a)
{
    return (char *)arena_str(a, s).p;
}

/* ---- a claim ---- */

struct making {
    struct arena *a;
    VEC(Podresources__ClaimResource *) devices;
};

static void set_ids(Podresources__ClaimResource *m, const struct checkpoint_device *d,
                    struct arena *a)
{
    m->n_cdi_devices = d->ncdi_ids;
    m->cdi_devices = ARENA_ARRAY(a, Podresources__CDIDevice *, d->ncdi_ids + 1);
    for (uint32_t i = 0; i < d->ncdi_ids; i++) {
        m->cdi_devices[i] = ARENA_NEW(a, Podresources__CDIDevice);
        podresources__cdidevice__init(m->cdi_devices[i]);
        m->cdi_devices[i]->name = text(d->cdi_ids[i], a);
    }
}

static void add_device(void *ctx, struct str driver, const struct checkpoint_device *d,
                       const struct str *pods, uint32_t npods)
{
    struct making *x = ctx;
    Podresources__ClaimResource *m = ARENA_NEW(x->a, Podresources__ClaimResource);
    podresources__claim_resource__init(m);
    m->driver_name = text(driver, x->a);
    m->pool_name = text(d->pool, x->a);
    m->device_name = text(d->device, x->a);
    if (d->has_share_id) {
        m->share_case = PODRESOURCES__CLAIM_RESOURCE__SHARE_SHARE_ID;
        m->share_id = text(d->share_id, x->a);
    }
    set_ids(m, d, x->a);
    vec_push_in(x->a, &x->devices, m);
}

/* NULL: the claim is not prepared. */
static Podresources__DynamicResource *make_claim(const struct node_claims *c,
                                                 struct str namespace, struct str name,
                                                 struct arena *a)
{
    struct making x = {.a = a};
    if (!node_claims_each_device(c, namespace, name, add_device, &x))
        return NULL;
    Podresources__DynamicResource *m = ARENA_NEW(a, Podresources__DynamicResource);
    podresources__dynamic_resource__init(m);
    m->claim_namespace = text(namespace, a);
    m->claim_name = text(name, a);
    m->n_claim_resources = x.devices.n;
    m->claim_resources = x.devices.v;
    return m;
}

/* ---- a container ---- */

struct names {
    struct arena *a;
    VEC(struct str) v; /* of claims */
};

static bool refers_to(const struct doc *container, struct str claim)
{
    const struct doc *refs = doc_path(container, "resources.claims");
    for (uint32_t i = 0; i < length(refs); i++)
        if (str_eq(doc_get_text(&refs->items[i], "name"), claim))
            return true;
    return false;
}

static void find_claims(const struct doc *pod, const struct doc *container,
                        struct names *out)
{
    const struct doc *list = doc_path(pod, "spec.resourceClaims");
    for (uint32_t i = 0; i < length(list); i++) {
        struct str name;
        if (!refers_to(container, doc_get_text(&list->items[i], "name")))
            continue;
        enum claim_known known = claim_ref_name(pod, &list->items[i], &name);
        if (known == CLAIM_NAMED || known == CLAIM_GENERATED)
            vec_push_in(out->a, &out->v, name);
    }
}

/* The claim that was made for resources by name, if the container has a part in it. */
static void find_extended(const struct doc *pod, const struct doc *container,
                          struct names *out)
{
    const struct doc *status = doc_path(pod, "status.extendedResourceClaimStatus");
    const struct doc *maps = doc_get(status, "requestMappings");
    for (uint32_t i = 0; i < length(maps); i++) {
        if (!str_eq(doc_get_text(&maps->items[i], "containerName"),
                    doc_get_text(container, "name")))
            continue;
        vec_push_in(out->a, &out->v, doc_get_text(status, "resourceClaimName"));
        return;
    }
}

/* Of a container one of whose claims is not prepared, nothing is said. */
static void set_claims(const struct node_claims *c, const struct doc *pod,
                       const struct doc *container, struct arena *a,
                       Podresources__ContainerResources *m)
{
    struct names names = {.a = a};
    find_claims(pod, container, &names);
    find_extended(pod, container, &names);
    m->dynamic_resources = ARENA_ARRAY(a, Podresources__DynamicResource *, names.v.n + 1);
    for (size_t i = 0; i < names.v.n; i++) {
        m->dynamic_resources[i] = make_claim(
            c, doc_get_text(doc_get(pod, "metadata"), "namespace"), names.v.v[i], a);
        if (!m->dynamic_resources[i]) {
            m->n_dynamic_resources = 0;
            return;
        }
        m->n_dynamic_resources++;
    }
}

static Podresources__ContainerResources *make_container(const struct node_claims *c,
                                                        const struct doc *pod,
                                                        const struct doc *container,
                                                        struct arena *a)
{
    Podresources__ContainerResources *m = ARENA_NEW(a, Podresources__ContainerResources);
    podresources__container_resources__init(m);
    m->name = text(doc_get_text(container, "name"), a);
    if (c)
        set_claims(c, pod, container, a, m);
    return m;
}

/* ---- a pod ---- */

Podresources__PodResources *podresources_make(const struct node_claims *claims,
                                              const struct doc *pod, struct arena *a)
{
    const struct doc *init = doc_path(pod, "spec.initContainers"),
                     *main = doc_path(pod, "spec.containers");
    Podresources__PodResources *m = ARENA_NEW(a, Podresources__PodResources);
    podresources__pod_resources__init(m);
    m->name = text(doc_get_text(doc_get(pod, "metadata"), "name"), a);
    m->namespace_ = text(doc_get_text(doc_get(pod, "metadata"), "namespace"), a);
    m->containers = ARENA_ARRAY(a, Podresources__ContainerResources *,
                                (size_t)length(init) + length(main) + 1);
    for (uint32_t i = 0; i < length(init); i++) /* those that stay */
        if (claims && doc_is_string(doc_get(&init->items[i], "restartPolicy"), "Always"))
            m->containers[m->n_containers++] =
                make_container(claims, pod, &init->items[i], a);
    for (uint32_t i = 0; i < length(main); i++)
        m->containers[m->n_containers++] =
            make_container(claims, pod, &main->items[i], a);
    return m;
}
