/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pool_requests.h"

#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/mem.h"
#include "base/vec.h"
#include "client/informer.h"
#include "client/worker.h"
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

struct pool_requests {
    struct client *client;
    struct pool_requests_opts opts;
    struct informer *requests, *slices, *claims, *rules; /* rules: or NULL */
    struct worker *worker; /* "NAME" of one to answer, "old:NAME" to delete */
    struct net_timer *cleaning;
    bool working; /* all that a status is made from is known */
};

static bool is_answered(const struct object *o)
{
    const struct doc *status = doc_get(o->doc, "status");
    return status && status->type == DOC_MAP;
}

/* What the work on a request asks for, made once: a status is of its moment. In the
 * work's arena. */
struct kept_ask {
    const char *method;
    struct str path;
    struct doc body;
};

static enum progress ask(struct work *w)
{
    const struct kept_ask *k = w->kept;
    const struct client_answer *a;
    enum progress p = work_ask(w, k->method, NULL, k->path, &k->body, &a);
    if (p == PROGRESS_DONE && !a->ok && a->status != 404)
        return work_fail(w, "%s", a->message);
    return p;
}

static enum progress ask_first(struct work *w, const char *method, const struct object *o,
                               const char *sub, struct doc body)
{
    struct kept_ask *k = ARENA_NEW(w->a, struct kept_ask);
    *k = (struct kept_ask){method, client_path(&REQUEST, STR_NONE, o->name, sub, w->a),
                           body};
    w->kept = k;
    return ask(w);
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
static enum progress answer(struct work *w, const struct object *o)
{
    bool incomplete;
    struct doc d = doc_dup(w->a, o->doc), status = compute(w->ctx, o, w->a, &incomplete);
    doc_set(w->a, &d, "status", status);
    if (!incomplete)
        return ask_first(w, "PUT", o, "status", d);
    w->hopeless = worker_failures(w->worker, w->key) >= MAX_TRIES;
    return PROGRESS_FAILED;
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

static bool is_old(const struct object *o)
{
    const struct doc *ending = ending_of(o);
    struct str since =
        ending ? doc_get_text(ending, "lastTransitionTime")
               : doc_get_text(doc_get(o->doc, "metadata"), "creationTimestamp");
    return is_older(since, is_answered(o) ? KEPT_S : PENDING_S);
}

static enum progress remove_old(struct work *w, const struct object *o)
{
    struct doc options = doc_make_map(), uid = doc_make_map();
    doc_set(w->a, &uid, "uid", doc_make_string(w->a, o->uid));
    doc_set(w->a, &options, "preconditions", uid);
    return ask_first(w, "DELETE", o, NULL, options);
}

static void clean_one(void *ctx, const struct object *o)
{
    struct pool_requests *p = ctx;
    struct arena a;
    if (!is_old(o))
        return;
    arena_init(&a);
    worker_add(p->worker, arena_printf(&a, "old:%.*s", STR_ARG(o->key)));
    arena_fini(&a);
}

static void clean(void *ctx)
{
    struct pool_requests *p = ctx;
    informer_each(p->requests, clean_one, p);
}

static enum progress sync_request(struct work *w)
{
    struct pool_requests *p = w->ctx;
    bool old = str_starts(w->key, STR("old:"));
    const struct object *o =
        informer_get(p->requests, str_sub(w->key, old ? 4 : 0, w->key.n));
    if (w->kept)
        return ask(w);
    if (o && old)
        return remove_old(w, o);
    return o && !is_answered(o) ? answer(w, o) : PROGRESS_DONE;
}

/* ---- events ---- */

static void on_request(void *ctx, const struct object *old, const struct object *now)
{
    struct pool_requests *p = ctx;
    (void)old;
    if (p->working && now && !is_answered(now))
        worker_add(p->worker, now->key);
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
    struct pool_requests *p = ctx;
    if (p->opts.log)
        p->opts.log(p->opts.log_ctx, what);
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
    struct worker_opts worker = {.log = opts->log, .log_ctx = opts->log_ctx};
    struct pool_requests *p = mem_zalloc(sizeof *p);
    uint64_t ms = opts->cleaning_ms ? opts->cleaning_ms : CLEANING_MS;
    *p = (struct pool_requests){.client = c, .opts = *opts};
    p->worker = worker_new(c, &worker, sync_request, p);
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
    net_timer_stop(p->cleaning);
    worker_free(p->worker);
    informer_free(p->requests);
    informer_free(p->slices);
    informer_free(p->claims);
    informer_free(p->rules);
    free(p);
}
