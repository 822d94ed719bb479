/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections into pods and nodes: exec, attach and portforward, which are upgrades that
 * a kubelet answers, and what is proxied to kubelets and pods.
 */
#include <strings.h>

#include "server/access/user.h"
#include "server/admission/admission.h"
#include "server/relay/relay.h"
#include "server/rest/awaiting.h"

/* What all connections are asked first. */
static bool admit(struct request *r)
{
    struct admission a = {r, ADMIT_CONNECT, r->route.name, NULL, NULL};
    if (r->dry_run)
        return fail_bad(r, "dryRun is not supported");
    return admission_mutate(&a) && admission_validate(&a);
}

/* ---- exec, attach, portforward ---- */

static void add_all(struct request *r, struct strbuf *b, const char *name)
{
    for (uint32_t i = 0; i < r->query.n; i++)
        if (str_is(r->query.params[i].name, name))
            target_param(b, name, r->query.params[i].value);
}

static const struct {
    const char *ours, *kubelets;
} STREAMS[] = {
    {"stderr", "error"}, {"stdin", "input"}, {"stdout", "output"}, {"tty", "tty"}};

static void add_streams(struct request *r, struct strbuf *b)
{
    for (size_t i = 0; i < sizeof STREAMS / sizeof *STREAMS; i++)
        if (query_bool(&r->query, STREAMS[i].ours))
            target_param(b, STREAMS[i].kubelets, STR("1"));
}

/* Ports as they came, which must be numbers: "1,2". */
static bool add_ports(struct request *r, struct strbuf *b)
{
    struct str all = STR("");
    for (uint32_t i = 0; i < r->query.n; i++) {
        struct query_param p = r->query.params[i];
        uint16_t port;
        if (!str_is(p.name, "ports"))
            continue;
        if (!target_port(r, p.value, &port))
            return false;
        all = arena_printf(r->a, "%.*s%s%u", STR_ARG(all), all.n ? "," : "", port);
    }
    if (all.n)
        target_param(b, "port", all);
    return true;
}

enum stream_kind { STREAM_EXEC, STREAM_ATTACH, STREAM_PORTS };
static const char *const PATHS[] = {"exec", "attach", "portForward"};

static bool stream_path(struct request *r, enum stream_kind kind, struct str container,
                        struct strbuf *b)
{
    strbuf_addf(b, "/%s/%.*s/%.*s", PATHS[kind], STR_ARG(r->route.namespace),
                STR_ARG(r->route.name));
    if (kind == STREAM_PORTS)
        return add_ports(r, b);
    strbuf_addf(b, "/%.*s", STR_ARG(container));
    if (kind == STREAM_EXEC)
        add_all(r, b, "command");
    add_streams(r, b);
    return true;
}

/* false: failed. */
static bool stream_target(struct request *r, enum stream_kind kind,
                          struct relay_target *to)
{
    struct cache_object *pod = target_find(r, "pods", r->route.name);
    if (!pod)
        return false;
    struct doc d = object_doc(pod, r->a);
    struct str node = doc_get_text(doc_get(&d, "spec"), "nodeName"), container = STR("");
    struct strbuf b = STRBUF_INIT;
    if (kind != STREAM_PORTS)
        container = target_container(r, &d, query_get(&r->query, "container"));
    if (!container.p)
        return false;
    if (node.n == 0)
        return fail_bad(r, "pod %.*s does not have a host assigned",
                        STR_ARG(r->route.name));
    bool ok = target_of_node(r, node, to) && stream_path(r, kind, container, &b);
    to->target = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return ok;
}

/* A GET is a WebSocket, and does no less than a POST. */
static bool may_create(struct request *r)
{
    struct attributes want = authorize_attributes(r);
    struct str why;
    want.verb = STR("create");
    return authorize(r->s, r->user, &want, r->a, &why) ||
           fail_forbidden(r, r->user, &want, why);
}

static void serve_stream(struct request *r, enum stream_kind kind, void (*again)(void *r))
{
    struct relay_target to = {0};
    if (admit(r) && may_create(r) && stream_target(r, kind, &to))
        relay_start(r, &to, RELAY_STREAM);
    else if (!awaiting_begin(r, again, r))
        request_answer_failure(r);
}

static void exec(void *r)
{
    serve_stream(r, STREAM_EXEC, exec);
}

static void attach(void *r)
{
    serve_stream(r, STREAM_ATTACH, attach);
}

static void portforward(void *r)
{
    serve_stream(r, STREAM_PORTS, portforward);
}

void exec_connect(struct request *r)
{
    exec(r);
}

void attach_connect(struct request *r)
{
    attach(r);
}

void portforward_connect(struct request *r)
{
    portforward(r);
}

/* ---- proxies ---- */

/* n dots, plain or encoded. */
static bool is_dots(struct str s, unsigned n)
{
    while (n > 0 && s.n) {
        bool coded = str_sub(s, 0, 3).n == 3 && strncasecmp(s.p, "%2e", 3) == 0;
        if (s.p[0] != '.' && !coded)
            return false;
        s = str_sub(s, coded ? 3 : 1, SIZE_MAX);
        n--;
    }
    return n == 0 && s.n == 0;
}

/* Without empty segments and those that name another place; a last slash stays. */
static struct str clean_path(struct arena *a, struct str path)
{
    struct str clean = STR("");
    for (size_t at = 0; at < path.n;) {
        size_t end = str_find_byte(path, '/', at + 1);
        struct str one = str_sub(path, at + 1, end);
        at = end == SIZE_MAX ? path.n : end;
        if (is_dots(one, 2)) {
            while (clean.n && clean.p[--clean.n] != '/')
                ;
        } else if (one.n && !is_dots(one, 1)) {
            clean = arena_printf(a, "%.*s/%.*s", STR_ARG(clean), STR_ARG(one));
        }
    }
    bool slash = path.n && path.p[path.n - 1] == '/';
    return slash ? arena_printf(a, "%.*s/", STR_ARG(clean)) : clean;
}

static struct str with_query(struct request *r, struct str path)
{
    if (!r->x->query.n)
        return path;
    return arena_printf(r->a, "%.*s?%.*s", STR_ARG(path), STR_ARG(r->x->query));
}

/* A browser needs the slash to find what the page links to. */
static bool needs_slash(struct request *r)
{
    return r->route.rest.n == 0 && !net_wants_upgrade(r->x) &&
           (str_is(r->x->method, "GET") || str_is(r->x->method, "HEAD"));
}

static void answer_slash(struct request *r)
{
    struct str place = arena_printf(r->a, "%.*s/", STR_ARG(r->x->path));
    struct net_header to = {STR("location"), with_query(r, place)};
    net_respond(r->x, 301, &to, 1, STR_NONE);
}

static void proxy(struct request *r, struct relay_target *to)
{
    if (needs_slash(r)) {
        answer_slash(r);
        return;
    }
    struct str path = clean_path(r->a, r->route.rest);
    to->target = with_query(r, path.n ? path : STR("/"));
    to->elsewhere = true;
    relay_start(r, to, RELAY_PROXY);
}

/* The kubelet, or another port of its machine. */
static bool node_target(struct request *r, struct relay_target *to)
{
    struct str scheme, name, port;
    uint16_t number;
    if (!target_split(r, "node", r->route.name, &scheme, &name, &port) ||
        !target_of_node(r, name, to))
        return false;
    if (port.n == 0)
        return true;
    if (!target_port(r, port, &number))
        return false;
    if (number == to->port)
        return true;
    to->kubelet = false;
    to->tls = str_is(scheme, "https");
    to->port = number;
    return true;
}

/* 0: none of its containers has one. */
static int64_t first_port(const struct doc *pod)
{
    const struct doc *all = doc_path(pod, "spec.containers");
    int64_t port = 0;
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n && !port; i++) {
        const struct doc *ports = doc_get(&all->items[i], "ports");
        if (ports && ports->type == DOC_LIST && ports->n)
            doc_get_int64(&ports->items[0], "containerPort", &port);
    }
    return port;
}

static bool pod_target(struct request *r, struct relay_target *to)
{
    struct str scheme, name, port;
    struct cache_object *pod;
    if (!target_split(r, "pod", r->route.name, &scheme, &name, &port) ||
        !(pod = target_find(r, "pods", name)))
        return false;
    struct doc d = object_doc(pod, r->a);
    *to = (struct relay_target){.tls = str_is(scheme, "https")};
    to->host = doc_get_text(doc_get(&d, "status"), "podIP");
    to->port = to->tls ? 443 : 80;
    if (to->host.n == 0)
        return fail_bad(r, "address not allowed");
    int64_t declared = first_port(&d);
    if (port.n == 0 && declared > 0 && declared < 65536)
        to->port = (uint16_t)declared;
    return port.n == 0 || target_port(r, port, &to->port);
}

static void serve_proxy(struct request *r,
                        bool (*find)(struct request *r, struct relay_target *to),
                        void (*again)(void *r))
{
    struct relay_target to = {0};
    if (admit(r) && find(r, &to))
        proxy(r, &to);
    else if (!awaiting_begin(r, again, r))
        request_answer_failure(r);
}

static void node_proxy(void *r)
{
    serve_proxy(r, node_target, node_proxy);
}

static void service_proxy(void *r)
{
    serve_proxy(r, target_of_service, service_proxy);
}

static void pod_proxy(void *r)
{
    serve_proxy(r, pod_target, pod_proxy);
}

void node_proxy_connect(struct request *r)
{
    node_proxy(r);
}

void service_proxy_connect(struct request *r)
{
    service_proxy(r);
}

void pod_proxy_connect(struct request *r)
{
    pod_proxy(r);
}
