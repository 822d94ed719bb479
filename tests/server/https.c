/* SPDX-License-Identifier: Apache-2.0 */
#include "server/https.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    HANDSHAKE_S = 10,
    STREAM_WINDOW = 64 << 20, /* no answer waits for the window, whoever is asked */
    CONN_WINDOW = 1 << 30,
    OUT_ENOUGH = 64 << 10, /* bytes that are gathered before they are sent */
    READ_SIZE = 64 << 10,
    MOST_EVENTS = 256,
};

struct https {
    SSL_CTX *tls;
    int epoll;
    struct https_conn *conns;
    uint64_t received;
};

struct https_conn {
    struct https_conn *next, **link;
    struct https *owner;
    int fd;
    SSL *ssl;
    nghttp2_session *session;
    struct https_call *calls;
    struct strbuf out;
    size_t sent;    /* of out */
    bool wants_out; /* epoll is asked for EPOLLOUT */
    bool lost;
    char authority[32];
};

struct https_call {
    struct https_call *next, **link;
    struct https_conn *conn;
    struct https_request r;
    int32_t stream;
    unsigned status;
    char *body; /* of the request, owned */
    size_t sent;
    struct strbuf answer;
};

/* ---- calls ---- */

static void call_end(struct https_call *call, unsigned status)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    call->r.done(call->r.ctx, status, strbuf_str(&call->answer));
    strbuf_release(&call->answer);
    free(call->body);
    free(call);
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buf,
                         size_t size, uint32_t *flags, nghttp2_data_source *source,
                         void *ctx)
{
    struct https_call *call = source->ptr;
    size_t n = call->r.body.n - call->sent;
    if (n > size)
        n = size;
    memcpy(buf, call->body + call->sent, n);
    call->sent += n;
    if (call->sent == call->r.body.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv field(const char *name, struct str value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value.p, strlen(name), value.n, 0};
}

static void submit(struct https_call *call)
{
    const struct https_request *r = &call->r;
    struct https_conn *c = call->conn;
    nghttp2_nv nv[8];
    size_t n = 0;
    nghttp2_data_provider body = {{.ptr = call}, read_body};
    nv[n++] = field(":method", str_from(r->method));
    nv[n++] = field(":scheme", STR("https"));
    nv[n++] = field(":path", r->path);
    nv[n++] = field(":authority", str_from(c->authority));
    nv[n++] = field("accept", str_from(r->accept ? r->accept : "application/json"));
    nv[n++] = field("user-agent", STR("load/v1"));
    if (r->body.p)
        nv[n++] = field("content-type", str_from(r->type ? r->type : "application/json"));
    call->stream =
        nghttp2_submit_request(c->session, NULL, nv, n, r->body.p ? &body : NULL, call);
}

struct https_call *https_send(struct https_conn *c, const struct https_request *r)
{
    struct https_call *call = mem_zalloc(sizeof *call);
    call->r = *r;
    call->conn = c;
    if (r->body.p)
        call->body = mem_dup(r->body.p, r->body.n);
    call->next = c->calls;
    call->link = &c->calls;
    if (call->next)
        call->next->link = &call->next;
    c->calls = call;
    if (!c->lost)
        submit(call); /* else the next https_run ends it */
    return call;
}

unsigned https_status(const struct https_call *call)
{
    return call->status;
}

void https_cancel(struct https_call *call)
{
    call->status = 0;
    call->r.data = NULL;
    if (!call->conn->lost)
        nghttp2_submit_rst_stream(call->conn->session, 0, call->stream, NGHTTP2_CANCEL);
}

/* ---- what is received ---- */

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t nname, const uint8_t *value,
                     size_t nvalue, uint8_t flags, void *ctx)
{
    struct https_call *call =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call && nname == 7 && memcmp(name, ":status", 7) == 0)
        call->status = (unsigned)strtoul((const char *)value, NULL, 10);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                   const uint8_t *p, size_t n, void *ctx)
{
    struct https_call *call = nghttp2_session_get_stream_user_data(session, stream);
    struct str bytes = {(const char *)p, n};
    if (call && call->r.data)
        call->r.data(call->r.ctx, call, bytes);
    else if (call)
        strbuf_addstr(&call->answer, bytes);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *ctx)
{
    struct https_call *call = nghttp2_session_get_stream_user_data(session, stream);
    nghttp2_session_set_stream_user_data(session, stream, NULL);
    if (call)
        call_end(call, error == NGHTTP2_NO_ERROR ? call->status : 0);
    return 0;
}

static nghttp2_session *session_new(struct https_conn *c)
{
    nghttp2_session_callbacks *cb;
    nghttp2_session *session;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    if (nghttp2_session_callbacks_new(&cb) != 0)
        abort();
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    if (nghttp2_session_client_new(&session, cb, c) != 0)
        abort();
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(session, 0, settings, sizeof settings / sizeof *settings);
    nghttp2_session_set_local_window_size(session, 0, 0, CONN_WINDOW);
    return session;
}

/* ---- bytes ---- */

static void watch_out(struct https_conn *c, bool wanted)
{
    struct epoll_event e = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
    if (wanted == c->wants_out)
        return;
    c->wants_out = wanted;
    epoll_ctl(c->owner->epoll, EPOLL_CTL_MOD, c->fd, &e);
}

static void lose(struct https_conn *c)
{
    if (!c->lost)
        epoll_ctl(c->owner->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    c->lost = true;
    ERR_clear_error();
}

/* False: the system takes no more for now. */
static bool send_out(struct https_conn *c)
{
    while (c->sent < c->out.n) {
        size_t n = 0;
        if (SSL_write_ex(c->ssl, c->out.p + c->sent, c->out.n - c->sent, &n) == 1) {
            c->sent += n;
            continue;
        }
        if (SSL_get_error(c->ssl, 0) != SSL_ERROR_WANT_WRITE)
            lose(c);
        return false;
    }
    strbuf_clear(&c->out);
    c->sent = 0;
    return true;
}

static void pump(struct https_conn *c)
{
    const uint8_t *p;
    ssize_t n = 1;
    while (!c->lost && n > 0) {
        while (c->out.n < OUT_ENOUGH &&
               (n = nghttp2_session_mem_send(c->session, &p)) > 0)
            strbuf_add(&c->out, p, (size_t)n);
        if (n < 0)
            lose(c);
        if (c->out.n == 0 || !send_out(c))
            break;
    }
    if (!c->lost)
        watch_out(c, c->out.n > 0);
}

static void receive(struct https_conn *c)
{
    static _Thread_local char buf[READ_SIZE];
    size_t n;
    while (!c->lost && SSL_read_ex(c->ssl, buf, sizeof buf, &n) == 1) {
        c->owner->received += n;
        if (nghttp2_session_mem_recv(c->session, (uint8_t *)buf, n) < 0)
            lose(c);
    }
    if (!c->lost && SSL_get_error(c->ssl, 0) != SSL_ERROR_WANT_READ)
        lose(c);
}

static void end_calls(struct https_conn *c)
{
    struct https_call *calls = c->calls;
    c->calls = NULL;
    if (calls)
        calls->link = &calls;
    while (calls)
        call_end(calls, 0); /* NOLINT(clang-analyzer-unix.Malloc): takes itself out */
}

void https_run(struct https *h, int ms)
{
    struct epoll_event events[MOST_EVENTS];
    for (struct https_conn *c = h->conns; c; c = c->next)
        pump(c);
    int n = epoll_wait(h->epoll, events, MOST_EVENTS, ms);
    for (int i = 0; i < n; i++)
        receive(events[i].data.ptr);
    for (struct https_conn *c = h->conns; c; c = c->next)
        if (c->lost)
            end_calls(c);
}

uint64_t https_received(const struct https *h)
{
    return h->received;
}

/* ---- connections ---- */

static int dial(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = HANDSHAKE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static SSL *greet(struct https *h, int fd)
{
    SSL *ssl = SSL_new(h->tls);
    const unsigned char *protocol = NULL;
    unsigned n = 0;
    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) == 1) {
        SSL_get0_alpn_selected(ssl, &protocol, &n);
        if (n == 2 && memcmp(protocol, "h2", 2) == 0)
            return ssl;
    }
    SSL_free(ssl);
    return NULL;
}

struct https_conn *https_connect(struct https *h, uint16_t port)
{
    int fd = dial(port);
    SSL *ssl = fd < 0 ? NULL : greet(h, fd);
    if (!ssl) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct https_conn *c = mem_zalloc(sizeof *c);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    c->owner = h;
    c->fd = fd;
    c->ssl = ssl;
    c->session = session_new(c);
    snprintf(c->authority, sizeof c->authority, "127.0.0.1:%u", port);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &e);
    c->next = h->conns;
    c->link = &h->conns;
    if (c->next)
        c->next->link = &c->next;
    h->conns = c;
    return c;
}

void https_disconnect(struct https_conn *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    lose(c);
    nghttp2_session_del(c->session);
    end_calls(c);
    SSL_free(c->ssl);
    close(c->fd);
    strbuf_release(&c->out);
    free(c);
}

bool https_is_lost(const struct https_conn *c)
{
    return c->lost;
}

struct https *https_new(const struct https_opts *o)
{
    static const unsigned char protocols[] = "\x02h2";
    struct https *h = mem_zalloc(sizeof *h);
    signal(SIGPIPE, SIG_IGN);
    h->tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_alpn_protos(h->tls, protocols, sizeof protocols - 1);
    SSL_CTX_set_verify(h->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(h->tls,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (SSL_CTX_load_verify_locations(h->tls, o->ca, NULL) == 1 &&
        SSL_CTX_use_certificate_chain_file(h->tls, o->cert) == 1 &&
        SSL_CTX_use_PrivateKey_file(h->tls, o->key, SSL_FILETYPE_PEM) == 1)
        return h;
    https_free(h);
    return NULL;
}

void https_free(struct https *h)
{
    if (!h)
        return;
    while (h->conns)
        https_disconnect(h->conns); /* NOLINT(clang-analyzer-unix.Malloc): the same */
    close(h->epoll);
    SSL_CTX_free(h->tls);
    free(h);
}

/* ---- one at a time ---- */

struct asked {
    bool done;
    unsigned status;
    struct strbuf *body;
};

static void answered(void *ctx, unsigned status, struct str body)
{
    struct asked *a = ctx;
    a->done = true;
    a->status = status;
    if (a->body)
        strbuf_addstr(a->body, body);
}

unsigned https_ask(struct https *h, struct https_conn *c, const struct https_request *r,
                   int ms, struct strbuf *body)
{
    struct asked a = {.body = body};
    struct https_request mine = *r;
    mine.done = answered;
    mine.ctx = &a;
    uint64_t end = clock_mono_ns() + (uint64_t)ms * 1000000;
    struct https_call *call = https_send(c, &mine);
    while (!a.done && clock_mono_ns() < end)
        https_run(h, 100);
    if (!a.done)
        https_cancel(call);
    while (!a.done)
        https_run(h, 100);
    return a.status;
}
