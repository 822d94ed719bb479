/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a client, by nghttp2. Its callbacks may call the owner, who may cancel
 * calls and close the client: both only submit frames, and nothing is freed underneath
 * but calls, which are looked up by their stream each time.
 */
#include "net/call.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/mem.h"

enum {
    STREAM_WINDOW = 1 << 20,
    CONN_WINDOW = 8 << 20,
    MAX_HEADER_BYTES = 64 * 1024,
};

static struct net_call *call_of(nghttp2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session, stream);
}

/* ---- the end ---- */

static void call_free(struct net_call *call)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    net_timer_stop(call->timer);
    net_timer_stop(call->resuming);
    strbuf_release(&call->out);
    strbuf_release(&call->held);
    vec_release(&call->headers);
    arena_fini(&call->arena);
    free(call);
}

/* The session forgets it; reset: and the server is told, or never asked. */
static void detach(struct net_call *call, bool reset)
{
    struct net_client *c = call->client;
    bool there = !call->sent || call_of(c->session, call->id) == call;
    nghttp2_session_set_stream_user_data(c->session, call->id, NULL);
    if (reset && there)
        nghttp2_submit_rst_stream(c->session, 0, call->id, NGHTTP2_CANCEL);
    if (reset && c->stream)
        stream_wake(c->stream);
}

static void finish(struct net_call *call, const struct net_call_end *end)
{
    call->ops->done(call->ctx, end);
    call_free(call);
}

static void fail(struct net_call *call, const struct err *why, bool untouched)
{
    struct net_call_end end = {.err = why, .untouched = untouched};
    finish(call, &end);
}

/* What came while the call was paused. */
static void deliver_held(struct net_call *call)
{
    struct net_client *c = call->client;
    struct strbuf held = call->held;
    int32_t id = call->id;
    strbuf_init(&call->held);
    if (held.n > 0 && !call->ended)
        nghttp2_session_consume_stream(c->session, id, held.n);
    if (held.n > 0)
        call->ops->data(call->ctx, strbuf_str(&held));
    strbuf_release(&held);
}

/* The answer is there. Whoever gives it before the request is over wants no more. */
static void finish_complete(struct net_call *call)
{
    struct net_call_end end = {.trailers = call->headers.v,
                               .ntrailers = (uint32_t)call->headers.n};
    detach(call, !call->finished || call->out_at < call->out.n);
    finish(call, &end);
}

void call_end_all(struct net_client *c, const struct err *why)
{
    while (c->calls) {
        struct net_call *call = c->calls; /* freeing it unlinks it */
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        nghttp2_session_set_stream_user_data(c->session, call->id, NULL);
        if (call->ended && call->held.n > 0)
            deliver_held(call);
        else if (call->ended)
            finish_complete(call);
        else
            fail(call, why, !call->sent);
    }
}

void net_call_cancel(struct net_call *call)
{
    detach(call, true);
    call_free(call);
}

static void on_timeout(void *ctx)
{
    struct net_call *call = ctx;
    struct err e = ERR_INIT;
    call->timer = NULL;
    err_set(&e, ERR_TIMEOUT, "no answer in time");
    detach(call, true);
    fail(call, &e, !call->sent);
    err_release(&e);
}

/* ---- the answer ---- */

/* Not sent, and never will be. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error,
                       void *ctx)
{
    struct net_client *c = ctx;
    struct err e = ERR_INIT;
    if (frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    struct net_call *call = c->calls;
    while (call && call->id != frame->hd.stream_id)
        call = call->next;
    if (!call)
        return 0;
    err_set(&e, ERR_IO, "not sent: %s", nghttp2_strerror(error));
    detach(call, false);
    fail(call, &e, true);
    err_release(&e);
    return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct net_call *call = call_of(session, frame->hd.stream_id);
    if (call && frame->hd.type == NGHTTP2_HEADERS)
        call->sent = true;
    return 0;
}

static void forget_headers(struct net_call *call)
{
    vec_clear(&call->headers);
    arena_reset(&call->arena);
    call->header_bytes = 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
                            void *ctx)
{
    struct net_call *call = call_of(session, frame->hd.stream_id);
    if (call)
        forget_headers(call);
    return 0;
}

static void refuse_headers(struct net_call *call)
{
    struct err e = ERR_INIT;
    err_set(&e, ERR_LIMIT, "the answer's headers have more than %d bytes",
            MAX_HEADER_BYTES);
    detach(call, true);
    fail(call, &e, false);
    err_release(&e);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t nname, const uint8_t *value,
                     size_t nvalue, uint8_t flags, void *ctx)
{
    struct net_call *call = call_of(session, frame->hd.stream_id);
    struct str n = {(const char *)name, nname}, v = {(const char *)value, nvalue};
    if (!call)
        return 0;
    call->header_bytes += nname + nvalue + sizeof(struct net_header);
    if (call->header_bytes > MAX_HEADER_BYTES)
        refuse_headers(call);
    else if (str_is(n, ":status"))
        call->status = (unsigned)strtoul(arena_str(&call->arena, v).p, NULL, 10);
    else
        vec_push(&call->headers, (struct net_header){arena_str(&call->arena, n),
                                                     arena_str(&call->arena, v)});
    return 0;
}

static void end_head(struct net_call *call, bool last)
{
    if (call->status / 100 == 1)
        return;
    call->ops->head(call->ctx, call->status, call->headers.v, (uint32_t)call->headers.n,
                    last);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    int32_t id = frame->hd.stream_id;
    bool last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    bool headers = frame->hd.type == NGHTTP2_HEADERS;
    struct net_call *call = call_of(session, id);
    if (frame->hd.type == NGHTTP2_GOAWAY)
        ((struct net_client *)ctx)->leaving = true;
    if (!call || (!headers && frame->hd.type != NGHTTP2_DATA))
        return 0;
    if (headers && !call->headed)
        end_head(call, last);
    call = call_of(session, id); /* it may be gone */
    if (call && headers && !call->headed && call->status / 100 != 1) {
        call->headed = true;
        forget_headers(call);
    }
    if (call && last)
        call->ended = true;
    if (call && last && !call->paused)
        finish_complete(call);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p,
                   size_t n, void *ctx)
{
    struct net_call *call = call_of(session, id);
    struct str bytes = {(const char *)p, n};
    nghttp2_session_consume_connection(session, n);
    if (!call)
        return 0;
    if (call->paused || call->held.n > 0) {
        strbuf_addstr(&call->held, bytes);
        return 0;
    }
    nghttp2_session_consume_stream(session, id, n);
    call->ops->data(call->ctx, bytes);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error,
                           void *ctx)
{
    struct net_call *call = call_of(session, id);
    struct err e = ERR_INIT;
    struct net_call_end end = {
        .err = &e, .untouched = error == NGHTTP2_REFUSED_STREAM, .reset = error};
    /* A complete answer that waits for the owner stays; it is off the session. */
    nghttp2_session_set_stream_user_data(session, id, NULL);
    if (!call || call->ended)
        return 0;
    err_set(&e, ERR_IO, "the server has ended the call: %s",
            nghttp2_http2_strerror(error));
    finish(call, &end);
    err_release(&e);
    return 0;
}

nghttp2_session *call_session_new(struct net_client *c)
{
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_BYTES},
    };
    nghttp2_session_callbacks *cb;
    nghttp2_option *option;
    nghttp2_session *session;
    if (nghttp2_session_callbacks_new(&cb) != 0 || nghttp2_option_new(&option) != 0)
        bug("net: no HTTP/2 client");
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(cb, on_not_sent);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    if (nghttp2_session_client_new2(&session, cb, c, option) != 0)
        bug("net: no HTTP/2 session");
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(session, 0, settings, sizeof settings / sizeof *settings);
    nghttp2_session_set_local_window_size(session, 0, 0, CONN_WINDOW);
    return session;
}

/* ---- pausing ---- */

static struct net_call *find(struct net_client *c, int32_t id)
{
    struct net_call *call = c->calls;
    while (call && call->id != id)
        call = call->next;
    return call;
}

/* From the loop, so that no callback comes from within net_call_pause. */
static void resume(void *ctx)
{
    struct net_call *call = ctx;
    struct net_client *c = call->client;
    int32_t id = call->id;
    call->resuming = NULL;
    deliver_held(call);
    call = find(c, id);
    if (call && call->ended && !call->paused)
        finish_complete(call);
    if (c->stream)
        stream_wake(c->stream);
}

void net_call_pause(struct net_call *call, bool paused)
{
    call->paused = paused;
    if (!paused && !call->resuming)
        call->resuming = net_timer_start(call->client->loop, 0, 0, resume, call);
}

/* ---- the request ---- */

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buf,
                         size_t size, uint32_t *flags, nghttp2_data_source *source,
                         void *ctx)
{
    struct net_call *call = call_of(session, stream);
    if (!call)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t left = call->out.n - call->out_at, n = left < size ? left : size;
    if (n > 0)
        memcpy(buf, call->out.p + call->out_at, n);
    call->out_at += n;
    if (call->out_at == call->out.n) {
        strbuf_release(&call->out);
        call->out_at = 0;
        if (call->finished)
            *flags |= NGHTTP2_DATA_FLAG_EOF;
        else if (n == 0)
            return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

static void more_to_send(struct net_call *call)
{
    nghttp2_session_resume_data(call->client->session, call->id);
    if (call->client->stream) /* else it is not connected yet */
        stream_wake(call->client->stream);
}

/* What was sent already makes room once it is the larger part. */
void net_call_send(struct net_call *call, struct str bytes)
{
    if (call->finished || call->ended)
        return;
    if (call->out_at > call->out.n / 2) {
        call->out.n -= call->out_at;
        memmove(call->out.p, call->out.p + call->out_at, call->out.n);
        call->out_at = 0;
    }
    strbuf_addstr(&call->out, bytes);
    more_to_send(call);
}

void net_call_finish(struct net_call *call)
{
    if (call->finished || call->ended)
        return;
    call->finished = true;
    more_to_send(call);
}

size_t net_call_unsent(const struct net_call *call)
{
    return call->out.n - call->out_at;
}

static nghttp2_nv field(struct str name, struct str value)
{
    return (nghttp2_nv){(uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n, 0};
}

/* The stream's number, or negative. */
static int32_t submit(struct net_client *c, const struct net_call_opts *opts,
                      struct net_call *call)
{
    VEC(nghttp2_nv) nv = {0};
    vec_push(&nv, field(STR(":method"), opts->method));
    vec_push(&nv, field(STR(":scheme"), str_from(c->scheme)));
    vec_push(&nv, field(STR(":authority"), str_from(c->authority)));
    vec_push(&nv, field(STR(":path"), opts->path));
    for (uint32_t i = 0; i < opts->nheaders; i++)
        vec_push(&nv, field(opts->headers[i].name, opts->headers[i].value));
    nghttp2_data_provider body = {{.ptr = NULL}, read_body};
    bool bodyless = !opts->more && opts->body.n == 0;
    int32_t id = nghttp2_submit_request(c->session, NULL, nv.v, nv.n,
                                        bodyless ? NULL : &body, call);
    vec_release(&nv);
    return id;
}

static void link_call(struct net_client *c, struct net_call *call)
{
    call->next = c->calls;
    call->link = &c->calls;
    if (c->calls)
        c->calls->link = &call->next;
    c->calls = call;
}

struct net_call *net_call_start(struct net_client *c, const struct net_call_opts *opts,
                                const struct net_call_ops *ops, void *ctx)
{
    if (c->over || c->closed || !nghttp2_session_check_request_allowed(c->session))
        return NULL;
    struct net_call *call = mem_zalloc(sizeof *call);
    call->client = c;
    call->ops = ops;
    call->ctx = ctx;
    call->finished = !opts->more;
    call->id = submit(c, opts, call);
    if (call->id < 0) {
        free(call);
        return NULL;
    }
    strbuf_addstr(&call->out, opts->body);
    link_call(c, call);
    if (opts->timeout_ms)
        call->timer = net_timer_start(c->loop, opts->timeout_ms, 0, on_timeout, call);
    if (c->stream)
        stream_wake(c->stream);
    return call;
}
