/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/calls_answer.h"

#include "grpc/dra.pb-c.h"
#include "grpc/dra_v1beta1.pb-c.h"

/* Messages take texts that end in a NUL. */
static char *text(struct str s, struct arena *a)
{
    return (char *)arena_str(a, s).p;
}

static char **texts(const struct str *v, uint32_t n, struct arena *a)
{
    char **out = ARENA_ARRAY(a, char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = text(v[i], a);
    return out;
}

static char *error_text(const struct err *e, struct arena *a)
{
    return e->code == ERR_NONE ? (char *)protobuf_c_empty_string
                               : text(str_from(err_text(e)), a);
}

/* ---- v1 ---- */

static Dra__Device *device_message(const struct driver_prepared_device *d,
                                   struct arena *a)
{
    Dra__Device *m = ARENA_ARRAY(a, Dra__Device, 1);
    dra__device__init(m);
    m->n_request_names = d->nrequests;
    m->request_names = texts(d->requests, d->nrequests, a);
    m->pool_name = text(d->pool, a);
    m->device_name = text(d->device, a);
    m->n_cdi_device_ids = d->ncdi_ids;
    m->cdi_device_ids = texts(d->cdi_ids, d->ncdi_ids, a);
    if (d->share_id.n > 0) {
        m->share_case = DRA__DEVICE__SHARE_SHARE_ID;
        m->share_id = text(d->share_id, a);
    }
    return m;
}

static Dra__NodePrepareResourceResponse *
claim_message(const struct driver_prepared *p, const struct err *e, struct arena *a)
{
    uint32_t n = e->code == ERR_NONE ? p->n : 0;
    Dra__NodePrepareResourceResponse *m =
        ARENA_ARRAY(a, Dra__NodePrepareResourceResponse, 1);
    dra__node_prepare_resource_response__init(m);
    m->error = error_text(e, a);
    m->n_devices = n;
    m->devices = ARENA_ARRAY(a, Dra__Device *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        m->devices[i] = device_message(&p->devices[i], a);
    return m;
}

static void answer_v1(struct grpc_request *r, const struct driver_claim *claims,
                      uint32_t n, const struct driver_prepared *prepared,
                      const struct err *errs, struct arena *a)
{
    typedef Dra__NodePrepareResourcesResponse__ClaimsEntry entry;
    Dra__NodePrepareResourcesResponse m = DRA__NODE_PREPARE_RESOURCES_RESPONSE__INIT;
    entry *entries = ARENA_ARRAY(a, entry, n + 1);
    m.n_claims = n;
    m.claims = ARENA_ARRAY(a, entry *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        dra__node_prepare_resources_response__claims_entry__init(&entries[i]);
        entries[i].key = text(claims[i].uid, a);
        entries[i].value = claim_message(&prepared[i], &errs[i], a);
        m.claims[i] = &entries[i];
    }
    grpc_request_answer(r, &m.base);
}

/* ---- v1beta1 ---- */

static DraV1beta1__Device *device_message_beta(const struct driver_prepared_device *d,
                                               struct arena *a)
{
    DraV1beta1__Device *m = ARENA_ARRAY(a, DraV1beta1__Device, 1);
    dra_v1beta1__device__init(m);
    m->n_request_names = d->nrequests;
    m->request_names = texts(d->requests, d->nrequests, a);
    m->pool_name = text(d->pool, a);
    m->device_name = text(d->device, a);
    m->n_cdi_device_ids = d->ncdi_ids;
    m->cdi_device_ids = texts(d->cdi_ids, d->ncdi_ids, a);
    return m;
}

static DraV1beta1__NodePrepareResourceResponse *
claim_message_beta(const struct driver_prepared *p, const struct err *e, struct arena *a)
{
    uint32_t n = e->code == ERR_NONE ? p->n : 0;
    DraV1beta1__NodePrepareResourceResponse *m =
        ARENA_ARRAY(a, DraV1beta1__NodePrepareResourceResponse, 1);
    dra_v1beta1__node_prepare_resource_response__init(m);
    m->error = error_text(e, a);
    m->n_devices = n;
    m->devices = ARENA_ARRAY(a, DraV1beta1__Device *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        m->devices[i] = device_message_beta(&p->devices[i], a);
    return m;
}

static void answer_beta(struct grpc_request *r, const struct driver_claim *claims,
                        uint32_t n, const struct driver_prepared *prepared,
                        const struct err *errs, struct arena *a)
{
    typedef DraV1beta1__NodePrepareResourcesResponse__ClaimsEntry entry;
    DraV1beta1__NodePrepareResourcesResponse m =
        DRA_V1BETA1__NODE_PREPARE_RESOURCES_RESPONSE__INIT;
    entry *entries = ARENA_ARRAY(a, entry, n + 1);
    m.n_claims = n;
    m.claims = ARENA_ARRAY(a, entry *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        dra_v1beta1__node_prepare_resources_response__claims_entry__init(&entries[i]);
        entries[i].key = text(claims[i].uid, a);
        entries[i].value = claim_message_beta(&prepared[i], &errs[i], a);
        m.claims[i] = &entries[i];
    }
    grpc_request_answer(r, &m.base);
}

/* ---- unprepare ---- */

static void answer_unprepare(struct grpc_request *r, const struct driver_claim *claims,
                             uint32_t n, const struct err *errs, struct arena *a)
{
    typedef Dra__NodeUnprepareResourcesResponse__ClaimsEntry entry;
    Dra__NodeUnprepareResourcesResponse m = DRA__NODE_UNPREPARE_RESOURCES_RESPONSE__INIT;
    entry *entries = ARENA_ARRAY(a, entry, n + 1);
    Dra__NodeUnprepareResourceResponse *values =
        ARENA_ARRAY(a, Dra__NodeUnprepareResourceResponse, n + 1);
    m.n_claims = n;
    m.claims = ARENA_ARRAY(a, entry *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        dra__node_unprepare_resources_response__claims_entry__init(&entries[i]);
        dra__node_unprepare_resource_response__init(&values[i]);
        values[i].error = error_text(&errs[i], a);
        entries[i].key = text(claims[i].uid, a);
        entries[i].value = &values[i];
        m.claims[i] = &entries[i];
    }
    grpc_request_answer(r, &m.base);
}

void driver_calls_answer(struct grpc_request *r, enum driver_call_kind kind,
                         const struct driver_claim *claims, uint32_t n,
                         const struct driver_prepared *prepared, const struct err *errs,
                         struct arena *a)
{
    if (kind == DRIVER_CALL_UNPREPARE)
        answer_unprepare(r, claims, n, errs, a);
    else if (kind == DRIVER_CALL_PREPARE_V1BETA1)
        answer_beta(r, claims, n, prepared, errs, a);
    else
        answer_v1(r, claims, n, prepared, errs, a);
}
