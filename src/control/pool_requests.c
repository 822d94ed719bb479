/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pool_requests.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "base/vec.h"
#include "client/informer.h"
#include "client/workqueue.h"
#include "control/pool_status.h"

/* As upstream: an incomplete pool is waited for so often; how long requests stay, in
 * seconds, answered and not. */
enum { MAX_TRIES = 5, CLEANING_MS = 600000, KEPT_S = 3600, PENDING_S = 86400 };

static const struct client_kind REQUEST = {"resource.k8s.io", "v1alpha3",
                                           "resourcepoolstatusrequests", false},
                                SLICE = {"resource.k8s.io", "v1", "resourceslices",
                                         false},
                                CLAIM = {"resource.k8s.io", "v1", "resourceclaims", true},
                                RULE = {"resource.k8s.io", "v1", "devicetaintrules",
                                        false};

struct asking { /* of a status that is being written, or a deletion */
    struct asking *next, **link;
    struct pool_requests *p;
    struct client_call *call;
    char *key; /* NULL: a deletion */
};

struct pool_requests {
    struct client *client;
    struct pool_requests_opts opts;
    struct informer *requests, *slices, *claims, *rules; /* rules: or NULL */
    struct workqueue *queue;
    struct asking *asked;
    struct net_timer *cleaning;
    bool working; /* all that a status is made from is known */
};

static void say(struct pool_requests *p, const char *text)
{
    if (p->opts.log)
        p->opts.log(p->opts.log_ctx, text);
}

/* ---- asking ---- */

static void asking_free(struct asking *k)
{
    *k->link = k->next;
    if (k->next)
        k->next->link = k->link;
    free(k->key);
    free(k);
}

static void on_answer(void *ctx, const struct client_answer *a)
{
    struct asking *k = ctx;
    bool ok = a->ok || a->status == 404;
    if (!ok)
        say(k->p, a->message);
    if (k->key)
        workqueue_done(k->p->queue, str_from(k->key), ok);
    asking_free(k);
}

static void ask(struct pool_requests *p, const struct client_request *q, struct str key)
{
    struct asking *k = mem_zalloc(sizeof *k);
    *k = (struct asking){.next = p->asked, .link = &p->asked, .p = p};
    k->key = key.n ? mem_dup(key.p, key.n) : NULL;
    if (k->next)
        k->next->link = &k->next;
    p->asked = k;
    k->call = client_start(p->client, q, on_answer, k);
}

static void send(struct pool_requests *p, const char *method, const struct object *o,
                 const char *sub, const struct doc *body, struct str key)
{
    struct arena a;
    struct strbuf json = STRBUF_INIT;
    arena_init(&a);
    doc_write_json(body, DOC_JSON_COMPACT, &json);
    struct client_request q = {.method = method,
                               .path = client_path(&REQUEST, STR_NONE, o->name, sub, &a),
                               .body = strbuf_str(&json)};
    ask(p, &q, key);
    strbuf_release(&json);
    arena_fini(&a);
}

/* ---- answering ---- */

struct docs {
    VEC(const struct doc *) list;
};

static void add_doc(void *ctx, const struct object *o)
{
    struct docs *d = ctx;
    vec_push(&d->list, o->doc);
}

static struct doc compute(struct pool_requests *p, const struct object *o,
                          struct arena *a, bool *incomplete)
{
    struct docs slices = {0}, claims = {0}, rules = {0};
    informer_each(p->slices, add_doc, &slices);
    informer_each(p->claims, add_doc, &claims);
    if (p->rules)
        informer_each(p->rules, add_doc, &rules);
    struct pool_status_input in = {
        slices.list.v,           claims.list.v,           rules.list.v,
        (uint32_t)slices.list.n, (uint32_t)claims.list.n, (uint32_t)rules.list.n};
    struct doc status = pool_status_compute(
        o->doc, &in, timestamp_print(time(NULL), 0, false, a), a, incomplete);
    vec_release(&slices.list);
    vec_release(&claims.list);
    vec_release(&rules.list);
    return status;
}

/* A pool that is not whole yet is waited for, but not for ever: then the request stays
 * without an answer until something about it changes. */
static void answer(struct pool_requests *p, const struct object *o)
{
    struct arena a;
    bool incomplete;
    arena_init(&a);
    struct doc d = doc_dup(&a, o->doc), status = compute(p, o, &a, &incomplete);
    doc_set(&a, &d, "status", status);
    if (incomplete)
        workqueue_done(p->queue, o->key,
                       workqueue_failures(p->queue, o->key) >= MAX_TRIES);
    else
        send(p, "PUT", o, "status", &d, o->key);
    arena_fini(&a);
}

static bool is_answered(const struct object *o)
{
    const struct doc *status = doc_get(o->doc, "status");
    return status && status->type == DOC_MAP;
}

static void work(void *ctx, struct str key)
{
    struct pool_requests *p = ctx;
    const struct object *o = informer_get(p->requests, key);
    if (o && !is_answered(o))
        answer(p, o);
    else
        workqueue_done(p->queue, key, true);
}

/* ---- old requests ---- */

static const struct doc *ending_of(const struct object *o)
{
    const struct doc *list = doc_path(o->doc, "status.conditions");
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++) {
        const struct doc *type = doc_get(&list->items[i], "type");
        if (doc_is_string(type, "Complete") || doc_is_string(type, "Failed"))
            return &list->items[i];
    }
    return NULL;
}

static bool is_older(struct str text, int64_t age_s)
{
    int64_t seconds;
    int32_t nanos;
    return timestamp_parse(text, &seconds, &nanos) && time(NULL) - seconds > age_s;
}

static void clean_one(void *ctx, const struct object *o)
{
    struct pool_requests *p = ctx;
    const struct doc *ending = ending_of(o);
    struct str since =
        ending ? doc_get_text(ending, "lastTransitionTime")
               : doc_get_text(doc_get(o->doc, "metadata"), "creationTimestamp");
    struct arena a;
    if (!is_older(since, is_answered(o) ? KEPT_S : PENDING_S))
        return;
    arena_init(&a);
    struct doc options = doc_make_map(), uid = doc_make_map();
    doc_set(&a, &uid, "uid", doc_make_string(&a, o->uid));
    doc_set(&a, &options, "preconditions", uid);
    send(p, "DELETE", o, NULL, &options, STR_NONE);
    arena_fini(&a);
}

static void clean(void *ctx)
{
    struct pool_requests *p = ctx;
    informer_each(p->requests, clean_one, p);
}

/* ---- events ---- */

static void on_request(void *ctx, const struct object *old, const struct object *now)
{
    struct pool_requests *p = ctx;
    (void)old;
    if (p->working && now && !is_answered(now))
        workqueue_add(p->queue, now->key);
}

static void on_other(void *ctx, const struct object *old, const struct object *now)
{
    (void)ctx;
    (void)old;
    (void)now;
}

static void add_if_open(void *ctx, const struct object *o)
{
    on_request(ctx, NULL, o);
}

/* Before all is known no request is answered. */
static void on_synced(void *ctx)
{
    struct pool_requests *p = ctx;
    p->working = p->slices && p->claims && p->requests && informer_synced(p->requests) &&
                 informer_synced(p->slices) && informer_synced(p->claims) &&
                 (!p->rules || informer_synced(p->rules));
    if (p->working)
        informer_each(p->requests, add_if_open, p);
}

static void on_trouble(void *ctx, const char *what)
{
    say(ctx, what);
}

/* ---- life ---- */

static struct informer *watch(struct pool_requests *p, const struct client_kind *kind,
                              const struct informer_ops *ops)
{
    struct informer_opts opts = {.kind = *kind};
    return informer_new(p->client, &opts, ops, p);
}

struct pool_requests *pool_requests_new(struct client *c,
                                        const struct pool_requests_opts *opts)
{
    static const struct informer_ops REQUESTS = {on_request, on_synced, on_trouble},
                                     OTHERS = {on_other, on_synced, on_trouble};
    static const struct workqueue_opts QUEUE;
    struct pool_requests *p = mem_zalloc(sizeof *p);
    uint64_t ms = opts->cleaning_ms ? opts->cleaning_ms : CLEANING_MS;
    *p = (struct pool_requests){.client = c, .opts = *opts};
    p->queue = workqueue_new(client_loop(c), &QUEUE, work, p);
    p->requests = watch(p, &REQUEST, &REQUESTS);
    p->slices = watch(p, &SLICE, &OTHERS);
    p->claims = watch(p, &CLAIM, &OTHERS);
    if (opts->taint_rules)
        p->rules = watch(p, &RULE, &OTHERS);
    p->cleaning = net_timer_start(client_loop(c), ms, ms, clean, p);
    return p;
}

void pool_requests_free(struct pool_requests *p)
{
    if (!p)
        return;
    struct asking *next;
    for (struct asking *k = p->asked; k; k = next) {
        next = k->next;
        client_cancel(k->call);
        asking_free(k);
    }
    net_timer_stop(p->cleaning);
    workqueue_free(p->queue);
    informer_free(p->requests);
    informer_free(p->slices);
    informer_free(p->claims);
    informer_free(p->rules);
    free(p);
}
