/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 by nghttp2. Frames are made when the stream has room (h2_pump), never earlier,
 * so that what waits for a slow reader waits in its exchange.
 *
 * The session's callbacks may call handlers: they submit frames only, nothing is sent and
 * nothing freed underneath.
 */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/mem.h"
#include "net/conn.h"

enum {
    STREAM_WINDOW = 256 * 1024,
    CONN_WINDOW = 1 << 20,
    MAX_HEADER_LIST = 64 * 1024,
    MAX_DROPPED = 8 << 20,
    FRAME_HEAD = 9,
    /* Frames that ask for work and bring nothing: so many at once, so many a second. */
    CHEAP_BURST = 5000,
    CHEAP_PER_S = 1000,
};

struct h2 {
    nghttp2_session *session;
    uint64_t cheap_ms; /* when `cheap` was last filled up */
    int64_t cheap;     /* frames that may still come */
    bool broken;
};

static struct exchange *exchange_of(nghttp2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session, stream);
}

static nghttp2_nv field(struct str name, struct str value)
{
    return (nghttp2_nv){(uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n, 0};
}

/* ---- requests ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
                            void *ctx)
{
    struct conn *c = ctx;
    int32_t id = frame->hd.stream_id;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    /* A client that resets its requests still has them worked on. */
    if (c->nexchanges >= 2 * c->server->opts.max_streams)
        return nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_REFUSED_STREAM);
    struct exchange *x = exchange_new(c);
    x->stream = id;
    nghttp2_session_set_stream_user_data(session, id, x);
    return 0;
}

static bool pseudo_header(struct exchange *x, struct str name, struct str value)
{
    if (str_is(name, ":method"))
        x->pub.method = arena_str(&x->arena, value);
    else if (str_is(name, ":path"))
        exchange_set_target(x, value);
    else if (str_is(name, ":authority"))
        return exchange_add_header(x, STR("host"), value);
    x->header_bytes += value.n;
    return true;
}

/* What is above the limit is read over, and refused at the end. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t nname, const uint8_t *value,
                     size_t nvalue, uint8_t flags, void *ctx)
{
    struct exchange *x = exchange_of(session, frame->hd.stream_id);
    struct str n = {(const char *)name, nname}, v = {(const char *)value, nvalue};
    if (!x || x->have_headers || x->refused)
        return 0;
    if (nname > 0 && name[0] == ':')
        pseudo_header(x, n, v);
    else
        exchange_add_header(x, n, v);
    return 0;
}

static unsigned refusal(const struct exchange *x)
{
    if (x->refused)
        return x->refused;
    if (!x->pub.method.p || str_is(x->pub.method, "CONNECT"))
        return 405;
    struct str length = net_header_get(&x->pub, "content-length");
    if (length.n > 0 && strtoull(length.p, NULL, 10) > x->conn->server->opts.max_body)
        return 413;
    return x->pub.path.p ? 0 : 400;
}

static void end_headers(struct exchange *x)
{
    x->have_headers = true;
    x->pub.headers = x->headers.v;
    x->pub.nheaders = (uint32_t)x->headers.n;
    x->refused = refusal(x);
    if (!x->pub.method.p)
        x->pub.method = STR("GET");
    if (!x->pub.path.p)
        x->pub.path = STR("/");
}

/* False: the client asks for more than anyone who means well. */
static bool pay(struct conn *c)
{
    struct h2 *h = c->h2;
    uint64_t now = loop_now(c->server->loop);
    h->cheap += (int64_t)(now - h->cheap_ms) * CHEAP_PER_S / 1000;
    h->cheap_ms = now;
    if (h->cheap > CHEAP_BURST)
        h->cheap = CHEAP_BURST;
    return --h->cheap >= 0;
}

static bool is_cheap(const nghttp2_frame *frame)
{
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    switch (frame->hd.type) {
    case NGHTTP2_PING:
    case NGHTTP2_SETTINGS:
    case NGHTTP2_RST_STREAM:
    case NGHTTP2_PRIORITY:
        return true;
    case NGHTTP2_DATA:
        return frame->hd.length == 0 && !ends;
    default:
        return false;
    }
}

static void say_continue(nghttp2_session *session, struct exchange *x)
{
    nghttp2_nv status = field(STR(":status"), STR("100"));
    if (str_is(net_header_get(&x->pub, "expect"), "100-continue"))
        nghttp2_submit_headers(session, 0, x->stream, NULL, &status, 1, NULL);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct conn *c = ctx;
    bool is_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (is_cheap(frame) && !pay(c))
        nghttp2_session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM);
    struct exchange *x = is_request ? exchange_of(session, frame->hd.stream_id) : NULL;
    if (!x)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && !x->have_headers)
        end_headers(x);
    if (x->refused || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        exchange_ask(x);
    else if (frame->hd.type == NGHTTP2_HEADERS)
        say_continue(session, x);
    return 0;
}

/* The rest of a request that was refused. Some clients see the answer only when they have
 * sent all, so a little is put up with (the server's sweep ends the wait). */
static void drop(struct exchange *x, size_t n)
{
    x->dropped += n;
    if (x->dropped > MAX_DROPPED)
        exchange_cut(x);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                   const uint8_t *p, size_t n, void *ctx)
{
    struct exchange *x = exchange_of(session, stream);
    if (x && x->asked)
        drop(x, n);
    else if (x && !exchange_add_body(x, (struct str){(const char *)p, n}))
        exchange_ask(x);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error,
                           void *ctx)
{
    struct exchange *x = exchange_of(session, stream);
    nghttp2_session_set_stream_user_data(session, stream, NULL);
    if (x)
        exchange_detach(x);
    return 0;
}

/* ---- responses ---- */

/* They end the stream in the last frame's place. */
static uint32_t submit_trailers(nghttp2_session *session, const struct exchange *x)
{
    VEC(nghttp2_nv) nv = {0};
    for (uint32_t i = 0; i < x->ntrailers; i++)
        vec_push(&nv, field(x->trailers[i].name, x->trailers[i].value));
    bool submitted =
        nv.n > 0 && nghttp2_submit_trailer(session, x->stream, nv.v, nv.n) == 0;
    vec_release(&nv);
    return submitted ? NGHTTP2_DATA_FLAG_NO_END_STREAM : 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buf,
                         size_t size, uint32_t *flags, nghttp2_data_source *source,
                         void *ctx)
{
    struct exchange *x = source->ptr;
    size_t n = x->unsent < size ? x->unsent : size;
    if (n == 0 && !exchange_said_all(x))
        return NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (exchange_said_all(x) && n == x->unsent)
        *flags |= NGHTTP2_DATA_FLAG_EOF | submit_trailers(session, x);
    return (ssize_t)n;
}

/* Right after read_body: the frame straight from the pieces to the stream. */
static int send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                     size_t n, nghttp2_data_source *source, void *ctx)
{
    struct conn *c = ctx;
    struct exchange *x = source->ptr;
    stream_write(c->stream, (struct str){(const char *)head, FRAME_HEAD});
    for (size_t left = n; left > 0;) {
        struct str piece = exchange_peek(x, left);
        stream_write(c->stream, piece);
        exchange_consume(x, piece.n);
        left -= piece.n;
    }
    exchange_drained(x);
    return stream_room(c->stream) > 0 ? 0 : NGHTTP2_ERR_PAUSE;
}

/* RFC 9113, 8.2.2: what concerns a connection of HTTP/1.1 has no place here. */
static bool is_of_connection(struct str name)
{
    static const char *const names[] = {"connection", "transfer-encoding", "upgrade",
                                        "keep-alive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static void h2_begin(struct exchange *x, unsigned status,
                     const struct net_header *headers, uint32_t nheaders, int64_t length)
{
    struct conn *c = x->conn;
    char code[12], size[24];
    VEC(nghttp2_nv) nv = {0};
    snprintf(code, sizeof code, "%u", status);
    vec_push(&nv, field(STR(":status"), str_from(code)));
    for (uint32_t i = 0; i < nheaders; i++)
        if (!is_of_connection(headers[i].name))
            vec_push(&nv, field(headers[i].name, headers[i].value));
    vec_push(&nv, field(STR("date"), loop_date(c->server->loop)));
    if (length >= 0 && status != 204 && status != 304) {
        snprintf(size, sizeof size, "%lld", (long long)length);
        vec_push(&nv, field(STR("content-length"), str_from(size)));
    }
    nghttp2_data_provider body = {{.ptr = x}, read_body};
    bool bodyless = length == 0 || x->head;
    if (nghttp2_submit_response(c->h2->session, x->stream, nv.v, nv.n,
                                bodyless ? NULL : &body) != 0)
        exchange_cut(x);
    vec_release(&nv);
    stream_wake(c->stream);
}

static void h2_more(struct exchange *x)
{
    nghttp2_session_resume_data(x->conn->h2->session, x->stream);
    stream_wake(x->conn->stream);
}

static void h2_cut(struct exchange *x)
{
    nghttp2_submit_rst_stream(x->conn->h2->session, 0, x->stream,
                              exchange_said_all(x) && x->unsent == 0 ? NGHTTP2_NO_ERROR
                                                                     : NGHTTP2_CANCEL);
    stream_wake(x->conn->stream);
}

/* ---- the session ---- */

static nghttp2_session_callbacks *callbacks_new(void)
{
    nghttp2_session_callbacks *cb;
    if (nghttp2_session_callbacks_new(&cb) != 0)
        bug("net: no HTTP/2 callbacks");
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_session_callbacks_set_send_data_callback(cb, send_data);
    return cb;
}

static void h2_open(struct conn *c)
{
    struct h2 *h = c->h2 = mem_zalloc(sizeof *h);
    nghttp2_session_callbacks *cb = callbacks_new();
    nghttp2_option *option;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, c->server->opts.max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST},
    };
    h->cheap = CHEAP_BURST;
    h->cheap_ms = loop_now(c->server->loop);
    if (nghttp2_option_new(&option) != 0)
        bug("net: no HTTP/2 options");
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_stream_reset_rate_limit(option, CHEAP_BURST, CHEAP_PER_S);
    if (nghttp2_session_server_new2(&h->session, cb, c, option) != 0)
        bug("net: no HTTP/2 session");
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(h->session, 0, settings, sizeof settings / sizeof *settings);
    nghttp2_session_set_local_window_size(h->session, 0, 0, CONN_WINDOW);
    stream_wake(c->stream);
}

static void h2_data(struct conn *c, struct str bytes)
{
    struct h2 *h = c->h2;
    if (h->broken)
        return;
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)bytes.p, bytes.n);
    h->broken = n < 0;
    if (h->broken) /* no preface, or a flood; the pump sends GOAWAY where there is one */
        nghttp2_session_terminate_session(h->session, NGHTTP2_PROTOCOL_ERROR);
    stream_wake(c->stream);
}

/* A client that sends no more opens no window, and ends none of its requests. */
static bool is_over(const struct conn *c)
{
    nghttp2_session *session = c->h2->session;
    return !nghttp2_session_want_write(session) &&
           (c->stream->ended || !nghttp2_session_want_read(session));
}

static void h2_pump(struct conn *c)
{
    struct h2 *h = c->h2;
    const uint8_t *p;
    ssize_t n = 0;
    while (stream_room(c->stream) > 0 &&
           (n = nghttp2_session_mem_send(h->session, &p)) > 0)
        stream_write(c->stream, (struct str){(const char *)p, (size_t)n});
    if (n < 0)
        stream_abort(c->stream);
    else if (h->broken || is_over(c))
        stream_finish(c->stream);
}

/* RFC 9113, 6.8: streams up to the last seen are served, the client takes others
 * elsewhere. The session wants neither reading nor writing once they have ended. */
static void h2_shut_down(struct conn *c)
{
    nghttp2_session *session = c->h2->session;
    nghttp2_submit_goaway(session, 0, nghttp2_session_get_last_proc_stream_id(session),
                          NGHTTP2_NO_ERROR, NULL, 0);
    stream_wake(c->stream);
}

static void h2_fini(struct conn *c)
{
    nghttp2_session_del(c->h2->session);
    free(c->h2);
}

const struct proto h2_proto = {
    .open = h2_open,
    .data = h2_data,
    .pump = h2_pump,
    .begin = h2_begin,
    .more = h2_more,
    .cut = h2_cut,
    .shut_down = h2_shut_down,
    .fini = h2_fini,
};
