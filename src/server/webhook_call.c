/* SPDX-License-Identifier: Apache-2.0 */
#include "server/webhook_call.h"

#include <strings.h>

#include "net/h1_client.h"
#include "net/resolve.h"
#include "server/awaiting.h"
#include "server/relay.h"

struct call {
    struct question question; /* first */
    struct webhook_answer answer;
    struct request *r;
    struct str url;  /* as errors print it */
    struct str host; /* to look up; in brackets it is an address */
    struct str name; /* that the certificate is for, and the header has */
    struct str target, body, ca;
    uint16_t port;
    struct net_lookup *lookup;
    const char *ips[NET_MAX_ADDRESSES];
    uint32_t nips, next_ip;
    struct net_h1_call *http;
    struct net_timer *timer;
    struct strbuf got;
};

static struct str key_of(struct request *r, const struct webhook *w, struct str review,
                         unsigned round)
{
    return arena_printf(r->a, "%.*s\n%u\n%.*s", STR_ARG(w->uid), round, STR_ARG(review));
}

const struct webhook_answer *webhook_asked(struct request *r, const struct webhook *w,
                                           struct str review, unsigned round)
{
    struct question *q = awaiting_find(r, key_of(r, w, review, round));
    return q ? &((struct call *)q)->answer : NULL;
}

bool webhook_is_open(const struct webhook_answer *answer)
{
    const struct call *c =
        (const struct call *)((const char *)answer - offsetof(struct call, answer));
    return c->question.open;
}

/* ---- the end ---- */

static void let_go(struct call *c)
{
    net_lookup_cancel(c->lookup);
    net_h1_close(c->http);
    if (c->timer)
        net_timer_stop(c->timer);
    strbuf_release(&c->got);
    c->lookup = NULL;
    c->http = NULL;
    c->timer = NULL;
}

static void cancel(struct question *q)
{
    let_go((struct call *)q);
}

static void answered(struct call *c)
{
    c->answer.there = true;
    c->answer.body = arena_str(c->r->a, strbuf_str(&c->got));
    let_go(c);
    awaiting_answered(&c->question);
}

/* Errors in the words of Go's client. */
static void failed(struct call *c, const char *before, const char *why)
{
    c->answer.fail =
        arena_printf(c->r->a, "Post \"%.*s\": %s%s", STR_ARG(c->url), before, why);
    answered(c);
}

static void on_late(void *ctx)
{
    struct call *c = ctx;
    c->timer = NULL;
    failed(c, "", "context deadline exceeded");
}

/* ---- the answer ---- */

static void on_head(void *ctx, const struct net_h1_answer *answer)
{
    struct call *c = ctx;
    c->answer.status = answer->status;
    c->answer.text = true;
    for (uint32_t i = 0; i < answer->nheaders; i++)
        if (str_is(answer->headers[i].name, "content-type"))
            c->answer.text = str_starts(answer->headers[i].value, STR("text/"));
}

static void on_data(void *ctx, struct str bytes)
{
    struct call *c = ctx;
    if (c->got.n + bytes.n > WEBHOOK_ANSWER_MAX)
        failed(c, "", "the answer is too large");
    else
        strbuf_addstr(&c->got, bytes);
}

static void try_next(struct call *c);

static struct str place(struct call *c)
{
    const char *ip = c->ips[c->next_ip ? c->next_ip - 1 : 0];
    bool six = ip && strchr(ip, ':');
    return arena_printf(c->r->a, "%s%s%s:%u", six ? "[" : "", ip ? ip : "",
                        six ? "]" : "", c->port);
}

static void on_end(void *ctx, const struct err *why)
{
    struct call *c = ctx;
    bool reached = net_h1_reached(c->http);
    if (!why && c->answer.status) {
        answered(c);
    } else if (!reached && c->next_ip < c->nips) {
        net_h1_close(c->http);
        c->http = NULL;
        try_next(c);
    } else if (reached) {
        failed(c, "", why ? err_text(why) : "EOF");
    } else {
        struct str before =
            arena_printf(c->r->a, "dial tcp %.*s: connect: ", STR_ARG(place(c)));
        failed(c, before.p, why ? err_text(why) : "EOF");
    }
}

static const struct net_h1_ops OPS = {on_head, on_data, on_end};

/* ---- asking ---- */

/* The next address. */
static void try_next(struct call *c)
{
    static const struct net_header HEADERS[] = {
        {{"accept", 6}, {"application/json, */*", 21}},
        {{"content-type", 12}, {"application/json", 16}},
        {{"user-agent", 10}, {"kube-apiserver-admission", 24}}};
    struct net_tls_client_opts tls = {.ca_pem = c->ca};
    struct err e = ERR_INIT;
    struct net_h1_request q = {.to = {.ip = c->ips[c->next_ip++],
                                      .port = c->port,
                                      .tls = &tls,
                                      .name = c->name.p},
                               .method = STR("POST"),
                               .target = c->target,
                               .host = c->name,
                               .headers = HEADERS,
                               .nheaders = 3,
                               .body = c->body,
                               .head_ms = 60000};
    c->http = net_h1_call(c->r->s->loop, &q, &OPS, c, &e);
    if (c->http)
        return;
    failed(c, "", err_text(&e));
    err_release(&e);
}

static void on_found(void *ctx, const char *const *ips, uint32_t n, const struct err *why)
{
    struct call *c = ctx;
    c->lookup = NULL;
    if (n == 0) {
        struct str before =
            arena_printf(c->r->a, "dial tcp: lookup %.*s: ", STR_ARG(c->host));
        failed(c, before.p, err_text(why));
        return;
    }
    for (; c->nips < n; c->nips++)
        c->ips[c->nips] = arena_str(c->r->a, str_from(ips[c->nips])).p;
    try_next(c);
}

/* "https://host[:port][/path]", which validation has seen. */
static void aim_url(struct call *c, struct str url)
{
    struct arena *a = c->r->a;
    size_t scheme = str_find(url, STR("://"));
    struct str rest = str_sub(url, scheme == SIZE_MAX ? 0 : scheme + 3, SIZE_MAX);
    size_t slash = str_find_byte(rest, '/', 0);
    struct str place = str_sub(rest, 0, slash), host = place;
    size_t colon = str_rfind_byte(place, ':'), bracket = str_rfind_byte(place, ']');
    c->port = 443;
    if (colon != SIZE_MAX && (bracket == SIZE_MAX || colon > bracket)) {
        c->port = (uint16_t)strtoul(arena_str(a, str_sub(place, colon + 1, SIZE_MAX)).p,
                                    NULL, 10);
        host = str_sub(place, 0, colon);
    }
    if (host.n > 1 && host.p[0] == '[')
        host = str_sub(host, 1, host.n - 1);
    c->host = arena_str(a, host);
    c->name = c->host;
    c->target =
        slash == SIZE_MAX ? STR("/") : arena_str(a, str_sub(rest, slash, SIZE_MAX));
}

static const struct doc *port_of(const struct doc *service, int64_t number)
{
    const struct doc *ports = doc_path(service, "spec.ports");
    for (uint32_t i = 0; ports && ports->type == DOC_LIST && i < ports->n; i++) {
        int64_t n = 0;
        if (doc_get_int64(&ports->items[i], "port", &n) && n == number)
            return &ports->items[i];
    }
    return NULL;
}

/* A pod that answers for it, else its own address, which others route. */
static bool aim_pod(struct call *c, const struct webhook *w)
{
    struct request as = *c->r;
    struct relay_target to;
    as.route.namespace = w->service_namespace;
    as.route.name =
        arena_printf(c->r->a, "https:%.*s:%u", STR_ARG(w->service), w->service_port);
    as.failure = (struct failure){0};
    if (!target_of_service(&as, &to))
        return false;
    c->host = to.host;
    c->port = to.port;
    return true;
}

/* false: *why says why there is nobody to ask. */
static bool aim_service(struct call *c, const struct webhook *w, struct str *why)
{
    struct request *r = c->r;
    const struct resource *res = kinds_stored(r->s, "", "services");
    struct cache_object *o =
        cache_get(r->s->cache, object_key(res, w->service_namespace, w->service, r->a));
    struct doc service = o ? object_doc(o, r->a) : doc_make_map();
    const struct doc *spec = doc_get(&service, "spec");
    struct str ip = doc_get_text(spec, "clusterIP");
    bool external = str_is(doc_get_text(spec, "type"), "ExternalName");
    if (!o)
        *why = arena_printf(r->a, "service \"%.*s\" not found", STR_ARG(w->service));
    else if (external)
        c->host = doc_get_text(spec, "externalName");
    else if (!port_of(&service, w->service_port))
        *why = arena_printf(r->a, "no service port %u found for service \"%.*s\"",
                            w->service_port, STR_ARG(w->service));
    else if (aim_pod(c, w))
        return true;
    else if (!ip.n || str_is(ip, "None"))
        *why = arena_printf(r->a, "no endpoints available for service \"%.*s\"",
                            STR_ARG(w->service));
    else
        c->host = ip;
    return !why->n;
}

static bool aim(struct call *c, const struct webhook *w, struct str *why)
{
    struct arena *a = c->r->a;
    *why = STR("");
    if (!w->service.n) {
        aim_url(c, w->url);
        c->url = w->url;
        return true;
    }
    struct str path = w->service_path.n ? w->service_path : STR("/");
    const char *slash = path.p[0] == '/' ? "" : "/";
    c->port = w->service_port;
    c->name = arena_printf(a, "%.*s.%.*s.svc", STR_ARG(w->service),
                           STR_ARG(w->service_namespace));
    c->target = arena_printf(a, "%s%.*s", slash, STR_ARG(path));
    c->url = arena_printf(a, "https://%.*s:%u%.*s", STR_ARG(c->name), w->service_port,
                          STR_ARG(c->target));
    return aim_service(c, w, why);
}

/* The time is told to whoever is asked. */
static uint64_t add_timeout(struct call *c, const struct webhook *w)
{
    uint64_t left = awaiting_left(c->r), ms = w->timeout_ms < left ? w->timeout_ms : left;
    unsigned seconds = (unsigned)((ms + 999) / 1000);
    struct arena *a = c->r->a;
    c->url = arena_printf(a, "%.*s?timeout=%us", STR_ARG(c->url), seconds);
    c->target = arena_printf(a, "%.*s?timeout=%us", STR_ARG(c->target), seconds);
    return ms;
}

static void fail_soon(void *ctx)
{
    struct call *c = ctx;
    c->timer = NULL;
    answered(c);
}

bool webhook_ask(struct request *r, const struct webhook *w, struct str review,
                 unsigned round, struct str uid, struct str body)
{
    struct call *c = ARENA_NEW(r->a, struct call);
    struct str why;
    c->r = r;
    c->answer.uid = uid;
    c->body = body;
    c->ca = arena_str(r->a, w->ca);
    if (!awaiting_ask(r, &c->question, key_of(r, w, review, round), cancel))
        return false;
    bool aimed = aim(c, w, &why);
    uint64_t ms = add_timeout(c, w);
    if (!aimed) {
        c->answer.fail =
            arena_printf(r->a, "Post \"%.*s\": %.*s", STR_ARG(c->url), STR_ARG(why));
        c->timer = net_timer_start(r->s->loop, 0, 0, fail_soon, c);
        return true;
    }
    c->timer = net_timer_start(r->s->loop, ms, 0, on_late, c);
    c->lookup = net_lookup_start(r->s->loop, arena_str(r->a, c->host).p, on_found, c);
    return true;
}
