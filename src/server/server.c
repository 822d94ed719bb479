/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a server, and the way of a request to its verb. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <time.h>

#include "api/timestamp.h"
#include "base/duration.h"
#include "net/h1_client.h"
#include "server/access/auth.h"
#include "server/access/bootstrap.h"
#include "server/access/identity_lease.h"
#include "server/admission/admit.h"
#include "server/admission/hooks.h"
#include "server/admission/quota.h"
#include "server/admission/unenforced.h"
#include "server/audit/audit.h"
#include "server/custom/custom.h"
#include "server/custom/definition.h"
#include "server/discovery/apiservices.h"
#include "server/discovery/openapi.h"
#include "server/discovery/runtime_config.h"
#include "server/observe/health.h"
#include "server/observe/measure.h"
#include "server/relay/relay.h"
#include "server/rest/compact.h"
#include "server/rest/current.h"
#include "server/rest/write.h"
#include "server/service/claims.h"
#include "server/service/storage.h"

enum {
    STOP_MS = 2000,            /* for requests that run when the server is stopped */
    MAX_BODY = 3 * 1024 * 1024 /* as upstream */
};

/* ---- requests ---- */

static const struct verb {
    const char *method;
    bool named; /* of one object */
    const char *name;
    verb_fn *serve;
} VERBS[] = {
    {"GET", true, "get", read_get},
    {"GET", false, "list", read_list},
    {"POST", false, "create", write_create},
    {"POST", true, "create", write_create}, /* of subresources */
    {"PUT", true, "update", write_update},
    {"PATCH", true, "patch", write_patch},
    {"DELETE", true, "delete", delete_one},
    {"DELETE", false, "deletecollection", delete_collection},
};
static const struct verb WATCH = {"GET", false, "watch", watch_serve};

/* NULL: no verb has this method. */
static const struct verb *find_verb(const struct request *r)
{
    bool named = r->route.name.p != NULL;
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++)
        if (str_is(r->x->method, VERBS[i].method) && VERBS[i].named == named)
            return strcmp(VERBS[i].name, "list") == 0 && query_bool(&r->query, "watch")
                       ? &WATCH
                       : &VERBS[i];
    return NULL;
}

/* Custom resources answer for sides that they do not have. */
static bool fail_no_side(struct request *r)
{
    struct route *t = &r->route;
    const struct resource *main = kinds_find(r->s, t->group, t->version, t->resource);
    if (!main || !main->custom)
        return fail_no_resource(r);
    r->res = main;
    fail_missing(r, t->name);
    r->res = NULL;
    return false;
}

static bool find_resource(struct request *r)
{
    struct route *t = &r->route;
    struct str name = t->subresource.p
                          ? arena_printf(r->a, "%.*s/%.*s", STR_ARG(t->resource),
                                         STR_ARG(t->subresource))
                          : t->resource;
    r->res = kinds_find(r->s, t->group, t->version, name);
    custom_hold(r);
    if (!r->res && t->subresource.p && t->name.p)
        return fail_no_side(r);
    if (!r->res || (t->namespace.p && !r->res->main->namespaced))
        return fail_no_resource(r);
    /* What is only asked has no names. */
    if (r->res->serve && !r->res->sub && t->name.p)
        return fail_no_resource(r);
    /* Of a namespaced resource only lists may span namespaces. */
    if (r->res->main->namespaced && !t->namespace.p && t->name.p)
        return fail_no_resource(r);
    return true;
}

static bool read_dry_run(struct request *r)
{
    struct str v = query_get(&r->query, "dryRun");
    r->dry_run = str_is(v, "All");
    return true;
}

/* What no group, or no version of a custom one, is called is nobody's path. */
static bool kinds_there(const struct request *r)
{
    const struct route *t = &r->route;
    return t->group.n == 0 || kinds_version_served(r->s, t->group, t->version) ||
           (kinds_group_served(r->s, t->group) && api_group_known(t->group));
}

/* A proxy takes every method that it is not itself made of. */
static bool takes_method(const struct request *r)
{
    return r->res->relayed &&
           (str_is(r->x->method, "HEAD") || str_is(r->x->method, "OPTIONS")) &&
           kinds_has_verb(r->res, "delete");
}

static void serve_resource(struct request *r, const struct verb *v)
{
    bool form = media_negotiate(r);
    struct failure unknown = r->failure;
    bool ok = find_resource(r);
    if (ok && r->res->custom && form) {
        form = media_negotiate(r); /* which forms it has is known now */
        unknown = r->failure;
    }
    if (ok && !form && !r->res->relayed) {
        r->failure = unknown;
        ok = false;
    }
    if (!ok && !r->res && !kinds_there(r)) {
        request_answer_nowhere(r);
        return;
    }
    if (!ok) {
        request_answer_failure(r);
        return;
    }
    bool spread = r->res->main->namespaced && !r->route.namespace.p && v &&
                  strcmp(v->name, "list") != 0 && strcmp(v->name, "watch") != 0;
    bool onto = str_is(r->x->method, "POST") && r->route.name.p && !r->res->sub;
    bool any = takes_method(r);
    if (!any && (!v || spread || onto || !kinds_has_verb(r->res, v->name))) {
        fail_method(r);
        request_answer_failure(r);
        return;
    }
    struct str old = kinds_deprecation(r->res, r->a);
    if (old.n) {
        request_warn(r, old);
        measure_deprecated(r);
    }
    if (!read_dry_run(r))
        request_answer_failure(r);
    else if (r->res->serve)
        r->res->serve(r);
    else
        v->serve(r);
}

static void answer_text(struct request *r, unsigned code, const char *type,
                        const char *text)
{
    struct strbuf body = STRBUF_INIT;
    strbuf_adds(&body, text);
    request_answer_bytes(r, code, type, &body);
    strbuf_release(&body);
}

static const char VERSION[] =
    "{\n  \"major\": \"1\",\n  \"minor\": \"37\",\n  \"gitVersion\": \"v1.37.2\",\n"
    "  \"gitCommit\": \"\",\n  \"gitTreeState\": \"clean\",\n  \"buildDate\": \"\",\n"
    "  \"goVersion\": \"\",\n  \"compiler\": \"\",\n  \"platform\": \"linux/amd64\"\n}\n";

void request_answer_nowhere(struct request *r)
{
    answer_text(r, 404, "text/plain; charset=utf-8", "404 page not found\n");
}

static void serve_other(struct request *r)
{
    struct str path = r->x->path;
    bool get = str_is(r->x->method, "GET") || str_is(r->x->method, "HEAD");
    if (get && health_serve(r))
        return;
    if (get && (str_is(path, "/version") || str_is(path, "/version/"))) {
        if (media_negotiate(r))
            answer_text(r, 200, "application/json", VERSION);
        else
            request_answer_failure(r);
    } else if (get && str_is(path, "/metrics")) {
        measure_serve(r);
    } else if (str_starts(path, STR("/openapi/"))) {
        openapi_serve(r);
    } else if (!compact_serve(r) && !openid_serve(r)) {
        request_answer_nowhere(r);
    }
}

static struct str now_text(struct arena *a)
{
    return timestamp_print(time(NULL), 0, false, a);
}

/* ---- from the first byte to the last ---- */

static void answer_begun(void *ctx, unsigned status)
{
    struct request *r = ctx;
    measure_open(r);
    if (r->lasts)
        audit_started(r, status);
}

static void answer_over(void *ctx, unsigned status, struct str body)
{
    struct request *r = ctx;
    inflight_leave(r);
    measure_over(r, status);
    if (r->timer)
        net_timer_stop(r->timer);
    r->timer = NULL;
    if (r->over)
        *r->over = true;
    audit_ended(r, status, body);
}

/* Whoever works on it goes on, but nobody waits for that anymore. */
static void taken_too_long(void *ctx)
{
    struct request *r = ctx;
    struct failure kept = r->failure;
    struct net_header headers[MAX_HEADERS];
    struct strbuf body = STRBUF_INIT;
    r->timer = NULL;
    measure_terminated(r, 504);
    fail(r, 504, "Timeout",
         "Timeout: request did not complete within the allotted timeout");
    r->failure.has_details = true;
    struct doc d = failure_doc(r->a, &r->failure);
    doc_write_json(&d, DOC_JSON_COMPACT, &body);
    uint32_t n = request_headers(r, media_type(MEDIA_JSON), headers);
    net_preempt(r->x, 504, headers, n, strbuf_str(&body));
    strbuf_release(&body);
    r->failure = kept;
}

/* What the client allows, but no more than the server does. */
static uint64_t time_allowed(const struct request *r)
{
    uint64_t most = r->s->opts.request_ms, asked;
    if (duration_parse(query_get(&r->query, "timeout"), &asked) && asked && asked < most)
        return asked;
    return most;
}

static struct str audit_id_of(struct request *r)
{
    struct str given = net_header_get(r->x, "audit-id");
    return given.n ? given : write_new_uid(r->a);
}

static bool identify(struct request *r, struct user *u)
{
    uint64_t since = measure_now();
    bool known = user_authenticate(r, u);
    measure_authentication(r, known, since);
    audit_begin(r, !known);
    if (!known || !user_impersonate(r, u))
        return false;
    audit_impersonated(r);
    return true;
}

static bool allow(struct request *r)
{
    uint64_t since = measure_now();
    bool allowed = user_authorize(r, r->user);
    measure_authorization(r, allowed, since);
    audit_decided(r, allowed);
    return allowed;
}

static void serve_verb(struct request *r)
{
    serve_resource(r, find_verb(r));
}

static void serve(struct request *r)
{
    measure_begun(r);
    if (r->route.form == ROUTE_RESOURCE)
        current_serve(r, serve_verb);
    else if (r->route.form == ROUTE_OTHER)
        serve_other(r);
    else
        discovery_serve(r);
}

static void answer_busy(struct request *r)
{
    measure_terminated(r, 429);
    answer_text(r, 429, "text/plain; charset=utf-8",
                "Too many requests, please try again later.\n");
}

static void admit(struct request *r)
{
    struct user *u = ARENA_NEW(r->a, struct user);
    r->user = u;
    bool ok = route_parse(r->x->path, r->a, &r->route) ||
              fail_bad(r, "the path is not properly encoded");
    ok = ok && identify(r, u);
    if (ok && !inflight_enter(r))
        answer_busy(r);
    else if (ok && allow(r))
        serve(r);
    else
        request_answer_failure(r);
}

static void request_freed(void *ctx)
{
    struct request *r = ctx;
    if (r->held)
        custom_unref(r->held);
}

static void handle(void *ctx, struct net_exchange *x)
{
    struct request *r = ARENA_NEW(x->arena, struct request);
    *r = (struct request){.s = ctx, .x = x, .a = x->arena, .now = now_text(x->arena)};
    struct net_observer observer = {answer_begun, answer_over, r, request_freed};
    bool over = false;
    r->begun_ns = measure_now();
    r->over = &over;
    r->audit_id = audit_id_of(r);
    net_observe(x, &observer);
    query_parse(x->query, r->a, &r->query);
    admit(r);
    if (over)
        return;
    r->over = NULL;
    if (!r->lasts && r->s->opts.request_ms)
        r->timer = net_timer_start(r->s->loop, time_allowed(r), 0, taken_too_long, r);
}

/* What net/ refuses, in the words of the API. */
static void refuse(void *ctx, struct net_exchange *x, unsigned status)
{
    static const struct {
        unsigned status;
        const char *reason, *text;
    } TEXTS[] = {
        {413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"},
        {429, "TooManyRequests", "the server has received too many requests"},
        {405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource"},
        {408, "Timeout", "the request was not complete in time"},
    };
    struct request *r = ARENA_NEW(x->arena, struct request);
    *r = (struct request){.s = ctx, .x = x, .a = x->arena};
    fail(r, status, "BadRequest", "the request cannot be understood");
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        if (TEXTS[i].status == status)
            fail(r, status, TEXTS[i].reason, "%s", TEXTS[i].text);
    r->failure.has_details = status == 405;
    request_answer_failure(r);
}

/* ---- the store ---- */

static void poll_store(void *ctx)
{
    struct server *s = ctx;
    if (s->store)
        store_poll(s->store);
    if (s->cache)
        cache_deliver(s->cache);
}

static void wake(void *ctx)
{
    struct server *s = ctx;
    net_post(s->loop, poll_store, s);
}

static void changed(void *ctx, const struct store_change *c)
{
    struct server *s = ctx;
    if (s->cache)
        cache_apply(s->cache, c);
}

static bool open_store(struct server *s, const struct server_opts *o, struct err *e)
{
    struct store_opts opts = {
        .wake = wake, .wake_ctx = s, .changed = changed, .changed_ctx = s};
    struct cache_opts cache = {.decode = object_decode, .ctx = s};
    s->store = storage_open(o, opts, &s->arena, e);
    if (!s->store)
        return false;
    s->cache = cache_new(&cache);
    if (!cache_load(s->cache, s->store, e))
        return false;
    customs_start(s);
    return true;
}

/* ---- life ---- */

/* "[::1]:6443" is "::1". */
static const char *host_of(struct arena *a, const char *listen)
{
    struct str s = str_from(listen);
    const char *colon = strrchr(listen, ':');
    size_t end = colon ? (size_t)(colon - listen) : s.n;
    bool bracket = end >= 2 && s.p[0] == '[' && s.p[end - 1] == ']';
    return arena_str(a, str_sub(s, bracket, end - bracket)).p;
}

static bool listen_locally(struct server *s, const struct server_opts *o, struct err *e)
{
    if (!o->socket)
        return true;
    const char *address = arena_printf(&s->arena, "unix:%s", o->socket).p;
    struct net_server_opts opts = {
        .address = address, .refuse = refuse, .max_body = MAX_BODY};
    s->local = net_server_new(s->loop, &opts, handle, s, e);
    return s->local != NULL;
}

static bool listen_on(struct server *s, const struct server_opts *o, struct err *e)
{
    struct net_tls_opts tls = {.cert_pem = s->dir.serving.cert_pem,
                               .key_pem = s->dir.serving.key_pem,
                               .client_ca_pem = s->dir.client_ca_pem};
    struct net_server_opts opts = {
        .tls = &tls, .address = o->listen, .refuse = refuse, .max_body = MAX_BODY};
    s->http = net_server_new(s->loop, &opts, handle, s, e);
    if (!s->http)
        return false;
    const char *host = host_of(&s->arena, o->listen);
    bool six = strchr(host, ':') != NULL;
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    s->url = arena_printf(&s->arena, "https://%s%s%s:%u", six && !any ? "[" : "",
                          any ? "127.0.0.1" : host, six && !any ? "]" : "",
                          net_server_port(s->http))
                 .p;
    return true;
}

/* At which those in the cluster reach it; empty: it listens to its own machine alone. */
static struct str reachable(struct arena *a, const char *host)
{
    struct ifaddrs *all = NULL;
    struct str found = STR("");
    char text[INET6_ADDRSTRLEN];
    bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    if (!any)
        return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
                       strcmp(host, "localhost") == 0
                   ? found
                   : str_from(host);
    if (getifaddrs(&all) != 0)
        return found;
    for (struct ifaddrs *i = all; i && found.n == 0; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
            !(i->ifa_flags & IFF_LOOPBACK) &&
            inet_ntop(AF_INET, &((struct sockaddr_in *)i->ifa_addr)->sin_addr, text,
                      sizeof text))
            found = arena_str(a, str_from(text));
    freeifaddrs(all);
    return found;
}

static bool make_objects(struct server *s, struct str address, struct err *e)
{
    struct str now = now_text(&s->arena);
    return apiservices_make(s, now, e) &&
           bootstrap_make(s, now, address, net_server_port(s->http), e);
}

static bool ready_auth(struct server *s, const struct server_opts *o, struct err *e)
{
    s->quotas = quota_ledger_new(s);
    s->auth = auth_new(s, o, e);
    if (s->auth)
        auth_follow(s);
    s->hooks = hooks_new();
    s->hook_connections = net_h1_pool_new(s->loop);
    hooks_follow(s);
    return s->auth != NULL;
}

static bool open_audit(struct server *s, const struct server_opts *o, struct err *e)
{
    s->inflight =
        (struct inflight){.max_reading = o->max_reading, .max_writing = o->max_writing};
    if (!o->audit_log && !o->audit_policy)
        return true;
    if (!o->audit_log || !o->audit_policy)
        return err_set(e, ERR_INVALID,
                       "--audit-log-path and --audit-policy-file need each other");
    struct audit_file_opts log = {.path = o->audit_log,
                                  .max_bytes = (uint64_t)o->audit_megabytes << 20,
                                  .max_kept = o->audit_kept,
                                  .max_days = o->audit_days,
                                  .compress = o->audit_compress};
    s->audit = audit_new(&log, o->audit_policy, e);
    return s->audit != NULL;
}

static bool read_opts(struct server *s, const struct server_opts *o, struct err *e)
{
    return runtime_config_check(o->runtime_config, e) &&
           admission_configure(s, o->enable_admission, o->disable_admission, e) &&
           unenforced_check(o->enforced_elsewhere, e) &&
           admission_config_read(&s->plugins, o->admission_config, &s->arena, e) &&
           (service_ranges_parse(o->service_range, &s->services, e) ||
            err_wrap(e, "--service-cluster-ip-range %s", o->service_range)) &&
           (port_range_parse(o->port_range, &s->ports, e) ||
            err_wrap(e, "--service-node-port-range %s", o->port_range)) &&
           open_audit(s, o, e);
}

static bool open_dir(struct server *s, const struct server_opts *o, struct str address,
                     struct err *e)
{
    struct dir_hosts hosts = {host_of(&s->arena, o->listen), address.p,
                              s->services.v[0].first};
    return dir_open(&s->dir, o->dir, &hosts, &s->arena, e) &&
           dir_use_files(&s->dir, o->tls_cert, o->tls_key, o->client_ca, &s->arena, e);
}

static bool start(struct server *s, const struct server_opts *o, struct err *e)
{
    struct str address = reachable(&s->arena, host_of(&s->arena, o->listen));
    kinds_init(s);
    s->cel = ARENA_NEW(&s->arena, struct api_cel);
    api_cel_init(s->cel);
    openapi_init(s);
    return read_opts(s, o, e) && open_dir(s, o, address, e) &&
           kubelet_configure(s, &o->kubelet, e) && open_store(s, o, e) &&
           ready_auth(s, o, e) && listen_on(s, o, e) && listen_locally(s, o, e) &&
           make_objects(s, address, e) && service_repair_begin(s, e) &&
           dir_write_kubeconfig(&s->dir, o->dir, s->url, &s->arena, e);
}

struct server *server_new(struct net_loop *loop, const struct server_opts *opts,
                          struct err *e)
{
    struct server *s = mem_zalloc(sizeof *s);
    s->loop = loop;
    s->metrics = metrics_new();
    s->opts = *opts;
    s->gates = opts->gates;
    s->dir.lock = -1;
    if (start(s, opts, e)) {
        s->lease = identity_lease_begin(s);
        return s;
    }
    server_free(s);
    return NULL;
}

void server_add_metrics(struct server *s, void (*print)(void *ctx, struct strbuf *out),
                        void *ctx)
{
    s->more_metrics = print;
    s->more_ctx = ctx;
}

struct net_inner *server_inner(struct server *s, const struct net_inner_opts *who)
{
    return net_inner_new(s->http, who);
}

const char *server_url(const struct server *s)
{
    return s->url;
}

static void one_stopped(void *ctx)
{
    struct server *s = ctx;
    if (--s->stopping == 0)
        s->stopped(s->stopped_ctx);
}

void server_stop(struct server *s, void (*done)(void *ctx), void *ctx)
{
    identity_lease_end(s->lease);
    s->lease = NULL;
    watch_end_all(s);
    relay_end_all(s);
    s->stopped = done;
    s->stopped_ctx = ctx;
    s->stopping = 1 + (s->local != NULL);
    write_end_all(s);
    net_h1_pool_free(s->hook_connections);
    s->hook_connections = NULL;
    definitions_end(s);
    net_server_stop(s->http, STOP_MS, one_stopped, s);
    if (s->local)
        net_server_stop(s->local, STOP_MS, one_stopped, s);
}

void server_free(struct server *s)
{
    write_end_all(s);
    identity_lease_end(s->lease);
    service_repair_end(s);
    definitions_end(s);
    if (s->store)
        store_close(s->store);
    s->store = NULL;
    net_unpost(s->loop, s); /* nobody wakes it anymore */
    watch_end_all(s);
    relay_end_all(s);
    openapi_free(s);
    if (s->http)
        net_server_free(s->http);
    if (s->local)
        net_server_free(s->local);
    net_h1_pool_free(s->hook_connections);
    hooks_free(s->hooks);
    auth_free(s->auth);
    quota_ledger_free(s->quotas);
    metrics_free(s->metrics);
    event_buckets_free(s->plugins.buckets);
    customs_free(s);
    if (s->cache)
        cache_free(s->cache);
    audit_free(s->audit);
    dir_close(&s->dir);
    if (s->cel)
        api_cel_fini(s->cel);
    strmap_release(&s->by_name);
    strmap_release(&s->by_key);
    arena_fini(&s->scratch);
    arena_fini(&s->arena);
    free(s);
}
