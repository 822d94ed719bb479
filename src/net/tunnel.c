/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tunnel.h"

#include <stdlib.h>

#include "base/mem.h"

enum { MAX_UNSENT = 8 << 20 };

struct net_tunnel {
    struct net_loop *loop;
    struct stream *stream; /* NULL: closed below */
    SSL_CTX *tls;          /* of a tunnel that was connected */
    struct strbuf ahead;   /* came before the owner could be told */
    net_tunnel_data *on_data;
    void (*on_drain)(void *ctx);
    size_t drain_below;
    struct err why; /* of the stream's end */
    bool drain_armed;
    bool stood;   /* the connection did */
    bool told;    /* of the end */
    bool closed;  /* by the owner: no calls anymore */
    bool leaving; /* the owner is being called, or the stream is not gone: not freed */
    void *ctx;
};

static void tunnel_free(struct net_tunnel *t)
{
    strbuf_release(&t->ahead);
    err_release(&t->why);
    SSL_CTX_free(t->tls);
    free(t);
}

static void tell(struct net_tunnel *t, struct str bytes)
{
    if (t->closed || t->told)
        return;
    t->told = bytes.n == 0;
    t->on_data(t->ctx, bytes);
}

static void tell_ahead(struct net_tunnel *t)
{
    if (t->ahead.n == 0)
        return;
    struct strbuf bytes = t->ahead;
    strbuf_init(&t->ahead);
    tell(t, strbuf_str(&bytes));
    strbuf_release(&bytes);
}

/* ---- what the stream says ---- */

static void on_opened(void *ctx)
{
    struct net_tunnel *t = ctx;
    t->stood = true;
}

static void on_data(void *ctx, struct str bytes)
{
    struct net_tunnel *t = ctx;
    tell_ahead(t);
    if (bytes.n > 0)
        tell(t, bytes);
}

static void on_ended(void *ctx)
{
    struct net_tunnel *t = ctx;
    tell_ahead(t);
    tell(t, STR_NONE);
}

static void on_pump(void *ctx)
{
    struct net_tunnel *t = ctx;
    if (!t->stream->paused)
        tell_ahead(t);
    if (t->closed || !t->drain_armed || stream_unsent(t->stream) > t->drain_below)
        return;
    t->drain_armed = false;
    t->on_drain(t->ctx);
}

static void on_closed(void *ctx)
{
    struct net_tunnel *t = ctx;
    t->why = t->stream->why;
    t->stream->why = (struct err)ERR_INIT;
    t->stream = NULL;
    t->leaving = true;
    tell_ahead(t);
    tell(t, STR_NONE);
    t->leaving = false;
    if (t->closed)
        tunnel_free(t);
}

static const struct stream_ops ops = {on_opened, on_data, on_ended, on_pump, on_closed};

/* ---- for owners ---- */

struct net_tunnel *tunnel_new(struct net_loop *l, struct stream *s, struct strbuf *ahead,
                              net_tunnel_data *on_bytes, void *ctx)
{
    struct net_tunnel *t = mem_zalloc(sizeof *t);
    t->loop = l;
    t->stream = s;
    t->on_data = on_bytes;
    t->ctx = ctx;
    t->stood = true;
    t->ahead = *ahead;
    strbuf_init(ahead);
    stream_hand_over(s, &ops, t);
    stream_pause(s, false);
    stream_wake(s);
    return t;
}

struct stream *tunnel_stream(struct net_tunnel *t)
{
    return t->stream;
}

struct net_tunnel *net_tunnel_connect(struct net_loop *l,
                                      const struct net_connect_opts *opts,
                                      net_tunnel_data *on_bytes, void *ctx, struct err *e)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } to;
    struct net_tunnel *t;
    if (uv_ip4_addr(opts->ip, opts->port, &to.in) < 0 &&
        uv_ip6_addr(opts->ip, opts->port, &to.in6) < 0) {
        err_set(e, ERR_INVALID, "'%s' is no IP address", opts->ip);
        return NULL;
    }
    SSL_CTX *tls = opts->tls ? tls_client_new(opts->tls, false, e) : NULL;
    if (opts->tls && !tls)
        return NULL;
    t = mem_zalloc(sizeof *t);
    t->loop = l;
    t->tls = tls;
    t->on_data = on_bytes;
    t->ctx = ctx;
    const char *name = opts->name ? opts->name : opts->ip;
    t->stream = stream_connect(l, &to.any, tls, name, &ops, t);
    return t;
}

bool net_tunnel_write(struct net_tunnel *t, struct str bytes)
{
    struct stream *s = t->stream;
    if (!s || t->closed || s->closing || s->finishing)
        return false;
    if (bytes.n > MAX_UNSENT || stream_unsent(s) > MAX_UNSENT - bytes.n) {
        stream_abort(s);
        return false;
    }
    stream_write(s, bytes);
    t->drain_armed = t->on_drain && stream_unsent(s) > t->drain_below;
    return true;
}

size_t net_tunnel_unsent(const struct net_tunnel *t)
{
    return t->stream ? stream_unsent(t->stream) : 0;
}

const struct err *net_tunnel_why(const struct net_tunnel *t)
{
    return t->stream ? &t->stream->why : &t->why;
}

void net_tunnel_rebind(struct net_tunnel *t, net_tunnel_data *on_bytes, void *ctx)
{
    t->on_data = on_bytes;
    t->ctx = ctx;
    net_tunnel_on_drain(t, 0, NULL);
}

bool net_tunnel_stood(const struct net_tunnel *t)
{
    return t->stood;
}

void net_tunnel_pause(struct net_tunnel *t, bool paused)
{
    if (t->stream)
        stream_pause(t->stream, paused);
}

void net_tunnel_on_drain(struct net_tunnel *t, size_t below, void (*fn)(void *ctx))
{
    t->on_drain = fn;
    t->drain_below = below;
    t->drain_armed = fn && net_tunnel_unsent(t) > below;
}

void net_tunnel_close(struct net_tunnel *t)
{
    if (!t || t->closed)
        return;
    t->closed = true;
    if (t->stream)
        stream_finish(t->stream);
    else if (!t->leaving)
        tunnel_free(t);
}
