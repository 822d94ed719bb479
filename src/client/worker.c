/* SPDX-License-Identifier: Apache-2.0 */
#include "client/worker.h"

#include <stdlib.h>

#include "base/mem.h"

struct worker {
    struct client *client;
    struct worker_opts opts;
    work_fn *fn;
    void *ctx;
    struct workqueue *queue;
    struct work *works; /* that have begun */
    void (*hold)(void *ctx, struct str key);
    void *hold_ctx;
};

static void work_free(struct work *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    if (w->release)
        w->release(w->kept);
    steps_fini(&w->steps);
    err_release(&w->err);
    free((char *)w->key.p);
    free(w);
}

static void go_on(void *ctx)
{
    struct work *w = ctx;
    struct worker *all = w->worker;
    enum progress p = all->fn(w);
    if (p == PROGRESS_WAIT)
        return;
    bool failed = p == PROGRESS_FAILED;
    if (failed && w->err.code != ERR_NONE && all->opts.log)
        all->opts.log(all->opts.log_ctx, err_text(&w->err));
    if (!failed && w->again_ms)
        workqueue_add_after(all->queue, w->key, w->again_ms);
    workqueue_done(all->queue, w->key, !failed || w->hopeless);
    work_free(w);
}

static void begin(void *ctx, struct str key)
{
    struct worker *all = ctx;
    if (all->hold) {
        all->hold(all->hold_ctx, key);
        workqueue_done(all->queue, key, true);
        return;
    }
    struct work *w = mem_zalloc(sizeof *w);
    *w = (struct work){.worker = all,
                       .ctx = all->ctx,
                       .key = {mem_dup(key.p, key.n), key.n},
                       .next = all->works,
                       .link = &all->works};
    if (w->next)
        w->next->link = &w->next;
    all->works = w;
    steps_init(&w->steps, all->client, go_on, w);
    w->a = &w->steps.arena;
    go_on(w);
}

struct worker *worker_new(struct client *c, const struct worker_opts *opts, work_fn *fn,
                          void *ctx)
{
    struct worker *w = mem_zalloc(sizeof *w);
    *w = (struct worker){.client = c, .opts = *opts, .fn = fn, .ctx = ctx};
    w->queue = workqueue_new(client_loop(c), &opts->queue, begin, w);
    return w;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    struct work *next;
    for (struct work *work = w->works; work; work = next) {
        next = work->next;
        work_free(work);
    }
    workqueue_free(w->queue);
    free(w);
}

void worker_add(struct worker *w, struct str key)
{
    workqueue_add(w->queue, key);
}

void worker_add_after(struct worker *w, struct str key, uint64_t ms)
{
    workqueue_add_after(w->queue, key, ms);
}

unsigned worker_failures(const struct worker *w, struct str key)
{
    return workqueue_failures(w->queue, key);
}

uint32_t worker_length(const struct worker *w)
{
    return workqueue_length(w->queue);
}

void worker_hold(struct worker *w, void (*told)(void *ctx, struct str key), void *ctx)
{
    w->hold = told;
    w->hold_ctx = ctx;
}

/* ---- for work ---- */

enum progress work_fail(struct work *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(&w->err, ERR_INVALID, fmt, ap);
    va_end(ap);
    return PROGRESS_FAILED;
}

enum progress work_ask(struct work *w, const char *method, const char *type,
                       struct str path, const struct doc *body,
                       const struct client_answer **out)
{
    struct strbuf json = STRBUF_INIT;
    if (body)
        doc_write_json(body, DOC_JSON_COMPACT, &json);
    struct client_request q = {
        .method = method, .type = type, .path = path, .body = strbuf_str(&json)};
    *out = steps_ask(&w->steps, &q);
    strbuf_release(&json);
    return *out ? PROGRESS_DONE : PROGRESS_WAIT;
}

enum progress work_ask_metadata(struct work *w, struct str path, bool list,
                                const struct client_answer **out)
{
    struct client_request q = {.method = "GET",
                               .path = path,
                               .accept = list ? CLIENT_METADATA_LIST : CLIENT_METADATA};
    *out = steps_ask(&w->steps, &q);
    return *out ? PROGRESS_DONE : PROGRESS_WAIT;
}

const struct doc *work_answer_doc(struct work *w, const struct client_answer *a)
{
    struct doc_source src = {.name = "answer", .text = a->body};
    struct doc *d = ARENA_NEW(w->a, struct doc);
    return doc_read_json(&src, w->a, d, NULL) ? d : NULL;
}
