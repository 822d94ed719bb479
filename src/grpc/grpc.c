/* SPDX-License-Identifier: Apache-2.0 */
#include "grpc/grpc.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "grpc/frame.h"
#include "grpc/status.h"

enum { MAX_HEADERS = 16 };

struct grpc_call {
    struct net_call *net;
    const struct grpc_ops *ops;
    void *ctx;
    size_t max_message;
    struct strbuf in; /* of a message, or of its beginning */
    unsigned http;    /* the answer's status; 0: none yet */
    bool is_grpc;     /* by its content type */
    bool busy, cancelled;
    struct arena arena; /* of the status that the head brought */
    struct str status, message;
};

static void call_free(struct grpc_call *call)
{
    strbuf_release(&call->in);
    arena_fini(&call->arena);
    free(call);
}

void grpc_cancel(struct grpc_call *call)
{
    net_call_cancel(call->net);
    call->cancelled = true;
    if (!call->busy)
        call_free(call);
}

static void end_call(struct grpc_call *call, const struct grpc_end *end)
{
    call->ops->done(call->ctx, end);
    call_free(call);
}

/* Of what a server may not send. */
static void break_off(struct grpc_call *call, enum grpc_status status, const char *why)
{
    struct grpc_end end = {.status = status, .message = str_from(why)};
    net_call_cancel(call->net);
    end_call(call, &end);
}

/* ---- messages ---- */

/* How much of the bytes is a whole message, with its prefix; 0: not all is there. */
static size_t whole(const struct grpc_call *call, struct str bytes, const char **wrong,
                    enum grpc_status *status)
{
    *status = GRPC_INTERNAL;
    if (bytes.n == 0)
        return 0;
    if (bytes.p[0] != 0) {
        *wrong = "a compressed message, which was not asked for";
        return 0;
    }
    if (bytes.n < FRAME_PREFIX)
        return 0;
    size_t n = frame_length(bytes);
    if (n > call->max_message) {
        *status = GRPC_RESOURCE_EXHAUSTED;
        *wrong = "a message larger than is taken";
        return 0;
    }
    return bytes.n - FRAME_PREFIX >= n ? FRAME_PREFIX + n : 0;
}

static void keep(struct grpc_call *call, struct str rest)
{
    if (call->in.n == 0) {
        strbuf_addstr(&call->in, rest);
        return;
    }
    memmove(call->in.p, rest.p, rest.n);
    call->in.n = rest.n;
    if (rest.n == 0)
        strbuf_release(&call->in);
}

static void on_data(void *ctx, struct str bytes)
{
    struct grpc_call *call = ctx;
    const char *wrong = NULL;
    enum grpc_status status;
    size_t n;
    if (!call->is_grpc)
        return;
    if (call->in.n > 0) {
        strbuf_addstr(&call->in, bytes);
        bytes = strbuf_str(&call->in);
    }
    call->busy = true;
    while (!call->cancelled && (n = whole(call, bytes, &wrong, &status)) > 0) {
        call->ops->message(call->ctx, str_sub(bytes, FRAME_PREFIX, n));
        bytes = str_sub(bytes, n, SIZE_MAX);
    }
    call->busy = false;
    if (call->cancelled)
        call_free(call);
    else if (wrong)
        break_off(call, status, wrong);
    else
        keep(call, bytes);
}

/* ---- the end ---- */

static struct str header(const struct net_header *headers, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(headers[i].name, name))
            return headers[i].value;
    return STR_NONE;
}

static void on_head(void *ctx, unsigned status, const struct net_header *headers,
                    uint32_t n, bool last)
{
    struct grpc_call *call = ctx;
    struct str type = header(headers, n, "content-type");
    call->http = status;
    call->is_grpc = status == 200 && str_starts(type, STR("application/grpc"));
    if (!last)
        return;
    struct str code = header(headers, n, "grpc-status");
    if (code.p)
        call->status = arena_str(&call->arena, code);
    call->message = arena_str(&call->arena, header(headers, n, "grpc-message"));
}

static void end_as_told(struct grpc_call *call, const struct net_call_end *end)
{
    struct str code = call->status, message = call->message;
    if (!code.p) {
        code = header(end->trailers, end->ntrailers, "grpc-status");
        message = header(end->trailers, end->ntrailers, "grpc-message");
    }
    struct grpc_end e = {.status = GRPC_INTERNAL,
                         .message = STR("the call ended without a status")};
    if (code.p) {
        e = (struct grpc_end){status_parse(code), status_message(message, &call->arena),
                              .told = true};
    } else if (!call->is_grpc) {
        e.status = call->http == 200 ? GRPC_UNKNOWN : status_of_http(call->http);
        e.message = arena_printf(
            &call->arena, "the server answered with HTTP status %u, and not by gRPC",
            call->http);
    }
    end_call(call, &e);
}

static void on_done(void *ctx, const struct net_call_end *end)
{
    struct grpc_call *call = ctx;
    struct grpc_end e = {.status = GRPC_INTERNAL,
                         .message = STR("the call ended within a message")};
    if (end->err)
        e = (struct grpc_end){status_of_end(end), str_from(err_text(end->err)),
                              .untouched = end->untouched};
    if (end->err || call->in.n > 0)
        end_call(call, &e);
    else
        end_as_told(call, end);
}

/* ---- the beginning ---- */

/* At most eight digits, with a unit. */
static struct str print_timeout(uint64_t ms, char buffer[24])
{
    bool large = ms > 99999999;
    int n =
        snprintf(buffer, 24, "%llu%c",
                 (unsigned long long)(large ? (ms + 999) / 1000 : ms), large ? 'S' : 'm');
    return (struct str){buffer, (size_t)n};
}

struct grpc_call *grpc_start(struct net_client *c, const struct grpc_opts *opts,
                             const struct grpc_ops *ops, void *ctx)
{
    static const struct net_call_ops net_ops = {on_head, on_data, on_done};
    struct net_header headers[MAX_HEADERS] = {
        {STR("te"), STR("trailers")},
        {STR("content-type"), STR("application/grpc")},
        {STR("user-agent"), STR("dray")},
    };
    char timeout[24];
    uint32_t n = 3;
    if (opts->timeout_ms)
        headers[n++] = (struct net_header){STR("grpc-timeout"),
                                           print_timeout(opts->timeout_ms, timeout)};
    for (uint32_t i = 0; i < opts->nmetadata && n < MAX_HEADERS; i++)
        headers[n++] = opts->metadata[i];
    struct net_call_opts net_opts = {.method = STR("POST"),
                                     .path = str_from(opts->method),
                                     .headers = headers,
                                     .nheaders = n,
                                     .more = true,
                                     .timeout_ms = opts->timeout_ms};
    struct grpc_call *call = mem_zalloc(sizeof *call);
    call->ops = ops;
    call->ctx = ctx;
    call->max_message = opts->max_message ? opts->max_message : FRAME_MAX_MESSAGE;
    call->net = net_call_start(c, &net_opts, &net_ops, call);
    if (call->net)
        return call;
    free(call);
    return NULL;
}

void grpc_send(struct grpc_call *call, const ProtobufCMessage *m)
{
    struct str frame = frame_make(m);
    net_call_send(call->net, frame);
    free((char *)frame.p);
}

void grpc_finish(struct grpc_call *call)
{
    net_call_finish(call->net);
}

size_t grpc_unsent(const struct grpc_call *call)
{
    return net_call_unsent(call->net);
}

void grpc_pause(struct grpc_call *call, bool paused)
{
    net_call_pause(call->net, paused);
}
