/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each driver is asked once for all of its claims, all drivers at the same time. When one
 * fails the others are waited for, and the first of them that failed, in the order of the
 * claims, is told of: the next try asks all of them anew.
 */
#include <stdlib.h>

#include "grpc/dra.pb-c.h"
#include "grpc/dra_v1beta1.pb-c.h"
#include "grpc/grpc.h"
#include "node/claims_inner.h"

enum { CALL_MS = 45 * 1000 };

static const char *operation(const struct node_claims_task *t)
{
    return t->unprepare ? "NodeUnprepareResources" : "NodePrepareResources";
}

/* As Go's library names them. */
static const char *status_name(enum grpc_status s)
{
    static const char *const NAMES[GRPC_NSTATUSES] = {"OK",
                                                      "Canceled",
                                                      "Unknown",
                                                      "InvalidArgument",
                                                      "DeadlineExceeded",
                                                      "NotFound",
                                                      "AlreadyExists",
                                                      "PermissionDenied",
                                                      "ResourceExhausted",
                                                      "FailedPrecondition",
                                                      "Aborted",
                                                      "OutOfRange",
                                                      "Unimplemented",
                                                      "Internal",
                                                      "Unavailable",
                                                      "DataLoss",
                                                      "Unauthenticated"};
    return NAMES[s];
}

/* ---- answers, of whichever version ---- */

struct result { /* of a claim */
    const char *uid, *error;
    const struct checkpoint_device *devices;
    uint32_t ndevices;
};

static const struct str *texts_of(char *const *v, size_t n, struct arena *a)
{
    struct str *out = ARENA_ARRAY(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = str_from(v[i]);
    return out;
}

/* The two messages have the same names for what they have both. */
#define READ_DEVICE(from, a)                                                             \
    {                                                                                    \
        .pool = str_from((from)->pool_name), .device = str_from((from)->device_name),    \
        .requests = texts_of((from)->request_names, (from)->n_request_names, a),         \
        .nrequests = (uint32_t)(from)->n_request_names,                                  \
        .cdi_ids = texts_of((from)->cdi_device_ids, (from)->n_cdi_device_ids, a),        \
        .ncdi_ids = (uint32_t)(from)->n_cdi_device_ids                                   \
    }

static struct result read_v1(const Dra__NodePrepareResourcesResponse__ClaimsEntry *x,
                             struct arena *a)
{
    const Dra__NodePrepareResourceResponse *m = x->value;
    size_t n = m ? m->n_devices : 0;
    struct checkpoint_device *v = ARENA_ARRAY(a, struct checkpoint_device, n + 1);
    for (size_t i = 0; i < n; i++) {
        const Dra__Device *d = m->devices[i];
        v[i] = (struct checkpoint_device)READ_DEVICE(d, a);
        v[i].has_share_id = d->share_case == DRA__DEVICE__SHARE_SHARE_ID;
        if (v[i].has_share_id)
            v[i].share_id = str_from(d->share_id);
    }
    return (struct result){x->key, m ? m->error : "", v, (uint32_t)n};
}

static struct result
read_v1beta1(const DraV1beta1__NodePrepareResourcesResponse__ClaimsEntry *x,
             struct arena *a)
{
    const DraV1beta1__NodePrepareResourceResponse *m = x->value;
    size_t n = m ? m->n_devices : 0;
    struct checkpoint_device *v = ARENA_ARRAY(a, struct checkpoint_device, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct checkpoint_device)READ_DEVICE(m->devices[i], a);
    return (struct result){x->key, m ? m->error : "", v, (uint32_t)n};
}

static uint32_t read_results(const struct claim_batch *b, const ProtobufCMessage *answer,
                             struct arena *a, struct result **out)
{
    const Dra__NodePrepareResourcesResponse *v1 = (const void *)answer;
    const DraV1beta1__NodePrepareResourcesResponse *old = (const void *)answer;
    const Dra__NodeUnprepareResourcesResponse *un = (const void *)answer;
    size_t n = b->task->unprepare    ? un->n_claims
               : b->dra == PLUGIN_V1 ? v1->n_claims
                                     : old->n_claims;
    struct result *v = ARENA_ARRAY(a, struct result, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!b->task->unprepare)
            v[i] = b->dra == PLUGIN_V1 ? read_v1(v1->claims[i], a)
                                       : read_v1beta1(old->claims[i], a);
        else
            v[i] = (struct result){
                .uid = un->claims[i]->key,
                .error = un->claims[i]->value ? un->claims[i]->value->error : ""};
    }
    *out = v;
    return (uint32_t)n;
}

/* ---- what they mean ---- */

static const struct checkpoint_claim *find_asked(const struct claim_batch *b,
                                                 const char *uid)
{
    for (size_t i = 0; i < b->claims.n; i++)
        if (str_is(b->claims.v[i]->uid, uid))
            return b->claims.v[i];
    return NULL;
}

static bool keep_devices(struct claim_batch *b, const struct checkpoint_claim *claim,
                         const struct result *r)
{
    struct node_claims *c = b->task->claims;
    struct claim_entry *x = cache_find(c, claim->namespace, claim->name);
    if (!x || !str_eq(x->uid, claim->uid))
        return err_set(&b->why, ERR_INTERNAL,
                       "internal error: unable to get claim info for ResourceClaim %.*s "
                       "in namespace %.*s",
                       STR_ARG(claim->name), STR_ARG(claim->namespace));
    cache_set_devices(c, x, b->driver, r->devices, r->ndevices);
    return true;
}

static bool take_result(struct claim_batch *b, const struct result *r)
{
    const struct checkpoint_claim *claim = find_asked(b, r->uid);
    const char *what = operation(b->task);
    if (!claim)
        return err_set(&b->why, ERR_INVALID,
                       "%s returned result for unknown claim UID %s", what, r->uid);
    if (*r->error)
        return err_set(&b->why, ERR_INVALID, "%s failed for ResourceClaim %.*s: %s", what,
                       STR_ARG(claim->name), r->error);
    return b->task->unprepare || keep_devices(b, claim, r);
}

/* A map holds a key once; on the wire the last of equal ones counts. */
static bool is_repeated(const struct result *v, uint32_t n, uint32_t i)
{
    for (uint32_t k = i + 1; k < n; k++)
        if (strcmp(v[k].uid, v[i].uid) == 0)
            return true;
    return false;
}

static void take_answer(struct claim_batch *b, const ProtobufCMessage *answer)
{
    struct arena a = {0};
    struct result *v;
    uint32_t n = read_results(b, answer, &a, &v), taken = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        if (is_repeated(v, n, i))
            continue;
        ok = take_result(b, &v[i]);
        taken++;
    }
    if (ok && taken < b->claims.n)
        err_set(&b->why, ERR_INVALID, "%s skipped %zu ResourceClaims", operation(b->task),
                b->claims.n - taken);
    arena_fini(&a);
}

/* ---- calls ---- */

static void batch_over(struct claim_batch *b)
{
    struct node_claims_task *t = b->task;
    if (--t->waiting > 0)
        return;
    for (uint32_t i = 0; i < t->nbatches && t->why.code == ERR_NONE; i++) {
        struct err *why = &t->batches[i].why;
        if (why->code != ERR_NONE)
            err_set(&t->why, why->code, "%s", err_text(why));
    }
    calls_over(t);
}

static void on_answered(void *ctx, ProtobufCMessage *answer, const struct grpc_end *end)
{
    struct claim_batch *b = ctx;
    b->ask = NULL;
    if (answer) {
        take_answer(b, answer);
        protobuf_c_message_free_unpacked(answer, NULL);
    } else {
        err_set(&b->why, ERR_IO, "%s: rpc error: code = %s desc = %.*s",
                operation(b->task), status_name(end->status), STR_ARG(end->message));
    }
    batch_over(b);
}

static Dra__Claim **claim_messages(const struct claim_batch *b, struct arena *a)
{
    Dra__Claim **out = ARENA_ARRAY(a, Dra__Claim *, b->claims.n + 1);
    for (size_t i = 0; i < b->claims.n; i++) {
        const struct checkpoint_claim *x = b->claims.v[i];
        out[i] = ARENA_NEW(a, Dra__Claim);
        dra__claim__init(out[i]);
        out[i]->namespace_ = (char *)arena_str(a, x->namespace).p;
        out[i]->name = (char *)arena_str(a, x->name).p;
        out[i]->uid = (char *)arena_str(a, x->uid).p;
    }
    return out;
}

static const ProtobufCMessageDescriptor *answer_type(const struct claim_batch *b)
{
    if (b->task->unprepare)
        return &dra__node_unprepare_resources_response__descriptor;
    return b->dra == PLUGIN_V1
               ? &dra__node_prepare_resources_response__descriptor
               : &dra_v1beta1__node_prepare_resources_response__descriptor;
}

static const char *method(const struct claim_batch *b)
{
    return arena_printf(&b->task->arena, "/k8s.io.kubelet.pkg.apis.dra.%s.DRAPlugin/%s",
                        b->dra == PLUGIN_V1 ? "v1" : "v1beta1", operation(b->task))
        .p;
}

/* Both requests are a list of claims under the same number. */
static bool call_driver(struct claim_batch *b, struct plugin *p)
{
    struct node_claims_task *t = b->task;
    struct net_client *client = plugin_connection(p);
    Dra__NodePrepareResourcesRequest q = DRA__NODE_PREPARE_RESOURCES_REQUEST__INIT;
    b->dra = plugin_dra(p);
    q.n_claims = b->claims.n;
    q.claims = claim_messages(b, &t->arena);
    struct grpc_opts opts = {.method = method(b), .timeout_ms = CALL_MS};
    if (client)
        b->ask = grpc_ask(client, &opts, &q.base, answer_type(b), on_answered, b);
    if (b->ask)
        return true;
    return err_set(&b->why, ERR_IO, "%s: rpc error: code = Unavailable desc = %s",
                   operation(t), "the driver's endpoint cannot be connected to");
}

static void ask_driver(struct claim_batch *b)
{
    struct plugin *p = plugins_find(b->task->claims->opts.plugins, b->driver);
    if (!p)
        err_set(&b->why, ERR_NOT_FOUND, "DRA driver %.*s is not registered",
                STR_ARG(b->driver));
    else if (call_driver(b, p))
        b->task->waiting++;
}

/* ---- batches ---- */

static struct claim_batch *batch_of(struct node_claims_task *t, struct str driver)
{
    for (uint32_t i = 0; i < t->nbatches; i++)
        if (str_eq(t->batches[i].driver, driver))
            return &t->batches[i];
    struct claim_batch *b = &t->batches[t->nbatches++];
    *b = (struct claim_batch){.task = t, .driver = driver};
    return b;
}

static uint32_t count_drivers(const struct node_claims_task *t)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->begun.n; i++)
        n += t->begun.v[i]->ndrivers;
    return n;
}

static void make_batches(struct node_claims_task *t)
{
    t->batches = ARENA_ARRAY(&t->arena, struct claim_batch, count_drivers(t) + 1);
    for (size_t i = 0; i < t->begun.n; i++) {
        const struct checkpoint_claim *x = t->begun.v[i];
        for (uint32_t k = 0; k < x->ndrivers; k++) {
            struct claim_driver skips = {.skipped = x->drivers[k].skipped,
                                         .nskipped = x->drivers[k].nskipped};
            if (claim_driver_skips(&skips, operation(t)))
                continue;
            struct claim_batch *b = batch_of(t, x->drivers[k].name);
            vec_push_in(&t->arena, &b->claims, x);
        }
    }
}

static void on_soon(void *ctx)
{
    struct node_claims_task *t = ctx;
    struct claim_batch last = {.task = t};
    t->soon = NULL;
    t->waiting = 1; /* for this very loop */
    for (uint32_t i = 0; i < t->nbatches; i++)
        ask_driver(&t->batches[i]);
    batch_over(&last);
}

void calls_start(struct node_claims_task *t)
{
    make_batches(t);
    t->soon = net_timer_start(t->claims->loop, 0, 0, on_soon, t);
}

void calls_cancel(struct node_claims_task *t)
{
    for (uint32_t i = 0; i < t->nbatches; i++) {
        if (t->batches[i].ask)
            grpc_ask_cancel(t->batches[i].ask);
        err_release(&t->batches[i].why);
    }
}
