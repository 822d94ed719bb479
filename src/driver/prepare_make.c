/* SPDX-License-Identifier: Apache-2.0 */
/* Making true on the devices and in files what an entry says, and taking it back. */
#include "api/claim_refs.h"
#include "driver/attributes.h"
#include "driver/prepare_inner.h"
#include "node/disk.h"

/* ---- devices ---- */

static bool find_by_name(const struct driver_prepare *p, struct prepare_use *u,
                         struct err *e)
{
    struct strmap_entry *at = strmap_find(&p->by_name, u->device);
    if (!at)
        return err_set(e, ERR_NOT_FOUND, "there is no device %.*s (any more)",
                       STR_ARG(u->device));
    u->found = at->value.ptr;
    u->identity = prepare_identity(u->found);
    u->shared = u->found->shared || u->share_id.n > 0;
    return true;
}

/* Whoever has a device keeps it, under whatever name and number it is found. */
static bool find_again(const struct driver_prepare *p, struct prepare_use *u,
                       struct err *e)
{
    u->found = prepare_device(p, u->identity);
    return u->found != NULL ||
           err_set(e, ERR_NOT_FOUND,
                   "device %.*s (%.*s), which the claim holds, is gone: delete the pod, "
                   "so that its successor gets another",
                   STR_ARG(u->device), STR_ARG(u->identity));
}

bool prepare_find_devices(struct driver_prepare *p, struct prepare_entry *x,
                          struct err *e)
{
    if (!p->inventory)
        return err_set(e, ERR_NOT_FOUND, "no devices were looked for yet");
    for (uint32_t i = 0; i < x->n; i++) {
        struct prepare_use *u = &x->uses[i];
        if (!(u->identity.n > 0 ? find_again : find_by_name)(p, u, e))
            return false;
    }
    return true;
}

/* ---- the back end ---- */

static struct driver_use use_of(const struct prepare_entry *x,
                                const struct prepare_use *u)
{
    return (struct driver_use){
        .device = u->found,
        .claim_uid = x->uid,
        .request = u->request,
        .share_id = u->share_id,
        .admin = u->admin,
        .configs = u->configs,
        .nconfigs = u->nconfigs,
        .consumed = u->consumed,
        .nconsumed = u->nconsumed,
    };
}

bool prepare_check_configs(struct driver_prepare *p, const struct prepare_entry *x,
                           struct err *e)
{
    const struct driver_backend_ops *ops = p->backend->ops;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct driver_use use = use_of(x, &x->uses[i]);
        bool ok = ops->check
                      ? ops->check(p->backend, &use, e)
                      : use.nconfigs == 0 ||
                            err_set(e, ERR_INVALID, "this driver takes no configuration");
        if (!ok)
            return err_wrap(e, "request %.*s, device %.*s", STR_ARG(use.request),
                            STR_ARG(x->uses[i].device));
    }
    return true;
}

/* A name that no other claim has, and that this one has once. */
static struct str cdi_name_of(const struct prepare_entry *x, uint32_t i, struct arena *a)
{
    struct str device = x->uses[i].device;
    for (uint32_t j = 0; j < i; j++) {
        if (str_eq(x->uses[j].device, device))
            return arena_printf(a, "%.*s_%.*s_%u", STR_ARG(x->uid), STR_ARG(device), i);
    }
    return arena_printf(a, "%.*s_%.*s", STR_ARG(x->uid), STR_ARG(device));
}

static bool make_use(struct driver_prepare *p, struct prepare_entry *x, uint32_t i,
                     struct arena *a, struct cdi_spec *spec, struct err *e)
{
    struct prepare_use *u = &x->uses[i];
    const struct driver_use use = use_of(x, u);
    struct cdi_edits edits = u->found->edits;
    if (p->backend->ops->prepare &&
        !p->backend->ops->prepare(p->backend, &use, a, &edits, &u->state, e))
        return false;
    if (!prepare_check_nodes(p, &edits, e))
        return false;
    u->cdi_name = cdi_edits_empty(&edits) ? STR_NONE : cdi_name_of(x, i, a);
    if (u->cdi_name.n > 0)
        spec->devices[spec->ndevices++] =
            (struct cdi_device){.name = u->cdi_name, .edits = edits};
    return true;
}

static bool make_devices(struct driver_prepare *p, struct prepare_entry *x,
                         struct arena *a, struct err *e)
{
    struct cdi_spec spec = {.kind = p->kind,
                            .devices = ARENA_ARRAY(a, struct cdi_device, x->n)};
    for (uint32_t i = 0; i < x->n; i++) {
        if (!make_use(p, x, i, a, &spec, e))
            return err_wrap(e, "request %.*s, device %.*s", STR_ARG(x->uses[i].request),
                            STR_ARG(x->uses[i].device));
    }
    /* Somebody may have cleaned up. */
    return disk_make_dirs(p->cdi_dir, e) && prepare_cdi_write(p, x->uid, &spec, a, e);
}

/* ---- metadata (spec 5.10) ---- */

static bool is_first(const struct prepare_entry *x, uint32_t i,
                     struct str (*part)(struct str))
{
    for (uint32_t j = 0; j < i; j++) {
        if (str_eq(part(x->uses[j].request), part(x->uses[i].request)))
            return false;
    }
    return true;
}

static struct str whole(struct str request)
{
    return request;
}

static struct metadata_request request_of(const struct driver_prepare *p,
                                          const struct prepare_entry *x, uint32_t i,
                                          struct arena *a)
{
    struct metadata_device *v = ARENA_ARRAY(a, struct metadata_device, x->n);
    struct metadata_request r = {.name = x->uses[i].request, .devices = v};
    for (uint32_t j = i; j < x->n; j++) {
        const struct prepare_use *u = &x->uses[j];
        if (str_eq(u->request, r.name))
            v[r.n++] = (struct metadata_device){
                .driver = p->o.driver,
                .pool = u->pool,
                .name = u->device,
                .attributes = driver_attributes_doc(u->found, a),
            };
    }
    return r;
}

/* The first device of a request carries the name of its metadata. */
static void name_metadata(struct prepare_entry *x, struct str request, struct str id)
{
    for (uint32_t i = 0; i < x->n; i++) {
        struct prepare_use *u = &x->uses[i];
        if (is_first(x, i, claim_ref_request_base) &&
            str_eq(claim_ref_request_base(u->request), claim_ref_request_base(request)))
            u->metadata_id = id;
    }
}

/* A claim is prepared without the files when they cannot be written; people are told. */
static void make_metadata(struct driver_prepare *p, struct prepare_entry *x,
                          struct arena *a)
{
    struct metadata m = {.namespace = x->namespace,
                         .name = x->name,
                         .uid = x->uid,
                         .has_pod_claim = x->has_pod_claim,
                         .pod_claim = x->pod_claim,
                         .generation = 1,
                         .n = 1};
    x->metadata |= p->place.nversions > 0;
    for (uint32_t i = 0; p->place.nversions > 0 && i < x->n; i++) {
        if (!is_first(x, i, whole))
            continue;
        struct metadata_request r = request_of(p, x, i, a);
        struct str id;
        struct err e = ERR_INIT;
        m.requests = &r;
        if (metadata_write(&p->place, &m, a, &id, &e))
            name_metadata(x, r.name, id);
        else
            prepare_complain(p, "metadata of claim %.*s/%.*s: %s", STR_ARG(x->namespace),
                             STR_ARG(x->name), err_text(&e));
        err_release(&e);
    }
}

/* ---- the whole ---- */

bool prepare_make(struct driver_prepare *p, struct prepare_entry *x, struct arena *a,
                  struct err *e)
{
    if (!make_devices(p, x, a, e))
        return false;
    make_metadata(p, x, a);
    return true;
}

static struct driver_prepared_device
answer_use(const struct driver_prepare *p, const struct prepare_use *u, struct arena *a)
{
    struct str *texts = ARENA_ARRAY(a, struct str, 3);
    struct driver_prepared_device d = {.pool = u->pool,
                                       .device = u->device,
                                       .share_id = u->share_id,
                                       .requests = texts,
                                       .nrequests = 1,
                                       .cdi_ids = texts + 1};
    texts[0] = claim_ref_request_base(u->request);
    if (u->cdi_name.n > 0)
        d.cdi_ids[d.ncdi_ids++] =
            arena_printf(a, "%.*s=%.*s", STR_ARG(p->kind), STR_ARG(u->cdi_name));
    if (u->metadata_id.n > 0)
        d.cdi_ids[d.ncdi_ids++] = u->metadata_id;
    return d;
}

void prepare_answer(const struct driver_prepare *p, const struct prepare_entry *x,
                    struct arena *a, struct driver_prepared *out)
{
    out->devices = ARENA_ARRAY(a, struct driver_prepared_device, x->n);
    out->n = x->n;
    for (uint32_t i = 0; i < x->n; i++)
        out->devices[i] = answer_use(p, &x->uses[i], a);
}

static bool unmake_use(struct driver_prepare *p, const struct prepare_entry *x,
                       const struct prepare_use *u, struct err *e)
{
    const struct driver_undo undo = {
        .identity = u->identity,
        .device = u->device,
        .claim_uid = x->uid,
        .share_id = u->share_id,
        .state = u->state,
        .admin = u->admin,
        .last = prepare_holds_last(&p->holds, x->uid, u->identity),
        .cut_short = x->hold == DRIVER_PREPARING,
    };
    return !p->backend->ops->unprepare ||
           p->backend->ops->unprepare(p->backend, &undo, e) ||
           err_wrap(e, "request %.*s, device %.*s", STR_ARG(u->request),
                    STR_ARG(u->device));
}

bool prepare_unmake(struct driver_prepare *p, const struct prepare_entry *x,
                    struct err *e)
{
    if (!prepare_cdi_remove(p, x->uid, e))
        return false;
    if (x->metadata && !metadata_remove(&p->place, x->namespace, x->name, x->uid, e))
        return false;
    for (uint32_t i = x->n; i-- > 0;) {
        if (!unmake_use(p, x, &x->uses[i], e))
            return false;
    }
    return true;
}
