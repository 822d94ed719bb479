/* SPDX-License-Identifier: Apache-2.0 */
#include "control/namespaces.h"

#include <stdlib.h>
#include <time.h>

#include "api/edit.h"
#include "base/mem.h"
#include "control/namespaces_inner.h"

/* Content that goes on its own is looked at again after no more than MAX_WAIT_MS. */
enum {
    WORKERS = 10,
    GRACE_MS = 5000,
    LONGEST_MS = 60000,
    MAX_WAIT_MS = 2000,
    COMPARE_MS = 300000
};

static const char FINALIZER[] = "kubernetes";
static const struct client_kind NAMESPACE = {"", "v1", "namespaces", false};

static bool is_deleted(const struct doc *namespace)
{
    return doc_get_text(doc_get(namespace, "metadata"), "deletionTimestamp").n > 0;
}

/* ---- asking ---- */

static struct str path_of(struct work *w, const char *sub)
{
    return client_path(&NAMESPACE, STR_NONE, w->key, sub, w->a);
}

/* *out NULL: there is none. */
static enum progress get(struct work *w, const struct doc **out)
{
    const struct client_answer *a;
    enum progress p = work_ask(w, "GET", NULL, path_of(w, NULL), NULL, &a);
    if (p != PROGRESS_DONE)
        return p;
    *out = a->ok ? work_answer_doc(w, a) : NULL;
    return *out || a->status == 404 ? p : work_fail(w, "%s", a->message);
}

/* A conflict begins all anew; who is gone already is what was wanted. */
static enum progress put(struct work *w, const char *sub, const struct doc *d,
                         const struct doc **out)
{
    const struct client_answer *a;
    enum progress p = work_ask(w, "PUT", NULL, path_of(w, sub), d, &a);
    if (p != PROGRESS_DONE)
        return p;
    *out = a->ok ? work_answer_doc(w, a) : NULL;
    if (*out || a->status == 404)
        return p;
    return a->status == 409 ? PROGRESS_FAILED : work_fail(w, "%s", a->message);
}

/* ---- steps ---- */

/* *d becomes what the server made of it, or NULL: it is gone. */
static enum progress set_phase(struct work *w, const struct doc **d)
{
    if (doc_is_string(doc_path(*d, "status.phase"), "Terminating"))
        return PROGRESS_DONE;
    struct doc now = doc_dup(w->a, *d);
    struct doc *status = api_edit_get(&now, "status");
    if (!status)
        status = doc_set(w->a, &now, "status", doc_make_map());
    doc_set_text(w->a, status, "phase", STR("Terminating"));
    return put(w, "status", &now, d);
}

struct kept { /* of work that has begun, in its arena */
    bool renewed;
    int64_t now_s; /* when it began: what is written must not change while it goes on */
};

static struct kept *kept_of(struct work *w)
{
    struct kept *k = w->kept;
    if (!k) {
        w->kept = k = ARENA_NEW(w->a, struct kept);
        k->now_s = time(NULL);
    }
    return k;
}

/* Kinds that came just now have content too. */
static enum progress renew(struct work *w)
{
    struct namespaces *n = w->ctx;
    struct kept *k = kept_of(w);
    enum progress p = k->renewed ? PROGRESS_DONE : resources_renew(n->resources, w);
    k->renewed = p == PROGRESS_DONE;
    return p;
}

static enum progress write_conditions(struct work *w, const struct doc **d,
                                      const struct namespace_rest *rest)
{
    struct doc now = doc_dup(w->a, *d);
    return namespaces_set_conditions(&now, rest, kept_of(w)->now_s, w->a)
               ? put(w, "status", &now, d)
               : PROGRESS_DONE;
}

static enum progress finalize(struct work *w, const struct doc *d)
{
    struct doc now = doc_dup(w->a, d), left = doc_make_list();
    struct doc *spec = api_edit_get(&now, "spec");
    const struct doc *had = doc_get(spec, "finalizers");
    for (uint32_t i = 0; i < had->n; i++)
        if (!doc_is_string(&had->items[i], FINALIZER))
            doc_append(w->a, &left, had->items[i]);
    doc_set(w->a, spec, "finalizers", left);
    return put(w, "finalize", &now, &d);
}

static bool is_finalized(const struct doc *d)
{
    const struct doc *list = doc_path(d, "spec.finalizers");
    return !list || list->type != DOC_LIST || !list->n;
}

static enum progress look_again(struct work *w, const struct namespace_rest *rest)
{
    uint64_t ms = (uint64_t)(rest->seconds / 2 + 1) * 1000;
    w->again_ms = ms < MAX_WAIT_MS ? ms : MAX_WAIT_MS;
    return PROGRESS_DONE;
}

static enum progress empty(struct work *w, const struct doc *d)
{
    struct namespace_rest rest;
    enum progress p = namespaces_delete_content(w, d, kept_of(w)->now_s, &rest);
    if (p == PROGRESS_DONE)
        p = write_conditions(w, &d, &rest);
    if (p != PROGRESS_DONE || !d)
        return p;
    if (rest.errors.n)
        return work_fail(w, "deletion of namespace %.*s failed: %.*s", STR_ARG(w->key),
                         STR_ARG(rest.errors.v[0]));
    if (rest.stale[0])
        return work_fail(w, "deletion of namespace %.*s failed: %s", STR_ARG(w->key),
                         rest.stale);
    return rest.seconds ? look_again(w, &rest) : finalize(w, d);
}

static enum progress sync(struct work *w)
{
    const struct doc *d;
    enum progress p = get(w, &d);
    if (p != PROGRESS_DONE || !d || !is_deleted(d))
        return p;
    p = set_phase(w, &d);
    if (p != PROGRESS_DONE || !d || is_finalized(d))
        return p;
    p = renew(w);
    return p == PROGRESS_DONE ? empty(w, d) : p;
}

/* ---- events ---- */

static void on_namespace(void *ctx, const struct object *old, const struct object *now)
{
    struct namespaces *n = ctx;
    if (now && is_deleted(now->doc) && !is_finalized(now->doc) &&
        !(old && is_deleted(old->doc)))
        worker_add_after(n->worker, now->key, n->opts.grace_ms);
}

static void add_deleted(void *ctx, const struct object *o)
{
    struct namespaces *n = ctx;
    if (is_deleted(o->doc))
        worker_add(n->worker, o->key);
}

static void on_compare(void *ctx)
{
    struct namespaces *n = ctx;
    informer_each(n->informer, add_deleted, n);
}

static void on_trouble(void *ctx, const char *what)
{
    struct namespaces *n = ctx;
    if (n->opts.log)
        n->opts.log(n->opts.log_ctx, what);
}

/* ---- life ---- */

struct namespaces *namespaces_new(struct client *c, const struct namespaces_opts *opts)
{
    static const struct informer_ops OPS = {on_namespace, NULL, on_trouble};
    static const struct resources_ops RESOURCES = {NULL, on_trouble};
    struct informer_opts informer = {.kind = NAMESPACE};
    struct worker_opts worker = {
        .queue = {.workers = opts->workers ? opts->workers : WORKERS,
                  .longest_ms = LONGEST_MS},
        .log = opts->log,
        .log_ctx = opts->log_ctx};
    struct namespaces *n = mem_zalloc(sizeof *n);
    n->client = c;
    n->opts = *opts;
    n->opts.grace_ms = opts->grace_ms ? opts->grace_ms : GRACE_MS;
    n->worker = worker_new(c, &worker, sync, n);
    n->resources = resources_new(c, &RESOURCES, n);
    n->compare = net_timer_start(client_loop(c), COMPARE_MS, COMPARE_MS, on_compare, n);
    n->informer = informer_new(c, &informer, &OPS, n);
    return n;
}

void namespaces_free(struct namespaces *n)
{
    if (!n)
        return;
    net_timer_stop(n->compare);
    worker_free(n->worker);
    informer_free(n->informer);
    resources_free(n->resources);
    free(n);
}
