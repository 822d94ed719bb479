/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call is one struct from its arrival to its answer. It is in the list of those whose
 * claims are being read, then in the queue, then in a batch on the worker; one batch runs
 * at a time and is the run of calls of one kind at the queue's front.
 */
#include "driver/calls.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/names.h"
#include "driver/calls_answer.h"
#include "driver/fetch.h"
#include "driver/lock.h"
#include "grpc/dra.pb-c.h"

enum { FETCH_MS = 40 * 1000 }; /* a kubelet waits 45 s */
static const struct str GOING_DOWN = STR_INIT("the driver is going down");

struct call {
    struct call *next;
    struct driver_calls *calls;
    struct grpc_request *request;
    enum driver_call_kind kind;
    struct driver_fetch *fetch;
    struct driver_claim *claims;
    uint32_t n;
    const struct doc *const *docs;
    struct driver_prepared *prepared;
    struct err *errs;
    struct arena arena;
};

struct queue {
    struct call *first, **end;
};

struct driver_calls {
    struct driver_calls_opts opts;
    unsigned version; /* of resource.k8s.io, that the server has */
    struct call *fetching;
    struct queue waiting, batch;
    bool busy; /* the batch is on the worker, or over and not yet answered */
    bool closed;
    struct err lock_err; /* while it is there, the worker's, as what follows */
    bool ran;            /* it was not dropped */
    struct driver_calls_count count;
};

static void push(struct queue *q, struct call *c)
{
    c->next = NULL;
    *q->end = c;
    q->end = &c->next;
}

static struct call *pop(struct queue *q)
{
    struct call *c = q->first;
    q->first = c->next;
    if (!q->first)
        q->end = &q->first;
    return c;
}

static void call_free(struct call *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        err_release(&c->errs[i]);
    arena_fini(&c->arena);
    free(c);
}

static void fail_call(struct call *c, enum grpc_status status, struct str why)
{
    const char *what = c->kind == DRIVER_CALL_UNPREPARE ? "unprepare" : "prepare";
    grpc_request_fail(
        c->request, status,
        arena_printf(&c->arena, "%s resource claims: %.*s", what, STR_ARG(why)));
    call_free(c);
}

/* ---- on the worker ---- */

static uint32_t batch_size(const struct queue *q)
{
    uint32_t n = 0;
    for (const struct call *c = q->first; c; c = c->next)
        n += c->n;
    return n;
}

static void prepare_batch(struct driver_calls *s, struct arena *a, uint32_t n)
{
    const struct doc **docs = ARENA_ARRAY(a, const struct doc *, n + 1);
    struct driver_prepared *out = ARENA_ARRAY(a, struct driver_prepared, n + 1);
    struct err *errs = ARENA_ARRAY(a, struct err, n + 1);
    uint32_t at = 0;
    for (const struct call *c = s->batch.first; c; at += c->n, c = c->next)
        for (uint32_t i = 0; i < c->n; i++)
            docs[at + i] = c->docs[i];
    /* The answers live as long as the batch's first call, whose arena this is. */
    driver_prepare_claims(s->opts.prepare, docs, n, a, out, errs);
    at = 0;
    for (struct call *c = s->batch.first; c; at += c->n, c = c->next) {
        memcpy(c->prepared, out + at, c->n * sizeof *out);
        memcpy(c->errs, errs + at, c->n * sizeof *errs);
    }
}

static void unprepare_batch(struct driver_calls *s, struct arena *a, uint32_t n)
{
    struct str *uids = ARENA_ARRAY(a, struct str, n + 1);
    struct err *errs = ARENA_ARRAY(a, struct err, n + 1);
    uint32_t at = 0;
    for (const struct call *c = s->batch.first; c; at += c->n, c = c->next)
        for (uint32_t i = 0; i < c->n; i++)
            uids[at + i] = c->claims[i].uid;
    driver_unprepare_claims(s->opts.prepare, uids, n, errs);
    at = 0;
    for (struct call *c = s->batch.first; c; at += c->n, c = c->next)
        memcpy(c->errs, errs + at, c->n * sizeof *errs);
}

static void work(void *ctx)
{
    struct driver_calls *s = ctx;
    struct arena *a = &s->batch.first->arena;
    uint32_t n = batch_size(&s->batch);
    s->ran = true;
    int lock = driver_lock_take(s->opts.lock_dir, &s->lock_err);
    if (lock < 0)
        return;
    if (s->batch.first->kind == DRIVER_CALL_UNPREPARE)
        unprepare_batch(s, a, n);
    else
        prepare_batch(s, a, n);
    driver_lock_give(lock);
}

/* ---- answers ---- */

static void say_failure(struct call *c, uint32_t i)
{
    const struct driver_claim *claim = &c->claims[i];
    struct str line =
        arena_printf(&c->arena, "%s of claim %.*s/%.*s (%.*s) failed: %s",
                     c->kind == DRIVER_CALL_UNPREPARE ? "unprepare" : "prepare",
                     STR_ARG(claim->namespace), STR_ARG(claim->name), STR_ARG(claim->uid),
                     err_text(&c->errs[i]));
    if (c->calls->opts.log)
        c->calls->opts.log(c->calls->opts.log_ctx, line.p);
}

static void count_outcome(struct call *c, uint32_t i)
{
    struct driver_calls_count *count = &c->calls->count;
    bool failed = c->errs[i].code != ERR_NONE;
    if (c->kind == DRIVER_CALL_UNPREPARE)
        *(failed ? &count->unprepare_failed : &count->unprepared) += 1;
    else
        *(failed ? &count->prepare_failed : &count->prepared) += 1;
    if (failed)
        say_failure(c, i);
}

static void answer(struct call *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        count_outcome(c, i);
    driver_calls_answer(c->request, c->kind, c->claims, c->n, c->prepared, c->errs,
                        &c->arena);
}

static void start_batch(struct driver_calls *s);

static void done(void *ctx)
{
    struct driver_calls *s = ctx;
    bool locked = s->ran && s->lock_err.code == ERR_NONE;
    for (struct call *c = s->batch.first; c && locked; c = c->next)
        answer(c);
    while (s->batch.first) {
        struct call *c = pop(&s->batch);
        if (locked)
            call_free(c);
        else if (s->ran)
            fail_call(c, GRPC_UNKNOWN, str_from(err_text(&s->lock_err)));
        else
            fail_call(c, GRPC_UNAVAILABLE, GOING_DOWN);
    }
    err_release(&s->lock_err);
    s->busy = false;
    start_batch(s);
}

static void start_batch(struct driver_calls *s)
{
    if (s->busy || s->closed || !s->waiting.first)
        return;
    bool unprepare = s->waiting.first->kind == DRIVER_CALL_UNPREPARE;
    while (s->waiting.first &&
           unprepare == (s->waiting.first->kind == DRIVER_CALL_UNPREPARE))
        push(&s->batch, pop(&s->waiting));
    s->busy = true;
    s->ran = false;
    driver_worker_do(s->opts.worker, work, done, s);
}

/* ---- arrival ---- */

static void unlink_fetching(struct call *c)
{
    struct call **link = &c->calls->fetching;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
}

static void on_fetched(void *ctx, const struct doc *const *docs, struct str why)
{
    struct call *c = ctx;
    struct driver_calls *s = c->calls;
    unlink_fetching(c);
    c->fetch = NULL;
    if (why.n > 0) {
        s->count.prepare_failed += c->n;
        if (s->opts.log)
            s->opts.log(s->opts.log_ctx, why.p);
        fail_call(c, GRPC_UNKNOWN, why);
        return;
    }
    c->docs = docs;
    push(&s->waiting, c);
    start_batch(s);
}

static struct call *call_new(struct driver_calls *s, struct grpc_request *r,
                             enum driver_call_kind kind, Dra__Claim *const *claims,
                             size_t n)
{
    struct call *c = mem_zalloc(sizeof *c);
    *c = (struct call){.calls = s, .request = r, .kind = kind, .n = (uint32_t)n};
    c->claims = ARENA_ARRAY(&c->arena, struct driver_claim, n + 1);
    c->prepared = ARENA_ARRAY(&c->arena, struct driver_prepared, n + 1);
    c->errs = ARENA_ARRAY(&c->arena, struct err, n + 1);
    for (size_t i = 0; i < n; i++) {
        c->claims[i] = (struct driver_claim){
            .namespace = arena_str(&c->arena, str_from(claims[i]->namespace_)),
            .name = arena_str(&c->arena, str_from(claims[i]->name)),
            .uid = arena_str(&c->arena, str_from(claims[i]->uid)),
        };
        c->prepared[i] = (struct driver_prepared){0};
        c->errs[i] = (struct err)ERR_INIT;
    }
    return c;
}

static bool is_name(const struct driver_claim *claim)
{
    return name_valid(NAME_DNS1123_LABEL, claim->namespace) &&
           name_valid(NAME_DNS1123_SUBDOMAIN, claim->name);
}

/* Names become a path of the API server's. */
static bool refuse_odd_name(struct driver_calls *s, struct call *c)
{
    uint32_t i = 0;
    while (i < c->n && is_name(&c->claims[i]))
        i++;
    if (i == c->n)
        return false;
    struct str why =
        arena_printf(&c->arena, "no claim has such a name: \"%.*s/%.*s\"",
                     STR_ARG(c->claims[i].namespace), STR_ARG(c->claims[i].name));
    s->count.prepare_failed += c->n;
    fail_call(c, GRPC_UNKNOWN, why);
    return true;
}

static void start_prepare(struct driver_calls *s, struct grpc_request *r,
                          const ProtobufCMessage *m, enum driver_call_kind kind)
{
    const Dra__NodePrepareResourcesRequest *q =
        (const Dra__NodePrepareResourcesRequest *)m;
    struct call *c = call_new(s, r, kind, q->claims, q->n_claims);
    if (c->n == 0) {
        answer(c);
        call_free(c);
        return;
    }
    if (refuse_odd_name(s, c))
        return;
    c->next = s->fetching;
    s->fetching = c;
    c->fetch = driver_fetch_start(s->opts.client, &s->version, c->claims, c->n, FETCH_MS,
                                  &c->arena, on_fetched, c);
}

void driver_calls_prepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    start_prepare(ctx, r, m, DRIVER_CALL_PREPARE);
}

void driver_calls_prepare_v1beta1(void *ctx, struct grpc_request *r,
                                  const ProtobufCMessage *m)
{
    start_prepare(ctx, r, m, DRIVER_CALL_PREPARE_V1BETA1);
}

static const struct driver_claim *claim_find(const struct call *c, struct str uid)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (str_eq(c->claims[i].uid, uid))
            return &c->claims[i];
    return NULL;
}

static const struct driver_claim *claim_of_both(const struct call *c,
                                                const struct call *d)
{
    const struct driver_claim *claim = NULL;
    for (uint32_t i = 0; i < d->n && !claim; i++)
        claim = claim_find(c, d->claims[i].uid);
    return claim;
}

/* Who asks to unprepare a claim no longer waits for it to be prepared: what still reads
 * it would prepare it afterwards, for nobody. */
static void drop_fetching(struct driver_calls *s, const struct call *unprepare)
{
    struct call *next;
    for (struct call *c = s->fetching; c; c = next) {
        const struct driver_claim *claim = claim_of_both(c, unprepare);
        next = c->next;
        if (!claim)
            continue;
        unlink_fetching(c);
        driver_fetch_cancel(c->fetch);
        s->count.prepare_failed += c->n;
        fail_call(c, GRPC_UNKNOWN,
                  arena_printf(&c->arena, "claim %.*s/%.*s is being unprepared",
                               STR_ARG(claim->namespace), STR_ARG(claim->name)));
    }
}

/* The claim may be gone: nothing is read. */
void driver_calls_unprepare(void *ctx, struct grpc_request *r, const ProtobufCMessage *m)
{
    const Dra__NodeUnprepareResourcesRequest *q =
        (const Dra__NodeUnprepareResourcesRequest *)m;
    struct driver_calls *s = ctx;
    struct call *c = call_new(s, r, DRIVER_CALL_UNPREPARE, q->claims, q->n_claims);
    drop_fetching(s, c);
    push(&s->waiting, c);
    start_batch(s);
}

struct driver_calls *driver_calls_new(const struct driver_calls_opts *o)
{
    struct driver_calls *s = mem_zalloc(sizeof *s);
    s->opts = *o;
    s->waiting.end = &s->waiting.first;
    s->batch.end = &s->batch.first;
    return s;
}

struct driver_calls_count driver_calls_count(const struct driver_calls *s)
{
    return s->count;
}

void driver_calls_close(struct driver_calls *s)
{
    s->closed = true;
    while (s->fetching) {
        struct call *c = s->fetching;
        s->fetching = c->next;
        driver_fetch_cancel(c->fetch);
        fail_call(c, GRPC_UNAVAILABLE, GOING_DOWN);
    }
    while (s->waiting.first)
        fail_call(pop(&s->waiting), GRPC_UNAVAILABLE, GOING_DOWN);
}

void driver_calls_free(struct driver_calls *s)
{
    free(s);
}
