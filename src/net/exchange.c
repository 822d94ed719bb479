/* SPDX-License-Identifier: Apache-2.0 */
#include "net/exchange.h"

#include <http_parser.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/conn.h"

/* CONN_SHARE: the part of all bodies that one connection may hold. */
enum { MAX_HEADER_BYTES = 64 * 1024, ARENA_CHUNK = 1024, PIECE = 2048, CONN_SHARE = 8 };

/* ---- shared bytes ---- */

struct net_shared {
    unsigned refs; /* atomic */
    struct str bytes;
    void (*release)(void *ctx);
    void *ctx;
};

struct net_shared *net_shared_wrap(struct str bytes, void (*release)(void *ctx),
                                   void *ctx)
{
    struct net_shared *s = mem_alloc(sizeof *s);
    *s = (struct net_shared){1, bytes, release, ctx};
    return s;
}

struct net_shared *net_shared_new(struct str bytes)
{
    char *copy = mem_dup(bytes.p, bytes.n);
    return net_shared_wrap((struct str){copy, bytes.n}, free, copy);
}

struct net_shared *net_shared_ref(struct net_shared *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void net_shared_unref(struct net_shared *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (s->release)
        s->release(s->ctx);
    free(s);
}

struct str net_shared_bytes(const struct net_shared *s)
{
    return s->bytes;
}

/* ---- what waits to be sent ---- */

static struct piece *piece_push(struct exchange *x, size_t room)
{
    struct piece *piece = mem_alloc(sizeof *piece + room);
    *piece = (struct piece){.p = (char *)(piece + 1), .room = room};
    if (x->last)
        x->last->next = piece;
    else
        x->first = piece;
    return x->last = piece;
}

static void piece_free(struct piece *piece)
{
    net_shared_unref(piece->shared);
    free(piece);
}

/* room: of a new piece, so that small writes that follow find place in it. */
static void queue_copy(struct exchange *x, struct str bytes, size_t room)
{
    struct piece *last = x->last;
    if (!last || last->room < bytes.n)
        last = piece_push(x, bytes.n > room ? bytes.n : room);
    memcpy((char *)last->p + last->n, bytes.p, bytes.n);
    last->n += bytes.n;
    last->room -= bytes.n;
    x->unsent += bytes.n;
}

static void queue_shared(struct exchange *x, struct net_shared *s)
{
    struct piece *piece = piece_push(x, 0);
    piece->shared = net_shared_ref(s);
    piece->p = s->bytes.p;
    piece->n = s->bytes.n;
    x->unsent += piece->n;
}

static void queue_drop(struct exchange *x)
{
    while (x->first) {
        struct piece *piece = x->first;
        x->first = piece->next;
        piece_free(piece);
    }
    x->last = NULL;
    x->unsent = 0;
}

struct str exchange_peek(const struct exchange *x, size_t max)
{
    if (!x->first)
        return STR_NONE;
    return (struct str){x->first->p, x->first->n < max ? x->first->n : max};
}

/* Calls of handlers are the last thing done: they may end the exchange. */
void exchange_drained(struct exchange *x)
{
    if (!x->drain_armed || x->done || x->unsent > x->drain_below)
        return;
    x->drain_armed = false;
    x->on_drain(x->drain_ctx);
}

void exchange_consume(struct exchange *x, size_t n)
{
    struct piece *piece = x->first;
    piece->p += n;
    piece->n -= n;
    x->unsent -= n;
    x->since_ms = loop_now(x->conn->server->loop);
    if (piece->n > 0)
        return;
    if (piece->nparts > 0) {
        piece->p = piece->parts->p;
        piece->n = piece->parts->n;
        piece->parts++;
        piece->nparts--;
        return;
    }
    x->first = piece->next;
    if (!x->first)
        x->last = NULL;
    piece_free(piece);
}

/* ---- life ---- */

static void list_add(struct conn *c, struct exchange *x)
{
    x->next = c->exchanges;
    x->link = &c->exchanges;
    if (x->next)
        x->next->link = &x->next;
    c->exchanges = x;
    c->nexchanges++;
}

static void list_remove(struct exchange *x)
{
    *x->link = x->next;
    if (x->next)
        x->next->link = x->link;
    x->conn->idle_ms = loop_now(x->conn->server->loop);
    x->conn->nexchanges--;
}

struct exchange *exchange_new(struct conn *c)
{
    struct exchange *x = mem_zalloc(sizeof *x);
    arena_init(&x->arena);
    x->arena.chunk_size = ARENA_CHUNK;
    x->conn = c;
    x->known = known_ref(c->known);
    x->since_ms = loop_now(c->server->loop);
    x->max_unsent = c->server->opts.max_unsent;
    x->pub = (struct net_exchange){
        .arena = &x->arena,
        .tls = c->tls,
        .local = c->local,
        .peer = c->address,
        .client_name = c->peer.name,
        .client_groups = c->peer.groups,
        .nclient_groups = c->peer.ngroups,
        .client_cert_hash = c->peer.hash,
        .client_cert_error = c->peer.error,
        .http2 = c->proto == &h2_proto,
    };
    list_add(c, x);
    return x;
}

static void release_request(struct exchange *x)
{
    struct net_observer o = x->observer;
    x->observer = (struct net_observer){0};
    if (o.freed)
        o.freed(o.ctx);
    if (x->conn) {
        x->conn->server->body_bytes -= x->body.n;
        x->conn->body_bytes -= x->body.n;
    }
    strbuf_release(&x->body);
    vec_release(&x->headers);
    arena_fini(&x->arena);
}

static void exchange_free(struct exchange *x)
{
    struct conn *c = x->conn;
    queue_drop(x);
    release_request(x);
    arena_fini(&x->after);
    if (c)
        list_remove(x);
    known_unref(x->known);
    free(x);
}

void exchange_detach(struct exchange *x)
{
    if (x->detached)
        return;
    x->detached = true;
    queue_drop(x);
    if (x->done || !x->asked) {
        exchange_free(x);
        return;
    }
    if (!x->on_gone)
        return;
    void (*fn)(void *ctx) = x->on_gone;
    x->on_gone = NULL;
    fn(x->gone_ctx);
}

void exchange_cut(struct exchange *x)
{
    if (x->detached || x->cut)
        return;
    x->cut = true;
    x->conn->proto->cut(x);
    queue_drop(x);
}

/* ---- requests ---- */

static struct str lower_copy(struct arena *a, struct str s)
{
    struct str copy = arena_str(a, s);
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] >= 'A' && copy.p[i] <= 'Z')
            ((char *)copy.p)[i] |= 0x20;
    return copy;
}

bool exchange_add_header(struct exchange *x, struct str name, struct str value)
{
    x->header_bytes += name.n + value.n + 32; /* as HTTP/2 counts them */
    if (x->header_bytes > MAX_HEADER_BYTES) {
        x->refused = 431;
        return false;
    }
    struct net_header h = {lower_copy(&x->arena, name), arena_str(&x->arena, value)};
    vec_push(&x->headers, h);
    return true;
}

bool exchange_add_body(struct exchange *x, struct str bytes)
{
    struct net_server *server = x->conn->server;
    if (x->refused || x->asked)
        return false;
    if (bytes.n > server->opts.max_body - x->body.n)
        x->refused = 413;
    else if (server->body_bytes + bytes.n > server->opts.max_bodies ||
             x->conn->body_bytes + bytes.n > server->opts.max_bodies / CONN_SHARE)
        x->refused = 429;
    if (x->refused)
        return false;
    strbuf_addstr(&x->body, bytes);
    server->body_bytes += bytes.n;
    x->conn->body_bytes += bytes.n;
    return true;
}

void exchange_set_target(struct exchange *x, struct str target)
{
    size_t mark = str_find_byte(target, '?', 0);
    x->pub.path = arena_str(&x->arena, str_sub(target, 0, mark));
    if (mark != SIZE_MAX)
        x->pub.query = arena_str(&x->arena, str_sub(target, mark + 1, target.n));
}

static void answer_refusal(struct exchange *x)
{
    static const struct net_header plain[] = {
        {STR("content-type"), STR("text/plain; charset=utf-8")},
        {STR("retry-after"), STR("1")},
    };
    struct net_server *server = x->conn->server;
    if (server->opts.refuse) {
        server->opts.refuse(server->ctx, &x->pub, x->refused);
        return;
    }
    struct str text =
        arena_printf(&x->arena, "%u %s\n", x->refused, exchange_reason(x->refused));
    net_respond(&x->pub, x->refused, plain, x->refused == 429 ? 2 : 1, text);
}

void exchange_refuse(struct exchange *x, unsigned status)
{
    if (x->asked)
        return;
    x->refused = status;
    exchange_ask(x);
}

void exchange_ask(struct exchange *x)
{
    if (x->asked)
        return;
    x->asked = true;
    x->pub.headers = x->headers.v;
    x->pub.nheaders = (uint32_t)x->headers.n;
    x->pub.body = strbuf_str(&x->body);
    x->head = str_is(x->pub.method, "HEAD");
    if (x->refused)
        answer_refusal(x);
    else
        x->conn->server->handler(x->conn->server->ctx, &x->pub);
}

struct str net_header_get(const struct net_exchange *x, const char *name)
{
    for (uint32_t i = 0; i < x->nheaders; i++)
        if (str_is(x->headers[i].name, name))
            return x->headers[i].value;
    return STR_NONE;
}

/* ---- responses ---- */

const char *exchange_reason(unsigned status)
{
    switch (status) {
#define XX(number, name, text)                                                           \
    case number:                                                                         \
        return #text;
        HTTP_STATUS_MAP(XX)
#undef XX
    default:
        return "";
    }
}

static bool is_clean(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == 0)
            return false;
    return true;
}

static struct str clean_copy(struct arena *a, struct str value)
{
    struct str copy = arena_str(a, value);
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] == '\r' || copy.p[i] == '\n' || copy.p[i] == 0)
            ((char *)copy.p)[i] = ' ';
    return copy;
}

const struct net_header *exchange_clean(struct exchange *x,
                                        const struct net_header *headers, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && is_clean(headers[i].value))
        i++;
    if (i == n)
        return headers;
    struct net_header *copy = ARENA_ARRAY(&x->arena, struct net_header, n);
    for (i = 0; i < n; i++)
        copy[i] =
            (struct net_header){headers[i].name, clean_copy(&x->arena, headers[i].value)};
    return copy;
}

static struct exchange *inner(const struct net_exchange *x)
{
    return (struct exchange *)x;
}

/* What is sent still goes somewhere. */
static bool is_open(const struct exchange *x)
{
    return x->conn && !x->detached && !x->cut && !x->preempted;
}

static void begin(struct exchange *x, unsigned status, const struct net_header *headers,
                  uint32_t nheaders, int64_t length)
{
    if (x->begun)
        return;
    x->begun = true;
    x->status = status;
    x->since_ms = x->conn ? loop_now(x->conn->server->loop) : 0;
    x->head = x->head || status == 204 || status == 304;
    if (is_open(x))
        x->conn->proto->begin(x, status, exchange_clean(x, headers, nheaders), nheaders,
                              length);
}

void net_begin(struct net_exchange *pub, unsigned status,
               const struct net_header *headers, uint32_t nheaders)
{
    struct exchange *x = inner(pub);
    begin(x, status, headers, nheaders, -1);
    if (x->observer.begun)
        x->observer.begun(x->observer.ctx, status);
}

void net_observe(struct net_exchange *pub, const struct net_observer *o)
{
    inner(pub)->observer = *o;
}

void exchange_observed(struct exchange *x)
{
    struct net_observer o = x->observer;
    x->observer = (struct net_observer){.freed = o.freed, .ctx = o.ctx};
    if (o.done)
        o.done(o.ctx, x->status, x->whole);
}

/* Whether bytes may be queued, and that many. */
static bool takes(struct exchange *x, size_t n)
{
    if (!is_open(x))
        return false;
    if (n > x->max_unsent || x->unsent > x->max_unsent - n) {
        exchange_cut(x);
        return false;
    }
    return true;
}

/* Whether there are bytes to take, which is all that is left to do if not. */
static bool begin_write(struct exchange *x, size_t n)
{
    if (n == 0 || x->head)
        return false;
    if (x->unsent == 0)
        x->since_ms = loop_now(x->conn->server->loop);
    return true;
}

/* The protocol is told of the first bytes; it asks for what follows by itself. */
static void queued(struct exchange *x, size_t n)
{
    if (x->unsent > x->drain_below)
        x->drain_armed = x->on_drain != NULL;
    if (x->unsent == n)
        x->conn->proto->more(x);
}

bool net_write(struct net_exchange *pub, struct str bytes)
{
    struct exchange *x = inner(pub);
    if (!takes(x, bytes.n))
        return false;
    if (begin_write(x, bytes.n)) {
        queue_copy(x, bytes, PIECE);
        queued(x, bytes.n);
    }
    return true;
}

bool net_write_shared(struct net_exchange *pub, struct net_shared *s)
{
    struct exchange *x = inner(pub);
    if (!takes(x, s->bytes.n))
        return false;
    if (begin_write(x, s->bytes.n)) {
        queue_shared(x, s);
        queued(x, s->bytes.n);
    }
    return true;
}

size_t net_unsent(const struct net_exchange *x)
{
    return inner(x)->unsent;
}

void net_done(struct net_exchange *pub)
{
    struct exchange *x = inner(pub);
    static const struct net_header none;
    if (!x->begun)
        begin(x, 500, &none, 0, 0);
    exchange_observed(x);
    x->done = true;
    x->on_gone = NULL;
    x->on_drain = NULL;
    x->drain_armed = false;
    if (x->detached) {
        exchange_free(x);
        return;
    }
    release_request(x);
    x->since_ms = loop_now(x->conn->server->loop);
    if (!x->cut)
        x->conn->proto->more(x);
}

void net_done_trailers(struct net_exchange *pub, const struct net_header *trailers,
                       uint32_t n)
{
    struct exchange *x = inner(pub);
    struct net_header *copy = ARENA_ARRAY(&x->after, struct net_header, n);
    for (uint32_t i = 0; i < n; i++)
        copy[i] = (struct net_header){arena_str(&x->after, trailers[i].name),
                                      clean_copy(&x->after, trailers[i].value)};
    x->trailers = copy;
    x->ntrailers = n;
    net_done(pub);
}

void net_abort(struct net_exchange *pub)
{
    struct exchange *x = inner(pub);
    if (is_open(x))
        exchange_cut(x);
    net_done(pub);
}

void net_respond_shared(struct net_exchange *pub, unsigned status,
                        const struct net_header *headers, uint32_t nheaders,
                        struct net_shared *body)
{
    struct exchange *x = inner(pub);
    begin(x, status, headers, nheaders, (int64_t)body->bytes.n);
    if (is_open(x) && !x->head && body->bytes.n > 0)
        queue_shared(x, body);
    x->whole = body->bytes;
    net_done(pub);
}

/* The parts that are empty were left out. */
static void queue_parts(struct exchange *x, const struct str *parts, uint32_t nparts,
                        struct net_shared *owner)
{
    struct piece *piece = piece_push(x, 0);
    piece->shared = net_shared_ref(owner);
    piece->p = parts->p;
    piece->n = parts->n;
    piece->parts = parts + 1;
    piece->nparts = nparts - 1;
    for (uint32_t i = 0; i < nparts; i++)
        x->unsent += parts[i].n;
}

void net_respond_parts(struct net_exchange *pub, unsigned status,
                       const struct net_header *headers, uint32_t nheaders,
                       const struct net_parts *body)
{
    struct exchange *x = inner(pub);
    struct net_shared *owner = net_shared_wrap(STR_NONE, body->release, body->ctx);
    size_t size = 0;
    for (uint32_t i = 0; i < body->n; i++)
        size += body->parts[i].n;
    begin(x, status, headers, nheaders, (int64_t)size);
    if (is_open(x) && !x->head && size > 0)
        queue_parts(x, body->parts, body->n, owner);
    net_shared_unref(owner);
    net_done(pub);
}

void net_respond(struct net_exchange *pub, unsigned status,
                 const struct net_header *headers, uint32_t nheaders, struct str body)
{
    struct exchange *x = inner(pub);
    begin(x, status, headers, nheaders, (int64_t)body.n);
    if (is_open(x) && !x->head && body.n > 0)
        queue_copy(x, body, 0);
    x->whole = body;
    net_done(pub);
}

void net_preempt(struct net_exchange *pub, unsigned status,
                 const struct net_header *headers, uint32_t nheaders, struct str body)
{
    struct exchange *x = inner(pub);
    if (x->begun)
        return;
    begin(x, status, headers, nheaders, (int64_t)body.n);
    if (is_open(x) && !x->head && body.n > 0)
        queue_copy(x, body, 0);
    x->whole = body;
    exchange_observed(x);
    x->preempted = true;
    if (x->conn && !x->detached && !x->cut)
        x->conn->proto->more(x);
}

void net_respond_buf(struct net_exchange *pub, unsigned status,
                     const struct net_header *headers, uint32_t nheaders,
                     struct strbuf *body)
{
    size_t n = body->n;
    char *bytes = strbuf_steal(body);
    struct net_shared *s = net_shared_wrap((struct str){bytes, n}, free, bytes);
    net_respond_shared(pub, status, headers, nheaders, s);
    net_shared_unref(s);
}

void net_on_gone(struct net_exchange *pub, void (*fn)(void *ctx), void *ctx)
{
    struct exchange *x = inner(pub);
    x->on_gone = fn;
    x->gone_ctx = ctx;
}

void net_on_drain(struct net_exchange *pub, size_t below, void (*fn)(void *ctx),
                  void *ctx)
{
    struct exchange *x = inner(pub);
    x->on_drain = fn;
    x->drain_ctx = ctx;
    x->drain_below = below;
    x->drain_armed = fn && x->unsent > below;
}
