/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/mem.h"
#include "net/stream.h"

struct net_timer {
    uv_timer_t uv;
    void (*fn)(void *ctx);
    void *ctx;
    bool once;
};

static void must(int status, const char *what)
{
    if (status < 0)
        bug("net: %s: %s", what, uv_strerror(status));
}

/* ---- posts ---- */

static void run_posts(uv_async_t *handle)
{
    struct net_loop *l = handle->data;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->posts.n; i++)
        vec_push(&l->due, l->posts.v[i]);
    vec_clear(&l->posts);
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < l->due.n; i++)
        if (l->due.v[i].fn)
            l->due.v[i].fn(l->due.v[i].ctx);
    vec_clear(&l->due);
}

void net_unpost(struct net_loop *l, void *ctx)
{
    pthread_mutex_lock(&l->lock);
    size_t kept = 0;
    for (size_t i = 0; i < l->posts.n; i++)
        if (l->posts.v[i].ctx != ctx)
            l->posts.v[kept++] = l->posts.v[i];
    l->posts.n = kept;
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < l->due.n; i++)
        if (l->due.v[i].ctx == ctx)
            l->due.v[i].fn = NULL;
}

void net_post(struct net_loop *l, void (*fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&l->lock);
    vec_push(&l->posts, (struct loop_post){fn, ctx});
    pthread_mutex_unlock(&l->lock);
    uv_async_send(&l->posted);
}

/* ---- the loop ---- */

static void flush_dirty(uv_prepare_t *handle)
{
    struct net_loop *l = handle->data;
    while (l->dirty)
        stream_flush(l->dirty);
}

struct net_loop *net_loop_new(struct err *e)
{
    struct net_loop *l = mem_zalloc(sizeof *l);
    int status = uv_loop_init(&l->uv);
    if (status == 0 && (status = uv_async_init(&l->uv, &l->posted, run_posts)) < 0)
        uv_loop_close(&l->uv);
    if (status < 0) {
        free(l);
        err_set(e, ERR_IO, "event loop: %s", uv_strerror(status));
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    pthread_mutex_init(&l->lock, NULL);
    l->posted.data = l;
    must(uv_prepare_init(&l->uv, &l->flush), "prepare");
    l->flush.data = l;
    must(uv_prepare_start(&l->flush, flush_dirty), "prepare");
    uv_unref((uv_handle_t *)&l->flush);
    return l;
}

void loop_free_handle(uv_handle_t *h)
{
    free(h->data);
}

/* What is left are timers that nobody stopped and streams that linger: whoever made
 * servers and tunnels has freed them. */
static void close_left(uv_handle_t *h, void *ctx)
{
    if (uv_is_closing(h))
        return;
    if (h->data != h)
        uv_close(h, NULL); /* the loop's own */
    else if (h->type == UV_TIMER)
        uv_close(h, loop_free_handle);
    else
        stream_abort(h->data);
}

void net_loop_free(struct net_loop *l)
{
    if (!l)
        return;
    flush_dirty(&l->flush);
    uv_walk(&l->uv, close_left, l);
    while (uv_run(&l->uv, UV_RUN_DEFAULT) != 0)
        ;
    must(uv_loop_close(&l->uv), "loop");
    pthread_mutex_destroy(&l->lock);
    vec_release(&l->posts);
    vec_release(&l->due);
    while (l->nspare > 0)
        strbuf_release(&l->spare[--l->nspare]);
    free(l);
}

void net_loop_run(struct net_loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void net_loop_run_once(struct net_loop *l, bool wait)
{
    uv_run(&l->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
}

void net_loop_stop(struct net_loop *l)
{
    uv_stop(&l->uv);
}

uint64_t loop_now(struct net_loop *l)
{
    return uv_now(&l->uv);
}

uint64_t net_now_ms(struct net_loop *l)
{
    return loop_now(l);
}

struct str loop_date(struct net_loop *l)
{
    uint64_t now = loop_now(l);
    if (!l->date[0] || now - l->date_ms >= 500) {
        struct tm tm;
        uv_timeval64_t wall = {0};
        uv_gettimeofday(&wall);
        time_t seconds = (time_t)wall.tv_sec;
        gmtime_r(&seconds, &tm);
        strftime(l->date, sizeof l->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        l->date_ms = now;
    }
    return str_from(l->date);
}

/* ---- buffers ---- */

enum { MAX_SPARE = 512 * 1024 };

void loop_lend(struct net_loop *l, struct strbuf *b)
{
    if (!b->p && l->nspare > 0)
        *b = l->spare[--l->nspare];
}

void loop_give_back(struct net_loop *l, struct strbuf *b)
{
    strbuf_clear(b);
    if (!b->p || b->cap > MAX_SPARE || l->nspare == sizeof l->spare / sizeof *l->spare) {
        strbuf_release(b);
        return;
    }
    l->spare[l->nspare++] = *b;
    strbuf_init(b);
}

/* ---- work ---- */

struct job {
    uv_work_t req;
    void (*work)(void *ctx);
    void (*done)(void *ctx);
    void *ctx;
};

static void run_job(uv_work_t *req)
{
    struct job *j = req->data;
    j->work(j->ctx);
}

static void job_done(uv_work_t *req, int status)
{
    struct job *j = req->data;
    j->done(j->ctx);
    free(j);
}

void net_work(struct net_loop *l, void (*work)(void *ctx), void (*done)(void *ctx),
              void *ctx)
{
    struct job *j = mem_alloc(sizeof *j);
    *j = (struct job){.work = work, .done = done, .ctx = ctx};
    j->req.data = j;
    must(uv_queue_work(&l->uv, &j->req, run_job, job_done), "work");
}

/* ---- timers ---- */

static void on_timer(uv_timer_t *handle)
{
    struct net_timer *t = handle->data;
    void (*fn)(void *ctx) = t->fn;
    void *ctx = t->ctx;
    if (t->once)
        net_timer_stop(t);
    fn(ctx);
}

struct net_timer *net_timer_start(struct net_loop *l, uint64_t first_ms,
                                  uint64_t repeat_ms, void (*fn)(void *ctx), void *ctx)
{
    struct net_timer *t = mem_zalloc(sizeof *t);
    t->fn = fn;
    t->ctx = ctx;
    t->once = repeat_ms == 0;
    must(uv_timer_init(&l->uv, &t->uv), "timer");
    t->uv.data = t;
    must(uv_timer_start(&t->uv, on_timer, first_ms, repeat_ms), "timer");
    return t;
}

void net_timer_stop(struct net_timer *t)
{
    if (t && !uv_is_closing((uv_handle_t *)&t->uv))
        uv_close((uv_handle_t *)&t->uv, loop_free_handle);
}

/* ---- descriptors of others ---- */

struct net_readable {
    uv_poll_t uv;
    void (*fn)(void *ctx);
    void *ctx;
};

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct net_readable *r = handle->data;
    void (*fn)(void *ctx) = r->fn;
    void *ctx = r->ctx;
    net_readable_stop(r);
    fn(ctx);
}

struct net_readable *net_readable_start(struct net_loop *l, int fd, void (*fn)(void *ctx),
                                        void *ctx)
{
    struct net_readable *r = mem_zalloc(sizeof *r);
    r->fn = fn;
    r->ctx = ctx;
    must(uv_poll_init(&l->uv, &r->uv, fd), "poll");
    r->uv.data = r;
    must(uv_poll_start(&r->uv, UV_READABLE | UV_DISCONNECT, on_readable), "poll");
    return r;
}

void net_readable_stop(struct net_readable *r)
{
    if (r && !uv_is_closing((uv_handle_t *)&r->uv))
        uv_close((uv_handle_t *)&r->uv, loop_free_handle);
}

/* ---- signals ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    struct net_loop *l = handle->data;
    l->on_signal(l->signal_ctx);
}

void net_on_stop_signal(struct net_loop *l, void (*fn)(void *ctx), void *ctx)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    l->on_signal = fn;
    l->signal_ctx = ctx;
    for (int i = 0; i < 2 && !l->has_signals; i++) {
        must(uv_signal_init(&l->uv, &l->signals[i]), "signal");
        l->signals[i].data = l;
        must(uv_signal_start(&l->signals[i], on_signal, numbers[i]), "signal");
        uv_unref((uv_handle_t *)&l->signals[i]);
    }
    l->has_signals = true;
}
