/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A protocol that is none: what an exchange has to say is handed to the caller from the
 * loop's next round. A call lives until its caller was told the end, or has cancelled it.
 */
#include "net/inner.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/conn.h"

struct net_inner {
    struct conn conn;             /* first: exchanges are of a connection */
    struct net_inner_call *calls; /* all */
    VEC(struct net_inner_call *) ready;
    bool posted, closed;
};

struct net_inner_call {
    struct net_inner_call *next, **link; /* of the user's */
    struct net_inner *inner;
    struct exchange *x; /* NULL: it is over */
    const struct net_call_ops *ops;
    void *ctx;
    struct net_timer *timer;
    struct arena arena; /* of the headers */
    struct net_header *headers;
    uint32_t nheaders;
    unsigned status; /* 0: the response has not begun */
    bool told_head, ready, paused, cancelled;
    struct err err;
};

/* ---- life ---- */

static void fill_peer(struct conn *c, const struct net_inner_opts *opts)
{
    struct arena *a = &c->known->arena;
    struct str *groups = ARENA_ARRAY(a, struct str, opts->ngroups);
    for (uint32_t i = 0; i < opts->ngroups; i++)
        groups[i] = arena_str(a, opts->groups[i]);
    c->peer.name = arena_str(a, opts->name);
    c->peer.groups = groups;
    c->peer.ngroups = opts->ngroups;
}

static const struct proto inner_proto;

struct net_inner *net_inner_new(struct net_server *s, const struct net_inner_opts *opts)
{
    struct net_inner *n = mem_zalloc(sizeof *n);
    n->conn.server = s;
    n->conn.proto = &inner_proto;
    n->conn.known = known_new();
    fill_peer(&n->conn, opts);
    s->handles++;
    return n;
}

static void free_if_over(struct net_inner *n)
{
    if (!n->closed || n->calls || n->posted)
        return;
    vec_release(&n->ready);
    conn_free(&n->conn); /* frees n, which begins with it */
}

static void call_unlink(struct net_inner_call *call)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
}

static void call_free(struct net_inner_call *call)
{
    net_timer_stop(call->timer);
    arena_fini(&call->arena);
    err_release(&call->err);
    free(call);
}

/* The exchange is its handler's alone from here on. */
static void leave(struct net_inner_call *call)
{
    struct exchange *x = call->x;
    call->x = NULL;
    if (!x)
        return;
    x->call = NULL;
    exchange_detach(x);
}

/* ---- telling ---- */

static void tell_end(struct net_inner_call *call)
{
    struct net_call_end end = {.err = call->err.code == ERR_NONE ? NULL : &call->err};
    leave(call);
    call_unlink(call);
    if (!call->cancelled)
        call->ops->done(call->ctx, &end);
    call_free(call);
}

/* Nothing more is to be told but the end. */
static bool is_complete(const struct net_inner_call *call)
{
    return !call->x || call->err.code != ERR_NONE ||
           (exchange_said_all(call->x) && call->x->unsent == 0 && !call->paused);
}

static bool may_tell(const struct net_inner_call *call)
{
    return !call->cancelled && !call->paused && call->x;
}

static void tell_head(struct net_inner_call *call)
{
    call->told_head = true;
    call->ops->head(call->ctx, call->status, call->headers, call->nheaders,
                    is_complete(call));
}

/* A piece is consumed after it was told, and the exchange may be gone by then. */
static void tell_data(struct net_inner_call *call)
{
    while (may_tell(call)) {
        struct str bytes = exchange_peek(call->x, SIZE_MAX);
        if (bytes.n == 0)
            return;
        call->ops->data(call->ctx, bytes);
        if (call->x)
            exchange_consume(call->x, bytes.n);
    }
}

static void tell(struct net_inner_call *call)
{
    call->ready = false;
    if (may_tell(call) && call->status && !call->told_head)
        tell_head(call);
    if (may_tell(call) && call->told_head)
        tell_data(call);
    if (may_tell(call))
        exchange_drained(call->x);
    if (!call->ready && is_complete(call))
        tell_end(call);
}

/* What becomes ready meanwhile is told in the loop's next round: others want their turn
 * too. */
static void tell_all(void *ctx)
{
    struct net_inner *n = ctx;
    size_t now = n->ready.n;
    for (size_t i = 0; i < now; i++)
        tell(n->ready.v[i]);
    n->ready.n -= now;
    memmove(n->ready.v, n->ready.v + now, n->ready.n * sizeof *n->ready.v);
    n->posted = n->ready.n > 0;
    if (n->posted)
        net_post(n->conn.server->loop, tell_all, n);
    free_if_over(n);
}

static void make_ready(struct net_inner_call *call)
{
    struct net_inner *n = call->inner;
    if (call->ready)
        return;
    call->ready = true;
    vec_push(&n->ready, call);
    if (!n->posted)
        net_post(n->conn.server->loop, tell_all, n);
    n->posted = true;
}

static void end_by(struct net_inner_call *call, enum err_code code, const char *why)
{
    if (call->err.code == ERR_NONE)
        err_set(&call->err, code, "%s", why);
    leave(call);
    make_ready(call);
}

/* ---- as the exchange sees it ---- */

static void inner_begin(struct exchange *x, unsigned status,
                        const struct net_header *headers, uint32_t n, int64_t length)
{
    struct net_inner_call *call = x->call;
    (void)length;
    if (!call)
        return;
    call->status = status;
    call->headers = ARENA_ARRAY(&call->arena, struct net_header, n);
    call->nheaders = n;
    for (uint32_t i = 0; i < n; i++)
        call->headers[i] = (struct net_header){arena_str(&call->arena, headers[i].name),
                                               arena_str(&call->arena, headers[i].value)};
    make_ready(call);
}

static void inner_more(struct exchange *x)
{
    if (x->call)
        make_ready(x->call);
}

static void inner_cut(struct exchange *x)
{
    struct net_inner_call *call = x->call;
    if (!call)
        return;
    if (call->err.code == ERR_NONE)
        err_set(&call->err, ERR_IO, "the server has given the call up");
    make_ready(call);
}

static void inner_nothing(struct conn *c)
{
    (void)c;
}

static const struct proto inner_proto = {
    .begin = inner_begin, .more = inner_more, .cut = inner_cut, .fini = inner_nothing};

/* ---- calls ---- */

static void on_late(void *ctx)
{
    struct net_inner_call *call = ctx;
    call->timer = NULL;
    end_by(call, ERR_TIMEOUT, "the call was not answered in time");
}

static void fill(struct exchange *x, const struct net_call_opts *opts)
{
    x->pub.method = arena_str(&x->arena, opts->method);
    exchange_set_target(x, opts->path);
    bool fits = true;
    for (uint32_t i = 0; i < opts->nheaders && fits; i++)
        fits = exchange_add_header(x, opts->headers[i].name, opts->headers[i].value);
    x->have_headers = true;
    if (fits)
        exchange_add_body(x, opts->body);
}

struct net_inner_call *net_inner_start(struct net_inner *n,
                                       const struct net_call_opts *opts,
                                       const struct net_call_ops *ops, void *ctx)
{
    struct net_inner_call *call = mem_zalloc(sizeof *call);
    *call = (struct net_inner_call){
        .inner = n, .ops = ops, .ctx = ctx, .next = n->calls, .link = &n->calls};
    arena_init(&call->arena);
    if (call->next)
        call->next->link = &call->next;
    n->calls = call;
    struct exchange *x = exchange_new(&n->conn);
    x->call = call;
    call->x = x;
    fill(x, opts);
    if (opts->timeout_ms)
        call->timer =
            net_timer_start(n->conn.server->loop, opts->timeout_ms, 0, on_late, call);
    exchange_ask(x);
    return call;
}

void net_inner_pause(struct net_inner_call *call, bool paused)
{
    call->paused = paused;
    if (!paused)
        make_ready(call);
}

void net_inner_cancel(struct net_inner_call *call)
{
    leave(call);
    call->cancelled = true;
    make_ready(call);
}

void net_inner_free(struct net_inner *n)
{
    if (!n)
        return;
    n->closed = true;
    for (struct net_inner_call *call = n->calls; call; call = call->next)
        if (!call->cancelled)
            end_by(call, ERR_CANCELLED, "the caller has ended");
    free_if_over(n);
}
