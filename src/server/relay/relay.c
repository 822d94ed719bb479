/* SPDX-License-Identifier: Apache-2.0 */
#include "server/relay/relay.h"

#include <stdlib.h>
#include <strings.h>

#include "net/h1_client.h"
#include "net/resolve.h"
#include "server/access/auth.h"

enum {
    HIGH = 256 * 1024, /* bytes that wait for one side: the other is not read anymore */
    LOW = 64 * 1024,
    MAX_REFUSAL = 50000, /* of a kubelet, as upstream */
    MAX_PASSED = 100,    /* headers */
};

struct relay {
    struct relay *next, **link; /* of the server's */
    struct server *s;
    struct request *r; /* NULL: the exchange is over, the client is a tunnel */
    enum relay_kind kind;
    struct relay_target to;
    struct net_lookup *lookup;
    const char *ips[NET_MAX_ADDRESSES]; /* of the target, one after another */
    uint32_t nips, next_ip;
    struct net_h1_call *call;
    struct net_tunnel *client;
    bool begun;            /* the client got the head of an answer */
    unsigned refused;      /* status of a kubelet that gave no log, 0: it does */
    struct strbuf refusal; /* its words */
};

/* ---- the end ---- */

static void relay_free(struct relay *l)
{
    *l->link = l->next;
    if (l->next)
        l->next->link = l->link;
    net_lookup_cancel(l->lookup);
    net_h1_close(l->call);
    net_tunnel_close(l->client);
    strbuf_release(&l->refusal);
    free(l);
}

static void finish(struct relay *l)
{
    if (l->r) {
        vec_release(&l->r->warnings);
        net_done(l->r->x);
    }
    relay_free(l);
}

/* The client is told that something is missing. */
static void break_off(struct relay *l)
{
    if (l->r) {
        vec_release(&l->r->warnings);
        net_abort(l->r->x);
    }
    relay_free(l);
}

static void answer_failure(struct relay *l)
{
    struct request *r = l->r;
    relay_free(l);
    request_answer_failure(r);
}

static void on_gone(void *ctx)
{
    finish(ctx);
}

void relay_end_all(struct server *s)
{
    while (s->relays)         /* each takes itself out */
        break_off(s->relays); /* NOLINT(clang-analyzer-unix.Malloc) */
}

/* ---- why it could not be asked, in Go's words ---- */

static struct str place(struct relay *l)
{
    bool six = str_find_byte(l->to.host, ':', 0) != SIZE_MAX;
    return arena_printf(l->r->a, "%s%.*s%s:%u", six ? "[" : "", STR_ARG(l->to.host),
                        six ? "]" : "", l->to.port);
}

static void fail_dial(struct relay *l, struct str why)
{
    struct request *r = l->r;
    if (l->kind == RELAY_LOG)
        fail(r, 500, NULL, "Get \"https://%.*s%.*s\": %.*s", STR_ARG(place(l)),
             STR_ARG(l->to.target), STR_ARG(why));
    else if (l->kind == RELAY_STREAM)
        fail(r, 500, NULL, "error dialing backend: %.*s", STR_ARG(why));
    else
        fail(r, 503, "ServiceUnavailable", "error trying to reach service: %.*s",
             STR_ARG(why));
    answer_failure(l);
}

static void fail_call(struct relay *l, const struct err *why)
{
    const char *text = why ? err_text(why) : "EOF";
    if (net_h1_reached(l->call))
        fail_dial(l, arena_printf(l->r->a, "%s", text));
    else
        fail_dial(l, arena_printf(l->r->a, "dial tcp %.*s: connect: %s",
                                  STR_ARG(place(l)), text));
}

/* ---- tunnels ---- */

static void client_drained(void *ctx)
{
    struct relay *l = ctx;
    net_h1_pause(l->call, false);
}

static void target_drained(void *ctx)
{
    struct relay *l = ctx;
    net_tunnel_pause(l->client, false);
}

static void on_client(void *ctx, struct str bytes)
{
    struct relay *l = ctx;
    if (bytes.n == 0 || !net_h1_write(l->call, bytes))
        finish(l);
    else if (net_h1_unsent(l->call) > HIGH)
        net_tunnel_pause(l->client, true);
}

static void to_client(struct relay *l, struct str bytes)
{
    if (!net_tunnel_write(l->client, bytes))
        finish(l);
    else if (net_tunnel_unsent(l->client) > HIGH)
        net_h1_pause(l->call, true);
}

/* ---- headers ---- */

/* Of one connection, or said anew. */
static bool is_hop(struct str name)
{
    static const char *const HOP[] = {"connection",
                                      "content-length",
                                      "date",
                                      "expect",
                                      "host",
                                      "http2-settings",
                                      "keep-alive",
                                      "proxy-authenticate",
                                      "proxy-authorization",
                                      "proxy-connection",
                                      "te",
                                      "trailer",
                                      "transfer-encoding",
                                      "upgrade"};
    for (size_t i = 0; i < sizeof HOP / sizeof *HOP; i++)
        if (str_is(name, HOP[i]))
            return true;
    return false;
}

/* Who asks was settled here. */
static bool is_credential(struct str name)
{
    return str_is(name, "authorization") || str_starts(name, STR("impersonate-"));
}

/* "a, b" without those protocols that carry a token. */
static struct str without_token(struct arena *a, struct str protocols)
{
    struct str kept = STR("");
    for (struct str rest = protocols, part; str_split_next(&rest, ',', &part);) {
        struct str one = str_trim(part);
        if (!str_starts(one, STR(AUTH_PROTOCOL)))
            kept = arena_printf(a, "%.*s%s%.*s", STR_ARG(kept), kept.n ? ", " : "",
                                STR_ARG(one));
    }
    return kept;
}

static struct str peer_address(struct str peer)
{
    size_t end = peer.n;
    while (end > 0 && peer.p[end - 1] != ':')
        end--;
    struct str host = str_sub(peer, 0, end ? end - 1 : 0);
    bool bracket = host.n > 2 && host.p[0] == '[';
    return str_sub(host, bracket, host.n - (bracket ? 1 : 0));
}

static void add(struct net_header *out, uint32_t *n, struct str name, struct str value)
{
    if (*n < MAX_PASSED && value.n)
        out[(*n)++] = (struct net_header){name, value};
}

static struct str forwarded_for(struct request *r)
{
    struct str before = net_header_get(r->x, "x-forwarded-for");
    struct str peer = peer_address(r->x->peer);
    return before.n && peer.n
               ? arena_printf(r->a, "%.*s, %.*s", STR_ARG(before), STR_ARG(peer))
               : peer;
}

/* The client's headers, as the target gets them. */
static uint32_t request_passed(struct relay *l, struct net_header *out)
{
    struct request *r = l->r;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->x->nheaders; i++) {
        struct net_header h = r->x->headers[i];
        if (is_hop(h.name) || is_credential(h.name) || str_is(h.name, "x-forwarded-for"))
            continue;
        if (str_is(h.name, "sec-websocket-protocol"))
            h.value = without_token(r->a, h.value);
        add(out, &n, h.name, h.value);
    }
    add(out, &n, STR("x-forwarded-for"), forwarded_for(r));
    if (l->kind == RELAY_PROXY)
        add(out, &n, STR("x-forwarded-uri"), r->x->path);
    return n;
}

/* Where the client finds what the target calls "/a": below the proxy's own path. */
static struct str rewritten(struct relay *l, struct str location)
{
    struct request *r = l->r;
    struct str path = r->x->path, at = location;
    struct str prefix = str_sub(path, 0, path.n - r->route.rest.n);
    struct str own =
        arena_printf(r->a, "%s://%.*s", l->to.tls ? "https" : "http", STR_ARG(place(l)));
    if (str_starts(at, own))
        at = str_sub(at, own.n, SIZE_MAX);
    bool local = at.n && at.p[0] == '/' && !(at.n > 1 && at.p[1] == '/');
    if (!local || str_starts(at, prefix))
        return at;
    return arena_printf(r->a, "%.*s%.*s", STR_ARG(prefix), STR_ARG(at));
}

/* The target's, as the client gets them. */
static uint32_t answer_passed(struct relay *l, const struct net_h1_answer *answer,
                              struct net_header *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < answer->nheaders; i++) {
        struct net_header h = answer->headers[i];
        bool upgrade = answer->status == 101 && str_is(h.name, "upgrade");
        if (is_hop(h.name) && !upgrade)
            continue;
        if (l->kind == RELAY_PROXY && str_starts(h.name, STR("access-control-allow-")))
            continue;
        if (l->kind == RELAY_PROXY && str_is(h.name, "location"))
            h.value = rewritten(l, h.value);
        add(out, &n, h.name, h.value);
    }
    return n;
}

/* ---- the answer ---- */

static void exchange_drained(void *ctx)
{
    struct relay *l = ctx;
    net_h1_pause(l->call, false);
}

static void begin(struct relay *l, unsigned status, const struct net_header *headers,
                  uint32_t n)
{
    l->begun = true;
    net_begin(l->r->x, status, headers, n);
    net_on_drain(l->r->x, LOW, exchange_drained, l);
}

static void begin_log(struct relay *l, unsigned status)
{
    struct net_header headers[MAX_HEADERS];
    if (status < 200 || status > 206) {
        l->refused = status;
        return;
    }
    begin(l, 200, headers, request_headers(l->r, "text/plain", headers));
}

static void begin_tunnel(struct relay *l, const struct net_h1_answer *answer)
{
    struct net_header headers[MAX_PASSED];
    uint32_t n = answer_passed(l, answer, headers);
    vec_release(&l->r->warnings);
    l->client = net_upgrade(l->r->x, headers, n, on_client, l);
    if (!l->client) {
        fail(l->r, 500, NULL, "the connection cannot be upgraded");
        answer_failure(l);
        return;
    }
    l->r = NULL;
    net_tunnel_on_drain(l->client, LOW, client_drained);
    net_h1_on_drain(l->call, LOW, target_drained);
}

static void on_head(void *ctx, const struct net_h1_answer *answer)
{
    struct relay *l = ctx;
    struct net_header headers[MAX_PASSED];
    bool upgrade = net_wants_upgrade(l->r->x) && l->kind != RELAY_LOG;
    if (l->kind == RELAY_LOG) {
        begin_log(l, answer->status);
    } else if (answer->status == 101) {
        begin_tunnel(l, answer);
    } else if (upgrade && answer->status < 400) {
        fail(l->r, 500, NULL, "invalid upgrade response: status code %u", answer->status);
        answer_failure(l);
    } else {
        begin(l, answer->status, headers, answer_passed(l, answer, headers));
    }
}

static void on_data(void *ctx, struct str bytes)
{
    struct relay *l = ctx;
    if (l->client) {
        to_client(l, bytes);
    } else if (l->refused) {
        size_t room = MAX_REFUSAL - l->refusal.n;
        strbuf_addstr(&l->refusal, str_sub(bytes, 0, room));
    } else if (!net_write(l->r->x, bytes)) {
        finish(l);
    } else if (net_unsent(l->r->x) > HIGH) {
        net_h1_pause(l->call, true);
    }
}

/* What a kubelet's refusal of a log is to the client. */
static const struct {
    unsigned status;
    const char *reason, *text; /* NULL: the kubelet's own words */
} REFUSALS[] = {
    {400, "BadRequest", NULL},
    {401, "Unauthorized", "the server has asked for the client to provide credentials"},
    {403, "Forbidden", NULL},
    {404, "NotFound", "the server could not find the requested resource"},
    {405, "MethodNotAllowed",
     "the server does not allow this method on the requested resource"},
    {406, "NotAcceptable", NULL},
    {409, "Conflict", "the server reported a conflict"},
    {415, "UnsupportedMediaType", NULL},
    {422, "Invalid", "the server rejected our request due to an error in our request"},
    {429, "TooManyRequests",
     "the server has received too many requests and has asked us to try again later"},
    {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
    {504, "Timeout",
     "the server was unable to return a response in the time allotted, but may still be "
     "processing the request"},
};

static struct str refusal_text(struct relay *l, const char **reason)
{
    struct str said = strbuf_str(&l->refusal);
    for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++)
        if (REFUSALS[i].status == l->refused) {
            *reason = REFUSALS[i].reason;
            return REFUSALS[i].text ? str_from(REFUSALS[i].text) : said;
        }
    *reason = l->refused >= 500 ? "InternalError" : NULL;
    return l->refused >= 500
               ? arena_printf(l->r->a,
                              "an error on the server (\"%.*s\") has prevented the "
                              "request from succeeding",
                              STR_ARG(said))
               : arena_printf(l->r->a,
                              "the server responded with the status code %u but did not "
                              "return more information",
                              l->refused);
}

static void fail_refused(struct relay *l)
{
    struct request *r = l->r;
    struct str said = strbuf_str(&l->refusal), name = r->route.name;
    const char *reason;
    if (l->refused == 500) {
        fail(r, 500, "InternalError", "Internal error occurred: %.*s", STR_ARG(said));
        fail_cause(r, NULL, arena_str(r->a, said), STR_NONE);
    } else if (l->refused == 400) {
        fail_bad(r, "%.*s", STR_ARG(said));
    } else {
        struct str text = refusal_text(l, &reason);
        fail_object(r, l->refused, reason, name, "%.*s ( pods/log %.*s)", STR_ARG(text),
                    STR_ARG(name));
        r->failure.kind = STR("pods/log");
    }
    answer_failure(l);
}

static void ask(struct relay *l);

static void on_end(void *ctx, const struct err *why)
{
    struct relay *l = ctx;
    if (l->refused) {
        fail_refused(l);
    } else if (l->client || l->begun) {
        if (why)
            break_off(l);
        else
            finish(l);
    } else if (l->next_ip < l->nips && !net_h1_reached(l->call)) {
        net_h1_close(l->call);
        ask(l);
    } else {
        fail_call(l, why);
    }
}

static const struct net_h1_ops OPS = {on_head, on_data, on_end};

/* ---- asking ---- */

static struct str host_header(struct relay *l)
{
    struct str host = l->kind == RELAY_LOG ? STR_NONE : net_header_get(l->r->x, "host");
    return host.n ? host : place(l);
}

static struct net_tls_client_opts tls_of(const struct relay *l)
{
    const struct kubelet_access *k = &l->s->kubelet;
    struct net_tls_client_opts tls = {.insecure = true};
    if (!l->to.kubelet)
        return tls;
    tls.cert_pem = k->cert_pem;
    tls.key_pem = k->key_pem;
    tls.insecure = l->to.unverified || k->ca_pem.n == 0;
    tls.ca_pem = tls.insecure ? STR_NONE : k->ca_pem;
    return tls;
}

/* The next address. */
static void ask(struct relay *l)
{
    struct request *r = l->r;
    bool own = l->kind == RELAY_LOG;
    struct net_header headers[MAX_PASSED];
    struct net_tls_client_opts tls = tls_of(l);
    struct net_h1_request q = {.to = {.ip = l->ips[l->next_ip++],
                                      .port = l->to.port,
                                      .tls = l->to.tls ? &tls : NULL,
                                      .name = arena_str(r->a, l->to.host).p},
                               .method = own ? STR("GET") : r->x->method,
                               .target = l->to.target,
                               .host = host_header(l),
                               .headers = headers,
                               .body = own ? STR("") : r->x->body};
    struct err e = ERR_INIT;
    if (!own)
        q.nheaders = request_passed(l, headers);
    if (!own && net_wants_upgrade(r->x))
        q.upgrade = net_header_get(r->x, "upgrade");
    l->call = net_h1_call(l->s->loop, &q, &OPS, l, &e);
    if (l->call)
        return;
    fail_dial(l, arena_printf(r->a, "%s", err_text(&e)));
    err_release(&e);
}

static bool all_elsewhere(const char *const *ips, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && net_ip_is_global(ips[i]))
        i++;
    return i == n;
}

static void on_found(void *ctx, const char *const *ips, uint32_t n, const struct err *why)
{
    struct relay *l = ctx;
    struct request *r = l->r;
    l->lookup = NULL;
    if (n == 0) {
        fail_dial(l, arena_printf(r->a, "dial tcp: lookup %.*s: %s", STR_ARG(l->to.host),
                                  err_text(why)));
        return;
    }
    if (l->to.elsewhere && !all_elsewhere(ips, n)) {
        fail_bad(r, "address not allowed");
        answer_failure(l);
        return;
    }
    for (; l->nips < n; l->nips++)
        l->ips[l->nips] = arena_str(r->a, str_from(ips[l->nips])).p;
    ask(l);
}

void relay_start(struct request *r, const struct relay_target *to, enum relay_kind kind)
{
    struct server *s = r->s;
    if (kind == RELAY_STREAM && !net_wants_upgrade(r->x)) {
        fail_bad(r, "Upgrade request required");
        request_answer_failure(r);
        return;
    }
    struct relay *l = mem_zalloc(sizeof *l);
    l->s = s;
    l->r = r;
    l->kind = kind;
    l->to = *to;
    l->next = s->relays;
    l->link = &s->relays;
    if (l->next)
        l->next->link = &l->next;
    s->relays = l;
    net_on_gone(r->x, on_gone, l);
    l->lookup = net_lookup_start(s->loop, arena_str(r->a, to->host).p, on_found, l);
}
