/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission/hook_post.h"

#include "base/base64.h"
#include "base/quote.h"
#include "net/h1_client.h"
#include "net/resolve.h"
#include "server/relay/relay.h"

struct hook_post {
    struct request *r;
    struct arena *a;
    struct hook_answer answer;
    hook_post_done *done;
    void *ctx;
    struct str url;  /* as errors print it */
    struct str host; /* to look up; in brackets it is an address */
    struct str name; /* that the certificate is for, and the header has */
    struct str target, body, ca;
    uint16_t port;
    struct net_lookup *lookup;
    const char *ips[NET_MAX_ADDRESSES];
    uint32_t nips, next_ip;
    bool fresh; /* a kept connection was none anymore */
    struct net_h1_call *http;
    struct net_timer *timer;
    struct strbuf got;
};

void hook_peer_read(struct hook_peer *p, const struct doc *d, struct arena *a)
{
    const struct doc *service = doc_get(d, "service");
    int64_t port = 443;
    *p = (struct hook_peer){.url = doc_get_text(d, "url")};
    if (!base64_decode(doc_get_text(d, "caBundle"), a, &p->ca))
        p->ca = STR("");
    p->service = doc_get_text(service, "name");
    p->service_namespace = doc_get_text(service, "namespace");
    p->service_path = doc_get_text(service, "path");
    doc_get_int64(service, "port", &port);
    p->service_port = (uint16_t)port;
}

/* ---- the end ---- */

void hook_post_cancel(struct hook_post *c)
{
    if (!c)
        return;
    net_lookup_cancel(c->lookup);
    net_h1_close(c->http);
    if (c->timer)
        net_timer_stop(c->timer);
    strbuf_release(&c->got);
    c->lookup = NULL;
    c->http = NULL;
    c->timer = NULL;
}

static void answered(struct hook_post *c)
{
    c->answer.body = arena_str(c->a, strbuf_str(&c->got));
    hook_post_cancel(c);
    c->done(c->ctx, &c->answer);
}

/* Errors in the words of Go's client. */
static void failed(struct hook_post *c, const char *before, const char *why)
{
    c->answer.fail =
        arena_printf(c->a, "Post \"%.*s\": %s%s", STR_ARG(c->url), before, why);
    answered(c);
}

static void on_late(void *ctx)
{
    struct hook_post *c = ctx;
    c->timer = NULL;
    failed(c, "", "context deadline exceeded");
}

/* ---- the answer ---- */

static void on_head(void *ctx, const struct net_h1_answer *answer)
{
    struct hook_post *c = ctx;
    c->answer.status = answer->status;
    c->answer.text = true;
    for (uint32_t i = 0; i < answer->nheaders; i++)
        if (str_is(answer->headers[i].name, "content-type"))
            c->answer.text = str_starts(answer->headers[i].value, STR("text/"));
}

static void on_data(void *ctx, struct str bytes)
{
    struct hook_post *c = ctx;
    if (c->got.n + bytes.n > HOOK_ANSWER_MAX)
        failed(c, "", "the answer is too large");
    else
        strbuf_addstr(&c->got, bytes);
}

static void try_next(struct hook_post *c);

static struct str place(struct hook_post *c)
{
    const char *ip = c->ips[c->next_ip ? c->next_ip - 1 : 0];
    bool six = ip && strchr(ip, ':');
    return arena_printf(c->a, "%s%s%s:%u", six ? "[" : "", ip ? ip : "", six ? "]" : "",
                        c->port);
}

static void end_unanswered(struct hook_post *c, bool reached, const struct err *why)
{
    const char *text = why ? err_text(why) : "EOF";
    struct str before = STR("");
    if (!reached)
        before = arena_printf(c->a, "dial tcp %.*s: connect: ", STR_ARG(place(c)));
    failed(c, before.p, text);
}

static void on_end(void *ctx, const struct err *why)
{
    struct hook_post *c = ctx;
    bool reached = net_h1_reached(c->http), stale = why && net_h1_was_stale(c->http);
    if (!why && c->answer.status) {
        answered(c);
    } else if (stale || (!reached && c->next_ip < c->nips)) {
        net_h1_close(c->http);
        c->http = NULL;
        c->fresh |= stale;
        c->next_ip -= stale;
        try_next(c);
    } else {
        end_unanswered(c, reached, why);
    }
}

static const struct net_h1_ops OPS = {on_head, on_data, on_end};

/* ---- asking ---- */

/* What a connection is for. */
static struct str peer_key(struct hook_post *c)
{
    return arena_printf(c->a, "%.*s\n%.*s\n%.*s", STR_ARG(place(c)), STR_ARG(c->name),
                        STR_ARG(c->ca));
}

/* The next address. */
static void try_next(struct hook_post *c)
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
                               .head_ms = 60000,
                               .pool = c->r->s->hook_connections,
                               .peer = peer_key(c),
                               .fresh = c->fresh};
    c->http = net_h1_call(c->r->s->loop, &q, &OPS, c, &e);
    if (c->http)
        return;
    failed(c, "", err_text(&e));
    err_release(&e);
}

static void on_found(void *ctx, const char *const *ips, uint32_t n, const struct err *why)
{
    struct hook_post *c = ctx;
    c->lookup = NULL;
    if (n == 0) {
        struct str before =
            arena_printf(c->a, "dial tcp: lookup %.*s: ", STR_ARG(c->host));
        failed(c, before.p, err_text(why));
        return;
    }
    for (; c->nips < n; c->nips++)
        c->ips[c->nips] = arena_str(c->a, str_from(ips[c->nips])).p;
    try_next(c);
}

/* "https://host[:port][/path]", which validation has seen. */
static void aim_url(struct hook_post *c, struct str url)
{
    struct arena *a = c->a;
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
static bool aim_pod(struct hook_post *c, const struct hook_peer *w)
{
    struct request as = *c->r;
    struct relay_target to;
    as.a = c->a;
    as.route.namespace = w->service_namespace;
    as.route.name =
        arena_printf(c->a, "https:%.*s:%u", STR_ARG(w->service), w->service_port);
    as.failure = (struct failure){0};
    if (!target_of_service(&as, &to))
        return false;
    c->host = to.host;
    c->port = to.port;
    return true;
}

/* false: *why says why there is nobody to ask. */
static bool aim_service(struct hook_post *c, const struct hook_peer *w, struct str *why)
{
    struct server *s = c->r->s;
    struct arena *a = c->a;
    const struct resource *res = kinds_stored(s, "", "services");
    struct cache_object *o =
        cache_get(s->cache, object_key(res, w->service_namespace, w->service, a));
    struct doc service = o ? object_doc(o, a) : doc_make_map();
    const struct doc *spec = doc_get(&service, "spec");
    struct str ip = doc_get_text(spec, "clusterIP");
    bool external = str_is(doc_get_text(spec, "type"), "ExternalName");
    if (!o)
        *why = arena_printf(a, "service \"%.*s\" not found", STR_ARG(w->service));
    else if (external)
        c->host = doc_get_text(spec, "externalName");
    else if (!port_of(&service, w->service_port))
        *why = arena_printf(a, "no service port %u found for service \"%.*s\"",
                            w->service_port, STR_ARG(w->service));
    else if (aim_pod(c, w))
        return true;
    else if (!ip.n || str_is(ip, "None"))
        *why = arena_printf(a, "no endpoints available for service \"%.*s\"",
                            STR_ARG(w->service));
    else
        c->host = ip;
    return !why->n;
}

static bool aim(struct hook_post *c, const struct hook_peer *w, struct str *why)
{
    struct arena *a = c->a;
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
static void add_timeout(struct hook_post *c, uint64_t ms)
{
    unsigned seconds = (unsigned)((ms + 999) / 1000);
    c->url = arena_printf(c->a, "%.*s?timeout=%us", STR_ARG(c->url), seconds);
    c->target = arena_printf(c->a, "%.*s?timeout=%us", STR_ARG(c->target), seconds);
}

static void fail_soon(void *ctx)
{
    struct hook_post *c = ctx;
    c->timer = NULL;
    answered(c);
}

struct hook_post *hook_post_start(struct request *r, struct arena *a,
                                  const struct hook_peer *to, struct str body,
                                  uint64_t ms, hook_post_done *done, void *ctx)
{
    struct hook_post *c = ARENA_NEW(a, struct hook_post);
    struct net_loop *l = r->s->loop;
    struct str why;
    *c = (struct hook_post){.r = r, .a = a, .body = body, .done = done, .ctx = ctx};
    c->ca = arena_str(a, to->ca);
    bool aimed = aim(c, to, &why);
    add_timeout(c, ms);
    if (!aimed) {
        c->answer.fail =
            arena_printf(a, "Post \"%.*s\": %.*s", STR_ARG(c->url), STR_ARG(why));
        c->timer = net_timer_start(l, 0, 0, fail_soon, c);
        return c;
    }
    c->timer = net_timer_start(l, ms, 0, on_late, c);
    c->lookup = net_lookup_start(l, arena_str(a, c->host).p, on_found, c);
    return c;
}

/* ---- answers that are none ---- */

struct str hook_status_text(const struct hook_answer *said, struct arena *a)
{
    static const struct {
        unsigned status;
        const char *text;
    } WORDS[] = {
        {401, "the server has asked for the client to provide credentials"},
        {404, "the server could not find the requested resource"},
        {405, "the server does not allow this method on the requested resource"},
        {406, "the server was unable to respond with a content type that the client "
              "supports"},
        {409, "the server reported a conflict"},
        {410, "the resource is gone"},
        {429, "the server has received too many requests and has asked us to try again "
              "later"},
        {503, "the server is currently unable to handle the request"},
    };
    if (said->status >= 200 && said->status <= 206)
        return STR("");
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (WORDS[i].status == said->status)
            return str_from(WORDS[i].text);
    struct str words = said->text ? str_trim(said->body) : STR("unknown");
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, str_sub(words, 0, 2048));
    struct str text =
        said->status >= 500
            ? arena_printf(a,
                           "an error on the server (%s) has prevented the request from "
                           "succeeding",
                           strbuf_cstr(&b))
            : arena_printf(a,
                           "the server responded with the status code %u but did not "
                           "return more information",
                           said->status);
    strbuf_release(&b);
    return text;
}
