/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/mem.h"
#include "base/str.h"

enum { PREFIX = 5, MANY = 10000, MANY_SIZE = 100 };

struct call {
    char name[32];
    struct strbuf headers, in, out;
    size_t out_at;
    bool answered, complete, bytes, no_trailers;
    const char *status;
};

/* ---- what is sent ---- */

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        0};
}

static void add_message(struct call *c, struct str bytes)
{
    char prefix[PREFIX] = {0, (char)(bytes.n >> 24), (char)(bytes.n >> 16),
                           (char)(bytes.n >> 8), (char)bytes.n};
    strbuf_add(&c->out, prefix, PREFIX);
    strbuf_addstr(&c->out, bytes);
}

static ssize_t read_out(nghttp2_session *session, int32_t id, uint8_t *buf, size_t size,
                        uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct call *c = source->ptr;
    size_t left = c->out.n - c->out_at;
    size_t most = c->bytes ? 1 : size, n = left < most ? left : most;
    if (n == 0 && !c->status && !c->no_trailers)
        return NGHTTP2_ERR_DEFERRED;
    if (n > 0)
        memcpy(buf, c->out.p + c->out_at, n);
    c->out_at += n;
    if (c->out_at < c->out.n || (!c->status && !c->no_trailers))
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (c->no_trailers)
        return (ssize_t)n;
    nghttp2_nv trailer = field("grpc-status", c->status);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    nghttp2_submit_trailer(session, id, &trailer, 1);
    return (ssize_t)n;
}

static void begin(nghttp2_session *session, int32_t id, struct call *c,
                  const char *status, const char *type)
{
    nghttp2_nv nv[] = {field(":status", status), field("content-type", type)};
    nghttp2_data_provider body = {{.ptr = c}, read_out};
    nghttp2_submit_response(session, id, nv, 2, &body);
}

static void refuse(nghttp2_session *session, int32_t id, const char *status)
{
    nghttp2_nv nv[] = {field(":status", "200"), field("content-type", "application/grpc"),
                       field("grpc-status", status),
                       field("grpc-message", "no%20such%3a %e2%82%ac%2")};
    nghttp2_submit_response(session, id, nv, 4, NULL);
}

static void send_headers(nghttp2_session *session, int32_t id)
{
    enum { SIZE = 30000 };
    char *large = mem_zalloc(SIZE + 1);
    memset(large, 'h', SIZE);
    nghttp2_nv nv[] = {field(":status", "200"), field("content-type", "application/grpc"),
                       field("a", large), field("b", large), field("c", large)};
    nghttp2_submit_response(session, id, nv, 5, NULL);
    free(large);
}

/* ---- what is done ---- */

/* A body and a status, once the request is complete. */
static const struct script {
    const char *name;
    struct str message; /* p NULL: none */
    unsigned times;
    struct str raw; /* sent as it is, behind */
    const char *status;
    bool bytes;
} SCRIPTS[] = {
    {"twice", STR("\10\7"), 2, STR_NONE, "0", false},
    {"nothing", STR_NONE, 0, STR_NONE, "0", false},
    {"late-refuse", STR("\10\7"), 1, STR_NONE, "8", false},
    {"odd-status", STR_NONE, 0, STR_NONE, "x", false},
    {"no-status", STR("\10\7"), 1, STR_NONE, NULL, false},
    {"compressed", STR_NONE, 0, STR("\1\0\0\0\1x"), "0", false},
    {"huge", STR_NONE, 0, STR("\0\xff\xff\xff\xff"), "0", false},
    {"half", STR_NONE, 0, STR("\0\0\0\0\5xx"), "0", false},
    {"bytes", STR("\10\7"), 1, STR_NONE, "0", true},
    {"junk", STR("\377\377\377\377"), 1, STR_NONE, "0", false},
};

static bool play(nghttp2_session *session, int32_t id, struct call *c)
{
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++) {
        const struct script *s = &SCRIPTS[i];
        if (strcmp(s->name, c->name) != 0)
            continue;
        for (unsigned k = 0; k < s->times; k++)
            add_message(c, s->message);
        strbuf_addstr(&c->out, s->raw);
        c->status = s->status;
        c->no_trailers = !s->status;
        c->bytes = s->bytes;
        begin(session, id, c, "200", "application/grpc");
        return true;
    }
    return false;
}

static void page(nghttp2_session *session, int32_t id, struct call *c, const char *status)
{
    strbuf_adds(&c->out, "<html>not here</html>");
    c->no_trailers = true;
    begin(session, id, c, status, "text/html");
}

static void send_many(struct call *c)
{
    char text[MANY_SIZE + 1];
    memset(text, 'm', sizeof text);
    for (int i = 0; i < MANY; i++)
        add_message(c, (struct str){text, MANY_SIZE});
    c->status = "0";
}

/* The whole request is there. False: the connection is to be closed. */
static bool answer(nghttp2_session *session, int32_t id, struct call *c)
{
    if (strcmp(c->name, "hang-up") == 0)
        return false;
    if (c->answered || play(session, id, c))
        return true;
    if (strcmp(c->name, "refuse") == 0)
        refuse(session, id, "5");
    else if (strcmp(c->name, "http") == 0)
        page(session, id, c, "503");
    else if (strcmp(c->name, "html") == 0)
        page(session, id, c, "200");
    else if (strcmp(c->name, "reset") == 0)
        nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_REFUSED_STREAM);
    else if (strcmp(c->name, "cancel") == 0)
        nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_CANCEL);
    else if (strcmp(c->name, "headers") == 0)
        send_headers(session, id);
    else if (strcmp(c->name, "many") == 0)
        send_many(c), begin(session, id, c, "200", "application/grpc");
    else if (strcmp(c->name, "metadata") == 0) {
        add_message(c, strbuf_str(&c->headers));
        c->status = "0";
        begin(session, id, c, "200", "application/grpc");
    }
    return true;
}

/* ---- the session ---- */

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                         mem_zalloc(sizeof(struct call)));
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame,
                     const uint8_t *name, size_t nname, const uint8_t *value,
                     size_t nvalue, uint8_t flags, void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    struct str n = {(const char *)name, nname}, v = {(const char *)value, nvalue};
    strbuf_addf(&c->headers, "%.*s: %.*s\n", STR_ARG(n), STR_ARG(v));
    if (str_is(n, ":path"))
        snprintf(c->name, sizeof c->name, "%.*s", (int)v.n - 3, v.p + 3);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    int32_t id = frame->hd.stream_id;
    struct call *c = id ? nghttp2_session_get_stream_user_data(session, id) : NULL;
    if (!c)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && strcmp(c->name, "echo") == 0) {
        begin(session, id, c, "200", "application/grpc+proto");
        c->answered = true;
    }
    if (frame->hd.type == NGHTTP2_HEADERS && strcmp(c->name, "early") == 0) {
        refuse(session, id, "9");
        c->answered = true;
    }
    if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    if (c->answered && strcmp(c->name, "echo") == 0) {
        c->status = "0";
        nghttp2_session_resume_data(session, id);
    }
    return answer(session, id, c) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p,
                   size_t n, void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(session, id);
    if (!c || strcmp(c->name, "echo") != 0)
        return 0;
    strbuf_add(&c->out, p, n);
    nghttp2_session_resume_data(session, id);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *ctx)
{
    struct call *c = nghttp2_session_get_stream_user_data(session, id);
    nghttp2_session_set_stream_user_data(session, id, NULL);
    if (!c)
        return 0;
    strbuf_release(&c->headers);
    strbuf_release(&c->in);
    strbuf_release(&c->out);
    free(c);
    return 0;
}

static nghttp2_session *session_new(void)
{
    nghttp2_session_callbacks *cb;
    nghttp2_session *session;
    nghttp2_option *option;
    if (nghttp2_session_callbacks_new(&cb) != 0 || nghttp2_option_new(&option) != 0)
        bug("peer: no callbacks");
    nghttp2_option_set_max_send_header_block_length(option, 1 << 20);
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    if (nghttp2_session_server_new2(&session, cb, NULL, option) != 0)
        bug("peer: no session");
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(session, 0, NULL, 0);
    return session;
}

static bool send_all(nghttp2_session *session, int fd)
{
    const uint8_t *p;
    for (ssize_t n; (n = nghttp2_session_mem_send(session, &p)) > 0;)
        if (send(fd, p, (size_t)n, MSG_NOSIGNAL) != n)
            return false;
    return true;
}

static void serve(int fd)
{
    nghttp2_session *session = session_new();
    uint8_t buffer[16384];
    for (ssize_t n = 0; send_all(session, fd);) {
        n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0 || nghttp2_session_mem_recv(session, buffer, (size_t)n) < 0)
            break;
    }
    for (int32_t id = 1; id < 64; id += 2)
        if (nghttp2_session_get_stream_user_data(session, id))
            on_close(session, id, 0, NULL);
    nghttp2_session_del(session);
    close(fd);
}

static void *run(void *arg)
{
    struct peer *p = arg;
    for (int fd; (fd = accept(p->listener, NULL, NULL)) >= 0;)
        serve(fd);
    return NULL;
}

void peer_start(struct peer *p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(p->path, sizeof p->path, "/tmp/dray-grpc-%d", (int)getpid());
    snprintf(at.sun_path, sizeof at.sun_path, "%s", p->path);
    unlink(p->path);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(p->listener, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(p->listener, 8) < 0)
        bug("peer: cannot listen on %s", p->path);
    if (pthread_create(&p->thread, NULL, run, p) != 0)
        bug("peer: no thread");
}

void peer_stop(struct peer *p)
{
    shutdown(p->listener, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->listener);
    unlink(p->path);
}
