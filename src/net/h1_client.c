/* SPDX-License-Identifier: Apache-2.0 */
#include "net/h1_client.h"

#include <http_parser.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "net/h1_pool.h"
#include "net/tunnel.h"

enum { MAX_HEAD = 64 * 1024, HEAD_MS = 30000 };

struct net_h1_call {
    struct net_tunnel *tunnel;
    const struct net_h1_ops *ops;
    void *ctx;
    http_parser parser;
    struct net_timer *timer; /* until the head is there */
    struct arena arena;
    VEC(struct net_header) headers;
    struct strbuf name, value; /* of what is being parsed */
    bool in_value;
    size_t head_bytes;
    bool head;     /* the request was one: no body follows */
    bool told;     /* of the answer's head */
    bool upgraded; /* bytes are not HTTP anymore */
    bool complete; /* the answer is there */
    bool keeps;    /* and the connection stands for another call */
    bool reused;   /* it did */
    bool heard;    /* anything came */
    bool over;     /* end was told */
    bool closed;   /* by the owner */
    bool busy;     /* callbacks are running: freed afterwards */
    void (*on_drain)(void *ctx);
    struct net_h1_pool *pool; /* NULL: none */
    struct str peer;
};

/* ---- the end ---- */

static void call_free(struct net_h1_call *c)
{
    vec_release(&c->headers);
    strbuf_release(&c->name);
    strbuf_release(&c->value);
    arena_fini(&c->arena);
    free(c);
}

void net_h1_close(struct net_h1_call *c)
{
    if (!c || c->closed)
        return;
    c->closed = true;
    net_timer_stop(c->timer);
    if (c->keeps)
        h1_pool_put(c->pool, c->peer, c->tunnel);
    else
        net_tunnel_close(c->tunnel);
    if (!c->busy)
        call_free(c);
}

static void end(struct net_h1_call *c, const struct err *why)
{
    if (c->over || c->closed)
        return;
    c->over = true;
    net_timer_stop(c->timer);
    c->timer = NULL;
    c->ops->end(c->ctx, why);
}

static void end_for(struct net_h1_call *c, enum err_code code, const char *text)
{
    struct err e = ERR_INIT;
    err_set(&e, code, "%s", text);
    end(c, &e);
    err_release(&e);
}

static void on_timeout(void *ctx)
{
    struct net_h1_call *c = ctx;
    c->timer = NULL;
    c->busy = true;
    end_for(c, ERR_TIMEOUT, "no answer came in time");
    c->busy = false;
    if (c->closed)
        call_free(c);
}

/* ---- the answer ---- */

static struct str lower_copy(struct arena *a, struct str s)
{
    struct str copy = arena_str(a, s);
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] >= 'A' && copy.p[i] <= 'Z')
            ((char *)copy.p)[i] |= 0x20;
    return copy;
}

/* A trailer is read over. */
static void end_header(struct net_h1_call *c)
{
    if (c->in_value && !c->told) {
        struct net_header h = {lower_copy(&c->arena, strbuf_str(&c->name)),
                               arena_str(&c->arena, str_trim(strbuf_str(&c->value)))};
        vec_push(&c->headers, h);
    }
    if (c->in_value) {
        strbuf_clear(&c->name);
        strbuf_clear(&c->value);
    }
    c->in_value = false;
}

static int count(struct net_h1_call *c, size_t n)
{
    c->head_bytes += n + 16;
    return c->head_bytes > MAX_HEAD ? -1 : 0;
}

static int on_field(http_parser *p, const char *at, size_t n)
{
    struct net_h1_call *c = p->data;
    end_header(c);
    strbuf_add(&c->name, at, n);
    return count(c, n);
}

static int on_value(http_parser *p, const char *at, size_t n)
{
    struct net_h1_call *c = p->data;
    c->in_value = true;
    strbuf_add(&c->value, at, n);
    return count(c, n);
}

static bool is_interim(const http_parser *p)
{
    return p->status_code < 200 && p->status_code != 101;
}

/* What http_parser wants to hear: is there a body? */
enum { BODY, NO_BODY, BROKEN = -1 };

static int on_headers(http_parser *p)
{
    struct net_h1_call *c = p->data;
    end_header(c);
    if (is_interim(p)) {
        c->headers.n = 0;
        return BODY;
    }
    if (p->status_code == 101 && !p->upgrade)
        return BROKEN;
    c->told = true;
    c->upgraded = p->status_code == 101;
    net_timer_stop(c->timer);
    c->timer = NULL;
    struct net_h1_answer answer = {p->status_code, c->headers.v, (uint32_t)c->headers.n};
    c->ops->head(c->ctx, &answer);
    return c->closed ? BROKEN : c->head ? NO_BODY : BODY;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
    struct net_h1_call *c = p->data;
    c->ops->data(c->ctx, (struct str){at, n});
    return c->closed ? -1 : 0;
}

static int on_complete(http_parser *p)
{
    struct net_h1_call *c = p->data;
    if (is_interim(p) || c->upgraded)
        return 0;
    c->complete = true;
    c->keeps = c->pool && http_should_keep_alive(p);
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings callbacks = {
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

/* ---- bytes ---- */

static void tell_data(struct net_h1_call *c, struct str bytes)
{
    if (bytes.n && !c->closed)
        c->ops->data(c->ctx, bytes);
}

static void parse(struct net_h1_call *c, struct str bytes)
{
    size_t n = http_parser_execute(&c->parser, &callbacks, bytes.p, bytes.n);
    enum http_errno code = HTTP_PARSER_ERRNO(&c->parser);
    if (c->closed)
        return;
    c->keeps = c->keeps && n == bytes.n; /* more than was asked for: it is not in step */
    if (c->complete)
        end(c, NULL);
    else if (code != HPE_OK)
        end_for(c, ERR_INVALID, "the answer is no HTTP/1.1");
    else if (c->upgraded)
        tell_data(c, str_sub(bytes, n, SIZE_MAX));
}

/* Until-close bodies are complete now; everything else that is not, never will be. */
static void peer_ended(struct net_h1_call *c)
{
    const struct err *why = net_tunnel_why(c->tunnel);
    if (c->upgraded) {
        end(c, why->code == ERR_NONE ? NULL : why);
        return;
    }
    if (c->told && why->code == ERR_NONE)
        http_parser_execute(&c->parser, &callbacks, NULL, 0);
    c->keeps = false;
    if (c->complete)
        end(c, NULL);
    else if (why->code != ERR_NONE)
        end(c, why);
    else
        end_for(c, ERR_IO, "the connection was closed before the answer was complete");
}

static void on_data(void *ctx, struct str bytes)
{
    struct net_h1_call *c = ctx;
    if (c->over)
        return;
    c->busy = true;
    c->heard |= bytes.n > 0;
    if (bytes.n == 0)
        peer_ended(c);
    else if (c->upgraded)
        tell_data(c, bytes);
    else
        parse(c, bytes);
    c->busy = false;
    if (c->closed)
        call_free(c);
}

static void on_drain(void *ctx)
{
    struct net_h1_call *c = ctx;
    c->busy = true;
    if (c->on_drain)
        c->on_drain(c->ctx);
    c->busy = false;
    if (c->closed)
        call_free(c);
}

/* ---- the request ---- */

/* A token of the request line, or (spaces) a header's value. */
static bool is_clean(struct str s, bool spaces)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char b = (unsigned char)s.p[i];
        if (b == 0x7f || b < ' ' ? b != '\t' || !spaces : b == ' ' && !spaces)
            return false;
    }
    return spaces || s.n > 0;
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("\"(),/:;<=>?@[\\]{}", s.p[i]))
            return false;
    return is_clean(s, false);
}

static bool is_sendable(const struct net_h1_request *r)
{
    for (uint32_t i = 0; i < r->nheaders; i++)
        if (!is_name(r->headers[i].name) || !is_clean(r->headers[i].value, true))
            return false;
    return is_name(r->method) && is_clean(r->target, false) && is_clean(r->host, false) &&
           is_clean(r->upgrade, true);
}

static bool sends_length(const struct net_h1_request *r)
{
    return r->body.n || str_is(r->method, "POST") || str_is(r->method, "PUT") ||
           str_is(r->method, "PATCH");
}

static void print_request(const struct net_h1_request *r, struct strbuf *b)
{
    strbuf_addf(b, "%.*s %.*s HTTP/1.1\r\nhost: %.*s\r\n", STR_ARG(r->method),
                STR_ARG(r->target), STR_ARG(r->host));
    for (uint32_t i = 0; i < r->nheaders; i++)
        strbuf_addf(b, "%.*s: %.*s\r\n", STR_ARG(r->headers[i].name),
                    STR_ARG(r->headers[i].value));
    if (sends_length(r) && !r->upgrade.n)
        strbuf_addf(b, "content-length: %zu\r\n", r->body.n);
    if (r->upgrade.n)
        strbuf_addf(b, "connection: Upgrade\r\nupgrade: %.*s\r\n", STR_ARG(r->upgrade));
    else if (!r->pool)
        strbuf_adds(b, "connection: close\r\n");
    strbuf_adds(b, "\r\n");
    strbuf_addstr(b, r->body);
}

/* One that is kept, or a new one. */
static struct net_tunnel *connection(struct net_h1_call *c, struct net_loop *l,
                                     const struct net_h1_request *r, struct err *e)
{
    struct net_tunnel *t = r->pool && !r->fresh ? h1_pool_take(r->pool, r->peer) : NULL;
    c->reused = t != NULL;
    if (!t)
        return net_tunnel_connect(l, &r->to, on_data, c, e);
    net_tunnel_rebind(t, on_data, c);
    return t;
}

struct net_h1_call *net_h1_call(struct net_loop *l, const struct net_h1_request *r,
                                const struct net_h1_ops *ops, void *ctx, struct err *e)
{
    if (!is_sendable(r)) {
        err_set(e, ERR_INVALID, "the request cannot be written as HTTP/1.1");
        return NULL;
    }
    struct net_h1_call *c = mem_zalloc(sizeof *c);
    c->tunnel = connection(c, l, r, e);
    if (!c->tunnel) {
        free(c);
        return NULL;
    }
    c->ops = ops;
    c->ctx = ctx;
    c->pool = r->upgrade.n ? NULL : r->pool;
    c->peer = arena_str(&c->arena, r->peer);
    c->head = str_is(r->method, "HEAD");
    http_parser_init(&c->parser, HTTP_RESPONSE);
    c->parser.data = c;
    c->timer = net_timer_start(l, r->head_ms ? r->head_ms : HEAD_MS, 0, on_timeout, c);
    struct strbuf b = STRBUF_INIT;
    print_request(r, &b);
    net_tunnel_write(c->tunnel, strbuf_str(&b));
    strbuf_release(&b);
    return c;
}

/* ---- afterwards ---- */

bool net_h1_reached(const struct net_h1_call *c)
{
    return net_tunnel_stood(c->tunnel);
}

bool net_h1_was_stale(const struct net_h1_call *c)
{
    return c->reused && !c->heard && c->over;
}

void net_h1_pause(struct net_h1_call *c, bool paused)
{
    net_tunnel_pause(c->tunnel, paused);
}

bool net_h1_write(struct net_h1_call *c, struct str bytes)
{
    return net_tunnel_write(c->tunnel, bytes);
}

size_t net_h1_unsent(const struct net_h1_call *c)
{
    return net_tunnel_unsent(c->tunnel);
}

void net_h1_on_drain(struct net_h1_call *c, size_t below, void (*fn)(void *ctx))
{
    c->on_drain = fn;
    net_tunnel_on_drain(c->tunnel, below, fn ? on_drain : NULL);
}
