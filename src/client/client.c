/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/warning.h"
#include "client/way.h"
#include "doc/doc.h"

enum {
    TIMEOUT_MS = 34000,
    MAX_TRIES = 10,
    MAX_BODY = 1 << 28,
    MAX_STATUS = 1 << 20, /* of a body that is read for its reason */
    MAX_RETRY_S = 60,
    UNSEEN_MS = 50, /* until what nobody has seen is sent again */
};

struct client {
    struct net_loop *loop;
    const struct way *way;
    void *self;
    struct client_call *calls;
    struct object_pool *pool;
    client_warned *warned; /* or NULL */
    void *warned_ctx;
};

struct client_call {
    struct client_call *next, **link; /* of the client's */
    struct client *client;
    struct arena arena; /* of the request */
    struct client_request request;
    client_done *done;
    client_line *line; /* NULL: the answer comes as a whole */
    void *ctx;
    void *call; /* of the way; NULL: none at the moment */
    struct net_timer *timer;
    unsigned tries, status;
    uint64_t retry_ms; /* as the server said; 0: it did not */
    struct strbuf body;
    struct err err;
    bool *gone; /* set when the call goes while its callback runs */
};

struct client *client_new(struct net_loop *l, const struct way *way, void *self)
{
    struct client *c = mem_zalloc(sizeof *c);
    *c = (struct client){.loop = l, .way = way, .self = self, .pool = object_pool_new()};
    return c;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    struct client_call *next;
    for (struct client_call *call = c->calls; call; call = next) {
        next = call->next;
        client_cancel(call);
    }
    c->way->free(c->self);
    object_pool_free(c->pool);
    free(c);
}

void client_use_pool(struct client *c, struct object_pool *p)
{
    object_pool_free(c->pool);
    c->pool = object_pool_ref(p);
}

struct object_pool *client_pool(struct client *c)
{
    return c->pool;
}

void client_on_warning(struct client *c, client_warned *warned, void *ctx)
{
    c->warned = warned;
    c->warned_ctx = ctx;
}

struct net_loop *client_loop(const struct client *c)
{
    return c->loop;
}

struct str client_path(const struct client_kind *k, struct str namespace, struct str name,
                       const char *sub, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    if (k->group[0])
        strbuf_addf(&b, "/apis/%s/%s", k->group, k->version);
    else
        strbuf_addf(&b, "/api/%s", k->version);
    if (namespace.n)
        strbuf_addf(&b, "/namespaces/%.*s", STR_ARG(namespace));
    strbuf_addf(&b, "/%s", k->resource);
    if (name.n)
        strbuf_addf(&b, "/%.*s", STR_ARG(name));
    if (sub)
        strbuf_addf(&b, "/%s", sub);
    struct str path = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return path;
}

/* ---- the end of a call ---- */

static void call_free(struct client_call *call)
{
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    if (call->gone)
        *call->gone = true;
    net_timer_stop(call->timer);
    strbuf_release(&call->body);
    err_release(&call->err);
    arena_fini(&call->arena);
    free(call);
}

void client_cancel(struct client_call *call)
{
    if (call->call)
        call->client->way->cancel(call->call);
    call_free(call);
}

/* The Status that a server's refusal is. */
static void read_status(struct client_call *call, struct client_answer *out)
{
    struct doc_source src = {.name = "status", .text = strbuf_str(&call->body)};
    struct doc d;
    struct str reason = STR_NONE, message = STR_NONE;
    if (src.text.n <= MAX_STATUS && doc_read_json(&src, &call->arena, &d, NULL)) {
        reason = doc_get_text(&d, "reason");
        message = doc_get_text(&d, "message");
    }
    if (!message.n)
        message = arena_printf(&call->arena, "the server answered %u: %.*s", call->status,
                               STR_ARG(str_sub(src.text, 0, 200)));
    out->reason = reason.n ? reason.p : "";
    out->message = message.p;
}

/* Names the server that has not answered, unless the text begins with its host. */
static const char *trouble(struct client_call *call)
{
    const char *text = err_text(&call->err),
               *address = call->client->way->address(call->client->self);
    struct str host =
        str_sub(str_from(address), 0, str_rfind_byte(str_from(address), ':'));
    if (call->status || !host.n || str_starts(str_from(text), host))
        return text;
    return arena_printf(&call->arena, "%s: %s", address, text).p;
}

static void finish(struct client_call *call)
{
    bool ok = call->status / 100 == 2 && call->err.code == ERR_NONE;
    struct client_answer a = {call->status, ok, "", "", strbuf_str(&call->body)};
    if (call->err.code != ERR_NONE)
        a.message = trouble(call);
    else if (!ok)
        read_status(call, &a);
    call->call = NULL;
    call->done(call->ctx, &a);
    call_free(call);
}

/* ---- trying ---- */

static void try(struct client_call *call);

static void try_again(void *ctx)
{
    struct client_call *call = ctx;
    call->timer = NULL;
    try(call);
}

static void try_later(struct client_call *call, uint64_t ms)
{
    call->status = 0;
    call->retry_ms = 0;
    strbuf_clear(&call->body);
    err_release(&call->err);
    call->timer = net_timer_start(call->client->loop, ms, 0, try_again, call);
}

static void fail_later(void *ctx)
{
    struct client_call *call = ctx;
    call->timer = NULL;
    finish(call);
}

/* "3": seconds. What says a date is not waited for. */
static uint64_t read_retry_after(struct str value)
{
    uint64_t s = 0;
    for (size_t i = 0; i < value.n && s <= MAX_RETRY_S; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return 0;
        s = s * 10 + (uint64_t)(value.p[i] - '0');
    }
    return s > MAX_RETRY_S ? 0 : s * 1000;
}

static void tell_warnings(struct client_call *call, struct str value)
{
    const struct client *c = call->client;
    struct str text;
    while (c->warned && warning_next(&value, &call->arena, &text))
        c->warned(c->warned_ctx, text);
}

static void on_head(void *ctx, unsigned status, const struct net_header *headers,
                    uint32_t n, bool last)
{
    struct client_call *call = ctx;
    (void)last;
    call->status = status;
    for (uint32_t i = 0; i < n; i++)
        if (str_is(headers[i].name, "retry-after"))
            call->retry_ms = read_retry_after(headers[i].value);
        else if (str_is(headers[i].name, "warning"))
            tell_warnings(call, headers[i].value);
}

/* Each line that is complete; the rest waits for its end. */
static void tell_lines(struct client_call *call)
{
    bool gone = false;
    size_t from = 0, end;
    call->gone = &gone;
    while ((end = str_find_byte(strbuf_str(&call->body), '\n', from)) != SIZE_MAX) {
        call->line(call->ctx, str_sub(strbuf_str(&call->body), from, end));
        if (gone)
            return;
        from = end + 1;
    }
    call->gone = NULL;
    call->body.n -= from;
    memmove(call->body.p, call->body.p + from, call->body.n + 1);
}

static void on_data(void *ctx, struct str bytes)
{
    struct client_call *call = ctx;
    if (call->err.code != ERR_NONE)
        return;
    if (bytes.n > MAX_BODY - call->body.n) {
        err_set(&call->err, ERR_LIMIT, "the answer has more than %d bytes", MAX_BODY);
        return;
    }
    strbuf_addstr(&call->body, bytes);
    if (call->line && call->status / 100 == 2)
        tell_lines(call);
}

static void on_done(void *ctx, const struct net_call_end *end)
{
    struct client_call *call = ctx;
    call->call = NULL;
    if (end->err && call->err.code == ERR_NONE)
        err_set(&call->err, end->err->code, "%s", err_text(end->err));
    bool busy = !end->err && (call->status == 429 || call->status >= 500);
    if (end->untouched && call->tries < MAX_TRIES)
        try_later(call, UNSEEN_MS);
    else if (busy && call->retry_ms && call->tries < MAX_TRIES)
        try_later(call, call->retry_ms);
    else
        finish(call);
}

enum { MAX_HEADERS = 6 + KUBECONFIG_MAX_GROUPS };

static uint32_t add_acts_as(const struct kubeconfig_as *as, struct net_header *out)
{
    uint32_t n = 0;
    if (!as)
        return 0;
    out[n++] = (struct net_header){STR("impersonate-user"), as->user};
    if (as->uid.n)
        out[n++] = (struct net_header){STR("impersonate-uid"), as->uid};
    for (uint32_t i = 0; i < as->ngroups; i++)
        out[n++] = (struct net_header){STR("impersonate-group"), as->groups[i]};
    return n;
}

static uint32_t make_headers(struct client_call *call, struct net_header *out)
{
    const struct way *way = call->client->way;
    const struct client_request *q = &call->request;
    struct str token = way->token(call->client->self, &call->arena);
    uint32_t n = 0;
    out[n++] = (struct net_header){STR("accept"), q->accept ? str_from(q->accept)
                                                            : STR("application/json")};
    out[n++] =
        (struct net_header){STR("user-agent"), way->user_agent(call->client->self)};
    if (q->body.n)
        out[n++] = (struct net_header){
            STR("content-type"), q->type ? str_from(q->type) : STR("application/json")};
    if (token.n)
        out[n++] = (struct net_header){
            STR("authorization"),
            arena_printf(&call->arena, "Bearer %.*s", STR_ARG(token))};
    return n + add_acts_as(way->acts_as(call->client->self), out + n);
}

static void try(struct client_call *call)
{
    static const struct net_call_ops ops = {on_head, on_data, on_done};
    const struct client_request *q = &call->request;
    struct net_header headers[MAX_HEADERS];
    struct net_call_opts opts = {.method = str_from(q->method),
                                 .path = q->path,
                                 .headers = headers,
                                 .nheaders = make_headers(call, headers),
                                 .body = q->body,
                                 .timeout_ms = call->line      ? q->timeout_ms
                                               : q->timeout_ms ? q->timeout_ms
                                                               : TIMEOUT_MS};
    call->tries++;
    call->call =
        call->client->way->start(call->client->self, &opts, &ops, call, &call->err);
    if (!call->call)
        call->timer = net_timer_start(call->client->loop, 0, 0, fail_later, call);
}

static struct client_call *start(struct client *c, const struct client_request *q,
                                 client_line *line, client_done *done, void *ctx)
{
    struct client_call *call = mem_zalloc(sizeof *call);
    *call = (struct client_call){
        .client = c, .done = done, .line = line, .ctx = ctx, .request = *q};
    arena_init(&call->arena);
    call->request.path =
        arena_printf(&call->arena, "%s%.*s", c->way->prefix(c->self), STR_ARG(q->path));
    call->request.body = arena_str(&call->arena, q->body);
    call->next = c->calls;
    call->link = &c->calls;
    if (call->next)
        call->next->link = &call->next;
    c->calls = call;
    try(call);
    return call;
}

struct client_call *client_start(struct client *c, const struct client_request *q,
                                 client_done *done, void *ctx)
{
    return start(c, q, NULL, done, ctx);
}

struct client_call *client_stream(struct client *c, const struct client_request *q,
                                  client_line *line, client_done *done, void *ctx)
{
    return start(c, q, line, done, ctx);
}
