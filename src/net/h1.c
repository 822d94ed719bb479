/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 (RFC 9112), and 1.0 as far as old clients need it. One exchange at a time:
 * what a client sends ahead waits, and above a limit the connection is not read anymore.
 *
 * The parser is paused at the end of a request, and the handler called when it has
 * returned, so that a handler may do anything with the connection.
 */
#include <http_parser.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/conn.h"
#include "net/tunnel.h"

enum { MAX_AHEAD = 64 * 1024, CHUNK = 32 * 1024 };

struct h1 {
    http_parser parser;
    struct exchange *x;
    struct strbuf url, name, value; /* of what is being parsed */
    bool in_value, complete, feeding;
    bool wants_upgrade, expects_continue;
    bool keep_alive; /* as far as the request says */
    bool chunked, closes;
    bool odd_method;     /* a word that the parser does not know as one */
    struct strbuf head;  /* of a response, to be sent before its body */
    struct strbuf ahead; /* sent ahead by the client */
};

static const http_parser_settings callbacks;

static void h1_open(struct conn *c)
{
    struct h1 *h = c->h1 = mem_zalloc(sizeof *h);
    http_parser_init(&h->parser, HTTP_REQUEST);
    h->parser.data = c;
}

static void h1_fini(struct conn *c)
{
    struct h1 *h = c->h1;
    struct strbuf *all[] = {&h->url, &h->name, &h->value, &h->head, &h->ahead};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        strbuf_release(all[i]);
    free(h);
}

/* ---- parsing ---- */

static struct exchange *begin_request(struct conn *c)
{
    struct h1 *h = c->h1;
    h->x = exchange_new(c);
    strbuf_clear(&h->url);
    strbuf_clear(&h->name);
    strbuf_clear(&h->value);
    h->in_value = h->complete = h->wants_upgrade = h->expects_continue = false;
    h->chunked = h->closes = false;
    return h->x;
}

static int on_begin(http_parser *p)
{
    begin_request(p->data);
    return 0;
}

static int on_url(http_parser *p, const char *at, size_t n)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    h->x->header_bytes += n;
    if (h->x->header_bytes > MAX_AHEAD) {
        h->x->refused = 431;
        return -1;
    }
    strbuf_add(&h->url, at, n);
    return 0;
}

/* A trailer (after the body) is read over. */
static bool end_header(struct h1 *h)
{
    bool ok = true;
    if (h->in_value && !h->x->have_headers)
        ok = exchange_add_header(h->x, strbuf_str(&h->name),
                                 str_trim(strbuf_str(&h->value)));
    if (h->in_value) {
        strbuf_clear(&h->name);
        strbuf_clear(&h->value);
    }
    h->in_value = false;
    return ok;
}

static int on_field(http_parser *p, const char *at, size_t n)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    if (!end_header(h))
        return -1;
    strbuf_add(&h->name, at, n);
    return 0;
}

static int on_value(http_parser *p, const char *at, size_t n)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    h->in_value = true;
    strbuf_add(&h->value, at, n);
    return 0;
}

/* "http://host/path" is what a proxy is sent; the path is what counts. */
static struct str target_of(struct str url)
{
    struct http_parser_url parts;
    if (url.n == 0 || url.p[0] == '/' || str_is(url, "*"))
        return url;
    http_parser_url_init(&parts);
    if (http_parser_parse_url(url.p, url.n, 0, &parts) != 0)
        return STR_NONE;
    if (!(parts.field_set & (1 << UF_PATH)))
        return STR("/");
    return str_sub(url, parts.field_data[UF_PATH].off, url.n);
}

static unsigned refusal(http_parser *p, struct exchange *x)
{
    struct str expect = net_header_get(&x->pub, "expect");
    bool has_host = net_header_get(&x->pub, "host").p != NULL;
    size_t max = x->conn->server->opts.max_body;
    if (p->method == HTTP_CONNECT)
        return 405;
    if (!x->pub.path.p || (!has_host && p->http_major == 1 && p->http_minor >= 1))
        return 400;
    if (expect.n > 0 && strncasecmp(expect.p, "100-continue", expect.n) != 0)
        return 417;
    if (p->content_length != UINT64_MAX && p->content_length > max)
        return 413;
    return 0;
}

static int on_headers(http_parser *p)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    struct exchange *x = h->x;
    if (!end_header(h))
        return -1;
    x->have_headers = true;
    x->pub.method = arena_str(&x->arena, str_from(http_method_str(p->method)));
    if (p->method != HTTP_CONNECT)
        exchange_set_target(x, target_of(strbuf_str(&h->url)));
    x->pub.headers = x->headers.v;
    x->pub.nheaders = (uint32_t)x->headers.n;
    x->refused = refusal(p, x);
    h->keep_alive = http_should_keep_alive(p) != 0;
    /* Other upgrades (h2c) are offers that the rest of the request does not wait for. */
    struct str upgrade = net_header_get(&x->pub, "upgrade");
    h->wants_upgrade = p->upgrade && p->method != HTTP_CONNECT && upgrade.n > 0;
    p->upgrade = 0;
    h->expects_continue = net_header_get(&x->pub, "expect").n > 0;
    if (x->refused)
        return -1;
    if (h->expects_continue && p->http_minor >= 1)
        stream_write(x->conn->stream, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    return 0;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    return exchange_add_body(h->x, (struct str){at, n}) ? 0 : -1;
}

static int on_complete(http_parser *p)
{
    struct h1 *h = ((struct conn *)p->data)->h1;
    h->complete = true;
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings callbacks = {
    .on_message_begin = on_begin,
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

/* The parser cannot go on: say why, and close. */
static void parse_failed(struct conn *c)
{
    struct h1 *h = c->h1;
    struct exchange *x = h->x ? h->x : begin_request(c);
    if (x->refused == 0)
        x->refused = HTTP_PARSER_ERRNO(&h->parser) == HPE_HEADER_OVERFLOW ? 431
                     : h->odd_method                                      ? 405
                                                                          : 400;
    if (!x->pub.method.p)
        x->pub.method = STR("GET");
    h->closes = true;
    exchange_ask(x);
}

static bool is_busy(const struct h1 *h)
{
    return h->x && h->x->asked;
}

/* Up to the end of a request; what is left stays ahead. */
static enum http_errno parse(struct conn *c)
{
    struct h1 *h = c->h1;
    struct strbuf bytes = h->ahead;
    strbuf_init(&h->ahead);
    size_t n = http_parser_execute(&h->parser, &callbacks, bytes.p, bytes.n);
    enum http_errno code = HTTP_PARSER_ERRNO(&h->parser);
    h->odd_method = code == HPE_INVALID_METHOD && n < bytes.n && bytes.p[n] >= 'A' &&
                    bytes.p[n] <= 'Z';
    if (code == HPE_PAUSED && n < bytes.n)
        strbuf_add(&h->ahead, bytes.p + n, bytes.n - n);
    strbuf_release(&bytes);
    return code;
}

/* A handler may have upgraded: then nothing is left to c but to be freed. */
static void feed(struct conn *c)
{
    struct h1 *h = c->h1;
    if (h->feeding)
        return;
    h->feeding = true;
    while (h->ahead.n > 0 && !is_busy(h) && !h->closes && c->stream) {
        enum http_errno code = parse(c);
        if (code == HPE_PAUSED) {
            http_parser_pause(&h->parser, 0);
            exchange_ask(h->x);
        } else if (code != HPE_OK) {
            parse_failed(c);
        }
    }
    h->feeding = false;
    if (c->stream)
        stream_pause(c->stream, h->ahead.n > MAX_AHEAD);
    else
        conn_free(c);
}

static void h1_data(struct conn *c, struct str bytes)
{
    struct h1 *h = c->h1;
    if (!h->closes)
        strbuf_addstr(&h->ahead, bytes);
    feed(c);
}

/* ---- responses ---- */

static void add_header(struct strbuf *b, struct str name, struct str value)
{
    strbuf_addstr(b, name);
    strbuf_adds(b, ": ");
    strbuf_addstr(b, value);
    strbuf_adds(b, "\r\n");
}

static void add_headers(struct strbuf *b, const struct net_header *headers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add_header(b, headers[i].name, headers[i].value);
}

static void choose_framing(struct h1 *h, unsigned status, int64_t length)
{
    bool old = h->parser.http_major < 1 || h->parser.http_minor < 1;
    bool bodyless = status == 204 || status == 304;
    h->chunked = length < 0 && !old && !bodyless && !h->x->head;
    h->closes = h->closes || !h->keep_alive || h->x->conn->shutting || !h->complete ||
                (length < 0 && old && !bodyless);
    if (h->chunked)
        strbuf_adds(&h->head, "transfer-encoding: chunked\r\n");
    else if (length >= 0 && !bodyless)
        strbuf_addf(&h->head, "content-length: %lld\r\n", (long long)length);
    if (h->closes)
        strbuf_adds(&h->head, "connection: close\r\n");
    else if (old)
        strbuf_adds(&h->head, "connection: keep-alive\r\n");
}

static void h1_begin(struct exchange *x, unsigned status,
                     const struct net_header *headers, uint32_t nheaders, int64_t length)
{
    struct conn *c = x->conn;
    struct h1 *h = c->h1;
    strbuf_addf(&h->head, "HTTP/1.1 %u %s\r\n", status, exchange_reason(status));
    add_headers(&h->head, headers, nheaders);
    add_header(&h->head, STR("date"), loop_date(c->server->loop));
    choose_framing(h, status, length);
    strbuf_adds(&h->head, "\r\n");
    stream_wake(c->stream);
}

static void h1_more(struct exchange *x)
{
    stream_wake(x->conn->stream);
}

static void h1_cut(struct exchange *x)
{
    stream_abort(x->conn->stream);
}

static void send_pieces(struct conn *c, struct exchange *x)
{
    struct h1 *h = c->h1;
    size_t room;
    while ((room = stream_room(c->stream)) > 0) {
        struct str piece = exchange_peek(x, room < CHUNK ? room : CHUNK);
        char size[16];
        if (piece.n == 0)
            return;
        if (h->chunked) {
            int n = snprintf(size, sizeof size, "%zx\r\n", piece.n);
            stream_write(c->stream, (struct str){size, (size_t)n});
        }
        stream_write(c->stream, piece);
        if (h->chunked)
            stream_write(c->stream, STR("\r\n"));
        exchange_consume(x, piece.n);
        exchange_drained(x);
    }
}

static void respond_over(struct conn *c, struct exchange *x)
{
    struct h1 *h = c->h1;
    if (h->chunked)
        stream_write(c->stream, STR("0\r\n\r\n"));
    h->x = NULL;
    exchange_detach(x);
    if (h->closes || c->shutting)
        stream_finish(c->stream);
    else
        feed(c);
}

static void h1_pump(struct conn *c)
{
    struct h1 *h = c->h1;
    struct exchange *x = h->x;
    if (!x || !x->begun || x->cut)
        return;
    if (h->head.n > 0)
        stream_write(c->stream, strbuf_str(&h->head));
    strbuf_release(&h->head);
    send_pieces(c, x);
    if (exchange_said_all(x) && !x->first && !x->cut)
        respond_over(c, x);
}

static void h1_shut_down(struct conn *c)
{
    struct h1 *h = c->h1;
    if (!h->x)
        stream_finish(c->stream);
}

const struct proto h1_proto = {
    .open = h1_open,
    .data = h1_data,
    .pump = h1_pump,
    .begin = h1_begin,
    .more = h1_more,
    .cut = h1_cut,
    .shut_down = h1_shut_down,
    .fini = h1_fini,
};

/* ---- upgrades ---- */

bool net_wants_upgrade(const struct net_exchange *pub)
{
    const struct exchange *x = (const struct exchange *)pub;
    return !x->detached && !x->cut && x->conn->proto == &h1_proto &&
           x->conn->h1->wants_upgrade;
}

struct net_tunnel *net_upgrade(struct net_exchange *pub, const struct net_header *headers,
                               uint32_t nheaders, net_tunnel_data *on_data, void *ctx)
{
    struct exchange *x = (struct exchange *)pub;
    if (!net_wants_upgrade(pub) || x->begun)
        return NULL;
    struct conn *c = x->conn;
    struct strbuf head = STRBUF_INIT, ahead = c->h1->ahead;
    strbuf_init(&c->h1->ahead);
    strbuf_adds(&head, "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n");
    add_headers(&head, exchange_clean(x, headers, nheaders), nheaders);
    strbuf_adds(&head, "\r\n");
    x->status = 101;
    if (x->observer.begun)
        x->observer.begun(x->observer.ctx, 101);
    exchange_observed(x);
    x->begun = x->done = true;
    c->h1->x = NULL;
    exchange_detach(x);
    struct net_loop *l = c->server->loop;
    bool feeding = c->h1->feeding;
    struct net_tunnel *t = tunnel_new(l, conn_release(c), &ahead, on_data, ctx);
    if (!feeding)
        conn_free(c);
    stream_write(tunnel_stream(t), strbuf_str(&head));
    strbuf_release(&head);
    return t;
}
