/* SPDX-License-Identifier: Apache-2.0 */
#include "grpc/serve.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "grpc/frame.h"
#include "grpc/message.h"
#include "grpc/status.h"

enum { IDLE_MS = 24 * 3600 * 1000 };

struct grpc_server {
    struct net_server *net;
    struct net_loop *loop;
    const struct grpc_method *methods;
    uint32_t nmethods;
    void *ctx;
};

struct grpc_request {
    struct net_exchange *x;
    struct net_loop *loop;
    ProtobufCMessage *m;
    uint64_t deadline_ms; /* of the loop's clock; UINT64_MAX: none */
    bool begun;
    void *user;
};

static const struct net_header CONTENT_TYPE = {STR_INIT("content-type"),
                                               STR_INIT("application/grpc")};

/* ---- answers ---- */

static void request_free(struct grpc_request *r)
{
    if (r->m)
        protobuf_c_message_free_unpacked(r->m, NULL);
    free(r);
}

static struct str print_status(enum grpc_status status, char buffer[12])
{
    int n = snprintf(buffer, 12, "%d", (int)status);
    return (struct str){buffer, (size_t)n};
}

/* A response that is its trailers alone, where nothing was sent before. */
static void finish(struct net_exchange *x, bool begun, enum grpc_status status,
                   struct str why)
{
    char code[12];
    struct strbuf message = {0};
    status_message_print(why, &message);
    struct net_header headers[] = {
        CONTENT_TYPE,
        {STR("grpc-status"), print_status(status, code)},
        {STR("grpc-message"), strbuf_str(&message)},
    };
    uint32_t n = message.n > 0 ? 3 : 2;
    if (begun)
        net_done_trailers(x, headers + 1, n - 1);
    else
        net_respond(x, 200, headers, n, STR_NONE);
    strbuf_release(&message);
}

bool grpc_request_write(struct grpc_request *r, const ProtobufCMessage *m)
{
    struct str frame = frame_make(m);
    if (!r->begun)
        net_begin(r->x, 200, &CONTENT_TYPE, 1);
    r->begun = true;
    bool taken = net_write(r->x, frame);
    free((char *)frame.p);
    return taken;
}

void grpc_request_end(struct grpc_request *r)
{
    finish(r->x, r->begun, GRPC_OK, STR_NONE);
    request_free(r);
}

void grpc_request_answer(struct grpc_request *r, const ProtobufCMessage *m)
{
    grpc_request_write(r, m);
    grpc_request_end(r);
}

void grpc_request_fail(struct grpc_request *r, enum grpc_status status, struct str why)
{
    finish(r->x, r->begun, status, why);
    request_free(r);
}

/* ---- requests ---- */

/* "1S", "44999u": at most eight digits. UINT64_MAX: none, or nonsense. */
static uint64_t parse_timeout_ms(struct str text)
{
    uint64_t n = 0;
    if (text.n < 2 || text.n > 9)
        return UINT64_MAX;
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return UINT64_MAX;
        n = n * 10 + (uint64_t)(text.p[i] - '0');
    }
    switch (text.p[text.n - 1]) {
    case 'H':
        return n * 3600 * 1000;
    case 'M':
        return n * 60 * 1000;
    case 'S':
        return n * 1000;
    case 'm':
        return n;
    case 'u':
        return n / 1000;
    case 'n':
        return n / 1000000;
    default:
        return UINT64_MAX;
    }
}

static const struct grpc_method *method_find(const struct grpc_server *s, struct str name)
{
    for (uint32_t i = 0; i < s->nmethods; i++)
        if (str_is(name, s->methods[i].name))
            return &s->methods[i];
    return NULL;
}

/* The one message of a request. NULL: status and e say why not. */
static ProtobufCMessage *read_message(const ProtobufCMessageDescriptor *type,
                                      struct str body, enum grpc_status *status,
                                      struct err *e)
{
    *status = GRPC_INTERNAL;
    if (body.n < FRAME_PREFIX) {
        err_set(e, ERR_INVALID, "the request has no message");
        return NULL;
    }
    if (body.p[0] != 0) {
        *status = GRPC_UNIMPLEMENTED;
        err_set(e, ERR_UNSUPPORTED, "compressed messages are not taken");
        return NULL;
    }
    uint32_t n = frame_length(body);
    if (n > FRAME_MAX_MESSAGE) {
        *status = GRPC_RESOURCE_EXHAUSTED;
        err_set(e, ERR_LIMIT, "a message of %u bytes; at most %u are taken", (unsigned)n,
                (unsigned)FRAME_MAX_MESSAGE);
        return NULL;
    }
    if (body.n - FRAME_PREFIX != n) {
        err_set(e, ERR_INVALID, "the request is not one whole message");
        return NULL;
    }
    return grpc_message_read(type, str_sub(body, FRAME_PREFIX, SIZE_MAX), e);
}

static void call_method(struct grpc_server *s, struct net_exchange *x,
                        const struct grpc_method *method, ProtobufCMessage *m)
{
    struct grpc_request *r = mem_zalloc(sizeof *r);
    uint64_t ms = parse_timeout_ms(net_header_get(x, "grpc-timeout"));
    uint64_t now = net_now_ms(s->loop);
    *r = (struct grpc_request){
        .x = x,
        .loop = s->loop,
        .m = m,
        .deadline_ms = ms > UINT64_MAX - now ? UINT64_MAX : now + ms,
    };
    method->call(s->ctx, r, m);
}

static void refuse_method(struct net_exchange *x)
{
    struct strbuf why = {0};
    strbuf_addf(&why, "unknown method %.*s", STR_ARG(x->path));
    finish(x, false, GRPC_UNIMPLEMENTED, strbuf_str(&why));
    strbuf_release(&why);
}

static void on_request(void *ctx, struct net_exchange *x)
{
    struct grpc_server *s = ctx;
    struct err e = ERR_INIT;
    enum grpc_status status;
    if (!str_is(x->method, "POST") ||
        !str_starts(net_header_get(x, "content-type"), STR("application/grpc"))) {
        net_respond(x, 415, NULL, 0, STR("gRPC is served here\n"));
        return;
    }
    const struct grpc_method *method = method_find(s, x->path);
    if (!method) {
        refuse_method(x);
        return;
    }
    ProtobufCMessage *m = read_message(method->input, x->body, &status, &e);
    if (m)
        call_method(s, x, method, m);
    else
        finish(x, false, status, str_from(err_text(&e)));
    err_release(&e);
}

void grpc_request_on_gone(struct grpc_request *r, void (*fn)(void *ctx), void *ctx)
{
    net_on_gone(r->x, fn, ctx);
}

uint64_t grpc_request_patience(const struct grpc_request *r)
{
    uint64_t now = net_now_ms(r->loop);
    if (r->deadline_ms == UINT64_MAX)
        return UINT64_MAX;
    return r->deadline_ms > now ? r->deadline_ms - now : 0;
}

void grpc_request_set_user(struct grpc_request *r, void *user)
{
    r->user = user;
}

void *grpc_request_user(const struct grpc_request *r)
{
    return r->user;
}

/* ---- the server ---- */

struct grpc_server *grpc_server_new(struct net_loop *l, const char *address,
                                    const struct grpc_method *methods, uint32_t nmethods,
                                    void *ctx, struct err *e)
{
    struct grpc_server *s = mem_zalloc(sizeof *s);
    *s = (struct grpc_server){
        .loop = l, .methods = methods, .nmethods = nmethods, .ctx = ctx};
    struct net_server_opts opts = {
        .address = address,
        .max_body = FRAME_MAX_MESSAGE + FRAME_PREFIX,
        .idle_ms = IDLE_MS,
    };
    s->net = net_server_new(l, &opts, on_request, s, e);
    if (s->net)
        return s;
    free(s);
    return NULL;
}

void grpc_server_stop(struct grpc_server *s, uint64_t ms, void (*done)(void *ctx),
                      void *ctx)
{
    net_server_stop(s->net, ms, done, ctx);
}

void grpc_server_free(struct grpc_server *s)
{
    if (!s)
        return;
    net_server_free(s->net);
    free(s);
}
