/* SPDX-License-Identifier: Apache-2.0 */
#include "net/stream.h"

#include <stdlib.h>

#include "base/mem.h"

/* How much is on its way to a peer at most; how long and how much of what it sends after
 * the end of our answer is read. */
enum {
    ROOM = 128 * 1024,
    ROUNDS = 8, /* of ROOM that one stream sends before the others have their turn */
    LINGER_MS = 2000,
    LINGER_BYTES = 8 << 20,
    CONNECT_MS = 10000,
    KEEPALIVE_S = 30
};

struct send {
    uv_write_t req;
    struct stream *s;
    struct strbuf bytes;
    size_t n;
};

static void receive(struct stream *s, struct str bytes);
static bool shake_hands(struct stream *s);

/* ---- the list of streams to flush ---- */

void stream_wake(struct stream *s)
{
    struct net_loop *l = s->loop;
    if (s->dirty || s->closing)
        return;
    s->dirty = true;
    s->dirty_next = l->dirty;
    s->dirty_link = &l->dirty;
    if (l->dirty)
        l->dirty->dirty_link = &s->dirty_next;
    l->dirty = s;
}

static void unwake(struct stream *s)
{
    if (!s->dirty)
        return;
    *s->dirty_link = s->dirty_next;
    if (s->dirty_next)
        s->dirty_next->dirty_link = s->dirty_link;
    s->dirty = false;
}

/* ---- the end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct stream *s = handle->data;
    if (s->has_tls)
        tls_session_fini(&s->tls);
    strbuf_release(&s->plain);
    strbuf_release(&s->held);
    s->ops->closed(s->ctx);
    err_release(&s->why);
    free(s);
}

void stream_abort(struct stream *s)
{
    if (s->closing)
        return;
    unwake(s);
    s->closing = true;
    net_timer_stop(s->linger);
    uv_close(&s->uv.handle, on_closed);
}

/* The first reason stands. */
static void abort_for(struct stream *s, int status)
{
    if (s->why.code == ERR_NONE && !s->closing)
        err_set(&s->why, ERR_IO, "%s", uv_strerror(status));
    stream_abort(s);
}

static void linger_over(void *ctx)
{
    struct stream *s = ctx;
    s->linger = NULL;
    if (s->open)
        stream_abort(s);
    else
        abort_for(s, UV_ETIMEDOUT);
}

void stream_finish(struct stream *s)
{
    if (s->closing || s->finishing)
        return;
    s->finishing = true;
    s->paused = false;
    stream_wake(s);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    struct stream *s = req->data;
    free(req);
    if (s->closing)
        return;
    if (status < 0 || s->ended)
        stream_abort(s);
    else if (!s->linger)
        s->linger = net_timer_start(s->loop, LINGER_MS, 0, linger_over, s);
}

static void shut_down(struct stream *s)
{
    uv_shutdown_t *req = mem_alloc(sizeof *req);
    req->data = s;
    if (uv_shutdown(req, &s->uv.stream, on_shutdown) == 0)
        return;
    free(req);
    stream_abort(s);
}

/* ---- sending ---- */

size_t stream_room(const struct stream *s)
{
    size_t used = s->plain.n + s->in_flight;
    return s->closing || s->finishing || used >= ROOM ? 0 : ROOM - used;
}

size_t stream_unsent(const struct stream *s)
{
    return s->plain.n + s->in_flight;
}

void stream_write(struct stream *s, struct str bytes)
{
    if (s->closing || s->finishing)
        return;
    loop_lend(s->loop, &s->plain);
    strbuf_addstr(&s->plain, bytes);
    stream_wake(s);
}

static void on_sent(uv_write_t *req, int status)
{
    struct send *w = req->data;
    struct stream *s = w->s;
    s->in_flight -= w->n;
    loop_give_back(s->loop, &w->bytes);
    free(w);
    if (s->closing)
        return;
    s->progress_ms = loop_now(s->loop);
    if (status < 0)
        abort_for(s, status);
    else if (!s->finishing)
        stream_wake(s);
}

/* What the system takes at once. */
static size_t send_now(struct stream *s, struct str bytes)
{
    uv_buf_t buf = uv_buf_init((char *)bytes.p, (unsigned)bytes.n);
    int n = s->in_flight == 0 ? uv_try_write(&s->uv.stream, &buf, 1) : 0;
    return n > 0 ? (size_t)n : 0;
}

static void send_later(struct stream *s, struct strbuf *b, size_t from)
{
    struct send *w = mem_zalloc(sizeof *w);
    w->s = s;
    w->n = b->n - from;
    w->bytes = *b;
    strbuf_init(b);
    w->req.data = w;
    uv_buf_t buf = uv_buf_init(w->bytes.p + from, (unsigned)w->n);
    if (s->in_flight == 0)
        s->progress_ms = loop_now(s->loop);
    s->in_flight += w->n;
    int status = uv_write(&w->req, &s->uv.stream, &buf, 1, on_sent);
    if (status == 0)
        return;
    s->in_flight -= w->n;
    loop_give_back(s->loop, &w->bytes);
    free(w);
    stream_abort(s);
}

/* now: without another round of the loop, where that is possible. */
static void send_buffer(struct stream *s, struct strbuf *b, bool now)
{
    size_t n = now && b->n > 0 ? send_now(s, strbuf_str(b)) : 0;
    if (n < b->n)
        send_later(s, b, n);
    else
        loop_give_back(s->loop, b);
}

static void send_all(struct stream *s, bool now)
{
    if (!s->has_tls) {
        if (s->open)
            send_buffer(s, &s->plain, now);
        return;
    }
    if (s->open && s->plain.n > 0)
        loop_lend(s->loop, &s->tls.out);
    if (s->open && !tls_write(&s->tls, strbuf_str(&s->plain))) {
        stream_abort(s);
        return;
    }
    if (s->open)
        loop_give_back(s->loop, &s->plain);
    send_buffer(s, &s->tls.out, now);
}

static void finish_now(struct stream *s)
{
    if (s->shut)
        return;
    s->shut = true;
    send_all(s, false);
    if (s->has_tls && s->open && !s->closing) {
        tls_close(&s->tls);
        send_buffer(s, &s->tls.out, false);
    }
    if (!s->closing)
        shut_down(s);
}

static void take_held(struct stream *s)
{
    if (s->held.n == 0 || s->paused || s->finishing)
        return;
    struct strbuf held = s->held;
    strbuf_init(&s->held);
    receive(s, strbuf_str(&held));
    strbuf_release(&held);
}

static void on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf);

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct stream *s = handle->data;
    *buf = uv_buf_init(s->loop->read, sizeof s->loop->read);
}

/* A paused stream leaves bytes with the system, which makes the peer wait. */
static void update_reading(struct stream *s)
{
    bool wanted = !s->paused && !s->ended && !s->closing;
    if (wanted == s->reading || s->closing || !s->started)
        return;
    s->reading = wanted;
    if (!wanted)
        uv_read_stop(&s->uv.stream);
    else if (uv_read_start(&s->uv.stream, on_alloc, on_read) < 0)
        stream_abort(s);
}

static void opened(struct stream *s)
{
    s->open = true;
    net_timer_stop(s->linger);
    s->linger = NULL;
    s->ops->opened(s->ctx);
}

static void start(struct stream *s)
{
    s->connected = false;
    s->started = true;
    if (s->uv.handle.type == UV_TCP) {
        uv_tcp_nodelay(&s->uv.tcp, 1);
        uv_tcp_keepalive(&s->uv.tcp, 1, KEEPALIVE_S);
    }
    if (s->has_tls)
        shake_hands(s); /* a client speaks first */
    else
        opened(s);
}

/* One round of what the owner has. True: there may be more, and room for it. */
static bool pump(struct stream *s, bool now)
{
    if (!s->closing && s->open && !s->finishing)
        s->ops->pump(s->ctx);
    if (s->closing || s->finishing)
        return false;
    bool more = stream_room(s) == 0;
    send_all(s, now);
    return more && !s->closing && s->in_flight == 0;
}

/* The last round is sent later, so that the stream is told and goes on then. */
void stream_flush(struct stream *s)
{
    int round = 1;
    unwake(s);
    if (s->connected)
        start(s);
    take_held(s);
    update_reading(s);
    while (pump(s, round < ROUNDS))
        round++;
    if (s->finishing && !s->closing)
        finish_now(s);
}

bool stream_stalled(struct stream *s, uint64_t ms)
{
    size_t queue = uv_stream_get_write_queue_size(&s->uv.stream);
    if (queue == 0 || queue != s->queue_seen) {
        s->queue_seen = queue;
        s->progress_ms = loop_now(s->loop);
    }
    return loop_now(s->loop) - s->progress_ms >= ms;
}

/* ---- receiving ---- */

/* True: the handshake is over. */
static bool shake_hands(struct stream *s)
{
    switch (tls_handshake(&s->tls)) {
    case TLS_OK:
        opened(s);
        return !s->closing;
    case TLS_MORE:
        stream_wake(s);
        return false;
    default:
        tls_failure(&s->tls, &s->why);
        stream_finish(s); /* what is to be sent is an alert */
        return false;
    }
}

static void peer_ended(struct stream *s)
{
    if (s->ended || s->closing)
        return;
    s->ended = true;
    stream_wake(s);
    if (!s->open || (s->finishing && s->linger))
        stream_abort(s);
    else if (!s->finishing)
        s->ops->ended(s->ctx);
}

/* Decrypts what there is. What a pause leaves over is held as it came. */
static void receive_tls(struct stream *s, struct str bytes)
{
    enum tls_status status = TLS_OK;
    s->tls.in = bytes;
    if (!s->open && tls_is_plain_http(&s->tls, bytes)) {
        strbuf_adds(&s->tls.out, "HTTP/1.0 400 Bad Request\r\n\r\n"
                                 "This port speaks TLS: the address begins with https\n");
        stream_finish(s);
        return;
    }
    if (!s->open && !shake_hands(s))
        return;
    while (status == TLS_OK && !s->closing && !s->finishing && !s->paused) {
        size_t n = 0;
        status = tls_read(&s->tls, s->loop->plain, sizeof s->loop->plain, &n);
        if (status == TLS_OK)
            s->ops->data(s->ctx, (struct str){s->loop->plain, n});
    }
    if (s->closing || s->finishing)
        return;
    if (s->paused)
        strbuf_addstr(&s->held, s->tls.in);
    s->tls.in = STR_NONE;
    stream_wake(s); /* TLS itself may have something to say */
    if (status == TLS_END)
        peer_ended(s);
    else if (status == TLS_BROKEN)
        stream_abort(s);
}

static void receive(struct stream *s, struct str bytes)
{
    if (s->finishing)
        return;
    if (s->has_tls)
        receive_tls(s, bytes);
    else if (s->paused)
        strbuf_addstr(&s->held, bytes);
    else
        s->ops->data(s->ctx, bytes);
}

static void on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
    struct stream *s = handle->data;
    if (n > 0) {
        if (s->finishing && (s->discarded += (size_t)n) > LINGER_BYTES)
            stream_abort(s);
        else
            receive(s, (struct str){buf->base, (size_t)n});
    } else if (n == UV_EOF) {
        peer_ended(s);
    } else if (n < 0) {
        abort_for(s, (int)n);
    }
}

void stream_pause(struct stream *s, bool paused)
{
    if (s->paused == paused || s->finishing)
        return;
    s->paused = paused;
    stream_wake(s);
}

/* ---- the beginning ---- */

static struct stream *stream_new(struct net_loop *l, bool local, bool own_tls,
                                 const struct stream_ops *ops, void *ctx)
{
    struct stream *s = mem_zalloc(sizeof *s);
    s->loop = l;
    s->ops = ops;
    s->ctx = ctx;
    s->has_tls = own_tls;
    s->progress_ms = loop_now(l);
    if (local)
        uv_pipe_init(&l->uv, &s->uv.pipe, 0);
    else
        uv_tcp_init(&l->uv, &s->uv.tcp);
    s->uv.handle.data = s;
    return s;
}

static void connected(struct stream *s)
{
    s->connected = true;
    stream_wake(s);
}

struct stream *stream_accept(struct net_loop *l, uv_stream_t *listener, bool local,
                             SSL_CTX *tls, const struct stream_ops *ops, void *ctx)
{
    struct stream *s = stream_new(l, local, tls != NULL, ops, ctx);
    if (tls)
        tls_session_init(&s->tls, tls, false, NULL);
    if (uv_accept(listener, &s->uv.stream) < 0)
        stream_abort(s);
    else
        connected(s);
    return s;
}

struct stream *stream_adopt(struct net_loop *l, int fd, const struct stream_ops *ops,
                            void *ctx)
{
    struct stream *s = stream_new(l, true, false, ops, ctx);
    if (uv_pipe_open(&s->uv.pipe, fd) < 0)
        stream_abort(s);
    else
        connected(s);
    return s;
}

static void on_connect(uv_connect_t *req, int status)
{
    struct stream *s = req->data;
    free(req);
    if (s->closing)
        return;
    if (status < 0)
        abort_for(s, status);
    else
        connected(s);
}

struct stream *stream_connect(struct net_loop *l, const struct sockaddr *to, SSL_CTX *tls,
                              const char *name, const struct stream_ops *ops, void *ctx)
{
    struct stream *s = stream_new(l, false, tls != NULL, ops, ctx);
    uv_connect_t *req = mem_alloc(sizeof *req);
    if (tls)
        tls_session_init(&s->tls, tls, true, name);
    req->data = s;
    int status = uv_tcp_connect(req, &s->uv.tcp, to, on_connect);
    if (status == 0) {
        s->linger = net_timer_start(l, CONNECT_MS, 0, linger_over, s);
        return s;
    }
    free(req);
    abort_for(s, status);
    return s;
}

struct stream *stream_connect_local(struct net_loop *l, const char *path,
                                    const struct stream_ops *ops, void *ctx)
{
    struct stream *s = stream_new(l, true, false, ops, ctx);
    uv_connect_t *req = mem_alloc(sizeof *req);
    req->data = s;
    s->linger = net_timer_start(l, CONNECT_MS, 0, linger_over, s);
    uv_pipe_connect(req, &s->uv.pipe, path, on_connect);
    return s;
}

void stream_hand_over(struct stream *s, const struct stream_ops *ops, void *ctx)
{
    s->ops = ops;
    s->ctx = ctx;
}

static struct str print_peer(const struct sockaddr_storage *name, struct arena *a)
{
    char text[64] = "";
    if (name->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)name;
        uv_ip6_name(in6, text, sizeof text);
        return arena_printf(a, "[%s]:%u", text, (unsigned)ntohs(in6->sin6_port));
    }
    const struct sockaddr_in *in = (const struct sockaddr_in *)name;
    uv_ip4_name(in, text, sizeof text);
    return arena_printf(a, "%s:%u", text, (unsigned)ntohs(in->sin_port));
}

struct str stream_peer(const struct stream *s, struct arena *a)
{
    struct sockaddr_storage name;
    int n = sizeof name;
    if (s->uv.handle.type != UV_TCP ||
        uv_tcp_getpeername(&s->uv.tcp, (struct sockaddr *)&name, &n) < 0)
        return STR_NONE;
    return print_peer(&name, a);
}
