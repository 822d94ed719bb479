/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd as a store: a thread with its own loop speaks to it, writes go over by a list, and
 * changes and answers come back by another, in the order in which store_poll hands them
 * out. Other servers may share the etcd: all that is told comes from etcd's watch.
 */
#include "store/etcd.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { TICK_MS = 100 };

/* ---- calls ---- */

bool etcd_ask(struct etcd *s, const char *method, const ProtobufCMessage *m,
              const ProtobufCMessageDescriptor *answer, uint64_t timeout_ms,
              grpc_answered *answered, void *ctx)
{
    char path[64];
    struct net_client *c = s->stopped ? NULL : etcd_link_client(s->link);
    struct grpc_opts opts = {
        .method = path, .timeout_ms = timeout_ms, .max_message = ETCD_MAX_MESSAGE};
    snprintf(path, sizeof path, "/etcdserverpb.KV/%s", method);
    return c && grpc_ask(c, &opts, m, answer, answered, ctx);
}

bool etcd_is_definite(const struct grpc_end *end)
{
    switch (end->status) {
    case GRPC_INVALID_ARGUMENT:
    case GRPC_NOT_FOUND:
    case GRPC_ALREADY_EXISTS:
    case GRPC_PERMISSION_DENIED:
    case GRPC_RESOURCE_EXHAUSTED: /* its quota, or too many requests */
    case GRPC_FAILED_PRECONDITION:
    case GRPC_OUT_OF_RANGE: /* forgotten */
    case GRPC_UNIMPLEMENTED:
    case GRPC_UNAUTHENTICATED:
        return end->told;
    default:
        return false;
    }
}

/* ---- handing over ---- */

static void finish_stop(void *ctx);

/* With the lock. */
static void push_answers(struct etcd *s, uint64_t reached)
{
    for (struct request *r; (r = etcd_writes_answered(s, reached));)
        vec_push(&s->deliveries, (struct etcd_delivery){.request = r});
}

static void push_waits(struct etcd *s)
{
    for (struct etcd_wait *w; (w = etcd_syncs_over(s));)
        vec_push(&s->deliveries, (struct etcd_delivery){.wait = w});
}

void etcd_deliver(struct etcd *s, struct etcd_changes *l, uint64_t reached)
{
    struct etcd_change *c;
    if (s->reached < reached)
        s->reached = reached;
    for (c = l ? l->first : NULL; c; c = c->next)
        etcd_forget_note(s, c);
    pthread_mutex_lock(&s->lock);
    bool idle = s->deliveries.n == 0;
    while (l && (c = etcd_changes_pop(l))) {
        push_answers(s, c->change.revision - 1);
        vec_push(&s->deliveries, (struct etcd_delivery){.change = c});
    }
    push_answers(s, s->reached);
    push_waits(s);
    bool wake = idle && s->deliveries.n > 0;
    pthread_mutex_unlock(&s->lock);
    if (wake && s->opts.wake)
        s->opts.wake(s->opts.wake_ctx);
    if (s->stopping && !s->stopped && etcd_writes_idle(s))
        net_post(s->loop, finish_stop, s);
}

static void deliver(struct etcd *s, const struct etcd_delivery *d)
{
    if (d->request) {
        request_deliver(d->request, &s->answer_opts);
        return;
    }
    if (d->wait) {
        etcd_wait_deliver(d->wait);
        return;
    }
    s->revision = d->change->change.revision;
    if (s->opts.changed)
        s->opts.changed(s->opts.changed_ctx, &d->change->change);
    free(d->change);
}

static void etcd_poll(struct store *store)
{
    struct etcd *s = etcd_of(store);
    VEC(struct etcd_delivery) all = {0};
    pthread_mutex_lock(&s->lock);
    memcpy(&all, &s->deliveries, sizeof all);
    memset(&s->deliveries, 0, sizeof s->deliveries);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < all.n; i++)
        deliver(s, &all.v[i]);
    vec_release(&all);
}

void etcd_note_compacted(struct etcd *s, uint64_t revision)
{
    pthread_mutex_lock(&s->lock);
    if (s->compacted < revision)
        s->compacted = revision;
    pthread_mutex_unlock(&s->lock);
}

/* ---- writes come in ---- */

static void take_waiting(void *ctx)
{
    struct etcd *s = ctx;
    struct request_list l;
    request_list_init(&l);
    pthread_mutex_lock(&s->lock);
    request_list_join(&l, &s->waiting);
    s->posted = false;
    pthread_mutex_unlock(&s->lock);
    etcd_writes_take(s, &l);
}

static void etcd_submit(struct store *store, const struct store_write *w)
{
    struct etcd *s = etcd_of(store);
    struct request *r = request_new(w);
    pthread_mutex_lock(&s->lock);
    request_list_push(&s->waiting, r);
    if (!s->posted)
        net_post(s->loop, take_waiting, s);
    s->posted = true;
    pthread_mutex_unlock(&s->lock);
}

/* ---- time ---- */

static void on_tick(void *ctx)
{
    struct etcd *s = ctx;
    s->tick = NULL;
    etcd_follow_up(s);
    bool more = etcd_syncs_sweep(s); /* they are handed over with the writes */
    more = etcd_writes_sweep(s) || more;
    more = etcd_jobs_sweep(s) || more;
    if (more || (s->following && !s->watch))
        etcd_tick(s);
}

void etcd_tick(struct etcd *s)
{
    if (!s->tick && !s->stopped)
        s->tick = net_timer_start(s->loop, TICK_MS, 0, on_tick, s);
}

/* ---- the connection ---- */

static void on_up(void *ctx)
{
    struct etcd *s = ctx;
    etcd_follow_up(s);
    etcd_jobs_pump(s);
    etcd_syncs_pump(s);
    etcd_writes_pump(s);
}

static void on_down(void *ctx)
{
    etcd_tick(ctx);
}

/* ---- the end ---- */

static void finish_stop(void *ctx)
{
    struct etcd *s = ctx;
    if (s->stopped)
        return;
    etcd_syncs_stop(s);
    s->stopped = true;
    etcd_deliver(s, NULL, s->reached);
    net_timer_stop(s->tick);
    etcd_follow_release(s);
    etcd_forget_release(s);
    etcd_link_free(s->link);
    s->link = NULL;
    net_loop_stop(s->loop);
}

static void begin_stop(void *ctx)
{
    struct etcd *s = ctx;
    s->stopping = true;
    s->stop_ms = net_now_ms(s->loop) + ETCD_CLOSE_MS;
    take_waiting(s);
    etcd_tick(s);
}

/* The thread has ended, or never was. */
static void release(struct etcd *s)
{
    etcd_link_free(s->link);
    net_loop_free(s->loop);
    etcd_writes_release(s);
    etcd_known_release(&s->known);
    vec_release(&s->deliveries);
    etcd_target_release(&s->target);
    pthread_cond_destroy(&s->job_done);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void etcd_close(struct store *store)
{
    struct etcd *s = etcd_of(store);
    net_post(s->loop, begin_stop, s);
    pthread_join(s->thread, NULL);
    etcd_poll(store);
    release(s);
}

/* ---- the beginning ---- */

static void *thread(void *arg)
{
    struct etcd *s = arg;
    net_loop_run(s->loop);
    return NULL;
}

static void begin(void *ctx)
{
    struct etcd *s = ctx;
    etcd_follow(s, s->opened);
    etcd_forget_start(s);
}

static struct str keep(struct etcd *s, struct str pem)
{
    return pem.n ? arena_str(&s->target.arena, pem) : STR_NONE;
}

static bool connect_to(struct etcd *s, bool tls, struct err *e)
{
    static const struct etcd_link_ops ops = {on_up, on_down};
    s->tls = (struct net_tls_client_opts){.ca_pem = keep(s, s->opts.etcd_ca_pem),
                                          .cert_pem = keep(s, s->opts.etcd_cert_pem),
                                          .key_pem = keep(s, s->opts.etcd_key_pem)};
    s->loop = net_loop_new(e);
    s->link = s->loop
                  ? etcd_link_new(s->loop, &s->target, tls ? &s->tls : NULL, &ops, s, e)
                  : NULL;
    return s->link != NULL || err_wrap(e, "etcd");
}

static bool start_thread(struct etcd *s, struct err *e)
{
    int rc = pthread_create(&s->thread, NULL, thread, s);
    return rc == 0 || err_set(e, ERR_IO, "store: no thread: %s", strerror(rc));
}

static bool start(struct etcd *s, struct err *e)
{
    bool ok = etcd_look(s, &s->revision, &s->compacted, e);
    s->opened = s->revision;
    if (ok)
        net_post(s->loop, begin, s);
    return ok;
}

static struct store *open_as(const struct store_backend *backend, bool tls,
                             const char *rest, const struct store_opts *opts,
                             struct err *e)
{
    struct etcd *s = mem_zalloc(sizeof *s);
    s->store.backend = backend;
    s->opts = s->answer_opts = *opts;
    s->answer_opts.changed = NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->job_done, NULL);
    request_list_init(&s->waiting);
    etcd_writes_init(s);
    if (!etcd_target_parse(&s->target, rest, e) || !connect_to(s, tls, e) ||
        !start_thread(s, e)) {
        release(s);
        return NULL;
    }
    if (start(s, e))
        return &s->store;
    etcd_close(&s->store);
    return NULL;
}

static struct store *open_plain(const char *rest, const struct store_opts *opts,
                                struct err *e)
{
    return open_as(&store_etcd, false, rest, opts, e);
}

static struct store *open_tls(const char *rest, const struct store_opts *opts,
                              struct err *e)
{
    if (opts->etcd_ca_pem.n > 0)
        return open_as(&store_etcds, true, rest, opts, e);
    err_set(e, ERR_INVALID, "etcds: no CA certificate to trust the server by");
    return NULL;
}

/* ---- forgetting ---- */

static void etcd_compact(struct store *store, uint64_t revision)
{
    struct etcd *s = etcd_of(store);
    if (revision > s->revision)
        revision = s->revision;
    pthread_mutex_lock(&s->lock);
    if (s->compact_to < revision)
        s->compact_to = revision;
    pthread_mutex_unlock(&s->lock);
    net_post(s->loop, etcd_forget_asked, s);
}

static uint64_t etcd_revision(const struct store *store)
{
    return etcd_of(store)->revision;
}

static uint64_t etcd_compacted(const struct store *store)
{
    struct etcd *s = etcd_of(store);
    pthread_mutex_lock(&s->lock);
    uint64_t compacted = s->compacted;
    pthread_mutex_unlock(&s->lock);
    return compacted;
}

#define BACKEND(name, opener)                                                            \
    {                                                                                    \
        .scheme = name, .open = opener, .close = etcd_close, .submit = etcd_submit,      \
        .poll = etcd_poll, .snapshot = etcd_snapshot, .history = etcd_history,           \
        .compact = etcd_compact, .sync = etcd_sync, .revision = etcd_revision,           \
        .compacted = etcd_compacted,                                                     \
    }
const struct store_backend store_etcd = BACKEND("etcd:", open_plain);
const struct store_backend store_etcds = BACKEND("etcds:", open_tls);
