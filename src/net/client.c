/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a client: from an address to an HTTP/2 session, and its end. */
#include "net/client.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/mem.h"
#include "net/call.h"

static const char NOT_HTTP2[] = "what comes is not HTTP/2";
enum { CONNECT_MS = 10000, PING_MS = 20000 };

static const struct stream_ops ops;

/* ---- the end ---- */

static void release(struct net_client *c)
{
    if (c->stream || c->lookup || c->busy || !c->closed)
        return;
    nghttp2_session_del(c->session);
    for (uint32_t i = 0; i < c->nips; i++)
        free(c->ips[i]);
    SSL_CTX_free(c->tls);
    err_release(&c->why);
    free(c->host);
    free(c->name);
    free(c->authority);
    free(c->path);
    free(c);
}

static void stop_timers(struct net_client *c)
{
    net_timer_stop(c->connecting);
    net_timer_stop(c->beat);
    c->connecting = c->beat = NULL;
}

/* Once, when there is no stream and will be none. */
static void over(struct net_client *c)
{
    c->over = true;
    c->open = false;
    stop_timers(c);
    if (c->closed)
        err_set(&c->why, ERR_CANCELLED, "the client was closed");
    else if (c->why.code == ERR_NONE)
        err_set(&c->why, ERR_IO, "the server has closed the connection");
    c->busy = true;
    call_end_all(c, &c->why);
    if (!c->closed)
        c->ops->closed(c->ctx, &c->why);
    c->busy = false;
}

void net_client_abort(struct net_client *c, const char *why)
{
    if (c->why.code == ERR_NONE)
        err_set(&c->why, ERR_IO, "%s", why);
    if (c->stream)
        stream_abort(c->stream);
}

void net_client_close(struct net_client *c)
{
    if (!c || c->closed)
        return;
    c->closed = true;
    c->open = false;
    stop_timers(c);
    if (c->stream)
        stream_abort(c->stream);
    release(c); /* or when the lookup ends */
}

bool net_client_is_open(const struct net_client *c)
{
    return c->open;
}

/* ---- connecting ---- */

static void try_next(struct net_client *c);

static void on_found(void *ctx, const char *const *ips, uint32_t n, const struct err *why)
{
    struct net_client *c = ctx;
    c->lookup = NULL;
    for (uint32_t i = 0; i < n; i++)
        c->ips[c->nips++] = mem_dup(ips[i], strlen(ips[i]));
    if (n > 0 && !c->closed) {
        try_next(c);
        return;
    }
    if (c->why.code == ERR_NONE)
        err_set(&c->why, ERR_IO, "%s: %s", c->host, err_text(why));
    over(c);
    release(c);
}

static void try_next(struct net_client *c)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } to;
    const char *ip = c->ips[c->next_ip++];
    if (uv_ip4_addr(ip, c->port, &to.in) < 0 && uv_ip6_addr(ip, c->port, &to.in6) < 0)
        bug("net: %s is no address", ip);
    err_release(&c->why);
    c->stream = stream_connect(c->loop, &to.any, c->tls, c->name, &ops, c);
}

static void connect_late(void *ctx)
{
    struct net_client *c = ctx;
    c->connecting = NULL;
    c->next_ip = c->nips;
    if (c->why.code == ERR_NONE)
        err_set(&c->why, ERR_TIMEOUT, "no connection in time");
    if (c->stream) {
        stream_abort(c->stream);
        return;
    }
    net_lookup_cancel(c->lookup);
    c->lookup = NULL;
    over(c);
    release(c);
}

/* A sign of life is asked for only while there is something to wait for: servers take
 * more for an attack. */
static void on_beat(void *ctx)
{
    struct net_client *c = ctx;
    if (c->pinged && !c->heard) {
        net_client_abort(c, "the server does not answer");
        return;
    }
    c->pinged = !c->heard && c->calls;
    c->heard = false;
    if (c->pinged)
        nghttp2_submit_ping(c->session, 0, NULL);
    if (c->pinged)
        stream_wake(c->stream);
}

/* ---- the stream ---- */

static void on_opened(void *ctx)
{
    struct net_client *c = ctx;
    if (c->closed)
        return;
    net_timer_stop(c->connecting);
    c->connecting = NULL;
    if (c->tls && !tls_chose_h2(&c->stream->tls)) {
        net_client_abort(c, "the server does not speak HTTP/2");
        return;
    }
    c->open = true;
    c->beat = net_timer_start(c->loop, c->ping_ms, c->ping_ms, on_beat, c);
    stream_wake(c->stream);
    if (c->ops->opened)
        c->ops->opened(c->ctx);
}

static void on_data(void *ctx, struct str bytes)
{
    struct net_client *c = ctx;
    if (c->closed)
        return;
    c->heard = true;
    ssize_t n = nghttp2_session_mem_recv(c->session, (const uint8_t *)bytes.p, bytes.n);
    if (n < 0)
        net_client_abort(c, n == NGHTTP2_ERR_FLOODED ? "the server floods the connection"
                                                     : NOT_HTTP2);
    else
        stream_wake(c->stream);
}

static void on_ended(void *ctx)
{
    net_client_abort(ctx, "the server has closed the connection");
}

static void on_pump(void *ctx)
{
    struct net_client *c = ctx;
    const uint8_t *p;
    ssize_t n = 0;
    while (stream_room(c->stream) > 0 &&
           (n = nghttp2_session_mem_send(c->session, &p)) > 0)
        stream_write(c->stream, (struct str){(const char *)p, (size_t)n});
    if (n < 0)
        net_client_abort(c, nghttp2_strerror((int)n));
    else if (!nghttp2_session_want_write(c->session) &&
             !nghttp2_session_want_read(c->session))
        net_client_abort(c, c->leaving ? "the server has left" : NOT_HTTP2);
}

static void on_closed(void *ctx)
{
    struct net_client *c = ctx;
    if (c->why.code == ERR_NONE && c->stream->why.code != ERR_NONE)
        err_set(&c->why, c->stream->why.code, "%s", err_text(&c->stream->why));
    c->stream = NULL;
    if (!c->open && !c->closed && c->next_ip < c->nips)
        try_next(c);
    else
        over(c);
    release(c);
}

static const struct stream_ops ops = {
    .opened = on_opened,
    .data = on_data,
    .ended = on_ended,
    .pump = on_pump,
    .closed = on_closed,
};

/* ---- the beginning ---- */

/* "host:port", "[::1]:port". */
static bool read_address(struct net_client *c, struct str address, struct err *e)
{
    size_t colon = str_rfind_byte(address, ':');
    struct str host = str_sub(address, 0, colon),
               port = str_sub(address, colon == SIZE_MAX ? 0 : colon + 1, SIZE_MAX);
    unsigned long n = 0;
    for (size_t i = 0; i < port.n && n < 65536; i++)
        n = port.p[i] >= '0' && port.p[i] <= '9' ? n * 10 + (unsigned)(port.p[i] - '0')
                                                 : 65536;
    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    else if (str_find_byte(host, ':', 0) != SIZE_MAX)
        host.n = 0;
    if (colon == SIZE_MAX || host.n == 0 || n == 0 || n > 65535)
        return err_set(e, ERR_INVALID, "\"%.*s\" is no address HOST:PORT",
                       STR_ARG(address));
    c->host = mem_dup(host.p, host.n);
    c->port = (uint16_t)n;
    return true;
}

static bool read_opts(struct net_client *c, const struct net_client_opts *opts,
                      struct err *e)
{
    struct str address = str_from(opts->address);
    bool local = str_starts(address, STR("unix:"));
    if (local)
        c->path = mem_dup(address.p + 5, address.n - 5);
    else if (!read_address(c, address, e))
        return false;
    const char *name = opts->name ? opts->name : local ? "" : c->host;
    const char *authority = opts->name ? opts->name : local ? "localhost" : opts->address;
    c->name = mem_dup(name, strlen(name));
    c->authority = mem_dup(authority, strlen(authority));
    c->scheme = opts->tls && !local ? "https" : "http";
    c->ping_ms = opts->ping_ms ? opts->ping_ms : PING_MS;
    c->tls = opts->tls && !local ? tls_client_new(opts->tls, true, e) : NULL;
    return c->tls || local || !opts->tls;
}

struct net_client *net_client_new(struct net_loop *l, const struct net_client_opts *opts,
                                  const struct net_client_ops *client_ops, void *ctx,
                                  struct err *e)
{
    struct net_client *c = mem_zalloc(sizeof *c);
    c->loop = l;
    c->ops = client_ops;
    c->ctx = ctx;
    c->session = call_session_new(c);
    if (!read_opts(c, opts, e)) {
        c->closed = true;
        release(c);
        return NULL;
    }
    c->connecting = net_timer_start(l, opts->connect_ms ? opts->connect_ms : CONNECT_MS,
                                    0, connect_late, c);
    if (c->path)
        c->stream = stream_connect_local(l, c->path, &ops, c);
    else
        c->lookup = net_lookup_start(l, c->host, on_found, c);
    return c;
}
